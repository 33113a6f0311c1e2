"""Evaluation of a run while it trains, on held-out pairs or a word set: keep the best state, stop early.

Between rounds, after every `every` epochs, all held-out targets are ranked (`evaluation.ranking`). The best state is
kept; after `patience` evaluations in a row without a better one, the run ends. At its end, early or not, the best state
is restored to the bit. Results are kept in `Model.best`, so that a resumed run ends where an uninterrupted one would
have. Only healthy states are evaluated, and training never rolls back beyond an evaluated one.
"""

from __future__ import annotations

import dataclasses
import math
import os
import re
import time
import warnings
import zlib
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse

from ..data import catalog
from ..data.encoded.pairs import HeldOut, as_trained, read_pairs_file
from ..data.splitfiles import trained_on
from ..ground.errors import ConfigError, FileNote, InputError, check_whole, did_you_mean
from ..ground.events import BestRestored, Validated
from ..ground.files.bounded import read_bytes
from ..vectors import Vectors
from ..vectors.evaluation import METRICS, evaluate_ranking, popularity_scores, scores_of
from ..vectors.evaluation.analogy import HALVES
from ..vectors.evaluation.baselines import in_both
from ..vectors.evaluation.scores import RAW, are_items_of_one_kind, share_of
from .model import look_at_contexts, read_out
from .state import Best, difference

if TYPE_CHECKING:
    from .recommender import Pairs

_OTHER_K = 15  # K of the figures reported along with a metric that has none
_SAME_POINT = 1e-9  # of an epoch; rounding never moves an evaluation by a round


@dataclass(frozen=True)
class Metric:
    """A metric to choose by. name : str, as given; k : int, length of lists; sign : int, −1 if lower is better"""

    name: str
    k: int = _OTHER_K
    sign: int = 1

    @classmethod
    def parse(cls, text):
        """Parse ``mpr``, ``ndcg@15`` or another name in `METRICS` or `set_names`; ConfigError for anything else."""
        given = str(text).strip()
        text = given.lower()
        if text in set_names():
            return cls(text)
        name, _, k = text.partition("@")
        by_name = {one.chosen_as: one for one in _choosable().values()}
        one = by_name.get(name)
        if one is not None and re.fullmatch(r"@[1-9]\d{0,8}" if one.at_k else "", text[len(name) :]):
            return cls(text, int(k) if one.at_k else _OTHER_K, one.sign)
        if os.path.isfile(given):
            keep = "keep models with 'w2vneg compare --keep DIR' and another metric"
            each = f"evaluate each with 'w2vneg eval similarity MODEL --set {given}'"
            raise ConfigError(f"a metric is a name, and {given} is a file; {keep}, and {each}")
        names = [by_name[each].full(each, "K") for each in by_name]
        known = f"{', '.join(names)} with a whole number above 0 for K"
        at_k = one is not None and one.at_k and text == name
        example = f"; write {text}@15." if at_k else did_you_mean(text, (*names, *set_names()), 0)
        raise ConfigError(f"unknown metric {text!r}{example} Known: {known}; for words {', '.join(set_names())}")

    @property
    def for_choices(self):
        """Whether it is an evaluation set for model selection; results are reported on the others."""
        return self.name.endswith("-dev")

    def figures(self, result):
        """Return the figures of a RankingResult to report, with the metric itself: dict of str -> float."""
        found = result.by_name()
        return {one.full(one.chosen_as, self.k): found[one.full(name, self.k)] for name, one in _choosable().items()}

    def better(self, value, than):
        return self.sign * value > self.sign * than


def _choosable():
    """Return the ranking metrics that runs can be chosen by: dict of str -> RankingMetric."""
    return {name: METRICS[name] for name in METRICS if METRICS[name].chosen_as}


def set_names():
    """Return the word sets that a run can be evaluated by, instead of held-out pairs (list of str)."""
    analogies = [name for each in catalog.names("analogy") for name in (each, *(f"{each}-{half}" for half in HALVES))]
    return [*catalog.names("similarity"), *analogies]


class Validation:
    """How a run is evaluated; results are kept in the model, so that many runs can share one `Validation`.

    held : HeldOut, pairs (i, j) with weights, as ids of the model's two vocabularies; not trained on
    metric, patience, every, score : as for `Validate`
    known : HeldOut, optional, pairs left out of each centre's ranking (those trained on); a held-out pair among them
        stays in. None: the training pairs of the model's users.
    files : dict of str -> str, optional, where `held` ("valid") and `known` come from, for resuming
    ConfigError if an option is out of range
    """

    def __init__(self, held, *, metric="mpr", patience=None, every=1.0, score=RAW, known=None, files=None):
        self.metric = check_options(metric, patience, every, score)
        self.patience = None if patience is None else int(patience)
        self.every, self.score = float(every), score
        self.held, self._known, self.files = held, known, files or {}

    @property
    def settings(self):
        """The settings that must match when a run is resumed, and the files (dict of JSON values)."""
        how = {"metric": self.metric.name, "patience": self.patience, "every": self.every}
        pairs = {"held": _fingerprint(self.held), "known": _fingerprint(self._known), "files": self.files}
        return how | pairs | ({} if share_of(self.score) == 0 else {"score": self.score})

    def begin(self, model):
        """Prepare a model for evaluations, or check that its earlier ones had the same settings; ConfigError if not."""
        settings = self.settings
        if share_of(self.score):
            scores_of(model, self.score)  # if this is impossible, fail now, not after an epoch
        if model.best is None:
            model.best = Best(settings)
        elif found := difference(model.best.settings | {"files": settings["files"]}, settings):
            remedy = "resume it with the same --valid and options"
            raise ConfigError(f"the run to resume was evaluated with {found}; {remedy}")

    def due(self, model, epoch, through):
        """Return whether `evaluate` is due after `epoch` epochs (float); through : bool, all epochs are done."""
        best = model.best
        if best.finished:
            return False
        passed = lambda epochs: math.floor((epochs or 0.0) / self.every + _SAME_POINT)  # noqa: E731
        return through or self._out_of_patience(best) or passed(epoch) > passed(best.last_epoch)

    def evaluate(self, model, epoch, through):
        """Evaluate the model unless this state was already; end the run if due. Yields Validated, BestRestored."""
        best = model.best
        if best.last_epoch is None or abs(best.last_epoch - epoch) > _SAME_POINT:
            yield self._evaluated(model, epoch)
        if through or self._out_of_patience(best):
            for name, matrix in model.matrices().items():
                np.copyto(matrix, best.matrices[name])
            best.matrices, best.finished = {}, True
            yield BestRestored(epoch, best.epoch, self.metric.name, best.figures, best.last_figures, not through)

    def _out_of_patience(self, best):
        return self.patience is not None and best.stale >= self.patience

    def _evaluated(self, model, epoch):
        begun, name, best = time.perf_counter(), self.metric.name, model.best
        figures = self.figures(model)
        improved = best.epoch is None or self.metric.better(figures[name], best.figures[name])
        best.last_epoch, best.last_figures = epoch, figures
        best.stale = 0 if improved else best.stale + 1
        if improved:
            best.epoch, best.figures = epoch, figures
            for key, matrix in model.matrices().items():
                kept = best.matrices.setdefault(key, np.empty(matrix.shape, matrix.dtype))
                np.copyto(kept, matrix)
        found = figures[name], best.figures[name], best.epoch, improved, best.stale
        return Validated(epoch, name, figures, *found, time.perf_counter() - begun)

    def of_popularity(self, model):
        """Return the metric of popularity alone (float), from the counts of a model of items.

        None for words, and for likelihoods, which the raw scores of many objectives do not aim at.
        """
        if model.config.traversal.of_words or self.metric.name in ("nll", "likelihood"):
            return None
        return self.figures(model, popularity_scores(model.vocab_out.counts))[self.metric.name]

    def figures(self, model, scores=None, each=None):
        """Evaluate a model's matrices, or other scores: dict of str -> float (see `Metric.figures`).

        each : callable, optional, as for `evaluate_ranking`
        """
        scores = scores or scores_of(model, self.score)
        held = self.held.centres, self.held.targets, self.held.weights
        shape = model.vectors_in.shape[0], model.vectors_out.shape[0]
        known = model.known
        if self._known is not None:
            places = self._known.centres, self._known.targets
            known = scipy.sparse.coo_matrix((np.ones(len(places[0]), np.float32), places), shape)
        how = {"ks": (self.metric.k,), "known": known, "one_kind": are_items_of_one_kind(model), "each": each}
        result = evaluate_ranking(scores, held, shape[1], samples=0, bootstrap=0, **how)
        return {name: float(value) for name, value in self.metric.figures(result).items()}


@dataclass(frozen=True)
class Validate:
    """Settings for evaluating a run while it trains: the argument `valid` of `Word2Vec.fit`.

    Parameters
    ----------
    pairs : path, table in memory or HeldOut, optional
        Held-out pairs, ranked between rounds; `fit` ends with the best state. None if `metric` is a word set.
    metric : str
        Metric of the best state: mpr, ndcg@15, nll or another name of ``--metric`` in docs/ranking.md; without pairs,
        men-dev, google-dev or another evaluation set.
    patience : int, at least 1, optional
        Stop after this many evaluations in a row without a better one; None trains for all epochs.
    every : float, above 0
        Epochs between evaluations.
    score : "raw", "corrected" or float
        Dot products, raw or corrected for popularity; a number is the share of the correction.
    exclude_known : path, table in memory or HeldOut, optional
        Pairs to leave out of the ranking; None leaves out the users' training items.

    ConfigError if metric, patience or every is out of range, or if pairs and metric conflict
    """

    pairs: Pairs | None = None
    metric: str = "mpr"
    patience: int | None = None
    every: float = 1.0
    score: str | float = RAW
    exclude_known: Pairs | None = None

    def __post_init__(self):
        name = check_options(self.metric, self.patience, self.every, self.score).name
        if name not in set_names() and self.pairs is None:
            remedy = "give them: Validate(pairs), or a word set: Validate(metric='men-dev')"
            raise ConfigError(f"{name} is a metric of held-out pairs, and there are none; {remedy}")
        if name in set_names() and (self.pairs is not None or self.exclude_known is not None or share_of(self.score)):
            remedy = f"leave pairs, exclude_known and score out: Validate(metric={name!r})"
            raise ConfigError(f"{name} is a word set, not a metric of held-out pairs; {remedy}")

    def of(self, encoded, lowercase=False, own=None):
        """Return the `Validation` of a run on `encoded` data.

        lowercase : bool, the names of its data were lower-cased; own : dict, optional, its data, see `Input.as_dict`
        InputError if a file cannot be read, or none of its pairs has both items in training; see `SetValidation`, too
        A `FileNote` if held-out pairs are also trained on: any such pair of users and items, else the same file.
        """
        if self.pairs is None:
            return SetValidation(encoded, metric=self.metric, patience=self.patience, every=self.every)
        named = {"valid": self.pairs, "known": self.exclude_known}
        files = {name: os.path.abspath(path) for name, path in named.items() if isinstance(path, str | os.PathLike)}
        read = partial(read_pairs_file, vocab=encoded.vocab, vocab_out=encoded.vocab_out, lowercase=lowercase)
        held, known = (
            given if given is None or isinstance(given, HeldOut) else as_trained(given, own or {}, read, liked)
            for given, liked in zip(named.values(), (True, False), strict=True)
        )
        if not len(held):
            raise InputError(f"none of the {held.n_read:,} held-out pairs has both items in the training data")
        seen = None
        if encoded.vocab_out is not encoded.vocab:
            n = in_both(encoded.matrix, held.centres, held.targets)
            seen = f"the model is trained on {n:,} of these pairs" if n else None
        elif "valid" in files and (file := trained_on(files["valid"], (own or {}).get("files", ()))):
            seen = f"the model is trained on {file}, which has these pairs too"
        if seen:
            where = f"{self.pairs}: " if "valid" in files else ""
            warnings.warn(f"{where}{seen}; the result says nothing about new ones", FileNote, stacklevel=3)
        how = {"metric": self.metric, "patience": self.patience, "every": self.every, "score": self.score}
        return Validation(held, known=known, files=files, **how)


def check_options(metric="mpr", patience=None, every=1.0, score=RAW):
    """Check these options of `Validation` and return the `Metric`; ConfigError if one is out of range."""
    check_whole("patience", 1 if patience is None else patience)
    if isinstance(every, bool) or not isinstance(every, int | float) or not 0 < every < math.inf:
        raise ConfigError(f"eval_every must be a number of epochs above 0, not {every!r}")
    share_of(score)
    return Metric.parse(metric)


def _fingerprint(pairs):
    """Return a checksum of pairs, or of the bytes of a set; None for None."""
    if isinstance(pairs, HeldOut):
        arrays = (pairs.centres, np.int64), (pairs.targets, np.int64), (pairs.weights, np.float64)
        pairs = b"".join(np.asarray(array, kind).tobytes() for array, kind in arrays)
    return None if pairs is None else zlib.crc32(pairs)


class SetValidation(Validation):
    """A `Validation` by a word set.

    encoded : EncodedCorpus, for read-outs that need contexts, and to check now that enough words are known
    metric : str, one of `set_names`; mirror : str, optional, another place to look for named data
    DataError if the set is not found, InputError if too few of its words are known, ConfigError for items
    """

    def __init__(self, encoded, *, metric, patience=None, every=1.0, mirror=None):
        dataset, half = Metric.parse(metric).name, None
        if not encoded.traversal.of_words:
            raise ConfigError(f"{metric} is a word set, but these are items; choose by held-out pairs, --valid")
        self._kind = "similarity" if dataset in catalog.names("similarity") else "analogy"
        if self._kind == "analogy" and dataset not in catalog.names("analogy"):
            dataset, _, half = dataset.rpartition("-")
        self._dataset, self._half, self._encoded, self._mirror = dataset, half, encoded, mirror
        content = read_bytes(catalog.resolve(dataset, mirror=mirror, kind=self._kind))
        super().__init__(content, metric=metric, patience=patience, every=every)
        words = encoded.vocab.words
        anything = np.random.default_rng(0).standard_normal((len(words), 2)).astype(np.float32)
        self._figures_of(Vectors(words, anything))

    def figures(self, model):
        """Evaluate a model's vectors as they are now: dict of str -> float, the metric first."""
        now = dataclasses.replace(model, best=None)  # otherwise `read_out` uses the best state
        look_at_contexts(now, self._encoded)
        return self._figures_of(Vectors(now.vocab.words, read_out(now)[0]))

    def _figures_of(self, vectors):
        name = self.metric.name
        if self._kind == "similarity":
            found = vectors.evaluate_similarity(self._dataset, self._mirror)
            return {name: found.spearman, f"{name} pearson": found.pearson}
        found = vectors.evaluate_analogy(self._dataset, self._mirror, half=self._half)
        shares = {f"{name} p@{k}": share for k, share in found.overall.precision.items()}
        return {name: shares.pop(f"{name} p@1")} | shares
