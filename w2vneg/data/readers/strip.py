"""Take tags, entities, URLs, e-mail addresses and numbers out of raw text, before it is split into words.

All patterns are of bytes of UTF-8: a letter beyond ASCII is any byte from 0x80 on. Numbers, which are many, are found
by compiled code (`kernels.text.numbers`).
"""

import html
import re
import string

_LONGEST = 1 << 20  # bytes that are looked at together where no line ends
_MOST_HELD = 1 << 24  # bytes, where there is no blank either; readers refuse so long a word, or cut it

_TAG = re.compile(rb"<[/!?]?[A-Za-z][^<>\n]{0,2000}>")
_TAG_OR_COMMENT = re.compile(rb"<!--[^\n]*?(?:-->|\n|\Z)|" + _TAG.pattern)  # a line's end, lest each <!-- looks for it
_ENTITY = re.compile(rb"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_ADDRESSES = [re.compile(one) for one in (rb"https?://\S+", rb"ftp://\S+", rb"www\.[^\s.]+\.\S+")]  # literal beginnings
_HOST = re.compile(rb"@[\w-]+(?:\.[\w-]+)+")
_BEFORE_HOST = (string.ascii_letters + string.digits + "_.+-").encode()
_TO_ZERO = bytes.maketrans(b"123456789", b"000000000")


def _plain(entity):
    signs = html.unescape(entity.group().decode())
    return " ".join(signs.split()).encode() or b" "


def _without_markup(text):
    text = _TAG_OR_COMMENT.sub(_without_comment, text) if b"<!--" in text else _TAG.sub(b" ", text)
    return _ENTITY.sub(_plain, text)


def _without_comment(found):
    """Return what stands for a tag or a comment; of a comment without an end, only the tags in it are taken out."""
    text = found.group()
    whole = not text.startswith(b"<!--") or (text.endswith(b"-->") and len(text) > 6)
    return b" " if whole else _TAG.sub(b" ", text)


def _without_urls(text):
    for address in _ADDRESSES:
        text = address.sub(b" ", text)
    return _without_mail(text)


def _without_mail(text):
    """Take out e-mail addresses, from the @ to both sides: from their beginnings it would take the square of a word."""
    kept, end = [], 0
    for host in _HOST.finditer(text):
        place = host.start()
        if place > end and text[place - 1] in _BEFORE_HOST:
            kept += [text[end:place].rstrip(_BEFORE_HOST), b" "]
            end = host.end()
    return b"".join([*kept, text[end:]])


def _without_numbers(text):
    from ...kernels.text.numbers import blank_numbers
    from ...kernels.text.tokens import MARGIN, with_margins

    block = with_margins(text)
    blank_numbers(block, len(text))
    return block[MARGIN:-MARGIN].tobytes()


def _with_zeros(text):
    return text.translate(_TO_ZERO)


CLEANERS = {"markup": _without_markup, "urls": _without_urls, "drop": _without_numbers, "digit": _with_zeros}
"""Name -> function of whole lines (bytes to bytes), in the order in which they are used."""


class Stripped:
    """A source of UTF-8 from which the named things are taken; for a reader, as `sources.Source`."""

    def __init__(self, name, pieces, cleaners):
        self.name = name
        self._pieces = pieces
        self._cleaners = [clean for cleaner, clean in CLEANERS.items() if cleaner in cleaners]

    def pieces(self):
        held = b""
        for piece in self._pieces:
            text = held + piece
            end = text.rfind(b"\n") + 1
            if not end and len(text) > _LONGEST:
                end = text.rfind(b" ") + 1 or (len(text) if len(text) > _MOST_HELD else 0)
            held = text[end:]
            if end:
                yield self._clean(text[:end])
        if held:
            yield self._clean(held)

    def _clean(self, text):
        for clean in self._cleaners:
            text = clean(text)
        return bytes(text)
