"""What the trainer asks of an engine, wherever its matrices lie; and what engines of this machine share."""

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from ..kernels.schedule import rounds_of, stream_key
from .matrices import Matrices

_KEPT, _DRAWN, _ORDER = 1, 2, 3  # first word of a random stream's name: subsampling, draws, order of blocks


class Round(NamedTuple):
    """A round of an epoch; blocks : int64, (workers, 2), every worker's, [from, to) in positions of the walk."""

    epoch: int
    number: int
    blocks: np.ndarray

    @property
    def positions(self):
        """How many positions of the walk it covers (int)."""
        return int((self.blocks[:, 1] - self.blocks[:, 0]).sum())


class Engine(ABC):
    """Trains a model round by round. Between rounds the model is quiet: whoever looks at it then sees it whole.

    n_rounds, n_positions : int, rounds of an epoch, and positions of the walk through the data that they cover
    vectors_in, vectors_out : float32, (n_vocab, dim), the model's matrices, views that stay the same ones
    alpha_scale : float, what the learning rate is multiplied by
    """

    alpha_scale = 1.0

    @property
    def replica(self):
        """The engine of this machine to look at closely: its plugs, walk and matrices. Mostly the engine itself."""
        return self

    @abstractmethod
    def plan(self, epoch):
        """Return the rounds of an epoch, a list of `Round`; the same for the same seed."""

    @abstractmethod
    def run(self, round, alphas):
        """Train one round.

        round : Round, of `plan`; alphas : (float, float), learning rate at both ends
        Returns (loss, pairs) : (float, int): sum of the losses, NaN if a row left the finite numbers; number of pairs
        """

    @abstractmethod
    def compose(self):
        """Bring matrices that are made of others, not trained, up to date."""

    @abstractmethod
    def healthy(self):
        """Tell whether every number is finite and of a sane size."""

    @abstractmethod
    def keep(self, state=None):
        """Remember this state, or another one given as its matrices by name, in place of the one kept before."""

    @abstractmethod
    def kept(self):
        """Return the state kept last (dict of str -> float32 array, read-only), until another one is kept."""

    @abstractmethod
    def go_back(self):
        """Return to the state kept last."""

    @abstractmethod
    def forget(self):
        """Let go of the state kept last."""

    def report(self, epoch):
        """Return an event about the rounds since the last one, for the end of `epoch`, from 1; None: nothing to say."""
        return None

    def close(self):  # noqa: B027, most have nothing elsewhere
        """Let go of what lies elsewhere; the matrices stay, as they were at last."""


class InMemoryEngine(Matrices, Engine):
    """Plans rounds of one `block` of positions a worker, at most, and starts their random streams.

    slot : int, which rank of a run these are, from 0: each has random streams of its own, and the first those of a run
        alone. Other parameters are those of `Matrices`.
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
