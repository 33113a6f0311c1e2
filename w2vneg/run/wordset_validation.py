"""A run evaluated while it trains by an evaluation set of words, instead of held-out pairs: ``--metric men-dev``.

The figure is Spearman's correlation for similarities and the share of right first answers for analogies, of the vectors
that the run's read-out makes. ``google-dev`` and ``google-test`` are the halves of `evaluation.analogy`.
"""

import dataclasses
import zlib
from dataclasses import dataclass

import numpy as np

from ..data import catalog
from ..ground.files.bounded import read_bytes
from ..vectors import Vectors
from ..vectors.evaluation.analogy import HALVES
from .readout import look_at_contexts, read_out
from .validation import Validation


@dataclass(frozen=True)
class NamedSet:
    """dataset : str, as of `w2vneg data list`; kind : "similarity" or "analogy"; half : str or None, of an analogy"""

    dataset: str
    kind: str
    half: str | None = None

    @classmethod
    def of(cls, name):
        """Return the set that `name`, one of `validation.set_names`, stands for."""
        if name in catalog.names("similarity"):
            return cls(name, "similarity")
        dataset, _, half = name.rpartition("-")
        if half in HALVES and dataset in catalog.names("analogy"):
            return cls(dataset, "analogy", half)
        return cls(name, "analogy")

    @property
    def for_choices(self):
        """Whether the set is there for making choices; results are reported on the others."""
        return self.half == "dev" or self.dataset.endswith("-dev")


class SetValidation(Validation):
    """As `Validation`, by an evaluation set.

    Parameters
    ----------
    encoded : EncodedCorpus
        What is trained on, for read-outs that look at contexts, and to see now how many words are known.
    metric : str
        One of `validation.set_names`.
    patience, every
        As for `Validation`.
    mirror : str, optional
        Where named data are looked for, too.

    Raises
    ------
    DataError
        If the set is nowhere.
    InputError
        If too few of its words are known.
    """

    def __init__(self, encoded, *, metric, patience=None, every=1.0, mirror=None):
        super().__init__(None, metric=metric, patience=patience, every=every)
        self.set, self._encoded = NamedSet.of(self.metric.name), encoded
        self._mirror = mirror
        self._held = zlib.crc32(read_bytes(catalog.resolve(self.set.dataset, mirror=mirror, kind=self.set.kind)))
        words = encoded.vocab.words
        anything = np.random.default_rng(0).standard_normal((len(words), 2)).astype(np.float32)
        self._figures_of(Vectors(words, anything))

    @property
    def settings(self):
        """See `Validation`; the set is known again by its content."""
        return {
            "metric": self.metric.name,
            "patience": self.patience,
            "every": self.every,
            "held": self._held,
            "known": None,
            "files": {},
        }

    def figures(self, model):
        """Evaluate a model's vectors as they are now: dict of str -> float, the metric first."""
        now = dataclasses.replace(model, best=None)  # `read_out` takes the best state otherwise
        look_at_contexts(now, self._encoded)
        return self._figures_of(Vectors(now.vocab.words, read_out(now)[0]))

    def _figures_of(self, vectors):
        if self.set.kind == "similarity":
            found = vectors.evaluate_similarity(self.set.dataset, self._mirror)
            return {self.metric.name: found.spearman, f"{self.metric.name} pearson": found.pearson}
        found = vectors.evaluate_analogy(self.set.dataset, self._mirror, half=self.set.half)
        shares = {f"{self.metric.name} p@{k}": share for k, share in found.overall.precision.items()}
        return {self.metric.name: shares.pop(f"{self.metric.name} p@1")} | shares
