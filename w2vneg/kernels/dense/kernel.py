"""The law of kernel sampling for exact draws: α s^power + 1 (kernel paper, eqs. 8–10)."""

from typing import NamedTuple

import numpy as np

from ...ground.jit import LEAF, njit
from ..simd.vectors import LANES
from .draws import implement_weigh_row

_ZERO = np.float32(0.0)
_ONE = np.float32(1.0)


class KernelLaw(NamedTuple):
    """power : int, 2 or 4; alpha : float32"""

    power: int
    alpha: float


@njit(fastmath=LEAF, borrows=True)
def _weigh(law, scores, sums):
    power, alpha, n = law.power, law.alpha, scores.shape[0]
    for j in range(n):
        square = scores[j] * scores[j]
        scores[j] = alpha * (square * square if power == 4 else square) + _ONE
    for line in range((n + LANES - 1) // LANES):
        total = _ZERO
        for j in range(line * LANES, min((line + 1) * LANES, n)):
            total += scores[j]
        sums[line] = total


@implement_weigh_row(KernelLaw)
def weigh_row(law, low, scores, top, sums):
    _weigh(law, scores, sums)
    return _ZERO
