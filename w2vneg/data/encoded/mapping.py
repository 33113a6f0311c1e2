"""Files mapped into memory: pages come as they are needed and go when memory is short.

The system has no error for a page that is no longer there: it ends the process with the signal SIGBUS. `still_whole`
tells in time between two looks at a file. For the moments in between there is a handler of that signal, which says what
has happened and ends the process with exit code 1; nothing can go on from there, since the interrupted function would
read what never was in the file. On Windows a mapped file cannot be cut short.
"""

import ctypes
import mmap
import os
import signal
import weakref
from functools import cache

import numpy as np

CUT_SHORT = (
    "the encoded corpus was cut short by another program while it was in use; let nothing write into the cache folder, "
    "and start again: the corpus will be encoded anew"
)

_guarded: weakref.WeakSet = weakref.WeakSet()  # mappings of files that have names, which others may write to


def mapped(file, dtype):
    """Map a file as a read-only plain ndarray, which Numba recognises faster than a memmap."""
    return np.asarray(np.memmap(file, dtype=dtype, mode="r"))


def guarded(array):
    """Return a mapped array; from now on the process ends with a sentence, not a signal, if its file is cut short."""
    _guarded.add(_mapping_of(array))
    if hasattr(signal, "SIGBUS"):
        former = _signal(signal.SIGBUS, _handler())
        if former not in (None, ctypes.cast(_handler(), ctypes.c_void_p).value):
            _signal(signal.SIGBUS, former)  # somebody else's, as that of `faulthandler`, stays
    return array


def still_whole(array):
    """Tell whether the file behind an array, if it is mapped, is as long as the array is (bool)."""
    mapping = _mapping_of(array)
    return mapping is None or _is_whole(mapping)


def _is_whole(mapping):
    try:
        return mapping.size() >= len(mapping)
    except OSError:  # a file of the network that is gone
        return False


def _mapping_of(array):
    base = array
    while isinstance(base, np.ndarray):
        base = base.base
    return base if isinstance(base, mmap.mmap) else None


def _signal(number, action):
    """Set what happens at a signal, as Python's own function cannot within a handler; return what happened before."""
    set_action = ctypes.CDLL(None).signal
    set_action.restype, set_action.argtypes = ctypes.c_void_p, (ctypes.c_int, ctypes.c_void_p)
    return set_action(number, ctypes.cast(action, ctypes.c_void_p))


@cache
def _handler():
    return ctypes.CFUNCTYPE(None, ctypes.c_int)(_end)


def _end(number):
    """Handle SIGBUS, on whichever thread it came."""
    if all(map(_is_whole, _guarded)):
        _signal(number, None)  # it is about something else: the default action follows on return
        return
    os.write(2, f"\nError: {CUT_SHORT}.\n".encode())
    os._exit(1)
