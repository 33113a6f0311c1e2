"""L2 as lazy decay: a row shrinks when a pair touches it, and so by as much in an epoch as the penalty asks for.

With c_r the pairs of row r in an epoch, an epoch adds to the loss

    ½ Σ_r λ c_r^ν ‖row_r‖²,        shared out as λ c_r^(ν − 1) to each pair of the row.

A pair at the learning rate α then takes the row to e^(−α λ c_r^(ν − 1)) of itself. Centres and positives shrink;
negatives do not, for how often a row is drawn is the sampler's affair.
"""

from typing import NamedTuple

import numpy as np

from ..ground.jit import njit
from .frozen import stays
from .functions import fast_exp
from .linalg import row_of


class L2(NamedTuple):
    """centres, targets : float, λ of the rows of centres and of targets; power : float, ν"""

    centres: float
    targets: float
    power: float

    def rates(self, of_targets, counts):
        """Return λ c^(ν − 1) for each row, float32; None where λ is 0.

        of_targets : bool; counts : float64, (n_rows,), pairs of each row in an epoch; fewer than one count as one
        """
        strength = self.targets if of_targets else self.centres
        if not strength:
            return None
        return (strength * np.maximum(counts, 1.0) ** (self.power - 1.0)).astype(np.float32)


@njit(borrows=True)
def shrink(decay, frozen, rows, i, amount):
    """Shrink the row of id `i` by so many pairs' part; `decay` and `frozen` are those of `rows`, None where off.

    amount : float32, the learning rate times the pairs
    """
    if decay is not None and not stays(frozen, i):
        factor = fast_exp(-amount * decay[i])
        row = rows.matrix[row_of(rows, i)]
        for k in range(row.shape[0]):
            row[k] *= factor


@njit(borrows=True)
def shrink_each(decay, frozen, rows, ids, n, amount):
    """Do the same for ids[:n]: one call, which is empty where decay is off."""
    if decay is not None:
        for k in range(n):
            shrink(decay, frozen, rows, ids[k], amount)


def shrink_all(matrix, rates, ids, alpha):
    """Do the same for all `ids`, int (n,), of a matrix, float32 (n_rows, dim); an id counts as often as it is there."""
    if rates is not None:
        distinct, pairs = np.unique(ids, return_counts=True)
        matrix[distinct] *= np.exp(-np.float32(alpha) * pairs * rates[distinct], dtype=np.float32)[:, None]
