"""A corpus that is on every machine: the documentation inside Python's own standard library.

Its language topics (``pydoc_data.topics``), the docstrings of its modules and those of the types and
functions compiled into the interpreter are read on this machine, about 350 000 words; nothing is downloaded.
Sources are parsed, not imported: importing ``this`` prints, ``antigravity`` opens a browser, others belong to
another platform.
"""

import ast
import hashlib
import os
import re
import sys
import types
import warnings
from importlib import import_module
from pathlib import Path

from ..ground.errors import DataError, OutputError
from ..ground.files.atomic import atomic_file
from ..ground.files.cachedir import cache_dir

_FORM = 1  # raise when the rules below change, so that cached files are made anew
_SKIPPED_FOLDERS = {
    "__pycache__", "dist-packages", "idle_test", "site-packages", "test", "tests", "turtledemo",
}  # fmt: skip
_WORD = re.compile("[a-z]+")
_PARAGRAPH = re.compile(r"\n[ \t]*\n")
_DOCTEST = re.compile(r"^[ \t]*(?:>>>|\.\.\.).*$", re.MULTILINE)
_TYPES_WITH_DOCS = (
    type,
    types.BuiltinFunctionType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.GetSetDescriptorType,
)


def builtin_sentences(progress=None):
    """Yield the paragraphs of the standard library's documentation as lists of words.

    Words are runs of the letters a to z after lower-casing; digits and signs separate them, the input lines
    of interactive examples are left out. A text that was met before (inherited docstrings) is not repeated.
    The order is fixed: topics by name, modules by path, compiled-in modules by name.

    Parameters
    ----------
    progress : callable(done, total), optional
        Called with the bytes of source read so far and in all.

    Yields
    ------
    list of str
        One paragraph, never empty.

    Raises
    ------
    DataError
        If this Python carries neither the topics nor the sources nor any docstring.
    """
    seen = set()  # hashes of texts
    found = False
    for text in _texts(progress):
        if text in seen:
            continue
        seen.add(text)
        for paragraph in _PARAGRAPH.split(_DOCTEST.sub("", text)):
            words = _WORD.findall(paragraph.lower())
            if words:
                found = True
                yield words
    if not found:
        raise DataError(
            f"the Python at {sys.executable} carries no documentation (no pydoc_data.topics, no sources, "
            "no docstrings), so there is no built-in corpus; name a text with --corpus"
        )


def builtin_path(progress=None):
    """Return a text file with the built-in corpus, one paragraph a line, made on first use.

    Parameters
    ----------
    progress : callable(done, total), optional
        As for `builtin_sentences`; not called when the file is there already.

    Returns
    -------
    Path
        A file in the cache, named after this Python's version and installation.

    Raises
    ------
    DataError
        If this Python carries no documentation.
    OutputError
        If the cache cannot be written.
    """
    path = builtin_place()
    if path.is_file():
        return path
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"cannot create the cache folder {path.parent}: {error.strerror}; "
            "set W2VNEG_CACHE to a folder that can be written"
        ) from error
    with atomic_file(path, "w", encoding="ascii") as stream:
        for words in builtin_sentences(progress):
            stream.write(" ".join(words) + "\n")
    return path


def builtin_place():
    """Return where `builtin_path` keeps its file for this Python; the file need not exist."""
    identity = f"{sys.version} {_library()} {_FORM}"
    digest = hashlib.sha256(identity.encode()).hexdigest()[:8]
    version = ".".join(map(str, sys.version_info[:3]))
    return cache_dir("data", f"builtin-{sys.implementation.name}-{version}-{digest}.txt")


def _library():
    import sysconfig

    return Path(sysconfig.get_path("stdlib"))


def _texts(progress):
    yield from _topics()
    yield from _docstrings_in_sources(_library(), progress)
    yield from _docstrings_compiled_in()


def _topics():
    try:
        topics = import_module("pydoc_data.topics").topics
    except (ImportError, AttributeError):  # some distributions leave it out
        return
    for name in sorted(topics):
        yield topics[name]


def _docstrings_in_sources(library, progress):
    files = [(path, os.path.getsize(path)) for path in _sources(library)]
    total, done = sum(size for _, size in files), 0
    for path, size in files:
        yield from _docstrings_of(path)
        done += size
        if progress is not None:
            progress(done, total)


def _sources(library):
    for folder, subfolders, names in os.walk(library):
        subfolders[:] = sorted(name for name in subfolders if name not in _SKIPPED_FOLDERS)
        for name in sorted(names):
            path = os.path.join(folder, name)
            if name.endswith(".py") and os.path.isfile(path):
                yield path


def _docstrings_of(path):
    try:
        with open(path, "rb") as stream, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of stray backslashes in other people's strings
            tree = ast.parse(stream.read(), filename=path)
    except (OSError, SyntaxError, ValueError, RecursionError):  # a template, or written for another Python
        return
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node, clean=False)
            if text:
                yield text
        for block in ("orelse", "body"):
            waiting.extend(reversed(getattr(node, block, None) or ()))


def _docstrings_compiled_in():
    visited = set()  # ids of objects
    for name in sorted(sys.builtin_module_names):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # some Pythons have modules built in that are on their way out
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
