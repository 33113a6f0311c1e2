"""What the formats share: their registry, checks of headers and words, numbers as text."""

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...data.words import END, PackedStrings
from ...ground.errors import ConfigError, InputError, OutputError
from ...ground.files.atomic import atomic_file
from ...ground.files.packing import packed
from ...ground.registry import Registry
from ...kernels.text.decimals import LIMIT, SMALLEST, WIDEST, write_rows
from ..vectors import Vectors

ARRAYS = ("matrix", "word_bytes", "word_offsets")  # float32, (n, dim); the words' UTF-8, uint8; int64, (n + 1,)

# What is meant as a number, even if it cannot be read as one: 1,5 or 1_000 or nan.
NUMBER = re.compile(rb"[-+]?(?:[\d.,_]*\d[\d.,_]*(?:e[-+]?\d+)?|nan|inf(?:inity)?)", re.IGNORECASE)
_BLANK = re.compile(rb"[ \t\n\r\v\f]")
_CUT_AT = 98  # bytes that word2vec.c keeps of a long word, plus the last one
NUMBERS_AT_ONCE = 1 << 17  # read or written per block
_DIGITS = 18  # of the largest number in a header that any file could have

FORMATS = Registry("format")  # str -> Format


@dataclass(frozen=True)
class Format:
    """A format of vectors; the file that writes or reads it registers it with `enter`.

    holds : str, its content, for the docs; extra : str, the extra of w2vneg that installs what it needs
    write : callable, (path, Vectors), or (path, Model) for a whole model if `of_model`; None if it is only read
    read : callable, (path, spell) -> Vectors; None if it is only written
    suffixes : tuple of str, file suffixes that select it; folder : bool, it is a folder, not a file
    packs : bool, it is compressed if the name asks for it (`ground.files.packing`)
    recognises : callable of the first bytes of a file, or of a folder (Path); or the bytes that a file begins with
    """

    holds: str = ""
    extra: str = ""
    write: Callable | None = None
    read: Callable | None = None
    suffixes: tuple = ()
    folder: bool = False
    packs: bool = False
    of_model: bool = False
    recognises: Callable | bytes | None = None

    def is_it(self, seen):
        """Return whether a file, by its first bytes, or a folder (Path) is of this format."""
        if isinstance(self.recognises, bytes):
            return seen.startswith(self.recognises)
        return self.recognises is not None and self.recognises(seen)


def enter(name, holds="", **traits):
    """Register a `Format` in `FORMATS`."""
    FORMATS.register(name)(Format(holds, **traits))


def promised(path, header, size, width, remedy):
    """Return n and dim as the header of a word2vec file promises; InputError if one is 0 or the file is too small.

    header : re.Match, its two groups are digits, any number of them
    size : int, bytes of the file; width : int, minimum bytes per number
    """
    digits = [number.lstrip(b"0").decode() or "0" for number in header.groups()]
    n, dim = (int(number[: _DIGITS + 1]) for number in digits)
    shown = [number if len(number) <= _DIGITS else f"{number[:6]}… ({len(number):,} digits)" for number in digits]
    promise = f"{path}: the header promises {shown[0]} words of {shown[1]} numbers"
    if n < 1 or dim < 1:
        raise InputError(promise + remedy)
    if n * (width * dim + 2) > size:  # each row also has a word and an end
        raise InputError(f"{promise}, which take more than its {size} bytes{remedy}")
    return n, dim


class TakenWords:
    """The distinct words of a word2vec file, collected while reading.

    word2vec.c cuts words at 99 bytes, even within a character. The rest of such a character becomes U+FFFD, and of
    words that are equal then, the first is kept. Other words with invalid UTF-8 are repaired, too, if they are at most
    one in a hundred; otherwise the file has another encoding or is damaged.

    n : int, number of words expected; where : str, what messages put in front of the place of a word; not_utf8, twice :
        str, remedies for invalid UTF-8 and for repeated words; places : dict, word (str) -> its place (int)
    """

    def __init__(self, n, where, not_utf8, twice):
        self.places = {}
        self._where, self._not_utf8, self._twice = where, not_utf8, twice
        self._others, self._most = 0, n // 100
        self._mended, self._repeated, self._example = 0, 0, ""

    def take(self, word, place):
        """Add a word (bytes) and return whether it is new; InputError if it is invalid or repeated."""
        try:
            name = word.decode()
        except UnicodeDecodeError as error:
            self._others += not _is_cut(word, error.start)
            if self._others > self._most:
                raise InputError(f"{self._where}{place}: the word {word[:40]!r} is not UTF-8{self._not_utf8}") from None
            name = word.decode(errors="replace")
            self._mended += 1
            self._example = self._example or name
        first = self.places.setdefault(name, place)
        if first != place:
            if not self._mended or "\ufffd" not in name:
                raise InputError(f"{self._where}{place}: the word {name[:80]!r} {self._twice.format(first=first)}")
            self._repeated += 1
        return first == place

    def notes(self):
        """Return notes on the words that were repaired (tuple of str)."""
        if not self._mended:
            return ()
        gone = f"; {self._repeated:,} that became equal are left out" if self._repeated else ""
        return (
            f"words with invalid UTF-8, as when word2vec.c cuts within a character: {self._mended:,}, such as "
            f"{self._example[:40]!r}, with U+FFFD for the rest of the character{gone}",
        )


def _is_cut(word, start):
    """Return whether a word, valid UTF-8 up to `start`, continues with part of a character, perhaps its last byte."""
    rest = word[start:]
    if len(rest) > 4 or len(word) >= _CUT_AT:
        return len(rest) <= 4
    for part in (rest, rest[:-1]):
        try:
            part.decode()
        except UnicodeDecodeError as error:
            if error.start == 0 and error.reason == "unexpected end of data":
                return True
    return False


def write_word2vec(path, vectors, texts):
    """Write a header ``n dim`` and rows: a word, a space, and the bytes that `texts` makes of each row of (k, dim)."""
    words, matrix = vectors.words, vectors.matrix
    check_words(path, words)
    step = max(1, NUMBERS_AT_ONCE // vectors.dim)
    with atomic_file(path) as file, packed(file, path) as stream:
        stream.write(b"%d %d\n" % matrix.shape)
        for start in range(0, len(words), step):
            rows = zip(words.encoded(start, start + step), texts(matrix[start : start + step]), strict=True)
            stream.write(b"".join(piece for word, row in rows for piece in (word, b" ", row)))


def check_words(path, words):
    """Raise OutputError if one of the words (PackedStrings) cannot be written to a word2vec file."""
    check_text(path, words)
    if _BLANK.search(words.data) or words.data.startswith(END) or END + END in words.data:
        row, word = next((row, word) for row, word in enumerate(words) if not word or _BLANK.search(word.encode()))
        what = "contains whitespace" if word else "is empty"
        raise OutputError(f"cannot write {path}: word {row} ({word!r}) {what}; use the format npz, which can hold it")


def check_text(path, words):
    """Raise OutputError if one of the words is not valid Unicode text."""
    try:
        words.data.replace(END, b"\n").decode()
    except UnicodeDecodeError as error:
        row = int(np.searchsorted(words.offsets, error.start, side="right")) - 1
        where = f"cannot write {path}: word {row} ({words[row]!r})"
        raise OutputError(f"{where} is not valid Unicode text; rename it") from None


def arrays_of(vectors):
    """Return the arrays to store by name: `ARRAYS`, and ``counts``, int64, if known."""
    words = vectors.words
    arrays = {
        "matrix": vectors.matrix,
        "word_bytes": np.frombuffer(words.data.replace(END, b""), dtype=np.uint8),
        "word_offsets": words.offsets - np.arange(len(words) + 1),
    }
    return arrays if vectors.counts is None else arrays | {"counts": vectors.counts}


def words_of(path, data, offsets, remedy):
    """Return the `PackedStrings` of bytes and offsets, as `arrays_of` makes them; InputError if they do not match."""
    fits = data.dtype == np.uint8 and offsets.dtype.kind == "i" and data.ndim == offsets.ndim == 1
    if not fits or len(offsets) < 2 or offsets[0] != 0 or offsets[-1] != len(data) or (np.diff(offsets) < 0).any():
        raise InputError(f"{path}: the words' bytes and offsets do not match{remedy}")
    marked = np.insert(data, offsets[1:], END[0]).tobytes()
    try:
        marked.replace(END, b"\n" if END[0] not in data else END).decode()
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: the words are not UTF-8 ({error.reason}){remedy}") from None
    return PackedStrings.of_data(marked)


def vectors_of(path, remedy, words, matrix, counts=None, **more):
    """Return the `Vectors` that a file holds; InputError if its parts do not match or have other types."""
    types = matrix.dtype, np.dtype(np.int64) if counts is None else counts.dtype
    if types != (np.float32, np.int64) or (counts is not None and counts.min(initial=0) < 0):
        found = f"{types[0]} and {types[1]}"
        raise InputError(f"{path}: expected float32 vectors and int64 counts, none below 0, found {found}{remedy}")
    try:
        return Vectors(words, matrix, counts, **more)
    except ConfigError as error:
        raise InputError(f"{path}: {error}{remedy}") from None


def format_rows(matrix):
    """Return the text of each row of a finite float32 (n, dim), which reads back exactly: list of n memoryviews."""
    matrix = np.ascontiguousarray(matrix, dtype=np.float32)
    size = np.abs(matrix)
    odd = ((size < SMALLEST) | (size >= LIMIT)) & (size != 0)
    per_row = odd.sum(axis=1)
    others = np.array([_odd_decimal(value) for value in matrix[odd]], dtype="S16").view(np.uint8).reshape(-1, 16)
    width = WIDEST * matrix.shape[1]
    text, lengths = np.empty((len(matrix), width), np.uint8), np.empty(len(matrix), np.int64)
    write_rows(matrix, others, np.cumsum(per_row) - per_row, text, lengths)
    flat = memoryview(text.reshape(-1))
    return [flat[row * width : row * width + length] for row, length in enumerate(lengths.tolist())]


def _odd_decimal(value):
    """Write one float32 in at most 16 characters; older versions of NumPy spell out up to 16 digits."""
    text = str(value)
    return (text if len(text) <= 16 else np.format_float_scientific(value, trim="-")).encode()
