"""Combinations for a search: all of a grid, random draws from a grid and ranges, or proposals of Optuna."""

import itertools
import math
from dataclasses import dataclass

import numpy as np

from ...config.synonyms import hint_for
from ...config.table import table
from ...ground.errors import ConfigError, require
from ...ground.events import Validated
from ...ground.option import checked
from .trials import by_combination

_NOT_SEARCHED = {"seed": "use --seeds to repeat each combination", "plugin": "name all of them with --plugin"}
_FIRST = 5  # runs of `Tpe` that run to completion before any is pruned
_TRUTHS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


@dataclass(frozen=True)
class Range:
    """Numbers from `low` to `high`, inclusive, uniform or log-uniform; whole numbers if `whole`."""

    low: float
    high: float
    log: bool = False
    whole: bool = False

    def __contains__(self, value):
        return isinstance(value, int | float) and self.low <= value <= self.high

    def draw(self, rng):
        """Draw a number: int if whole, else a float with four digits."""
        low, high = (self.low - 0.5, self.high + 0.5) if self.whole else (self.low, self.high)
        value = math.exp(rng.uniform(math.log(low), math.log(high))) if self.log else rng.uniform(low, high)
        return self.rounded(value)

    def rounded(self, value):
        """Round a number as `draw` does, to an int if whole, else to four digits, and clip it to the range."""
        value = round(value) if self.whole else float(f"{value:.4g}")
        return min(max(value, self.low), self.high)


def parse_grid(texts):
    """Parse ``NAME=VALUE,VALUE…`` texts: dict of option -> list of distinct values; ConfigError names the text."""
    grid = {}
    for text in texts:
        item, values = _split(text, "--grid", "alpha=0.025,0.05", grid)
        parsed = [_value(item, value, f"--grid {text}") for value in values.split(",")]
        parsed = ["inf" if value == math.inf else value for value in parsed]  # as JSON and TOML have it
        grid[item.name] = list(dict.fromkeys(parsed))
    return grid


def parse_ranges(texts, grid=()):
    """Parse ``NAME=LOW..HIGH`` or ``NAME=LOW..HIGH:log`` texts: dict of option -> Range; ConfigError names the text."""
    ranges = {}
    for text in texts:
        item, values = _split(text, "--range", "alpha=0.01..0.2:log", {**dict.fromkeys(grid), **ranges})
        span, _, scale = values.partition(":")
        low, dots, high = span.partition("..")
        if item.metadata["kind"] not in (int, float) or not dots or scale not in ("", "log", "linear"):
            what = f"--range {text}: expected a numeric option as NAME=LOW..HIGH or NAME=LOW..HIGH:log"
            raise ConfigError(f"{what}, such as alpha=0.01..0.2:log; give other options with --grid")
        low, high = _value(item, low, f"--range {text}"), _value(item, high, f"--range {text}")
        if not low < high < math.inf or (scale == "log" and low <= 0):
            positive = ", and above 0 for :log" * (scale == "log")
            raise ConfigError(f"--range {text}: LOW must be below HIGH, both finite{positive}")
        ranges[item.name] = Range(low, high, scale == "log", item.metadata["kind"] is int)
    return ranges


def _split(text, flag, example, taken):
    name, sign, values = text.partition("=")
    name = name.strip().removeprefix("--").replace("-", "_")
    if not sign or not values.strip():
        raise ConfigError(f"{flag} {text}: expected NAME=VALUES, such as {example}")
    item = table().get(name)
    if item is None:
        raise ConfigError(f"{flag} {text}: unknown option {name!r}{hint_for(name, list(table()))}")
    if name in _NOT_SEARCHED or item.metadata["group"] in (None, "corpus"):
        why = _NOT_SEARCHED.get(name, "data are encoded once for all trials; give it as a separate option")
        raise ConfigError(f"{flag} {text}: {name} cannot be searched: {why}")
    if name in taken:
        raise ConfigError(f"{flag} {text}: {name} is given twice; give all its values in one place")
    return item, values


def _value(item, text, whole):
    """Convert a value from the command line to the type of the option, and check its range."""
    kind, text = item.metadata["kind"], text.strip()
    try:
        value = _TRUTHS[text.lower()] if kind is bool else kind(text)
    except (ValueError, KeyError):
        what = {int: "a whole number", float: "a number", bool: "true or false"}[kind]
        raise ConfigError(f"{whole}: {text!r} is not {what}") from None
    try:
        return checked(item, value)
    except ConfigError as error:
        raise ConfigError(f"{whole}: {error}") from error


class Planned(list):
    """Combinations known in advance; its methods are the interface of everything that proposes combinations."""

    def corners(self):
        """Return combinations that represent all, a list of dict."""
        return self

    def begin(self, trials, metric):
        """Receive the existing trials (list of Trial) and the Metric."""

    def tell(self, trials, metric):
        """Receive the trials of the combination proposed last (list of Trial)."""

    def should_prune(self, event, first):
        """Return whether a run should end after an event of its training; first : bool, it has the first seed."""
        return False


def combinations(grid):
    """Return every combination of a grid (dict of option -> list), Planned of dict; the last option varies fastest."""
    return Planned(dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values()))


def draws(grid, ranges, n, seed):
    """Return up to `n` different random combinations (Planned of dict); fewer if there are no more.

    The first ones stay the same as `n` grows, and the order of options does not matter.
    """
    rng = np.random.default_rng(seed)
    found = {}  # tuple of values -> combination
    names = sorted([*grid, *ranges])
    for _ in range(100 * n):
        if len(found) == n:
            break
        one = {}
        for name in names:
            values = grid.get(name, ())
            one[name] = ranges[name].draw(rng) if name in ranges else values[int(rng.integers(len(values)))]
        found.setdefault(tuple(one.values()), one)
    return Planned(found.values())


class Tpe:
    """Proposes `n` combinations, counting those of the folder, by Optuna's TPE (Bergstra and others 2011).

    TPE draws the first ten at random, then models where good and bad runs lie. A run is given up when its best
    evaluation so far is worse than the median of earlier runs at that point. Trials of a resumed folder are added
    without their curves. Methods are those of `Planned`. grid, ranges : as `parse_grid` and `parse_ranges` return them
    """

    def __init__(self, grid, ranges, n, seed):
        self._optuna = require("optuna", "optuna", "--search tpe")
        self._optuna.logging.set_verbosity(self._optuna.logging.WARNING)
        self._grid, self._ranges, self._n, self._seed = grid, ranges, n, seed
        self._study = self._running = None
        kinds = self._optuna.distributions
        self._distributions = {name: kinds.CategoricalDistribution(values) for name, values in grid.items()}
        for name, span in ranges.items():
            kind = kinds.IntDistribution if span.whole else kinds.FloatDistribution
            self._distributions[name] = kind(span.low, span.high, log=span.log)

    def __len__(self):
        return self._n

    def corners(self):
        return combinations(self._grid | {name: [span.low, span.high] for name, span in self._ranges.items()})

    def begin(self, trials, metric):
        optuna = self._optuna
        self._study = optuna.create_study(
            direction="maximize" if metric.sign > 0 else "minimize",
            sampler=optuna.samplers.TPESampler(seed=self._seed),
            pruner=optuna.pruners.MedianPruner(n_startup_trials=_FIRST),
        )
        groups = by_combination(trials).values()
        self._former = [group for group in groups if self._covers(group[0].options)][: self._n]
        for group in self._former:
            failed = any(trial.reason is not None for trial in group)
            result = {"state": optuna.trial.TrialState.FAIL} if failed else {"value": _mean(group, metric)}
            how = {"params": group[0].options, "distributions": self._distributions} | result
            self._study.add_trial(optuna.trial.create_trial(**how))

    def __iter__(self):
        yield from (group[0].options for group in self._former)
        for _ in range(self._n - len(self._former)):
            self._running = self._study.ask(self._distributions)
            ranges = self._ranges  # rounded as by `Range.draw`
            yield {n: ranges[n].rounded(value) if n in ranges else value for n, value in self._running.params.items()}

    def tell(self, trials, metric):
        if self._running is None:  # from the folder, so the study has it
            return
        states, failed = self._optuna.trial.TrialState, [trial for trial in trials if trial.reason is not None]
        if failed or not trials:
            self._study.tell(self._running, state=states.PRUNED if failed and failed[0].given_up else states.FAIL)
        else:
            self._study.tell(self._running, _mean(trials, metric))
        self._running = None

    def should_prune(self, event, first):
        if not isinstance(event, Validated) or self._running is None or not first:
            return False
        self._running.report(event.value, round(1000 * event.epoch))
        return self._running.should_prune()

    def _covers(self, options):
        known = self._grid | self._ranges
        return options.keys() == known.keys() and all(value in known[name] for name, value in options.items())


def _mean(trials, metric):
    return math.fsum(trial.figures[metric.name] for trial in trials) / len(trials)
