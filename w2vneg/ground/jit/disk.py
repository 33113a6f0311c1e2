"""Numba's disk cache of compiled code, made safe against damage, and its keys.

Numba trusts its files: an empty index makes every command fail, and machine code with one wrong bit runs. Here each
file ends with a digest of its content, and each function is stored with its signature, because two processes that save
at the same time may choose the same name. A file that is damaged or for another signature counts as missing.

While one process compiles a function, others wait for it rather than compile it too.

Numba's keys are the bytes of a whole file and the line of a function. Here they are the syntax of the file, so that a
comment changes nothing, and the names of the classes in a signature, so that a process that cannot import some of them
can still read the index.
"""

import ast
import hashlib
import os
import re
import sys
import time
import warnings
from contextlib import contextmanager, suppress
from functools import cache
from io import BytesIO
from pathlib import Path

from numba.core import config
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile
from numba.core.event import trigger_event

from ..files.locks import CAN_WAIT, claim, give_up
from ..files.memory import collector_paused

not_kept: list = []  # the last OSError because of which compiled code was not cached

_DIGEST = hashlib.sha256
_SIZE = _DIGEST().digest_size
_PATIENCE = 60.0  # seconds that another process may take to compile one function
_OFTEN = 0.02  # seconds between checks whether it is done


def keep_code(dispatcher, folder, known, plugs):
    """Make a dispatcher load its compiled code from a folder and store it there, if the folder can be made.

    known : container of Path, files that the name of the folder covers; a function of any other file is compiled
        again when this file changes
    plugs : dict of class -> dict, what else the code of a signature with this class depends on, str -> str
    """
    before, config.CACHE_DIR = config.CACHE_DIR, str(folder)
    try:
        with suppress(RuntimeError):  # a file is in the way, or there is no permission
            dispatcher._cache = _Cache(dispatcher, known, plugs)
            dispatcher.compile = _in_turn(dispatcher.compile, dispatcher._cache)
    finally:
        config.CACHE_DIR = before


def _in_turn(compile_for, kept):
    """Return a dispatcher's `compile` that releases the turn that it took, even if the compiler fails."""

    def compile_in_turn(signature):
        try:
            with collector_paused():  # it takes some 6 % of the compile time and finds hardly anything
                return compile_for(signature)
        finally:
            kept.end_turn(signature)

    return compile_in_turn


class _Locator(CompileResultCacheImpl._locator_classes[0]):  # type: ignore[misc, valid-type]
    """Numba's locator of a given folder."""

    def __init__(self, function, path):
        super().__init__(function, path)
        self._code = function.__code__

    def ensure_cache_path(self):
        """Make the folder unless it exists; code can be read from a folder that is read-only."""
        if not Path(self.get_cache_path()).is_dir():
            super().ensure_cache_path()

    def get_source_stamp(self):
        return None  # `_Cache` has it

    def get_disambiguator(self):
        """Distinguish functions with one name in one file, without regard to strings, such as docstrings."""
        code = self._code
        numbers = [constant for constant in code.co_consts if isinstance(constant, int | float)]
        return _DIGEST(repr((code.co_names, code.co_freevars, numbers)).encode()).hexdigest()[:10]


@cache
def _resolved(path):
    return Path(path).resolve()


@cache
def _syntax_of(path):
    return syntax_digest(path.read_bytes())


class _Place(CompileResultCacheImpl):
    _locator_classes = (_Locator,)  # type: ignore[assignment]


class _Cache(FunctionCache):
    _impl_class = _Place

    def __init__(self, dispatcher, known, plugs):
        super().__init__(dispatcher.py_func)
        path = _resolved(dispatcher.py_func.__code__.co_filename)
        stamp = b"" if path in known else _syntax_of(path)
        self._cache_file = _Files(self._impl.locator.get_cache_path(), self._impl.filename_base, stamp)
        self._dispatcher, self._plugs, self._turns = dispatcher, plugs, {}

    def _index_key(self, sig, codegen):
        _, *rest = super()._index_key(sig, codegen)
        return repr(sig), tuple(self._classes_in(sig)), *rest

    def _classes_in(self, kind):
        """Yield the identity of each NamedTuple's class within a type of Numba or a tuple of types."""
        plug = getattr(kind, "instance_class", None)
        if plug is not None:
            yield f"{plug.__module__}.{plug.__qualname__}", *sorted(self._plugs.get(plug, {}).items())
        for inner in kind if isinstance(kind, tuple) else getattr(kind, "types", ()):
            yield from self._classes_in(inner)

    def load_overload(self, sig, target_context):
        found = self._found(sig, target_context)
        if found is None and self._take_turn(sig, target_context.codegen()):
            found = self._found(sig, target_context)
        return found

    def _found(self, sig, target_context):
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # of any kind: it is compiled instead
            return None

    def _take_turn(self, sig, codegen):
        """Wait while another process compiles this and return whether one did; then others wait until `end_turn`."""
        name = _DIGEST(repr(self._index_key(sig, codegen)).encode()).hexdigest()[:16]
        place, begun = f"{self._cache_file._index_path}.{name}.turn", time.monotonic()
        try:
            turn = os.open(place, os.O_RDWR | os.O_CREAT, 0o666) if CAN_WAIT else None
        except OSError:
            turn = None
        if turn is None:  # then both compile
            return False
        self._turns[sig] = turn, place
        if claim(turn) is not False:
            return False
        with trigger_event("numba:compile", data={"dispatcher": self._dispatcher}):  # to count these seconds
            while claim(turn) is False and time.monotonic() - begun < _PATIENCE:
                time.sleep(_OFTEN)
        return True

    def end_turn(self, sig):
        turn, place = self._turns.pop(sig, (None, None))
        if turn is not None:
            with suppress(OSError):
                os.unlink(place)
            give_up(turn)
            os.close(turn)

    def save_overload(self, sig, data):
        try:
            super().save_overload(sig, data)
        except OSError as error:  # a full disk: this process has its code, and the next one compiles again
            not_kept[:] = [error]


class _Files(IndexDataCacheFile):
    """An index and data files, each with its digest; each entry with its key."""

    def save(self, key, data):
        super().save(key, (key, data))

    def load(self, key):
        found = super().load(key)
        return found[1] if found is not None and found[0] == key else None

    def _load_index(self):
        try:
            _check(self._index_path)
            return super()._load_index()
        except Exception:  # missing, damaged, or with a class that no longer exists
            return {}

    def _load_data(self, name):
        _check(self._data_path(name))
        return super()._load_data(name)

    @contextmanager
    def _open_for_write(self, path):
        with super()._open_for_write(path) as file:
            content = BytesIO()
            yield content
            file.write(content.getvalue() + _DIGEST(content.getvalue()).digest())


def _check(path):
    """Raise OSError unless a file ends with the digest of the content before it."""
    with open(path, "rb") as file:
        content = file.read()
    if _DIGEST(content[:-_SIZE]).digest() != content[-_SIZE:]:
        raise OSError(f"{path} is damaged")


def syntax_digest(source):
    """Return a digest (bytes) of the syntax of Python source (bytes); of the bytes themselves if it is not Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python warned on import
            tree = ast.parse(source)
        for node in ast.walk(tree):
            if isinstance(body := getattr(node, "body", None), list):
                body[:] = [statement for statement in body if not _is_text(statement)]
        source = ast.dump(tree).encode("utf-8", "surrogatepass")
    except (SyntaxError, ValueError, RecursionError):
        pass
    return hashlib.sha256(source).digest()


def _is_text(statement):
    """Return whether a statement is only a string, such as a docstring."""
    value = getattr(statement, "value", None)
    return isinstance(statement, ast.Expr) and isinstance(value, ast.Constant) and isinstance(value.value, str)


def digest_of_files(root, paths, notes):
    """Return one digest (str) of the syntax of many files and of their names, relative to the folder `root`.

    Parsing them takes a fifth of the time of a short command, so the digest of these exact bytes is saved in the
    folder `notes` if that is writable.
    """
    sources = {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(paths)}
    key = hashlib.sha256(sys.version.encode())  # another Python may have other names for the same syntax
    for name, source in sources.items():
        key.update(f"\n{name} {len(source)}\n".encode() + source)
    note = notes / f"{key.hexdigest()}.syntax"
    with suppress(OSError, ValueError):
        known = note.read_text(encoding="ascii")
        if re.fullmatch("[0-9a-f]{64}", known):  # else it is truncated or damaged
            return known
    digest = hashlib.sha256()
    for name, source in sources.items():
        digest.update(f"\n{name}\n".encode() + syntax_digest(source))
    with suppress(OSError):
        notes.mkdir(parents=True, exist_ok=True)
        note.write_text(digest.hexdigest(), encoding="ascii")
    return digest.hexdigest()
