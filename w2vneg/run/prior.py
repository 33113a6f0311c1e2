"""What a run begins with: nothing, rows of another model (init), a model that grows (update), its past (resume)."""

from __future__ import annotations

import dataclasses
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..config.ranks import RanksOptions
from ..config.run import RunOptions
from ..config.table import table
from ..data.inputs import Input, of_as_many_kinds, settled
from ..ground.errors import ConfigError, InputError
from ..ground.option import flag_of
from ..objectives.presets import epochs_over, preset_of
from .model import Model
from .warm_start import WarmStart

if TYPE_CHECKING:
    from ..config import TrainConfig
    from ..vectors import Vectors

_FIXED = {"dim", "source", "rectangular"}
_OF_RANKS = {item.name for item in dataclasses.fields(RanksOptions)}
MAY_CHANGE = frozenset(item.name for item in dataclasses.fields(RunOptions)) - _FIXED | {"plugin"} | _OF_RANKS
"""Options that a model may go on with newly set: those of the run, but for what its rows are."""


@dataclass(frozen=True)
class Prior:
    """What a run begins with.

    Attributes
    ----------
    way : str, "init", "update", "resume", or "" for nothing
    place : str, the folder or file of it; "" in memory
    model : Model or None, the one that grows or is resumed
    rows : WarmStart or None, what a new model's rows begin with
    own_alpha : bool, of an update, alpha was given and stays what it is
    """

    way: str = ""
    place: str = ""
    model: Model | None = None
    rows: WarmStart | None = None
    own_alpha: bool = True

    @classmethod
    def init(cls, source: str | os.PathLike | Vectors | Model, freeze: bool = False) -> Prior:
        """Begin with rows of a model folder, of vectors, or a ``.bin`` of fastText's; InputError if damaged."""
        return cls("init", _place(source), None, WarmStart.of(source, freeze))

    @classmethod
    def update(cls, model: Model, place: str = "", freeze: bool = False, own_alpha: bool = True) -> Prior:
        """Go on with newer data: the words of `model` stay, others join them, and its objective remains."""
        rows = WarmStart.of(model, freeze)
        return cls("update", place, model, dataclasses.replace(rows, name=place) if place else rows, own_alpha)

    @classmethod
    def resume(cls, model: Model, place: str = "") -> Prior:
        """Go on with the very run that `model` is the state of."""
        return cls("resume", place, model)

    @property
    def resumed(self) -> Model | None:
        """The model whose run goes on."""
        return self.model if self.way == "resume" else None

    @property
    def freeze(self) -> bool:
        """Whether rows that begin here do not move."""
        return self.rows is not None and self.rows.freeze

    def settled(self, data: Input, encoding: str, mirror: str | None) -> Input:
        """Return data as they are to be read: as those of the model, unless their options say otherwise."""
        if self.model is not None:
            if self.model.origin.input:
                data = data.like(input_of_model(self.model, self.place))
            data = of_as_many_kinds(data, self.model.config)
        return settled(data, encoding, mirror)

    def check_data(self, data: Any) -> None:
        """Raise ConfigError unless a model that grows and newer data, or their configuration, are of one kind."""
        if self.way == "update" and self.model is not None:
            check_growing(self.model, data)

    def phrases(self, given: tuple) -> tuple | None:
        """Return the model's own phrases, None without any or where others were `given`: files, or ``auto``."""
        from ..data.sources.corpus import AUTO

        return (self.model.phrases or None) if self.model is not None and given in ((), (AUTO,)) else None

    def alpha_share(self, n_new: int) -> float:
        """Return what alpha is multiplied by where a text goes on with `n_new` words: √(new / (old + new)), else 1.

        So newer text moves what was learnt as far as it weighs, and new words still learn. Chosen on development data
        (docs/text.md).
        """
        if self.own_alpha or self.freeze or self.model is None or not self.model.config.traversal.of_words:
            return 1.0
        return (n_new / max(1, n_new + int(self.model.vocab.counts.sum()))) ** 0.5

    def as_dict(self) -> dict[str, Any]:
        """Return what a model folder keeps of how its run began; a resumed run has it already."""
        if self.resumed is not None:
            return self.resumed.origin.begun
        found = {self.way: os.path.abspath(self.place)} if self.place else {}
        return found | ({"freeze": True} if self.freeze else {})


def _place(source):
    return str(source) if isinstance(source, str | os.PathLike) else ""


def input_of_model(model: Model, place: str) -> Input:
    """Return the `Input` that a model says it was trained on; InputError if that is none. place : str, its folder"""
    try:
        found = Input.from_dict(model.origin.input)
        before = "tokenizer" in found.values() and "tokenizer" not in found.options  # from when there was one way only
        return found.replace(tokenizer="whitespace") if before else found
    except ConfigError as error:
        file = os.path.join(place, "corpus.json")
        raise InputError(f"{file}: {error}; name the data again, as with --corpus") from error


def config_to_grow(model: Model, folder: str | os.PathLike, changes: dict[str, Any]) -> TrainConfig:
    """Return the configuration (TrainConfig) with which a model goes on with newer data.

    model : Model; folder : str, where it was read; changes : dict of option -> value, those that are given anew

    Raises
    ------
    ConfigError
        If one of them would make the objective or the size another, or as `Model.config_to_run`.
    """
    config = model.config_to_run(folder, changes.get("plugin"), ray_address=changes.get("ray_address"))
    former = model.origin.begun.get("alpha_share")  # of an update before this one
    former = former if isinstance(former, float) and 0 < former <= 1 else 1.0
    alphas = {name: getattr(config, name) / former for name in ("alpha", "min_alpha")}
    config = dataclasses.replace(config, exchange_every=None, **alphas)  # chosen by other data
    known = table()
    for name, value in changes.items():
        if name in known and name not in MAY_CHANGE:
            raise ConfigError(
                f"{folder} goes on with its own objective and size; leave {flag_of(known[name], value)} out, or begin "
                f"a run of your own with its rows: --init {folder}"
            )
    if "alpha" in changes:  # its floor follows, unless that is given too
        changes = {"min_alpha": None} | changes
    return dataclasses.replace(config, **{name: value for name, value in changes.items() if name != "plugin"})


def gentler(model: Model, given: dict[str, Any]) -> dict[str, Any]:
    """Return alpha and epochs for a model of users and items that goes on with all pairs it keeps and newer ones.

    A fifth of the alpha that its objective has, a twentieth of the epochs for so many pairs, or its own if these are
    less; chosen on the validation part of MovieLens 1M. {} for other models, and without what is `given`, a dict of
    option -> value.
    """
    if model.known is None:
        return {}
    config = model.config
    assert config.epochs is not None
    alpha = preset_of(config.preset or config.loss.name, config.traversal.of_words).values["alpha"] / 5
    epochs = max(1, round(epochs_over(model.known.nnz) / 20))
    chosen = {"alpha": min(config.alpha, alpha), "epochs": min(config.epochs, epochs)}
    return {name: value for name, value in chosen.items() if given.get(name) is None}


def check_growing(model: Model, data: Any) -> None:
    """Raise ConfigError unless a model and newer data are of one kind; data : Input or TrainConfig, of the newer."""
    if (data.source, bool(data.rectangular)) != (model.config.source.name, model.config.rectangular):
        raise ConfigError(
            f"the model was trained on {model.config.traversal.data}, so its vocabulary grows by such data only; give "
            "some, with the same --rectangular"
        )
