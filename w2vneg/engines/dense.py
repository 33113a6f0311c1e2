"""Rounds of the exact softmax: matrix products over batches of centres, one batch after the other.

The workers read their blocks in parallel and share the work on each batch. There are no races, so a seed repeats to the
bit with any number of threads, though the number of workers decides which blocks make up a round.
"""

from itertools import pairwise

import numpy as np

from ..ground.jit import launch, threads
from ..kernels.dense.blas import one_blas_thread
from ..kernels.dense.softmax import Groups, Manner, Workspace, batch_of, collect_groups, softmax_step
from ..kernels.schedule import linear
from ..kernels.shard import reading
from ..kernels.updates import shrink_all
from .engine import Engine


class DenseEngine(Engine):
    """Runs rounds of one model with a dense loss; parameters as for `Engine`."""

    def __init__(self, model, walk, loss, block, config):
        super().__init__(model, walk, block, config)
        self.source, self.loss = walk.source, loss
        self._decay: list = [None, None] if self._l2 is None else self._decay_of(self._l2)
        self._held = 0.0 if self._l2 is None else self._l2.bias
        self.batch, self.bounded, self.absolute = config.loss.batch, config.bounded_steps, config.absolute_softmax
        n_groups = config.workers * block
        # the last group may need room for the largest one, although it fills less
        self._groups = Groups.room(n_groups, (n_groups + 1) * walk.largest_group)
        self._work = Workspace.of(min(self.batch, len(self.vectors_in)), *self.vectors_out.shape)

    def _decay_of(self, l2):
        """Return by how much a pair shrinks the rows of centres and those of targets."""
        walk, alike = self.walk, len(self.vectors_in) == len(self.vectors_out)
        assert walk.pairs_of is not None or alike  # two kinds of names come as pairs
        pairs = walk.pairs_of or (walk.centre_weights * walk.mean_group,) * 2
        return [l2.rates(of_targets, pairs[of_targets]) for of_targets in (False, True)]

    def run(self, round, alphas):
        epoch_key, _ = self._start_streams(round)
        fraction = self.loss.fraction if self.loss.penalty else 0.0
        loss = 0.0
        with threads(self.workers), one_blas_thread():
            launch(reading(self.source, round.blocks, epoch_key, self.tokens, self.ranges), self.workers)
            n = collect_groups(self.source, self.tokens, self.ranges, self.rngs, fraction, self._groups)
            n_batches = -(-n // self.batch)
            borders = [n * k // n_batches for k in range(n_batches + 1)] if n else []  # of nearly equal size
            for first, last in pairwise(borders):
                alpha = linear(*alphas, (first + last) / (2 * n))
                loss += self._step(first, last, alpha)
        return loss, int(self._groups.ends[n - 1]) if n else 0

    def _step(self, first, last, alpha):
        groups = self._groups.part(first, last)
        centres, batch = batch_of(self.vectors_in, groups)
        manner = Manner(np.float32(alpha), self.bounded, self.absolute, np.float32(self.loss.penalty))
        loss = softmax_step(batch, self._work, self.vectors_out, manner)
        self.vectors_in[centres] = batch.rows
        pairs = np.repeat(groups.centres, np.diff(groups.ends, prepend=0))
        shrink_all(self.vectors_in, self._decay[0], pairs, alpha, self._held)
        shrink_all(self.vectors_out, self._decay[1], groups.positives, alpha)
        return loss
