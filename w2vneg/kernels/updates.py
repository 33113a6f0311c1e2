"""Updates of rows. Frozen rows are read like any other but never written; other rows may shrink: L2 as lazy decay.

Each function takes the frozen mask or the decay of `linalg.Rows` as a separate argument. None is a type to the
compiler, so a run without them compiles to the loops of `linalg` alone.

A row shrinks when a pair uses it. With c_r the pairs of row r in an epoch, an epoch adds to the loss

    ½ Σ_r λ c_r^ν ‖row_r‖²,        split evenly: λ c_r^(ν − 1) for each pair of the row.

A pair at the learning rate α then multiplies the row by e^(−α λ c_r^(ν − 1)). Centres and positives shrink; negatives
do not, because the sampler decides how often they are drawn.

The first number of all centres' rows may be fixed at c. Then c times a target's first number is its bias b, the part
of its score common to all centres, and adds λ c_r^ν b² / 2c² to the loss.
"""

from typing import NamedTuple

import numpy as np

from ..ground.jit import LEAF, ZERO, njit
from .functions import fast_exp
from .linalg import add_to_rows, row_of, scale_row, step_rows, window_steps


@njit(borrows=True)
def stays(frozen, i):
    """Return whether the row of id `i` is frozen."""
    if frozen is None:
        return False
    return frozen[i]


@njit(fastmath=LEAF, borrows=True)
def _add_scaled(row, size, total):
    for i in range(total.shape[0]):
        total[i] += size * row[i]


@njit(borrows=True)
def step_targets(frozen, rows, ids, index, steps, n, x, total):
    """`linalg.step_rows` for the targets `ids`, whose rows are ``index[:n]``; x and total are distinct arrays.

    A frozen row adds to `total` like the others. Its step becomes 0, because the row has not moved.
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
                steps[k] = ZERO
                k += 1


@njit(borrows=True)
def step_bag(frozen, rows, ids, index, n, step):
    """`linalg.add_to_rows` for `ids`, whose rows are ``index[:n]``; frozen rows are removed from `index`."""
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
            rows, targets, room = scratch.centre_rows, scratch.target_rows, scratch.gradients
            positives, negatives = scratch.positive_steps, scratch.negative_steps
            window_steps(out.width, inputs.matrix, rows, m, out.matrix, targets, n, positives, negatives, room)
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


class L2(NamedTuple):
    """centres, targets : float, λ of centres' and targets' rows; power : float, ν; bias : float, c, or 0 for none"""

    centres: float
    targets: float
    power: float
    bias: float = 0.0

    def rates(self, of_targets, counts):
        """Return λ c^(ν − 1) for each row, float32; None if λ is 0.

        of_targets : bool; counts : float64, (n_rows,), pairs of each row in an epoch; values below 1 count as 1
        """
        strength = self.targets if of_targets else self.centres
        if not strength:
            return None
        return (strength * np.maximum(counts, 1.0) ** (self.power - 1.0)).astype(np.float32)


@njit(borrows=True)
def shrink(decay, frozen, rows, i, amount):
    """Shrink the row of id `i` in place, except for a fixed first number. `decay` and `frozen` are those of `rows`,
    None if off.

    amount : float32, the learning rate times the number of pairs
    """
    if decay is not None and not stays(frozen, i):
        row = row_of(rows, i)
        scale_row(rows.width, rows.matrix, row, fast_exp(-amount * decay[i]))
        if rows.held > ZERO:
            rows.matrix[row, 0] = rows.held


@njit(borrows=True)
def shrink_each(decay, frozen, rows, ids, n, amount):
    """Do the same for ids[:n]; compiles to nothing if decay is off."""
    if decay is not None:
        for k in range(n):
            shrink(decay, frozen, rows, ids[k], amount)


def shrink_all(matrix, rates, ids, alpha, held=0.0):
    """Do the same for all `ids`, int (n,), of a matrix, float32 (n_rows, dim); an id counts as often as it occurs."""
    if rates is not None:
        distinct, pairs = np.unique(ids, return_counts=True)
        matrix[distinct] *= np.exp(-np.float32(alpha) * pairs * rates[distinct], dtype=np.float32)[:, None]
        if held:
            matrix[distinct, 0] = held
