"""float32 numbers as the shortest decimals that read back as the same float32.

For |x| in [1e-4, 100), the product x · 10^d (d ≤ 12) is exact in float64: 24 bits of x and 28 bits of 5^12. So
rounding it gives the correct decimal of any length. Nine significant digits always read back as x; six to eight are
tried as well. The twelve decimals are then looked up four digits at a time.
"""

import numpy as np

from ...ground.jit import njit

SMALLEST, LIMIT = np.float32(1e-4), np.float32(100)
WIDEST = 17  # characters of a number and its separator

_WHOLE, _LOW = np.uint64(10**12), np.uint64(10**4)
_POINT, _MINUS, _BLANK, _LINE_FEED, _ZERO = (np.uint8(ord(sign)) for sign in ".- \n0")
_DIGITS = np.array([list(f"{number:04d}".encode()) for number in range(10000)], dtype=np.uint8)
_USED = np.array([len(f"{number:04d}".rstrip("0")) for number in range(10000)], dtype=np.uint8)


@njit(borrows=True)
def _shortest(values, scaled):
    """Round each to the fewest significant digits that read back as it, times 10^12; meaningless out of range.

    values : float32, (d,); scaled : uint64, (d,), updated in place
    """
    for k in range(values.shape[0]):
        value = np.float64(abs(values[k]))
        bits = np.float32(abs(values[k])).view(np.int32) - np.int32(1 if value > 0 else 0)
        below = np.float64(np.int32(bits).view(np.float32))
        scale = 1e12  # to nine significant digits
        scale = 1e11 if value >= 1e-3 else scale
        scale = 1e10 if value >= 1e-2 else scale
        scale = 1e9 if value >= 1e-1 else scale
        scale = 1e8 if value >= 1.0 else scale
        scale = 1e7 if value >= 10.0 else scale
        # Half the gap to the neighbour below, which at a power of two is the smaller gap; a little less, so that
        # readers that round to float64 first get the same float32.
        tolerance = 0.49999 * (value - below)
        rounded = np.rint(value * scale)
        for fewer in (10.0, 100.0, 1000.0):
            shorter = np.rint(value * (scale / fewer)) * fewer
            rounded = shorter if abs(shorter / scale - value) < tolerance else rounded
        scaled[k] = np.uint64(rounded * (1e12 / scale)) if value < LIMIT else np.uint64(0)


@njit(borrows=True)
def _write_digits(out, at, number):
    for i in range(4):
        out[at + i] = _DIGITS[number, i]


@njit(borrows=True)
def _write_plain(out, at, scaled):
    """Write a number below 100, given times 10^12; return where it ends."""
    integer, decimals = scaled // _WHOLE, scaled % _WHOLE
    high, low = decimals // _LOW, decimals % _LOW
    first, middle = high // _LOW, high % _LOW
    if integer > 9:
        out[at] = _ZERO + np.uint8(integer // np.uint64(10))
        at += 1
    out[at] = _ZERO + np.uint8(integer % np.uint64(10))
    out[at + 1] = _POINT
    at += 2
    _write_digits(out, at, first)
    _write_digits(out, at + 4, middle)
    _write_digits(out, at + 8, low)
    if low > 0:
        return at + 8 + _USED[low]
    if middle > 0:
        return at + 4 + _USED[middle]
    return at + max(_USED[first], 1)


@njit(borrows=True)
def _write_row(values, others, other, scaled, out):
    """Write a row of numbers; return its length in characters. `other` is the index of its first number in `others`."""
    bits = values.view(np.int32)
    _shortest(values, scaled)
    at = 0
    for k in range(values.shape[0]):
        size = abs(values[k])
        if size != 0 and not (SMALLEST <= size < LIMIT):
            for i in range(others.shape[1]):
                if others[other, i] == 0:
                    break
                out[at] = others[other, i]
                at += 1
            other += 1
        else:
            if bits[k] < 0:
                out[at] = _MINUS
                at += 1
            at = _write_plain(out, at, scaled[k])
        out[at] = _BLANK
        at += 1
    out[at - 1] = _LINE_FEED
    return at


@njit
def write_rows(matrix, others, first_other, text, lengths):
    """Write each row's numbers, separated by blanks and ended by a line feed.

    matrix : float32, (n, dim), finite, contiguous
    others : uint8, (n_others, 16), characters of the nonzero numbers outside [1e-4, 100), row by row; 0 ends one
    first_other : int64, (n,), index of each row's first number in `others`
    text, lengths : uint8, (n, WIDEST · dim), and int64, (n,), characters of each row and their number; written
    """
    scaled = np.empty(matrix.shape[1], np.uint64)
    for r in range(len(matrix)):
        lengths[r] = _write_row(matrix[r], others, first_other[r], scaled, text[r])
