"""Data available on every machine, extracted from Python's standard library and the packages that w2vneg requires.

The text is documentation: the language's topics, the docstrings of all modules, and those of the types and functions
compiled into the interpreter; about 1.7 million words. The items are modules: a basket holds the imports of one module,
and an edge leads from a module to one that it imports. Sources are parsed, not imported.
"""

import ast
import hashlib
import os
import re
import sys
import types
import warnings
from contextlib import suppress
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from ..ground.errors import DataError
from ..ground.files.atomic import atomic_file
from ..ground.files.caches import cache_dir, writing_to
from ..ground.files.memory import collector_paused
from ..ground.progress import SHOW

_FORM = 2  # increment when the rules below change, to invalidate cached files
_PACKAGES = ("numpy", "scipy", "pandas", "numba", "click", "tqdm")  # required by w2vneg
_SKIPPED_FOLDERS = {"__pycache__", "dist-packages", "idle_test", "site-packages", "test", "tests", "turtledemo"}
_WORD = re.compile("[a-z]+")
_PARAGRAPH = re.compile(r"\n[ \t]*\n")
_DOCTEST = re.compile(r"^[ \t]*(?:>>>|\.\.\.).*$", re.MULTILINE)
_TYPES_WITH_DOCS = (
    *(type, types.BuiltinFunctionType, types.MethodDescriptorType),
    *(types.WrapperDescriptorType, types.GetSetDescriptorType),
)


class Module(NamedTuple):
    """A parsed source file. name, package : list of str, parts of its name and of the base of its relative imports"""

    name: list
    package: list
    tree: ast.Module


def builtin_sentences(progress=None):
    """Yield the paragraphs of the documentation as non-empty lists of words: runs of the letters a to z, lower-cased.

    Input lines of interactive examples and repeated texts are left out. The order is fixed: topics by name, modules by
    path, compiled-in modules by name. progress : callable(done, total), optional, in bytes of source
    """
    seen = set()
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    nodes = (node for module in _modules(progress) for node in _statements(module.tree) if isinstance(node, kinds))
    documented = (ast.get_docstring(node, clean=False) for node in nodes)
    for text in chain(_topics(), documented, _docstrings_compiled_in()):
        if not text or text in seen:
            continue
        seen.add(text)
        for paragraph in _PARAGRAPH.split(_DOCTEST.sub("", text)):
            words = _WORD.findall(paragraph.lower())
            if words:
                yield words


def builtin_baskets(progress=None):
    """Yield the imports of each module that has two or more, as a sorted list of str: names of one or two parts."""
    yield from (sorted(found) for found in map(_imports, _modules(progress)) if len(found) > 1)


def builtin_edges(progress=None):
    """Yield each import as [importing module, imported module]: names of one or two parts, once per source file."""
    for module in _modules(progress):
        for name in sorted(_imports(module)):
            yield [_short(module.name), name]


_MADE = {"builtin": builtin_sentences, "builtin-baskets": builtin_baskets, "builtin-edges": builtin_edges}
BUILTIN_NAME = rf"(?:{'|'.join(_MADE)})-\w+-[\d.]+-[0-9a-f]{{8}}\.txt"  # pattern of the names by `builtin_place`


def builtin_path(name="builtin"):
    """Return the path of a built-in data set in the cache (Path, a text file), creating the file on first use.

    name : str, a key of `_MADE`
    DataError if this Python has no sources and, for the text, no topics or docstrings; OutputError without a cache
    """
    path = builtin_place(name)
    if path.is_file():
        return path
    with writing_to(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
    shown = SHOW.get()(f"making {name}")
    with collector_paused(), atomic_file(path, "w", encoding="utf-8") as stream, shown as progress:
        for words in _MADE[name](progress):  # collecting cycles takes a quarter of the time; syntax trees have none
            stream.write(" ".join(words) + "\n")
        if not stream.tell():
            raise DataError(
                f"the Python at {sys.executable} contains no documentation (no pydoc_data.topics, sources or "
                "docstrings), so there are no built-in data; name a file of your own"
            )
    return path


def builtin_place(name="builtin"):
    """Return the path of the file of `builtin_path` for this Python and its packages; the file need not exist."""
    identity = f"{sys.version} {_library()} {_packages()} {_FORM}"
    digest = hashlib.sha256(identity.encode()).hexdigest()[:8]
    version = ".".join(map(str, sys.version_info[:3]))
    return cache_dir("data", f"{name}-{sys.implementation.name}-{version}-{digest}.txt")


def _library():
    import sysconfig

    return Path(sysconfig.get_path("stdlib"))


def _packages():
    from importlib.metadata import version
    from importlib.util import find_spec

    return [(find_spec(name).submodule_search_locations[0], version(name)) for name in _PACKAGES]


def _topics():
    with suppress(ImportError, AttributeError):  # some distributions omit it
        topics = import_module("pydoc_data.topics").topics
        yield from map(topics.__getitem__, sorted(topics))


def _modules(progress):
    """Yield a `Module` for each source that can be parsed: the library first, then the packages, by path."""
    folders = [(str(_library()), str(_library()))]
    folders += [(os.path.dirname(folder), folder) for folder, _ in _packages()]
    files = [(above, path, os.path.getsize(path)) for above, folder in folders for path in _sources(folder)]
    total, done = sum(size for *_, size in files), 0
    for above, path, size in files:
        tree = None  # stays so for templates and files for another Python version
        with suppress(OSError, SyntaxError, ValueError, RecursionError), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # stray backslashes in third-party strings
            tree = ast.parse(Path(path).read_bytes(), filename=path)
        if tree is not None:
            name = os.path.relpath(path, above).removesuffix(".py").split(os.sep)
            yield Module(name[:-1] if name[-1] == "__init__" else name, name[:-1], tree)
        done += size
        if progress is not None:
            progress(done, total)


def _sources(folder):
    for place, subfolders, names in os.walk(folder):
        subfolders[:] = sorted(name for name in subfolders if name not in _SKIPPED_FOLDERS)
        paths = [os.path.join(place, name) for name in sorted(names) if name.endswith(".py")]
        yield from filter(os.path.isfile, paths)


def _statements(tree):
    """Yield the statements of a module and of its blocks, in order, except those in exception handlers."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        for block in ("orelse", "body"):
            below = getattr(node, block, None)
            waiting.extend(reversed(below) if isinstance(below, list) else ())


def _imports(module):
    """Return the public modules that a module imports, except itself: a set of str, names of one or two parts."""
    found = set()
    for node in _statements(module.tree):
        if isinstance(node, ast.Import):
            found |= {_short(name.name.split(".")) for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            stem = module.package[: len(module.package) - node.level + 1] if node.level else []
            stem = stem + (node.module.split(".") if node.module else [])
            found |= {_short(stem if node.module else [*stem, name.name]) for name in node.names}
    return {name for name in found if name != _short(module.name) and "._" not in f".{name}"}


def _short(parts):
    return ".".join(parts[:2])


def _docstrings_compiled_in():
    visited = set()  # ids of objects
    for name in sorted(sys.builtin_module_names):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # some Pythons have deprecated built-in modules
                module = import_module(name)
        except ImportError:
            continue
        yield from _docstrings_of_object(module, 2, visited)


def _docstrings_of_object(thing, depth, visited):
    if id(thing) in visited:
        return
    visited.add(id(thing))
    text = getattr(thing, "__doc__", None)
    if isinstance(text, str):
        yield text
    if depth and isinstance(thing, type | types.ModuleType):
        for name in sorted(vars(thing)):
            member = vars(thing)[name]
            if isinstance(member, _TYPES_WITH_DOCS):
                yield from _docstrings_of_object(member, depth - 1, visited)
