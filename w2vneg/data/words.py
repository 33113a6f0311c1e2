"""Compact storage of many words, names as words, and suggestions for misspelt words."""

import re
from bisect import bisect_left
from collections.abc import Sequence
from datetime import datetime, timezone
from decimal import Decimal
from difflib import SequenceMatcher, get_close_matches
from functools import cached_property
from itertools import islice
from numbers import Integral
from unicodedata import normalize

import numpy as np

from ..ground.errors import ConfigError, InputError

END = b"\xff"
"""The byte after each word; it never occurs in UTF-8."""

_BLOCK = 1 << 14  # words processed together
_WHITE = re.compile(r"\s")
_LONGEST = 40  # letters; longer misspelt words are not compared
_DIGITS = 16  # of a number with zeros before it, as in 0004
_LONG = 6  # letters; from this length on, two may be wrong
_CLOSE = 0.6  # least ratio of letters that two near words share


class PackedStrings(Sequence):
    """An immutable sequence of str, equal to others of the same words; it takes their bytes plus 9 per word.

    Look-ups use a table of 12 bytes per word (sorted hashes), built on first use.
    words : iterable of str, ConfigError for anything else; distinct : bool, they are known to be all different
    data : bytes, the words in UTF-8, each followed by `END`; lone surrogates are allowed
    offsets : ndarray, int64, (n + 1,); word i is ``data[offsets[i]:offsets[i + 1] - 1]``
    """

    def __init__(self, words, distinct=False):
        left = iter(words)
        self._hold(b"".join(iter(lambda: _encoded(list(islice(left, _BLOCK))), b"")), distinct)

    @classmethod
    def of(cls, words):
        return words if isinstance(words, cls) else cls(words)

    @classmethod
    def of_data(cls, data, distinct=False):
        """Create `PackedStrings` from `data` (bytes): words in valid UTF-8, each followed by `END`; not checked."""
        words = cls.__new__(cls)
        words._hold(data, distinct)
        return words

    def _hold(self, data, distinct):
        ends = np.flatnonzero(np.frombuffer(data, np.uint8) == END[0])
        self.data = data
        self.offsets = np.concatenate([[0], ends + 1])
        self._places = memoryview(self.offsets)  # faster than an ndarray for single numbers
        self._distinct = distinct

    def __len__(self):
        return len(self._places) - 1

    def __getitem__(self, row):
        """Return a word, or a list of the words of a slice."""
        if not isinstance(row, slice):
            return self._bytes(range(len(self))[row]).decode("utf-8", "surrogatepass")
        start, stop, step = row.indices(len(self))
        if step != 1:
            return [self[one] for one in range(start, stop, step)]
        block = self.data[self._places[start] : self._places[stop] - 1]
        if b"\n" in block or start >= stop:
            return [word.decode("utf-8", "surrogatepass") for word in self.encoded(start, stop)]
        return block.replace(END, b"\n").decode("utf-8", "surrogatepass").split("\n")  # four times as fast

    def __iter__(self):
        for start in range(0, len(self), _BLOCK):
            yield from self[start : start + _BLOCK]

    def __eq__(self, other):
        if isinstance(other, PackedStrings):
            return self.data == other.data
        if not isinstance(other, Sequence) or isinstance(other, str | bytes):
            return NotImplemented
        return len(self) == len(other) and all(one == two for one, two in zip(self, other, strict=True))

    def __repr__(self):
        shown = ", ".join(map(repr, self[:3])) + (", …" if len(self) > 3 else "")
        return f"PackedStrings([{shown}], {len(self):,} in all)"

    def __contains__(self, word):
        return self.find(word) >= 0

    def index(self, word, *bounds):
        """Return the row of `word` (int), like list.index; ValueError if it is missing."""
        row = super().index(word, *bounds) if bounds else self.find(word)
        if row < 0:
            raise ValueError(f"{word!r} is not among the words")
        return row

    def encoded(self, start, stop):
        """Return the words from row `start` up to `stop` as UTF-8 (list of bytes)."""
        stop = min(stop, len(self))
        return self.data[self._places[start] : self._places[stop] - 1].split(END) if start < stop else []

    def find(self, word):
        """Return the row of a word (int), the first one if it is repeated; -1 if it is missing or not a str."""
        return self._find(word.encode("utf-8", "surrogatepass")) if isinstance(word, str) else -1

    def find_all(self, words):
        """Return the row of each of `words` (iterable of str), as `find` does: ndarray, int32, (n_words,)."""
        encoded = [word.encode("utf-8", "surrogatepass") for word in words]
        found = np.full(len(encoded), -1, np.int32)
        hashes, known = np.fromiter(map(hash, encoded), np.int64, len(encoded)), np.asarray(self._table[0])
        if len(known):
            places = np.searchsorted(known, hashes)
            likely = np.flatnonzero(known[np.minimum(places, len(known) - 1)] == hashes)
            for i, place in zip(likely.tolist(), places[likely].tolist(), strict=True):
                found[i] = self._find(encoded[i], place)
        return found

    def repeated(self):
        """Return both rows (int, int) of the first word that occurs a second time, or None."""
        if not self._distinct:
            hashes, rows = map(np.asarray, self._table)
            for row in np.sort(rows[1:][hashes[1:] == hashes[:-1]]).tolist():
                first = self._find(self._bytes(row))
                if first != row:
                    return first, row
            self._distinct = True
        return None

    def forget_table(self):
        """Free the look-up table; it is rebuilt when needed."""
        self.__dict__.pop("_table", None)

    def __reduce__(self):  # Python's hashes differ between processes, so the table is not pickled
        return PackedStrings.of_data, (self.data, self._distinct)

    def _bytes(self, row):
        return self.data[self._places[row] : self._places[row + 1] - 1]

    @cached_property
    def _table(self):
        """The words' hashes, int64 (n,), sorted, and their rows, int32 (n,), in that order: memoryviews."""
        hashes = np.empty(len(self), np.int64)
        for start in range(0, len(self), _BLOCK):
            block = self.encoded(start, start + _BLOCK)
            hashes[start : start + len(block)] = list(map(hash, block))
        order = np.argsort(hashes, kind="stable")  # the first row of a repeated word before the others
        return memoryview(hashes[order]), memoryview(order.astype(np.int32))

    def _find(self, encoded, place=None):
        """Return the first row of a word in UTF-8, or -1; place : int, first position of its hash, if known"""
        hashes, rows = self._table
        sought = hash(encoded)
        place = bisect_left(hashes, sought) if place is None else place
        while place < len(hashes) and hashes[place] == sought:
            if self._bytes(rows[place]) == encoded:
                return rows[place]
            place += 1
        return -1


def _encoded(words):
    """Return the `data` of a list of str (bytes); ConfigError if one is not a str."""
    try:
        joined = "\n".join(words)
    except TypeError:
        wrong = next(word for word in words if not isinstance(word, str))
        raise ConfigError(f"the word {wrong!r} is not a string") from None
    if joined.count("\n") >= len(words):
        return b"".join(word.encode("utf-8", "surrogatepass") + END for word in words)
    return (joined.encode("utf-8", "surrogatepass").replace(b"\n", END) + END) if words else b""


def as_word(name, lowercase=False):
    """Return `name` without white space at its ends and with ``_`` for each white space character inside (str)."""
    return _WHITE.sub("_", (name.lower() if lowercase else name).strip())


def text_of(key):
    """Return a name from data or a query as text (str); ConfigError for bytes.

    Ids are floats in columns with missing values, so 100.0 is "100"; Decimal("2.50") is "2.5". A time at midnight is
    its date; an instance of a subclass of str is its text.
    """
    if isinstance(key, bytes | bytearray):
        raise ConfigError(f"names are text, and {bytes(key)!r:.60} is bytes; give NAME.decode()")
    if isinstance(key, str):
        return str.__str__(key)
    if isinstance(key, np.datetime64):
        import pandas as pd

        key = pd.Timestamp(key)
    key = key.item() if isinstance(key, np.generic) else key
    if isinstance(key, datetime):
        utc = key if key.tzinfo is None else key.astimezone(timezone.utc).replace(tzinfo=None)
        return str(utc).removesuffix(" 00:00:00")
    if isinstance(key, Decimal) and key.is_finite():
        text = f"{key:f}" if key else "0"
        return text.rstrip("0").removesuffix(".") if "." in text else text
    whole = isinstance(key, Integral) and not isinstance(key, bool)
    return str(int(key) if whole or (isinstance(key, float) and key.is_integer()) else key)


class NameIndex:
    """Names numbered in order of first appearance, and their words; lowercase : bool, ignore case

    with_blanks : int, names in which a blank became ``_``
    """

    def __init__(self, lowercase=False):
        self._lowercase = lowercase
        self._numbers = {}  # as written -> int
        self._by_word = {}  # word -> (int, the name stripped, lower-cased if requested)
        self.words, self.with_blanks = [], 0

    def __len__(self):
        return len(self.words)

    def number(self, column, where):
        """Return the numbers of a NameColumn, int32 (n_rows,), -1 for empty cells; new names are added.

        where : callable, row number -> text like ``file:line``; InputError, with both names, if two become one word
        """
        numbers = []
        for code, name in enumerate(column.names):
            number = self._numbers.get(name)
            if number is None:
                number = self.enter(name, lambda code=code: where(int(np.argmax(column.codes == code))))
            numbers.append(number)
        return np.array([*numbers, -1], np.int32)[column.codes]  # code -1 selects the last

    def enter(self, name, place):
        """Return the number of one name (int), -1 if it is blank; see `number`. place : callable, returns its place."""
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
            self.with_blanks += word != plain
        self._numbers[name] = number
        return number


def near_spellings(word, words, shown=3):
    """Return known words that differ from `word` in Unicode form, case, zeros before a number or a few letters, nearest
    first: list of str.

    Equally near words are in row order. words : PackedStrings, the known words
    """
    if not 0 < len(word) <= _LONGEST:
        return []
    forms = [normalize(form, word) for form in ("NFC", "NFD", "NFKC")]
    forms += [word.lstrip("0").zfill(size) for size in range(1, _DIGITS + 1)] if word.isdecimal() else []
    found = [form for form in (*forms, word.lower(), word.capitalize(), word.upper(), word.title()) if form in words]
    letters, most = set(word), 1 if len(word) < _LONG else 2
    sizes = range(len(word) - most, len(word) + most + 1)
    alike = [other for other in words if len(other) in sizes and len(letters.difference(other)) <= most]
    close = set(get_close_matches(word, alike, 100, _CLOSE))
    distances = {other: 1 - SequenceMatcher(None, other, word).ratio() for other in alike if other in close}
    found += sorted(distances, key=distances.__getitem__)
    return [other for other in dict.fromkeys(found) if other != word][:shown]


def several_hint(names, words):
    """Return a hint (str) for the first unknown name that consists of several known ones; "" if there is none."""
    for name in names[:1000]:
        parts = re.split("[ _,;|\t]+", name)
        if len(parts) > 1 and all(part in words for part in parts):
            return f"; {name!r:.60} is looked up as one name: give names separately, one per line in a file"
    return ""


def near_hint(word, words, otherwise="."):
    """Return ``"; did you mean …?"`` with the near spellings of a word, `otherwise` if there are none (str)."""
    found, plain = near_spellings(word, words), normalize("NFKC", word)
    same = {other for other in found if not other.isascii() and normalize("NFKC", other) == plain}
    near = [f"{other!r}{f', in Unicode {other!a}' if other in same else ''}" for other in found]
    return f"; did you mean {' or '.join(near)}?" if near else otherwise
