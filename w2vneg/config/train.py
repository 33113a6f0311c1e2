"""What a run is asked for, by flat names, and what becomes of it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..data.sources import TRAVERSALS, Traversal, traversal_of
from ..ground.errors import ConfigError, did_you_mean
from ..ground.option import checked, options_of
from ..objectives.plugins import find_objective
from ..objectives.presets import EPOCHS, PRESETS, preset_of
from ..objectives.readout import DEFAULT, parse
from .compatibility import check_plugs, check_spec, no_window, refuse_unread, without_negatives
from .objective import L2_POWER, Choices, ObjectiveOptions, l2_strengths
from .ranks import RanksOptions, settle_ranks, workers_of
from .run import RunOptions
from .spec import RunSpec, as_json
from .synonyms import refuse_unknown
from .table import KINDS, table

if TYPE_CHECKING:
    import os


@dataclass(frozen=True, init=False, repr=False)
class TrainConfig(RanksOptions, RunOptions, ObjectiveOptions, Choices):
    """The options that a training run is asked for: those of every run as attributes, those of plugs by `get`.

    An option left at None is filled in by `resolved`. `dataclasses.replace` changes some.

    Raises
    ------
    ConfigError
        If a value is out of range, or there is no such option.
    """

    plugs: dict[str, Any] = field(hash=False)  # the options of plugs that were given

    def __init__(self, **values: Any) -> None:
        values = values.pop("plugs", {}) | values  # `dataclasses.replace` gives what was given before
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
        """Build from names and values; `where` (a file) is named in what is said about a wrong one."""
        try:
            refuse_unknown(mapping, table())
            if "preset" in mapping:
                raise ConfigError(f"preset is no option of its own; write loss = {mapping['preset']!r}")
            return cls(**mapping)
        except ConfigError as error:
            raise ConfigError(f"{where}: {error}" if where else str(error)) from error

    def as_dict(self) -> dict[str, Any]:
        """Return all options as values that JSON can hold: weights as a list, an infinite number as "inf"."""
        return as_json({name: self.get(name) for name in table()})

    @property
    def traversal(self) -> type[Traversal]:
        """How training goes through what is read: a class of `data.sources.TRAVERSALS`."""
        return traversal_of(self.source)

    def resolved(self, cores: int = 1) -> RunSpec:
        """Return the run with nothing left open but what a plug decides (`margin`, …) and `private_rows`.

        The loss becomes that of the preset, whose name `preset` keeps. ConfigError for an option that no chosen plug
        reads, a plug that is not registered, or options that do not go together.
        """
        chosen, preset = self._with_preset(cores)
        chosen = dataclasses.replace(chosen, **without_negatives(KINDS["loss"][chosen.loss]))
        plugs = {kind: _options_of(chosen, kind) for kind in KINDS}
        refuse_unread(plugs, self)
        for kind in ("loss", "weigher", "sampler", "inputs"):
            if plugs[kind] is not None:
                plugs[kind] = plugs[kind].plug.normalise_options(plugs[kind], self)
        own = {item.name: getattr(chosen, item.name) for item in dataclasses.fields(RunSpec) if item.name not in KINDS}
        spec = RunSpec(**own, **plugs)
        shared = spec.share_negatives == "window" and self.share_negatives is None  # where it can be
        if shared and no_window(spec, spec.weigher.plug, spec.sampler.plug):
            spec = dataclasses.replace(spec, share_negatives="no")
        check_spec(spec, self)
        values = settle_ranks(spec, self)
        if spec.min_alpha is None:
            values["min_alpha"] = spec.alpha / 10000
        if spec.l2_power is None and any(l2_strengths(spec.l2)):
            values["l2_power"] = L2_POWER
        if spec.epochs is None and not (preset.by_pairs and spec.traversal.paired):
            values["epochs"] = EPOCHS  # else the data decide
        if spec.min_count is None:
            values["min_count"] = spec.traversal.min_count
        of_paths = spec.loss.plug.paths
        if spec.readout is None:
            signless = spec.absolute_softmax  # rows that belong together may point either way
            values["readout"] = DEFAULT if signless or of_paths else spec.traversal.readout
        spec = dataclasses.replace(spec, **values)
        if spec.min_alpha > spec.alpha:
            raise ConfigError(f"min_alpha ({spec.min_alpha:g}) is above alpha ({spec.alpha:g}); lower it")
        parse(spec.readout).check(spec.traversal, spec.rectangular, of_paths)
        if spec.sampler is not None:
            check_plugs(spec, spec.loss.plug, spec.weigher.plug, spec.sampler.plug)
        return spec

    def _with_preset(self, cores):
        """Return the configuration with what its preset fills in, and the `Preset`; UnknownNameError of plugs."""
        if self.loss is not None:
            find_objective(self.loss)
        for kind in ("sampler", "weigher", "inputs"):
            if getattr(self, kind) is not None:
                KINDS[kind][getattr(self, kind)]
        name = self._called()
        preset = preset_of(name, self.traversal.of_words)
        values = {key: value for key, value in preset.values.items() if self.get(key) is None}
        values |= {"loss": preset.loss, "preset": name}
        values |= {} if self.workers is not None else {"workers": workers_of(self, cores)}
        if self.alpha is None:
            values["alpha"] *= KINDS["inputs"][self.inputs].alpha_scale * self.traversal.alpha_scale
        return dataclasses.replace(self, **values), preset

    def _called(self):
        """Return the name by which the objective was chosen; a configuration that was resolved remembers it."""
        known = PRESETS.get(self.preset)
        if known is not None and self.loss in (None, known.loss):
            return self.preset
        return self.loss or (self.traversal.bipartite_loss if self.rectangular else None) or self.traversal.loss


def _options_of(config, kind):
    """Return the options of the plug that is chosen, None if there is none: as asked for, or its defaults."""
    name = getattr(config, kind)
    if name is None:
        return None
    plug = KINDS[kind][name]
    return plug.Options(**{name: config.plugs[name] for name in options_of(plug) if name in config.plugs})
