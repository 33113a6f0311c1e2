"""Files and folders that appear whole or not at all: written beside their place, then renamed."""

import os
import shutil
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path

from .errors import OutputError


def _reason(error):
    return error.strerror or str(error)


@contextmanager
def atomic_file(path, mode="wb", encoding=None):
    """Open a temporary file beside `path` and rename it to `path` when the block ends without an error.

    Raises
    ------
    OutputError
        If the file cannot be created, written (disk full) or renamed; no partial file stays behind.
    """
    path = Path(path)
    temporary = None
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
        with os.fdopen(handle, mode, encoding=encoding) as stream:
            yield stream
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
        temporary = None
    except OSError as error:
        raise OutputError(f"cannot write {path}: {_reason(error)}; nothing was left behind") from error
    finally:
        if temporary is not None:
            _discard(temporary)


@contextmanager
def atomic_folder(path):
    """Yield a temporary folder that takes the place of `path` (replacing a former one) when the block ends well."""
    path = Path(path)
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent))
        yield temporary
        os.chmod(temporary, 0o777 & ~_umask())
        former = None
        if path.exists():
            former = temporary.with_suffix(".former")
            os.replace(path, former)
        os.replace(temporary, path)
        temporary = None
        if former is not None:
            shutil.rmtree(former, ignore_errors=True)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {_reason(error)}; nothing was left behind") from error
    finally:
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)


def check_writable(path):
    """Raise OutputError now, before any long work, if a file could not be created at `path` later."""
    path = Path(path)
    if path.is_dir():
        raise OutputError(f"cannot write {path}: it is a folder; name a file")
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
        os.close(handle)
        _discard(temporary)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {_reason(error)}; choose another place") from error


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _discard(name):
    with suppress(OSError):
        os.unlink(name)
