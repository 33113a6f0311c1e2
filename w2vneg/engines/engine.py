"""The interface between the trainer and an engine, and the common part of engines on this machine: the matrices that
they train, each followed by the workers' copies, rounds, and random streams.

A run that diverges returns to a copy of an earlier state. A copy of more than a few megabytes is an unnamed file in the
cache folder: writing it is as fast as copying, and the page cache can be evicted when memory is short.
"""

import itertools
import tempfile
import weakref
from typing import Any, NamedTuple

import numpy as np

from ..config.options import l2_strengths
from ..ground.files.caches import cache_dir
from ..kernels.schedule import rounds_of, stream_key
from ..kernels.updates import L2

_IN_MEMORY = 16 * 2**20  # bytes; not worth a file
_EXPLODED = 1e4  # coordinates beyond this count as diverged
_KEPT, _DRAWN, _ORDER = 1, 2, 3  # first part of a random stream's name: subsampling, draws, order of blocks


def goes_to_disk(n_bytes):
    return n_bytes > _IN_MEMORY


class Snapshot:
    """Copies of matrices of `n_bytes` in total, taken repeatedly; in memory if there can be no file."""

    def __init__(self, n_bytes):
        self._copies, self._file = [], None
        if goes_to_disk(n_bytes):
            try:
                folder = cache_dir()
                folder.mkdir(parents=True, exist_ok=True)
                self._file = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115, it lasts as long as this
            except OSError:  # use memory instead
                return
            weakref.finalize(self, self._file.close)

    def take(self, matrices):
        """Copy `matrices` (a list of C-contiguous float32 arrays), replacing the previous copies."""
        if self._file is not None:
            try:
                self._file.seek(0)
                for matrix in matrices:
                    _write(self._file, matrix)
                return
            except OSError:  # the disk is full; earlier copies are lost, but these go to memory
                self._file.close()
                self._file = None
        if not self._copies:
            self._copies = [np.empty_like(matrix) for matrix in matrices]
        for copy, matrix in zip(self._copies, matrices, strict=True):
            np.copyto(copy, matrix)

    def copies(self, matrices):
        """Return the latest copies, shaped as `matrices`: read-only views, valid until the next `take`."""
        if self._file is None:
            return [np.broadcast_to(copy, copy.shape) for copy in self._copies]
        places = itertools.accumulate((matrix.nbytes for matrix in matrices), initial=0)
        return [
            np.asarray(np.memmap(self._file, np.float32, "r", place, matrix.shape))
            for place, matrix in zip(places, matrices, strict=False)
        ]


def _write(file, matrix):
    left = memoryview(matrix).cast("B")
    while left:
        left = left[file.write(left) :]


class Round(NamedTuple):
    """A round of an epoch; blocks : int64, (workers, 2), every worker's positions in the walk, [from, to)."""

    epoch: int
    number: int
    blocks: np.ndarray

    @property
    def positions(self):
        """The number of positions of the walk that it covers (int)."""
        return int((self.blocks[:, 1] - self.blocks[:, 0]).sum())


class Engine:
    """Trains a model in rounds of at most one `block` of positions per worker.

    It holds the matrices, into which those of the model are views, checks them, and keeps a state to return to.
    Between rounds the model does not change and can be read. An engine of several ranks (`ranks.RanksEngine`) has
    `n_rounds`, `n_positions`, `plan`, `run`, `go_back`, `report` and `close` as well, and its matrices are those of its
    `replica` on this machine.

    model : Model; walk : Traversal; config : RunSpec
    n_private : dict of matrix -> int, number of first rows that every worker has copies of; 0 if missing
    inputs : Inputs, optional, composes a centre's vector from several rows
    n_rounds, n_positions : int, rounds of an epoch, and positions of the walk through the data that they cover
    alpha_scale : float, factor for the learning rate
    slot : int, the rank, from 0; each rank has its own random streams, and the first has those of a run without ranks
    """

    alpha_scale, slot = 1.0, 0

    def __init__(self, model, walk, block, config, n_private=None, inputs=None):
        matrices, workers, strengths = model.matrices(), config.workers, l2_strengths(config.l2)
        self.inputs, self.workers = inputs, workers
        self.n_rows = {name: len(matrix) for name, matrix in matrices.items()}
        self.n_private = dict.fromkeys(self.n_rows, 0) | (n_private or {})
        self.replicated: dict[str, np.ndarray] = {}
        self._snapshot: Any = None  # a Snapshot, while a state is kept
        for name in list(matrices):  # one after the other, so that only one exists twice at a time
            self.replicated[name] = self._tall(matrices.pop(name), self.n_private[name])
            model.adopt({**model.matrices(), name: self.shared(name)})
        self._composed = False  # whether composed matrices are up to date
        self.compose()
        self.walk, self.block, self.seed = walk, block, config.seed
        self._l2 = L2(*strengths, config.l2_power, config.bias) if any(strengths) else None
        self.n_positions = walk.n_positions
        self.n_rounds = -(-walk.n_positions // (block * workers))
        self.tokens = np.empty((workers, walk.room(block)), np.int32)
        self.ranges = np.zeros((workers, 2), np.int64)
        self.rngs = np.zeros((workers, 8), np.uint64)  # a cache line each

    @property
    def replica(self):
        """The engine on this machine, for reading its plugs, walk and matrices."""
        return self

    def shared(self, name):
        """Return the rows of a matrix without the workers' copies."""
        return self.replicated[name][: self.n_rows[name]]

    def compose(self):
        """Update the matrices that are composed of others, not trained."""
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

    def _tall(self, matrix, n_private):
        """Return `matrix` followed by each worker's copies of its first rows; `matrix` itself if there are none."""
        if not n_private:
            return np.require(matrix, np.float32, ("C", "A", "W"))
        replicated = np.empty((len(matrix) + self.workers * n_private, matrix.shape[1]), np.float32)
        replicated[: len(matrix)] = matrix
        self._spread(replicated, n_private)
        return replicated

    def _spread(self, replicated, n_private):
        """Write every worker's copies of the first rows, which follow the shared ones."""
        start = len(replicated) - self.workers * n_private
        for first in range(start, len(replicated), n_private or 1):
            replicated[first : first + n_private] = replicated[:n_private]

    def set_rows(self, name, rows):
        """Write all rows of a matrix, float32, and every worker's copies of them."""
        self.shared(name)[:] = rows
        self.rows_were_set(name)

    def rows_were_set(self, name):
        """Update everything that depends on a matrix's shared rows, after they were written."""
        self._spread(self.replicated[name], self.n_private[name])
        self._composed = False

    def healthy(self):
        """Return whether every number is finite and of a sane size."""
        extremes = [(rows.min(), rows.max()) for rows in self.replicated.values()]  # NaN where there is one
        return bool(all(low > -_EXPLODED and high < _EXPLODED for low, high in extremes))

    def keep(self, state=None):
        """Keep this state, or another one given as matrices by name, instead of the one kept before."""
        shared = [self.shared(name) if state is None else state[name] for name in self.replicated]
        if self._snapshot is None:
            self._snapshot = Snapshot(sum(matrix.nbytes for matrix in shared))
        self._snapshot.take(shared)

    def kept(self):
        """Return the state kept last (dict of str -> float32 array, read-only), until another one is kept."""
        shared = [self.shared(name) for name in self.replicated]
        return dict(zip(self.replicated, self._snapshot.copies(shared), strict=True))

    def go_back(self):
        """Return to the state kept last."""
        for name, matrix in self.kept().items():
            self.set_rows(name, matrix)

    def forget(self):
        """Discard the state kept last."""
        self._snapshot = None

    def plan(self, epoch):
        """Return the rounds of an epoch, a list of `Round`; the same for the same seed."""
        order = rounds_of(self.walk.n_positions, self.block, self.workers, self._stream(_ORDER, self.seed, epoch))
        return [Round(epoch, number, blocks) for number, blocks in enumerate(order)]

    def run(self, round, alphas):
        """Train one round.

        round : Round, of `plan`; alphas : (float, float), learning rate at both ends
        Returns (loss, pairs) : (float, int): sum of the losses, NaN if a row left the finite numbers; number of pairs
        """
        raise NotImplementedError

    def report(self, epoch):
        """Return an event about the rounds since the last one, for the end of `epoch`, from 1, or None."""
        return None

    def close(self):
        """Release remote resources; the matrices keep their last state."""

    def _start_streams(self, round):
        """Start every worker's random stream; return the keys of subsampling and of the round's draws."""
        keys = _DRAWN, self.seed, round.epoch, round.number
        for worker in range(self.workers):
            self.rngs[worker, 0] = self._stream(*keys, worker)
        return self._stream(_KEPT, self.seed, round.epoch), keys

    def _stream(self, *names):
        return stream_key(*names, self.slot) if self.slot else stream_key(*names)
