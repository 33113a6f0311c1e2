"""The flat table of all options: those of the run itself and of every registered plug."""

import dataclasses
import functools

from ..data.sources import TRAVERSALS
from ..ground.errors import ConfigError
from ..ground.option import kind_of, options_of
from ..objectives.inputs import INPUTS
from ..objectives.losses import LOSSES
from ..objectives.samplers import SAMPLERS
from ..objectives.weighers import WEIGHERS
from .options import Choices, RunOptions

KINDS = {"source": TRAVERSALS, "inputs": INPUTS, "sampler": SAMPLERS, "weigher": WEIGHERS, "loss": LOSSES}
"""Option that names a plug -> registry of plugs of that kind."""

# what plugs with an option of one name must agree on
_FACTS = ("help", "limits", "infinite", "choices", "negative_flag", "flag_value", "metavar")


@functools.cache
def table():
    """Return all options, with the plugs registered now: dict of str -> dataclasses.Field, None the default for plugs.

    The metadata has ``readers``, dict of kind -> dict of the plug's name -> its default; {} for options of the run
    itself. ConfigError if two plugs declare one name differently
    """
    own = [item for group in (Choices, RunOptions) for item in dataclasses.fields(group)]
    found = {item.name: _field(item, item.default) for item in own}
    for kind, registry in KINDS.items():
        for name in registry:
            for item in options_of(registry[name]).values():
                _check_agreement(item, found.get(item.name), f"{kind} {name!r}")
                known = found.setdefault(item.name, _field(item, None, group="plug"))
                known.metadata["readers"].setdefault(kind, {})[name] = item.default
    return found


def options_of_users():
    """Return the options that users give by name, not those set by the source: list of dataclasses.Field."""
    return [item for item in table().values() if item.metadata["group"] is not None]


def options_read(kind, name):
    """Return the options that a registered plug declares, in the order of `table`: dict of name -> Field."""
    own = options_of(KINDS[kind][name])
    return {name: own[name] for name in table() if name in own}


def _renew():
    """Rebuild the table when a plug is registered; ConfigError if its options conflict with those of others."""
    table.cache_clear()
    table()


for _registry in KINDS.values():
    _registry.listeners.append(_renew)


def _check_agreement(item, known, who):
    kind_of(item)
    if not {*_FACTS} <= item.metadata.keys():
        raise ConfigError(f"option {item.name} of {who} must be made by w2vneg.ground.option.option")
    if item.name in ("name", "plug") or (known is not None and known.metadata["group"] != "plug"):
        raise ConfigError(f"option {item.name} of {who} is an option of every run; read it, or choose another name")
    if known is None:
        return
    apart = [fact for fact in _FACTS if item.metadata[fact] != known.metadata[fact]]
    if apart or kind_of(item) is not kind_of(known):
        others = [f"{kind} {name!r}" for kind, names in known.metadata["readers"].items() for name in names]
        what = f"option {item.name} of {who} differs from that of {others[0]} in {', '.join(apart) or 'kind'}"
        raise ConfigError(f"{what}; choose another name, or use the same declaration")


def _field(item, default, **about):
    about = {**item.metadata, "kind": kind_of(item), "readers": {}, **about}
    made = dataclasses.field(default=default, kw_only=True, metadata=about)
    made.name, made.type = item.name, item.type
    return made


def shown_default(item):
    """Return the default of an option, of `table` or of a plug, as help prints it."""
    about = item.metadata
    if about["default_text"] is not None:
        return about["default_text"]
    values: dict[str, list[str]] = {}  # default -> the plugs that have it
    for readers in about.get("readers", {}).values():
        for name, value in readers.items():
            values.setdefault(_plain(value), []).append(name)
    if len(values) < 2:
        return next(iter(values), _plain(item.default))
    return ", ".join(f"{' and '.join(names)}: {value}" for value, names in values.items())


def _plain(value):
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return "none"
    return f"{value:g}" if isinstance(value, float) else str(value)
