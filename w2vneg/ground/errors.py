"""Types of errors. Every message says what went wrong, where, and what to do about it."""

import difflib
import re
import sys
from importlib import import_module
from numbers import Integral

_LONGEST = 1500  # characters of a message; a damaged file may have a word of millions of them


_CONTROLS = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")  # of terminals and writing directions


def plain(text):
    """Return a text for a terminal (str): its control characters, but tabs and line feeds, as in ``\\x1b``."""
    return _CONTROLS.sub(lambda found: ascii(found[0])[1:-1], text)


class W2vnegError(Exception):
    """An error that the user can fix: the command line prints the message and exits with `exit_code`."""

    exit_code = 1

    def __str__(self):
        text = str(self.args[0]) if self.args else ""
        return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 400]} … {text[-400:]}"


class InputError(W2vnegError):
    """A file that is missing, unreadable or not in the expected format; the message names file and line."""


class NothingToTrainError(InputError):
    """Data that leave no pair to train on."""


class ConfigError(W2vnegError, ValueError):
    """An option out of range, or options that do not go together."""


class NoColumnError(InputError):
    """A table without a requested column."""


class DoubtError(ConfigError, InputError):
    """Ambiguous data; the message says what they may mean, what was guessed, and what to type."""

    exit_code = 2


class NotTrainedError(ConfigError, AttributeError):
    """An attribute that only a trained model has; `hasattr` is false."""


class UnknownNameError(W2vnegError, KeyError):
    """A name that is not registered, stored or listed."""


class OutputError(W2vnegError):
    """A file or folder that cannot be written; nothing half-written is left behind."""


class DataError(W2vnegError):
    """Named data that cannot be found, fetched or verified."""


class MissingExtraError(W2vnegError, ImportError):
    """An optional package that this feature needs; the message names the extra to install."""


class DivergenceError(W2vnegError, ArithmeticError):
    """Training produced numbers that are not finite and could not recover."""


class RankError(W2vnegError, RuntimeError):
    """A rank of a run, or its cluster, failed."""


class FileNote(UserWarning):
    """A note on how data or a model were read; the command line prints it on a line of its own."""


def did_you_mean(name, known, shown=12):
    """Return `` '; did you mean …? Known: …' `` for a message about a name that is not among `known`."""
    known = list(known)
    alike = [one for one in known if str(one).lower() == str(name).lower().replace(" ", "_")][:3]
    near = (difflib.get_close_matches(one, known, n=3, cutoff=0.5) for one in (str(name), str(name).lower()))
    close = alike or next(filter(None, near), [])
    hint = f"; did you mean {' or '.join(repr(c) for c in close)}?" if close else "."
    if len(known) <= shown:
        hint += f" Known: {', '.join(known)}."
    return hint


def check_whole(name, value, least=1):
    """Raise ConfigError unless a value is a whole number of at least `least` and not a bool."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ConfigError(f"{name} must be a whole number of at least {least}, not {value!r:.60}")


def refuse_misspelt(cls, base):
    """Raise ConfigError if a public name of a class looks like a misspelt name of its `base`."""
    known = [name for name in dir(base) if not name.startswith("_")]
    for name in vars(cls):
        near = difflib.get_close_matches(name, known, 1, 0.7)
        if name not in known and not name.startswith("_") and near:
            raise ConfigError(f"{cls.__name__} does not use {name!r}; did you mean {near[0]}?")


def require(module, extra, purpose):
    """Import an optional `module`; MissingExtraError names the extra of w2vneg that installs it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtraError(
            f"{purpose} needs the package {module!r}, which is not installed; install it with: {how_to_install(extra)}"
        ) from error


def how_to_install(extra):
    """Return the command that installs an extra of w2vneg."""
    if extra == "gensim" and sys.version_info >= (3, 14):
        return "pip install gensim (it may need a C compiler under this Python)"
    return f'pip install "w2vneg[{extra}]"'
