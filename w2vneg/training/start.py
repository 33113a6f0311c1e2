"""A run that begins with rows of another one: words that both know start there, the others as usual."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..data.words import Words
from ..embeddings import Vectors
from ..errors import ConfigError
from ..inputs import INPUTS
from .model import Model


@dataclass(frozen=True)
class Start:
    """Rows by name.

    Attributes
    ----------
    name : str, what they are called in messages
    words, vectors_in : Words and float32 (n, dim), of centres
    words_out, vectors_out : Words and float32 (n_out, dim), of targets; None: targets start as usual
    """

    name: str
    words: Words
    vectors_in: np.ndarray
    words_out: Words | None = None
    vectors_out: np.ndarray | None = None

    @classmethod
    def of(cls, source):
        """Read a model folder, whose two matrices are taken, or a file of vectors; or take a `Vectors` or a `Model`.

        Raises
        ------
        InputError
            If there is no such file, or it is damaged.
        """
        if isinstance(source, str | Path) and Path(source).is_dir():
            model, name = Model.load(source), str(source)
        else:
            model, name = source, "the model"
        if isinstance(model, Model):
            matrices = (model.best_matrix(matrix) for matrix in ("vectors_in", "vectors_out"))
            first, second = matrices
            return cls(name, model.vocab.words, first, model.vocab_out.words, second)
        vectors = source if isinstance(source, Vectors) else Vectors.load(source)
        return cls("the vectors" if vectors is source else str(source), vectors.words, vectors.matrix)

    def begin(self, model):
        """Write the rows of names that both know into a fresh model; return how many of its centres these are (int).

        Raises
        ------
        ConfigError
            If the vectors have another length, or no name is known to both.
        """
        if INPUTS[model.config.inputs].derived:
            raise ConfigError(
                f"--inputs {model.config.inputs} makes vectors of n-grams, for which {self.name} has no rows; leave "
                "one of the two out"
            )
        dim = self.vectors_in.shape[1]
        if dim != model.config.dim:
            raise ConfigError(
                f"{self.name} has vectors of {dim} numbers, and this run has {model.config.dim}; take --dim {dim}"
            )
        found = _copy(self.words, self.vectors_in, model.vocab.words, model.vectors_in)
        if not found:
            raise ConfigError(
                f"none of the {len(model.vocab):,} words of this run has a vector in {self.name}; see whether they are "
                "spelt alike (--lowercase), or leave --init out"
            )
        if self.vectors_out is not None:
            _copy(self.words_out, self.vectors_out, model.vocab_out.words, model.vectors_out)
        return found


def _copy(names, rows, wanted, target):
    """Copy the rows of names that are wanted to their places; return how many."""
    places = names.find_all(wanted)
    known = np.flatnonzero(places >= 0)
    target[known] = rows[places[known]]
    return len(known)
