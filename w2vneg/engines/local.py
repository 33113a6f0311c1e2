"""Rounds on this machine's cores: matrices with each worker's private rows, the launches, the merge.

Sharing rows between cores is what costs most: the hot rows of a Zipf vocabulary bounce from cache to cache, and a
second thread can make plain Hogwild slower. So each worker trains its own copies of the H most frequent rows, and
between rounds their changes are summed into the shared rows. H = 0 is plain Hogwild.
"""

import os

import numpy as np

from ..jit import threads
from ..kernels.linalg import width_of
from ..kernels.round import fill_round, largest_magnitude, merge_round, train_round
from ..kernels.shard import Plugs
from ..schedule import stream_key

_EXPLODED = 1e4  # a coordinate beyond this is no embedding any more


def private_rows(n_vocab, dim, workers):
    """Choose H: every row, as long as one worker's copies of a matrix stay within 64 MB and all copies within an eighth
    of memory. Merging more costs more time than the rarer rows, seldom shared at one moment, would save.
    """
    if workers == 1:
        return 0
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        memory = 4 * 2**30
    return int(min(n_vocab, 64 * 2**20 // (4 * dim), memory // 8 // (workers * 2 * dim * 4)))


class LocalEngine:
    """Runs rounds of one model.

    Parameters
    ----------
    model : Model
        Its matrices become views into the engine's tall ones.
    plugs : Plugs
    shape : Shape
    block : int
        Largest number of tokens in a worker's block.
    workers, n_private : int
    """

    def __init__(self, model, plugs, shape, block, workers, n_private):
        n_vocab, dim = model.vectors_in.shape
        self.shape, self.workers, self.width = shape, workers, width_of(dim)
        self.n_private = min(n_private, n_vocab) if workers > 1 else 0
        self.n_vocab = n_vocab
        self.tall = {name: self._copied(matrix) for name, matrix in model.matrices().items()}
        self._kept = None
        model.adopt({name: tall[:n_vocab] for name, tall in self.tall.items()})
        self.plugs = Plugs(*(self._with_tall(plug) for plug in plugs))
        self.tokens = np.empty((workers, 2 * block + 2 * shape.max_positives + 8), np.int32)
        self.spans = np.zeros((workers, 2), np.int64)
        self.rngs = np.zeros((workers, 8), np.uint64)

    def _copied(self, matrix):
        """Return a tall matrix: `matrix`, then each worker's copies of its first rows."""
        tall = np.empty((self.n_vocab + self.workers * self.n_private, matrix.shape[1]), np.float32)
        self._spread(tall, matrix)
        return tall

    def _spread(self, tall, matrix):
        tall[: self.n_vocab] = matrix
        for worker in range(self.workers):
            start = self.n_vocab + worker * self.n_private
            tall[start : start + self.n_private] = matrix[: self.n_private]

    def _with_tall(self, plug):
        """Let a plug that trains rows of its own train those that this engine keeps."""
        names = getattr(plug, "parameters", ())
        return plug._replace(**{name: self.tall[name] for name in names}) if names else plug

    @property
    def vectors_in(self):
        return self.tall["vectors_in"][: self.n_vocab]

    @property
    def vectors_out(self):
        return self.tall["vectors_out"][: self.n_vocab]

    def run(self, blocks, alphas, epoch_key, round_keys):
        """Train on one block per worker and merge.

        Parameters
        ----------
        blocks : int64, (workers, 2), [from, to) in tokens; alphas : (float, float), learning rate at both ends
        epoch_key : int, names the choice of kept tokens; round_keys : tuple of int, names the round's streams

        Returns
        -------
        (loss, pairs) : (float, int)
            loss is NaN if a row left the finite numbers.
        """
        losses, pairs = np.zeros(self.workers), np.zeros(self.workers, np.int64)
        for worker in range(self.workers):
            self.rngs[worker, 0] = stream_key(*round_keys, worker)
        with threads(self.workers):
            fill_round(self.plugs.source, blocks, epoch_key, self.tokens, self.spans)
            for spans, part_alphas, batch in self._batches(alphas):
                self._refresh(spans, (*round_keys, batch))
                train_round(
                    *self.plugs,
                    self.shape,
                    self.width,
                    self.tall["vectors_in"],
                    self.tall["vectors_out"],
                    self.n_private,
                    self.tokens,
                    spans,
                    part_alphas,
                    self.rngs,
                    losses,
                    pairs,
                )
            self.merge()
        return float(losses.sum()), int(pairs.sum())

    def _batches(self, alphas):
        """Yield the launches of a round: one, or as many as a sampler that draws ahead asks for."""
        alphas = np.tile(np.array(alphas, np.float64), (self.workers, 1))
        size = getattr(self.plugs.sampler, "batch_groups", None)
        if size is None:
            yield self.spans, alphas, 0
            return
        first, last = self.spans[:, 0], self.spans[:, 1]
        slope = (alphas[:, 1] - alphas[:, 0]) / np.maximum(last - first, 1)
        for batch in range(-(-int((last - first).max()) // size)):
            spans = np.stack([np.minimum(first + batch * size, last), np.minimum(first + (batch + 1) * size, last)], 1)
            yield spans, alphas[:, :1] + slope[:, None] * (spans - first[:, None]), batch

    def _refresh(self, spans, keys):
        sampler = self.plugs.sampler
        if not hasattr(sampler, "batch_groups"):
            return
        centres = np.full((self.workers, sampler.batch_groups), -1, np.int32)
        for worker, (first, last) in enumerate(spans):
            centres[worker, : last - first] = self.tokens[worker, first:last]
        sampler.refresh(self.vectors_in, self.vectors_out, centres, stream_key(*keys))

    def merge(self):
        """Sum the changes of all workers' private rows into the shared rows (see `kernels.round.merge_round`)."""
        if self.n_private:
            for tall in self.tall.values():
                merge_round(tall, self.n_private, self.workers, 4 * self.workers)

    def healthy(self):
        """Tell whether every number is finite and of a sane size."""
        with threads(self.workers):
            return all(largest_magnitude(tall, 4 * self.workers) < _EXPLODED for tall in self.tall.values())

    def keep(self):
        """Remember this state, in place of the one kept before, for `go_back`."""
        if self._kept is None:
            self._kept = {name: np.empty_like(tall[: self.n_vocab]) for name, tall in self.tall.items()}
        for name, kept in self._kept.items():
            np.copyto(kept, self.tall[name][: self.n_vocab])

    def go_back(self):
        """Return to the state kept last: shared rows and every worker's copies."""
        for name, kept in self._kept.items():
            self._spread(self.tall[name], kept)
