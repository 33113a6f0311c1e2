"""Draws from a fixed distribution in constant time: the alias method (Walker 1977; table after Vose 1991)."""

from typing import NamedTuple

import numpy as np

from ..jit import njit
from .rng import next_bits

_S32 = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


class AliasTable(NamedTuple):
    """threshold : uint32, (n,); alias : int32, (n,). Slot k yields k with chance threshold / 2^32, else alias."""

    threshold: np.ndarray
    alias: np.ndarray


@njit
def _fill(share, threshold, alias):
    """Vose's pairing of slots below and above the mean; `share` (float64, mean 1) is used up."""
    n = share.shape[0]
    small = np.empty(n, np.int32)
    large = np.empty(n, np.int32)
    n_small = n_large = 0
    for k in range(n):
        alias[k] = k
        threshold[k] = 0xFFFFFFFF
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
        threshold[low] = np.uint32(min(share[low] * 4294967296.0, 4294967295.0))
        alias[low] = high
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
    AliasTable
    """
    share = np.array(weights, np.float64)
    share *= share.size / share.sum()
    table = AliasTable(np.empty(share.size, np.uint32), np.empty(share.size, np.int32))
    _fill(share, *table)
    return table


@njit(borrows=True)
def alias_draw(threshold, alias, rng):
    """Draw one index (int32) from the table with these two arrays."""
    bits = next_bits(rng)
    slot = np.int64(((bits >> _S32) * np.uint64(threshold.shape[0])) >> _S32)
    return np.int32(slot) if (bits & _LOW) < np.uint64(threshold[slot]) else alias[slot]
