"""Merge the changes that several trainers, workers or ranks, made to the same row; convert rows to half precision.

All start from the same rows and train on data of their own. For a row that k of them have changed by Δ_r:

    change = max(f_d, f_a) · Σ Δ_r
    f_d = (1 − ρ^k) / (k (1 − ρ)), ρ = e^−pull
    f_a = min(1, Σ ‖Δ_r‖² / ‖Σ Δ_r‖²)                   1 for different directions, 1 / k for the same one

One trainer moves a row by the fraction 1 − ρ of the way to where it would settle, k in turn by 1 − ρ^k, not k (1 − ρ).
So f_d is nearly 1 for a row that has hardly moved, and 1 / k for one that each trainer settles, as the sum would
overshoot. f_d alone damps too much: a row pushed in k directions has not settled, and its changes add up. f_a alone
would halve a change that two agree on, even far from settling. For k ≤ 2, changes are summed. Workers use f_a only if
two are damped as well: for rows that settle within a round, such as those near the root of a tree.
"""

import numpy as np

from ..ground.jit import launch, njit
from .linalg import dot

_REBIAS = np.int32((127 - 15) << 23)  # from the exponent of a half to that of a float32
_SMALLEST = np.int32((127 - 14) << 23)  # 2⁻¹⁴, the smallest normal half, as bits of a float32
_TINY = np.float32(2.0**-14)
_LARGEST = np.int32((127 + 16) << 23)  # 2¹⁶, beyond the largest half
_INFINITE = np.int32(255 << 23)
_TINY_STEP = np.int32((127 - 1) << 23)  # 0.5: adding it rounds a float32 below 2⁻¹⁴ to the halves' step 2⁻²⁴
_MAGNITUDE = np.int32(0x7FFFFFFF)


def merge_round(matrices, workers, chunks, pulls, undamped=2):
    """Merge the workers' copies of the first rows of some matrices: shared += damping · Σ change; then every copy
    becomes the new shared row.

    matrices : list of float32, (n_rows + workers * n_private, dim), shared rows first, then each worker's copies
    chunks : int, parts of the rows that are merged in parallel
    pulls : list of float64, (n_private,), non-negative, one for each matrix; n_private may differ between matrices
    undamped : int, up to how many workers' changes are summed; 2, or 1 to use f_a
    """

    def merge(chunk):
        for matrix, pull in zip(matrices, pulls, strict=True):
            begin, end = (part * len(pull) // chunks for part in (chunk, chunk + 1))
            _merge_rows(matrix, len(pull), workers, begin, end, pull, undamped)

    launch(merge, chunks)


@njit(borrows=True)
def combine_row(row, delta, touched, pull, agreement, undamped):
    """Add to a row, float32 (dim,), `delta`, the sum of the changes of `touched` trainers, damped.

    agreement : float, in [0, 1], lower bound of the factor; undamped : int, up to how many changes are only summed
    """
    damping = np.float32(1.0)
    left = np.exp(-pull)
    if touched > undamped and left <= 0.999999:
        damping = np.float32(max((1.0 - left**touched) / (touched * (1.0 - left)), agreement))
    for i in range(row.shape[0]):
        row[i] += damping * delta[i]


@njit
def _merge_rows(replicated, n_private, workers, begin, end, pulls, undamped):
    shared, dim = replicated.shape[0] - workers * n_private, replicated.shape[1]
    delta = np.empty(dim, np.float32)
    for row in range(begin, end):
        delta[:] = np.float32(0.0)
        touched, apart = np.int64(0), 0.0  # apart: Σ ‖change‖²
        for worker in range(workers):
            copy = shared + worker * n_private + row
            moved = False
            for i in range(dim):
                change = replicated[copy, i] - replicated[row, i]
                delta[i] += change
                apart += change * change
                moved |= change != np.float32(0.0)
            touched += moved
        if touched == 0:
            continue
        together = dot(delta, delta) if undamped < 2 else np.float32(0.0)
        agreement = min(1.0, apart / together) if together > np.float32(0.0) else 0.0
        combine_row(replicated[row], delta, touched, pulls[row], agreement, undamped)
        for worker in range(workers):
            copy = shared + worker * n_private + row
            for i in range(dim):
                replicated[copy, i] = replicated[row, i]


@njit
def merge_changes(changes, pulls, merged, undamped=2):
    """Merge the changes of all ranks, float32 (n_ranks, n_rows, dim), in their order, into `merged` (n_rows, dim).

    pulls : float64, (n_rows,), non-negative, how far one rank's work took a row towards where it would settle
    undamped : int, up to how many ranks' changes are summed; 2, or 1 for rows that settle at once
    """
    n_ranks, dim = changes.shape[0], merged.shape[1]
    delta = np.empty(dim, np.float32)
    for row in range(merged.shape[0]):
        delta[:] = np.float32(0.0)
        merged[row, :] = np.float32(0.0)
        touched, apart = 0, 0.0  # apart: Σ ‖Δ_r‖²
        for rank in range(n_ranks):
            change = changes[rank, row]
            norm2 = dot(change, change)
            if norm2 != np.float32(0.0):
                touched += 1
                apart += norm2
                for i in range(change.shape[0]):
                    delta[i] += change[i]
        if touched == 0:
            continue
        together = dot(delta, delta)
        agreement = min(1.0, apart / together) if together > 0.0 else 1.0
        combine_row(merged[row], delta, touched, pulls[row], agreement, undamped)


@njit
def to_halves(rows, halves, moved):
    """Convert rows, float32 (n, dim), to IEEE halves, uint16 (n, dim), rounded to nearest; five times as fast as NumPy.

    moved : bool (n,), written: whether each row has a nonzero number
    """
    for k in range(rows.shape[0]):
        any_bits = np.int32(0)
        for i in range(rows.shape[1]):
            bits = np.float32(rows[k, i]).view(np.int32)
            size = np.int32(bits & _MAGNITUDE)
            any_bits |= size
            normal = (size - _REBIAS + np.int32(0xFFF) + ((size >> np.int32(13)) & np.int32(1))) >> np.int32(13)
            tiny = np.float32(size.view(np.float32) + np.float32(0.5)).view(np.int32) - _TINY_STEP
            half = tiny if size < _SMALLEST else normal
            beyond = np.int32(0x7E00) if size > _INFINITE else np.int32(0x7C00)
            half = beyond if size >= _LARGEST else half
            halves[k, i] = np.uint16(half | ((bits >> np.int32(16)) & np.int32(0x8000)))
        moved[k] = any_bits != 0


@njit
def from_halves(halves, rows):
    """Convert halves, uint16 (n, dim), to rows, float32 (n, dim)."""
    for k in range(rows.shape[0]):
        for i in range(rows.shape[1]):
            half = np.int32(halves[k, i])
            size = (half & np.int32(0x7FFF)) << np.int32(13)
            exponent = half & np.int32(0x7C00)
            # below 2⁻¹⁴ the value is the mantissa times 2⁻²⁴; beyond the largest are infinity and NaN
            tiny = np.float32(np.int32(size + _SMALLEST).view(np.float32) - _TINY).view(np.int32)
            bits = tiny if exponent == 0 else size + _REBIAS
            bits = bits + _REBIAS if exponent == np.int32(0x7C00) else bits
            rows[k, i] = np.int32(bits | ((half & np.int32(0x8000)) << np.int32(16))).view(np.float32)
