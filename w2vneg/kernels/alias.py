"""Draws from a fixed distribution in constant time: the alias method (Walker 1977; table after Vose 1991).

A table is uint64, (n,): slot k yields k with chance (its low 32 bits) / 2^32, else the index in its high 32 bits. Both
in one word, so that a draw from a large table touches one cache line.
"""

import numpy as np

from ..ground.jit import njit
from .rng import next_bits

_S32 = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


@njit
def _pair(share, small, large, table):
    """Vose's pairing of slots below and above the mean; `share` (float64, mean 1) is used up, two int32 for scratch."""
    n = share.shape[0]
    n_small = n_large = 0
    for k in range(n):
        table[k] = (np.uint64(k) << _S32) | _LOW
        if share[k] < 1.0:
            small[n_small] = k
            n_small += 1
        else:
            large[n_large] = k
            n_large += 1
    while n_small > 0 and n_large > 0:
        n_small -= 1
        low = small[n_small]
        high = large[n_large - 1]
        threshold = np.uint64(min(share[low] * 4294967296.0, 4294967295.0))
        table[low] = (np.uint64(high) << _S32) | threshold
        share[high] -= 1.0 - share[low]
        if share[high] < 1.0:
            n_large -= 1
            small[n_small] = high
            n_small += 1


def alias_table(weights):
    """Build the table of a distribution proportional to `weights`.

    Parameters
    ----------
    weights : array_like of float, (n,), not negative, not all zero

    Returns
    -------
    ndarray, uint64, (n,)
    """
    weights = np.asarray(weights, np.float64)
    return alias_rows(np.array([0, weights.size]), weights)


@njit
def alias_rows(starts, weights):
    """Build one table for each stretch ``weights[starts[i]:starts[i + 1]]``, with indices within the stretch.

    Parameters
    ----------
    starts : int64, (n_rows + 1,)
    weights : any kind of number, (n,), not negative, no stretch all zero

    Returns
    -------
    ndarray, uint64, (n,)
    """
    table = np.empty(weights.shape[0], np.uint64)
    longest = 0
    for row in range(starts.shape[0] - 1):
        longest = max(longest, starts[row + 1] - starts[row])
    share = np.empty(longest, np.float64)
    small, large = np.empty(longest, np.int32), np.empty(longest, np.int32)
    for row in range(starts.shape[0] - 1):
        first, n = starts[row], starts[row + 1] - starts[row]
        total = 0.0
        for k in range(n):
            total += weights[first + k]
        for k in range(n):
            share[k] = weights[first + k] * (n / total)
        _pair(share[:n], small, large, table[first : first + n])
    return table


@njit(borrows=True)
def alias_place(table, first, n, rng):
    """Draw an index (int64) below n from the table that is the stretch of n slots from `first` on."""
    return place_of(table, first, n, next_bits(rng))


@njit(borrows=True)
def place_of(table, first, n, bits):
    """Make 64 random bits the index that `alias_place` draws."""
    slot = np.int64(((bits >> _S32) * np.uint64(n)) >> _S32)
    word = table[first + slot]
    return slot if (bits & _LOW) < (word & _LOW) else np.int64(word >> _S32)


@njit(borrows=True)
def alias_draw(table, rng):
    """Draw one index (int32) from a whole table."""
    return np.int32(alias_place(table, 0, table.shape[0], rng))
