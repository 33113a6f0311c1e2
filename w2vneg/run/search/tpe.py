"""Combinations proposed by Optuna's TPE (Bergstra and others 2011), with runs given up by the median of others.

TPE draws the first ten at random. Then it models where good and where bad runs lie, and proposes what is likelier
among the good. A run is given up when its best evaluation so far is worse than the median of what the runs before it
had at that point. Trials of a folder that is gone on with are added without their curves, so that a search that was
interrupted may try other combinations than one that was not.
"""

import math

from ...ground.errors import require
from ...ground.events import Validated
from .space import combinations
from .trials import key_of

_FIRST = 5  # runs that go to their ends before any is given up


class Tpe:
    """Proposes `n` combinations (see `tuning.Planned`).

    Parameters
    ----------
    grid : dict of str -> list of values
    ranges : dict of str -> space.Range
    n : int
        With those that the folder has.
    seed : int
    """

    def __init__(self, grid, ranges, n, seed):
        self._optuna = require("optuna", "optuna", "--search tpe")
        self._optuna.logging.set_verbosity(self._optuna.logging.WARNING)
        self._grid, self._ranges, self._n, self._seed = grid, ranges, n, seed
        self._study = self._running = None

    def __len__(self):
        return self._n

    def corners(self):
        """Return the combinations of the grid and of the ends of the ranges, a list of dict."""
        return combinations(self._grid | {name: [span.low, span.high] for name, span in self._ranges.items()})

    def begin(self, trials, metric):
        """Take up the trials of a folder (list of Trial); `metric` is the Metric to choose by."""
        optuna = self._optuna
        self._study = optuna.create_study(
            direction="maximize" if metric.sign > 0 else "minimize",
            sampler=optuna.samplers.TPESampler(seed=self._seed),
            pruner=optuna.pruners.MedianPruner(n_startup_trials=_FIRST),
        )
        groups = {}
        for trial in trials:
            groups.setdefault(key_of(trial.options, 0), []).append(trial)
        self._former = [group for group in groups.values() if self._covers(group[0].options)][: self._n]
        for group in self._former:
            self._study.add_trial(self._as_frozen(group, metric))

    def __iter__(self):
        yield from (group[0].options for group in self._former)
        for _ in range(self._n - len(self._former)):
            self._running = self._study.ask(self._distributions())
            yield self._options(self._running.params)

    def tell(self, trials, metric):
        """Tell what came of the combination that was proposed last: its trials, one a seed."""
        if self._running is None:  # one of the folder, which the study has
            return
        states, failed = self._optuna.trial.TrialState, [trial for trial in trials if trial.reason is not None]
        if failed or not trials:
            self._study.tell(self._running, state=states.PRUNED if failed and failed[0].given_up else states.FAIL)
        else:
            self._study.tell(self._running, _mean(trials, metric))
        self._running = None

    def should_prune(self, event, first):
        """Tell whether a run is to be given up after an event; `first`: it is that of the first seed."""
        if not isinstance(event, Validated) or self._running is None or not first:
            return False
        self._running.report(event.value, round(1000 * event.epoch))
        return self._running.should_prune()

    def _distributions(self):
        kinds = self._optuna.distributions
        found = {name: kinds.CategoricalDistribution(values) for name, values in self._grid.items()}
        for name, span in self._ranges.items():
            kind = kinds.IntDistribution if span.whole else kinds.FloatDistribution
            found[name] = kind(span.low, span.high, log=span.log)
        return found

    def _options(self, params):
        """Return proposed values with the digits of `space.Range.draw`."""
        return {name: self._ranges[name].rounded(v) if name in self._ranges else v for name, v in params.items()}

    def _covers(self, options):
        """Tell whether a combination lies in this grid and these ranges."""
        return options.keys() == {*self._grid, *self._ranges} and all(
            value in self._grid[name]
            if name in self._grid
            else isinstance(value, int | float) and self._ranges[name].low <= value <= self._ranges[name].high
            for name, value in options.items()
        )

    def _as_frozen(self, group, metric):
        states = self._optuna.trial.TrialState
        failed = any(trial.reason is not None for trial in group)
        result = {"state": states.FAIL} if failed else {"value": _mean(group, metric)}
        return self._optuna.trial.create_trial(params=group[0].options, distributions=self._distributions(), **result)


def _mean(trials, metric):
    return math.fsum(trial.figures[metric.name] for trial in trials) / len(trials)
