"""Boltzmann noise, the law D(j) e^{s/T} of exact draws. A score that is NaN weighs nothing."""

from typing import NamedTuple

import numpy as np

from ...ground.jit import njit
from ..simd.lanes import weigh_lanes
from .draws import implement_weigh_row


class BoltzmannLaw(NamedTuple):
    """log_d : float32, (n_vocab,); beta : float32, 1 / T; absolute : bool, take |s| for s"""

    log_d: np.ndarray
    beta: float
    absolute: bool


@njit(borrows=True)
def _make_absolute(scores):
    for j in range(scores.shape[0]):
        scores[j] = abs(scores[j])


@implement_weigh_row(BoltzmannLaw)
def weigh_row(law, low, scores, top, sums):
    n = scores.shape[0]
    if law.absolute:
        _make_absolute(scores)
    return weigh_lanes(scores, n, np.float32(law.beta), law.log_d[low : low + n], top, sums)
