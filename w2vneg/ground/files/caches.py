"""Where downloaded, encoded and compiled things are kept: how much of each kind, and how to be rid of it."""

import os
import shutil
import tempfile
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from ..errors import ConfigError, OutputError, did_you_mean

KINDS = {  # kind -> what it is
    "corpora": "encoded data, made again when they are read",
    "phrases": "phrases found in corpora, made again when they are requested",
    "jit": "compiled code, compiled again when it is needed",
    "data": "downloads and the built-in corpus",
}
MADE_AGAIN = ("corpora", "phrases", "jit")  # of what is on this machine


def cache_dir(*parts):
    """Return the folder ``<cache>/parts…`` as a Path; it is not created.

    ``W2VNEG_CACHE`` names another folder than the platform's (``~/.cache/w2vneg`` on Linux).
    """
    root = os.environ.get("W2VNEG_CACHE")
    if not root:
        from platformdirs import user_cache_dir

        root = user_cache_dir("w2vneg", appauthor=False)
    return at_home(root, "W2VNEG_CACHE").joinpath(*parts)


def at_home(path, variable):
    """Return a Path with ``~`` put in full; ConfigError, naming the environment's variable, where there is no home."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        raise ConfigError(f"{path}: no such home folder; set {variable} to the full path of a folder") from None


@contextmanager
def writing_to(folder):
    """Turn an OSError of the block into an OutputError: folder : Path, in the cache, or None for temporary files."""
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
    """kind, what : str; path : Path, there or not; files : int; bytes : int"""

    kind: str
    what: str
    path: Path
    files: int
    bytes: int


def path_of(kind):
    """Return the folder of a kind as a Path; OutputError if there is no such kind."""
    if kind not in KINDS:
        raise OutputError(f"unknown kind {kind!r}{did_you_mean(kind, KINDS)}")
    named = os.environ.get("W2VNEG_JIT_CACHE") if kind == "jit" else None
    return at_home(named, "W2VNEG_JIT_CACHE") if named else cache_dir(kind)


def cached(kinds=tuple(KINDS)):
    """Return what is kept of these kinds, a list of `Cached`."""
    found = []
    for kind in kinds:
        path, sizes = path_of(kind), []
        for folder, _, names in os.walk(path):
            for name in names:
                with suppress(OSError):  # another process was faster
                    sizes.append(os.lstat(os.path.join(folder, name)).st_size)
        found.append(Cached(kind, KINDS[kind], path, len(sizes), sum(sizes)))
    return found


def clear(kinds=MADE_AGAIN):
    """Remove what is kept of these kinds, or OutputError; return what there was, a list of `Cached`."""
    found = cached(kinds)
    for one in found:
        try:
            shutil.rmtree(one.path)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise OutputError(f"cannot remove {error.filename or one.path}: {error.strerror}") from error
    return found
