"""What the trainer sees of a run by several ranks: periods, each of which ends with an exchange.

A round of the trainer is a period: every rank trains its part, then the changes become those of all (`rank`). Looking
at the model, checking and keeping it go to a replica on this machine, an engine that never trains for itself.
"""

import time
from abc import abstractmethod
from typing import NamedTuple

from ..ground.events import ExchangesDone
from .engine import Engine
from .rank import Task


class Period(NamedTuple):
    """What all ranks do between two exchanges: `number` of `epoch`, both from 0; positions of all their walks."""

    epoch: int
    number: int
    positions: int


class RanksEngine(Engine):
    """Plans periods and keeps a replica; how ranks are reached is left to `VirtualEngine` and `ray`.

    replica : LocalEngine, its matrices are the model's; n_rounds : int, periods of an epoch
    n_positions : int, of all ranks' walks together; alpha_scale : float
    """

    replica = None
    side_by_side = True  # ranks train at the same time, not one after the other
    lost = 0  # how often a rank was lost and started again

    def __init__(self, replica, n_rounds, n_positions, alpha_scale=1.0):
        self.replica, self.n_rounds, self.n_positions = replica, n_rounds, n_positions
        self.alpha_scale, self._times, self.version = alpha_scale, [], 0  # version: exchanges until now

    @abstractmethod
    def _period(self, task):
        """Let all ranks do a `Task` and go on to the next version; return the `Work` of each, in order."""

    def _fetch(self):
        """Bring the replica to the ranks' version."""

    @abstractmethod
    def _send(self):
        """Let every rank begin anew with the replica's rows."""

    def plan(self, epoch):
        ends = [self.n_positions * k // self.n_rounds for k in range(self.n_rounds + 1)]
        return [Period(epoch, number, ends[number + 1] - ends[number]) for number in range(self.n_rounds)]

    def run(self, round, alphas):
        started = time.perf_counter()
        works = self._period(Task(self.version, round.epoch, round.number, self.n_rounds, alphas))
        self.version += 1
        trained = [work.seconds for work in works]
        self._times.append((time.perf_counter() - started, (max if self.side_by_side else sum)(trained), trained))
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
        return ExchangesDone(epoch, len(trained), seconds, exchange, slowest, slowness, self.lost)

    @property
    def vectors_in(self):
        self._fetch()
        return self.replica.vectors_in

    @property
    def vectors_out(self):
        self._fetch()
        return self.replica.vectors_out

    def compose(self):
        self._fetch()
        self.replica.compose()

    def healthy(self):
        self._fetch()
        return self.replica.healthy()

    def keep(self, state=None):
        self._fetch()
        self.replica.keep(state)

    def kept(self):
        return self.replica.kept()

    def go_back(self):
        self.replica.go_back()
        self._send()

    def forget(self):
        self.replica.forget()


class VirtualEngine(RanksEngine):
    """All ranks in one process, one after the other: what several machines would find, to the bit where a rank repeats.

    ranks : list of Rank; the first one's engine, whose matrices are the model's, serves as the replica
    """

    side_by_side = False

    def __init__(self, ranks, *others):
        super().__init__(ranks[0].engine, *others)
        self.ranks = ranks

    def _period(self, task):
        works, merged = [rank.train(task) for rank in self.ranks], []
        if len(self.ranks) > 1:
            parts = [rank.changes() for rank in self.ranks]
            merged = [rank.merge(task, works, [part[rank.slot] for part in parts]) for rank in self.ranks]
        for rank in self.ranks:
            rank.apply(merged)
        return works

    def _send(self):
        for rank in self.ranks:
            rank.load(self.version, {name: self.replica.shared(name) for name in self.replica.trained})
