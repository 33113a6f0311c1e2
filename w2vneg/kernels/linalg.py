"""The operations on rows in which training spends its time, the map from ids to rows, and the types of row lengths.

For rows of 100 to 300 numbers, a hand-written loop beats BLAS; four target rows share each load of the centre.
"""

from collections import namedtuple
from typing import NamedTuple

import numpy as np

from ..ground.jit import LEAF, ONE, ZERO, njit, prefetch
from .contracts import socket
from .simd.lanes import add_lanes, dot_lanes, dot_two_lanes, step_lanes, sum_lanes
from .simd.tiles import NEGATIVES, tile_products, tile_steps

AnyWidth = namedtuple("AnyWidth", "flavour", defaults=[0])  # rows whose length is known only at run time
_WIDTHS = {}  # int -> class; a loop whose length the compiler knows is up to 1.6 times as fast
for _dim in (50, 64, 100, 128, 150, 200, 256, 300):
    _WIDTHS[_dim] = globals()[f"Width{_dim}"] = namedtuple(f"Width{_dim}", "flavour", defaults=[0], module=__name__)


def width_of(dim):
    """Return the NamedTuple whose class gives compiled code the row length; common lengths have their own."""
    return _WIDTHS.get(dim, AnyWidth)()


class Rows(NamedTuple):
    """A replicated matrix as one worker sees it: rows of ids below `n_private` are its own copies, further down.

    matrix : float32, (n_vocab + workers * n_private, dim); shared rows first, then each worker's copies
    n_private : int, how many of the most frequent ids have private copies
    replica_offset : int, row of this worker's copy of id 0; worker : int, its number
    width : ``width_of(dim)``
    frozen : bool, (n_vocab,), True for ids whose rows never move; None if there are none
    decay : float32, (n_vocab,), rate at which a pair shrinks each id's row (see `updates`); None for no decay
    held : float32, fixed value of the first number of rows that shrink; 0 if it is not fixed
    """

    matrix: np.ndarray
    n_private: int
    replica_offset: int
    worker: int
    width: tuple = AnyWidth()
    frozen: np.ndarray | None = None
    decay: np.ndarray | None = None
    held: np.float32 = ZERO


@njit(borrows=True)
def row_of(rows, i):
    """Return the row of id `i` for this worker."""
    return i if i >= rows.n_private else rows.replica_offset + i


_LINE = 16  # float32 numbers in a cache line


@njit(borrows=True)
def fetch_row(matrix, row):
    """Start loading a row that is used soon: the rows of a large vocabulary come from main memory."""
    for column in range(0, matrix.shape[1], _LINE):
        prefetch(matrix, row, column)


@njit(fastmath=LEAF, borrows=True)
def dot(a, b):
    """Return a · b for float32 vectors of equal length."""
    total = ZERO
    for i in range(a.shape[0]):
        total += a[i] * b[i]
    return total


@njit(fastmath=LEAF, borrows=True)
def _dots_four_by_four(matrix, index, n, x, out):
    """Compute four products for each load of x."""
    dim = x.shape[0]
    k = 0
    while k + 4 <= n:
        r0, r1, r2, r3 = index[k], index[k + 1], index[k + 2], index[k + 3]
        s0 = s1 = s2 = s3 = ZERO
        for i in range(dim):
            v = x[i]
            s0 += matrix[r0, i] * v
            s1 += matrix[r1, i] * v
            s2 += matrix[r2, i] * v
            s3 += matrix[r3, i] * v
        out[k], out[k + 1], out[k + 2], out[k + 3] = s0, s1, s2, s3
        k += 4
    while k < n:
        row = index[k]
        total = ZERO
        for i in range(dim):
            total += matrix[row, i] * x[i]
        out[k] = total
        k += 1


_implement_dots, dots = socket(  # ``out[k] = matrix[index[k]] · x`` for k < n
    "dots", default=lambda width, matrix, index, n, x, out: _dots_four_by_four(matrix, index, n, x, out)
)


def _dots_of_two_any(width, matrix, index, n, x, y, out_x, out_y):
    _dots_four_by_four(matrix, index, n, x, out_x)
    _dots_four_by_four(matrix, index, n, y, out_y)


_implement_dots_of_two, dots_of_two = socket("dots_of_two", default=_dots_of_two_any)  # the same for x and y at once


@njit(borrows=True)
def _step_at_run_time(matrix, index, steps, n, x, total):
    step_lanes(None, matrix, index, steps, n, x, total)


_implement_step_rows, step_rows = socket(  # ``total += c · row; row += c · x`` for rows ``index[:n]``; total may be x
    "step_rows",  # tests call it as plain Python
    default=lambda width, matrix, index, steps, n, x, total: _step_at_run_time(matrix, index, steps, n, x, total),
)


def _sum_any(width, matrix, index, n, total):
    sum_lanes(None, matrix, index, n, total)


def _add_any(width, matrix, index, n, step):
    add_lanes(None, matrix, index, n, step)


def _scale_any(width, matrix, row, factor):
    for column in range(matrix.shape[1]):
        matrix[row, column] *= factor


_implement_sum_rows, sum_rows = socket("sum_rows", default=_sum_any)  # ``total += row`` for the rows ``index[:n]``
_implement_add_to_rows, add_to_rows = socket("add_to_rows", default=_add_any)  # ``row += step``, one after the other
_implement_scale_row, scale_row = socket("scale_row", default=_scale_any)  # ``matrix[row] *= factor``


@njit(borrows=True)
def _products_with_rest(width, matrix, index, m, targets, target_index, n, first, negatives):
    """Compute the products of the negatives from number `first` on."""
    if n > first:
        for k in range(m):
            dots(width, targets, target_index[1 + first :], n - first, matrix[index[k]], negatives[k * n + first :])


@njit(borrows=True)
def _products_with_positive(matrix, index, m, target, positives, norms):
    for k in range(m):
        x = matrix[index[k]]
        positives[k], norms[k] = dot(x, target), dot(x, x)


def _products_any(width, matrix, index, m, targets, target_index, n, positives, negatives, norms):
    _products_with_positive(matrix, index, m, targets[target_index[0]], positives, norms)
    _products_with_rest(width, matrix, index, m, targets, target_index, n, 0, negatives)


@njit(borrows=True)
def _step_along_rest(width, matrix, index, m, targets, target_index, n, first, positives, negatives, steps):
    """Step along the targets from number `first` on, row by row; number 0 is the positive."""
    if n >= first:
        for k in range(m):
            x = matrix[index[k]]
            for j in range(first, 1 + n):
                steps[j - first] = positives[k] if j == 0 else negatives[k * n + j - 1]
            step_rows(width, targets, target_index[first:], steps, 1 + n - first, x, x)


def _steps_any(width, matrix, index, m, targets, target_index, n, positives, negatives, steps):
    _step_along_rest(width, matrix, index, m, targets, target_index, n, 0, positives, negatives, steps)


@njit(borrows=True)
def _repeats(index, n):
    """Return whether any of the first n entries of `index` occurs twice."""
    for j in range(1, n):
        for i in range(j):
            if index[i] == index[j]:
                return True
    return False


# A window's m centres are ``matrix[index[k]]``, its targets the positive ``targets[target_index[0]]`` and n negatives.
# Dot products are written to `positives`, (m,), and `negatives`, (m · n,), each centre's n side by side, |centre|² to
# `norms`. Steps are read from the first two. Centre by centre, all targets step along its old value; with tiles, the
# negatives from the sixth on do so in a second pass over the centres. `steps`, (1 + n,), is scratch.
_implement_window_products, window_products = socket("window_products", default=_products_any)
_implement_window_steps, window_steps = socket("window_steps", default=_steps_any)


def _implement(dim, width_class):
    """Bind bodies for rows whose length is known at compile time."""

    @_implement_dots(width_class)
    def dots_known(width, matrix, index, n, x, out):
        dot_lanes(dim, matrix, index, n, x, out)

    @_implement_dots_of_two(width_class)
    def dots_of_two_known(width, matrix, index, n, x, y, out_x, out_y):
        dot_two_lanes(dim, matrix, index, n, x, y, out_x, out_y)

    @_implement_step_rows(width_class)
    def step_known(width, matrix, index, steps, n, x, total):
        step_lanes(dim, matrix, index, steps, n, x, total)

    @_implement_sum_rows(width_class)
    def sum_known(width, matrix, index, n, total):
        sum_lanes(dim, matrix, index, n, total)

    @_implement_add_to_rows(width_class)
    def add_known(width, matrix, index, n, step):
        add_lanes(dim, matrix, index, n, step)

    @_implement_scale_row(width_class)
    def scale_known(width, matrix, row, factor):
        for column in range(dim):
            matrix[row, column] *= factor

    @_implement_window_products(width_class)
    def products_in_tiles(width, matrix, index, m, targets, target_index, n, positives, negatives, norms):
        first = 0
        if n >= NEGATIVES:
            tile_products(dim, matrix, index, m, targets, target_index, n, positives, negatives, norms)
            first = NEGATIVES
        else:
            _products_with_positive(matrix, index, m, targets[target_index[0]], positives, norms)
        _products_with_rest(width, matrix, index, m, targets, target_index, n, first, negatives)

    @_implement_window_steps(width_class)
    def steps_in_tiles(width, matrix, index, m, targets, target_index, n, positives, negatives, steps):
        first = 0
        if n >= NEGATIVES and not _repeats(target_index, 1 + NEGATIVES):
            tile_steps(dim, matrix, index, m, targets, target_index, n, positives, negatives)
            first = 1 + NEGATIVES
        _step_along_rest(width, matrix, index, m, targets, target_index, n, first, positives, negatives, steps)


for _dim, _width in _WIDTHS.items():
    _implement(_dim, _width)


@njit(borrows=True)
def bound_steps(positive_steps, m, negative_steps, draws, norm2):
    """Scale a group's steps so that its positives together, and each negative, move a logit by at most 1.

    Row k moves by c_k x, and so its logit by c_k |x|². The positives may be the same row: a window that repeats a word
    would take many stale steps along it. Bounding the sum of the negatives as well costs quality (measured).
    """
    reach = ZERO
    for k in range(m):
        reach += abs(positive_steps[k])
    for k in range(draws):
        step_size = abs(negative_steps[k])
        reach = step_size if step_size > reach else reach
    if reach * norm2 > ONE:
        scale = ONE / (reach * norm2)
        for k in range(m):
            positive_steps[k] *= scale
        for k in range(draws):
            negative_steps[k] *= scale
