"""Rounds on this machine's cores: matrices with each worker's private rows, the launches, the merge.

Sharing rows between cores is the main cost: the hot rows of a Zipf vocabulary bounce from cache to cache, and a second
thread can make plain Hogwild slower. So each worker trains its own copies of the H most frequent rows, and between
rounds their changes are summed into the shared rows. H = 0 is plain Hogwild.
"""

import functools

import numpy as np

from ..ground.jit import launch, threads
from ..kernels.groups import make_scratch
from ..kernels.linalg import Rows, width_of
from ..kernels.merge import merge_round
from ..kernels.schedule import linear
from ..kernels.shard import reading, train_round
from .engine import Engine

_HOT = 500  # rows that each worker has copies of; in a Zipf vocabulary they cause most of the contention
_COPIES = 16_000  # up to this many in total, copies of all rows are cheap, and a run repeats to the bit
_OF_TARGETS = 32_000  # the same, if copies of targets are enough
_PULL = 0.7  # about how far one pair at a learning rate of 1 moves a row to where it would settle


def private_rows(n_rows, n_vocab, workers, of_users=False):
    """Choose H for each matrix: all rows if they are few, else the hottest, as merging more costs more than it saves.

    n_rows : dict of matrix -> int; n_vocab : int, names of the larger vocabulary
    of_users : bool, centres are users: one worker at a time has a user's items, so workers compete for targets only
    """
    if workers == 1:
        return dict.fromkeys(n_rows, 0)
    few = n_vocab * workers <= _COPIES
    chosen = {name: min(n_vocab if few else _HOT, n) for name, n in n_rows.items()}
    if of_users and not few:
        n_targets = n_rows["vectors_out"]
        of_targets = n_targets if n_targets * workers <= _OF_TARGETS else chosen["vectors_out"]
        # rows of plugs, too: a row number from one of the two matrices indexes them
        chosen = {name: of_targets if name.endswith("_out") else 0 for name in n_rows}
    return chosen


class LocalEngine(Engine):
    """Runs rounds of one model.

    plugs : Plugs; shape : LoopSpec; others as for `Engine`
    """

    def __init__(self, model, walk, plugs, shape, block, n_private, config):
        super().__init__(model, walk, block, config, n_private, plugs.inputs)
        self.trained = [name for name in self.replicated if plugs.inputs is None or name not in plugs.inputs.derived]
        self._targets = walk.target_weights(model)
        self.frozen = model.frozen
        self.shape, self.width = shape, width_of(self.vectors_in.shape[1])
        self.plugs = plugs
        for kind in ("sampler", "weigher", "loss", "inputs"):
            plug = getattr(plugs, kind)
            if plug is not None and (names := plug.parameters):  # it trains rows of its own, which are held here
                plug = plug._replace(**{name: self.replicated[name] for name in names})
                self.plugs = self.plugs._replace(**{kind: plug})
        self._decay = {} if self._l2 is None else self._decay_of(self._l2)
        self.scratches = [make_scratch(shape, self.vectors_in.shape[1]) for _ in range(self.workers)]

    @functools.cached_property
    def _shares(self):
        """How often a pair moves each row, on average: dict of matrix -> float64, (n_rows,)."""
        return {name: self._shares_of(name) for name in self.trained}

    def _shares_of(self, name):
        if self.inputs is not None and name in self.inputs.rows:
            return self.inputs.touched(name, self.walk)
        if name == "vectors_out":
            return self.plugs.loss.touched(self._targets)
        weights = np.asarray(self._targets if name.endswith("_out") else self.walk.centre_weights, np.float64)
        return weights / max(float(weights.sum()), 1e-300)

    def _decay_of(self, l2):
        """Return by how much a pair shrinks rows of centres and targets, not those of plugs: dict of str -> array."""
        of_centres = {"vectors_in"} if self.inputs is None else {*self.inputs.rows}
        rates = {name: l2.rates(False, self._pairs_of(name)) for name in of_centres}
        return rates | {"vectors_out": l2.rates(True, self._pairs_of("vectors_out"))}

    def _pairs_of(self, name):
        """Return the mean number of pairs that move each row of a matrix in an epoch: float64, (n_rows,)."""
        walk = self.walk
        if walk.pairs_of is not None and (self.inputs is None or not self.inputs.composes):
            pairs, of_nodes = walk.pairs_of[name == "vectors_out"], name == "vectors_out" and self.plugs.loss.paths
            return pairs.sum() * self._shares_of(name) if of_nodes else pairs
        each = 1.0 if self.inputs is not None and self.inputs.around else walk.mean_group
        return float(walk.centre_weights.sum()) * each * self._shares_of(name)

    def pulls(self, name, work, which):
        """Return how far `work`, pairs of a trainer times alpha, moves rows to where they settle: float64, ≥ 0."""
        return _PULL * work * self._shares[name][which]

    @property
    def undamped(self):
        """How many workers may change a row before it is damped (int): near the root of a tree rows settle at once."""
        return 1 if self.plugs.loss.paths else 2

    def run(self, round, alphas):
        epoch_key, keys = self._start_streams(round)
        read = reading(self.plugs.source, round.blocks, epoch_key, self.tokens, self.ranges)
        if self.plugs.sampler.batch_groups:
            launch(read, self.workers)
            read = None
        loss, pairs = 0.0, 0
        for ranges, part_alphas in self._batches(alphas, keys):
            own = self.plugs, self.shape, self.scratches
            more = train_round(*own, *self._seen, self.tokens, ranges, part_alphas, self.rngs, read)
            loss, pairs = loss + more[0], pairs + more[1]
        self.merge(alphas[0] * pairs / self.workers)
        self._composed = False
        return loss, pairs

    @functools.cached_property
    def _seen(self) -> tuple[list, list]:
        """The rows from which each worker composes centres' vectors, as `run_shard` takes them, and targets' rows."""
        rows = [*map(self._rows, ("vectors_in",) if self.inputs is None else self.inputs.rows)]
        return rows[0] if self.inputs is None else list(zip(*rows, strict=True)), self._rows("vectors_out")

    def _rows(self, name):
        """Return a replicated matrix as each worker sees it, a list of `Rows`."""
        replicated, h, frozen = self.replicated[name], self.n_private[name], self.frozen.get(name)
        decay, held = self._decay.get(name), np.float32(self._l2.bias if self._l2 and name != "vectors_out" else 0)
        firsts = [len(replicated) - (self.workers - k) * h for k in range(self.workers)]
        return [Rows(replicated, h, first, k, self.width, frozen, decay, held) for k, first in enumerate(firsts)]

    def _batches(self, alphas, keys):
        """Yield the launches of a round: one, or as many as a sampler that draws ahead needs, each after its draws."""
        size = self.plugs.sampler.batch_groups
        if not size:
            yield self.ranges, np.tile(np.array(alphas, np.float64), (self.workers, 1))
            return
        first, last = self.ranges[:, :1], self.ranges[:, 1:]
        for batch in range(-(-int((last - first).max()) // size)):
            ranges = np.minimum(first + np.array([batch, batch + 1]) * size, last)
            self._refresh(ranges[:, :1], keys, batch)
            yield ranges, linear(*alphas, (ranges - first) / np.maximum(last - first, 1))

    def _refresh(self, first, keys, batch):
        sampler = self.plugs.sampler
        if sampler.foreseen and batch * sampler.batch_groups % sampler.foreseen == 0:
            sampler.foresee(self._centres(first, sampler.foreseen))
        centres = self._centres(first, sampler.batch_groups)
        with threads(self.workers):
            sampler.refresh(self.vectors_in, self.vectors_out, centres, self._stream(*keys, batch))

    def _centres(self, first, n):
        """Return the next n centres of each worker's range, from `first` on: int32, (workers, n), padded with −1."""
        centres = np.full((self.workers, n), -1, np.int32)
        for worker, (begin, end) in enumerate(np.c_[first, np.minimum(first + n, self.ranges[:, 1:])]):
            centres[worker, : end - begin] = self.tokens[worker, begin:end]
        return centres

    def merge(self, work):
        """Sum changes of all workers' private rows into the shared rows; work : of one worker, as `pulls` takes it."""
        if names := [name for name in self.trained if self.n_private[name]]:
            pulls = [self.pulls(name, work, slice(self.n_private[name])) for name in names]
            merge_round([self.replicated[name] for name in names], self.workers, self.workers, pulls, self.undamped)
