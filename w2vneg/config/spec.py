"""A run with nothing left open: each plug with its own options, as a model folder keeps them."""

from __future__ import annotations

import dataclasses
import json
import math
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..ground.errors import ConfigError, InputError
from ..ground.files.bounded import read_json
from ..ground.option import UnloadedOptions, checked, options_of
from ..ground.registry import RunContext
from .objective import ObjectiveOptions
from .ranks import RanksOptions
from .run import RunOptions
from .synonyms import refuse_unknown
from .table import KINDS, table

FORMAT = 2
"""Of config.json: it is raised when an older folder could not be read any more."""


@dataclass(frozen=True, kw_only=True)
class RunSpec(RanksOptions, RunOptions, ObjectiveOptions):
    """The options of a run as attributes; those of a plug are its own: ``spec.sampler.temp``, ``spec.source.window``.

    Attributes
    ----------
    source, inputs, sampler, weigher, loss : `Options` of the plugs
        Each has a `name` and a `plug`, its class. `sampler` and `weigher` are None where the loss draws no negatives.
    """

    source: Any
    inputs: Any
    sampler: Any
    weigher: Any
    loss: Any

    if TYPE_CHECKING:  # these are never left open
        alpha: float
        min_alpha: float
        readout: str
        l2: str
        workers: int
        min_count: int

    @property
    def traversal(self) -> Any:
        """How training goes through what is read: a class of `data.sources.TRAVERSALS`."""
        return self.source.plug

    def resolved(self, cores: int = 1) -> RunSpec:
        """Return itself: nothing is left open."""
        return self

    def make(self, kind: str, context: RunContext) -> Any:
        """Return the plug of a kind, "sampler" or another, made for this run."""
        options = getattr(self, kind)
        return options.plug.from_options(options, dataclasses.replace(context, run=self))

    def flat(self) -> dict[str, Any]:
        """Return all options that are not None by their flat names."""
        values = {item.name: getattr(self, item.name) for item in _own()}
        for kind in KINDS:
            chosen = getattr(self, kind)
            values |= {kind: None} if chosen is None else {kind: chosen.name, **chosen.values()}
        return {name: value for name, value in values.items() if value is not None}

    def as_dict(self) -> dict[str, Any]:
        """Return all options by their flat names as values that JSON can hold; None for those that nobody reads."""
        return dict.fromkeys(table()) | as_json(self.flat())

    def write(self, path: Path) -> None:
        """Write the config.json of a model folder: a dict for each plug, null without one, and for the run itself."""
        found: dict[str, Any] = {"format": FORMAT}
        for kind in KINDS:
            chosen = getattr(self, kind)
            found[kind] = None if chosen is None else {"name": chosen.name, **as_json(chosen.values())}
        found["run"] = as_json({item.name: getattr(self, item.name) for item in _own()})
        path.write_text(json.dumps(found, indent=2, allow_nan=False) + "\n", encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> RunSpec:
        """Return what `write` wrote; InputError if it is damaged or of another format.

        Options of a plug that is not loaded are kept as they are.
        """
        values = read_json(path, "missing; the folder is not a complete model")
        try:
            if not isinstance(values, dict) or values.get("format") != FORMAT:
                raise ConfigError("the folder is of another version of w2vneg; train again, with --save-model")
            plugs = {kind: _plug_of(kind, values.get(kind)) for kind in KINDS}
            return cls(**plugs, **_checked(values.get("run"), {item.name: item for item in _own()}))
        except ConfigError as error:
            raise InputError(f"{path}: {error}") from error


def _own():
    """Return the fields of a run that are no plug's."""
    return [item for item in fields(RunSpec) if item.name not in KINDS]


def _plug_of(kind, values):
    """Return the options of one plug of a model folder, or None."""
    if values is None and kind in ("sampler", "weigher"):
        return None
    if not isinstance(values, dict) or not isinstance(values.get("name"), str):
        raise ConfigError(f"expected the name of {kind} and its options, found {str(values)[:40]!r}")
    kept = {name: value for name, value in values.items() if name != "name"}
    plug = KINDS[kind].get(values["name"])
    if plug is None:
        return UnloadedOptions(values["name"], KINDS[kind].base, kept)
    return plug.Options(**dict.fromkeys(options_of(plug)) | _checked(kept, options_of(plug)))


def _checked(values, known):
    """Return the values that are not None, checked; known : dict of name -> field, there are no others."""
    refuse_unknown(values, known)
    return {name: checked(known[name], value) for name, value in values.items() if value is not None}


def as_json(values: dict[str, Any]) -> dict[str, Any]:
    """Return values that JSON can hold: weights as a list, an infinite number as "inf"."""
    plain = {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
    return {name: "inf" if value == math.inf else value for name, value in plain.items()}


def to_toml(values: dict[str, Any]) -> str:
    """Return names and values, at the top level, as TOML text; what is None is left out.

    values : dict of str -> bool, int, float, str, or a list of one of them
    """
    return "".join(f"{k} = {json.dumps(v, ensure_ascii=False)}\n" for k, v in values.items() if v is not None)
