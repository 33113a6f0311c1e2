"""What evaluators share: reading lines of files, looking up words, results as dicts."""

import os
from dataclasses import asdict
from functools import cache

import numpy as np

from ...ground.errors import ConfigError, InputError
from ...ground.files.bounded import read_text

MORE = "train on more text or with a larger vocabulary"


class Result:
    """The result of an evaluator; subclasses are dataclasses, and `json` can write what `as_dict` returns."""

    def as_dict(self):
        return asdict(self)


def read_lines(path, of_names=False):
    """Return the non-blank lines of a UTF-8 file with their numbers, from 1: list of (int, str).

    of_names : bool, for messages: the file holds one name per line, not an evaluation set
    """
    if os.path.isdir(path):
        raise InputError(f"{path} is a folder; name a file in it")
    another = "" if of_names else "; name an evaluation file or a known set (w2vneg data list)"
    text = read_text(path, f"no such file{another}")
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    numbered = [(number, line) for number, line in enumerate(lines, 1) if line.strip()]
    if not numbered:
        raise InputError(f"{path} is empty; it should hold {'one name per line' if of_names else 'an evaluation set'}")
    return numbered


class Lookup:
    """Finds the row of a word: as written, then (with ``case="lower"``) in lower case.

    case : {"lower", "exact"}; limit : int or None, words in later rows count as unknown
    lowered, unknown : set of str, words that were found only in lower case, and words that were not found
    """

    def __init__(self, vectors, case="lower", limit=None):
        if case not in ("lower", "exact"):
            raise ConfigError(f"case must be lower or exact, not {case!r}")
        self._find, self._lower = cache(vectors.words.find), case == "lower"
        self._limit = len(vectors) if limit is None else limit
        self.lowered, self.unknown = set(), set()

    def __call__(self, word):
        row = self._row(word)
        if row < 0 and self._lower and (row := self._row(word.lower())) >= 0:
            self.lowered.add(word)
        if row < 0:
            self.unknown.add(word)
        return row

    def _row(self, word):
        row = self._find(word)
        return row if row < self._limit else -1


def gensims_lookup(vectors, restrict_vocab, case_insensitive):
    """Return a function from a word to its row, -1 if unknown, and the rows that it may return, int64 (n_rows,).

    As in gensim, of words that differ only in case, the first stands for all, as the most frequent one.
    """
    words = vectors.words[:restrict_vocab]
    if not case_insensitive:
        return Lookup(vectors, "exact", len(words)), np.arange(len(words))
    rows = {}  # word in capitals -> its first row
    for row, word in enumerate(words):
        rows.setdefault(word.upper(), row)
    return (lambda word: rows.get(word.upper(), -1)), np.fromiter(rows.values(), np.int64, len(rows))
