"""Updates that leave frozen rows where they are: they are read as any other, and never written to.

Each function takes what is frozen (`linalg.Rows.frozen`) as an argument of its own. None is a type to the compiler, so
that a run without frozen rows has the loops of `linalg` and nothing else.
"""

import numpy as np

from ..ground.jit import LEAF, njit
from .linalg import add_to_rows, step_rows, window_steps

_ZERO = np.float32(0.0)


@njit(borrows=True)
def stays(frozen, i):
    """Tell whether the row of id `i` is frozen."""
    if frozen is None:
        return False
    return frozen[i]


@njit(fastmath=LEAF, borrows=True)
def _add_scaled(row, size, total):
    for i in range(total.shape[0]):
        total[i] += size * row[i]


@njit(borrows=True)
def step_targets(frozen, rows, ids, index, steps, n, x, total):
    """`linalg.step_rows` for the targets `ids`, whose rows are ``index[:n]``; x and total are two arrays.

    A frozen one adds to `total` as the others do. Its step becomes 0, for it has not moved.
    """
    if frozen is None:
        step_rows(rows.width, rows.matrix, index, steps, n, x, total)
    else:
        k = 0
        while k < n:
            first = k
            while k < n and not frozen[ids[k]]:
                k += 1
            if k > first:
                step_rows(rows.width, rows.matrix, index[first:], steps[first:], k - first, x, total)
            if k < n:
                _add_scaled(rows.matrix[index[k]], steps[k], total)
                steps[k] = _ZERO
                k += 1


@njit(borrows=True)
def step_bag(frozen, rows, ids, index, n, step):
    """`linalg.add_to_rows` for `ids`, whose rows are ``index[:n]``; `index` loses those that are frozen."""
    if frozen is None:
        add_to_rows(rows.width, rows.matrix, index, n, step)
    else:
        free = 0
        for k in range(n):
            if not frozen[ids[k]]:
                index[free] = index[k]
                free += 1
        add_to_rows(rows.width, rows.matrix, index, free, step)


@njit(borrows=True)
def step_window(frozen_in, frozen_out, inputs, out, scratch, m, n):
    """`linalg.window_steps` for a window's m centres and its targets, the positive and n negatives."""
    if frozen_in is None:
        if frozen_out is None:
            window_steps(
                out.width,
                inputs.matrix,
                scratch.centre_rows,
                m,
                out.matrix,
                scratch.target_rows,
                n,
                scratch.positive_steps,
                scratch.negative_steps,
                scratch.gradients,
            )
        else:
            _step_centre_by_centre(frozen_in, frozen_out, inputs, out, scratch, m, n)
    else:
        _step_centre_by_centre(frozen_in, frozen_out, inputs, out, scratch, m, n)


@njit(borrows=True)
def _step_centre_by_centre(frozen_in, frozen_out, inputs, out, scratch, m, n):
    x, ids, steps = scratch.x, scratch.ids, scratch.gradients
    ids[0] = scratch.positives[0]
    for j in range(n):
        ids[1 + j] = max(scratch.negatives[j], 0)
    for k in range(m):
        centre = inputs.matrix[scratch.centre_rows[k]]
        for i in range(x.shape[0]):
            x[i] = centre[i]
        steps[0] = scratch.positive_steps[k]
        for j in range(n):
            steps[1 + j] = scratch.negative_steps[k * n + j]
        total = scratch.sink if stays(frozen_in, scratch.centres[k]) else centre
        step_targets(frozen_out, out, ids, scratch.target_rows, steps, 1 + n, x, total)
