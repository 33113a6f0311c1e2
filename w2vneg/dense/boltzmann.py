"""Boltzmann noise, the law D(j) e^{s/T} of exact draws: kept as e^{log D + s/T − t}, t a tile's largest exponent."""

from typing import NamedTuple

import numpy as np

from ..jit import LEAF, njit
from ..kernels.lanes import weigh_lanes
from .blas import largest
from .draws import implement_weigh_row

_ZERO = np.float32(0.0)


class BoltzmannLaw(NamedTuple):
    """log_d : float32, (n_vocab,); beta : float32, 1 / T; absolute : bool, take |s| for s"""

    log_d: np.ndarray
    beta: float
    absolute: bool


@njit(fastmath=LEAF, borrows=True)
def _exponents(law, low, scores):
    log_d, beta = law.log_d[low : low + scores.shape[0]], law.beta  # an index low + j would not be vectorised
    if law.absolute:
        for j in range(scores.shape[0]):
            scores[j] = abs(scores[j]) * beta + log_d[j]
    else:
        for j in range(scores.shape[0]):
            scores[j] = scores[j] * beta + log_d[j]


@implement_weigh_row(BoltzmannLaw)
def weigh_row(law, low, scores, sums):
    _exponents(law, low, scores)
    top = largest(scores)
    if top == -np.inf:  # nothing here may be drawn
        scores[:] = _ZERO
    else:
        weigh_lanes(scores, scores.shape[0], top, sums)
    return top
