"""The requested options of a run, by flat name (`TrainConfig`), and the resolved run, in which each plug has its own
options (`RunSpec`), as a model folder stores them.
"""

from __future__ import annotations

import dataclasses
import json
import math
import os
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..data.sources import TRAVERSALS, Traversal, traversal_of
from ..ground.errors import ConfigError, InputError, did_you_mean
from ..ground.files.bounded import read_json
from ..ground.option import UnloadedOptions, checked, options_of
from ..ground.registry import RunContext
from ..objectives.plugins import absolute_plugins, are_loaded, find_objective, load_plugins
from ..objectives.presets import EPOCHS, PRESETS, preset_of
from ..objectives.readout import DEFAULT, parse
from .compatibility import check_plugs, check_spec, no_window, refuse_unread, settle_ranks, without_negatives
from .options import L2_POWER, Choices, RunOptions, l2_strengths, workers_of
from .synonyms import refuse_unknown
from .table import KINDS, table

FORMAT = 3
"""Format of config.json, raised when older folders can no longer be read."""


@dataclass(frozen=True, kw_only=True)
class RunSpec(RunOptions):
    """The options of a run as attributes; each plug holds its own: ``spec.sampler.temp``, ``spec.source.window``.

    Each plug's `Options` have its `name` and `plug`, the class. Without negatives, sampler and weigher are None.
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
        """How training traverses the data: a class of `data.sources.TRAVERSALS`."""
        return self.source.plug

    def resolved(self, cores: int = 1) -> RunSpec:
        """Return this spec, in which nothing is left open."""
        return self

    def make(self, kind: str, context: RunContext) -> Any:
        """Return the plug of a kind, such as "sampler", made for this run."""
        options = getattr(self, kind)
        return options.plug.from_options(options, dataclasses.replace(context, run=self))

    def flat(self) -> dict[str, Any]:
        """Return all options that are not None by their flat names."""
        values: dict[str, Any] = {}
        for kind, part in self._parts().items():
            values |= {kind if name == "name" else name: value for name, value in (part or {}).items()}
        return {name: value for name, value in values.items() if value is not None}

    def as_dict(self) -> dict[str, Any]:
        """Return all options by their flat names as values that JSON can hold; None for those without a reader."""
        return dict.fromkeys(table()) | as_json(self.flat())

    def stored(self) -> dict[str, Any]:
        """Return what config.json of a model folder holds: a dict for each plug and for the run."""
        return {"format": FORMAT} | {name: values and as_json(values) for name, values in self._parts().items()}

    def _parts(self):
        chosen = {kind: getattr(self, kind) for kind in KINDS}
        plugs = {kind: one and {"name": one.name, **one.values()} for kind, one in chosen.items()}
        return plugs | {"run": {item.name: getattr(self, item.name) for item in fields(RunOptions)}}

    def __reduce__(self):
        return _of_parts, (self._parts(), self.plugin)  # another process may have to load plug-ins first

    @classmethod
    def read(cls, path: Path) -> RunSpec:
        """Read a file that holds what `stored` returns; InputError if it is damaged or of another format."""
        values = read_json(path, "missing; the folder is not a complete model")
        try:
            if not isinstance(values, dict) or values.get("format") != FORMAT:
                raise ConfigError("the folder is of another version of w2vneg; train again with --save-model")
            return _of_parts(values)
        except ConfigError as error:
            raise InputError(f"{path}: {error}") from error


def _of_parts(parts, plugin=None):
    if not are_loaded(plugin):
        load_plugins(plugin)
    plugs = {kind: _plug_of(kind, parts.get(kind)) for kind in KINDS}
    return RunSpec(**plugs, **_checked(parts.get("run"), {item.name: item for item in fields(RunOptions)}))


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
    """Check values and return those that are not None; known : dict of name -> field, of all allowed names."""
    refuse_unknown(values, known)
    return {name: checked(known[name], value) for name, value in values.items() if value is not None}


def as_json(values: dict[str, Any]) -> dict[str, Any]:
    """Return values that JSON can hold: a tuple as a list, an infinite number as "inf"."""
    plain = {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
    return {name: "inf" if value == math.inf else value for name, value in plain.items()}


def to_toml(values: dict[str, Any]) -> str:
    """Return names and values, JSON scalars or lists of them, as top-level TOML text; None is left out."""
    return "".join(f"{k} = {json.dumps(v, ensure_ascii=False)}\n" for k, v in values.items() if v is not None)


@dataclass(frozen=True, init=False, repr=False)
class TrainConfig(RunOptions, Choices):
    """The requested options of a training run: those of every run as attributes, those of plugs by `get`.

    An option left at None is filled in by `resolved`. ConfigError if a value is out of range or an option is unknown
    """

    plugs: dict[str, Any] = field(hash=False)  # the options given for plugs

    def __init__(self, **values: Any) -> None:
        values = values.pop("plugs", {}) | values  # `dataclasses.replace` passes the earlier ones
        refuse_unknown(values, table())
        values, plugs = {name.replace("-", "_"): value for name, value in values.items()}, {}
        for name, item in table().items():
            value = checked(item, values.get(name, item.default))
            if not item.metadata["readers"]:
                object.__setattr__(self, name, value)
            elif value is not None:
                plugs[name] = value
        object.__setattr__(self, "plugs", plugs)
        if self.source not in TRAVERSALS and self.plugin is None:
            raise ConfigError(f"unknown source {self.source!r}{did_you_mean(self.source, TRAVERSALS)}")

    def get(self, name: str) -> Any:
        """Return an option by its name, of the run or of a plug; None if it was left open."""
        return self.plugs.get(name, getattr(self, name, None))

    def __repr__(self):
        given = {name: self.get(name) for name, item in table().items() if self.get(name) != item.default}
        return f"TrainConfig({', '.join(f'{name}={value!r}' for name, value in given.items())})"

    @classmethod
    def from_mapping(cls, mapping: dict[str, Any], where: str | os.PathLike | None = None) -> TrainConfig:
        """Build from names and values; errors name the file `where`."""
        try:
            refuse_unknown(mapping, table())
            if "preset" in mapping:
                raise ConfigError(f"preset is not an option; write loss = {mapping['preset']!r}")
            plugin = absolute_plugins(mapping.get("plugin"))  # a file of it means the same in another folder
            return cls(**mapping | ({} if plugin == mapping.get("plugin") else {"plugin": plugin}))
        except ConfigError as error:
            raise ConfigError(f"{where}: {error}" if where else str(error)) from error

    def as_dict(self) -> dict[str, Any]:
        """Return all options as values that JSON can hold: a tuple as a list, an infinite number as "inf"."""
        return as_json({name: self.get(name) for name in table()})

    @property
    def traversal(self) -> type[Traversal]:
        """How training traverses the data: a class of `data.sources.TRAVERSALS`."""
        return traversal_of(self.source)

    def resolved(self, cores: int = 1) -> RunSpec:
        """Return the run with all options set but those that a plug or the data decide (`margin`, `private_rows`, …).

        The loss becomes that of the preset, whose name `preset` keeps. ConfigError for an option that no chosen plug
        reads or options that do not go together; UnknownNameError for a plug that is not registered.
        """
        chosen, preset = self._with_preset(cores)
        chosen = dataclasses.replace(chosen, **without_negatives(KINDS["loss"][chosen.loss]))
        named = {kind: KINDS[kind][name] for kind in KINDS if (name := getattr(chosen, kind)) is not None}
        given = chosen.plugs
        plugs: dict[str, Any] = dict.fromkeys(KINDS)
        for kind, plug in named.items():
            plugs[kind] = plug.Options(**{name: given[name] for name in options_of(plug) if name in given})
        refuse_unread(plugs, self)
        for kind in ("loss", "weigher", "sampler", "inputs"):
            if plugs[kind] is not None:
                plugs[kind] = plugs[kind].plug.normalise_options(plugs[kind], self)
        spec = RunSpec(**{item.name: getattr(chosen, item.name) for item in fields(RunOptions)}, **plugs)
        shared = spec.share_negatives == "window" and self.share_negatives is None  # only if it can be
        if shared and no_window(spec, spec.weigher.plug, spec.sampler.plug):
            spec = dataclasses.replace(spec, share_negatives="no")
        check_spec(spec, self)
        values = settle_ranks(spec, self)
        if spec.min_alpha is None:
            values["min_alpha"] = spec.alpha / 10000
        if spec.l2_power is None and any(l2_strengths(spec.l2)):
            values["l2_power"] = L2_POWER
        if not l2_strengths(spec.l2)[0] or spec.dim == 1:
            values["bias"] = 0.0
        if spec.epochs is None and not (preset.by_pairs and hasattr(spec.source, "pairs_per_epoch")):
            values["epochs"] = EPOCHS  # else the data decide
        if spec.min_count is None:
            values["min_count"] = spec.traversal.min_count
        of_paths = spec.loss.plug.paths
        if spec.readout is None:  # without signs, related rows may point in opposite directions
            values["readout"] = DEFAULT if spec.absolute_softmax or of_paths else spec.traversal.readout
        spec = dataclasses.replace(spec, **values)
        if spec.min_alpha > spec.alpha:
            raise ConfigError(f"min_alpha ({spec.min_alpha:g}) is above alpha ({spec.alpha:g}); lower it")
        parse(spec.readout).check(spec.traversal, spec.rectangular, of_paths)
        if spec.sampler is not None:
            check_plugs(spec, spec.loss.plug, spec.weigher.plug, spec.sampler.plug)
        return spec

    def _with_preset(self, cores):
        """Return the configuration filled in by its preset, and the `Preset`; UnknownNameError for unknown plugs."""
        if self.loss is not None:
            find_objective(self.loss)
        for kind in ("sampler", "weigher", "inputs"):
            if getattr(self, kind) is not None:
                KINDS[kind][getattr(self, kind)]
        known = PRESETS.get(self.preset or "")
        if known is not None and self.loss in (None, known.loss):
            name = self.preset  # a resolved configuration keeps it
        else:
            name = self.loss or (self.traversal.bipartite_loss if self.rectangular else None) or self.traversal.loss
        preset = preset_of(name, self.traversal.of_words)
        values = {key: value for key, value in preset.values.items() if self.get(key) is None}
        values |= {"loss": preset.loss, "preset": name, "workers": self.workers or workers_of(self, cores)}
        if self.alpha is None:
            values["alpha"] *= KINDS["inputs"][self.inputs].alpha_scale * self.traversal.alpha_scale
        return dataclasses.replace(self, **values), preset
