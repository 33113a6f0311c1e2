"""What a run starts from: nothing, rows of another model (init), a model that grows (update), its own state (resume).

Words are matched by spelling, n-grams by bucket. `freeze` keeps the initial rows of the two matrices fixed; all other
rows are trained against them.
"""

from __future__ import annotations

import dataclasses
import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..config import RunSpec, TrainConfig
from ..config.options import RunOptions, l2_strengths
from ..config.table import table
from ..data.inputs import Input, of_as_many_kinds, settled
from ..data.sources.corpus import AUTO
from ..data.vocab import Vocabulary
from ..data.words import PackedStrings
from ..ground.errors import ConfigError, FileNote, InputError
from ..ground.option import flag_of
from ..objectives.presets import epochs_over, preset_of
from ..vectors import Vectors
from ..vectors.formats import detect, fasttext, warn_of_notes
from .model import Model
from .recommender import Recommender


@dataclass(frozen=True)
class WarmStart:
    """Initial rows by name."""

    name: str  # of their source, in messages
    dim: int
    matrix: Callable[[str], Any]  # name of `Model.matrices` -> float32 (n, dim) or None
    words: PackedStrings  # of centres
    words_out: PackedStrings | None = None  # of targets; None: there are none, or inner nodes in their place
    # for a loss along paths: its name, and its targets, whose counts define the tree; None: targets are unknown
    tree: tuple[str, Vocabulary | None] | None = None
    grams: tuple[int, int, int] | None = None  # minn, maxn and buckets, if there are n-grams
    used: np.ndarray | None = None  # int64, (n_rows,), the bucket of each row of ``grams_in``
    freeze: bool = False  # these rows of the two matrices do not move
    bias: float | None = None  # fixed first number of a model's centres; None: rows are not from a model

    @classmethod
    def of(cls, source, freeze=False, name=None):
        """Read both matrices of a model or a fastText ``.bin``, or vectors; InputError if damaged."""
        if isinstance(source, str | os.PathLike):
            name, kind = str(source), detect(source)
            if kind == "fasttext":
                return cls._of_fasttext(name, fasttext.contents(Path(source)), freeze)
            source = Model.load(source) if kind == "folder" else Vectors.load(source)
        if isinstance(source, Recommender):  # a Word2Vec
            source = source._trained()
        if isinstance(source, Vectors):
            matrix = {"vectors_in": source.matrix}.get
            return cls(name or "the vectors", source.dim, matrix, source.words, freeze=freeze)
        if not isinstance(source, Model):
            remedy = "build Vectors(words, matrix) from words and an array"
            raise ConfigError(f"init takes a folder or file, Vectors or a Model, not {type(source).__name__}; {remedy}")
        used, config, own = source.buckets(), source.config, source.config.inputs
        grams = None if used is None else (own.minn, own.maxn, own.buckets)
        matrices = {which: source.best_matrix(which) for which in source.matrices()}
        of_paths, words, targets = config.loss.plug.paths, source.vocab.words, source.vocab_out
        words_out, tree = (None, (config.loss.name, targets)) if of_paths else (targets.words, None)
        rest = tree, grams, used, freeze, config.bias
        return cls(name or "the model", config.dim, matrices.get, words, words_out, *rest)

    @classmethod
    def _of_fasttext(cls, name, found, freeze):
        warn_of_notes(name, found.notes)
        n = len(found.words)
        rows = {"words_in": found.rows[:n], "grams_in": found.rows[n:], "vectors_out": found.targets}
        matrix = lambda which: fasttext.means(found) if which == "vectors_in" else rows.get(which)  # noqa: E731
        grams = (found.minn, found.maxn, found.n_buckets) if found.n_buckets else None
        words_out, tree = (None, ("hierarchical", None)) if found.targets is None else (found.words, None)
        n_gram_rows = grams, np.arange(found.n_buckets)
        return cls(name, found.rows.shape[1], matrix, found.words, words_out, tree, *n_gram_rows, freeze)

    def check(self, config):
        """Raise ConfigError if a run with these options (RunSpec) cannot start from these rows."""
        if self.dim != config.dim:
            what = f"{self.name} has vectors of {self.dim} numbers, but this run has {config.dim}"
            raise ConfigError(f"{what}; use --dim {self.dim}")
        if self.freeze and self.bias not in (None, config.bias):
            what = f"{self.name} was trained with --bias {self.bias:g}, but this run has {config.bias:g}"
            raise ConfigError(f"{what}; with --freeze use --bias {self.bias:g}")
        if self.freeze and config.loss.plug.dense:
            what = f"loss {config.loss.name!r} moves every row at every step, so none can be frozen"
            raise ConfigError(f"{what}; use --loss sampled-softmax, or leave --freeze out")
        inputs = config.inputs
        if not inputs.plug.derived:
            return
        if self.grams is None:
            what = f"--inputs {inputs.name} builds vectors from n-grams, for which {self.name} has no rows"
            raise ConfigError(f"{what}; leave one of the two out")
        own, found = (inputs.minn, inputs.maxn, inputs.buckets), self.grams
        if own != found:
            raise ConfigError(
                f"{self.name} has n-grams of {found[0]} to {found[1]} characters in {found[2]:,} buckets, but this run "
                f"{own[0]} to {own[1]} in {own[2]:,}; use --minn {found[0]} --maxn {found[1]} --buckets {found[2]}"
            )

    def begin(self, model):
        """Copy the rows of shared names to a fresh model; return their number. ConfigError if none, or all are frozen.

        A `FileNote` if inner nodes of a tree, or targets in their place, start fresh
        """
        found = int((self.words.find_all(model.vocab.words) >= 0).sum())
        n_words, what = len(model.vocab), "words"
        if model.vocab_out is not model.vocab and self.words_out is not None:
            found += int((self.words_out.find_all(model.vocab_out.words) >= 0).sum())
            n_words, what = n_words + len(model.vocab_out), "users and items"
        if not found:
            remedy = "check that spellings agree (--lowercase), or leave --init out"
            raise ConfigError(f"none of the {n_words:,} {what} of this run has a vector in {self.name}; {remedy}")
        inputs = model.config.inputs.plug
        may_freeze = {"vectors_out", *inputs.rows} if self.freeze else ()
        for name, target in model.matrices().items():
            places = self._places(name, model)
            rows = None if name in inputs.derived or places is None else self.matrix(name)
            if rows is None or rows.shape[1:] != target.shape[1:]:
                continue
            known = np.flatnonzero(places >= 0)
            target[known] = rows[places[known]]
            if name in may_freeze:
                model.frozen[name] = places >= 0
        if self.freeze and all(name in model.frozen and model.frozen[name].all() for name in may_freeze):
            what = f"every row of this run comes from {self.name} and is frozen, so nothing would be trained"
            raise ConfigError(f"{what}; leave --freeze out, or give a corpus with new words")
        return found

    def _places(self, name, model):
        """Return the initial row of each row of a model's matrix: int64 (rows,), -1 for none; None if all have none."""
        if name == "grams_in":
            import pandas

            return None if self.grams is None else pandas.Index(self.used).get_indexer(model.buckets())
        if name == "vectors_out" and (self.tree or (self.words_out is not None and model.config.loss.plug.paths)):
            if self.tree == (model.config.loss.name, model.vocab_out):
                return np.arange(len(model.vocab_out))
            self._warn_of_tree(model.config.loss.plug.paths)
            return None
        if name.endswith("_out"):
            return None if self.words_out is None else self.words_out.find_all(model.vocab_out.words)
        return self.words.find_all(model.vocab.words)

    def _warn_of_tree(self, of_paths):
        what, those = "inner nodes" if of_paths else "targets", "rows of words"
        if self.tree is not None:
            those = "inner nodes of a tree" if not of_paths else "of another tree" if self.tree[1] else "fastText's"
        warnings.warn(f"the {what} start fresh: those of {self.name} are {those}", FileNote, stacklevel=4)


MAY_CHANGE = {item.name for item in dataclasses.fields(RunOptions) if item.metadata["group"] not in ("objective", None)}
MAY_CHANGE = MAY_CHANGE - {"dim"} | {"plugin"}
"""Options that may change when a model continues: those of the run, except those that define its rows."""


@dataclass(frozen=True)
class Prior:
    """What a run starts from."""

    way: str = ""  # "init", "update", "resume", or "" for nothing
    place: str = ""  # its folder or file; "" in memory
    model: Model | None = None  # that grows or is resumed
    rows: WarmStart | None = None  # initial rows of a new model
    own_alpha: bool = True  # in an update, alpha was given and is not scaled

    @classmethod
    def init(cls, source: str | os.PathLike | Vectors | Model | Recommender, freeze: bool = False) -> Prior:
        """Start from rows of a model, of vectors or of a fastText ``.bin``; InputError if damaged."""
        place = str(source) if isinstance(source, str | os.PathLike) else ""
        return cls("init", place, None, WarmStart.of(source, freeze))

    @classmethod
    def update(cls, model: Model, place: str = "", freeze: bool = False, own_alpha: bool = True) -> Prior:
        """Continue on newer data: the words of `model` stay, new ones are added, and its objective is kept."""
        return cls("update", place, model, WarmStart.of(model, freeze, place), own_alpha)

    @classmethod
    def resume(cls, model: Model, place: str = "") -> Prior:
        """Resume the run whose state is `model`."""
        return cls("resume", place, model)

    @property
    def resumed(self) -> Model | None:
        """The model whose run is resumed, if any."""
        return self.model if self.way == "resume" else None

    @property
    def freeze(self) -> bool:
        """Whether the initial rows are frozen."""
        return self.rows is not None and self.rows.freeze

    def settled(self, data: Input, encoding: str, mirror: str | None) -> Input:
        """Return the data, to be read like those of the model unless their own options differ."""
        if self.model is not None:
            data = of_as_many_kinds(read_alike(data, self.model, self.place), self.model.config)
        return settled(data, encoding, mirror)

    def reading_out(self, config: TrainConfig) -> TrainConfig:
        """Return the configuration, with a default read-out that leaves frozen vectors unchanged.

        This concerns initial rows of the input matrix alone, as from a file of vectors.
        """
        of_inputs = self.rows is not None and self.rows.freeze and self.rows.words_out is None
        return dataclasses.replace(config, readout="in") if of_inputs and config.readout is None else config

    def penalised(self, config: TrainConfig) -> TrainConfig:
        """Return the configuration; the L2 penalty defaults to that of the model that continues."""
        goes_on = self.model is not None and self.way in ("resume", "update") and config.l2 is None
        penalty = self.model.config.l2 if goes_on else "0"  # type: ignore[union-attr]
        return dataclasses.replace(config, l2=penalty) if any(l2_strengths(penalty)) else config

    def check_data(self, data: Any) -> None:
        """Raise ConfigError if a model is updated with data, or a configuration, of another kind than its own."""
        model = self.model
        if self.way != "update" or model is None:
            return
        if (data.source, bool(data.rectangular)) != (model.config.source.name, model.config.rectangular):
            what = f"the model was trained on {model.config.traversal.data}, so only such data can extend it"
            raise ConfigError(f"{what}; give some, with the same --rectangular")

    def phrases(self, given: tuple) -> tuple | None:
        """Return the model's own phrases; None if there are none, or if files of phrases were `given`."""
        return (self.model.phrases or None) if self.model is not None and given in ((), (AUTO,)) else None

    def of_newer_alone(self, newer: Any) -> bool:
        """Return whether an update trains on the newer data alone, as the model keeps none of its own.

        newer : Encoded, all newer data; for items, no less than the model was trained on counts as its own and new data
        """
        if self.model is None or self.model.known is not None:
            return False
        return self.model.config.traversal.of_words or len(newer) < self.n_before

    def alpha_share(self, newer: Any, config: TrainConfig) -> float:
        """Return the factor for alpha when an update trains on newer data alone: new / (old + new); else 1.

        newer : Encoded, all newer data; config : TrainConfig, which decides the words to keep
        The numbers are of words, of items in baskets, or of pairs. So newer data change earlier results in proportion
        to their size, and new names still learn. Chosen on development data (docs/journal/2026-11-26-text.md). On half
        of MovieLens 1M, 2 % newer pairs lowered NDCG@10 of the other users from .245 to .145 at full alpha, and with
        this factor not at all; 10 % from .239 to .157, and with it to .227.
        """
        if self.own_alpha or self.freeze or self.model is None or not self.of_newer_alone(newer):
            return 1.0
        n_new = len(newer)
        if self.model.config.traversal.of_words:
            vocab = newer.vocab
            known = self.model.vocab.words.find_all(vocab.words) >= 0
            n_new = int(vocab.counts[known | (vocab.counts >= (config.min_count or 1))].sum())
        return n_new / max(1, n_new + self.n_before)

    @property
    def n_before(self) -> int:
        """The number of words or pairs the model was trained on; counts of its vocabulary may be another text's."""
        origin = self.model.origin  # type: ignore[union-attr]
        earlier = origin.begun.get("words_before")
        return origin.n_tokens + (earlier if isinstance(earlier, int) and earlier > 0 else 0)

    def as_dict(self, of_newer_alone: bool = False) -> dict[str, Any]:
        """Return how the run started, for the model folder; a resumed run has that already."""
        if self.resumed is not None:
            return self.resumed.origin.begun
        found: dict[str, Any] = {self.way: os.path.abspath(self.place)} if self.place else {}
        if self.way == "update" and self.model is not None:
            found |= {} if self.place else {"update": ""}  # in memory
            found |= {"words_before": self.n_before} if of_newer_alone else {}
        return found | ({"freeze": True} if self.freeze else {})


def input_of_model(model: Model, place: str) -> Input:
    """Return the `Input` that a model was trained on; InputError if its record is invalid. place : str, its folder"""
    try:
        return Input.from_dict(model.origin.input)
    except ConfigError as error:
        file = os.path.join(place, "corpus.json")
        raise InputError(f"{file}: {error}; name the data again, as with --corpus") from error


def read_alike(data: Input, model: Model, place: str) -> Input:
    """Return data, to be read like those of a model in the folder `place` unless their own options differ;
    InputError as for `input_of_model`.
    """
    return data.like(input_of_model(model, place)) if model.origin.input else data


def config_to_grow(model: Model, folder: str | os.PathLike, changes: dict[str, Any]) -> TrainConfig:
    """Return the configuration with which a model, read from `folder`, continues on newer data, after `changes`.

    ConfigError if one of them would change the objective or the size, or as for `Model.config_to_run`
    """
    config = model.config_to_run(folder, changes.get("plugin"), ray_address=changes.get("ray_address"))
    former = model.origin.begun.get("alpha_share")  # of an update before this one
    former = former if isinstance(former, float) and 0 < former <= 1 else 1.0
    alphas = {name: getattr(config, name) / former for name in ("alpha", "min_alpha")}
    config = dataclasses.replace(config, exchange_every=None, **alphas)  # chosen by other data
    known = table()
    for name, value in changes.items():
        if name in known and name not in MAY_CHANGE:
            remedy = f"leave {flag_of(known[name], value)} out, or start a new run from its rows: --init {folder}"
            raise ConfigError(f"{folder} keeps its own objective and size; {remedy}")
    if "alpha" in changes:  # its floor follows, unless that is given too
        changes = {"min_alpha": None} | changes
    return dataclasses.replace(config, **{name: value for name, value in changes.items() if name != "plugin"})


def left_open(config: TrainConfig) -> TrainConfig:
    """Return a run's configuration with the options that its objective filled in left open, for another objective.

    A folder does not record which options were given, so an option counts as given if it differs from what would be
    filled in. A configuration that is not of a run is returned unchanged.
    """
    if config.preset is None:
        return config
    by_objective = table().keys() - MAY_CHANGE | {"alpha", "min_alpha", "epochs", "bounded_steps", "readout"}
    optional = {name for name in by_objective if table()[name].default is None}
    values, same = config.as_dict(), {"plugin", "source", "rectangular", "inputs"}
    least = {"loss": config.preset} | {name: values[name] for name in same}
    for names in ({"sampler", "weigher", "alpha"}, optional):  # first those that others depend on
        filled = TrainConfig(**least).resolved().as_dict()
        least |= {name: values[name] for name in names if values[name] != filled[name]}
    opened: dict[str, Any] = {name: least.get(name) for name in optional}
    return dataclasses.replace(config, **opened)


def check_goes_on(model: Model, config: RunSpec) -> None:
    """Raise ConfigError if options of a run, other than `MAY_CHANGE`, differ from those of the `model` that grows."""
    mine, others = (spec.as_dict() | {"loss": spec.preset or spec.loss.name} for spec in (model.config, config))
    of_data = {"preset", "source", "rectangular"}  # checked once the data are known
    other = [name for name in table() if name not in MAY_CHANGE | of_data and mine[name] != others[name]]
    if other:
        name = other[0]
        what = f"the model keeps its own objective and size: {name} is {mine[name]!r}, not {others[name]!r}"
        remedy = f"set_params({name}={mine[name]!r}), or start a new run from its rows: fit(…, init=word2vec.model)"
        raise ConfigError(f"{what}; {remedy}")


def gentler(model: Model, given: dict[str, Any]) -> dict[str, Any]:
    """Return alpha and epochs for a model of users and items that continues on the pairs it keeps and newer ones.

    A fifth of its objective's alpha and a twentieth of the epochs for its number of pairs, or its own values if these
    are lower; chosen on the validation part of MovieLens 1M. Options that were `given`, a dict of option -> value, are
    left out; {} for other models.
    """
    if model.known is None:
        return {}
    config = model.config
    assert config.epochs is not None
    alpha = preset_of(config.preset or config.loss.name, config.traversal.of_words).values["alpha"] / 5
    epochs = max(1, round(epochs_over(model.known.nnz) / 20))
    chosen = {"alpha": min(config.alpha, alpha), "epochs": min(config.epochs, epochs)}
    return {name: value for name, value in chosen.items() if given.get(name) is None}
