"""Files and folders that appear complete or not at all: written beside their place, made durable, then renamed.

What is written goes to ``.NAME.xxxxxxxx.part`` beside NAME, which its writer keeps locked. A writer
that was killed leaves it behind; the next one that writes NAME finds it without an owner and removes it. A folder takes
the place of a former one by an `exchange`. Where the system has none, two renames do it, and whoever comes after a kill
between them puts the former one back (`recover`).
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

from ..errors import OutputError
from .bounded import check_path, is_special
from .locks import claim, still_names

_PART, _FORMER = ".part", ".former"  # being written; what it takes the place of
_HIDDEN = re.compile(r"\..+\.(?:[a-z0-9_]{8}\.(?:part|former)|lock)")

_OPEN_FILES = "/dev/fd"  # one name for each open file of this process
_MOST_LINKS = 40  # on the way to a file, as for the system
_AT_FDCWD = -100  # paths are as for any other call
_EXCHANGE = 2  # flag of renameat2 on Linux, of renamex_np on macOS
_UNSUPPORTED = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM}


def _reason(error):
    said = error.strerror or str(error)
    cut_short = "the disk is full, or a limit on the size of files is reached"  # NumPy says how much alone
    return f"{cut_short} ({said})" if re.fullmatch(r"\d+ requested and \d+ written", said) else said


@contextmanager
def atomic_file(path, mode="wb", encoding=None, permissions=None):
    """Open a temporary file beside `path`; when the block ends without an error it is on the disk, and then is `path`.

    A link is followed, so that it stays one; a device, a pipe or an open file (``/dev/stdout``) is written to as it is,
    and a reader that goes away has seen enough. OutputError if the file cannot be created, written or renamed.
    permissions : int, of the file; those that the umask leaves if None
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
            os.chmod(temporary, 0o666 & ~_umask() if permissions is None else permissions)
            os.fsync(stream.fileno())
            if os.name == "posix":  # still locked, so that nobody takes it for litter
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
    """Return whether what is written to `path` goes on to a device, a pipe or an open file: never to be replaced."""
    return is_special(path) or _descriptor(path) is not None


def appending(path):
    """Open a UTF-8 text file to add lines to it, each there at once; OutputError.

    A last line that was cut short is ended first. A device, a pipe or an open file is written to as it is.
    """
    options = {"encoding": "utf-8", "newline": "", "buffering": 1}
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
    """Open what `passes_on`; an open file goes on where it is, or at its end if it was opened so."""
    descriptor = _descriptor(path)
    return open(path if descriptor is None else os.dup(descriptor), mode, **options)


def _descriptor(path):
    """Return the number of the open file that a path names, as ``/dev/stdout`` does (int); None if it names none."""
    place, open_files = os.fspath(path), os.path.realpath(_OPEN_FILES)
    for _ in range(_MOST_LINKS):
        folder, name = os.path.split(place)
        if name.isdecimal() and len(name) < 10 and os.path.realpath(folder) == open_files:
            return int(name)
        try:
            place = os.path.join(folder, os.readlink(place))
        except (OSError, ValueError):  # no link
            return None
    return None


@contextmanager
def atomic_folder(path, keep=None):
    """Yield a temporary folder that takes the place of `path` (replacing a former one) when the block ends well.

    OutputError if `path` is a file, or the folder cannot be written; a former folder is then as it was.
    keep : callable, optional, whether an entry of the former folder stays, by its name, unless it is new
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
        os.close(descriptor)  # swept by another writer in the moment between making and locking it


def _take_place(new, target):
    """Put the folder `new` in the place of `target`; return the Path of what is to be deleted, or None."""
    try:
        inside = os.path.samefile(os.curdir, target)
    except OSError:
        inside = False
    if not target.exists():
        os.replace(new, target)
        return None
    if not exchange(new, target):
        _take_place_in_two(new, target)
        return None
    if inside:  # this process would be left in a folder without a name
        os.chdir(target)
    return new


def _take_place_in_two(new, target):
    """Do the same with two renames; a kill between them leaves the former one, which `recover` puts back."""
    former = new.with_suffix(_FORMER)
    os.replace(target, former)
    try:
        os.replace(new, target)
    except BaseException:
        os.replace(former, target)
        raise
    _remove_tree(former)


def exchange(first, second):
    """Let two existing paths of one file system change places, in one step; False where that cannot be done."""
    call = _system_call()
    if call is None or call(os.fsencode(first), os.fsencode(second)) == 0:
        return call is not None
    code = ctypes.get_errno()
    if code in _UNSUPPORTED:
        return False
    raise OSError(code, os.strerror(code), str(first))


@functools.cache
def _system_call():
    """Return a function of two byte strings that answers 0 if all is well, or None where there is none."""
    if sys.platform not in ("linux", "darwin"):
        return None
    library = ctypes.CDLL(None, use_errno=True)
    if sys.platform == "darwin":
        swap = getattr(library, "renamex_np", None)
        return swap and (lambda first, second: swap(first, second, ctypes.c_uint(_EXCHANGE)))
    rename = getattr(library, "renameat2", None)  # glibc 2.28, musl 1.2.4
    return rename and (lambda first, second: rename(_AT_FDCWD, first, _AT_FDCWD, second, _EXCHANGE))


def _link_entries(source, target, keep):
    """Give `target` the entries of `source` that are to stay: the very files where links can be made, else copies."""
    for entry in os.scandir(source):
        if keep(entry.name) and not (place := target / entry.name).exists():
            if entry.is_dir(follow_symlinks=False):
                shutil.copytree(entry.path, place, symlinks=True, copy_function=_link)
            else:
                _link(entry.path, place)


def _link(source, target):
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:  # no such links here, or none across what is mounted
        shutil.copy2(source, target, follow_symlinks=False)


def recover(path):
    """Put a folder back in its place if its writer was killed between two renames; return whether that was needed."""
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
    """Remove what killed writers of `path` have left beside it, unless it has a living owner or may come back."""
    target = Path(os.path.realpath(path))
    for found in _left_behind(target):
        lost = found.suffix == _PART or os.path.lexists(target)  # else `recover` puts it in its place
        if lost and not _has_owner(found):
            _remove_tree(found) if found.is_dir() else _discard(found)


def is_hidden(name):
    """Tell whether a name is one that this module or `locks` gives to what is on its way."""
    return _HIDDEN.fullmatch(name) is not None


def _left_behind(target):
    """Return what lies beside `target` under its temporary names (list of Path)."""
    try:
        pattern = re.compile(rf"\.{re.escape(target.name)}\.[a-z0-9_]{{8}}\.(?:part|former)")
        return [target.parent / name for name in os.listdir(target.parent) if pattern.fullmatch(name)]
    except OSError:
        return []


def _has_owner(path):
    """Tell whether a living process keeps `path` locked, or may: where there are no locks nobody can know."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:  # gone by itself, or another user's
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
            if not stat.S_ISFIFO(os.stat(path).st_mode):  # whose reader would leave when it is closed
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
        if os.path.exists(target) and not os.access(target, os.W_OK | os.X_OK):  # what is in it could not be removed
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        os.rmdir(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=_PART, dir=parent))
    except OSError as error:
        raise OutputError(f"cannot write {path}: {_reason(error)}; choose another place") from error


def _check_links(path):
    """Raise OSError if links lead round in a circle, of which `os.path.realpath` says nothing."""
    with suppress(FileNotFoundError):
        os.stat(path)


def _sync(path):
    """Have what a file holds, or which names a folder holds, on the disk before this returns."""
    if os.name != "posix" and os.path.isdir(path):
        return  # folders cannot be opened there
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:  # a file system that has no such thing as making it durable
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
    """Remove a folder as far as that can be done; folders in it, or itself, may be write-protected."""
    if os.path.islink(folder):  # where it leads is not ours
        return
    for place, _, _ in os.walk(folder):
        with suppress(OSError):
            os.chmod(place, stat.S_IRWXU)
    shutil.rmtree(folder, ignore_errors=True)


def _discard(name):
    with suppress(OSError):
        os.unlink(name)
