"""Evaluation, encoding of texts, and the methods of gensim's KeyedVectors.

These methods do what they do in gensim, in double precision, and skip unknown words where gensim does. Methods that
modify vectors in place are missing; docs/migrating.md has the full list.
"""

from __future__ import annotations

import logging
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from ..data import catalog
from ..ground.errors import ConfigError, UnknownNameError, W2vnegError
from ..ground.files.bounded import check_path
from .named_rows import NamedRows
from .search import cosines_with, normalised, top_rows, unit_rows

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import ArrayLike
    from typing_extensions import Self

    from ..data.words import PackedStrings
    from .evaluation import AnalogyResult, SimilarityResult
    from .named_rows import Item, Items, Name, Near, Raw

_LOG = logging.getLogger("w2vneg")
_ENCLOSED = (0x24B6, 0x24E9), (0x1F130, 0x1F149), (0x1F150, 0x1F169), (0x1F170, 0x1F189)  # symbols counted as letters
_ROWS = {"similarity": "word, word, score", "analogy": "four words"}  # kind of set -> content of a line
_AWAY_FROM_ZERO = 1e-6  # added to the denominator of 3CosMul (Levy and Goldberg)


class KeyToIndex(Mapping):
    """Read-only mapping of words to rows that stores no table. row_of : callable, word -> row, -1 if unknown"""

    def __init__(self, words, row_of):
        self._words, self._row_of = words, row_of

    def __getitem__(self, word):
        row = self._row_of(word)
        if row < 0:
            raise KeyError(word)
        return int(row)

    def __iter__(self):
        return iter(self._words)

    def __len__(self):
        return len(self._words)


class Keyed(NamedRows):
    """Named rows with the methods of gensim's KeyedVectors."""

    def evaluate_similarity(self, set_or_path: str | Path, mirror: str | None = None) -> SimilarityResult:
        """Correlate cosines with human scores; returns a w2vneg.vectors.evaluation.SimilarityResult.

        set_or_path : str or Path, a named set (``"ws353"``) or a file with rows of word, word, score
        mirror : str or Path, optional, another folder or URL to search for named sets
        """
        from .evaluation import evaluate_similarity

        path, name, tags = _find(set_or_path, mirror, "similarity")
        return evaluate_similarity(self, path, name=name, tags=tags)

    def evaluate_analogy(
        self, set_or_path: str | Path = "google", mirror: str | None = None, **options: Any
    ) -> AnalogyResult:
        """Answer the analogy questions of a named set or a file; returns a w2vneg.vectors.evaluation.AnalogyResult.

        options : restrict_vocab, int, use only the first `restrict_vocab` words; half, {None, "dev", "test"}, all
            questions or a fixed half of them
        """
        from .evaluation import evaluate_analogy

        path, name, _ = _find(set_or_path, mirror, "analogy")
        return evaluate_analogy(self, path, name=name, **options)

    def encode(
        self, texts: Sequence[str | Sequence[str]] | np.ndarray, a: float | None = 1e-3, normalize: bool = False
    ) -> np.ndarray:
        """Encode texts as means of their word vectors, weighted by a / (a + p(word)): float32 (n, dim).

        The weights are those of Arora, Liang and Ma (2017); no component is removed. ``a=None`` gives the plain mean,
        as the export for sentence-transformers does. Strings are split as in that export, lists of words are used as
        given, unknown words count as zeros. `normalize` scales rows to unit length. ConfigError for `a` without counts.
        """
        if isinstance(texts, str):
            raise ConfigError("encode takes a list of texts; wrap a single text in a list")
        weights = None
        if a is not None:
            if self.counts is None or not self.counts.sum():
                raise ConfigError("these vectors have no counts to weight words by; give a=None for the plain mean")
            if not 0 < a < float("inf"):
                raise ConfigError(f"a must be a positive number, or None for the plain mean, not {a!r}")
            weights = (a / (a + self.counts / self.counts.sum())).astype(np.float32)
        lower = all(word == word.lower() for word in self.words)
        pieces = _pieces()
        split = pieces.findall if all(map(pieces.fullmatch, self.words)) else str.split
        texts = list(texts)
        found = np.zeros((len(texts), self.dim), np.float32)
        for at, text in enumerate(texts):
            if not np.iterable(text):
                raise ConfigError(f"text {at} is {text!r:.60}, neither a str nor a list of words; leave it out")
            words = split(text.lower() if lower else text) if isinstance(text, str) else list(text)
            rows = [row for row in map(self._row, words) if row >= 0]
            if rows:
                weighed = self.matrix[rows] if weights is None else self.matrix[rows] * weights[rows, None]
                found[at] = weighed.sum(axis=0, dtype=np.float64) / len(words)
        return unit_rows(found) if normalize else found

    @property
    def vectors(self) -> np.ndarray:
        return self.matrix

    @property
    def vector_size(self) -> int:
        return self.dim

    @property
    def index_to_key(self) -> PackedStrings:
        return self.words

    @property
    def key_to_index(self) -> KeyToIndex:
        return KeyToIndex(self.words, self._row_of_name)

    def get_index(self, key: Name, default: int | None = None) -> int:
        """Return the row of a word; if it has none, return `default`, or raise UnknownNameError without one."""
        return self.id(key) if default is None or self._row(key) >= 0 else default

    def has_index_for(self, key: Name) -> bool:
        """Return whether a word has a row, or a row exists."""
        return self._row(key) >= 0

    def get_vector(self, key: Name, norm: bool = False) -> np.ndarray:
        """Return the vector of a word, float32 (dim,); scaled to unit length with `norm`."""
        return self._direction(key).astype(np.float32) if norm else self[key]

    def get_normed_vectors(self) -> np.ndarray:
        """Return the matrix with rows scaled to unit length, float32 (n, dim)."""
        return self.unit

    def get_vecattr(self, key: Name, attr: str) -> int:
        """Return the count of a word; `attr` must be ``"count"``, the only attribute."""
        if attr != "count":
            raise UnknownNameError(f"words have no attribute {attr!r}, only 'count'")
        if self.counts is None:
            raise UnknownNameError("the counts are unknown: text and binary files have none; load npz or a model")
        return int(self.counts[self.id(key)])

    def get_mean_vector(
        self, keys: Sequence[Item], weights: ArrayLike | None = None, pre_normalize: bool = True,
        post_normalize: bool = False, ignore_missing: bool = True,
    ) -> np.ndarray:  # fmt: skip
        """Return the weighted mean of word vectors.

        keys : sequence of str, int or ndarray of (dim,); vectors are used as given
        weights : array_like, float, optional; the sum is divided by the sum of their absolute values
        pre_normalize, post_normalize : bool, scale the words' vectors, or the mean, to unit length
        ignore_missing : bool, skip words without a vector (zeros if none has one); else UnknownNameError
        """
        keys = list(keys)
        weights = np.ones(len(keys)) if weights is None else np.asarray(weights, np.float64)
        if not keys or weights.shape != (len(keys),):
            raise ConfigError(f"{len(keys)} words do not match weights of shape {weights.shape}; give at least one")
        total, size = np.zeros(self.dim), 0.0
        for key, weight in zip(keys, weights.tolist(), strict=True):
            if ignore_missing and not self._has_vector(key):
                continue
            at_length_one = pre_normalize and self._is_key(key)
            total += weight * (self._direction(key) if at_length_one else self._resolve(key)[0].astype(np.float64))
            size += abs(weight)
        mean = total / size if size else total
        return (normalised(mean[None])[0] if post_normalize else mean).astype(np.float32)

    def distance(self, w1: Name, w2: Name) -> float:
        """Return 1 − the cosine of two words."""
        return 1.0 - self.similarity(w1, w2)

    def distances(self, word_or_vector: Item, other_words: Iterable[Name] = ()) -> np.ndarray:
        """Return 1 − the cosines of a word or vector with other words, or with all: float64 (n_others,) or (n,)."""
        others, query = list(other_words), self._direction(word_or_vector)
        return 1.0 - cosines_with(self[others] if others else self.matrix, query)

    def closer_than(self, key1: Name, key2: Name) -> list[str]:
        """Return the words that are closer to `key1` than `key2` is, in the order of the rows."""
        first, second = self.id(key1), self.id(key2)
        distances = self.distances(first)
        return [self.words[row] for row in np.flatnonzero(distances < distances[second]).tolist() if row != first]

    def rank(self, key1: Name, key2: Name) -> int:
        """Return the rank of `key2` among the words nearest to `key1`, starting at 1."""
        return len(self.closer_than(key1, key2)) + 1

    def most_similar_to_given(self, key1: Name, keys_list: Sequence[Name]) -> Name:
        """Return the word of a list that is most similar to `key1`."""
        if not len(keys_list):
            raise ConfigError("there is no word to choose from; give at least one")
        return keys_list[int(np.argmin(self.distances(key1, keys_list)))]

    def n_similarity(self, ws1: Sequence[Name], ws2: Sequence[Name]) -> float:
        """Return the cosine of the mean vectors of two lists of words, whose vectors are not normalised."""
        means = [self.get_mean_vector(words, pre_normalize=False) for words in (ws1, ws2)]
        first, second = normalised(np.array(means))
        return float(first @ second)

    def rank_by_centrality(self, words: Sequence[Name], use_norm: bool = True) -> list[tuple[float, Name]]:
        """Return (cosine with the mean, word) pairs, highest first; dot products if `use_norm` is False."""
        known = [word for word in words if self._has_vector(word)]
        if not known:
            raise ConfigError(f"none of {words!r:.200} has a vector; give known words")
        if len(known) < len(words):
            unknown = sorted({str(word) for word in words} - {str(word) for word in known})
            _LOG.warning("words without a vector are left out: %s", ", ".join(unknown))
        rows = self[known].astype(np.float64)
        rows = normalised(rows) if use_norm else rows
        scores = rows @ normalised(rows.mean(axis=0)[None])[0]
        return sorted(zip(scores.tolist(), known, strict=True), key=lambda one: (one[0], str(one[1])), reverse=True)

    def doesnt_match(self, words: Sequence[Name]) -> Name:
        """Return the word that is farthest from the mean of the list."""
        return self.rank_by_centrality(words)[-1][1]

    def _has_vector(self, key):
        return not self._is_key(key) or self._row(key) >= 0 or self._by_spelling(key) is not None

    @overload
    def similar_by_key(self, key: Name, topn: int = ..., restrict_vocab: int | None = ...) -> Near: ...

    @overload
    def similar_by_key(self, key: Name, topn: None, restrict_vocab: int | None = ...) -> np.ndarray: ...

    def similar_by_key(self, key: Name, topn: int | None = 10, restrict_vocab: int | None = None) -> Near | np.ndarray:
        """Return the words nearest to a word, as `most_similar` does."""
        return self.most_similar([key], topn=topn, restrict_vocab=restrict_vocab)

    similar_by_word = similar_by_key

    @overload
    def similar_by_vector(self, vector: Raw, topn: int = ..., restrict_vocab: int | None = ...) -> Near: ...

    @overload
    def similar_by_vector(self, vector: Raw, topn: None, restrict_vocab: int | None = ...) -> np.ndarray: ...

    def similar_by_vector(
        self, vector: Raw, topn: int | None = 10, restrict_vocab: int | None = None
    ) -> Near | np.ndarray:
        """Return the words nearest to a vector, as `most_similar` does."""
        return self.most_similar([vector], topn=topn, restrict_vocab=restrict_vocab)

    @overload
    def most_similar_cosmul(
        self, positive: Items = ..., negative: Items = ..., topn: int = ..., restrict_vocab: int | None = ...
    ) -> Near: ...

    @overload
    def most_similar_cosmul(
        self, positive: Items = ..., negative: Items = ..., topn: None = ..., restrict_vocab: int | None = ...
    ) -> np.ndarray: ...

    def most_similar_cosmul(
        self, positive: Items = (), negative: Items = (), topn: int | None = 10, restrict_vocab: int | None = None
    ) -> Near | np.ndarray:
        """Return the words with the highest 3CosMul score (Levy and Goldberg 2014, eq. 4).

        It is Π (1 + cos⁺)/2 / (Π (1 + cos⁻)/2 + 10⁻⁶) over the positive and the negative words. Arguments and result
        are those of `most_similar`, without weights.
        """
        n = self._first(topn, restrict_vocab)
        above, below = self._items(positive, ()), self._items((), negative)
        if not above:
            raise ConfigError("3CosMul needs a positive word; give at least one")
        if any(abs(weight) != 1.0 for _, weight, _ in above + below):
            raise ConfigError("3CosMul has no weights; give only words, or call most_similar")
        near = lambda vector: (1.0 + cosines_with(self.matrix[:n], normalised(vector[None])[0])) / 2.0  # noqa: E731
        over, under = (np.prod([near(vector) for vector, _, _ in items], axis=0) for items in (above, below))
        scores = over / (under + _AWAY_FROM_ZERO)
        if topn is None:
            return scores
        named = [row for _, _, row in above + below if row is not None and row < n]
        free = np.delete(np.arange(n), named)
        rows = free[top_rows(scores[free], min(topn, len(free)))]
        return self._named(rows, scores[rows])

    def relative_cosine_similarity(self, wa: Name, wb: Name, topn: int = 10) -> float:
        """Return the cosine of two words, divided by the summed cosines of the `topn` words nearest to the first."""
        near = sum(cosine for _, cosine in self.most_similar([wa], topn=topn))
        if not near:
            raise ConfigError(f"the cosines of {wa!r:.60} with its nearest words sum to 0; give another word")
        return self.similarity(wa, wb) / near

    def wmdistance(self, document1: Sequence[Name], document2: Sequence[Name], norm: bool = True) -> float:
        """Return the Word Mover's Distance of two lists of words (Kusner et al. 2015), by linear programming.

        Unknown words are skipped; a list without a known word gives infinity. `norm` scales vectors to unit length.
        """
        first, second = ([row for row in map(self._row, words) if row >= 0] for words in (document1, document2))
        return _moving_cost(first, second, self.unit if norm else self.matrix) if first and second else float("inf")

    def vectors_for_all(self, keys: Iterable[str], allow_inference: bool = True) -> Self:
        """Return the vectors of `keys` in their order, without duplicates; words without a vector are skipped.

        Words are looked up as usual and keep the names of this vocabulary: `king` for `King` if it is lower-cased.
        allow_inference : bool, give unknown words the vector of their spelling, if there is one
        """
        keys = list(keys)
        source = self.with_words(keys) if allow_inference else self
        rows = list(dict.fromkeys(row for row in map(source._row, keys) if row >= 0))
        if not rows:
            raise ConfigError(f"none of {keys!r:.200} has a vector; give known words")
        counts = None if source.counts is None else source.counts[rows]
        return self._alike([source.words[row] for row in rows], source.matrix[rows], counts)

    def evaluate_word_pairs(self, pairs: str | Path, **options: Any) -> tuple:
        """Correlate cosines with the human scores of a named set or a file; see also `evaluate_similarity`.

        options : restrict_vocab=300000, words in later rows are unknown; case_insensitive=True; dummy4unknown=False,
            if True, pairs with an unknown word count as cosine 0 instead of being left out

        Returns SciPy's Pearson and Spearman results, with ``statistic`` and ``pvalue``, and the percentage of pairs
        with an unknown word. InputError if fewer than two pairs are left.
        """
        from .evaluation.similarity import evaluate_word_pairs

        path, _, tags = _find(pairs, None, "similarity")
        return evaluate_word_pairs(self, path, tags=tags, **options)

    def evaluate_word_analogies(self, analogies: str | Path, **options: Any) -> tuple[float, list[dict]]:
        """Answer the analogy questions of a named set or a file by 3CosAdd; takes the options of `evaluate_word_pairs`.

        Returns the accuracy and a list of dict, one per section and a last one for all: its name, ``section``, and the
        ``correct`` and ``incorrect`` questions, tuples of four words. InputError if no question has vectors for all
        four words, unless ``may_be_empty=True``.
        """
        from .evaluation.analogy import evaluate_word_analogies

        return evaluate_word_analogies(self, _find(analogies, None, "analogy")[0], **options)


@cache
def _pieces():
    """Return a pattern that splits like ``tokenizers.pre_tokenizers.Whitespace``: words, and runs of other characters.

    Unlike Python's, its ``\\w`` includes marks, joiners and enclosed letters; among numbers only digits and letters.
    """
    from ..kernels.text.words import ranges_of

    names = [unicodedata.category(chr(code)) for code in range(0x110000)]
    of_word = np.array([name[0] in "LM" or name in ("Nd", "Nl", "Pc") for name in names])
    of_word[[0x200C, 0x200D]] = True
    for first, last in _ENCLOSED:
        of_word[first : last + 1] = True
    inside = ranges_of(of_word)
    return re.compile(rf"[{inside}]+|[^{inside}\s]+")


def _find(set_or_path, mirror, kind):
    """Return the path, the name, and whether to strip lemma tags (None: if all words have one)."""
    check_path(set_or_path, f"name a set of 'w2vneg data list', or a file with {_ROWS[kind]} on each line")
    path = catalog.resolve(set_or_path, mirror=mirror, kind=kind)
    with suppress(W2vnegError):
        record = catalog.info(str(set_or_path))
        return path, record.name, record.tags
    return path, path.name, None


def _moving_cost(first, second, matrix):
    """Return the least cost of moving the rows of one text to those of another (float). first, second : list of int"""
    from scipy.optimize import linprog
    from scipy.spatial.distance import cdist

    (a, have), (b, want) = (np.unique(rows, return_counts=True) for rows in (first, second))
    cost = cdist(matrix[a].astype(np.float64), matrix[b].astype(np.float64))
    leave, arrive = np.kron(np.eye(len(a)), np.ones(len(b))), np.kron(np.ones(len(a)), np.eye(len(b)))
    masses = np.concatenate([have / have.sum(), want / want.sum()])
    return float(linprog(cost.ravel(), A_eq=np.vstack([leave, arrive]), b_eq=masses).fun)
