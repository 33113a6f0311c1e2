"""A run that begins with rows of another one: what both know starts there, the rest as usual.

Words are known by their spelling, n-grams by their bucket. `freeze` keeps the rows of the two matrices that begin so
where they are: nothing that is trained moves them, and all else is trained against them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..config.compatibility import check_freeze
from ..data.words import PackedStrings
from ..ground.errors import ConfigError
from ..vectors import Vectors
from ..vectors.formats import detect, fasttext, tell
from .model import Model


class Buckets(NamedTuple):
    """Which n-grams the rows ``grams_in`` are of. minn, maxn, buckets : int, as the options of subwords
    used : int64, (n_rows,), the bucket of each row
    """

    minn: int
    maxn: int
    buckets: int
    used: np.ndarray


@dataclass(frozen=True)
class WarmStart:
    """Rows by name.

    Attributes
    ----------
    name : str, what they are called in messages
    dim : int
    matrix : callable, str -> float32 (n, dim) or None, the rows of a matrix that `Model.matrices` has
    words : PackedStrings, of centres
    words_out : PackedStrings, of targets; None: these start as usual, as inner nodes of a tree do
    buckets : Buckets or None, where there are n-grams
    freeze : bool, the rows of the two matrices that begin here do not move
    """

    name: str
    dim: int
    matrix: Callable[[str], Any]
    words: PackedStrings
    words_out: PackedStrings | None = None
    buckets: Buckets | None = None
    freeze: bool = False

    @classmethod
    def of(cls, source, freeze=False):
        """Read a model folder or a ``.bin`` of fastText's, whose two matrices are taken, or a file of vectors.

        source : path, `Vectors` or `Model`

        Raises
        ------
        InputError
            If there is no such file, or it is damaged.
        """
        name = str(source) if isinstance(source, str | Path) else "the model"
        if isinstance(source, str | Path):
            kind = detect(source)
            if kind == "fasttext":
                return cls._of_fasttext(name, fasttext.contents(Path(source)), freeze)
            source = Model.load(source) if kind == "folder" else Vectors.load(source)
        elif isinstance(source, Vectors):
            name = "the vectors"
        if isinstance(source, Vectors):
            return cls(name, source.dim, {"vectors_in": source.matrix}.get, source.words, freeze=freeze)
        used, config, grams = source.buckets(), source.config, source.config.inputs
        buckets = None if used is None else Buckets(grams.minn, grams.maxn, grams.buckets, used)
        names = source.matrices()
        return cls(
            name,
            config.dim,
            lambda matrix: source.best_matrix(matrix) if matrix in names else None,
            source.vocab.words,
            None if config.loss.plug.paths else source.vocab_out.words,
            buckets,
            freeze,
        )

    @classmethod
    def _of_fasttext(cls, name, found, freeze):
        tell(name, found.notes)
        n = len(found.words)
        rows = {"words_in": found.rows[:n], "grams_in": found.rows[n:], "vectors_out": found.targets}

        def matrix(which):
            return fasttext.means(found) if which == "vectors_in" else rows.get(which)

        buckets = None
        if found.n_buckets:
            buckets = Buckets(found.minn, found.maxn, found.n_buckets, np.arange(found.n_buckets))
        words_out = None if found.targets is None else found.words
        return cls(name, found.rows.shape[1], matrix, found.words, words_out, buckets, freeze)

    def check(self, config):
        """Raise ConfigError if a run with these options (RunSpec) cannot begin here."""
        if self.dim != config.dim:
            raise ConfigError(
                f"{self.name} has vectors of {self.dim} numbers, and this run has {config.dim}; take --dim {self.dim}"
            )
        if self.freeze:
            check_freeze(config)
        inputs = config.inputs
        if not inputs.plug.derived:
            return
        if self.buckets is None:
            raise ConfigError(
                f"--inputs {inputs.name} makes vectors of n-grams, for which {self.name} has no rows; leave "
                "one of the two out"
            )
        own, found = (inputs.minn, inputs.maxn, inputs.buckets), self.buckets[:3]
        if own != found:
            raise ConfigError(
                f"{self.name} has n-grams of {found[0]} to {found[1]} characters in {found[2]:,} buckets, and this run "
                f"{own[0]} to {own[1]} in {own[2]:,}; take --minn {found[0]} --maxn {found[1]} --buckets {found[2]}"
            )

    def begin(self, model):
        """Write the rows that both know into a fresh model, which has all of its matrices.

        Returns
        -------
        int
            How many of its centres begin here.

        Raises
        ------
        ConfigError
            If that is none, or everything is frozen.
        """
        found = int((self.words.find_all(model.vocab.words) >= 0).sum())
        if not found:
            raise ConfigError(
                f"none of the {len(model.vocab):,} words of this run has a vector in {self.name}; see whether they are "
                "spelt alike (--lowercase), or leave --init out"
            )
        inputs, of_paths = model.config.inputs.plug, model.config.loss.plug.paths
        may_freeze = {"vectors_out", *inputs.rows} if self.freeze else ()
        for name, target in model.matrices().items():
            places = None if of_paths and name == "vectors_out" else self._places(name, model)
            rows = None if name in inputs.derived or places is None else self.matrix(name)
            if rows is None or rows.shape[1:] != target.shape[1:]:
                continue
            known = np.flatnonzero(places >= 0)
            target[known] = rows[places[known]]
            if name in may_freeze:
                model.frozen[name] = places >= 0
        if self.freeze and all(name in model.frozen and model.frozen[name].all() for name in may_freeze):
            raise ConfigError(
                f"every row of this run begins with one of {self.name} and is frozen, so nothing would be trained; "
                "leave --freeze out, or give a corpus with words that it does not know"
            )
        return found

    def _places(self, name, model):
        """Return which row of here each row of a model's matrix begins with: int64 (rows,), -1 for none; or None."""
        if name == "grams_in":
            return None if self.buckets is None else _find(self.buckets.used, model.buckets())
        if name.endswith("_out"):
            return None if self.words_out is None else self.words_out.find_all(model.vocab_out.words)
        return self.words.find_all(model.vocab.words)


def _find(numbers, wanted):
    """Return where in `numbers`, all different, each of `wanted` is: int64 (n,), -1 where it is not."""
    order = np.argsort(numbers, kind="stable")
    places = np.minimum(np.searchsorted(numbers, wanted, sorter=order), len(numbers) - 1)
    places = order[places]
    return np.where(numbers[places] == wanted, places, -1)
