"""Random streams of one 64-bit word each: splitmix64 (Steele, Lea and Flood, 2014).

A stream is a uint64 array of one element, advanced in place. `mix` is its output function, used by itself where a
decision must depend on a position alone (is this token kept?) and not on the order in which positions are visited.
"""

import numpy as np

from ..ground.jit import njit

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_S27 = np.uint64(27)
_S30 = np.uint64(30)
_S31 = np.uint64(31)
_S32 = np.uint64(32)
_S40 = np.uint64(40)
_LOW = np.uint64(0xFFFFFFFF)
_TO_UNIT = np.float32(2.0**-24)
_S11 = np.uint64(11)
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
    """Make 64 random bits a float64 uniform on [0, 1)."""
    return np.float64(bits >> _S11) * _TO_DOUBLE


@njit(borrows=True)
def next_double(rng):
    """Return a float64 uniform on [0, 1), of 53 bits: for distributions whose tails 24 bits do not reach."""
    return unit_of(next_bits(rng))


@njit(borrows=True)
def below(bits, n):
    """Make 64 random bits an int64 uniform on 0 … n − 1, for n < 2^31 (bias below n / 2^32)."""
    return np.int64(((bits >> _S32) * np.uint64(n)) >> _S32)


@njit(borrows=True)
def next_below(rng, n):
    """Return an int64 uniform on 0 … n − 1, for n < 2^31 (bias below n / 2^32)."""
    return below(next_bits(rng), n)


@njit(borrows=True)
def step_bits(state):
    """Return (next state, 64 random bits) of a stream that is a number and no array; both uint64."""
    state = state + _GOLDEN
    return state, mix(state)


@njit(borrows=True)
def bits_at(key, place):
    """Return 64 random bits (uint64) that depend on a key and a place alone."""
    return mix(key + np.uint64(place) * _GOLDEN)


@njit(borrows=True)
def shuffled(key, place, n):
    """Return where a shuffle of 0 … n − 1 puts `place` (int64); one shuffle for each key, and no memory for it.

    A Feistel network of four rounds over the next power of 4 from n on, gone through again until it lands below n
    (Black and Rogaway, 2002).
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
    """Tell whether the token at `position` survives: probability threshold / 2^32, the same answer at every call."""
    return (bits_at(key, position) & _LOW) < threshold
