"""A run by several ranks: an engine each over its share of the data, and exchanges of what they have learnt.

A round of the trainer is a period. All ranks begin it with the same rows, their version, and each trains on data of
its own. Then row i of every matrix belongs to rank i mod N, its owner:

    each rank      Δ = rows now − rows of the version, in N parts, one for each owner
    each owner     merges the parts that it gets (`kernels.merge`)
    each rank      rows = rows of the version + merged changes of all owners: the next version

What travels is rounded (`Packer`), so an owner, too, takes its change as the others get it, and all ranks hold the same
bits. All three steps are functions of the version and of what they are given. So a rank that was lost needs nothing
but the rows of a version from any other, and its share of the data.

Looking at the model, checking and keeping it go to a replica on this machine, an engine that never trains for itself.
"""

import functools
import math
import time
from contextlib import nullcontext
from typing import NamedTuple

import numpy as np

from ..ground.events import ExchangesDone
from ..ground.jit import launch
from ..kernels.merge import from_halves, merge_changes, to_halves
from ..kernels.schedule import linear
from .engine import Round

_ROOM = 1 << 17  # float32 numbers of a block: half a megabyte, which stays in a core's cache


class Packed(NamedTuple):
    """Rows on their way from rank to rank.

    ids : int32, (n,), places of the rows; None: all of them. Rows that did not change are left out where that is
        cheaper: each row that is named costs four bytes more.
    values : float16 or float32, (n, dim); float16 halves the bytes and loses nothing that training would notice
    """

    ids: np.ndarray
    values: np.ndarray

    @property
    def nbytes(self):
        return sum(array.nbytes for array in self if array is not None)


class Packer:
    """Packs `n_rows` rows block by block, into room that the next ones take again."""

    def __init__(self, n_rows, dim, dtype):
        self._values, self._moved = np.empty((n_rows, dim), dtype), np.empty(n_rows, np.bool_)

    def add(self, begin, rows):
        """Pack rows, float32 (n, dim), whose first has the place `begin`."""
        place = slice(begin, begin + len(rows))
        values, moved = self._values[place], self._moved[place]
        if values.dtype == np.float16:
            to_halves(rows, values.view(np.uint16), moved)
        else:
            values[:] = rows
            np.any(rows, axis=1, out=moved)

    def packed(self):
        """Return all rows as `Packed`, good until others are added."""
        values = self._values
        width = values.itemsize * values.shape[1]
        if np.count_nonzero(self._moved) * (width + 4) >= len(values) * width:
            return Packed(None, values)
        ids = np.flatnonzero(self._moved).astype(np.int32)
        return Packed(ids, values[ids])


def unpack(packed, begin, out):
    """Write the rows from `begin` on into `out`, float32, (n, dim); rows that were left out become 0."""
    places = slice(begin, begin + len(out))
    if packed.ids is None:
        _decode(packed, places, out)
        return
    places = slice(*np.searchsorted(packed.ids, (places.start, places.stop)))
    rows = np.empty((places.stop - places.start, out.shape[1]), np.float32)
    _decode(packed, places, rows)
    out[:] = np.float32(0.0)
    out[packed.ids[places] - begin] = rows


def _decode(packed, places, rows):
    values = packed.values[places]
    if values.dtype == np.float16:
        from_halves(values.view(np.uint16), rows)
    else:
        rows[:] = values


class Task(NamedTuple):
    """What a rank is to do in a period."""

    version: int  # that it begins with
    epoch: int
    number: int  # which period of `epoch`, of `n_periods`
    n_periods: int
    alphas: tuple  # (float, float), learning rate at both ends


class Work(NamedTuple):
    """What a rank has done in a period: loss, its sum; pairs, their number; seconds that it took."""

    loss: float
    pairs: int
    seconds: float


class Rank:
    """A rank.

    slot : int, from 0
    share : its data, `assembly.Share`: ``ready(config)`` returns how many positions its walk has, ``engine(plan,
        frozen)`` a LocalEngine over them
    """

    def __init__(self, slot, share=None):
        self.slot, self.share, self.loaded = slot, share, False  # loaded: it has had rows of a version

    def ready(self, config):
        """Prepare for a run with `config`, resolved; return how many positions an epoch has (int)."""
        self.n_ranks, self.dtype = config.ranks, config.exchange_dtype
        return self.share.ready(config)

    def begin(self, plan, frozen):
        """Make the engine; its rows are still to be loaded. plan : ExchangesPlanned; frozen : as of `Model`."""
        self.engine = self.share.engine(plan, frozen)
        self.engine.slot = self.slot
        self.version, self.loaded, self._moved, self._rounds = 0, False, False, (None, [])
        self._base = {name: matrix.copy() for name, matrix in self.rows().items()} if self.n_ranks > 1 else {}

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
        if self._rounds[0] != task.epoch:
            self._rounds = task.epoch, self.engine.plan(task.epoch)
        rounds = self._rounds[1]
        first, last = (len(rounds) * k // task.n_periods for k in (task.number, task.number + 1))
        rounds = rounds[first:last]
        loss, pairs, n = 0.0, 0, len(rounds)
        for k, now in enumerate(rounds):
            end = linear(*task.alphas, (k + 1) / n) if k + 1 < n else task.alphas[1]
            more = self.engine.run(now, (linear(*task.alphas, k / n), end))
            loss, pairs = loss + more[0], pairs + more[1]
        return Work(loss, pairs, time.perf_counter() - started)

    def changes(self, made_up=None):
        """Return what training changed, a part for each owner: list of dict of matrix -> Packed, until the next call.

        made_up : float, optional, a change of every number, to see what an exchange takes
        """
        n, live, base = self.n_ranks, self.rows(), self._base

        def pack(name, owner, block, room):
            if made_up is None:
                np.subtract(live[name][owner::n][block], base[name][owner::n][block], out=room[0])
            else:
                room[:] = made_up
            self._packers[name][owner].add(block.start, room[0])

        self._in_blocks(range(n), 1, pack)
        return [{name: packers[owner].packed() for name, packers in self._packers.items()} for owner in range(n)]

    @functools.cached_property
    def _packers(self):
        """Where changes are packed: dict of matrix -> list of Packer, of each owner's rows; last, of what it merges."""
        n, packers = self.n_ranks, {}
        for name, base in self._base.items():
            sizes = [len(base[owner::n]) for owner in (*range(n), self.slot)]
            packers[name] = [Packer(size, base.shape[1], self.dtype) for size in sizes]
        return packers

    def _in_blocks(self, owners, n_rooms, work):
        """Call ``work(name, owner, block, room)`` for all rows of some owners, on as many threads as there are workers.

        block : slice, some of the rows of `owner`, few enough that what is done with them stays in a core's cache
        room : float32, (n_rooms, rows of the block, dim), to be used
        """
        todo = []
        for name, base in self._base.items():
            size = max(1, _ROOM // (n_rooms * base.shape[1]))
            for owner in owners:
                n_rows = len(base[owner :: self.n_ranks])
                todo += [(name, owner, slice(k, min(k + size, n_rows))) for k in range(0, n_rows, size)]
        workers = self.engine.workers

        def some(worker):
            room = np.empty(max(_ROOM, n_rooms * max(base.shape[1] for base in self._base.values())), np.float32)
            for name, owner, block in todo[worker::workers]:
                shape = n_rooms, block.stop - block.start, self._base[name].shape[1]
                work(name, owner, block, room[: math.prod(shape)].reshape(shape))

        launch(some, workers)

    def merge(self, task, works, parts):
        """Merge the changes of the rows that this rank owns: dict of matrix -> Packed, good until the next merge.

        works : list of Work, what each rank has done; parts : list of dict of matrix -> Packed, what each has changed
        """
        work = task.alphas[0] * sum(one.pairs for one in works) / self.n_ranks
        pulls = {name: self.engine.pulls(name, work, slice(self.slot, None, self.n_ranks)) for name in self._base}

        def unite(name, _, block, room):
            changes, together = room[:-1], room[-1]
            for part, change in zip(parts, changes, strict=True):
                unpack(part[name], block.start, change)
            merge_changes(changes, pulls[name][block], together, self.engine.undamped)
            self._packers[name][-1].add(block.start, together)

        self._in_blocks([self.slot], len(parts) + 1, unite)
        return {name: packers[-1].packed() for name, packers in self._packers.items()}

    def apply(self, merged):
        """Go on to the next version: merged changes of all owners, list of dict of matrix -> Packed, in order.

        None of a rank that is alone: what it has trained is the next version.
        """
        n, live, base = self.n_ranks, self.rows(), self._base

        def add(name, owner, block, room):
            unpack(merged[owner][name], block.start, room[0])
            own = base[name][owner::n][block]
            own += room[0]
            live[name][owner::n][block] = own

        if merged:
            self._in_blocks(range(n), 1, add)
            for name in base:
                self.engine.rows_were_set(name)
        self._moved = False
        self.version += 1

    def state(self):
        """Return the rows of the version (dict of str -> float32 array, not to be written to)."""
        return self._base or self.rows()

    def load(self, version, state):
        """Begin anew with the rows of a version, those of `state`."""
        self.version, self.loaded = version, True
        for name, base in self._base.items():
            base[:] = state[name]
        self._set(state)

    def _set(self, state):
        self._moved = False
        for name, rows in state.items():
            self.engine.set_rows(name, rows)


class VirtualCrew:
    """All ranks in one process, one after the other: what several machines would find, to the bit where a rank repeats.

    Its methods are those of `ray.Crew`.
    """

    side_by_side, lost, ranks = False, 0, ()
    beginning = nullcontext

    def open(self, shares):
        self.ranks = [Rank(slot, share) for slot, share in enumerate(shares)]

    def ready(self, config):
        return sum(rank.ready(config) for rank in self.ranks)

    def begin(self, plan, frozen):
        for rank in self.ranks:
            rank.begin(plan, frozen)

    def load(self, version, state):
        for rank in self.ranks:
            rank.load(version, state)

    def state(self):
        return self.ranks[0].state()

    def period(self, task):
        works, merged = [rank.train(task) for rank in self.ranks], []
        if len(self.ranks) > 1:
            parts = [rank.changes() for rank in self.ranks]
            merged = [rank.merge(task, works, [part[rank.slot] for part in parts]) for rank in self.ranks]
        for rank in self.ranks:
            rank.apply(merged)
        return works

    def close(self):
        """Nothing lies elsewhere."""


class RanksEngine:
    """Plans periods and keeps a replica; see `Engine`.

    crew : VirtualCrew or ray.Crew, whose ranks have begun; `period` lets all do a `Task` and go on to the next version,
        `state` and `load` take and give the rows of a version
    replica : Engine, its matrices are the model's; n_rounds : int, periods of an epoch
    n_positions : int, of all ranks' walks together; alpha_scale : float
    """

    def __init__(self, crew, replica, n_rounds, n_positions, alpha_scale):
        self.crew, self._replica, self.n_rounds, self.n_positions = crew, replica, n_rounds, n_positions
        self.alpha_scale, self._times, self.version = alpha_scale, [], 0  # version: exchanges until now
        self._send()

    @property
    def replica(self):
        """The engine of this machine, brought to the ranks' version."""
        if self._fetched != self.version:
            for name, rows in self.crew.state().items():
                self._replica.set_rows(name, rows)
            self._fetched = self.version
        return self._replica

    def _send(self):
        """Let every rank begin anew with the replica's rows."""
        self.crew.load(self.version, {name: self._replica.shared(name) for name in self._replica.trained})
        self._fetched = self.version

    def plan(self, epoch):
        ends = [self.n_positions * k // self.n_rounds for k in range(self.n_rounds + 1)]
        return [Round(epoch, number, np.array([ends[number : number + 2]])) for number in range(self.n_rounds)]

    def run(self, round, alphas):
        started = time.perf_counter()
        works = self.crew.period(Task(self.version, round.epoch, round.number, self.n_rounds, alphas))
        self.version += 1
        trained = [work.seconds for work in works]
        training = (max if self.crew.side_by_side else sum)(trained)
        self._times.append((time.perf_counter() - started, training, trained))
        return sum(work.loss for work in works), sum(work.pairs for work in works)

    def report(self, epoch):
        times, self._times = self._times, []
        trained = [sum(of_rank) for of_rank in zip(*(each for _, _, each in times), strict=True)]
        if len(trained) < 2:
            return None
        seconds = sum(whole for whole, _, _ in times)
        slowest = max(range(len(trained)), key=trained.__getitem__)
        slowness = trained[slowest] * len(trained) / max(sum(trained), 1e-9)
        exchange = seconds - sum(training for _, training, _ in times)
        return ExchangesDone(epoch, len(trained), seconds, exchange, slowest, slowness, self.crew.lost)

    def go_back(self):
        self._replica.go_back()
        self._send()

    def close(self):
        self.crew.close()
