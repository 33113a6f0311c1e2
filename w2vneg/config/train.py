"""All options of a training run, and what becomes of those that are left open."""

import dataclasses
import math
from dataclasses import dataclass

from ..errors import ConfigError, did_you_mean
from .compatibility import at_infinity, check_schedule, for_plugs, own_negatives, unread, without_negatives
from .objective import ObjectiveOptions
from .option import checked
from .presets import PRESETS, preset_of
from .run import RunOptions


@dataclass(frozen=True, kw_only=True)
class TrainConfig(RunOptions, ObjectiveOptions):
    """The options of a training run; see each field's help. ConfigError on a value out of range."""

    def __post_init__(self):
        for item in dataclasses.fields(self):
            object.__setattr__(self, item.name, checked(item, getattr(self, item.name)))

    @classmethod
    def from_mapping(cls, mapping, where=None, saved=False):
        """Build from names and values; `where` (a file) is named in what is said about a wrong one.

        saved : bool, these are the options of a run, as `as_dict` gave them
        """
        place = f"{where}: " if where else ""
        if not isinstance(mapping, dict):
            raise ConfigError(f"{place}expected options by name, found {str(mapping)[:40]!r}")
        known = [f.name for f in dataclasses.fields(cls)]
        values = {}
        for name, value in mapping.items():
            key = name.replace("-", "_")
            if key not in known:
                raise ConfigError(f"{place}unknown option {name!r}{did_you_mean(key, known, shown=0)}")
            if key == "preset" and not saved:
                raise ConfigError(f"{place}preset is no option of its own; write loss = {value!r}")
            values[key] = value
        try:
            return cls(**values)
        except ConfigError as error:
            raise ConfigError(f"{place}{error}") from error

    def as_dict(self):
        """Return the options as values that JSON can hold: weights as a list, an infinite number as "inf"."""
        values = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        for name, value in values.items():
            if isinstance(value, tuple):
                values[name] = list(value)
            elif isinstance(value, float) and math.isinf(value):
                values[name] = "inf"
        return values

    @property
    def shaping(self):
        """The options that shape encoded data, by name: what `data.inputs.encode_input` takes (dict)."""
        return {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.metadata["group"] == "corpus"}

    def resolved(self, cores=1):
        """Return a copy in which nothing is left open but what a plug decides (`margin`, …) and `private_rows`.

        The loss becomes that of the preset, whose name `preset` keeps; what the chosen plugs do not read becomes None.
        Resolving again changes nothing. ConfigError if an option was given that none of them reads, or options were
        that do not go together.
        """
        name = self._called()
        preset = preset_of(name, self.source)
        values = {key: value for key, value in preset.values.items() if getattr(self, key) is None}
        values |= {"loss": preset.loss, "preset": name}
        chosen = dataclasses.replace(self, **values)
        chosen = dataclasses.replace(chosen, **without_negatives(chosen, self))
        chosen = dataclasses.replace(chosen, **for_plugs(chosen, self))
        check_schedule(chosen)
        chosen = dataclasses.replace(chosen, **at_infinity(chosen, self))
        chosen = dataclasses.replace(chosen, **unread(chosen, self))
        chosen = dataclasses.replace(chosen, **own_negatives(chosen, self))
        values = {}
        if chosen.workers is None:
            values["workers"] = cores
        if chosen.min_alpha is None:
            values["min_alpha"] = chosen.alpha / 10000
        if chosen.min_count is None:
            values["min_count"] = 5 if chosen.source == "text" else 1
        config = dataclasses.replace(chosen, **values)
        if config.min_alpha > config.alpha:
            raise ConfigError(f"min_alpha ({config.min_alpha:g}) is above alpha ({config.alpha:g}); lower it")
        return config

    def _called(self):
        """Return the name by which the objective was chosen; a configuration that was resolved remembers it."""
        known = PRESETS.get(self.preset)
        if known is not None and self.loss in (None, known.loss):
            return self.preset
        return self.loss or ("relaxed" if self.source == "text" else "us")
