"""Declaration of an option of a run: its default, help, range and choices, and the check of its values."""

import math
import operator
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

from .errors import ConfigError, did_you_mean

_KINDS = {"int": int, "float": float, "str": str, "bool": bool}
_LIMITS = {
    "at_least": ("at least", operator.ge),
    "above": ("above", operator.gt),
    "below": ("below", operator.lt),
    "at_most": ("at most", operator.le),
}
_MOST = 2**31 - 1  # compiled code counts with it, and it is more than enough


def option(
    default,
    help,
    *,
    at_least=None,
    above=None,
    below=None,
    at_most=None,
    infinite=False,
    choices=None,
    negative_flag=None,
    flag_value=None,
    metavar=None,
    default_text=None,
    check=None,
    coerce=None,
    group=None,
    common=False,
    files=False,
):
    """Declare one field of a dataclass of options; its kind is the annotation: int, float, str or bool, ``| None``.

    default : int, float, str, bool or None, which leaves it open: a plug then sees None and decides for itself
    at_least, above, below, at_most : number, optional; infinite : bool, whether infinity, or the text "inf", is allowed
    choices : tuple of str, optional, the values a text may have; for `files`, names that are not files
    negative_flag : str, optional, the flag that switches a bool off; ``no-NAME`` if None, no such flag if ""
    flag_value : str, optional, the value of a text if its flag is given without one
    metavar, default_text : str, optional, how the help writes the value and the default
    check : callable, optional, called with a value within range; raises ConfigError if it is still wrong
    coerce : callable, optional, converts a value of another type to text, or raises ConfigError
    group : str, optional, section of the help for an option of the run itself; options of plugs are listed by plug
    common : bool, whether ``--help`` lists it, with the first sentence of `help`; ``--help-all`` lists all
    files : bool, whether an option of a source names files: its value is then a tuple of str
    """
    about = dict(locals())
    limits = {name: about.pop(name) for name in ("at_least", "above", "below", "at_most")}
    return field(default=about.pop("default"), metadata=about | {"limits": limits})


def kind_of(item):
    """Return int, float, str or bool: the kind of a field made by `option`; ConfigError for any other annotation."""
    text = item.type.__name__ if isinstance(item.type, type) else str(item.type)
    names = [name for name in text.replace(" ", "").split("|") if name != "None"]
    if len(names) != 1 or names[0] not in _KINDS:
        raise ConfigError(f"option {item.name} must be annotated as int, float, str or bool, or one of them | None")
    return _KINDS[names[0]]


def as_options(declared):
    """Return a class of `option` fields as a frozen dataclass."""
    if "__dataclass_params__" in vars(declared):
        return declared
    made = dataclass(frozen=True, kw_only=True)(declared)
    for item in fields(made):
        if item.metadata.get("limits") and not item.metadata["files"] and item.default is not None:
            try:
                _within(item, item.default)  # not its `check`, which may need names defined later
            except ConfigError as error:
                raise ConfigError(f"the default of option {item.name} of {declared.__qualname__}: {error}") from None
    return made


@dataclass(frozen=True, kw_only=True)
class PlugOptions:
    """The options of a plug, a class, chosen by its registered name; None for those that it does not read."""

    name: ClassVar[str] = ""
    plug: ClassVar[Any] = None

    def values(self):
        """Return the options that are not None: dict of name -> value."""
        return {item.name: value for item in fields(self) if (value := getattr(self, item.name)) is not None}


class UnloadedOptions(PlugOptions):
    """The options of a plug-in that is not loaded, as a model folder stores them; its base class replaces the plug."""

    kept: dict

    def __init__(self, name, plug, kept):
        vars(self).update(kept | {"name": name, "plug": plug, "kept": kept})

    def __eq__(self, other):
        return isinstance(other, UnloadedOptions) and vars(self) == vars(other)

    def values(self):
        return self.kept


def own_options(plug):
    """Return the ``Options`` that a plug class declares as a frozen dataclass that refers to the plug."""
    made = PlugOptions if plug.Options is None else as_options(plug.Options)
    bases = (made,) if issubclass(made, PlugOptions) else (made, PlugOptions)
    place = {"__module__": plug.__module__, "__qualname__": f"{plug.__qualname__}.Options", "__doc__": made.__doc__}
    return type("Options", bases, place | {"plug": plug})


def options_of(plug):
    """Return the fields of a plug's ``Options`` (dict of name -> dataclasses.Field); {} if it has none."""
    declared = getattr(plug, "Options", None)
    return {} if declared is None else {item.name: item for item in fields(as_options(declared))}


def flag_of(item, value=True):
    """Return the command-line flag of a field; for a bool, the one that sets it to `value`."""
    return "--" + (off_of(item) if value is False else item.name.replace("_", "-"))


def off_of(item):
    """Return the name of the flag that switches a bool off, without dashes."""
    flag = item.metadata["negative_flag"]
    return f"no-{item.name.replace('_', '-')}" if flag is None else flag


def checked(item, value):
    """Return `value` converted to the field's kind and within its range, or raise ConfigError."""
    if value is None:
        if item.default is not None:
            raise ConfigError(f"{item.name} must have a value")
        return None
    value = _within(item, value)
    if item.metadata["check"] is not None:
        item.metadata["check"](value)
    return value


def _within(item, value):
    kind = kind_of(item)
    if kind is not bool:
        found = (_checked_text if kind is str else _checked_number)(item, value)
        return value if type(found) is type(value) and found == value else found  # the same object identifies clones
    if getattr(getattr(value, "dtype", None), "kind", None) == "b" and not value.ndim:  # NumPy's
        value = bool(value)
    if not isinstance(value, bool):
        raise ConfigError(f"{item.name} must be true or false, not {value!r}")
    return value


def _checked_text(item, value):
    choices, coerce = item.metadata["choices"], item.metadata["coerce"]
    if not isinstance(value, str):
        if coerce is not None:
            return coerce(value)
        raise ConfigError(f"{item.name} must be text, not {value!r:.60}")
    if choices and value not in choices:
        raise ConfigError(f"unknown {item.name} {value!r}{did_you_mean(value, choices)}")
    return value


def _checked_number(item, value):
    kind, limits, infinite = kind_of(item), item.metadata["limits"], item.metadata["infinite"]
    if infinite and value == "inf":
        value = math.inf
    try:
        number = kind(value)
        exact = not isinstance(value, bool | str) and number == value
    except (TypeError, ValueError, OverflowError):
        exact = False
    if not exact:
        what = "a whole number" if kind is int else "a number"
        raise ConfigError(f"{item.name} must be {what}, not {value!r}")
    if limits["at_most"] is None and kind is int:
        limits = limits | {"at_most": _MOST}
    for name, (word, holds) in _LIMITS.items():
        if limits[name] is not None and not holds(number, limits[name]):
            raise ConfigError(f"{item.name} must be {word} {limits[name]}, got {value}")
    if kind is float and math.isinf(number) and not infinite:
        raise ConfigError(f"{item.name} must be finite, got {value}")
    return number


def range_of(item):
    """Return the range of a number in words, or "": at least 1, below 2."""
    limits = item.metadata["limits"]
    return ", ".join(f"{word} {limits[name]:g}" for name, (word, _) in _LIMITS.items() if limits[name] is not None)


def refuse_idle(names, because, given):
    """Raise ConfigError if an option that has no effect was given; return all of them as None (dict)."""
    for name in names:
        if given.get(name) is not None:
            raise ConfigError(f"--{name.replace('_', '-')} has no effect with {because}; leave it out")
    return dict.fromkeys(names)
