"""Word vectors to look things up in: words, a matrix, and what one asks of them."""

from __future__ import annotations

import warnings
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .data.words import Words
from .errors import ConfigError, UnknownNameError, near_spellings, require

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from numpy.typing import ArrayLike

    from .evaluation import AnalogyResult, SimilarityResult

_ROWS = 1024  # rows looked at together in float64; their copies stay in the cache of a core
_SAFE = np.float32(1e-30), np.float32(1e30)  # squared lengths that float32 products are right for


class Vectors:
    """Words and their vectors.

    Parameters
    ----------
    words : iterable of str, n of them
        All different, the most frequent first if the order is known.
    matrix : array_like, float32, (n, dim)
        One row per word; kept as it is if it is float32 and C-contiguous (a memory map stays one), else
        converted.
    counts : array_like, int64, (n,), optional
        How often each word occurred.
    spellings : readout.letters.Spellings, optional
        What gives a vector to a word that is not among them.

    Attributes
    ----------
    words : Words
    matrix : ndarray, float32, (n, dim), C-contiguous
    counts : ndarray, int64, (n,), or None

    Raises
    ------
    ConfigError
        If the parts do not fit together, there is no word or no dimension, or a word occurs twice.
    """

    def __init__(
        self, words: Iterable[str], matrix: ArrayLike, counts: ArrayLike | None = None, spellings: Any = None
    ) -> None:
        self.words, self.spellings = Words.of(words), spellings
        self.matrix = np.ascontiguousarray(matrix, dtype=np.float32)
        self.counts = None if counts is None else np.ascontiguousarray(counts, dtype=np.int64)
        if self.matrix.ndim != 2 or len(self.matrix) != len(self.words) or not self.matrix.size:
            raise ConfigError(
                f"{len(self.words)} words do not go with a matrix of shape {self.matrix.shape}; "
                "there must be one row of numbers for each word, and at least one word"
            )
        if self.counts is not None and self.counts.shape != (len(self.words),):
            raise ConfigError(f"{len(self.words)} words do not go with counts of shape {self.counts.shape}")
        repeated = self.words.repeated()
        if repeated:
            twice = self.words[repeated[0]]
            raise ConfigError(f"the word {twice!r} occurs twice; every word needs one row of its own")

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: str) -> bool:
        return word in self.words

    def __getitem__(self, word: str | Iterable[str]) -> np.ndarray:
        """Return the vector of a word, float32 (dim,), or of a list of words, float32 (k, dim)."""
        if isinstance(word, str):
            return self._resolve(word)[0]
        return np.array([self._resolve(one)[0] for one in word], np.float32).reshape(-1, self.dim)

    def __repr__(self):
        return f"Vectors({len(self)} words, dim={self.dim})"

    def with_words(self, words: Iterable[str]) -> Vectors:
        """Return these vectors and, behind them, those of other `words` by their spelling, where they have one."""
        if self.spellings is None:
            return self
        found = {word: self.spellings.vector(word) for word in dict.fromkeys(words) if word not in self.words}
        found = {word: vector for word, vector in found.items() if vector is not None}
        if not found:
            return self
        matrix = np.concatenate([self.matrix, np.array(list(found.values()), np.float32)])
        counts = None if self.counts is None else np.concatenate([self.counts, np.zeros(len(found), np.int64)])
        return Vectors([*self.words, *found], matrix, counts, self.spellings)

    @property
    def dim(self) -> int:
        """Numbers per vector."""
        return self.matrix.shape[1]

    def id(self, word: str) -> int:
        """Return the row of `word`; UnknownNameError with near spellings if it has none."""
        row = self.words.find(word)
        if row < 0:
            raise UnknownNameError(self._unknown(word))
        return row

    def _spelt(self, word):
        """Return the vector of a word's spelling, float32 (dim,); UnknownNameError if it has none."""
        vector = None if self.spellings is None else self.spellings.vector(word)
        if vector is None:
            raise UnknownNameError(self._unknown(word))
        return vector

    def _unknown(self, word):
        near = near_spellings(word, self.words) if isinstance(word, str) else []
        hint = f"; did you mean {' or '.join(repr(other) for other in near)}?" if near else "."
        return f"no vector for the word {word!r} among {len(self):,}{hint}"

    @cached_property
    def unit(self) -> np.ndarray:
        """The vectors at length one, float32 (n, dim); a zero vector stays zero. Computed at first use."""
        unit = np.empty_like(self.matrix)
        for start in range(0, len(self), _ROWS):
            block = slice(start, start + _ROWS)
            unit[block] = _normalised(self.matrix[block])
        return unit

    @cached_property
    def _lengths(self):
        """Lengths of the vectors, float32 (n,); NaN where a product of float32 numbers may be far off. Kept."""
        with np.errstate(over="ignore", under="ignore"):
            squares = np.einsum("ij,ij->i", self.matrix, self.matrix)
        squares[~((squares >= _SAFE[0]) & (squares <= _SAFE[1]))] = np.nan
        return np.sqrt(squares, out=squares)

    def similarity(self, a: str, b: str) -> float:
        """Return the cosine of two words' vectors, a float in [-1, 1]; 0 if one of them is zero."""
        first, second = (_normalised(self._resolve(word)[0][None])[0] for word in (a, b))
        return float(np.clip(first @ second, -1.0, 1.0))

    def cosines(self, first: ArrayLike, second: ArrayLike) -> np.ndarray:
        """Return the cosines of pairs of rows, in double precision.

        Parameters
        ----------
        first, second : array_like, int, (n_pairs,)
            Rows of the two vectors of each pair.

        Returns
        -------
        ndarray, float64, (n_pairs,)
        """
        a = _normalised(self.matrix[np.asarray(first, dtype=np.intp)])
        b = _normalised(self.matrix[np.asarray(second, dtype=np.intp)])
        return np.clip(np.einsum("ij,ij->i", a, b), -1.0, 1.0)

    def most_similar(
        self,
        positive: str | ArrayLike | Sequence[str | ArrayLike],
        negative: str | ArrayLike | Sequence[str | ArrayLike] = (),
        k: int = 10,
        restrict_vocab: int | None = None,
    ) -> list[tuple[str, float]]:
        """Return the `k` words with the highest cosine to the mean of the positive minus the negative ones.

        Each word or vector enters at length one; the words themselves are left out of the answer.

        Parameters
        ----------
        positive, negative : str, ndarray of (dim,), or a list of such
        k : int, at least 1
        restrict_vocab : int, at least 1, optional
            Answer from the first so many words only.

        Returns
        -------
        list of (str, float)
            Words and cosines, in double precision, the highest first; equal ones in the order of the words.

        Raises
        ------
        UnknownNameError
            If a word has no vector; the message has near spellings.
        ConfigError
            If `k` or `restrict_vocab` is below 1, a vector has another dimension, or the sum of the vectors
            is zero.
        """
        if k < 1:
            raise ConfigError(f"k must be at least 1, not {k}")
        if restrict_vocab is not None and restrict_vocab < 1:
            raise ConfigError(f"restrict_vocab must be at least 1, not {restrict_vocab}")
        positive, negative = _as_list(positive), _as_list(negative)
        query = np.zeros(self.dim)
        asked = []
        for sign, items in ((1, positive), (-1, negative)):
            for item in items:
                vector, row = self._resolve(item)
                query += sign * _normalised(vector[None])[0]
                if row is not None:
                    asked.append(row)
        if not query.any():
            raise ConfigError("nothing is nearest to a zero vector; ask for other words")
        rows, scores = self._nearest(_normalised(query[None])[0], asked, k, len(self.matrix[:restrict_vocab]))
        return [(self.words[row], score) for row, score in zip(rows.tolist(), scores.tolist(), strict=True)]

    def _nearest(self, query, asked, k, n):
        """Return the rows below `n` with the highest cosines, `asked` left out, and these: intp and float64, (≤ k,).

        float32 products find what may be among them, double precision decides.

        query : float64, (dim,), of length one
        """
        with np.errstate(over="ignore", invalid="ignore"):
            rough = (self.matrix[:n] @ query.astype(np.float32)) / self._lengths[:n]
        asked = [row for row in asked if row < n]
        close = np.isnan(rough)
        rough[close] = rough[asked] = -np.inf
        # Product and squared length are off by at most dim roundings of 2^-24, query, root and quotient by a few.
        margin = np.float32((3 * self.dim + 16) * 2.0**-24)
        close |= rough >= (np.partition(rough, n - k)[n - k] - margin if k < n else -np.inf)
        close[asked] = False
        rows = np.flatnonzero(close)
        scores = np.empty(len(rows))
        for start in range(0, len(rows), _ROWS):
            some = slice(start, start + _ROWS)
            scores[some] = np.einsum("ij,j->i", _normalised(self.matrix[rows[some]]), query)
        best = top_rows(scores, min(k, len(rows)))
        return rows[best], np.clip(scores[best], -1.0, 1.0)

    def _resolve(self, item):
        """Return the vector of a word or a raw vector, (dim,), and the word's row or None."""
        if isinstance(item, str):
            row = self.words.find(item)
            if row < 0:
                return self._spelt(item), None
            return self.matrix[row], row
        vector = np.asarray(item, dtype=np.float64)
        if vector.shape != (self.dim,) or not np.isfinite(vector).all():
            raise ConfigError(f"expected a word or a finite vector of {self.dim} numbers, got shape {vector.shape}")
        return vector, None

    def analogy(self, a: str, b: str, c: str, k: int = 10) -> list[tuple[str, float]]:
        """Answer "`a` is to `b` as `c` is to …?" by 3CosAdd: `most_similar` to b − a + c."""
        return self.most_similar([b, c], [a], k=k)

    def evaluate_similarity(self, set_or_path: str | Path, mirror: str | None = None) -> SimilarityResult:
        """Compare cosines with human scores.

        Parameters
        ----------
        set_or_path : str or Path
            A named set (``"ws353"``) or a file of word, word, score.
        mirror : str or Path, optional
            Folder or URL in which named sets are looked for, too.

        Returns
        -------
        w2vneg.evaluation.SimilarityResult
        """
        from .evaluation import evaluate_similarity

        path, name, tags = _find(set_or_path, mirror, "similarity")
        return evaluate_similarity(self, path, name=name, tags=tags)

    def evaluate_analogy(
        self,
        set_or_path: str | Path = "google",
        mirror: str | None = None,
        restrict_vocab: int | None = None,
        half: str | None = None,
    ) -> AnalogyResult:
        """Answer the analogy questions of a named set or a file; returns w2vneg.evaluation.AnalogyResult.

        Parameters
        ----------
        set_or_path : str or Path
        mirror : str or Path, optional
        restrict_vocab : int, optional
            Use the first so many words only.
        half : {None, "dev", "test"}
            All questions, or a fixed half of them.
        """
        from .evaluation import evaluate_analogy

        path, name, _ = _find(set_or_path, mirror, "analogy")
        return evaluate_analogy(self, path, name=name, restrict_vocab=restrict_vocab, half=half)

    def save(self, path: str | Path, format: str | None = None, precision: int | None = None) -> None:
        """Write the vectors; see `w2vneg.formats.save` for formats (by suffix unless named) and precision."""
        from .formats import save

        save(path, self.words, self.matrix, self.counts, format=format, precision=precision, spellings=self.spellings)

    @classmethod
    def load(
        cls, path: str | Path, matrix: str | None = None, readout: str | None = None, oov: str | None = None
    ) -> Vectors:
        """Read vectors from word2vec text or binary, npz, or a model folder, told apart by content.

        Parameters
        ----------
        path : str or Path
        matrix : {"in", "out", "sum"}, optional
            The former name of `readout`.
        readout : str, optional
            How vectors are made of a model folder's matrices, if not as the model says: ``"in"``, ``"both+letters"``, …
        oov : {None, "letters"}
            With ``"letters"`` any spelling has a vector; for a model folder whose read-out has letters, or an npz file
            written from one.
        """
        from .formats import read, readout_of

        if matrix is not None:
            warnings.warn("matrix is now called readout", FutureWarning, stacklevel=2)
            readout = readout or readout_of(path, matrix)
        *parts, spellings = read(path, readout=readout, spell=spells(oov))
        return cls(*parts, with_spellings(oov, spellings))

    def to_gensim(self) -> Any:
        """Return the same vectors as gensim's KeyedVectors (a copy), with the counts if known."""
        KeyedVectors = require("gensim.models", "gensim", "to_gensim()").KeyedVectors
        keyed = KeyedVectors(self.dim, dtype=np.float32)
        keyed.add_vectors(list(self.words), self.matrix)
        if self.counts is not None:
            keyed.expandos["count"] = self.counts.copy()
        return keyed


def spells(oov):
    """Tell whether words out of the vocabulary are to have vectors; ConfigError for an unknown way."""
    if oov not in (None, "letters"):
        raise ConfigError(f"oov must be letters or None, not {oov!r}")
    return oov is not None


def with_spellings(oov, spellings):
    """Return `spellings`; ConfigError if they are asked for and the read-out has none."""
    if oov is not None and spellings is None:
        raise ConfigError("vectors of any spelling need a read-out with letters, as readout='both+letters'")
    return spellings


def top_rows(scores, k):
    """Return the rows of the `k` highest scores, the highest first, equal ones in the order of the rows.

    Parameters
    ----------
    scores : ndarray, float32 or float64, (n,)
    k : int, at most n

    Returns
    -------
    ndarray, intp, (k,)
    """
    if k < 1:
        return np.empty(0, dtype=np.intp)
    threshold = np.partition(scores, len(scores) - k)[len(scores) - k]
    rows = np.flatnonzero(scores >= threshold)
    return rows[np.argsort(-scores[rows], kind="stable")][:k]


def _normalised(matrix):
    """Return the rows at length one, float64 (n, dim); zero rows stay zero, huge and tiny ones are safe."""
    rows = matrix.astype(np.float64)
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    return rows / np.where(lengths > 0, lengths, 1.0)[:, None]


def _as_list(items):
    if isinstance(items, str) or (isinstance(items, np.ndarray) and items.ndim == 1 and items.dtype.kind in "fiu"):
        return [items]
    return list(items)


def _find(set_or_path, mirror, kind):
    """Return path, name, and whether lemma tags are to be stripped (None: if all words have one)."""
    from .data import catalog as datasets
    from .errors import W2vnegError

    path = datasets.resolve(set_or_path, mirror=mirror, kind=kind)
    try:
        record = datasets.info(str(set_or_path))
    except W2vnegError:
        return path, path.name, None
    return path, record.name, record.tags
