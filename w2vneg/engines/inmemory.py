"""What engines of this machine share: matrices in memory, and an epoch cut into rounds of one block a worker."""

import numpy as np

from ..kernels.schedule import rounds_of, stream_key
from .engine import Engine, Round
from .matrices import Matrices

_KEPT, _DRAWN, _ORDER = 1, 2, 3  # first word of a random stream's name: subsampling, draws, order of blocks


class InMemoryEngine(Matrices, Engine):
    """Plans rounds, and starts their random streams.

    Parameters
    ----------
    model : Model
        Its matrices become the engine's.
    walk : Walk
    block : int
        Largest number of positions in a worker's block.
    workers : int
    n_private : int
        First rows of which every worker has copies.
    seed : int
    inputs : Inputs, optional

    Attributes
    ----------
    slot : int
        Which rank of a run these are, from 0: each has random streams of its own, and the first those of a run alone.
    """

    slot = 0

    def __init__(self, model, walk, block, workers, n_private, seed, inputs=None):
        super().__init__(model, workers, n_private, inputs)
        self.walk, self.block, self.seed = walk, block, seed
        self.n_positions = walk.n_positions
        self.n_rounds = -(-walk.n_positions // (block * workers))
        self.tokens = np.empty((workers, walk.room(block)), np.int32)
        self.ranges = np.zeros((workers, 2), np.int64)
        self.rngs = np.zeros((workers, 8), np.uint64)  # a cache line each

    def plan(self, epoch):
        order_key = self._stream(_ORDER, self.seed, epoch)
        order = rounds_of(self.walk.n_positions, self.block, self.workers, order_key)
        return [Round(epoch, number, blocks) for number, blocks in enumerate(order)]

    def _start_streams(self, round):
        """Start every worker's random stream; return the keys of the kept tokens' choice and of the round's draws."""
        keys = _DRAWN, self.seed, round.epoch, round.number
        for worker in range(self.workers):
            self.rngs[worker, 0] = self._stream(*keys, worker)
        return self._stream(_KEPT, self.seed, round.epoch), keys

    def _stream(self, *names):
        return stream_key(*names, self.slot) if self.slot else stream_key(*names)
