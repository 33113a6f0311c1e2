"""The matrices that an engine trains: the model's two and what plugs train, each with the workers' copies below it; and
the state that a run goes back to when it diverges, a copy of what the workers share.

Nearly no run ever asks for that, and in memory it would take as much as the model. So a copy of more than a few
megabytes lies in a nameless file of the cache folder: writing it goes as fast as copying, the system's page cache gives
way when memory is short, and the file is gone with the process. Where no such file can be had, memory serves.
"""

import itertools
import tempfile
import weakref

import numpy as np

from ..ground.files.caches import cache_dir

_IN_MEMORY = 16 * 2**20  # bytes; not worth a file
_EXPLODED = 1e4  # a coordinate beyond this is no embedding any more


def goes_to_disk(n_bytes):
    return n_bytes > _IN_MEMORY


class Snapshot:
    """Copies of matrices of `n_bytes` together, taken again and again."""

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
        """Return what was taken last, shaped as `matrices`, read-only and not copied: good until it is taken again."""
        if self._file is None:
            return [np.broadcast_to(copy, copy.shape) for copy in self._copies]
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


class Matrices:
    """What engines of this machine have: replicated matrices, a check of them, a state to go back to (see `Engine`).

    model : Model, its matrices become views into the replicated ones; workers : int
    n_private : int, first rows of which every worker has copies
    inputs : Inputs, optional, what makes centres' vectors of several rows
    """

    def __init__(self, model, workers, n_private, inputs=None):
        matrices = model.matrices()
        self.inputs, self.workers = inputs, workers
        self.n_rows = {name: len(matrix) for name, matrix in matrices.items()}
        self.n_private = min(n_private, *self.n_rows.values()) if workers > 1 else 0
        self.replicated, self._snapshot = {}, None
        for name in list(matrices):  # one after the other, so that only one of them is there twice at a time
            self.replicated[name] = self._tall(matrices.pop(name))
            model.adopt({**model.matrices(), name: self.shared(name)})
        self._composed = False  # whether matrices that are made of others are up to date
        self.compose()

    def shared(self, name):
        """Return the rows that are not anybody's copies."""
        return self.replicated[name][: self.n_rows[name]]

    def compose(self):
        if self.inputs is not None and not self._composed:
            self.inputs.compose({name: self.shared(name) for name in self.replicated})
        self._composed = True

    @property
    def vectors_in(self):
        self.compose()
        return self.shared("vectors_in")

    @property
    def vectors_out(self):
        return self.shared("vectors_out")

    def _tall(self, matrix):
        """Return `matrix`, then each worker's copies of its first rows; itself if there are none."""
        if not self.n_private:
            return np.require(matrix, np.float32, "CAW")
        replicated = np.empty((len(matrix) + self.workers * self.n_private, matrix.shape[1]), np.float32)
        replicated[: len(matrix)] = matrix
        self._spread(replicated, len(matrix))
        return replicated

    def _spread(self, replicated, n_rows):
        """Give every worker its copies of the shared rows, which are the first `n_rows`."""
        for worker in range(self.workers):
            start = n_rows + worker * self.n_private
            replicated[start : start + self.n_private] = replicated[: self.n_private]

    def set_rows(self, name, rows):
        """Write all rows of a matrix, float32, and every worker's copies of them."""
        self.shared(name)[:] = rows
        self.rows_were_set(name)

    def rows_were_set(self, name):
        """Let everything follow that depends on a matrix's shared rows, which somebody has written."""
        self._spread(self.replicated[name], self.n_rows[name])
        self._composed = False

    def healthy(self):
        extremes = [(rows.min(), rows.max()) for rows in self.replicated.values()]  # NaN where there is one
        return bool(all(low > -_EXPLODED and high < _EXPLODED for low, high in extremes))

    def keep(self, state=None):
        shared = [self.shared(name) if state is None else state[name] for name in self.replicated]
        if self._snapshot is None:
            self._snapshot = Snapshot(sum(matrix.nbytes for matrix in shared))
        self._snapshot.take(shared)

    def kept(self):
        shared = [self.shared(name) for name in self.replicated]
        return dict(zip(self.replicated, self._snapshot.copies(shared), strict=True))

    def go_back(self):
        self._snapshot.restore([self.shared(name) for name in self.replicated])
        for name in self.replicated:
            self.rows_were_set(name)

    def forget(self):
        self._snapshot = None
