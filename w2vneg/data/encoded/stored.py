"""Stored ids and offsets, mapped into memory if they are large.

Compiled code trusts both arrays: an id past the vocabulary would be a read of foreign memory. A checksum finds what
happened to a file.

The system has no error for a page that is no longer there: it ends the process. `still_whole` tells between two rounds.
"""

import mmap
import os
import zlib

import numpy as np

CUT_SHORT = (
    "the encoded corpus was cut short by another program while it was in use; let nothing write into the cache folder, "
    "and start again: the corpus will be encoded anew"
)

_IN_MEMORY = 1 << 28  # bytes of a file that are kept in memory rather than mapped: 67 million ids
_PIECE = 1 << 20  # bytes that are summed together


class Damaged(Exception):
    """A stored file that is not what was written. The message names the file and the difference."""


def mapped(file, dtype):
    """Map a file as a read-only plain ndarray, which Numba recognises faster than a memmap."""
    return np.asarray(np.memmap(file, dtype=dtype, mode="r"))


def still_whole(array):
    """Tell whether the file behind an array, if it is mapped, is as long as the array is (bool)."""
    base = array
    while isinstance(base, np.ndarray):
        base = base.base
    try:
        return not isinstance(base, mmap.mmap) or base.size() >= len(base)
    except OSError:  # a file of the network that is gone
        return False


class SummedWriter:
    """Hands bytes on to a file, and counts and sums them. size : int, bytes written; crc32 : int, their checksum"""

    def __init__(self, file):
        self._file = file
        self.size = self.crc32 = 0

    def write(self, data):
        self._file.write(data)
        self.size += memoryview(data).nbytes
        self.crc32 = zlib.crc32(data, self.crc32)

    def known_by(self):
        return {"size": self.size, "crc32": self.crc32}


def known_by(path):
    size = crc = 0
    with open(path, "rb") as file:
        while piece := file.read(_PIECE):
            size, crc = size + len(piece), zlib.crc32(piece, crc)
    return {"size": size, "crc32": crc}


def read_numbers(path, known, dtype):
    """Read the numbers of a file, (n,), read-only; known : dict, what `SummedWriter.known_by` gave of it.

    Damaged if the file is another; OSError
    """
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size != known["size"]:
            raise Damaged(f"{path.name} has {size:,} bytes, not {known['size']:,}")
        numbers = np.fromfile(file, dtype) if size <= _IN_MEMORY else mapped(file, dtype)
    if zlib.crc32(numbers) != known["crc32"]:
        raise Damaged(f"{path.name} differs from its checksum")
    numbers.flags.writeable = False  # as what is mapped, which is another type to the compiler than other arrays
    return numbers
