"""Loops that tell what this machine's memory gives: in order, and by rows from anywhere."""

import numpy as np

from ..ground.jit import LEAF, njit, prange
from .linalg import dot, fetch_row

_AHEAD = 8  # rows on their way while one is read


@njit(parallel=True)
def triad(a, b, c, parts):
    """``a = b + 0.5 c`` for float32 arrays of equal length, each of the `parts` by one thread."""
    for part in prange(parts):
        _triad(a, b, c, part * len(a) // parts, (part + 1) * len(a) // parts)


@njit(fastmath=LEAF, borrows=True)
def _triad(a, b, c, first, last):
    half = np.float32(0.5)
    for i in range(first, last):
        a[i] = b[i] + half * c[i]


@njit(parallel=True)
def gather(matrix, rows, x, sums):
    """Read ``matrix[rows]``, float32 (n, dim), row by row, in as many parts as `sums` has; each adds up its row · x."""
    parts = len(sums)
    for part in prange(parts):
        sums[part] = _gather(matrix, rows, x, part * len(rows) // parts, (part + 1) * len(rows) // parts)


@njit(borrows=True)
def _gather(matrix, rows, x, first, last):
    total = np.float32(0.0)
    for k in range(first, last):
        fetch_row(matrix, rows[min(k + _AHEAD, last - 1)])
        total += dot(matrix[rows[k]], x)
    return total
