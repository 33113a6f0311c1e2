"""Names of items as words of a vocabulary, text as it is written, but in one piece; and titles to know them by."""

import re

import numpy as np

from ...ground.errors import InputError
from ...ground.files.bounded import LONGEST_LINE, refuse_line
from .layout import Column
from .sources import ByteStream
from .tables import Tables
from .text import read_text, utf8_or_latin_1

_WHITE = re.compile(r"\s")


def as_word(name, lowercase=False):
    """Return `name` without white space at its ends, and each white space inside turned into ``_`` (str)."""
    return _WHITE.sub("_", (name.lower() if lowercase else name).strip())


class NameIndex:
    """Names numbered in order of first appearance.

    lowercase : bool, names that differ only in case are one
    words : list of str, the name with number i, as a vocabulary can hold it
    """

    def __init__(self, lowercase=False):
        self._lowercase = lowercase
        self._numbers = {}  # as written -> int
        self._by_word = {}  # word -> (int, as written but for white space at the ends and case)
        self.words = []

    def __len__(self):
        return len(self.words)

    def number(self, column, where):
        """Return the numbers of a column's names, int32 (n_rows,), new ones for those not met before, -1 for empty
        cells.

        column : cells.NameColumn; where : callable, the number of a row to words like ``file:line``, for messages
        InputError if two names become one word; the message gives both
        """
        known = self._numbers
        numbers = []
        for code, name in enumerate(column.names):
            number = known.get(name)
            if number is None:
                number = self.enter(name, lambda code=code: where(int(np.argmax(column.codes == code))))
            numbers.append(number)
        return np.array([*numbers, -1], np.int32)[column.codes]  # code -1 takes the last

    def enter(self, name, place):
        """Return the number of one name (int), -1 if it is blank; see `number`. place : callable, tells where it is."""
        plain = name.strip().lower() if self._lowercase else name.strip()
        word = as_word(plain)
        if not word:
            return -1
        number, first = self._by_word.setdefault(word, (len(self.words), plain))
        if first != plain:
            raise InputError(
                f"{place()}: the names {first!r} and {plain!r} would both become {word!r}, as white space inside a "
                "name becomes '_'; rename one of them"
            )
        if number == len(self.words):
            self.words.append(word)
        self._numbers[name] = number
        return number


def read_names(path, *, encoding="utf-8", lowercase=False):
    """Read a file of distinct names, one a line; return them as a vocabulary can hold them (list of str).

    InputError if a line is empty, or two lines have the same name
    """
    names = NameIndex(lowercase)
    with ByteStream(path) as source:
        for i, line in enumerate(_lines(source.name, read_text(source, encoding=encoding))):
            place = f"{source.name}:{i + 1}"
            number = names.enter(line, lambda place=place: place)
            if number < 0:
                raise InputError(f"{place}: the line is empty; give one name a line, as many as the matrix has rows")
            if number < i:
                raise InputError(
                    f"{place}: the name {line.strip()!r} stands in line {number + 1} too; make them distinct"
                )
    if not names:
        raise InputError(f"{source.name}:1: the line is empty; give one name a line, as many as the matrix has rows")
    return names.words


def _lines(name, pieces):
    """Yield the lines of UTF-8 text in pieces, as str without their ends; the last one need not have one."""
    rest, n_lines = b"", 0
    for piece in pieces:
        *lines, rest = (rest + piece).split(b"\n")
        n_lines += len(lines)
        if len(rest) > LONGEST_LINE:
            refuse_line(name, n_lines + 1)
        yield from (line.decode() for line in lines)
    if rest:
        yield rest.decode()


def read_titles(path, columns=(1, 2), lowercase=False):
    """Read what items are called: dict, id as a vocabulary has it -> the first title that is not empty.

    path : a table as `Tables` reads them; UTF-8, or else Latin-1
    columns : (int or str, int or str), numbers from 1 on, or names, of the columns with ids and with titles
    lowercase : bool, the vocabulary is of ids that were lower-cased
    InputError if the file cannot be read, or a column is not there
    """
    option = "--titles-cols"
    wanted = [
        Column("id", option, "name", columns[0], may_be_empty=True),
        Column("title", option, "name", columns[1], may_be_empty=True),
    ]
    titles = {}
    for batch in Tables(str(path), wanted, encoding=utf8_or_latin_1(path)):
        ids, texts = batch.columns["id"], batch.columns["title"]
        words, shown = [as_word(name, lowercase) for name in ids.names], [text.strip() for text in texts.names]
        for word, title in sorted(set(zip(ids.codes.tolist(), texts.codes.tolist(), strict=True))):
            if word >= 0 and title >= 0:
                titles.setdefault(words[word], shown[title])
    return titles
