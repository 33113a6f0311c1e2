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
from .synonyms import hint_for
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
        """Return what `write` wrote; options of a plug that is not loaded are kept as they are.

        Raises
        ------
        InputError
            If there is no such file, or it is damaged or of another format.
        """
        values = read_json(path, "missing; the folder is not a complete model")
        try:
            values = dict(_named(values))
            if values.pop("format", None) != FORMAT:
                raise ConfigError("the folder is of another version of w2vneg; train again, with --save-model")
            if values.keys() != {*KINDS, "run"}:
                raise ConfigError(f"expected {', '.join(KINDS)} and run, found {', '.join(values) or 'nothing'}")
            plugs = {kind: _plug_of(kind, values[kind]) for kind in KINDS}
            return cls(**plugs, **_checked({item.name: item for item in _own()}, _named(values["run"])))
        except ConfigError as error:
            raise InputError(f"{path}: {error}") from error


def _own():
    """Return the fields of a run that are no plug's."""
    return [item for item in fields(RunSpec) if item.name not in KINDS]


def _plug_of(kind, values):
    """Return the options of one plug of a model folder, or None."""
    if values is None and kind in ("sampler", "weigher"):
        return None
    values = dict(_named(values))
    name = values.pop("name", None)
    if not isinstance(name, str):
        raise ConfigError(f"expected the name of {kind} as text, found {name!r}")
    plug = KINDS[kind].get(name)
    if plug is None:
        return UnloadedOptions(name, KINDS[kind].base, values)
    known = options_of(plug)
    given = _checked({name: item for name, item in known.items() if values.get(name) is not None}, values, known)
    return plug.Options(**dict.fromkeys(known) | given)


def _named(values):
    if not isinstance(values, dict):
        raise ConfigError(f"expected options by name, found {str(values)[:40]!r}")
    return values


def _checked(items, values, known=None):
    """Return the values of some fields, checked; ConfigError if there are others."""
    known = items if known is None else known
    for name in values:
        if name not in known:
            raise ConfigError(f"unknown option {name!r}{hint_for(name, list(known))}")
    return {name: checked(item, values.get(name, item.default)) for name, item in items.items()}


def as_json(values: dict[str, Any]) -> dict[str, Any]:
    """Return values that JSON can hold: weights as a list, an infinite number as "inf"."""
    plain = {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
    return {name: "inf" if isinstance(value, float) and math.isinf(value) else value for name, value in plain.items()}
