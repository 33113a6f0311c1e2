"""The law of kernel sampling for exact draws: α s^power + 1 (kernel paper, eqs. 8–10)."""

from typing import NamedTuple

import numpy as np

from ..jit import LEAF, njit
from ..kernels.lanes import LANES
from .draws import implement_weigh_row

_ZERO = np.float32(0.0)
_ONE = np.float32(1.0)


class KernelLaw(NamedTuple):
    """power : int, 2 or 4; alpha : float32"""

    power: int
    alpha: float


@njit(fastmath=LEAF, borrows=True)
def _weights(law, scores):
    power, alpha = law.power, law.alpha
    for j in range(scores.shape[0]):
        square = scores[j] * scores[j]
        scores[j] = alpha * (square * square if power == 4 else square) + _ONE


@njit(fastmath=LEAF, borrows=True)
def _sum_lines(weights, sums):
    """Write the sum of each `LANES` weights into `sums`; return the sum of all."""
    n, total = weights.shape[0], _ZERO
    for line in range((n + LANES - 1) // LANES):
        subtotal = _ZERO
        for j in range(line * LANES, min((line + 1) * LANES, n)):
            subtotal += weights[j]
        sums[line] = subtotal
        total += subtotal
    return total


@implement_weigh_row(KernelLaw)
def weigh_row(law, low, scores, sums):
    _weights(law, scores)
    return _ZERO, _sum_lines(scores, sums)
