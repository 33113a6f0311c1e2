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
    own = {item.name: item for group in (Choices, RunOptions) for item in dataclasses.fields(group)}
    found = {name: _field(item, item.default, {}) for name, item in own.items()}
    for kind, registry in KINDS.items():
        for name in registry:
            for item in options_of(registry[name]).values():
                known = found.get(item.name)
                _check_agreement(item, known, f"{kind} {name!r}", own)
                readers = {} if known is None else known.metadata["readers"]
                readers = {**readers, kind: {**readers.get(kind, {}), name: item.default}}
                found[item.name] = _field(item if known is None else known, None, readers)
    return found


def options_of_users():
    """Return the options that users give by name, not those set by the source: list of dataclasses.Field."""
    return [item for item in table().values() if item.metadata["group"] is not None]


def options_read(kind, name):
    """Return the options that a registered plug reads: dict of name -> dataclasses.Field."""
    return {item.name: item for item in table().values() if name in item.metadata["readers"].get(kind, ())}


def _renew():
    """Rebuild the table when a plug is registered; ConfigError if its options conflict with those of others."""
    table.cache_clear()
    table()


for _registry in KINDS.values():
    _registry.listeners.append(_renew)


def _check_agreement(item, known, who, own):
    kind_of(item)
    if not {*_FACTS} <= item.metadata.keys():
        raise ConfigError(f"option {item.name} of {who} must be made by w2vneg.ground.option.option")
    if item.name in {*own, "name", "plug"}:
        raise ConfigError(f"option {item.name} of {who} is an option of every run; read it, or choose another name")
    if known is None:
        return
    apart = [fact for fact in _FACTS if item.metadata[fact] != known.metadata[fact]]
    if apart or kind_of(item) is not kind_of(known):
        others = [f"{kind} {name!r}" for kind, names in known.metadata["readers"].items() for name in names]
        what = f"option {item.name} of {who} differs from that of {others[0]} in {', '.join(apart) or 'kind'}"
        raise ConfigError(f"{what}; choose another name, or use the same declaration")


def _field(item, default, readers):
    about = {"kind": kind_of(item), "readers": readers} | ({"group": "plug"} if readers else {})
    made = dataclasses.field(default=default, kw_only=True, metadata={**item.metadata, **about})
    made.name, made.type = item.name, item.type
    return made


def shown_default(item, kind=None, plug=None):
    """Return an option's default as help prints it, for one plug or for all that read it."""
    about = item.metadata
    if about["default_text"] is not None:
        return about["default_text"]
    by_plug = {name: value for names in about.get("readers", {}).values() for name, value in names.items()}
    if plug is not None:
        by_plug = {plug: about["readers"][kind][plug]}
    if not by_plug:
        return _plain(item.default)
    values: dict[str, list[str]] = {}  # default -> the plugs that have it
    for name, value in by_plug.items():
        values.setdefault(_plain(value), []).append(name)
    if len(values) == 1:
        return next(iter(values))
    return ", ".join(f"{' and '.join(names)}: {value}" for value, names in values.items())


def _plain(value):
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return "none"
    return f"{value:g}" if isinstance(value, float) else str(value)
