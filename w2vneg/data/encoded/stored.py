"""Stored ids and offsets, mapped into memory, and read with care: no number is out of range, and no page is gone.

Compiled code trusts both arrays: an id past the vocabulary would be a read of foreign memory. A checksum finds what
happened to a file. What is small stays in memory; what is larger is mapped.

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
_PIECE = 1 << 18  # numbers that are looked at together


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


def read_ids(path, known, n_vocab):
    """Read the ids of a corpus: int32 (n_tokens,), read-only, each at least 0 and below `n_vocab`.

    known : dict, what `SummedWriter.known_by` gave; Damaged if the file is another, or an id is out of range; OSError
    """

    def check(piece):
        if piece.view(np.uint32).max() >= n_vocab:  # negative ones are large there
            raise Damaged(f"{path.name} has ids that are not in the vocabulary")

    return _read(path, known, np.int32, check)


def read_offsets(path, known, n_ids):
    """Read where sentences begin: int64 (n_sentences + 1,), read-only, rising from 0 to `n_ids`; else as `read_ids`."""
    last = -1

    def check(piece):
        nonlocal last
        if piece[0] <= last or not (piece[1:] > piece[:-1]).all():
            raise Damaged(f"{path.name} has offsets that do not rise")
        last = piece[-1]

    offsets = _read(path, known, np.int64, check)
    if offsets[0] != 0 or last != n_ids:
        raise Damaged(f"{path.name} does not go from the first to the last of the ids")
    return offsets


def known_by(path):
    size = crc = 0
    with open(path, "rb") as file:
        while piece := file.read(_PIECE):
            size, crc = size + len(piece), zlib.crc32(piece, crc)
    return {"size": size, "crc32": crc}


def _read(path, known, dtype, check):
    """Return the numbers of a file, read-only, once `check` has seen each piece and the checksum is right."""
    with open(path, "rb") as file:
        size, width = os.fstat(file.fileno()).st_size, np.dtype(dtype).itemsize
        if size != known["size"]:
            raise Damaged(f"{path.name} has {size:,} bytes, not {known['size']:,}")
        if size == 0 or size % width:
            raise Damaged(f"{path.name} has {size:,} bytes, which hold no whole numbers")
        count, crc = size // width, 0
        numbers = np.empty(count if size <= _IN_MEMORY else min(count, _PIECE), dtype)
        for start in range(0, count, _PIECE):
            place = start if size <= _IN_MEMORY else 0
            piece = numbers[place : place + min(_PIECE, count - start)]
            if file.readinto(piece.view(np.uint8)) < piece.nbytes:
                raise Damaged(f"{path.name} was cut short while it was read")
            crc = zlib.crc32(piece, crc)
            check(piece)
        if crc != known["crc32"]:
            raise Damaged(f"{path.name} differs from its checksum")
        if size > _IN_MEMORY:
            numbers = mapped(file, dtype)
    if len(numbers) != count:
        raise Damaged(f"{path.name} was cut short while it was read")
    numbers.flags.writeable = False  # as what is mapped, which is another type to the compiler than other arrays
    return numbers
