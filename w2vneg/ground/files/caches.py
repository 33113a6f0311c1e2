"""Caches of downloads, encoded data and compiled code: where they are, their sizes, and how to clear them."""

import os
import re
import shutil
import tempfile
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from ..errors import ConfigError, OutputError, did_you_mean

KINDS = {  # kind -> what it is
    "corpora": "encoded data, encoded again when needed",
    "phrases": "phrases found in corpora, found again when needed",
    "jit": "compiled code, compiled again when needed",
    "data": "downloads and the built-in corpus",
}
MADE_AGAIN = ("corpora", "phrases", "jit")  # without a download
_KEY = r"[0-9a-f]{16}-\d+-[0-9a-f]{32}"  # of data, as in `data.encoded.encode.Cache`
_NAMES = {  # kind -> {subfolder: pattern of the names in it}; those of data are in the catalog
    "corpora": {"": _KEY, "memo": r"[0-9a-f]{32}\.json"},
    "phrases": {"": rf"\d+-{_KEY}\.tsv"},
    "jit": {"": r"[0-9a-f]{20}|[0-9a-f]{64}\.syntax"},
}


def cache_dir(*parts):
    """Return the folder ``<cache>/parts…`` as a Path; it is not created.

    ``W2VNEG_CACHE`` replaces the platform's folder (``~/.cache/w2vneg`` on Linux).
    """
    root = os.environ.get("W2VNEG_CACHE")
    if not root:
        from platformdirs import user_cache_dir

        root = user_cache_dir("w2vneg", appauthor=False)
    return at_home(root, "W2VNEG_CACHE").joinpath(*parts)


def at_home(path, variable):
    """Return a Path with ``~`` expanded; ConfigError, which names the environment variable, if there is no home."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        raise ConfigError(f"{path}: no such home folder; set {variable} to the full path of a folder") from None


@contextmanager
def writing_to(folder):
    """Turn an OSError of the block into an OutputError; folder : Path, in the cache, or None for temporary files."""
    try:
        yield
    except OSError as error:
        place, name = f"to the cache folder {folder}", "W2VNEG_CACHE"
        if folder is None:
            place, name = f"temporary files in {tempfile.gettempdir()}", "TMPDIR"
        reason = f"cannot write {place} ({error.strerror or error})"
        raise OutputError(f"{reason}; set {name} to a writable folder with enough room") from error


@dataclass(frozen=True)
class Cached:
    """kind, what : str; path : Path, existing or not; files, bytes : int; others : list of str, names not w2vneg's"""

    kind: str
    what: str
    path: Path
    files: int
    bytes: int
    others: list


def path_of(kind):
    """Return the folder of a kind as a Path; OutputError if there is no such kind."""
    if kind not in KINDS:
        raise OutputError(f"unknown kind {kind!r}{did_you_mean(kind, KINDS)}")
    named = os.environ.get("W2VNEG_JIT_CACHE") if kind == "jit" else None
    return at_home(named, "W2VNEG_JIT_CACHE") if named else cache_dir(kind)


def cached(kinds, downloads):
    """Return what is cached of these kinds, a list of `Cached`. downloads : str, pattern of the names in ``data``"""
    found = []
    for kind in kinds:
        sizes, others = [], []
        with suppress(OSError):
            for entry, own in _entries(kind, downloads):
                if own:
                    sizes += _sizes(entry)
                else:
                    others.append(entry.name)
        found.append(Cached(kind, KINDS[kind], path_of(kind), len(sizes), sum(sizes), others))
    return found


def clear(kinds, downloads):
    """Remove what is cached of these kinds and return it as `cached` does; others' files stay. OutputError."""
    found = cached(kinds, downloads)
    for one in found:
        try:
            for entry, own in _entries(one.kind, downloads):
                if own:
                    with suppress(FileNotFoundError):  # another process was faster
                        shutil.rmtree(entry) if entry.is_dir(follow_symlinks=False) else os.unlink(entry)
        except OSError as error:
            raise OutputError(f"cannot remove {error.filename or one.path}: {error.strerror or error}") from error
    return found


def _entries(kind, downloads):
    """Yield (os.DirEntry, whether its name is one of w2vneg's) for the cache of a kind; OSError."""
    folders = _NAMES.get(kind, {"": downloads})
    for folder, names in folders.items():
        given = re.compile(rf"(?:{names})|\.(?:{names})\.[a-z0-9_]{{8}}\.(?:part|former)")  # temporary: see `atomic`
        with suppress(FileNotFoundError), os.scandir(path_of(kind) / folder) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                if folder or entry.name not in folders:
                    yield entry, given.fullmatch(entry.name) is not None


def _sizes(entry):
    """Return the sizes of a file, or of all files of a folder (list of int)."""
    sizes = []
    inside = os.walk(entry) if entry.is_dir(follow_symlinks=False) else [("", (), [entry])]
    for folder, _, names in inside:
        for name in names:
            with suppress(OSError):  # another process was faster
                sizes.append(os.lstat(os.path.join(folder, name)).st_size)
    return sizes
