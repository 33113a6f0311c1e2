"""word2vec binary: a text header ``n dim``, then each word, a space, its little-endian float32 numbers.

word2vec.c ends each row with a line feed, gensim does not; both are read, rows are written with one.
"""

import codecs
import mmap
import re

import numpy as np

from ...ground.errors import InputError, OutputError
from .common import NUMBER, TakenWords, enter, promised, vectors_of, write_word2vec

_HEADER = re.compile(rb"(\d{1,18}) (\d{1,18})[ \t]*\r?\n")  # 18 digits are enough for any file
_NUMBERS = re.compile(rb"[-+.0-9eE \t]*\r?")
_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_LONGEST_WORD = 1 << 16
_REMEDY = "; the file is cut short or damaged: write it again"


def looks_binary(head):
    """Return whether a word2vec file is binary, by what follows its header. head : bytes, its beginning, or all"""
    header = _HEADER.match(head)
    if not header:
        return False
    n, dim = int(header[1]), int(header[2])
    begin = head.find(b" ", header.end()) + 1
    if not begin:
        return False
    lines = sum(map(bool, map(bytes.strip, head[header.end() :].split(b"\n"))))
    if lines != n and _walks_as_binary(head, header.end(), n, dim):  # as text it would have n lines
        return True
    first_row = head[begin:].split(b"\n", 1)[0]
    if _NUMBERS.fullmatch(first_row) and len(first_row) >= 2 * dim - 1:
        return False
    line = head[header.end() :].split(b"\n", 1)[0].split()
    if len(line) > dim and all(map(NUMBER.fullmatch, line[-dim:])):  # after a word with spaces
        return False
    if _CONTROLS.search(head):
        return True
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return True
    return _walks_as_binary(head, header.end(), n, dim)


def _walks_as_binary(data, at, n, dim):
    """Return whether n words, each followed by 4 · dim bytes, end exactly where the data end."""
    for _ in range(n):
        blank = data.find(b" ", at)
        if blank < 0:
            return False
        at = blank + 1 + 4 * dim
        at += data[at : at + 1] == b"\n"
    return at == len(data)


def write(path, vectors):
    def as_bytes(rows):
        data, size = rows.astype("<f4", copy=False).tobytes(), 4 * vectors.dim
        return (data[at : at + size] + b"\n" for at in range(0, len(data), size))

    sizes = np.diff(vectors.words.offsets) - 1
    if sizes.max(initial=0) > _LONGEST_WORD - 2:  # a line feed precedes the word, a space follows it
        row = int(sizes.argmax())
        raise OutputError(
            f"cannot write {path}: word {row} ({vectors.words[row][:40]!r} …) has {sizes[row]:,} bytes, but this "
            f"format allows {_LONGEST_WORD - 2:,}; use the format npz, which can hold it"
        )
    write_word2vec(path, vectors, as_bytes)


def read(path, spell=False):
    """Read word2vec binary, strictly; see `formats.read`. The format has no vectors for other spellings."""
    with open(path, "rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
        header = _HEADER.match(data[:_LONGEST_WORD])
        n, dim = promised(path, header, len(data), 4, _REMEDY)
        words = TakenWords(n, f"{path}: row ", _REMEDY, "occurs twice" + _REMEDY)
        matrix, at = np.empty((n, dim), dtype=np.float32), header.end()
        for row in range(n):
            blank = data.find(b" ", at, at + _LONGEST_WORD)
            values = data[blank + 1 : blank + 1 + 4 * dim]
            if blank < 0 or len(values) < 4 * dim:
                raise InputError(f"{path}: expected {n} words, found {row} complete ones{_REMEDY}")
            word, at = data[at:blank].lstrip(b"\n"), blank + 1 + 4 * dim
            if not word:
                raise InputError(f"{path}: word {row} is empty{_REMEDY}")
            if words.take(word, row):
                matrix[len(words.places) - 1] = np.frombuffer(values, dtype="<f4")
        if data[at : at + _LONGEST_WORD].strip():
            raise InputError(f"{path}: the header promises {n} words of {dim} numbers, but more follows{_REMEDY}")
    return vectors_of(path, _REMEDY, words.places, matrix[: len(words.places)], notes=words.notes())


_HOLDS = "the first line of `word2vec`, then each word, a space, and little-endian float32 numbers"
enter("word2vec-binary", _HOLDS, write=write, read=read, suffixes=(".bin",), packs=True, recognises=looks_binary)
