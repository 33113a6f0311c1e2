"""Words with one matrix row each: look-up by name, cosines, and nearest neighbours.

Keys that name a word: text, a number, a date, …, or a tuple, as in the training data. A whole number, 100.0 like 100,
is the name "100" if that exists. Otherwise an int is a row, unless most names are whole numbers: an unknown one would
return the wrong row. A tuple whose text is a name is that name: node ``(2, 2)``.
"""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from enum import Enum
from functools import cached_property, partial
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, overload
from uuid import UUID

import numpy as np

from ..data.vocab import whole_counts
from ..data.words import PackedStrings, as_word, near_hint, text_of
from ..ground.errors import ConfigError, UnknownNameError, check_whole
from .search import compared, cosines_with, lengths_of, nearest, normalised, row_not_finite, unit_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from types import EllipsisType

    from numpy.typing import ArrayLike
    from typing_extensions import Self

    # a word, a value whose text is a word, a row (int), or a tuple that names a word, such as a node
    Name = str | float | tuple | np.integer | np.floating | date | np.datetime64 | Decimal | Enum | UUID
    Raw = np.ndarray | list[float]  # a vector
    Key = Name | Raw  # a word, a row or a vector
    Item = Key | tuple[Key, float]
    Items = Item | Sequence[Item]
    Near = list[tuple[str, float]]

KEYS = (str, int, float, np.integer, np.floating, date, np.datetime64, Decimal, Enum, UUID, bytes, bytearray)
"""Types of a key: the word, a number or date as text, or its row; bytes are included so that `text_of` refuses them."""
_LOOKED_AT = 1000  # names checked to decide whether most are numbers


class NamedRows:
    """Words with one matrix row each, and their neighbours. Parameters are those of `Vectors`."""

    def __init__(
        self, words: Iterable[str], matrix: ArrayLike, counts: ArrayLike | None = None, spellings: Any = None,
        noun: str = "word", lowercase: bool = False, rules: Any = None, notes: Sequence[str] = (),
    ) -> None:  # fmt: skip
        self.words, self.spellings, self.noun = PackedStrings.of(words), spellings, noun
        self.lowercase, self.rules, self.notes = lowercase, rules, notes
        try:
            if np.iscomplexobj(matrix):
                raise TypeError
            self.matrix = np.ascontiguousarray(matrix, dtype=np.float32)
        except (TypeError, ValueError):
            raise ConfigError("vectors must be rows of real numbers, all of the same length") from None
        self.counts = None if counts is None else whole_counts(counts, ", or leave counts out")
        if self.matrix.ndim != 2 or len(self.matrix) != len(self.words) or not self.matrix.size:
            remedy = "there must be one row of numbers for each word, and at least one word"
            raise ConfigError(f"{len(self.words)} words do not match a matrix of shape {self.matrix.shape}; {remedy}")
        if self.counts is not None and self.counts.shape != (len(self.words),):
            raise ConfigError(f"{len(self.words)} words do not match counts of shape {self.counts.shape}")
        if repeated := self.words.repeated():
            raise ConfigError(f"the word {self.words[repeated[0]]!r} occurs twice; every word needs a row of its own")
        if (bad := row_not_finite(self.matrix)) is not None:
            cause = "a number that is NaN or infinite; the training that made it diverged"
            raise ConfigError(f"the vector of {self.words[bad]!r} (row {bad}) has {cause}")

    def __len__(self) -> int:
        return len(self.words)

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

    def __contains__(self, word: Name) -> bool:
        return self._row(word) >= 0

    def __getitem__(self, word: Name | Iterable[Name]) -> np.ndarray:
        """Return the vector of a word or row, float32 (dim,), read-only; of several, a new array, (k, dim)."""
        if self._is_key(word):
            vector = self._resolve(word)[0].view()
            vector.flags.writeable = False  # or `vector -= other` would change the model
            return vector
        if not np.iterable(word):
            remedy = "slice .matrix for rows"
            raise ConfigError(f"vectors are looked up by one or several {self.noun}s, not {word!r:.60}; {remedy}")
        return np.array([self._resolve(one)[0] for one in word], np.float32).reshape(-1, self.dim)

    def __repr__(self):
        return f"Vectors({len(self)} {self.noun}s, dim={self.dim})"

    def with_words(self, words: Iterable[str]) -> Self:
        """Return these vectors, with vectors of unknown `words` appended if their spelling has one.

        Words are looked up as usual; with `lowercase`, new ones are lower-cased.
        """
        if self.spellings is None:
            return self
        new = (word for word in words if isinstance(word, str) and self._row(word) < 0)
        names = dict.fromkeys(word.lower() if self.lowercase else word for word in new)
        spelt = partial(NamedRows._by_spelling, self)  # the gensim API gives zeros for unknown words
        found = {name: vector for name in names if name not in self.words and (vector := spelt(name)) is not None}
        if not found:
            return self
        matrix = np.concatenate([self.matrix, np.array(list(found.values()), np.float32)])
        counts = None if self.counts is None else np.concatenate([self.counts, np.zeros(len(found), np.int64)])
        return self._alike([*self.words, *found], matrix, counts)

    def _alike(self, words, matrix, counts):
        """Return these vectors with other words and rows."""
        return type(self)(words, matrix, counts, self.spellings, self.noun, self.lowercase, self.rules)

    @property
    def dim(self) -> int:
        """Number of dimensions."""
        return self.matrix.shape[1]

    def id(self, word: Name) -> int:
        """Return the row of `word`, or a given row itself; UnknownNameError, with similar spellings, if unknown."""
        row = self._row(word)
        if row < 0:
            raise self._unknown(word)
        return row

    def _row(self, key):
        """Return the row of a word (int), or -1. An int that is no name is a row, unless most names are numbers."""
        row = self._row_of_name(key)
        may_be_row = row < 0 and isinstance(key, KEYS) and is_row(key) and 0 <= key < len(self)
        return int(key) if may_be_row and not self._numbered else row

    def _row_of_name(self, key):
        """Return the row of a word (int), or -1; numbers count as names only."""
        if not isinstance(key, (*KEYS, tuple)) or isinstance(key, bool):
            return -1
        text = text_of(key)
        row = self.words.find(text)
        return self.words.find(as_word(text, self.lowercase)) if row < 0 else row

    def _is_key(self, key):
        return is_key(key, self.words, self.lowercase)

    @cached_property
    def _numbered(self):
        return mostly_numbers(self.words)

    def _by_spelling(self, word):
        """Return the vector of a spelling, float32 (dim,); None if there is none or it is all zeros."""
        if self.spellings is None or not isinstance(word, str):
            return None
        vector = self.spellings.vector(word.lower() if self.lowercase else word)
        return vector if vector is not None and vector.any() else None

    def _unknown(self, word):
        if is_row(word) and not self._numbered:
            return UnknownNameError(f"no row {word} among {len(self):,}; rows run from 0 to {len(self) - 1}")
        text = word if isinstance(word, bool) else text_of(word)
        hint = near_hint(str(text), self.words)
        return UnknownNameError(f"no vector for the {self.noun} {text!r} among {len(self):,}{hint}")

    @cached_property
    def unit(self) -> np.ndarray:
        """The vectors scaled to unit length, float32 (n, dim); zero vectors stay zero. Computed on first use."""
        return unit_rows(self.matrix)

    @cached_property
    def _lengths(self):
        return lengths_of(self.matrix)

    def similarity(self, a: Name, b: Name) -> float:
        """Return the cosine of two words' vectors, float in [-1, 1]; 0 if one of them is zero."""
        return float(np.clip(self._direction(a) @ self._direction(b), -1.0, 1.0))

    def cosines(self, first: ArrayLike, second: ArrayLike) -> np.ndarray:
        """Return the cosines of pairs of rows, float64 (n_pairs,). first, second : array_like, int, (n_pairs,)"""
        one, other = (np.asarray(rows) for rows in (first, second))
        for rows in (one, other):
            whole = rows.dtype.kind in "iu" or not rows.size
            if not whole or rows.shape != (one.size,) or not ((rows >= 0) & (rows < len(self))).all():
                lists = f"two equally long lists of rows from 0 to {len(self) - 1}"
                raise ConfigError(f"cosines takes {lists}; see id for a name")
        a, b = (normalised(self.matrix[rows.astype(np.intp)]) for rows in (one, other))
        return np.clip(np.einsum("ij,ij->i", a, b), -1.0, 1.0)

    @overload
    def most_similar(
        self, positive: Items = ..., negative: Items = ..., k: int = ..., restrict_vocab: int | None = ..., *,
        topn: int = ...,
    ) -> Near: ...  # fmt: skip

    @overload
    def most_similar(
        self, positive: Items = ..., negative: Items = ..., k: int | None = ..., restrict_vocab: int | None = ..., *,
        topn: None = ...,
    ) -> np.ndarray: ...  # fmt: skip

    def most_similar(
        self, positive: Items = (), negative: Items = (), k: int | None = 10, restrict_vocab: int | None = None, *,
        topn: int | EllipsisType | None = ...,
    ) -> Any:  # fmt: skip
        """Return the `k` words most similar, by cosine, to the sum of positive minus negative vectors.

        Vectors of words are scaled to unit length first; raw vectors are used as given. The query words are excluded.

        Parameters
        ----------
        positive, negative : str, int, ndarray of (dim,), or list of these
            Words, rows or raw vectors. A list may also hold (key, weight) pairs; the weight replaces 1 for positive
            and -1 for negative keys.
        k, topn : int, at least 1, or None for the cosines of all words; `topn` is gensim's name
        restrict_vocab : int, at least 1, optional; search only the first `restrict_vocab` words

        Returns
        -------
        list of (str, float)
            Words and cosines in double precision, highest first; ties in the order of the words.
        ndarray, float64, (n,)
            With ``k=None``: the cosines of all words, including the query words.

        UnknownNameError, with similar spellings, if a word has no vector; ConfigError if `k` or `restrict_vocab` is
        below 1, a vector has the wrong dimension, or the sum of the vectors is zero.
        """
        k = k if topn is ... else topn
        n = self._first(k, restrict_vocab)
        items = self._items(positive, negative)
        if not items:
            raise ConfigError(f"most_similar needs at least one {self.noun} or vector")
        query = np.zeros(self.dim)
        for vector, weight, _ in items:
            query += weight * vector
        if not query.any():
            raise ConfigError(f"a zero vector has no neighbours; give other {self.noun}s")
        query = normalised(query[None])[0]
        if k is None:
            return cosines_with(self.matrix[:n], query)
        named = [row for _, _, row in items if row is not None]
        return self._named(*nearest(self.matrix[:n], self._lengths[:n], query, named, k))

    def compared(self, a: Name, b: Name, k: int = 10) -> tuple[float, tuple[int, int], Near]:
        """Return the cosine of two words, the rank of each among the other's neighbours, and `k` words near both.

        Ranks start at 1. Words near both are those whose lower cosine is highest, best first.
        """
        self._first(0 if k is None else k, None)
        first, second = self._direction(a), self._direction(b)
        named = [row for row in map(self._row, (a, b)) if row >= 0]
        nearer, rows, cosines = compared(self.matrix, self._lengths, first, second, named, k)
        return self.similarity(a, b), (1 + nearer[0], 1 + nearer[1]), self._named(rows, cosines)

    def _first(self, k, restrict_vocab):
        """Return how many words are searched (int); ConfigError if `k` or `restrict_vocab` is below 1."""
        for name, value in (("k", k), ("restrict_vocab", restrict_vocab)):
            check_whole(name, 1 if value is None else value)
        return len(self.matrix[:restrict_vocab])

    def _named(self, rows, scores):
        return [(self.words[row], score) for row, score in zip(rows.tolist(), scores.tolist(), strict=True)]

    def _items(self, positive, negative):
        """Return a list of (vector, weight, row): (dim,), at unit length for words; float; int or None."""
        found = []
        for weight, items in ((1.0, self._as_list(positive)), (-1.0, self._as_list(negative))):
            for item in items:
                pair = isinstance(item, tuple) and len(item) == 2 and not self._is_key(item)
                of_numbers = pair and isinstance(item[0], float | np.floating)  # a vector of two numbers
                weighted = pair and isinstance(item[1], Real) and not of_numbers
                key, own = item if weighted else (item, weight)
                if not np.isfinite(own):
                    raise ConfigError(f"the weight of {key!r:.60} must be a finite number, not {own}")
                vector, row = self._resolve(key)
                found.append((normalised(vector[None])[0] if self._is_key(key) else vector, float(own), row))
        return found

    def _direction(self, item):
        """Return the vector of a word or row, or a raw vector, at unit length: float64 (dim,)."""
        return normalised(self._resolve(item)[0][None])[0]

    def _resolve(self, item):
        """Return the vector of a word or row, or a raw vector, (dim,), and the row or None."""
        if self._is_key(item):
            row = self._row(item)
            vector = self._by_spelling(item) if row < 0 else self.matrix[row]
            if vector is None:
                raise self._unknown(item)
            return vector, None if row < 0 else row
        expected = f"expected a word or a finite vector of {self.dim} numbers, got"
        try:
            vector = np.asarray(item, dtype=np.float64)
        except (TypeError, ValueError):
            raise ConfigError(f"{expected} {item!r:.80}") from None
        if vector.shape != (self.dim,):
            raise ConfigError(f"{expected} shape {vector.shape}")
        if not np.isfinite(vector).all():
            raise ConfigError(f"{expected} one with NaN or infinity")
        return vector, None

    def _as_list(self, items):
        if items is None:
            return []
        if self._is_key(items) or (isinstance(items, np.ndarray) and items.ndim == 1 and items.dtype.kind in "fiu"):
            return [items]
        return list(items)


def is_row(key):
    """Return whether a key may be a row: a whole number of an integer type."""
    return isinstance(key, Integral) and not isinstance(key, bool)


def is_key(key, words, lowercase=False):
    """Return whether a key names one word, known or not, rather than several or a vector. words : PackedStrings"""
    return isinstance(key, KEYS) or (isinstance(key, tuple) and as_word(str(key), lowercase) in words)


def mostly_numbers(words):
    """Return whether most words are whole numbers, as names of nodes and items may be: then no number is a row."""
    seen = words[:_LOOKED_AT]
    return 2 * sum(word.removeprefix("-").isdecimal() for word in seen) > len(seen)


def named(given, words, lowercase=False):
    """Return one or several keys as text (list of str); an int that is a row, not a name, gives the word of that row.

    ConfigError for anything else.
    """
    if is_key(given, words, lowercase):
        keys = [given]
    elif given is None or not np.iterable(given):
        raise ConfigError(f"items and users are looked up by one or several names, not {given!r:.60}")
    else:
        keys = list(given)
    names = [text_of(key) for key in keys]
    if not any(map(is_row, keys)) or mostly_numbers(words):
        return names
    for place, key in enumerate(keys):
        if is_row(key) and 0 <= key < len(words) and as_word(names[place], lowercase) not in words:
            names[place] = words[int(key)]
    return names
