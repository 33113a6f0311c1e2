"""Rounds on this machine's cores: matrices with each worker's private rows, the launches, the merge.

Sharing rows between cores is what costs most: the hot rows of a Zipf vocabulary bounce from cache to cache, and a
second thread can make plain Hogwild slower. So each worker trains its own copies of the H most frequent rows, and
between rounds their changes are summed into the shared rows. H = 0 is plain Hogwild.
"""

import numpy as np

from ...jit import threads
from ...kernels.groups import make_scratch
from ...kernels.linalg import Rows, width_of
from ...kernels.round import fill_round, merge_round, train_round
from ...kernels.schedule import stream_key
from .matrices import Matrices

_COPIES = 16_000  # rows of a matrix that workers have copies of, all together
_PULL = 0.7  # by how much one pair at a learning rate of 1 takes a row to where it would settle, about


def private_rows(n_vocab, workers):
    """Choose H: the hottest rows. Merging more costs more time than the rarer ones, seldom shared at one moment, would
    save.
    """
    return 0 if workers == 1 else min(n_vocab, _COPIES // workers)


class LocalEngine(Matrices):
    """Runs rounds of one model.

    Parameters
    ----------
    model : Model
        Its matrices become views into the engine's replicated ones.
    walk : Walk
    plugs : Plugs
    shape : Shape
    block : int
        Largest number of positions in a worker's block.
    workers, n_private : int
    """

    def __init__(self, model, walk, plugs, shape, block, workers, n_private):
        super().__init__(model, workers, n_private)
        self.walk = walk
        square = model.vocab_out is model.vocab
        self._shares = {  # of all updates, that of each row with copies
            name: _shares(
                walk.centre_weights if square or not name.endswith("_out") else model.vocab_out.counts, self.n_private
            )
            for name in self.replicated
            if self.n_private
        }
        self.shape, self.width = shape, width_of(self.vectors_in.shape[1])
        trained = {name: self._with_replicated(getattr(plugs, name)) for name in ("sampler", "weigher", "loss")}
        self.plugs = plugs._replace(**trained)
        self.scratches = [make_scratch(shape, self.vectors_in.shape[1]) for _ in range(workers)]
        self.tokens = np.empty((workers, walk.room(block)), np.int32)
        self.ranges = np.zeros((workers, 2), np.int64)
        self.rngs = np.zeros((workers, 8), np.uint64)

    def _with_replicated(self, plug):
        """Let a plug that trains rows of its own train those that this engine keeps."""
        names = plug.parameters
        return plug._replace(**{name: self.replicated[name] for name in names}) if names else plug

    def run(self, blocks, alphas, epoch_key, round_keys):
        """Train on one block per worker and merge.

        Parameters
        ----------
        blocks : int64, (workers, 2), [from, to) in positions of the walk
        alphas : (float, float), learning rate at both ends
        epoch_key : int, names the choice of kept tokens; round_keys : tuple of int, names the round's streams

        Returns
        -------
        (loss, pairs) : (float, int)
            loss is NaN if a row left the finite numbers.
        """
        for worker in range(self.workers):
            self.rngs[worker, 0] = stream_key(*round_keys, worker)
        fill_round(self.plugs.source, blocks, epoch_key, self.tokens, self.ranges)
        inputs, out = self._rows("vectors_in"), self._rows("vectors_out")
        loss, pairs = 0.0, 0
        for ranges, part_alphas, batch in self._batches(alphas):
            self._refresh(ranges, (*round_keys, batch))
            more = train_round(
                self.plugs, self.shape, self.scratches, inputs, out, self.tokens, ranges, part_alphas, self.rngs
            )
            loss, pairs = loss + more[0], pairs + more[1]
        self.merge(alphas[0] * pairs / self.workers)
        return loss, pairs

    def _rows(self, name):
        """Return a replicated matrix as each worker sees it, a list of `Rows`."""
        replicated, h = self.replicated[name], self.n_private
        return [
            Rows(replicated, h, len(replicated) - (self.workers - k) * h, k, self.width) for k in range(self.workers)
        ]

    def _batches(self, alphas):
        """Yield the launches of a round: one, or as many as a sampler that draws ahead asks for."""
        alphas = np.tile(np.array(alphas, np.float64), (self.workers, 1))
        size = self.plugs.sampler.batch_groups
        if not size:
            yield self.ranges, alphas, 0
            return
        first, last = self.ranges[:, 0], self.ranges[:, 1]
        slope = (alphas[:, 1] - alphas[:, 0]) / np.maximum(last - first, 1)
        for batch in range(-(-int((last - first).max()) // size)):
            ranges = np.stack([np.minimum(first + batch * size, last), np.minimum(first + (batch + 1) * size, last)], 1)
            yield ranges, alphas[:, :1] + slope[:, None] * (ranges - first[:, None]), batch

    def _refresh(self, ranges, keys):
        sampler = self.plugs.sampler
        if not sampler.batch_groups:
            return
        centres = np.full((self.workers, sampler.batch_groups), -1, np.int32)
        for worker, (first, last) in enumerate(ranges):
            centres[worker, : last - first] = self.tokens[worker, first:last]
        with threads(self.workers):
            sampler.refresh(self.vectors_in, self.vectors_out, centres, stream_key(*keys))

    def merge(self, work):
        """Sum the changes of all workers' private rows into the shared rows (see `kernels.round.merge_round`).

        work : float, pairs of one worker since the last merge, times the learning rate (of the model: a plug's rows are
            taken to settle as fast)
        """
        if self.n_private:
            for name, replicated in self.replicated.items():
                pulls = _PULL * work * self._shares[name]
                merge_round(replicated, self.n_private, self.workers, self.workers, pulls)


def _shares(weights, n):
    """Return what the first n weights are of the sum of all, float64 (n,)."""
    return np.asarray(weights[:n], np.float64) / max(float(np.sum(weights)), 1e-300)
