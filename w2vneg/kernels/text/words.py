"""Words of raw text: characters that belong to no word are overwritten by blanks, byte for byte. Also n-grams of words.

A word is a run of letters, marks, digits and underscores. An apostrophe, a hyphen or a middle dot is kept between two
of these; a full stop, a comma or a colon between two digits; a double quote between two Hebrew letters. This follows
Unicode's word boundaries (UAX 29, WB5 to WB13), except that hyphens join, and a full stop between letters separates
words, because raw text often lacks the blank after it.
"""

import functools
import unicodedata

import numpy as np

from ...ground.jit import njit
from ..simd.octets import STRETCH, digits, trailing_zeros
from .tokens import MARGIN

OTHER, MARK, JOINS_DIGITS, JOINS_HEBREW, JOINS, SPACE, LETTER, DIGIT, HEBREW = range(9)  # from SPACE on, kept

_JOINS = "'’‘-‐‑·״\u055a\u055b\u055c\u055e\u058a"  # the last five are Armenian
_JOINS_DIGITS = ".,:\u066b\u066c"  # the last two are Arabic
_JOINERS = "\u200c\u200d׳"  # zero-width non-joiner and joiner, within words of many scripts; geresh also ends some
_BLANK = np.uint8(32)
_ONE, _STRETCH, _BEGIN = np.uint64(1), np.uint64(STRETCH), np.uint64(MARGIN)
_PARTS = np.zeros(128, np.uint8)  # flags of ASCII characters
_OF_WORD, _WITHIN = np.uint8(1), np.uint8(2)
_PARTS[[byte for byte in range(128) if chr(byte).isalnum() or byte == ord("_")]] = _OF_WORD
_PARTS[[ord(sign) for sign in ".,:"]] = _WITHIN
_PARTS[[ord(sign) for sign in "0123456789"]] = _OF_WORD | _WITHIN
_OPENS, _CLOSES = np.uint8(ord("<")), np.uint8(ord(">"))
_BASIS, _PRIME = np.uint32(2166136261), np.uint32(16777619)


@functools.cache
def kinds_of_characters():
    """Return the kind of each code point, ndarray, uint8, (0x110000,)."""
    kinds = {"L": LETTER, "M": MARK, "N": DIGIT}
    table = np.zeros(0x110000, np.uint8)
    for code in range(0x110000):
        category = unicodedata.category(chr(code))
        table[code] = LETTER if category == "Pc" else kinds.get(category[0], OTHER)
    signs_of = {JOINS: _JOINS, JOINS_DIGITS: _JOINS_DIGITS, JOINS_HEBREW: '"', MARK: _JOINERS}
    signs_of[HEBREW] = "".join(map(chr, (*range(0x5D0, 0x5EB), *range(0x5EF, 0x5F3))))
    for kind, signs in signs_of.items():
        table[[ord(sign) for sign in signs]] = kind
    table[[code for code in range(0x3001) if chr(code).isspace()]] = SPACE
    return table


@njit(borrows=True)
def _character(text, p):
    """Return (code point, width in bytes) of the character of valid UTF-8 at `p`; the width is 0 if it is cut off."""
    first = np.int64(text[p])
    if first < 0x80:
        return first, 1
    width = 2 if first < 0xE0 else 3 if first < 0xF0 else 4
    if p + width > text.shape[0]:
        return first, 0
    code = first & (0x7F >> width)
    for k in range(1, width):
        code = (code << 6) | (np.int64(text[p + k]) & 0x3F)
    return code, width


@njit(borrows=True)
def _kind_after(text, p, final, kinds):
    """Return the kind of the character at `p`, and whether it is known yet."""
    if p == text.shape[0]:
        return np.int64(SPACE), final
    code, width = _character(text, p)
    return np.int64(kinds[code if width > 0 else 0]), width > 0


@njit
def blank_others(text, final, before, kinds):
    """Overwrite characters that belong to no word by blanks, in place.

    text : uint8, UTF-8 that begins with a whole character; final : bool, no text follows
    before : int, kind of the preceding character: `LETTER`, `DIGIT` or `HEBREW` within a word, else `SPACE`
    kinds : from `kinds_of_characters`

    Return how many bytes are done, and the kind before the rest, which must be passed again with the text that follows.
    """
    p, size = 0, text.shape[0]
    while p < size:
        if text[p] < 0x80 and kinds[text[p]] >= SPACE:
            before = np.int64(kinds[text[p]])
            p += 1
            continue
        code, width = _character(text, p)
        if width == 0:
            return p, before
        kind = np.int64(kinds[code])
        if kind < SPACE:
            stays = kind == MARK and before >= LETTER
            if kind >= JOINS_DIGITS and before >= LETTER:
                after, known = _kind_after(text, p + width, final, kinds)
                if not known:
                    return p, before
                both = DIGIT if kind == JOINS_DIGITS else HEBREW
                stays = after >= LETTER if kind == JOINS else before == both and after == both
            if not stays:
                text[p : p + width] = _BLANK
            kind = before if stays else np.int64(SPACE)
        before = kind
        p += width
    return p, before


def ranges_of(wanted):
    """Return the ranges (str) of a regular expression's class for the code points where `wanted`, bool, is true."""
    edges = np.flatnonzero(np.diff(wanted, prepend=False, append=False)).tolist()
    return "".join(f"\\U{a:08x}-\\U{b - 1:08x}" for a, b in zip(edges[::2], edges[1::2], strict=True))


def of_words(kinds):
    """Return a mask, bool like `kinds`, of kinds that attach to a number: letters, digits, underscores and marks."""
    return (kinds >= LETTER) | (kinds == MARK)


@njit(borrows=True)
def _parts(block, p, size, touching):
    """Return the flags, as in `_PARTS`, of the character that contains the byte at `p`, in any script."""
    if block[p] < 0x80:
        return _PARTS[block[p]]
    begin = np.int64(p)
    while block[begin] & 0xC0 == 0x80:
        begin -= 1
    code, width = _character(block[: MARGIN + size], begin)
    return _OF_WORD if width > 0 and touching[code] else np.uint8(0)


@njit
def blank_numbers(block, size, touching):
    """Overwrite numbers that stand alone by blanks, in place: digits, and full stops, commas and colons after them.

    A number stands alone if no letter, digit, mark or underscore touches it; in ``3.5kg``, that is the 3.

    block : uint8, (MARGIN + size + MARGIN,), UTF-8 text from `tokens.with_margins`, `size` bytes of it
    touching : bool, (0x110000,), `of_words` of each code point
    """
    end = _BEGIN + np.uint64(size)
    stretch = done = _BEGIN
    while stretch < end:
        left = digits(block, stretch)
        while left != 0:
            p = stretch + trailing_zeros(left)
            left &= left - _ONE
            if p < done or p >= end or _parts(block, p - _ONE, size, touching) & _OF_WORD:
                continue
            q = p + _ONE
            while block[q] < 0x80 and _PARTS[block[q]] & _WITHIN:
                q += _ONE
            if _parts(block, q, size, touching):  # a word continues: the number ends at its last separator, if any
                q -= _ONE
                while q > p and _PARTS[block[q]] & _OF_WORD:
                    q -= _ONE
            if q > p:
                block[p:q] = _BLANK
                done = q
        stretch += _STRETCH


def buckets_of(words, shortest, longest, buckets):
    """Return the buckets of the n-grams of each ``<word>``, of `shortest` to `longest` characters, as in fastText:
    FNV-1a over their UTF-8 bytes, read as signed, modulo the number of buckets. N-grams come from left to right, at
    each position the shortest first; a bracket alone is not an n-gram.

    Returns starts and buckets, int64, (n_words + 1,) and (n,); word w has ``buckets[starts[w]:starts[w + 1]]``.
    """
    data = np.frombuffer(words.data, np.uint8)
    starts = np.zeros(len(words) + 1, np.int64)
    room = np.empty(int(np.diff(words.offsets).max(initial=0)) + 2, np.uint8)
    none = np.empty(0, np.int64)
    _go_through(data, words.offsets, shortest, longest, buckets, room, starts, none)
    np.cumsum(starts, out=starts)
    found = np.empty(int(starts[-1]), np.int64)
    _go_through(data, words.offsets, shortest, longest, buckets, room, starts, found)
    return starts, found


@njit
def _go_through(data, offsets, shortest, longest, buckets, room, starts, found):
    """Write the buckets; if `found` is empty, write instead the number of buckets of word w to ``starts[w + 1]``."""
    n = 0
    for word in range(offsets.shape[0] - 1):
        room[0] = _OPENS
        size = 1
        for place in range(offsets[word], offsets[word + 1] - 1):
            room[size] = data[place]
            size += 1
        room[size] = _CLOSES
        size += 1
        before = n
        for begin in range(size):
            if (room[begin] & 0xC0) == 0x80:
                continue
            hashed, end, characters = _BASIS, begin, 0
            while end < size and characters < longest:
                hashed = _with_byte(hashed, room[end])
                end += 1
                while end < size and (room[end] & 0xC0) == 0x80:
                    hashed = _with_byte(hashed, room[end])
                    end += 1
                characters += 1
                if characters >= shortest and not (characters == 1 and (begin == 0 or end == size)):
                    if found.shape[0] > 0:
                        found[n] = np.int64(hashed) % buckets
                    n += 1
        if found.shape[0] == 0:
            starts[word + 1] = n - before


@njit
def _with_byte(hashed, byte):
    return np.uint32((hashed ^ np.uint32(np.int32(np.int8(byte)))) * _PRIME)
