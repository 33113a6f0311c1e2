"""Word vectors as users have them: made, compared, drawn, written and read."""

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
    """Words and their vectors. They also answer to the names of gensim's KeyedVectors (`vectors.keyed`).

    Parameters
    ----------
    words : iterable of str, n of them, all different; the most frequent first if the order is known
    matrix : array_like, float32, (n, dim)
        One row per word; kept as it is if it is float32 and C-contiguous (a memory map stays one), else converted.
    counts : array_like, whole numbers of 0 or more, (n,), optional, how often each word occurred; kept as int64
    spellings : readout.letters.Spellings, optional, what gives a vector to a word that is not among them
    noun : str, what a word is called in messages: word, item, user, node
    lowercase : bool, the words are of lower-cased text, so that `King` is looked up as `king`
    rules : readout.paradigms.Rules, optional, what joined words by their spelling
    notes : sequence of str, what was read otherwise than a file has it

    ConfigError if the parts do not fit together, there is no word or dimension, a word occurs twice, a number is NaN.
    """

    def kin(self, word: Name) -> list[Kin]:
        """Return the words that the read-out `paradigms` joined with a word, the strongest first: list of Kin.

        Each has ``word``; ``rule``, what it has instead, as ``-y +ies``; ``pairs``, how many follow that rule. Of an
        unknown word whose spelling has a vector: those that this is made of. ConfigError if the vectors were not made
        by that read-out, or read from a file that does not keep rules; npz does.
        """
        if self.rules is None:
            remedy = "take read_out('both+paradigms') of a model, or name its folder and --readout both+paradigms"
            raise ConfigError(f"these vectors have no kin: it is found by the read-out paradigms; {remedy}")
        row = self._row(word)
        if row < 0 and self._by_spelling(word) is None:
            raise self._unknown(word)
        return self.rules.kin(word if row < 0 else self.words[row])

    def analogy(self, a: str, b: str, c: str, k: int = 10) -> Near:
        """Answer "`a` is to `b` as `c` is to …?" by 3CosAdd: `most_similar` to b − a + c."""
        return self.most_similar([b, c], [a], topn=k)

    def map(self, way: str = "pca", titles: Mapping[str, str] | None = None) -> Any:
        """Return a map of all words as a Plotly figure: clusters in colours, frequent words large. Extra ``report``.

        way : {"pca", "umap"}, the two principal axes; or UMAP of the cosines, which takes longer; extra ``umap``
        titles : mapping of str to str, optional, what words or items are shown as
        """
        from ..look.report import map_figure

        return map_figure(self, way, titles)

    def plot_neighbours(self, word: str, k: int = 10) -> Any:
        """Return a matplotlib figure of the `k` words with the highest cosines to `word`; needs the extra ``plot``."""
        from ..look.report import neighbours_figure

        return neighbours_figure(self, word, k)

    def save(self, path: str | Path, format: str | None = None, precision: int | None = None) -> None:
        """Write the vectors; see `w2vneg.vectors.formats.save` for formats (by suffix unless named) and precision."""
        from .formats import save

        save(path, self, format, precision)

    @classmethod
    def load(cls, path: str | Path, readout: str | None = None, oov: str | None = None) -> Vectors:
        """Read vectors from a file of any format or a model folder, known by content.

        readout : str, optional, how vectors are made of a model folder's matrices, if not as the model says
        oov : {None, "letters"}, with ``"letters"`` any spelling has a vector: of a read-out with letters or paradigms,
            or npz written from one; of n-grams with ``readout="in"``; of a ``.bin`` of fastText's
        """
        from .formats import read

        vectors = read(path, readout=readout, spell=spells(oov))
        with_spellings(oov, vectors.spellings)
        return vectors

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
    """Return `spellings`; ConfigError if they are requested and the read-out has none."""
    if oov is not None and spellings is None:
        ways = "letters or paradigms, as readout='both+letters', or a model trained with subwords and readout='in'"
        raise ConfigError(f"vectors of any spelling need a read-out with {ways}")
    return spellings
