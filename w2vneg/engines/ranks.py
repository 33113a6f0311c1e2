"""What the trainer sees of a run by several ranks: periods, each of which ends with an exchange.

A round of the trainer is a period: every rank trains its part, then the changes become those of all (`rank`). Looking
at the model, checking and keeping it go to a replica on this machine, an engine that never trains for itself.
"""

import time
from contextlib import nullcontext
from typing import NamedTuple

from ..ground.events import ExchangesDone
from .rank import Task


class Period(NamedTuple):
    """What all ranks do between two exchanges: `number` of `epoch`, both from 0; positions of all their walks."""

    epoch: int
    number: int
    positions: int


class VirtualCrew:
    """All ranks in one process, one after the other: what several machines would find, to the bit where a rank repeats.

    Its methods are those of `ray.Crew`.
    """

    side_by_side, lost, ranks = False, 0, ()
    beginning = nullcontext

    def open(self, shares):
        self._shares = list(shares)

    def ready(self, config):
        return sum(share.ready(config) for share in self._shares)

    def begin(self, plan, frozen):
        self.ranks = [share.begin(plan, frozen) for share in self._shares]

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
        return [Period(epoch, number, ends[number + 1] - ends[number]) for number in range(self.n_rounds)]

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
