"""Swap two paths in one step, where the system can: at no moment is either name without a file or folder."""

import ctypes
import errno
import functools
import os
import sys

_AT_FDCWD = -100  # paths are as for any other call
_RENAME_EXCHANGE = 2  # Linux: flag of renameat2
_RENAME_SWAP = 2  # macOS: flag of renamex_np
_UNSUPPORTED = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM}


def exchange(first, second):
    """Let two existing paths of one file system change places.

    Parameters
    ----------
    first, second : str or Path

    Returns
    -------
    bool
        False where the system or the file system has no such call; nothing has changed then.

    Raises
    ------
    OSError
        If the call fails for another reason.
    """
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
        return swap and (lambda first, second: swap(first, second, ctypes.c_uint(_RENAME_SWAP)))
    rename = getattr(library, "renameat2", None)  # glibc 2.28, musl 1.2.4
    return rename and (lambda first, second: rename(_AT_FDCWD, first, _AT_FDCWD, second, _RENAME_EXCHANGE))
