"""Baskets whose items are set apart by some sign, so that their names may hold blanks: one basket a line."""

import functools
import re

from ...ground.errors import ConfigError, InputError
from . import READERS
from .counting import LONGEST_TOKEN
from .text import read_text

_WHITE = bytes([9, 11, 12, 13, 28, 29, 30, 31, 32])  # ASCII white space but the line feed
_UNICODE_WHITE = re.compile(r"[^\S\x00-\x7f]")
_OPENED = re.compile(rb'(?:^|[ \n])("(?:[^ \n]*[^ \n"])?)(?=[ \n]|$)')
_BESIDE = re.compile(rb"(?<!\0)\0+(?=[ \n])|(?<=[ \n])\0+")  # NUL stands for a blank; text has none of its own


def basket_reader(delimiter):
    """Return the name of the reader of baskets with this delimiter (str); it is registered if it was not.

    Parameters
    ----------
    delimiter : str
        One ASCII sign; a blank is the reader of text.

    Raises
    ------
    ConfigError
        If it is no such sign.
    """
    if delimiter == " ":
        return "text"
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in "_\n\r\0":
        raise ConfigError(
            f"items of baskets are set apart by one ASCII sign, not {delimiter!r}; replace it in the file"
        )
    name = f"baskets {delimiter!r}"
    if name not in READERS:
        READERS.register(name)(functools.partial(read_baskets, delimiter=delimiter))
    return name


def read_baskets(source, *, delimiter, encoding="utf-8", lowercase=False):
    """Yield baskets as text: the delimiter becomes a blank, a blank inside a name ``_``, blanks beside names vanish.

    Quotes are part of names: they do not keep a delimiter inside a name.

    Raises
    ------
    InputError
        As the text reader's; or if two names of the file become one that way, or one begins with a quote that it does
        not close.
    """
    table = bytearray(range(256))
    for byte in _WHITE:
        table[byte] = 0
    table[ord(delimiter)] = 32
    names = _Names(source.name, bytes(table))
    sign = delimiter.encode()
    rest = b""
    for piece in read_text(source, encoding=encoding, lowercase=lowercase):
        cut = max(piece.rfind(sign), piece.rfind(b"\n")) + 1
        if cut:
            yield names.joined(rest + piece[:cut])
            rest = b""
        rest += piece[cut:]
        if len(rest) > LONGEST_TOKEN:
            raise InputError(f"{source.name}: no {delimiter!r} and no end of line for {len(rest):,} bytes: no baskets")
    if rest:
        yield names.joined(rest + sign)


class _Names:
    """Joins the parts of names, and remembers how those that hold ``_`` afterwards were written."""

    def __init__(self, file, table):
        self._file, self._table = file, table
        self._forms = {}  # word -> the name with NUL for blanks
        self._lines = 0  # before the present text

    def joined(self, text):
        """Return whole names, each with its delimiter or line feed, with single blanks between them."""
        if not text.isascii():
            text = _UNICODE_WHITE.sub("\v", text.decode()).encode()
        text = text.translate(self._table)
        if b"\0" in text:
            text = _BESIDE.sub(b"", b"\n" + text)[1:]
        opened = _OPENED.search(text) if b'"' in text else None
        if opened:
            line = self._lines + text.count(b"\n", 0, opened.end()) + 1
            name = opened[1].replace(b"\0", b" ").decode()
            raise InputError(
                f"{self._file}:{line}: the item {name[:60]!r} begins with a quote that it does not close; in baskets "
                "quotes do not keep a delimiter inside a name: set items apart by another sign, or take the quote out"
            )
        self._lines += text.count(b"\n")
        if b"\0" in text or b"_" in text:
            for name in set(text.replace(b"\n", b" ").split(b" ")):
                if b"\0" in name or b"_" in name:
                    self._remember(name)
        return text.replace(b"\0", b"_")

    def _remember(self, name):
        word = name.replace(b"\0", b"_")
        first = self._forms.setdefault(word, name)
        if first != name:
            one, other = (form.replace(b"\0", b" ").decode() for form in sorted((first, name)))
            raise InputError(
                f"{self._file}: the names {one!r} and {other!r} would both become {word.decode()!r}, as white space "
                "inside a name becomes '_'; rename one of them"
            )
