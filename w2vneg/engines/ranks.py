"""A run on several ranks: each has an engine over its share of the data, and they exchange what they have learnt.

A round of the trainer is a period. All ranks start it with the same rows, their version, and each trains on its own
data. Then row i of every matrix belongs to rank i mod N, its owner:

    each rank      Δ = rows now − rows of the version, in N parts, one for each owner
    each owner     merges the parts that it receives (`kernels.merge`)
    each rank      rows = rows of the version + merged changes of all owners: the next version

Changes are rounded for transfer (`Packer`). The owner uses its rounded change, too, so all ranks hold the same bits.
All three steps depend only on the version and their arguments, so a rank that was lost needs only its share of the data
and the rows of a version from any other rank.

The model is read, checked and kept in a replica on this machine, an engine that does not train by itself.
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

_ROOM = 1 << 17  # float32 numbers of a block: half a megabyte, which fits in a core's cache


class Packed(NamedTuple):
    """Rows packed for transfer between ranks.

    ids : int32, (n,), positions of the rows; None: all of them. Unchanged rows are left out if that is cheaper: each
        listed row costs four bytes more.
    values : float16 or float32, (n, dim); float16 halves the bytes without a noticeable effect on training
    """

    ids: np.ndarray | None
    values: np.ndarray


class Packer:
    """Packs `n_rows` rows block by block, into a reused buffer."""

    def __init__(self, n_rows, dim, dtype):
        self._values, self._moved = np.empty((n_rows, dim), dtype), np.empty(n_rows, np.bool_)

    def add(self, begin, rows):
        """Pack rows, float32 (n, dim), the first of which has the position `begin`."""
        place = slice(begin, begin + len(rows))
        values, moved = self._values[place], self._moved[place]
        if values.dtype == np.float16:
            to_halves(rows, values.view(np.uint16), moved)
        else:
            values[:] = rows
            np.any(rows, axis=1, out=moved)

    def packed(self):
        """Return all rows as `Packed`, valid until others are added."""
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
    """The task of a rank in a period."""

    version: int  # that it starts from
    epoch: int
    number: int  # of the period in `epoch`, which has `n_periods`
    n_periods: int
    alphas: tuple  # (float, float), learning rate at both ends


class Work(NamedTuple):
    """The result of a rank in a period: sum of losses, number of pairs, seconds taken."""

    loss: float
    pairs: int
    seconds: float


class Rank:
    """A rank.

    slot : int, from 0
    share : its data, `assembly.Share`: ``ready(config)`` returns the number of positions of its walk, ``engine(plan,
        frozen)`` a LocalEngine over them
    """

    def __init__(self, slot, share=None):
        self.slot, self.share, self.loaded = slot, share, False  # loaded: it has rows of a version

    def ready(self, config):
        """Prepare for a run with `config`, resolved; return the number of positions in an epoch (int)."""
        self.n_ranks, self.dtype = config.ranks, config.exchange_dtype
        return self.share.ready(config)

    def begin(self, plan, frozen):
        """Build the engine, without loading its rows. plan : ExchangesPlanned; frozen : as in `Model`."""
        self.engine = self.share.engine(plan, frozen)
        self.engine.slot = self.slot
        self.version, self.loaded, self._moved = 0, False, False
        self._rounds_of = functools.lru_cache(1)(self.engine.plan)
        self._base = {name: matrix.copy() for name, matrix in self.rows().items()} if self.n_ranks > 1 else {}

    def rows(self):
        """Return the trained matrices, views (dict of str -> float32 array)."""
        return {name: self.engine.shared(name) for name in self.engine.trained}

    def train(self, task):
        """Train this rank's part of a period; return `Work`.

        A repeated call for the same version gives the same result. RuntimeError if this rank has another version.
        """
        if task.version != self.version:
            raise RuntimeError(f"cannot train from version {task.version}; this rank has version {self.version}")
        started = time.perf_counter()
        if self._base and self._moved:
            self._set(self._base)
        self._moved = True
        rounds = self._rounds_of(task.epoch)
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

        made_up : float, optional, used as the change of every number, to time an exchange
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
        """Packers of changes: dict of matrix -> list of Packer, one per owner, then one for the rows merged here."""
        n, packers = self.n_ranks, {}
        for name, base in self._base.items():
            sizes = [len(base[owner::n]) for owner in (*range(n), self.slot)]
            packers[name] = [Packer(size, base.shape[1], self.dtype) for size in sizes]
        return packers

    def _in_blocks(self, owners, n_rooms, work):
        """Call ``work(name, owner, block, room)`` for all rows of some owners, with one thread per worker.

        block : slice, some of the rows of `owner`, few enough to stay in a core's cache
        room : float32, (n_rooms, rows of the block, dim), scratch space
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
        """Merge the changes of the rows that this rank owns: dict of matrix -> Packed, valid until the next merge.

        works : list of Work, the result of each rank; parts : list of dict of matrix -> Packed, the changes of each
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
        """Advance to the next version. merged : list of dict of matrix -> Packed, of all owners, in order

        It is empty if there is one rank, whose trained rows are the next version.
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
        """Return the rows of the version (dict of str -> float32 array); do not modify them."""
        return self._base or self.rows()

    def load(self, version, state):
        """Restart from a version, whose rows are `state`."""
        self.version, self.loaded = version, True
        for name, base in self._base.items():
            base[:] = state[name]
        self._set(state)

    def _set(self, state):
        self._moved = False
        for name, rows in state.items():
            self.engine.set_rows(name, rows)


class VirtualCrew:
    """All ranks in one process, one after the other: the result of several machines, to the bit if each rank repeats.

    Its methods are those of `ray.Crew`.
    """

    side_by_side, lost = False, 0
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
        """Do nothing: there are no remote resources."""


class RanksEngine:
    """Plans periods and keeps a replica; see `Engine`.

    crew : VirtualCrew or ray.Crew, whose ranks have begun; `period` runs a `Task` on all and advances them to the next
        version, `state` and `load` get and set the rows of a version
    replica : Engine, its matrices are the model's; n_rounds : int, periods of an epoch
    n_positions : int, of all ranks' walks together; alpha_scale : float
    """

    _fetched: int  # version of the replica

    def __init__(self, crew, replica, n_rounds, n_positions, alpha_scale):
        self.crew, self._replica, self.n_rounds, self.n_positions = crew, replica, n_rounds, n_positions
        self.alpha_scale, self._times, self.version = alpha_scale, [], 0  # version: exchanges so far
        self._send()

    @property
    def replica(self):
        """The engine on this machine, updated to the ranks' version."""
        if self._fetched != self.version:
            for name, rows in self.crew.state().items():
                self._replica.set_rows(name, rows)
            self._fetched = self.version
        return self._replica

    def _send(self):
        """Restart every rank from the replica's rows."""
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
