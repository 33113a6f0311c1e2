"""Words out of raw text: what belongs to no word is overwritten by blanks, byte for byte, and all lengths stay.

A word is a run of letters, marks, digits and underscores. An apostrophe, a hyphen or a middle dot stays between two of
these; a point, a comma or a colon between two digits. So Unicode's word boundaries have it (UAX 29, WB5 to WB13), but
that a point between letters parts words, for raw text often lacks the blank behind a full stop, and that hyphens join.
"""

import functools
import unicodedata

import numpy as np

from ...ground.jit import njit

OTHER, MARK, JOINS_DIGITS, JOINS, SPACE, LETTER, DIGIT = range(7)  # those from SPACE on stay as they are

_JOINS = "'’‘-‐‑·"
_JOINS_DIGITS = ".,:"
_JOINERS = "\u00ad\u200c\u200d"  # soft hyphen, zero width non-joiner and joiner, within words of many scripts
_BLANK = np.uint8(32)


@functools.cache
def kinds_of_characters():
    """Return the kind of each code point, ndarray, uint8, (0x110000,)."""
    kinds = {"L": LETTER, "M": MARK, "N": DIGIT}
    table = np.zeros(0x110000, np.uint8)
    for code in range(0x110000):
        category = unicodedata.category(chr(code))
        table[code] = LETTER if category == "Pc" else kinds.get(category[0], OTHER)
    for signs, kind in ((_JOINS, JOINS), (_JOINS_DIGITS, JOINS_DIGITS), (_JOINERS, MARK)):
        table[[ord(sign) for sign in signs]] = kind
    table[[code for code in range(0x3001) if chr(code).isspace()]] = SPACE
    return table


@njit(borrows=True)
def _character(text, p):
    """Return (code point, width in bytes) of the character of valid UTF-8 at `p`, its width 0 if it is cut off."""
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
    """Overwrite what belongs to no word by blanks.

    Parameters
    ----------
    text : ndarray, uint8, (n,)
        UTF-8 that begins with a whole character; updated in place.
    final : bool
        Whether nothing comes behind it.
    before : int
        Kind of what stands before: `LETTER` or `DIGIT` within a word, else `SPACE`.
    kinds : ndarray, uint8
        From `kinds_of_characters`.

    Returns
    -------
    done : int
        How many bytes are settled; the rest wants to be seen again, with what follows.
    before : int
        Kind of what stands before these.
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
                stays = after >= LETTER if kind == JOINS else before == DIGIT and after == DIGIT
            if not stays:
                text[p : p + width] = _BLANK
            kind = before if stays else SPACE
        before = kind
        p += width
    return p, before
