"""One option of a run: its type, default, help, range and readers, and the check that a value keeps to them."""

import math
from dataclasses import field

from ..errors import ConfigError, did_you_mean


def option(
    kind,
    default,
    help,
    *,
    at_least=None,
    above=None,
    below=None,
    at_most=None,
    off=None,
    group,
    shown=None,
    choices=None,
    used_by=None,
    when_used=None,
    infinite=False,
    otherwise=None,
    alone=None,
):
    """Declare one field: its type, default, help and the range that `checked` holds it to.

    off : str, the flag that switches a bool off; shown : str, the default as the help prints it
    group : str, the heading of the help it stands under; None keeps it off the command line
    choices : tuple of str, the values a text may have
    used_by : dict of "loss", "sampler" or "weigher" -> names of the plugs that read it; given with others it is refused
    when_used : what a field left at None becomes when one of those is chosen (a dict: by the plug's name); None leaves
    it to the plug
    infinite : bool, a number may be infinite, or the text "inf"
    alone : str, the value of a text option whose flag stands without one on the command line
    otherwise : function that turns what is no text into the value of a text option, or raises ConfigError
    """
    if kind is int and at_most is None:
        at_most = 2**31 - 1  # what compiled code counts with, and more than anybody needs
    limits = {"at_least": at_least, "above": above, "below": below, "at_most": at_most}
    about = {"kind": kind, "help": help, "limits": limits, "off": off, "group": group, "shown": shown}
    about |= {"choices": choices, "used_by": used_by, "when_used": when_used}
    return field(default=default, metadata=about | {"infinite": infinite, "otherwise": otherwise, "alone": alone})


def flag_of(item, value=True):
    """Return the command line's flag for a field (that sets it to `value`, if it is a bool)."""
    return "--" + (item.metadata["off"] if value is False else item.name.replace("_", "-"))


def default_for(item, plug):
    """Return what a field left open becomes when `plug`, which reads it, is chosen; None if the plug decides."""
    default = item.metadata["when_used"]
    return default[plug] if isinstance(default, dict) else default


def checked(item, value):
    """Return `value` converted to the field's kind and within its range, or raise ConfigError."""
    kind = item.metadata["kind"]
    if value is None:
        if item.default is not None:
            raise ConfigError(f"{item.name} must have a value")
        return None
    if kind is str:
        return _checked_text(item, value)
    if kind is bool:
        if not isinstance(value, bool):
            raise ConfigError(f"{item.name} must be true or false, not {value!r}")
        return value
    return _checked_number(item, value)


def _checked_text(item, value):
    choices, otherwise = item.metadata["choices"], item.metadata["otherwise"]
    if not isinstance(value, str):
        if otherwise is not None:
            return otherwise(value)
        raise ConfigError(f"{item.name} must be text, not {value!r}")
    if choices and value not in choices:
        raise ConfigError(f"unknown {item.name} {value!r}{did_you_mean(value, choices)}")
    return value


def _checked_number(item, value):
    kind, infinite = item.metadata["kind"], item.metadata["infinite"]
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
    bad = _beyond(item.metadata["limits"], number)
    if bad or (isinstance(number, float) and math.isinf(number) and not infinite):
        raise ConfigError(f"{item.name} must be {bad or 'finite'}, got {value}")
    return number


def _beyond(limits, number):
    """Return the limit that `number` breaks, in words, or None."""
    low, above, below, high = limits["at_least"], limits["above"], limits["below"], limits["at_most"]
    if low is not None and number < low:
        return f"at least {low}"
    if above is not None and number <= above:
        return f"above {above}"
    if below is not None and number >= below:
        return f"below {below}"
    if high is not None and number > high:
        return f"at most {high}"
    return None
