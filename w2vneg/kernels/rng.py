"""Random streams of one 64-bit word each, splitmix64 (Steele, Lea and Flood, 2014), and draws from a distribution.

A stream is a uint64 array of one element, advanced in place. `mix` is its output function. It is used alone if a
decision must depend only on a position (is this token kept?), not on the order in which positions are visited.

Draws take constant time with the alias method (Walker 1977; table after Vose 1991). A table is uint64, (n,): slot k
yields k with probability (its low 32 bits) / 2^32, else the index in its high 32 bits. A draw reads one cache line.
"""

import numpy as np

from ..ground.jit import njit

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_S11, _S27, _S30, _S31, _S32, _S40 = (np.uint64(n) for n in (11, 27, 30, 31, 32, 40))
_LOW = np.uint64(0xFFFFFFFF)
_TO_UNIT = np.float32(2.0**-24)
_TO_DOUBLE = 2.0**-53


@njit(borrows=True)
def mix(z):
    """Return a well-mixed uint64 that depends on every bit of the uint64 `z`."""
    z = (z ^ (z >> _S30)) * _FIRST
    z = (z ^ (z >> _S27)) * _SECOND
    return z ^ (z >> _S31)


@njit(borrows=True)
def next_bits(rng):
    """Advance the stream `rng` (uint64, (1,)) and return 64 random bits."""
    state = rng[0] + _GOLDEN
    rng[0] = state
    return mix(state)


@njit(borrows=True)
def next_unit(rng):
    """Return a float32 uniform on [0, 1)."""
    return np.float32(next_bits(rng) >> _S40) * _TO_UNIT


@njit(borrows=True)
def unit_of(bits):
    """Convert 64 random bits to a float64 uniform on [0, 1)."""
    return np.float64(bits >> _S11) * _TO_DOUBLE


@njit(borrows=True)
def next_double(rng):
    """Return a float64 uniform on [0, 1) with 53 random bits, for distributions whose tails 24 bits do not reach."""
    return unit_of(next_bits(rng))


@njit(borrows=True)
def below(bits, n):
    """Convert 64 random bits to an int64 uniform on 0 … n − 1, for n < 2^31 (bias below n / 2^32)."""
    return np.int64(((bits >> _S32) * np.uint64(n)) >> _S32)


@njit(borrows=True)
def next_below(rng, n):
    """Return an int64 uniform on 0 … n − 1, for n < 2^31 (bias below n / 2^32)."""
    return below(next_bits(rng), n)


@njit(borrows=True)
def step_bits(state):
    """Return (next state, 64 random bits) of a stream held as a number, not an array; both uint64."""
    state = state + _GOLDEN
    return state, mix(state)


@njit(borrows=True)
def bits_at(key, place):
    """Return 64 random bits (uint64) that depend only on a key and a place."""
    return mix(key + np.uint64(place) * _GOLDEN)


@njit(borrows=True)
def shuffled(key, place, n):
    """Return where a shuffle of 0 … n − 1 puts `place` (int64); each key is one shuffle, which takes no memory.

    A Feistel network of four rounds over the smallest power of 4 that is n or more, repeated until the result is below
    n (Black and Rogaway, 2002).
    """
    half = np.uint64(1)
    while (np.uint64(1) << (half + half)) < np.uint64(n):
        half += np.uint64(1)
    mask = (np.uint64(1) << half) - np.uint64(1)
    value = np.uint64(place)
    while True:
        left, right = value >> half, value & mask
        for turn in range(4):
            left, right = right, left ^ (mix(bits_at(key, turn) ^ right) & mask)
        value = (left << half) | right
        if value < np.uint64(n):
            return np.int64(value)


@njit(borrows=True)
def kept_at(key, position, threshold):
    """Return whether the token at `position` survives: probability threshold / 2^32, the same result at every call."""
    return (bits_at(key, position) & _LOW) < threshold


@njit
def _pair(share, small, large, table):
    """Vose's pairing of slots below and above the mean; overwrites `share` (float64, mean 1); two int32 as scratch."""
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
    """Build the alias table of a distribution proportional to `weights` (n,), non-negative and not all zero."""
    weights = np.asarray(weights, np.float64)
    return alias_rows(np.array([0, weights.size]), weights)


@njit
def alias_rows(starts, weights):
    """Build one table for each range ``weights[starts[i]:starts[i + 1]]``, with indices within the range.

    starts : int64, (n_rows + 1,); weights : any numeric type, (n,), non-negative, no range all zero
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
    """Draw an index (int64) below n from the table in the n slots from `first` on."""
    return place_of(table, first, n, next_bits(rng))


@njit(borrows=True)
def place_of(table, first, n, bits):
    """Convert 64 random bits to the index that `alias_place` draws."""
    slot = np.int64(((bits >> _S32) * np.uint64(n)) >> _S32)
    word = table[first + slot]
    return slot if (bits & _LOW) < (word & _LOW) else np.int64(word >> _S32)


@njit(borrows=True)
def alias_draw(table, rng):
    """Draw one index (int32) from a whole table."""
    return np.int32(alias_place(table, 0, table.shape[0], rng))
