"""Files and folders that appear complete or not at all: written beside their place, synced to disk, then renamed.

Output goes to ``.NAME.xxxxxxxx.part`` beside NAME, which its writer keeps locked. A killed writer leaves it behind; the
next writer of NAME finds it without an owner and removes it. A folder replaces a former one by an `exchange`. Systems
without it use two renames; if the writer is killed between them, the next process restores the former folder
(`recover`).
"""

import ctypes
import errno
import functools
import os
import re
import shutil
import stat
import sys
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ..errors import OutputError
from .bounded import check_path, is_special
from .locks import claim, still_names

_PART, _FORMER = ".part", ".former"  # being written; being replaced
_HIDDEN = re.compile(r"\..+\.(?:[a-z0-9_]{8}\.(?:part|former)|lock)")

_OPEN_FILES = "/dev/fd"  # one name for each open file of this process
_MOST_LINKS = 40  # followed in a path, as by the system
_AT_FDCWD = -100  # paths are relative to the current folder
_EXCHANGE = 2  # flag of renameat2 on Linux, of renamex_np on macOS
_UNSUPPORTED = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM}


def _reason(error):
    said = error.strerror or str(error)
    cut_short = "the disk is full, or a limit on the size of files is reached"  # NumPy gives only the sizes
    return f"{cut_short} ({said})" if re.fullmatch(r"\d+ requested and \d+ written", said) else said


@contextmanager
def atomic_file(path, mode="wb", encoding=None):
    """Open a temporary file beside `path`; if the block ends without an error, it is synced and renamed to `path`.

    A link is followed and stays a link. A device, a pipe or an open file (``/dev/stdout``) is written to directly, and
    a reader that closes it early is no error. OutputError if the file cannot be created, written or renamed.
    """
    check_path(path)
    path, target = Path(path), Path(os.path.realpath(path))
    temporary = None
    try:
        if passes_on(path):
            with _open_as_it_is(path, mode, encoding=encoding) as stream:
                yield stream
            return
        sweep(target)
        handle, temporary = _new_part(target)
        with os.fdopen(handle, mode, encoding=encoding) as stream:
            yield stream
            stream.flush()
            os.chmod(temporary, 0o666 & ~_umask())
            os.fsync(stream.fileno())
            if os.name == "posix":  # still locked, so that no `sweep` removes it
                os.replace(temporary, target)
        if os.name != "posix":
            os.replace(temporary, target)
        temporary = None
        _sync(target.parent)
    except OSError as error:
        if error.errno != errno.EPIPE or not passes_on(path):
            raise OutputError(f"cannot write {path}: {_reason(error)}; nothing was left behind") from error
    finally:
        if temporary is not None:
            _discard(temporary)


def passes_on(path):
    """Return whether `path` is a device, a pipe or an open file, which are written to but never replaced."""
    return is_special(path) or _descriptor(path) is not None


def appending(path):
    """Open a UTF-8 text file to append lines, each written at once; OutputError.

    An incomplete last line is ended first. A device, a pipe or an open file is written to directly.
    """
    options: dict[str, Any] = {"encoding": "utf-8", "newline": "", "buffering": 1}
    try:
        if passes_on(path):
            return _open_as_it_is(path, "w", **options)
        with open(path, "ab+") as stream:
            if stream.tell():
                stream.seek(-1, os.SEEK_END)
                if stream.read(1) != b"\n":
                    stream.write(b"\n")
        return open(path, "a", **options)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {_reason(error)}; choose another place") from error


def _open_as_it_is(path, mode, **options):
    """Open a path that `passes_on`; an open file continues at its position, or at its end if opened to append."""
    descriptor = _descriptor(path)
    return open(path if descriptor is None else os.dup(descriptor), mode, **options)


def _descriptor(path):
    """Return the descriptor of the open file that a path such as ``/dev/stdout`` names (int); None if it names none."""
    place, open_files = os.fspath(path), os.path.realpath(_OPEN_FILES)
    for _ in range(_MOST_LINKS):
        folder, name = os.path.split(place)
        if name.isdecimal() and len(name) < 10 and os.path.realpath(folder) == open_files:
            return int(name)
        try:
            place = os.path.join(folder, os.readlink(place))
        except (OSError, ValueError):  # not a link
            return None
    return None


@contextmanager
def atomic_folder(path, keep=None):
    """Yield a temporary folder that becomes `path` (replacing a former one) if the block ends without an error.

    OutputError if `path` is a file, or the folder cannot be written; a former folder is then unchanged.
    keep : callable, optional, name -> whether an entry of the former folder stays, unless the new one has it
    """
    path, target = Path(path), Path(os.path.realpath(path))
    if os.path.exists(target) and not os.path.isdir(target):
        raise OutputError(f"cannot write {path}: it is a file; name a folder")
    temporary = lock = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        recover(target)
        sweep(target)
        lock, temporary = _new_part(target, folder=True)
        yield temporary
        os.chmod(temporary, 0o777 & ~_umask())
        if keep is not None and target.exists():
            _link_entries(target, temporary, keep)
        _sync_tree(temporary)
        temporary = _take_place(temporary, target)
        _sync(target.parent)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {_reason(error)}; nothing was left behind") from error
    finally:
        if temporary is not None:
            _remove_tree(temporary)
        if lock is not None:
            os.close(lock)


def _new_part(target, folder=False):
    """Make a temporary file or folder for `target`, locked; return (descriptor, or None for a folder, Path)."""
    options = {"prefix": f".{target.name}.", "suffix": _PART, "dir": target.parent}
    while True:
        if folder:
            temporary = Path(tempfile.mkdtemp(**options))
            descriptor = os.open(temporary, os.O_RDONLY) if os.name == "posix" else None
        else:
            descriptor, temporary = tempfile.mkstemp(**options)
        if descriptor is None or (claim(descriptor) is not False and still_names(temporary, descriptor)):
            return descriptor, Path(temporary)
        os.close(descriptor)  # swept by another writer between making and locking it


def _take_place(new, target):
    """Replace `target` by the folder `new`; return the Path to be deleted, or None."""
    try:
        inside = os.path.samefile(os.curdir, target)
    except OSError:
        inside = False
    if not target.exists():
        os.replace(new, target)
        return None
    if exchange(new, target):
        if inside:  # else this process would be left in a deleted folder
            os.chdir(target)
        return new
    former = new.with_suffix(_FORMER)
    os.replace(target, former)  # a kill after it leaves the former folder, which `recover` restores
    try:
        os.replace(new, target)
    except BaseException:
        os.replace(former, target)
        raise
    return former


def exchange(first, second):
    """Swap two existing paths of one file system in one step; return False if that is not supported."""
    call = _system_call()
    if call is None or call(os.fsencode(first), os.fsencode(second)) == 0:
        return call is not None
    code = ctypes.get_errno()
    if code in _UNSUPPORTED:
        return False
    raise OSError(code, os.strerror(code), str(first))


@functools.cache
def _system_call():
    """Return a function of two byte strings that returns 0 on success, or None if the system has none."""
    if sys.platform not in ("linux", "darwin"):
        return None
    library = ctypes.CDLL(None, use_errno=True)
    if sys.platform == "darwin":
        swap = getattr(library, "renamex_np", None)
        return swap and (lambda first, second: swap(first, second, ctypes.c_uint(_EXCHANGE)))
    rename = getattr(library, "renameat2", None)  # glibc 2.28, musl 1.2.4
    return rename and (lambda first, second: rename(_AT_FDCWD, first, _AT_FDCWD, second, _EXCHANGE))


def _link_entries(source, target, keep):
    """Give `target` the entries of `source` that are to stay: hard links if possible, else copies."""
    for entry in os.scandir(source):
        if keep(entry.name) and not (place := target / entry.name).exists():
            if entry.is_dir(follow_symlinks=False):
                shutil.copytree(entry.path, place, symlinks=True, copy_function=_link)
            else:
                _link(entry.path, place)


def _link(source, target):
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:  # no hard links here, or not across mounts
        shutil.copy2(source, target, follow_symlinks=False)


def recover(path):
    """Restore a folder whose writer was killed between two renames; return whether that was needed."""
    check_path(path)
    target = Path(os.path.realpath(path))
    if os.path.lexists(target):
        return False
    left = _left_behind(target)
    if any(_has_owner(each) for each in left):
        return False
    for found in left:
        if found.suffix == _FORMER:
            with suppress(OSError):  # another process was faster
                os.replace(found, target)
                return True
    return False


def sweep(path):
    """Remove what killed writers of `path` left beside it, unless it has a living owner or can be recovered."""
    target = Path(os.path.realpath(path))
    for found in _left_behind(target):
        lost = found.suffix == _PART or os.path.lexists(target)  # else `recover` restores it
        if lost and not _has_owner(found):
            _remove_tree(found) if found.is_dir() else _discard(found)


def is_hidden(name):
    """Return whether a name is a temporary one of this module or of `locks`."""
    return _HIDDEN.fullmatch(name) is not None


def _left_behind(target):
    """Return the paths beside `target` with its temporary names (list of Path)."""
    try:
        pattern = re.compile(rf"\.{re.escape(target.name)}\.[a-z0-9_]{{8}}\.(?:part|former)")
        return [target.parent / name for name in os.listdir(target.parent) if pattern.fullmatch(name)]
    except OSError:
        return []


def _has_owner(path):
    """Return whether a living process has locked `path`, or may have: without locks that is unknown."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:  # already gone, or another user's
        return True
    try:
        return claim(descriptor) is not True
    finally:
        os.close(descriptor)


def check_writable(path):
    """Raise OutputError now, before any long work, if a file could not be created at `path` later."""
    path, target = Path(path), Path(os.path.realpath(path))
    if os.path.isdir(path):
        raise OutputError(f"cannot write {path}: it is a folder; name a file")
    try:
        _check_links(path)
        if passes_on(path):
            if not stat.S_ISFIFO(os.stat(path).st_mode):  # closing it would end its reader
                _open_as_it_is(path, "wb").close()
            return
        sweep(target)
        handle, temporary = _new_part(target)
        _discard(temporary)
        os.close(handle)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {_reason(error)}; choose another place") from error


def check_folder_writable(path):
    """Raise OutputError now, before any long work, if a folder could not be created (or replaced) at `path` later."""
    check_path(path)
    target = Path(os.path.realpath(path))
    if os.path.exists(target) and not os.path.isdir(target):
        raise OutputError(f"cannot write {path}: it is a file; name a folder")
    sweep(target)
    parent = target.parent
    while not os.path.exists(parent):
        parent = parent.parent
    try:
        _check_links(path)
        if os.path.exists(target) and not os.access(target, os.W_OK | os.X_OK):  # its entries could not be removed
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        os.rmdir(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=_PART, dir=parent))
    except OSError as error:
        raise OutputError(f"cannot write {path}: {_reason(error)}; choose another place") from error


def check_replaceable(path, others_in, what):
    """Raise OutputError now if a folder at `path` could not be written later, or would replace something else.

    others_in : callable, from all names in a folder (list of str) to those that show something else
    what : str, what the folder would be
    """
    check_folder_writable(path)
    recover(path)
    if os.path.isdir(path) and (others := others_in(sorted(os.listdir(path)))):
        shown = ", ".join(others[:3]) + ", …" * (len(others) > 3)
        raise OutputError(
            f"cannot write {path}: the folder exists and is not {what} (it holds {shown}); choose another folder or "
            "empty this one"
        )


def _check_links(path):
    """Raise OSError if links form a loop, which `os.path.realpath` ignores."""
    with suppress(FileNotFoundError):
        os.stat(path)


def _sync(path):
    """Sync the content of a file, or the names in a folder, to disk before returning."""
    if os.name != "posix" and os.path.isdir(path):
        return  # folders cannot be opened there
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:  # the file system does not support it
            raise
    finally:
        os.close(descriptor)


def _sync_tree(folder):
    for place, _, names in os.walk(folder):
        for name in names:
            file = os.path.join(place, name)
            if not os.path.islink(file):
                _sync(file)
        _sync(place)


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _remove_tree(folder):
    """Remove a folder as far as possible; it, or folders in it, may be write-protected."""
    if os.path.islink(folder):  # its target is not ours
        return
    for place, _, _ in os.walk(folder):
        with suppress(OSError):
            os.chmod(place, stat.S_IRWXU)
    shutil.rmtree(folder, ignore_errors=True)


def _discard(name):
    with suppress(OSError):
        os.unlink(name)
