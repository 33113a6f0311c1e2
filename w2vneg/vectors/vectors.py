"""The public class of word vectors: look-up, comparison, plots, saving and loading."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..ground.errors import ConfigError, require
from .keyed import Keyed

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ..objectives.readout.paradigms import Kin
    from .named_rows import Name, Near


class Vectors(Keyed):
    """Words and their vectors, with the methods of gensim's KeyedVectors as well (`vectors.keyed`).

    Parameters
    ----------
    words : iterable of str, n distinct words, most frequent first if the order is known
    matrix : array_like, float32, (n, dim)
        One row per word; not copied if it is float32 and C-contiguous (a memory map stays one), else converted.
    counts : array_like, non-negative integers, (n,), optional, how often each word occurred; stored as int64
    spellings : readout.letters.Spellings, optional, derives vectors of unknown words from their spelling
    noun : str, what messages call a word: word, item, user, node
    lowercase : bool, the words come from lower-cased text, so that `King` is looked up as `king`
    rules : readout.paradigms.Rules, optional, the rules that related words by their spelling
    notes : sequence of str, deviations from the content of the file that was read

    ConfigError if the parts do not match, there is no word or dimension, a word repeats, or a number is not finite.
    """

    def kin(self, word: Name) -> list[Kin]:
        """Return the words that the read-out `paradigms` related to a word, strongest first: list of Kin.

        Each has a ``word``, the ``rule`` that leads to it, such as ``-y +ies``, and ``pairs``, how many pairs follow
        that rule. For an unknown word with a vector by spelling, these are the words it is derived from. ConfigError if
        the vectors were not made by that read-out, or loaded from a file that does not keep rules; npz does.
        """
        if self.rules is None:
            remedy = "call read_out('both+paradigms') of a model, or give its folder and --readout both+paradigms"
            raise ConfigError(f"these vectors have no kin: only the read-out paradigms finds them; {remedy}")
        row = self._row(word)
        if row < 0 and self._by_spelling(word) is None:
            raise self._unknown(word)
        return self.rules.kin(word if row < 0 else self.words[row])

    def analogy(self, a: str, b: str, c: str, k: int = 10) -> Near:
        """Answer "`a` is to `b` as `c` is to …?" by 3CosAdd: `most_similar` to b − a + c."""
        return self.most_similar([b, c], [a], topn=k)

    def map(self, way: str = "pca", titles: Mapping[str, str] | None = None) -> Any:
        """Return a Plotly map of all words, coloured by cluster and sized by frequency; needs the extra ``report``.

        way : {"pca", "umap"}, the first two principal axes, or UMAP of the cosines (slower; needs the extra ``umap``)
        titles : mapping of str to str, optional, names to show instead of the words
        """
        from ..look.report import map_figure

        return map_figure(self, way, titles)

    def plot_neighbours(self, word: str, k: int = 10) -> Any:
        """Return a matplotlib figure of the `k` words with the highest cosines to `word`; needs the extra ``plot``."""
        from ..look.report import neighbours_figure

        return neighbours_figure(self, word, k)

    def save(self, path: str | Path, format: str | None = None, precision: int | None = None) -> None:
        """Save the vectors. `format` defaults to that of the suffix; for more, see `w2vneg.vectors.formats.save`."""
        from .formats import save

        save(path, self, format, precision)

    @classmethod
    def load(cls, path: str | Path, readout: str | None = None, oov: str | None = None) -> Vectors:
        """Load vectors from a file of any format or a model folder; the content decides which.

        readout : str, optional, how to derive vectors from the matrices of a model folder; the model's own by default
        oov : {None, "letters"}, ``"letters"`` gives any spelling a vector; needs a read-out with letters or paradigms,
            an npz file written from one, a model with n-grams and ``readout="in"``, or fastText's ``.bin``
        """
        from .formats import read

        vectors = read(path, readout=readout, spell=spells(oov))
        with_spellings(oov, vectors.spellings)
        return vectors

    def to_gensim(self) -> Any:
        """Return a copy as gensim's KeyedVectors, with the counts if known; needs the extra ``gensim``."""
        KeyedVectors = require("gensim.models", "gensim", "to_gensim()").KeyedVectors
        keyed = KeyedVectors(self.dim, dtype=np.float32)
        keyed.add_vectors(list(self.words), self.matrix)
        if self.counts is not None:
            keyed.expandos["count"] = self.counts.copy()
        return keyed


def rule_text(kin):
    """Return the rule of a `Kin` and how many pairs follow it (str), such as ``+ing, 412 pairs``."""
    return f"{kin.rule}, {kin.pairs:,} pairs"


def spells(oov):
    """Return whether out-of-vocabulary words get vectors; ConfigError for an unknown `oov`."""
    if oov not in (None, "letters"):
        raise ConfigError(f"oov must be letters or None, not {oov!r}")
    return oov is not None


def with_spellings(oov, spellings):
    """Return `spellings`; ConfigError if they are requested and the read-out has none."""
    if oov is not None and spellings is None:
        ways = "letters or paradigms, such as 'both+letters', or a model trained with subwords and readout='in'"
        raise ConfigError(f"vectors of any spelling need a read-out with {ways}")
    return spellings
