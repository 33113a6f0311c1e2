"""float32 numbers to the shortest decimals that read back to the same float32, many at a time.

For |x| in [1e-4, 100) the product x · 10^d (d ≤ 12) is exact in float64: 24 bits of x and 28 bits of 5^12. So
rounding it gives the right decimal of any wanted length; nine significant digits always lead back to x, and
six to eight are tried. The twelve decimals are then looked up four digits at a time, and the characters that
are not needed are dropped by a mask. Other numbers go through ``str``.
"""

import numpy as np

_DECIMALS = 12
_SMALLEST, _LIMIT = np.float32(1e-4), np.float32(100)
_BOUNDS = np.array([1e-3, 1e-2, 1e-1, 1, 10], dtype=np.float32)
_POWERS = 10.0 ** np.arange(_DECIMALS + 1)
_CELL = 20  # characters kept free for a number: sign, 2 digits, point, 12 decimals, separator, 3 unused


def _four_digit_table():
    digits = np.array([f"{number:04d}" for number in range(10000)], dtype="S4")
    used = np.array([len(f"{number:04d}".rstrip("0")) for number in range(10000)], dtype=np.int64)
    return digits.view(np.uint32), used


def _head_tables():
    """Four characters before the decimals (sign, two digits, point) by ``100 * negative + integer part``."""
    heads, masks = [], []
    for sign in (0, 1):
        for integer in range(100):
            heads.append(f"-{integer:02d}.".encode())
            masks.append(bytes([sign, integer > 9, 1, 1]))
    return np.array(heads, dtype="S4").view(np.uint32), np.frombuffer(b"".join(masks), dtype=np.uint32)


_DIGITS, _USED = _four_digit_table()
_HEADS, _HEAD_MASKS = _head_tables()
_TAIL_MASKS = np.array(  # by number of decimals: which of the 12, then the separator and 3 unused
    [[column < used or column == 12 for column in range(16)] for used in range(13)], dtype=np.uint8
).view(np.uint32)


def shortest_decimals(values):
    """Round each value to the fewest significant digits, six to nine, that lead back to it.

    Parameters
    ----------
    values : ndarray, float64, (n,)
        Exact float32 values in [1e-4, 100), or 0.

    Returns
    -------
    ndarray, int64, (n,)
        The rounded values times 10^12, exact.
    """
    single = values.astype(np.float32)
    scale = _POWERS[_DECIMALS - np.searchsorted(_BOUNDS, single, side="right")]  # nine significant digits
    # Half the gap to the neighbour below, which at a power of two is the smaller one; a little less for
    # safety, so that readers which round to float64 first come to the same float32.
    tolerance = 0.49999 * (values - np.nextafter(single, np.float32(0)).astype(np.float64))
    rounded = np.rint(values * scale)
    for fewer in (10.0, 100.0, 1000.0):
        shorter = np.rint(values * (scale / fewer))
        close = np.abs(shorter * fewer / scale - values) < tolerance
        rounded = np.where(close, shorter * fewer, rounded)
    return (rounded * (_POWERS[_DECIMALS] / scale)).astype(np.int64)


def format_rows(matrix):
    """Write each row's numbers, separated by blanks and ended by a line feed, so that they read back exactly.

    Parameters
    ----------
    matrix : ndarray, float32, (n, dim)
        Finite.

    Returns
    -------
    text : bytes
        All rows after one another.
    ends : ndarray, int64, (n,)
        Where each row ends in `text`.
    """
    flat = np.ascontiguousarray(matrix, dtype=np.float32).reshape(-1)
    size = np.abs(flat)
    plain = ((size >= _SMALLEST) & (size < _LIMIT)) | (size == 0)
    scaled = shortest_decimals(np.where(plain, size, np.float32(0)).astype(np.float64))

    integer, decimals = np.divmod(scaled, 10**_DECIMALS)
    high, low = np.divmod(decimals, 10**4)
    first, middle = np.divmod(high, 10**4)
    used = np.where(low > 0, 8 + _USED[low], np.where(middle > 0, 4 + _USED[middle], np.maximum(_USED[first], 1)))
    head = 100 * np.signbit(flat) + integer

    cells = np.empty((len(flat), _CELL // 4), dtype=np.uint32)
    cells[:, 0] = _HEADS[head]
    cells[:, 1] = _DIGITS[first]
    cells[:, 2] = _DIGITS[middle]
    cells[:, 3] = _DIGITS[low]
    masks = np.empty_like(cells)
    masks[:, 0] = _HEAD_MASKS[head]
    masks[:, 1:] = _TAIL_MASKS[used]
    characters, kept = cells.view(np.uint8), masks.view(np.bool_)
    separators = np.full(matrix.shape, ord(" "), dtype=np.uint8)
    separators[:, -1] = ord("\n")
    characters[:, 16] = separators.reshape(-1)

    odd = np.flatnonzero(~plain)
    if len(odd):
        strings = np.array([_odd_decimal(value) for value in flat[odd]], dtype="S16")
        strings = strings.view(np.uint8).reshape(-1, 16)
        characters[odd, :16] = strings
        kept[odd, :16] = strings != 0
    return characters[kept].tobytes(), np.cumsum(kept.reshape(len(matrix), -1).sum(axis=1))


def _odd_decimal(value):
    """Write one float32 in at most 16 characters; older NumPys would spell out up to 16 digits."""
    text = str(value)
    return (text if len(text) <= 16 else np.format_float_scientific(value, trim="-")).encode()
