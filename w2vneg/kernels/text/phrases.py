"""Join words that form a phrase: ``new york`` becomes ``new_york``, from left to right, never across lines.

A pair of words is identified by a 64-bit hash of its bytes. The probability that any of 10⁹ other pairs of a corpus has
the hash of one of 10⁵ phrases is 10⁻⁵.
"""

import numpy as np

from ...ground.jit import njit
from ..simd.octets import STRETCH, breaks, trailing_zeros
from .tokens import MARGIN, key_of, space_at, with_margins

_ONE, _STRETCH = np.uint64(1), np.uint64(STRETCH)
_MARGIN = np.uint64(MARGIN)
_MULTIPLIER = np.uint64(0xD6E8FEB86659FD93)
_SHIFT = np.uint64(32)
_BLANK, _UNDERSCORE = np.uint8(ord(" ")), np.uint8(ord("_"))
_SMALLEST = 16


@njit(borrows=True)
def _of_pair(first, second):
    key = (first * _MULTIPLIER) ^ (first >> _SHIFT) ^ second
    key = (key ^ (key >> _SHIFT)) * _MULTIPLIER
    key ^= key >> _SHIFT
    return key if key != 0 else _ONE  # 0 marks a free slot


@njit(borrows=True)
def _find(slots, key):
    mask = np.uint64(slots.shape[0] - 1)
    place = key & mask
    while slots[place] != 0 and slots[place] != key:
        place = (place + _ONE) & mask
    return place


@njit
def _enter(block, ends, slots):
    """Enter pairs of words of `block` into `slots`; ends : uint64, where each word ends, followed by a blank."""
    begin, first = _MARGIN, _ONE
    for k in range(ends.shape[0]):
        key = key_of(block, begin, ends[k])
        begin = ends[k] + _ONE
        if k % 2 == 1:
            pair = _of_pair(first, key)
            slots[_find(slots, pair)] = pair
        first = key


def table_of(pairs):
    """Return a table of pairs of words (list of (str, str)) for `join`: uint64, (a power of two,)."""
    words = [word.encode() for pair in pairs for word in pair]
    ends = MARGIN - 1 + np.cumsum([1 + len(word) for word in words], dtype=np.int64)
    slots = np.zeros(max(_SMALLEST, 1 << (4 * len(pairs)).bit_length()), np.uint64)
    _enter(with_margins(b" ".join(words)), ends.astype(np.uint64), slots)
    return slots


@njit
def join(block, size, slots, final):
    """Join the words of phrases, in place; if more than one blank separates them, the first word moves.

    Return how many bytes are done; the rest, a word that the next one may join, must be passed again.

    block : uint8, (MARGIN + size + MARGIN,), UTF-8 text of whole words from `tokens.with_margins`, `size` bytes of it:
        it ends with white space, unless it is `final`
    slots : from `table_of`
    """
    end_of_text = _MARGIN + np.uint64(size)
    begin = _MARGIN
    waiting = False  # for a second word, after the one from `first` to `gap`
    first = gap = begin
    before = _ONE
    stretch, left = begin, breaks(block, begin)
    while begin < end_of_text:
        while left == 0:
            stretch += _STRETCH
            left = breaks(block, stretch)
        p = stretch + trailing_zeros(left)
        left &= left - _ONE
        width = space_at(block, p)
        if width == 0:
            continue
        if begin < p:
            key = key_of(block, begin, p)
            pair = _of_pair(before, key)
            if waiting and slots[_find(slots, pair)] == pair:
                shift = begin - _ONE - gap
                if shift > 0:
                    for k in range(gap - first):
                        block[begin - np.uint64(2 + k)] = block[gap - np.uint64(1 + k)]
                    block[first : first + shift] = _BLANK
                block[begin - _ONE] = _UNDERSCORE
                waiting = False
            else:
                waiting = True
                before, first, gap = key, begin, p
        waiting &= block[p] != 10
        begin = p + width
    return np.int64(first - _MARGIN) if waiting and not final else size
