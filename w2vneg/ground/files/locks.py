"""Who owns a place: locks that the system takes back when their process ends, however it ends."""

import json
import os
import socket
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

from ..errors import OutputError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

CAN_WAIT = fcntl is not None  # for what another process has locked


def claim(descriptor):
    """Lock an open file or folder, without waiting; closing it gives the lock back.

    Return True if it is ours now, False if another owner lives, None where the file system has no locks.
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
    """Give a lock back at once: closing does not where a child of a fork has the file open, too."""
    if fcntl is not None:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_UN)


def still_names(path, descriptor):
    """Tell whether `path` is the open file `descriptor`: another process may have removed or replaced it meanwhile."""
    try:
        return os.path.samestat(os.lstat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def lock_file(path):
    """Return the Path of the file that stands for the ownership of `path`: hidden, beside it."""
    target = Path(os.path.realpath(path))
    return target.with_name(f".{target.name}.lock")


@contextmanager
def owned(path):
    """Own a folder to be written, there or not, for as long as the block lasts: no other process that asks gets it.

    Its parent is made where it is missing. OutputError if that cannot be, or names the process that owns the folder.
    """
    try:
        name = lock_file(path)
        name.parent.mkdir(parents=True, exist_ok=True)
        descriptor = _locked(path, name)
    except FileExistsError as error:
        raise OutputError(f"cannot write {path}: {name.parent} is no folder; choose another place") from error
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
    """Tell whether owning `path`, as somebody does now, keeps others out: not on a file system without locks."""
    try:
        descriptor = os.open(lock_file(path), os.O_RDWR)
    except OSError:  # nobody owns it
        return False
    try:
        return claim(descriptor) is False
    finally:
        os.close(descriptor)


def _locked(path, name):
    """Return the descriptor of the lock file, which is ours."""
    while True:
        descriptor = os.open(name, os.O_RDWR | os.O_CREAT, 0o666)
        if claim(descriptor) is False:
            owner = _owner(descriptor)
            os.close(descriptor)
            raise OutputError(f"cannot write {path}: {owner} writes there; wait for it or choose another folder")
        if still_names(name, descriptor):  # else its owner has just ended and removed it
            break
        os.close(descriptor)
    about = {"pid": os.getpid(), "host": socket.gethostname(), "since": time.strftime("%Y-%m-%d %H:%M:%S")}
    about["command"] = " ".join([os.path.basename(sys.argv[0]), *sys.argv[1:]])[:200]
    os.truncate(descriptor, 0)
    os.write(descriptor, json.dumps(about).encode())
    return descriptor


def _owner(descriptor):
    """Return the owner of a lock file in words."""
    with suppress(OSError, ValueError, KeyError, TypeError, RecursionError):
        about = json.loads(os.pread(descriptor, 4096, 0))
        return f"process {about['pid']} on {about['host']} ({about['command']}, since {about['since']})"
    return "another process"
