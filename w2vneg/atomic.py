"""Files and folders that appear whole or not at all: written beside their place, then renamed."""

import os
import shutil
import stat
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path

from .errors import OutputError


def _reason(error):
    return error.strerror or str(error)


def _is_special(path):
    """Tell whether `path` is a device or a pipe, which is written to and must never be replaced."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


@contextmanager
def atomic_file(path, mode="wb", encoding=None):
    """Open a temporary file beside `path` and rename it to `path` when the block ends without an error.

    A link is followed, so that it stays one; a device or a pipe (``/dev/null``) is written to as it is.

    Raises
    ------
    OutputError
        If the file cannot be created, written (disk full) or renamed; no partial file stays behind.
    """
    path, target = Path(path), Path(os.path.realpath(path))
    temporary = None
    try:
        if _is_special(path):
            with open(path, mode, encoding=encoding) as stream:
                yield stream
            return
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
        with os.fdopen(handle, mode, encoding=encoding) as stream:
            yield stream
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
        temporary = None
    except OSError as error:
        raise OutputError(f"cannot write {path}: {_reason(error)}; nothing was left behind") from error
    finally:
        if temporary is not None:
            _discard(temporary)


@contextmanager
def atomic_folder(path, keep_others=False):
    """Yield a temporary folder that takes the place of `path` (replacing a former one) when the block ends well.

    Parameters
    ----------
    path : str or Path
    keep_others : bool
        What a former folder holds under names that the new one does not use moves over; else it is deleted.

    Raises
    ------
    OutputError
        If `path` is a file, or the folder cannot be written; a former folder is then as it was.
    """
    path, target = Path(path), Path(os.path.realpath(path))
    if target.exists() and not target.is_dir():
        raise OutputError(f"cannot write {path}: it is a file; name a folder")
    temporary = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent))
        yield temporary
        os.chmod(temporary, 0o777 & ~_umask())
        _swap(temporary, target, keep_others)
        temporary = None
    except OSError as error:
        raise OutputError(f"cannot write {path}: {_reason(error)}; nothing was left behind") from error
    finally:
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)


def _swap(new, target, keep_others):
    """Put the folder `new` in the place of `target`; whatever was there comes back if that fails."""
    former = None
    if target.exists():
        former = new.with_suffix(".former")
        os.replace(target, former)
    try:
        os.replace(new, target)
    except BaseException:
        if former is not None:
            os.replace(former, target)
        raise
    if former is None:
        return
    if keep_others:
        for entry in former.iterdir():
            if not (target / entry.name).exists():
                os.replace(entry, target / entry.name)
    shutil.rmtree(former, ignore_errors=True)


def check_writable(path):
    """Raise OutputError now, before any long work, if a file could not be created at `path` later."""
    path, target = Path(path), Path(os.path.realpath(path))
    if path.is_dir():
        raise OutputError(f"cannot write {path}: it is a folder; name a file")
    try:
        if _is_special(path):
            open(path, "ab").close()
            return
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
        os.close(handle)
        _discard(temporary)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {_reason(error)}; choose another place") from error


def check_folder_writable(path):
    """Raise OutputError now, before any long work, if a folder could not be created (or replaced) at `path` later."""
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_dir():
        raise OutputError(f"cannot write {path}: it is a file; name a folder")
    parent = target.parent
    while not parent.exists():
        parent = parent.parent
    try:
        os.rmdir(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".part", dir=parent))
    except OSError as error:
        raise OutputError(f"cannot write {path}: {_reason(error)}; choose another place") from error


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _discard(name):
    with suppress(OSError):
        os.unlink(name)
