"""Ownership of files and folders: locks that the system releases when their process ends, however it ends."""

import json
import os
import socket
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

from ..errors import OutputError

_NOT_LINKED = getattr(os, "O_NOFOLLOW", 0)  # a link beside a folder could lead anywhere

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

CAN_WAIT = fcntl is not None  # for a lock of another process


def claim(descriptor):
    """Lock an open file or folder, without waiting; closing it releases the lock.

    Return True if it is ours now, False if it has another living owner, None if the file system has no locks.
    """
    if fcntl is None:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def give_up(descriptor):
    """Release a lock at once; closing does not if a forked child also has the file open."""
    if fcntl is not None:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_UN)


def still_names(path, descriptor):
    """Return whether `path` is still the open file `descriptor`; another process may have removed or replaced it."""
    try:
        return os.path.samestat(os.lstat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def lock_file(path):
    """Return the Path of the lock file of `path`, a hidden file beside it."""
    target = Path(os.path.realpath(path))
    return target.with_name(f".{target.name}.lock")


@contextmanager
def owned(path):
    """Own a folder to be written, existing or not, for the duration of the block, which excludes other owners.

    A missing parent is created. OutputError if that fails, or if another process, which it names, owns the folder.
    """
    try:
        name = lock_file(path)
        name.parent.mkdir(parents=True, exist_ok=True)
        descriptor = _locked(path, name)
    except FileExistsError as error:
        raise OutputError(f"cannot write {path}: {name.parent} is not a folder; choose another place") from error
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}; choose another place") from error
    try:
        yield
    finally:
        with suppress(OSError):
            if still_names(name, descriptor):
                os.unlink(name)
        os.close(descriptor)


def keeps_others_out(path):
    """Return whether the current owner of `path` keeps others out; False on a file system without locks."""
    try:
        descriptor = os.open(lock_file(path), os.O_RDWR | _NOT_LINKED)
    except OSError:  # nobody owns it
        return False
    try:
        return claim(descriptor) is False
    finally:
        os.close(descriptor)


def _locked(path, name):
    """Lock the lock file of `path` and return its descriptor."""
    while True:
        descriptor = os.open(name, os.O_RDWR | os.O_CREAT | _NOT_LINKED, 0o666)
        if claim(descriptor) is False:
            owner = _owner(descriptor)
            os.close(descriptor)
            raise OutputError(f"cannot write {path}: {owner} is writing there; wait for it or choose another folder")
        if still_names(name, descriptor):  # else its owner has just ended and removed it
            break
        os.close(descriptor)
    about = {"pid": os.getpid(), "host": socket.gethostname(), "since": time.strftime("%Y-%m-%d %H:%M:%S")}
    about["command"] = " ".join([os.path.basename(sys.argv[0]), *sys.argv[1:]])[:200]
    os.truncate(descriptor, 0)
    os.write(descriptor, json.dumps(about).encode())
    return descriptor


def _owner(descriptor):
    """Describe the owner of a lock file."""
    with suppress(OSError, ValueError, KeyError, TypeError, RecursionError):
        about = json.loads(os.pread(descriptor, 4096, 0))
        return f"process {about['pid']} on {about['host']} ({about['command']}, since {about['since']})"
    return "another process"
