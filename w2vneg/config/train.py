"""All options of a training run, and what becomes of those that are left open."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ..data.sources import TRAVERSALS, Traversal, traversal_of
from ..ground.errors import ConfigError, did_you_mean
from ..ground.option import checked
from ..objectives.inputs import INPUTS
from ..objectives.presets import EPOCHS, PRESETS, preset_of
from ..objectives.readout import DEFAULT, parse
from .compatibility import (
    check_inputs,
    check_l2,
    check_logits,
    for_plugs,
    is_of_paths,
    own_negatives,
    settled,
    without_negatives,
)
from .objective import L2_POWER, ObjectiveOptions, l2_strengths
from .ranks import RanksOptions, settle_ranks, workers_of
from .run import RunOptions
from .synonyms import hint_for
from .table import KINDS, gather

if TYPE_CHECKING:
    import os


@dataclass(frozen=True, init=False, eq=False, repr=False)
class TrainConfig(RanksOptions, RunOptions, ObjectiveOptions):
    """The options of a training run, as attributes: those of every run, and those of all registered plugs.

    An option left at None is filled in by `resolved`. `dataclasses.fields` lists them; `dataclasses.replace` changes
    some.

    Raises
    ------
    ConfigError
        If a value is out of range, or there is no such option.
    """

    absent = MappingProxyType[str, Any]({})
    """Saved options of plug-ins that are not loaded, name -> value; see `from_mapping`."""

    if TYPE_CHECKING:  # options of plugs

        def __getattr__(self, name: str) -> Any: ...

    def __init__(self, **values: Any) -> None:
        fields = dataclasses.fields(self)
        unknown = values.keys() - {item.name for item in fields}
        if unknown:
            name = min(unknown)
            raise ConfigError(f"unknown option {name!r}{hint_for(name, [item.name for item in fields])}")
        for item in fields:
            value = checked(item, values.get(item.name, item.default))
            object.__setattr__(self, item.name, value)
        if self.source not in TRAVERSALS and self.plugin is None:
            raise ConfigError(f"unknown source {self.source!r}{did_you_mean(self.source, TRAVERSALS)}")

    def _values(self):
        return {item.name: getattr(self, item.name) for item in dataclasses.fields(self)}

    def __eq__(self, other):
        return self._values() == other._values() if isinstance(other, TrainConfig) else NotImplemented

    def __hash__(self):
        return hash(tuple(self._values().items()))

    def __repr__(self):
        given = {item.name: getattr(self, item.name) for item in dataclasses.fields(self)}
        given = {item.name: given[item.name] for item in dataclasses.fields(self) if given[item.name] != item.default}
        return f"TrainConfig({', '.join(f'{name}={value!r}' for name, value in given.items())})"

    @classmethod
    def from_mapping(
        cls, mapping: dict[str, Any], where: str | os.PathLike | None = None, saved: bool = False
    ) -> TrainConfig:
        """Build from names and values; `where` (a file) is named in what is said about a wrong one.

        saved : bool, these are the options of a run, as `as_dict` gave them; those of a plug-in that is not loaded are
        kept in `absent`, for reading a model folder runs nothing
        """
        place = f"{where}: " if where else ""
        if not isinstance(mapping, dict):
            raise ConfigError(f"{place}expected options by name, found {str(mapping)[:40]!r}")
        known = [item.name for item in dataclasses.fields(cls)]
        values, absent = {}, {}
        for name, value in mapping.items():
            key = name.replace("-", "_")
            if key not in known and saved and (value is None or mapping.get("plugin")):
                absent[key] = value
                continue
            if key not in known:
                raise ConfigError(f"{place}unknown option {name!r}{hint_for(key, known)}")
            if key == "preset" and not saved:
                raise ConfigError(f"{place}preset is no option of its own; write loss = {value!r}")
            values[key] = value
        try:
            config = cls(**values)
        except ConfigError as error:
            raise ConfigError(f"{place}{error}") from error
        object.__setattr__(config, "absent", {name: value for name, value in absent.items() if value is not None})
        return config

    def as_dict(self) -> dict[str, Any]:
        """Return the options as values that JSON can hold: weights as a list, an infinite number as "inf"."""
        values = self._values() | self.absent
        for name, value in values.items():
            if isinstance(value, tuple):
                values[name] = list(value)
            elif isinstance(value, float) and math.isinf(value):
                values[name] = "inf"
        return values

    @property
    def traversal(self) -> type[Traversal]:
        """How training goes through what is read: a class of `data.sources.TRAVERSALS`."""
        return traversal_of(self.source)

    @property
    def shaping(self) -> dict[str, Any]:
        """The options that shape encoded data, by name: what `data.inputs.encode_input` takes (dict)."""
        return {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.metadata["group"] == "corpus"}

    def resolved(self, cores: int = 1) -> TrainConfig:
        """Return a copy in which nothing is left open but what a plug decides (`margin`, …) and `private_rows`.

        The loss becomes that of the preset, whose name `preset` keeps; what the chosen plugs do not read becomes None.
        Resolving again changes nothing. ConfigError if an option was given that none of them reads, or options were
        that do not go together.
        """
        if self._is_resolved:
            return self
        name = self._called()
        preset = preset_of(name, self.traversal.of_words)
        values = {key: value for key, value in preset.values.items() if getattr(self, key) is None}
        values |= {"loss": preset.loss, "preset": name}
        values |= {} if self.workers is not None else {"workers": workers_of(self, cores)}
        if self.alpha is None:
            values["alpha"] *= INPUTS[self.inputs].alpha_scale * self.traversal.alpha_scale
        chosen = dataclasses.replace(self, **values)
        chosen = dataclasses.replace(chosen, **without_negatives(chosen, self))
        chosen = dataclasses.replace(chosen, **for_plugs(chosen, self))
        chosen = dataclasses.replace(chosen, **settled(chosen, self))
        chosen = dataclasses.replace(chosen, **own_negatives(chosen, self))
        check_inputs(chosen)
        check_logits(chosen)
        check_l2(chosen, self)
        values = settle_ranks(chosen, self)
        assert chosen.alpha is not None  # a preset has one
        if chosen.min_alpha is None:
            values["min_alpha"] = chosen.alpha / 10000
        if chosen.l2_power is None and any(l2_strengths(chosen.l2)):
            values["l2_power"] = L2_POWER
        if chosen.epochs is None and not (preset.by_pairs and self.traversal.paired):
            values["epochs"] = EPOCHS  # else the data decide
        if chosen.min_count is None:
            values["min_count"] = chosen.traversal.min_count
        if chosen.readout is None:
            signless = chosen.absolute_softmax  # rows that belong together may point either way
            one_matrix = signless or is_of_paths(chosen)
            values["readout"] = DEFAULT if one_matrix else chosen.traversal.readout
        config = dataclasses.replace(chosen, **values)
        assert config.alpha is not None and config.min_alpha is not None and config.readout is not None
        if config.min_alpha > config.alpha:
            raise ConfigError(f"min_alpha ({config.min_alpha:g}) is above alpha ({config.alpha:g}); lower it")
        parse(config.readout).check(config.traversal, config.rectangular, is_of_paths(config))
        object.__setattr__(config, "_is_resolved", True)
        return config

    _is_resolved = False

    def _called(self):
        """Return the name by which the objective was chosen; a configuration that was resolved remembers it."""
        known = PRESETS.get(self.preset)
        if known is not None and self.loss in (None, known.loss):
            return self.preset
        traversal = self.traversal
        return self.loss or (traversal.bipartite_loss if self.rectangular else None) or traversal.loss


_OWN = dict(TrainConfig.__dataclass_fields__)  # the options of every run


def _refresh():
    """Let `TrainConfig` have the options of all plugs that are registered now."""
    table = gather(_OWN)
    for name, item in table.items():
        setattr(TrainConfig, name, item.default)  # for configurations made before the plug was registered
    TrainConfig.__dataclass_fields__ = table


for _registry in KINDS.values():
    _registry.listeners.append(_refresh)
_refresh()
