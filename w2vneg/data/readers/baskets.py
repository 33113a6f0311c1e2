"""Baskets whose items are set apart by some sign, so that their names may hold blanks: one basket a line."""

import functools
import re
from collections import Counter
from itertools import pairwise

from ...ground.errors import ConfigError, DoubtError, InputError
from . import READERS
from .counting import LONGEST_TOKEN
from .foreign import Head
from .layout import named
from .text import read_text

_FEW = 20  # lines, below which baskets of two are no sign of a log
_WHITE = bytes([9, 11, 12, 13, 28, 29, 30, 31, 32])  # ASCII white space but the line feed
_UNICODE_WHITE = re.compile(r"[^\S\x00-\x7f]")
_OPENED = re.compile(rb'(?:^|[ \n])("(?:[^ \n]*[^ \n"])?)(?=[ \n]|$)')
_BESIDE = re.compile(rb"(?<!\0)\0+(?=[ \n])|(?<=[ \n])\0+")  # NUL stands for a blank; text has none of its own


def basket_reader(delimiter):
    """Return the name of the reader of baskets with this delimiter (str); it is registered if it was not.

    delimiter : str, a single ASCII sign, else ConfigError; a blank is the reader of text
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

    Quotes are part of names: they do not keep a delimiter inside a name. InputError as the text reader's; or if two
    names of the file become one that way, or one begins with a quote that it does not close.
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


def looks_like_log(rows):
    """Return why rows of items (list of list of str) look like a log of one event a line (str), or None."""
    if len(rows) < _FEW:
        return None
    if all(len(row) == 2 for row in rows):
        seen = Counter(item for row in rows for item in row)
        if sum(n == 1 for n in seen.values()) >= 0.9 * len(seen):
            return "every line has two things, and nine of ten occur once"
        firsts = [row[0] for row in rows]
        runs = 1 + sum(a != b for a, b in pairwise(firsts))
        if runs == len(set(firsts)) <= len(rows) / 2 and not set(firsts) & {row[1] for row in rows}:
            return "every line has two things, of which the first goes on for several lines, as in a log by basket"
    firsts = [row[0] for row in rows]
    if all(re.fullmatch(r"\d{1,15}", first) for first in firsts):
        numbers = [int(first) for first in firsts]
        if all(b - a == 1 for a, b in pairwise(numbers)):
            return "the first things count the lines, as numbers of baskets do"
    return None


def quoted_item(rows):
    """Return the first item that stands in quotes (str), None without one; rows : list of list of str"""
    return next((item for row in rows for item in row if len(item) > 2 and item[0] == item[-1] == '"'), None)


def split_items(line, delimiter):
    return line.split() if delimiter == " " else [item for part in line.split(delimiter) if (item := part.strip())]


def guess_delimiter(name, data):
    """Return what parts the items of baskets (str, one sign): what leaves the fewest distinct ones.

    Raises
    ------
    DoubtError
        If two signs fit nearly as well; with the number of items of both.
    """
    lines = Head.of(data).lines
    signs = [sign for sign in ",;|\t" if sum(sign in line for line in lines) >= 0.3 * len(lines)]
    if not signs:
        return " "
    found = sorted((len({item for line in lines for item in split_items(line, sign)}), sign) for sign in signs)
    n_items, sign = found[0]
    inner = any(re.search(r"\s", item) for line in lines for item in split_items(line, sign))
    if not inner:
        return " " if sign == "\t" else sign
    n_words = len({item for line in lines for item in split_items(line, " ")})
    glued = sum(sign in word.strip(sign) for line in lines for word in line.split())
    words = sum(len(line.split()) for line in lines)
    if n_items < n_words and (sign == "\t" or glued * 5 >= words):
        return sign
    if n_items * 2 <= n_words:
        return sign
    if n_words * 2 <= n_items:
        return " "
    raise DoubtError(
        f"{name}: items may be parted by {named(sign)} ({n_items:,} items in the first {len(lines):,} lines) or by "
        f"blanks ({n_words:,} items); say which: --delimiter {named(sign)} or --delimiter blank"
    )
