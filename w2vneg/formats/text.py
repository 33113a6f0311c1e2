"""word2vec text: a header ``n dim``, then rows ``word v1 … vd``. Without the header: GloVe."""

import re
import warnings
from codecs import BOM_UTF8
from itertools import islice
from pathlib import Path

import numpy as np

from ..data.words import Words
from ..errors import ConfigError, InputError
from ..files.atomic import atomic_file
from ..files.bounded import lines_of
from .common import Stored, check_words, promised
from .decimals import format_rows

HEADER = re.compile(rb"(\d+) (\d+)[ \t]*\r?\n?\Z")

_REMEDY = "; the file is damaged or no word2vec text: write it again"
_CUT_SHORT = "; the file is cut short or damaged: write it again"
_ROW_END = b" \r\n"  # word2vec.c leaves a blank at the end of each row
_NUMBERS_AT_ONCE = 1 << 17


def write(path, stored, precision=None):
    """Write word2vec text; see `w2vneg.formats.save`."""
    words, matrix = stored.words, stored.matrix
    if precision is not None and not 1 <= precision <= 9:
        raise ConfigError(f"precision must be between 1 and 9 significant digits, not {precision}")
    check_words(path, words)
    n, dim = matrix.shape
    step = max(1, _NUMBERS_AT_ONCE // dim)
    with atomic_file(path) as stream:
        stream.write(b"%d %d\n" % (n, dim))
        for start in range(0, n, step):
            block = matrix[start : start + step]
            some = words.encoded(start, start + step)
            if precision is None:
                stream.write(_exact_rows(some, block))
            else:
                stream.write(_short_rows(some, block, precision))


def _exact_rows(words, matrix):
    rows = format_rows(matrix)
    return b"".join(piece for word, row in zip(words, rows, strict=True) for piece in (word, b" ", row))


def _short_rows(words, matrix, precision):
    template = b" ".join([b"%%.%dg" % precision] * matrix.shape[1])
    rows = matrix.astype(np.float64).tolist()
    return b"".join(b"%s %s\n" % (word, template % tuple(row)) for word, row in zip(words, rows, strict=True))


def read(path, spell=False):
    """Read word2vec text, strictly; see `w2vneg.formats.read`. Nothing in it gives vectors to other spellings."""
    path = Path(path)
    try:
        size = path.stat().st_size
        with open(path, "rb") as stream:
            lines = lines_of(path, stream)
            first = next(lines, b"").removeprefix(BOM_UTF8)
            header = HEADER.match(first)
            if header:
                expected, dim = capacity, _ = promised(f"{path}:1", header, size, 2, _CUT_SHORT)
                return _read_rows(path, lines, 2, expected, dim, capacity)
            dim = len(first.split()) - 1
            if dim < 1:
                raise InputError(f"{path}:1: expected a header 'n dim' or a word and its numbers" + _REMEDY)
            stream.seek(0)
            capacity = min(_count_lines(stream), size // (2 * dim) + 1)  # a number takes two bytes at least
            stream.seek(0)
            return _read_rows(path, lines_of(path, stream), 1, None, dim, capacity)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error


def _count_lines(stream):
    lines = 1
    while block := stream.read(1 << 22):
        lines += block.count(b"\n")
    return lines


def _read_rows(path, stream, line, expected, dim, capacity):
    """Read the rows from `line` on, an iterator of bytes, into one matrix of at most `capacity` rows."""
    matrix = np.empty((capacity, dim), dtype=np.float32)
    first_line = line
    index = {}  # word -> row
    step = max(1, _NUMBERS_AT_ONCE // dim)
    while lines := list(islice(stream, step)):
        if not lines[-1].strip() and not any(rest.strip() for rest in stream):
            while lines and not lines[-1].strip():  # blank lines at the end of the file
                lines.pop()
        row = len(index)
        rests = [_take_word(path, line + i, text, index, first_line) for i, text in enumerate(lines)]
        if expected is not None and len(index) > expected:
            raise InputError(
                f"{path}:{first_line + expected}: the header promises {expected} rows, but there are more{_REMEDY}"
            )
        if rests:
            matrix[row : row + len(rests)] = _parse(path, line, rests, dim)
        line += len(lines)
    if expected is not None and len(index) != expected:
        raise InputError(
            f"{path}: the header promises {expected} rows, but there are {len(index)}: the file is cut short "
            "or the header wrong; write it again"
        )
    return Stored(Words(index), matrix[: len(index)], None)


def _take_word(path, line, text, index, first_line):
    """Enter the word of one row in `index` and return the rest of the row."""
    if line == 1:
        text = text.removeprefix(BOM_UTF8)
    word, _, rest = text.rstrip(_ROW_END).partition(b" ")
    if not word:
        raise InputError(f"{path}:{line}: expected a word and its numbers, found {text[:20]!r}{_REMEDY}")
    try:
        name = word.decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(
            f"{path}:{line}: the word {word!r} is not UTF-8; convert the file to UTF-8 (iconv -t utf-8)"
        ) from None
    row = index.setdefault(name, len(index))
    if row != line - first_line:
        raise InputError(
            f"{path}:{line}: the word {name!r} stands on line {first_line + row} already; keep one of the two"
        )
    return rest


def _parse(path, line, rests, dim):
    """Return the numbers of some rows, float32 (rows, dim); `line` is the line of the first."""
    try:
        with np.errstate(over="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of rows without any number, which are told of below
            values = np.loadtxt(
                [rest.decode("latin-1") for rest in rests],
                dtype=np.float32,
                delimiter=" ",
                comments=None,
                ndmin=2,
            )
        if values.shape == (len(rests), dim) and np.isfinite(values).all():
            return values
    except ValueError:
        pass
    return np.array([_parse_row(path, line + i, rest, dim) for i, rest in enumerate(rests)])


def _parse_row(path, line, rest, dim):
    """Return one row's numbers, float32 (dim,), or say what is wrong with it."""
    tokens = rest.split()
    if len(tokens) != dim:
        raise InputError(f"{path}:{line}: expected {dim} numbers, found {len(tokens)}{_REMEDY}")
    values = np.empty(dim, dtype=np.float32)
    for i, token in enumerate(tokens):
        try:
            if b"_" in token:  # which Python reads as 1_000
                raise ValueError
            with np.errstate(over="ignore"):
                values[i] = float(token)
        except ValueError:
            shown = token.decode("utf-8", errors="replace")
            raise InputError(f"{path}:{line}: expected a number, found {shown!r}{_REMEDY}") from None
        if not np.isfinite(values[i]):
            shown = token.decode("utf-8", errors="replace")
            raise InputError(
                f"{path}:{line}: expected a finite number, found {shown!r}; the training that made it "
                "diverged, or the file is damaged"
            )
    return values
