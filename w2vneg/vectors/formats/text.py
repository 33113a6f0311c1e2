"""word2vec text: a header ``n dim``, then rows ``word v1 … vd``. Without the header: GloVe."""

import re
import warnings
from base64 import b64decode
from codecs import BOM_UTF8
from collections import Counter
from itertools import chain, islice, takewhile
from pathlib import Path

import numpy as np

from ...ground.errors import ConfigError, InputError
from ...ground.files.bounded import TO_UTF_8, lines_of
from .common import NUMBER, NUMBERS_AT_ONCE, TakenWords, enter, format_rows, promised, vectors_of, write_word2vec

HEADER = re.compile(rb"(\d+)[ \t]+(\d+)[ \t]*\r?\n?\Z")
_HEADER_OF_DL4J = re.compile(rb"(\d{1,18})[ \t]+(\d{1,18})[ \t]+\d+[ \t]*\r?\n?\Z")
_DECIMAL_COMMA = re.compile(rb"[-+]?\d*,\d+(?:[eE][-+]?\d+)?")

_REMEDY = "; the file is damaged or not word2vec text: write it again"
_CUT_SHORT = "; the file is cut short or damaged: write it again"
_ENCODING = f"; {TO_UTF_8}"
_TWICE = "is on line {first} already; keep one of the two"
_ROW_END = b" \t\r\n"  # word2vec.c leaves a space at the end of each row
_PROJECTOR = (
    "rows of numbers without words; if the first numbers are the words, give the file a first line 'n dim'; if words "
    "are in the projector's metadata.tsv, put them in front: sed "
    r"'1{/^word\tcount$/d;}' metadata.tsv | cut -f1 | paste - FILE > vectors.txt"
)
_LOOKED_AT_BYTES = 1 << 22
_LOOKED_AT = 1000  # rows from which the dimension is inferred
_CODED = b"B64:"  # prefix of DL4J's words


def write(path, vectors, precision=None):
    if precision is None:
        write_word2vec(path, vectors, format_rows)
        return
    if not 1 <= precision <= 9:
        raise ConfigError(f"precision must be between 1 and 9 significant digits, not {precision}")
    template = b" ".join([b"%%.%dg" % precision] * vectors.dim) + b"\n"
    write_word2vec(path, vectors, lambda rows: (template % tuple(row) for row in rows.astype(np.float64).tolist()))


def read(path, spell=False):
    """Read word2vec text, strictly; see `w2vneg.vectors.formats.read`. The format has no vectors for other spellings.

    Tabs may replace spaces. A word may contain spaces, as the last numbers of a row are its vector; without a header
    the dimension is inferred from the first rows.
    """
    path = Path(path)
    size = path.stat().st_size
    with open(path, "rb") as stream:
        lines = lines_of(path, stream)
        first = next(lines, b"")
        notes = ["the byte-order mark at its beginning is ignored"] if first.startswith(BOM_UTF8) else []
        first = first.removeprefix(BOM_UTF8)
        _check_first(path, first)
        header, of_dl4j = HEADER.match(first), _HEADER_OF_DL4J.match(first)
        if of_dl4j and _is_header(of_dl4j, lines):
            header, (n, dim, _) = of_dl4j, of_dl4j[0].split()
            notes.append(f"its first line is read as DL4J's header, {n.decode()} words of {dim.decode()} numbers")
        stream.seek(0)
        lines = lines_of(path, stream)
        if header:
            next(lines)
            second = next(lines, b"")
            coded = header is of_dl4j or second.startswith(_CODED)
            lines = chain([second] if second else [], lines)
            if coded and header is not of_dl4j:
                notes.append("its words are read as those of DL4J, which are in base64")
            expected, dim = _promised(path, header, size, lines)
            return _Rows(path, 2, dim, expected, coded).read(lines, expected, notes)
        rows, size_of_rows = [], 0
        for line in islice(lines, _LOOKED_AT):
            rows.append(line.split())
            size_of_rows += len(line)
            if size_of_rows > _LOOKED_AT_BYTES:
                break
        dim = _dim_of(rows)
        firsts = [row[0] if row else b"" for row in rows]
        if all(NUMBER.fullmatch(one) and b"." in one for one in firsts) and any(one[:1] == b"-" for one in firsts):
            raise InputError(f"{path}:1: {_PROJECTOR}")
        if dim < 1:
            raise InputError(f"{path}:1: expected a header 'n dim' or a word and its numbers" + _REMEDY)
        parts = rows[0]
        names = len(rows) > 1 and dim > 2 and parts[-dim:] == [b"%d" % number for number in range(dim)]
        names = names and any(b"." in number for number in rows[1][1:])
        if names:
            notes.append("its first line, which numbers the columns, is left out")
        elif _n_numbers(parts) < dim:
            _parse_row(path, 1, b" ".join(parts[1:]), dim)
        if dim == 1:
            counts = "one number per word, as in a list of counts"
            raise InputError(f"{path}:1: {counts}; vectors of one number need a header 'n 1'")
        stream.seek(0)
        lines = 1 + sum(block.count(b"\n") for block in iter(lambda: stream.read(1 << 22), b""))
        capacity = min(lines, size // (2 * dim) + 1)  # a number takes at least two bytes
        stream.seek(0)
        return _Rows(path, 1 + names, dim).read(islice(lines_of(path, stream), names, None), capacity, notes)


def _check_first(path, first):
    """Raise InputError if the first line belongs to another kind of file."""
    if b"\r" in first.rstrip(b"\r\n"):
        raise InputError(f"{path}: its lines end with only a carriage return; convert them (tr '\\r' '\\n')")
    for sign, name in ((b",", "commas"), (b";", "semicolons")):
        if first.count(sign) > 1 and len(first.split()) == 1:
            raise InputError(f"{path}:1: {name} separate the numbers; convert them to spaces or tabs")


def _is_header(match, lines):
    """Return whether a line of three numbers is a header, not the row of a numeric word. lines : those below it"""
    n, dim = int(match[1]), int(match[2])
    fits = len(next(lines, b"").split()) == dim + 1
    return fits and (dim != 2 or 1 + _count(lines) == n)


def _promised(path, header, size, lines):
    """Return what the header promises (`promised`); if that is too much, the InputError has the number of rows."""
    try:
        return promised(f"{path}:1", header, size, 2, _CUT_SHORT)
    except InputError as error:
        raise InputError(f"{error} (rows below it: {_count(lines):,})") from None


def _count(lines):
    return sum(1 for line in lines if line.strip())


def _dim_of(rows):
    """Return how many numbers most rows (lists of bytes) end with; the first's if under half begin with one word."""
    found = [_n_numbers(parts) for parts in rows]
    plain = sum(n == len(parts) - 1 for n, parts in zip(found, rows, strict=True))
    dim = Counter(found).most_common(1)[0][0]
    return dim if dim > 0 and 2 * plain >= len(rows) else len(rows[0]) - 1


def _n_numbers(parts):
    """Return how many numbers the parts of a row (list of bytes) end with, after its word (int)."""
    return sum(1 for _ in takewhile(NUMBER.fullmatch, parts[:0:-1]))


class _Rows:
    """The rows of a file, starting at line `first`.

    expected : int, optional, number of rows in the header; coded : bool, words are in base64, as DL4J writes them
    """

    def __init__(self, path, first, dim, expected=None, coded=False):
        self._path, self._first, self._dim, self._expected, self._coded = path, first, dim, expected, coded
        self._with_blanks, self._example = 0, b""

    def read(self, lines, capacity, notes):
        """Read lines, an iterator of bytes, into one matrix of at most `capacity` rows; returns `Vectors`.

        notes : list of str, earlier notes on the file
        """
        path, line = self._path, self._first
        words = TakenWords(capacity, f"{path}:", _ENCODING, _TWICE)
        matrix = np.empty((capacity, self._dim), dtype=np.float32)
        step = max(1, NUMBERS_AT_ONCE // self._dim)
        while block := list(islice(lines, step)):
            if not block[-1].strip() and not any(rest.strip() for rest in lines):
                while block and not block[-1].strip():  # blank lines at the end of the file
                    block.pop()
            row, kept = len(words.places), []
            for number, text in enumerate(block, line):
                word, numbers = self._parts(number, text)
                if words.take(word, number):
                    kept.append((number, numbers))
            line += len(block)
            self._check_count(line - self._first, lines)
            if kept:
                matrix[row : row + len(kept)] = _parse(path, kept, self._dim)
        self._check_count(line - self._first)
        if self._with_blanks:
            example = self._example[:40].decode(errors="replace")
            notes.append(f"words with spaces: {self._with_blanks:,}, such as {example!r}")
        names = words.places
        if self._expected is None and all(name[:1] == name[-1:] == '"' and len(name) > 2 for name in names):  # R's
            names = [name[1:-1] for name in names]
            notes.append("the quotes around all words are removed")
        return vectors_of(path, _REMEDY, names, matrix[: len(names)], notes=(*notes, *words.notes()))

    def _check_count(self, n, left=None):
        """Raise InputError if there are more rows than promised, or fewer at the end. left : the lines to come"""
        if self._expected is None or n == self._expected or (n < self._expected and left is not None):
            return
        promise, where = f"the header promises {self._expected} rows, but there are", self._path
        found, remedy = f"{n}: the file is cut short or the header wrong", "download or write it again"
        if n > self._expected:
            n, where = n + _count(left), f"{self._path}:{self._first + self._expected}"
            found, remedy = f"more: {n}", "remove the surplus rows"
        raise InputError(f"{where}: {promise} {found}; correct the first line ('{n} {self._dim}'), or {remedy}")

    def _parts(self, line, text):
        """Return the word and the numbers of one row (bytes; bytes separated by spaces)."""
        if line == 1:
            text = text.removeprefix(BOM_UTF8)
        whole, text = text.endswith(b"\n"), text.rstrip(_ROW_END)
        word, _, numbers = text.partition(b" ")
        if not numbers or b"\t" in text or numbers.count(b" ") != self._dim - 1:
            word, numbers = self._oddly_parted(line, text, whole)
        if not word:
            raise InputError(f"{self._path}:{line}: expected a word and its numbers, found {text[:20]!r}{_REMEDY}")
        return (self._decoded(line, word) if self._coded else word), numbers

    def _oddly_parted(self, line, text, whole):
        """Do the same as `_parts` for a row with tabs, several spaces between two numbers, or spaces in its word.

        whole : bool, the row ends with a line feed
        """
        where, dim = f"{self._path}:{line}", self._dim
        parts = text.rsplit(None, dim)
        if not parts or text[:1].isspace():
            return b"", b""
        word, numbers = parts[0], parts[1:]
        if len(numbers) < dim:
            if dim > 1 and HEADER.match(text.removeprefix(BOM_UTF8)):
                raise InputError(f"{where}: another header; if files were joined, keep one, with the sum of rows")
            remedy = _REMEDY if whole else "; the file ends within this row: download or write it again"
            raise InputError(f"{where}: expected {dim} numbers, found {len(numbers)}{remedy}")
        if b"\t" in word:
            raise InputError(f"{where}: expected {dim} numbers, found a tab in the word {word[:40]!r}{_REMEDY}")
        if b" " in word:
            self._check_blanks(where, word, numbers, tab=text[len(word) :].startswith(b"\t"))
        return word, b" ".join(numbers)

    def _check_blanks(self, where, word, numbers, tab):
        """Raise InputError if a word with spaces may include surplus numbers; only a tab after it leaves no doubt.

        A word may end with digits, such as 'windows 95', if the vector's numbers have decimal points.
        """
        pointed = any(b"." in number for number in numbers)
        doubtful = [part for part in word.split()[1:] if NUMBER.fullmatch(part) and not (pointed and part.isdigit())]
        if doubtful and not tab:
            cause = f"if {word[:40].decode(errors='replace')!r} is a word with spaces, put a tab after it"
            found = f"expected {self._dim} numbers, found {len(word.split()) - 1 + self._dim}"
            raise InputError(f"{where}: {found}; the file is damaged, or {cause}")
        self._with_blanks += 1
        self._example = self._example or word

    def _decoded(self, line, word):
        """Return a word of DL4J, decoded from base64 if it has the prefix."""
        try:
            return b64decode(word[4:], validate=True) if word.startswith(_CODED) else word
        except ValueError:
            raise InputError(f"{self._path}:{line}: the word {word[:40]!r} is not base64{_REMEDY}") from None


def _parse(path, rows, dim):
    """Parse the numbers of rows, float32 (rows, dim). rows : list of (int, bytes), line and numbers"""
    try:
        with np.errstate(over="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about rows without numbers, which are reported below
            text = [rest.decode("latin-1") for _, rest in rows]
            values = np.loadtxt(text, dtype=np.float32, delimiter=" ", comments=None, ndmin=2)
        if values.shape == (len(rows), dim) and np.isfinite(values).all():
            return values
    except ValueError:
        pass
    return np.array([_parse_row(path, line, rest, dim) for line, rest in rows])


def _parse_row(path, line, rest, dim):
    """Parse one row, float32 (dim,); InputError with what is wrong with it."""
    tokens = rest.split()
    if len(tokens) != dim:
        raise InputError(f"{path}:{line}: expected {dim} numbers, found {len(tokens)}{_REMEDY}")
    values = np.empty(dim, dtype=np.float32)
    for i, token in enumerate(tokens):
        try:
            if b"_" in token:  # Python would accept 1_000
                raise ValueError
            with np.errstate(over="ignore"):
                values[i] = float(token)
        except ValueError:
            shown = token[:40].decode("utf-8", errors="replace")
            comma = _DECIMAL_COMMA.fullmatch(token)
            remedy = ", which has a decimal comma; write the numbers with points" if comma else _REMEDY
            raise InputError(f"{path}:{line}: expected a number, found {shown!r}{remedy}") from None
        if not np.isfinite(values[i]):
            shown = token.decode("utf-8", errors="replace")
            cause = "the training that made it diverged, or the file is damaged"
            raise InputError(f"{path}:{line}: expected a finite number, found {shown!r}; {cause}")
    return values


_HOLDS = "a line with the numbers of words and dimensions, then a word and its numbers on each line"
enter("word2vec", _HOLDS, write=write, read=read, suffixes=(".txt", ".vec"), packs=True)
