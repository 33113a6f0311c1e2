"""The state that a run goes back to when it diverges: a copy of what the workers share.

Nearly no run ever asks for it, and in memory it would take as much as the model. So a copy of more than a few megabytes
lies in a nameless file of the cache folder: writing it goes as fast as copying (the system's page cache takes it and
gives way when memory is short), and the file is gone with the process, however that ends. Where no such file can be
had, memory serves.
"""

import itertools
import tempfile
import weakref

import numpy as np

from ..ground.files.caches import cache_dir

_IN_MEMORY = 16 * 2**20  # bytes; not worth a file


def goes_to_disk(n_bytes):
    """Tell whether a snapshot of so many bytes lies in a file."""
    return n_bytes > _IN_MEMORY


class Snapshot:
    """Copies of matrices, taken again and again.

    Parameters
    ----------
    n_bytes : int
        Their sizes together, which stay the same.
    """

    def __init__(self, n_bytes):
        self._copies, self._file = [], None
        if goes_to_disk(n_bytes):
            try:
                folder = cache_dir()
                folder.mkdir(parents=True, exist_ok=True)
                self._file = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115, it lasts as long as this
            except OSError:  # memory, then
                return
            weakref.finalize(self, self._file.close)

    def take(self, matrices):
        """Copy `matrices` (a list of C-contiguous float32 arrays) in place of what was taken before."""
        if self._file is not None:
            try:
                self._file.seek(0)
                for matrix in matrices:
                    _write(self._file, matrix)
            except OSError:  # the disk is full; what it held before is lost with it, but this state is at hand
                self._file.close()
                self._file = None
            else:
                return
        if not self._copies:
            self._copies = [np.empty_like(matrix) for matrix in matrices]
        for copy, matrix in zip(self._copies, matrices, strict=True):
            np.copyto(copy, matrix)

    def copies(self, matrices):
        """Return what was taken last (list of float32 arrays, shaped as `matrices`), read-only.

        Nothing is copied: they last beyond the snapshot, but only until it is taken again.
        """
        if self._file is None:
            return [_read_only(copy) for copy in self._copies]
        places = itertools.accumulate((matrix.nbytes for matrix in matrices), initial=0)
        return [
            np.asarray(np.memmap(self._file, np.float32, "r", place, matrix.shape))
            for place, matrix in zip(places, matrices, strict=False)
        ]

    def restore(self, matrices):
        """Write what was taken last into `matrices`."""
        if self._file is None:
            for copy, matrix in zip(self._copies, matrices, strict=True):
                np.copyto(matrix, copy)
            return
        self._file.seek(0)
        for matrix in matrices:
            _read(self._file, matrix)


def _read_only(array):
    view = array.view()
    view.flags.writeable = False
    return view


def _write(file, matrix):
    left = memoryview(matrix).cast("B")
    while left:
        left = left[file.write(left) :]


def _read(file, matrix):
    left = memoryview(matrix).cast("B")
    while left:
        n = file.readinto(left)
        if not n:
            raise EOFError("the state to go back to is cut short")
        left = left[n:]
