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
from ..objectives.plugins import load_plugins
from .objective import ObjectiveOptions
from .ranks import RanksOptions
from .run import RunOptions
from .synonyms import refuse_unknown
from .table import KINDS, table

if TYPE_CHECKING:
    from collections.abc import Callable

FORMAT = 2
"""Of config.json: it is raised when an older folder could not be read any more."""


@dataclass(frozen=True, kw_only=True)
class RunSpec(RanksOptions, RunOptions, ObjectiveOptions):
    """The options of a run as attributes; those of a plug are its own: ``spec.sampler.temp``, ``spec.source.window``.

    Each plug's `Options` have its `name` and `plug`, the class. Without negatives there is no sampler and no weigher.
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
        values: dict[str, Any] = {}
        for kind, part in self._parts().items():
            values |= {kind if name == "name" else name: value for name, value in (part or {}).items()}
        return {name: value for name, value in values.items() if value is not None}

    def as_dict(self) -> dict[str, Any]:
        """Return all options by their flat names as values that JSON can hold; None for those that nobody reads."""
        return dict.fromkeys(table()) | as_json(self.flat())

    def write(self, path: Path, told: Callable[[Any], Any] = lambda values: values) -> None:
        """Write the config.json of a model folder: a dict for each plug, null without one, and for the run itself.

        told : function of what is to be written, which returns what is written
        """
        found = {"format": FORMAT} | {name: values and as_json(values) for name, values in self._parts().items()}
        path.write_text(json.dumps(told(found), indent=2, allow_nan=False) + "\n", encoding="utf-8")

    def _parts(self):
        chosen = {kind: getattr(self, kind) for kind in KINDS}
        plugs = {kind: one and {"name": one.name, **one.values()} for kind, one in chosen.items()}
        return plugs | {"run": {item.name: getattr(self, item.name) for item in _own()}}

    def __reduce__(self):
        return _unpickled, (self.plugin, self._parts())  # another process may have to load plug-ins first

    @classmethod
    def read(cls, path: Path) -> RunSpec:
        """Return what `write` wrote; InputError if it is damaged or of another format."""
        values = read_json(path, "missing; the folder is not a complete model")
        try:
            if not isinstance(values, dict) or values.get("format") != FORMAT:
                raise ConfigError("the folder is of another version of w2vneg; train again, with --save-model")
            return _of_parts(values)
        except ConfigError as error:
            raise InputError(f"{path}: {error}") from error


def _own():
    """Return the fields of a run that are no plug's."""
    return [item for item in fields(RunSpec) if item.name not in KINDS]


def _of_parts(parts):
    plugs = {kind: _plug_of(kind, parts.get(kind)) for kind in KINDS}
    return RunSpec(**plugs, **_checked(parts.get("run"), {item.name: item for item in _own()}))


def _unpickled(plugin, parts):
    load_plugins(plugin)
    return _of_parts(parts)


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
