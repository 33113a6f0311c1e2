"""Plug-ins: the user's own modules and files, which register losses, samplers, weighers, presets and the like."""

import importlib
import importlib.util
import os
import re
import sys
import traceback
import zlib
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any

from ..data.readers import READERS
from ..data.sources import SOURCES, TRAVERSALS
from ..ground.errors import ConfigError, InputError, UnknownNameError, W2vnegError, did_you_mean
from ..ground.files.bounded import barred
from ..kernels.contracts import require_bodies
from .inputs import INPUTS
from .losses import LOSSES
from .presets import PRESETS, check_name
from .readout import READOUTS
from .samplers import SAMPLERS
from .weighers import WEIGHERS

_OF_LOOP = {"loss": LOSSES, "sampler": SAMPLERS, "weigher": WEIGHERS, "inputs": INPUTS}
REGISTRIES = _OF_LOOP | {"source": SOURCES, "readout": READOUTS}
_TABLES = REGISTRIES | {"reader": READERS, "traversal": TRAVERSALS}
LOSSES.listeners.append(lambda: [check_name(name, preset) for name, preset in PRESETS.items()])

_loaded: dict[str, int | None] = {}  # name of a module -> checksum of its file when loaded


def load_plugins(plugin):
    """Import the modules or .py files that ``--plugin`` names, separated by commas, once per process.

    InputError if one is missing or fails while being imported; whatever it had registered is removed again.
    ConfigError if one registers nothing, or has been edited since it was imported.
    """
    for name in _names(plugin):
        module = _module_of(name)
        if module in sys.modules:
            if module in _loaded and _checksum(module) not in (None, _loaded[module]):
                raise ConfigError(
                    f"plug-in {name} was edited after it was loaded, and the old version would run; restart Python"
                )
            continue
        before = _registered()
        try:
            _import(name, module)
            for kind, entry in sorted(_registered() - before):
                if kind in _OF_LOOP:
                    _require_bodies(name, kind, _OF_LOOP[kind][entry])
        except BaseException:
            sys.modules.pop(module, None)
            for kind, entry in _registered() - before:
                PRESETS.pop(entry) if kind == "preset" else _TABLES[kind].unregister(entry)
            raise
        _loaded[module] = _checksum(module)
        if _registered() == before:
            sys.modules.pop(module, None)
            kinds = "loss, sampler, weigher, inputs, source, read-out, reader or preset"
            remedy = "decorate one with @LOSSES.register(NAME) or the like (docs/extending.md has complete examples)"
            raise ConfigError(f"plug-in {name} registers no {kinds}; {remedy}")


def are_loaded(plugin):
    """Return whether this process has imported everything that ``--plugin`` names; True if it names nothing."""
    return not not_loaded(plugin)


def not_loaded(plugin):
    """Return the names in ``--plugin`` that this process has not imported (list of str)."""
    return [name for name in _names(plugin) if _module_of(name) not in sys.modules]


def how_to_load(plugin):
    """Return how to load the plug-in that a model folder names (str)."""
    plugin = plugin or "FILE.py"
    python = f"in Python call w2vneg.objectives.plugins.load_plugins({plugin!r})"
    return f"if you trust that code, give it before the command, as in 'w2vneg --plugin {plugin} eval …', or {python}"


def _checksum(module):
    """Return the checksum of a module's file as it is now (int); None if it has no file, or an unreadable one."""
    file = getattr(sys.modules[module], "__file__", None)
    try:
        return None if file is None else zlib.crc32(Path(file).read_bytes())
    except (OSError, TypeError):
        return None


_REQUIRED = {"loss": "loss_at_init", "inputs": "room"}  # kind -> method that has no default


def _require_bodies(name, kind, plug):
    if "from_options" in vars(plug):
        return  # it may make a plug of another class
    try:
        require_bodies(kind, plug)
        method = _REQUIRED.get(kind)
        if method and getattr(plug, method) is getattr(_OF_LOOP[kind].base, method) and getattr(plug, "composes", True):
            raise ConfigError(f"{plug.__name__} has no {method}, which is required; docs/extending.md shows one")
    except ConfigError as error:
        raise ConfigError(f"plug-in {name}: {error}") from None


def absolute_plugins(plugin):
    """Return ``--plugin`` with its paths absolute, so that it means the same from another folder."""
    if plugin is None:
        return None
    return ",".join(os.path.abspath(os.path.expanduser(name)) if _is_path(name) else name for name in _names(plugin))


_ELSEWHERE = {  # name of a loss elsewhere -> our name
    **dict.fromkeys(("hs", "hierarchical-softmax"), "hierarchical"),
    **dict.fromkeys(("sgns", "negative-sampling"), "ns"),
    **dict.fromkeys(("full-softmax", "cross-entropy"), "softmax"),
    "relaxed-softmax": "relaxed",
}


def find_objective(name):
    """Raise UnknownNameError unless `name` is a preset or a loss."""
    if name in PRESETS:
        name = PRESETS[name].loss
    if name not in LOSSES:
        known, other = sorted({*PRESETS, *LOSSES}), str(name).lower().replace("_", "-")
        ours = _ELSEWHERE.get(other)
        meant = f"; here it is called {ours}." if ours else did_you_mean(name, known, shown=0)
        raise UnknownNameError(f"unknown loss {name!r}{meant} 'w2vneg objectives' lists losses and presets.")


def _names(plugin):
    if not isinstance(plugin, str | None):
        raise ConfigError(f"plugin must be text, the path of a .py file or the name of a module, not {plugin!r:.60}")
    names = [name.strip() for name in (plugin or "").split(",")]
    return [name for name in names if name]


def _is_path(name):
    return name.endswith(".py") or os.sep in name or "/" in name


def _module_of(name):
    """Return the module's name; for a file, one made from its own, by which the next process finds compiled code."""
    if not _is_path(name):
        return name
    path = Path(os.path.abspath(os.path.expanduser(name)))
    module = f"w2vneg_plugin_{path.stem}"
    taken = module in sys.modules and sys.modules[module].__file__ != str(path)
    return f"{module}_{zlib.crc32(os.fsencode(path)):08x}" if taken else module


def _registered():
    return {(kind, entry) for kind, table in (_TABLES | {"preset": PRESETS}).items() for entry in table}


def _import(name, module):
    try:
        if _is_path(name):
            _import_file(Path(os.path.expanduser(name)), module)
        else:
            importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not (module == error.name or module.startswith(f"{error.name}.")):
            raise InputError(_failure(name, error)) from error
        beside = name.replace(".", "/") + ".py"
        hint = f"; did you mean --plugin ./{beside}?" if os.path.isfile(beside) else ""
        hint = hint or "; give the path of a .py file, or install it"
        raise InputError(f"plug-in {name}: Python finds no module {error.name!r}{hint}") from None
    except W2vnegError as error:
        raise type(error)(_failure(name, error)) from error
    except Exception as error:
        raise InputError(_failure(name, error)) from error


class _SourceAsItIs(SourceFileLoader):
    """Compiles the source itself: cached bytecode is matched by size and time in seconds, which may survive an edit."""

    def get_code(self, fullname):
        return self.source_to_code(self.get_data(self.path), self.path)


def _import_file(path, module):
    if not os.path.isfile(path):
        if complaint := barred(path):
            raise InputError(complaint)
        what = "is a folder" if os.path.isdir(path) else "no such file"
        raise InputError(f"{what}; name a .py file or an importable module")
    if path.suffix != ".py":
        raise InputError("not a Python file; its name must end in .py")
    path = os.path.abspath(path)
    spec: Any = importlib.util.spec_from_file_location(module, path, loader=_SourceAsItIs(module, path))
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[module] = loaded  # compiled code refers to the plug's class by its module's name
    try:
        spec.loader.exec_module(loaded)
    except BaseException:
        del sys.modules[module]
        raise


def _failure(name, error):
    """Return the message for an error inside a plug-in: its file, the line, the cause."""
    cause = str(error) if isinstance(error, W2vnegError) else f"{type(error).__name__}: {error}"
    if isinstance(error, SyntaxError) and error.filename:
        return f"plug-in {error.filename}:{error.lineno}: {type(error).__name__}: {error.msg}"
    ours = (str(Path(__file__).parents[1]), str(Path(importlib.__file__).parent), "<")
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not f.filename.startswith(ours)]
    where = f"{frames[0].filename}:{frames[0].lineno}" if frames else name
    return f"plug-in {where}: {cause}"


def failure_of_plugin(error):
    """Return the message for an error raised while a plug-in's code ran or was compiled; None for any other error."""
    files = {getattr(sys.modules.get(module), "__file__", None) for module in _loaded}
    if type(error).__module__.startswith("numba."):
        return _failure_to_compile(str(error), files)
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename in files]
    return f"plug-in {frames[-1].filename}:{frames[-1].lineno}: {type(error).__name__}: {error}" if frames else None


def _failure_to_compile(text, files):
    """Return the same from Numba's report, which lists the innermost place first; colorama adds colours to it."""
    text = "\n".join(line.strip() for line in _COLOUR.sub("", text).split("\n"))
    for place in _PLACE.finditer(text):
        path, line = place.groups()
        if path in files:
            return f"plug-in {path}:{line}: {_cause(text, text[: place.start()])}"
    cause = said.group() if (said := _CAUSE.search(text)) else ""
    called = {(name, plug) for name, plug in _CALLED.findall(text)}
    for name, plug in sorted(called if cause else ()):
        for module in (sys.modules[one] for one in _loaded if hasattr(sys.modules.get(one), plug)):
            return f"plug-in {module.__file__}: {name} of {plug}: {cause}"
    return None


def _cause(text, before):
    """Return why Numba cannot compile the code, from its report and the part of it before the place."""
    if any(sign in before for sign in _ALLOCATES):
        return (
            "creates an array, a list, a dict or a string, which compiled functions of a plug may not do; loop over "
            "the elements"
        )
    nearest = before.rpartition(_WITHIN)[2]
    if said := _CAUSE.search(text):
        return said.group()
    if said := _MISSING.search(nearest):
        return f"No implementation of function {said[1]}"
    lines = [line for line in nearest.split("\nFile ")[0].split("\n") if line and not line.startswith(_ABOUT)]
    return lines[-1] if lines else "Numba cannot compile it"


_PLACE = re.compile(r"(?:(?<= at )| Raised from )(\S[^\n]*) \((\d+)\)$", re.MULTILINE)
_ALLOCATES = "NRT required but not enabled", "Only accept returning of array passed into the function"
_WITHIN = "Rejected as the implementation raised a specific error:"
_ABOUT = "During: ", "raised from "  # lines about where, not why
_CAUSE = re.compile(r"Unknown attribute .*|Cannot unify .*|NameError: .*|Untyped global name .*|Invalid use of .*")
_MISSING = re.compile(r"No implementation of function .*\n+>>> (.*)")  # the call without an implementation
_CALLED = re.compile(r"^>>> (\w+)\((\w+?)(?:_\d+)?\(", re.MULTILINE)  # a socket and its plug, numbered if redefined
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
