"""Elementary functions, fast if float32 precision suffices: Numba's own exp calls libm."""

import numpy as np

from ..ground.jit import LEAF, ONE, ZERO, jitable, njit
from .simd.lanes import exp_lanes, highest_lanes, rank_lanes
from .simd.vectors import LANES, LIMIT, LOG2E, POWERS

_LOG2E = np.float32(LOG2E)
_LIMIT = np.float32(LIMIT)
_HALF = np.float32(0.5)
_C1, _C2, _C3, _C4, _C5 = (np.float32(c) for c in POWERS[1:])


@njit(fastmath=LEAF, borrows=True)
def fast_exp(x):
    """Return e^x for a float32, relative error below 4e-6; x is clipped to ±80, so sums of thousands stay finite."""
    power = min(max(x, -_LIMIT), _LIMIT) * _LOG2E
    whole = np.int32(power + (_HALF if power >= ZERO else -_HALF))
    part = power - np.float32(whole)
    fraction = ONE + part * (_C1 + part * (_C2 + part * (_C3 + part * (_C4 + part * _C5))))
    return np.int32((whole + np.int32(127)) << np.int32(23)).view(np.float32) * fraction


@njit(borrows=True)
def exp_into(values, n, scale, shift, out):
    """Write ``out[k] = exp((values[k] - shift) * scale)`` for k < n, all float32; see `fast_exp`.

    `padded` (n) values take no longer than n, if the arrays have room.
    """
    exp_lanes(values, n, np.float32(scale), np.float32(shift), out)


@njit(borrows=True)
def ranks_into(sums, targets, n, ranks):
    """Write into ``ranks[k]`` how many of `sums` (float32) are at most ``targets[k]``, for k < `padded` (n).

    targets, ranks : float32 and int32, at least (`padded` (n),)
    """
    rank_lanes(sums, targets, n, ranks)


@jitable
def padded(n):
    """Return n rounded up to a multiple of `LANES`, so that vector code has no remainder."""
    return (n + LANES - 1) // LANES * LANES


@njit(borrows=True)
def highest(values, n):
    """Return the largest of the first n values (float32, n > 0), ignoring NaN."""
    return highest_lanes(values, n)


@njit(borrows=True)
def first_at_least(values, low, high, wanted):
    """Return the first index in [low, high) whose value is at least `wanted`, or `high`; values are ascending."""
    while low < high:
        middle = (low + high) // 2
        if values[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@njit(fastmath=LEAF, borrows=True)
def accumulate(values):
    """Replace values by their running sums, four quarters in parallel; return the total.

    If no value is negative, no sum is below the one before it, and at a value of 0 they are equal.
    """
    n = values.shape[0]
    quarter = n // 4
    a = b = c = d = ZERO
    for k in range(quarter):
        a += values[k]
        b += values[quarter + k]
        c += values[2 * quarter + k]
        d += values[3 * quarter + k]
        values[k], values[quarter + k], values[2 * quarter + k], values[3 * quarter + k] = a, b, c, d
    b += a
    c += b
    d += c
    for k in range(quarter):
        values[quarter + k] += a
        values[2 * quarter + k] += b
        values[3 * quarter + k] += c
    for k in range(4 * quarter, n):
        d += values[k]
        values[k] = d
    return d


FULL = 1e200
"""Take the logarithm of a product of positive factors once it exceeds this, or falls below its inverse if factors may
be small. The next factor, a quotient of sums of e^x with |x| up to 80, then cannot overflow or underflow it.
"""

_BITS = np.int64(52)  # of a float64's mantissa
_HALF_ROOT = np.int64(0x3FE6A09E667F3BCD)  # 1/√2 as a float64


@njit(borrows=True)
def fast_log(x):
    """Return log x as float64 for a positive normal float64, absolute error below 1e-7; meaningless below 0."""
    bits = np.float64(x).view(np.int64)
    power = (bits - _HALF_ROOT) >> _BITS  # x = 2^power · m, m from 1/√2 to √2, without a branch
    m = np.int64(bits - (power << _BITS)).view(np.float64)
    z = (m - 1.0) / (m + 1.0)
    z2 = z * z
    return np.float64(power) * 0.6931471805599453 + 2.0 * z * (
        1.0 + z2 * (1 / 3 + z2 * (1 / 5 + z2 * (1 / 7 + z2 * (1 / 9))))
    )
