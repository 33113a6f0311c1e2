"""Words out of bytes: split UTF-8 text at white space, number its types, and renumber them later.

The splitting is that of Python's ``str.split()``: ASCII white space (also ``\\x1c`` to ``\\x1f``) and the
Unicode spaces U+0085, U+00A0, U+1680, U+2000 to U+200A, U+2028, U+2029, U+202F, U+205F and U+3000. A line
feed ends a sentence; a carriage return is a space. The text must be valid UTF-8 without NUL bytes: the caller
sees to that.
"""

from typing import NamedTuple

import numpy as np

from ..jit import njit

POSITION, WRITTEN, TYPES, LINES, EMPTY_LINES, TOKENS, LINE_TOKENS = range(7)
"""Places in the `tally` of `scan`: bytes of the block used up, numbers written, then running totals."""

SENTENCE_END = np.int32(-1)

_TOKEN, _SPACE, _NEWLINE, _LEAD = range(4)


def _byte_classes():
    classes = np.zeros(256, dtype=np.uint8)
    classes[[9, 11, 12, 13, 28, 29, 30, 31, 32]] = _SPACE
    classes[10] = _NEWLINE
    classes[[0xC2, 0xE1, 0xE2, 0xE3]] = _LEAD  # the first bytes of all Unicode spaces, and of much else
    return classes


_CLASSES = _byte_classes()

_ONE = np.uint64(1)
_TWO = np.uint64(2)
_THREE = np.uint64(3)
_EIGHT = np.uint64(8)
_MULTIPLIER_1 = np.uint64(0xD6E8FEB86659FD93)
_MULTIPLIER_2 = np.uint64(0xA3B195354A39B70D)
_SIXTEEN = np.uint64(16)
_SHIFT = np.uint64(32)


class TokenTable(NamedTuple):
    """An open-addressing table of the types met so far; it is grown between calls of `scan`.

    Attributes
    ----------
    slots : ndarray, uint64, (capacity, 4)
        `KEY`: the last eight bytes of the type, or all if they are fewer. `KEY_2`: the bytes before these if
        they are at most eight (0 if there are none), else their hash. `ENTRY`: 2 * (type number + 1), plus 1
        for a long type, of more than sixteen bytes; 0 marks a free slot. `COUNT`: how often it was met.
        `capacity` is a power of two. A slot is half a cache line: most types cost one look at memory.
    arena : ndarray, uint8
        The bytes of all types, one after the other.
    starts : ndarray, int64, (capacity // 2 + 1,)
        Type t stands at ``arena[starts[t]:starts[t + 1]]``.
    """

    slots: np.ndarray
    arena: np.ndarray
    starts: np.ndarray


KEY, KEY_2, ENTRY, COUNT = range(4)


@njit
def _mix(key):
    key = (key ^ (key >> _SHIFT)) * _MULTIPLIER_1
    key = (key ^ (key >> _SHIFT)) * _MULTIPLIER_2
    return key ^ (key >> _SHIFT)


@njit
def _place(key, key_2):
    return _mix(key ^ _mix(key_2) if key_2 else key)


@njit
def _space_width(first, second, third):
    """Return the length in bytes of the Unicode space that the three bytes begin with, or 0."""
    if first == 0xC2:
        return 2 if second == 0x85 or second == 0xA0 else 0
    if first == 0xE1:
        return 3 if second == 0x9A and third == 0x80 else 0
    if first == 0xE3:
        return 3 if second == 0x80 and third == 0x80 else 0
    if second == 0x80:
        return 3 if third <= 0x8A or third == 0xA8 or third == 0xA9 or third == 0xAF else 0
    return 3 if second == 0x81 and third == 0x9F else 0


@njit
def _same_bytes(arena, start, stop, block, begin, end):
    if np.uint64(stop - start) != end - begin:
        return False
    for i in range(stop - start):  # noqa: SIM110 (a plain loop compiles best)
        if arena[start + i] != block[begin + np.uint64(i)]:
            return False
    return True


@njit
def _packed(block, begin, end):
    """Return the last eight bytes of ``block[begin:end]``, or all if they are fewer, as one number."""
    key = np.uint64(0)
    while begin < end:
        key = (key << _EIGHT) | np.uint64(block[begin])
        begin += _ONE
    return key


@njit
def _hash(block, begin, end):
    """Return a 64-bit hash of ``block[begin:end]``."""
    key = end - begin
    while begin + _EIGHT < end:
        key = _mix(key ^ _packed(block, begin, begin + _EIGHT)) + _ONE
        begin += _EIGHT
    return _mix(key ^ _packed(block, begin, end))


@njit
def _word_end(block, p, size):
    """Return the place of the separator that ends the token around `p`, or `size` if the block ends first."""
    while p < size:
        kind = _CLASSES[block[p]]
        if kind != _TOKEN:
            if kind != _LEAD:
                return p
            if p + _THREE > size:
                return size
            if _space_width(block[p], block[p + _ONE], block[p + _TWO]) > 0:
                return p
        p += _ONE
    return size


@njit
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


@njit
def _enter(place, key, key_2, block, begin, end, slots, arena, starts, tally):
    """Make ``block[begin:end]`` a new type in the free slot `place`; return False if there is no room."""
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


@njit
def scan(block, size, table, out, tally):
    """Number the tokens of a block of text.

    Stops before a token that the block's end may have cut in two, or one for which the table has no room.

    Parameters
    ----------
    block : ndarray, uint8, (at least size + 1,)
        UTF-8 text; ``block[size]`` must be a blank, which spares the inner loop a test.
    size : int
        Bytes of `block` that are text.
    table : TokenTable
        Updated in place.
    out : ndarray, int32, (at least size,)
        Receives type numbers, and `SENTENCE_END` at each line feed.
    tally : ndarray, int64, (7,)
        Updated in place; `POSITION` and `WRITTEN` are set by each call, the others go on.

    Returns
    -------
    full : bool
        True if the table must be grown before the text from ``tally[POSITION]`` on can be numbered.
    """
    slots, arena, starts = table
    size = np.uint64(size)
    p = np.uint64(0)  # unsigned: an index that cannot be negative needs no test for it
    written = np.uint64(0)
    line_tokens = tally[LINE_TOKENS]
    full = False
    while p < size:
        kind = _CLASSES[block[p]]
        if kind == _SPACE:
            p += _ONE
            continue
        if kind == _NEWLINE:
            tally[LINES] += 1
            tally[EMPTY_LINES] += line_tokens == 0
            tally[TOKENS] += line_tokens
            line_tokens = 0
            out[written] = SENTENCE_END
            written += _ONE
            p += _ONE
            continue
        if kind == _LEAD:
            if p + _THREE > size:
                break
            width = _space_width(block[p], block[p + _ONE], block[p + _TWO])
            if width > 0:
                p += np.uint64(width)
                continue
        begin = p
        key = np.uint64(0)
        while _CLASSES[block[p]] == _TOKEN:  # ends at block[size] at the latest
            key = (key << _EIGHT) | np.uint64(block[p])
            p += _ONE
        if p == size or _CLASSES[block[p]] == _LEAD:
            p = _word_end(block, p, size)
            if p == size:  # the rest of this token comes with the next block
                p = begin
                break
            key = _packed(block, begin, p)
        key_2 = np.uint64(0)
        if p - begin > _EIGHT:
            short = p - begin <= _SIXTEEN
            key_2 = _packed(block, begin, p - _EIGHT) if short else _hash(block, begin, p - _EIGHT)
        place = _find(key, key_2, block, begin, p, slots, arena, starts)
        if slots[place, ENTRY] == 0 and not _enter(place, key, key_2, block, begin, p, slots, arena, starts, tally):
            p = begin
            full = True
            break
        slots[place, COUNT] += _ONE
        number = np.int64(slots[place, ENTRY] >> _ONE) - 1
        out[written] = number
        written += _ONE
        line_tokens += 1
    tally[POSITION] = p
    tally[WRITTEN] = written
    tally[LINE_TOKENS] = line_tokens
    return full


@njit
def rehash(slots, larger):
    """Enter all types of `slots` in `larger`, an empty table of more slots (uint64, (capacity, 4))."""
    mask = np.uint64(larger.shape[0] - 1)
    for i in range(slots.shape[0]):
        if slots[i, ENTRY] != 0:
            place = _place(slots[i, KEY], slots[i, KEY_2]) & mask
            while larger[place, ENTRY] != 0:
                place = (place + _ONE) & mask
            larger[place] = slots[i]


@njit
def renumber(stream, ids_by_type, ids, ends, carried):
    """Turn provisional numbers into final ids, without discarded types and sentences that keep no token.

    Parameters
    ----------
    stream : ndarray, int32, (n,)
        Type numbers and `SENTENCE_END`.
    ids_by_type : ndarray, int32, (n_types,)
        Final id of each type, -1 if it is discarded.
    ids : ndarray, int32, (n,)
        Receives the ids.
    ends : ndarray, int64, (n,)
        Receives the place in `ids` at which each sentence ends.
    carried : int
        Ids that the sentence unfinished before this piece holds already.

    Returns
    -------
    n_ids, n_ends, carried : int
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
