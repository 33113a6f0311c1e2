"""Split UTF-8 text at white space, number its types, the distinct tokens, and renumber them later.

Text is split as by Python's ``str.split()``, at Unicode spaces too. A line feed ends a sentence; a carriage return is
a space. The caller must ensure that the text is valid UTF-8 without NUL bytes.
"""

from collections import namedtuple

import numpy as np

from ...ground.jit import njit
from ..simd.octets import STRETCH, breaks, octet, trailing_zeros

# Entries of a `tally`: the position reached in the block, numbers written, types in the table, lines, empty lines.
POSITION, WRITTEN, TYPES, LINES, EMPTY_LINES = range(5)
SENTENCE_END = np.int32(-1)
MARGIN = STRETCH  # blanks before and after a text, which `scan` may read

_TOKEN, _SPACE, _NEWLINE, _LEAD = range(4)

_CLASSES = np.zeros(256, dtype=np.uint8)
_CLASSES[[9, 11, 12, 13, 28, 29, 30, 31, 32]] = _SPACE
_CLASSES[10] = _NEWLINE
_CLASSES[[0xC2, 0xE1, 0xE2, 0xE3]] = _LEAD  # the first bytes of all Unicode spaces, and of many other characters
_ONE, _EIGHT, _SIXTEEN, _SHIFT = (np.uint64(n) for n in (1, 8, 16, 32))
_STRETCH, _MARGIN = np.uint64(STRETCH), np.uint64(MARGIN)
_MULTIPLIER_1 = np.uint64(0xD6E8FEB86659FD93)
_MULTIPLIER_2 = np.uint64(0xA3B195354A39B70D)
_LAST_BYTES = np.array([(1 << 8 * min(n, 8)) - 1 for n in range(17)], np.uint64)  # masks for `KEY`, by length
_BYTES_BEFORE = np.array([(1 << 8 * max(n - 8, 0)) - 1 for n in range(17)], np.uint64)  # and for `KEY_2`


TokenTable = namedtuple("TokenTable", "slots arena starts")
"""An open-addressing hash table of the types found so far; it is grown between calls of `scan`.

slots : uint64, (capacity, 4), half a cache line each, capacity a power of two. `KEY`: the last eight bytes of
    the type, or all if there are fewer. `KEY_2`: the bytes before these if at most eight, else their hash.
    `ENTRY`: 2 * (type number + 1), plus 1 for one of more than sixteen bytes; 0 marks a free slot. `COUNT`: its count
arena : uint8, the bytes of all types, one after the other
starts : int64, (capacity // 2 + 1,); type t is ``arena[starts[t]:starts[t + 1]]``
"""


KEY, KEY_2, ENTRY, COUNT = range(4)


@njit(borrows=True)
def _mix(key):
    key = (key ^ (key >> _SHIFT)) * _MULTIPLIER_1
    key = (key ^ (key >> _SHIFT)) * _MULTIPLIER_2
    return key ^ (key >> _SHIFT)


@njit(borrows=True)
def _place(key, key_2):
    return _mix(key ^ key_2 * _MULTIPLIER_2)


@njit(borrows=True)
def _space_width(first, second, third):
    """Return the length in bytes of the Unicode space at the start of the three bytes, or 0."""
    if first == 0xC2:
        return 2 if second == 0x85 or second == 0xA0 else 0
    if first == 0xE1:
        return 3 if second == 0x9A and third == 0x80 else 0
    if first == 0xE3:
        return 3 if second == 0x80 and third == 0x80 else 0
    if second == 0x80:
        return 3 if third <= 0x8A or third == 0xA8 or third == 0xA9 or third == 0xAF else 0
    return 3 if second == 0x81 and third == 0x9F else 0


@njit(borrows=True)
def space_at(block, p):
    """Return the length in bytes (uint64) of the white space at `p`, 0 if there is none; two bytes must follow it."""
    kind = _CLASSES[block[p]]
    if kind == _LEAD:
        return np.uint64(_space_width(block[p], block[p + _ONE], block[p + _ONE + _ONE]))
    return np.uint64(kind != _TOKEN)


@njit(borrows=True)
def _same_bytes(arena, start, stop, block, begin, end):
    if np.uint64(stop - start) != end - begin:
        return False
    for i in range(stop - start):  # noqa: SIM110 (a plain loop compiles best)
        if arena[start + i] != block[begin + np.uint64(i)]:
            return False
    return True


@njit(borrows=True)
def _packed(block, begin, end):
    """Return the last eight bytes of ``block[begin:end]``, or all if there are fewer, as one number."""
    key = np.uint64(0)
    while begin < end:
        key = (key << _EIGHT) | np.uint64(block[begin])
        begin += _ONE
    return key


@njit(borrows=True)
def _hash(block, begin, end):
    key = end - begin
    while begin + _EIGHT < end:
        key = _mix(key ^ _packed(block, begin, begin + _EIGHT)) + _ONE
        begin += _EIGHT
    return _mix(key ^ _packed(block, begin, end))


@njit(borrows=True)
def key_of(block, begin, end):
    """Return a 64-bit hash of the token ``block[begin:end]``; at least sixteen bytes must precede it."""
    key, key_2 = _keys(block, begin, end)
    return _place(key, key_2)


def with_margins(text):
    """Return bytes as ndarray, uint8, with `MARGIN` blanks before and after."""
    block = np.full(len(text) + 2 * MARGIN, 32, np.uint8)
    block[MARGIN : MARGIN + len(text)] = np.frombuffer(text, np.uint8)
    return block


@njit
def last_break(text):
    """Return the position after the last complete white space of `text` (ndarray, uint8), 0 if it has none."""
    for p in range(text.size - 1, -1, -1):
        kind = _CLASSES[text[p]]
        if kind in (_SPACE, _NEWLINE):
            return p + 1
        if kind == _LEAD and p + 3 <= text.size:
            width = _space_width(text[p], text[p + 1], text[p + 2])
            if width > 0:
                return p + width
    return 0


@njit(borrows=True)
def _find(key, key_2, block, begin, end, slots, arena, starts):
    """Return the slot of the type at ``block[begin:end]``, or the free slot where it would go."""
    mask = np.uint64(slots.shape[0] - 1)
    is_long = np.uint64(end - begin > _SIXTEEN)
    place = _place(key, key_2) & mask
    while True:
        entry = slots[place, ENTRY]
        if entry == 0:
            return place
        if slots[place, KEY] == key and slots[place, KEY_2] == key_2 and (entry & _ONE) == is_long:
            number = (entry >> _ONE) - _ONE
            if is_long == 0 or _same_bytes(arena, starts[number], starts[number + _ONE], block, begin, end):
                return place
        place = (place + _ONE) & mask


@njit(borrows=True)
def _enter(place, key, key_2, block, begin, end, slots, arena, starts, tally):
    """Add ``block[begin:end]`` as a new type in the free slot `place`; return False if there is no room."""
    number = tally[TYPES]
    used = starts[number]
    length = np.int64(end - begin)
    if number + 1 >= starts.size or used + length > arena.size:
        return False
    for i in range(length):
        arena[used + i] = block[begin + np.uint64(i)]
    slots[place, KEY] = key
    slots[place, KEY_2] = key_2
    slots[place, ENTRY] = (np.uint64(number + 1) << _ONE) | np.uint64(length > 16)
    starts[number + 1] = used + length
    tally[TYPES] = number + 1
    return True


@njit(borrows=True)
def _keys(block, begin, end):
    """Return (`KEY`, `KEY_2`) of the token ``block[begin:end]``; at least sixteen bytes must precede it."""
    n = end - begin
    if n > _SIXTEEN:
        return octet(block, end - _EIGHT), _hash(block, begin, end - _EIGHT)
    return octet(block, end - _EIGHT) & _LAST_BYTES[n], octet(block, end - _SIXTEEN) & _BYTES_BEFORE[n]


@njit(borrows=True)
def scan(block, size, table, out, tally):
    """Number the tokens of a block of text, from ``tally[POSITION]`` on; return True if the table must first be grown.

    block : uint8, (at least MARGIN + size + MARGIN,), UTF-8 text that ends with white space, between `MARGIN` blanks
    out : int32, (at least size,), receives type numbers, and `SENTENCE_END` at each line feed
    table : TokenTable; tally : int64, (5,); updated in place. A line is empty if the block has no token of it; for
        the first line, the caller must consider the text before the block
    """
    slots, arena, starts = table
    end_of_text = _MARGIN + np.uint64(size)
    begin = _MARGIN + np.uint64(tally[POSITION])  # unsigned: an index that cannot be negative needs no check
    written = np.uint64(tally[WRITTEN])
    full = False
    stretch, left = begin, breaks(block, begin)  # breaks left in the 64 bytes from `stretch` on
    while True:
        while left == 0:
            stretch += _STRETCH
            left = breaks(block, stretch)
        p = stretch + trailing_zeros(left)
        if p >= end_of_text:
            break
        left &= left - _ONE
        kind = _CLASSES[block[p]]
        width = _ONE
        if kind == _LEAD:
            width = np.uint64(_space_width(block[p], block[p + _ONE], block[p + _ONE + _ONE]))
        if kind == _TOKEN or width == 0:
            continue
        if begin < p:
            key, key_2 = _keys(block, begin, p)
            place = _find(key, key_2, block, begin, p, slots, arena, starts)
            if slots[place, ENTRY] == 0 and not _enter(place, key, key_2, block, begin, p, slots, arena, starts, tally):
                full = True
                break
            slots[place, COUNT] += _ONE
            out[written] = np.int64(slots[place, ENTRY] >> _ONE) - 1
            written += _ONE
        if kind == _NEWLINE:
            tally[LINES] += 1
            tally[EMPTY_LINES] += written == 0 or out[written - _ONE] == SENTENCE_END
            out[written] = SENTENCE_END
            written += _ONE
        begin = p + width
    tally[POSITION] = begin - _MARGIN
    tally[WRITTEN] = written
    return full


@njit
def rehash(slots, larger):
    """Enter all types of `slots` into `larger`, an empty table with more slots (uint64, (capacity, 4))."""
    mask = np.uint64(larger.shape[0] - 1)
    for i in range(slots.shape[0]):
        if slots[i, ENTRY] != 0:
            place = _place(slots[i, KEY], slots[i, KEY_2]) & mask
            while larger[place, ENTRY] != 0:
                place = (place + _ONE) & mask
            for column in range(slots.shape[1]):  # assigning whole rows takes 1.5 seconds to compile
                larger[place, column] = slots[i, column]


@njit
def renumber(stream, ids_by_type, ids, ends, carried):
    """Convert provisional numbers to final ids, dropping discarded types and sentences left without tokens.

    stream : int32, (n,), type numbers and `SENTENCE_END`; ids_by_type : int32, (n_types,), -1 if a type is discarded
    ids : int32, (n,), receives the ids; ends : int64, (n,), receives the index in `ids` at which each sentence ends
    carried : int, number of ids in the sentence left unfinished before this piece

    Returns n_ids, n_ends, carried, int.
    """
    n_ids = n_ends = 0
    last = -carried
    for number in stream:
        if number < 0:
            if n_ids > last:
                ends[n_ends] = n_ids
                n_ends += 1
                last = n_ids
        else:
            ids[n_ids] = ids_by_type[number]
            n_ids += ids_by_type[number] >= 0
    return n_ids, n_ends, n_ids - last
