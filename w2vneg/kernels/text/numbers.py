"""Numbers that stand alone, overwritten by blanks, byte for byte: digits, and points, commas and colons behind them.

A number stands alone where no letter, digit or underscore touches it; of ``3.5kg`` that is the 3, as the point parts
it from what follows.
"""

import numpy as np

from ...ground.jit import njit
from ..simd.octets import STRETCH, digits, trailing_zeros
from .tokens import MARGIN

_ONE, _STRETCH, _BEGIN = np.uint64(1), np.uint64(STRETCH), np.uint64(MARGIN)
_BLANK = np.uint8(ord(" "))
_PARTS = np.zeros(256, np.uint8)  # of words, and within numbers
_OF_WORD, _WITHIN = np.uint8(1), np.uint8(2)
_PARTS[[byte for byte in range(256) if byte >= 0x80 or chr(byte).isalnum() or byte == ord("_")]] = _OF_WORD
_PARTS[[ord(sign) for sign in ".,:"]] = _WITHIN
_PARTS[[ord(sign) for sign in "0123456789"]] = _OF_WORD | _WITHIN


@njit
def blank_numbers(block, size):
    """Overwrite the numbers of a text that stand alone, in place.

    Parameters
    ----------
    block : ndarray, uint8, (MARGIN + size + MARGIN,)
        UTF-8 text, from `tokens.with_margins`.
    size : int
        Bytes of it that are text.
    """
    end = _BEGIN + np.uint64(size)
    stretch = done = _BEGIN
    while stretch < end:
        left = digits(block, stretch)
        while left != 0:
            p = stretch + trailing_zeros(left)
            left &= left - _ONE
            if p < done or p >= end or _PARTS[block[p - _ONE]] & _OF_WORD:
                continue
            q = p + _ONE
            while _PARTS[block[q]] & _WITHIN:
                q += _ONE
            if _PARTS[block[q]]:  # a word goes on there: the number ends at the last sign before, if there is one
                q -= _ONE
                while q > p and _PARTS[block[q]] & _OF_WORD:
                    q -= _ONE
            if q > p:
                block[p:q] = _BLANK
                done = q
        stretch += _STRETCH
