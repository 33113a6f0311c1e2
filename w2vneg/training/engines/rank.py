"""One rank of a run: an engine of its own over its share of the data, and its part in the exchange.

All ranks begin a period with the same rows, their version. Each trains on data of its own. Then row i of every matrix
belongs to rank i mod N, its owner:

    each rank      Δ = rows now − rows of the version, in N parts, one for each owner
    each owner     merges the parts that it gets (`kernels.exchange`)
    each rank      rows = rows of the version + merged changes of all owners: the next version

What travels is rounded (`wire`), so an owner, too, takes its change as the others get it, and all ranks hold the same
bits. All three steps are functions of the version and of what they are given. So a rank that was lost needs nothing
but the rows of a version from any other, and its share of the data.
"""

import time
from typing import NamedTuple

import numpy as np

from ...jit import launch
from ...kernels.exchange import merge_changes
from ...kernels.schedule import linear
from .wire import pack, unpack


class Task(NamedTuple):
    """What a rank is to do in a period.

    version : int, that it begins with
    epoch, number, n_periods : int, which period of which epoch, of how many
    alphas : (float, float), learning rate at both ends
    temperature : float or None, T from now on
    """

    version: int
    epoch: int
    number: int
    n_periods: int
    alphas: tuple
    temperature: float | None


class Work(NamedTuple):
    """What a rank has done in a period: loss, its sum; pairs, their number; seconds that it took."""

    loss: float
    pairs: int
    seconds: float


class Rank:
    """A rank.

    Parameters
    ----------
    engine : LocalEngine
        Over this rank's share; its `slot` is set.
    slot : int, from 0
    n_ranks : int
    dtype : str, of `config.ranks.DTYPES`
    """

    def __init__(self, engine, slot, n_ranks, dtype):
        self.engine, self.slot, self.n_ranks, self.dtype = engine, slot, n_ranks, dtype
        engine.slot = slot
        self.version, self._moved, self._rounds = 0, False, (None, [])
        self._base = {name: matrix.copy() for name, matrix in self.rows().items()} if n_ranks > 1 else {}

    def rows(self):
        """Return the trained matrices, views (dict of str -> float32 array)."""
        return {name: self.engine.shared(name) for name in self.engine.trained}

    def train(self, task):
        """Train this rank's part of a period; return `Work`.

        Asked again for the same version it does the same again. RuntimeError if it has another.
        """
        if task.version != self.version:
            raise RuntimeError(f"asked to go on from version {task.version}, but has version {self.version}")
        started = time.perf_counter()
        if self._base and self._moved:
            self._set(self._base)
        self._moved = True
        rounds = self._rounds_of(task)
        if task.temperature is not None:
            self.engine.set_temperature(task.temperature)
        loss, pairs, n = 0.0, 0, len(rounds)
        for k, now in enumerate(rounds):
            end = linear(*task.alphas, (k + 1) / n) if k + 1 < n else task.alphas[1]
            more = self.engine.run(now, (linear(*task.alphas, k / n), end))
            loss, pairs = loss + more[0], pairs + more[1]
        return Work(loss, pairs, time.perf_counter() - started)

    def _rounds_of(self, task):
        epoch, rounds = self._rounds
        if epoch != task.epoch:
            rounds = self.engine.plan(task.epoch)
            self._rounds = task.epoch, rounds
        first, last = (len(rounds) * k // task.n_periods for k in (task.number, task.number + 1))
        return rounds[first:last]

    def changes(self, made_up=None):
        """Return what training changed, a part for each owner: list of dict of matrix -> Packed.

        made_up : float, optional, a change of every number, to see what an exchange takes
        """
        n, parts = self.n_ranks, [{} for _ in range(self.n_ranks)]
        for name, rows in self.rows().items():
            change = rows - self._base[name] if made_up is None else np.full_like(rows, made_up)

            def pack_for(owner, name=name, change=change):
                parts[owner][name] = pack(change[owner::n], self.dtype)

            self._for_all(pack_for)
        return parts

    def _for_all(self, work):
        """Call ``work(owner)`` for all owners, on as many threads as this rank has workers."""
        n, workers = self.n_ranks, min(self.engine.workers, self.n_ranks)

        def some(worker):
            for owner in range(worker, n, workers):
                work(owner)

        launch(some, workers)

    def merge(self, task, works, parts):
        """Merge the changes of the rows that this rank owns.

        Parameters
        ----------
        task : Task
        works : list of Work, what each rank has done
        parts : list of dict of matrix -> Packed, what each rank has changed of these rows

        Returns
        -------
        dict of matrix -> Packed
        """
        work, merged = task.alphas[0] * sum(one.pairs for one in works) / self.n_ranks, {}
        for name, base in self._base.items():
            own = base[self.slot :: self.n_ranks]
            changes = np.empty((len(parts), *own.shape), np.float32)
            for part, out in zip(parts, changes, strict=True):
                unpack(part[name], out)
            together = np.empty(own.shape, np.float32)
            pulls = self.engine.pulls(name, work)[self.slot :: self.n_ranks]
            merge_changes(changes, np.ascontiguousarray(pulls), together, self.engine.workers, self.engine.undamped)
            merged[name] = pack(together, self.dtype)
        return merged

    def apply(self, merged):
        """Go on to the next version: merged changes of all owners, list of dict of matrix -> Packed, in order.

        None of a rank that is alone: what it has trained is the next version.
        """

        def add(owner):
            for name, base in self._base.items():
                own = base[owner :: self.n_ranks]
                change = np.empty(own.shape, np.float32)
                unpack(merged[owner][name], change)
                own += change

        if merged:
            self._for_all(add)
        self._set(self._base)
        self.version += 1

    def state(self):
        """Return the rows of the version (dict of str -> float32 array, not to be written to)."""
        return self._base or self.rows()

    def load(self, version, state):
        """Begin anew with the rows of a version, those of `state`."""
        self.version = version
        for name, base in self._base.items():
            base[:] = state[name]
        self._set(state)

    def _set(self, state):
        self._moved = False
        for name, rows in state.items():
            self.engine.set_rows(name, rows)
