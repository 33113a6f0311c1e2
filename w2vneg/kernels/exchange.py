"""How the changes that several ranks made to the same rows become one change.

Each rank starts from the same rows and trains on data of its own. Of a row that k of R ranks have changed by Δ_r:

    change = max(f_d, f_a) · Σ Δ_r
    f_d = (1 − ρ^k) / (k (1 − ρ)), ρ = e^−pull        how far k in turn would have got (see `kernels.round`)
    f_a = min(1, Σ ‖Δ_r‖² / ‖Σ Δ_r‖²)                   1 where the ranks went different ways, 1 / k where all went one

f_d alone holds back what need not be: a row that k ranks pushed in k directions has not settled, and its changes add
up. f_a alone would halve what two ranks agree about, although it may have far to go still. k ≤ 2: the sum.
"""

import numpy as np

from ..ground.jit import njit
from .linalg import dot
from .round import combine_row


@njit
def merge_changes(changes, pulls, merged, undamped=2):
    """Merge the changes of all ranks, in the ranks' order.

    Parameters
    ----------
    changes : float32, (n_ranks, n_rows, dim)
    pulls : float64, (n_rows,), at least 0
        How far one rank's work took a row to where it would settle.
    merged : float32, (n_rows, dim), written
    undamped : int
        So many ranks' changes are summed; 2, or 1 for rows that settle at once.
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
