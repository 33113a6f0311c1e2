"""Time until each trainer is as good as gensim after a given number of epochs.

The target is gensim's own score on analogies (mean of semantic and syntactic P@1) and on MEN (Spearman). Every trainer
is run for several budgets of epochs. Each budget is a separate run whose learning rate falls to its end, because that
is the run one would train with this budget; nobody would keep a longer run halfway. All runs of a seed are interleaved.
Seconds are training time only.
"""

import dataclasses
import json
import statistics
from dataclasses import dataclass
from itertools import cycle

from w2vneg.ground.errors import ConfigError

from .contenders import spread
from .quality import check_objective
from .speed import machine

REFERENCE = "gensim"
CONTENDERS = (REFERENCE, "fasttext", "ns-shared", "ns", "relaxed-shared", "relaxed")
COLUMNS = {  # part -> names of the scores: analogies are the mean of the first two, MEN is the last
    "dev": ("sem-dev", "syn-dev", "men-dev"),
    "test": ("sem-test P@1", "syn-test P@1", "men-test"),
}


@dataclass(frozen=True)
class Plan:
    """contenders : tuple of str, names of `benchmarks.quality`; alphas : dict of str -> float, if not their defaults
    budgets : dict of str -> tuple of int, the epochs to try for each contender, ascending
    reference_epochs : int, gensim's; seeds : tuple of int
    """

    contenders: tuple
    alphas: dict
    budgets: dict
    reference_epochs: int
    seeds: tuple

    @classmethod
    def checked(cls, contenders, alphas, budgets, reference_epochs, seeds):
        """Return a plan that always includes gensim; ConfigError if it is incomplete or names unknown contenders.

        budgets : sequence of (str or None, int), epochs to try for a contender, or for all without their own
        """
        contenders = tuple(dict.fromkeys((REFERENCE, *(contenders or CONTENDERS))))
        for name in contenders:
            check_objective(name)
        own = {name: {epochs for whose, epochs in budgets if whose == name} for name, _ in budgets}
        for what, names in (("an alpha", alphas), ("a budget", own.keys() - {None})):
            strangers = [name for name in names if name not in contenders]
            if strangers:
                raise ConfigError(f"{what} is given for {strangers[0]!r}, which does not take part; add --objective")
        epochs = {name: own.get(name) or own.get(None, set()) for name in contenders}
        epochs[REFERENCE] = epochs[REFERENCE] | {reference_epochs}
        bare = [name for name, some in epochs.items() if not some]
        if bare:
            raise ConfigError(f"no budget for {bare[0]!r}; add --budget {bare[0]}=EPOCHS, or --budget EPOCHS for all")
        rising = {name: tuple(sorted(some)) for name, some in epochs.items()}
        return cls(contenders, dict(alphas), rising, reference_epochs, tuple(dict.fromkeys(seeds)))

    def runs(self):
        """Yield (seed, epochs, contender)."""
        for seed in self.seeds:
            for epochs in sorted({epochs for some in self.budgets.values() for epochs in some}):
                for name in self.contenders:
                    if epochs in self.budgets[name]:
                        yield seed, epochs, name


def measure(evaluator, plan, folder, tell=lambda text: None, each=lambda runs: None):
    """Train and score all runs of a plan.

    Parameters
    ----------
    evaluator : quality.Evaluator; plan : Plan
    folder : Path, for rivals' input
    each : callable, receives the list of runs so far after each run

    Returns
    -------
    list of quality.Run
        With the epochs in `setting`. A rival that fails (fastText sometimes hits a NaN) is left out.
    """
    runs = []
    for seed, epochs, name in plan.runs():
        try:
            run = evaluator.measure(name, plan.alphas.get(name), seed, folder, epochs=epochs)
        except RuntimeError as error:
            tell(f"{name}, {epochs} epochs, seed {seed}: failed ({error}); left out")
            continue
        runs.append(run)
        tell(f"{name}, {epochs} epochs, seed {seed}: {run.seconds:.1f} s")
        each(runs)
    return runs


@dataclass(frozen=True)
class Point:
    """A contender's runs with one budget. seconds : dict of seed -> float; analogies, men : list of float, by seed"""

    contender: str
    epochs: int
    seconds: dict
    analogies: list
    men: list

    def reaches(self, target, tolerance):
        """Return whether the mean scores reach those of the `target`, within the tolerance."""
        return all(
            statistics.mean(own) >= statistics.mean(theirs) - tolerance
            for own, theirs in ((self.analogies, target.analogies), (self.men, target.men))
        )


def points_of(runs, part):
    """Return dict of (contender, epochs) -> Point, in the order of the contenders, with ascending budgets."""
    semantic, syntactic, men = COLUMNS[part]
    names = list(dict.fromkeys(run.objective for run in runs))
    keys = sorted(
        {(run.objective, run.setting["epochs"]) for run in runs}, key=lambda key: (names.index(key[0]), key[1])
    )
    points = {}
    for name, epochs in keys:
        own = [run for run in runs if (run.objective, run.setting["epochs"]) == (name, epochs)]
        points[name, epochs] = Point(
            name,
            epochs,
            {run.seed: run.seconds for run in own},
            [(run.scores[semantic] + run.scores[syntactic]) / 2 for run in own],
            [run.scores[men] for run in own],
        )
    return points


@dataclass(frozen=True)
class Reached:
    """contender : str; epochs : int, the smallest budget that reaches both targets, or None
    seconds : list of float; shares : list of float, of gensim's seconds at the reference in the same round
    """

    contender: str
    epochs: int | None
    seconds: list
    shares: list


def reached(points, reference_epochs, tolerance):
    """Return a list of Reached, one per contender.

    Parameters
    ----------
    points : dict from `points_of`, with gensim's at `reference_epochs`
    tolerance : float, allowed shortfall of a mean score
    """
    target = points[REFERENCE, reference_epochs]
    found = []
    for name in dict.fromkeys(contender for contender, _ in points):
        budgets = [point for (contender, _), point in points.items() if contender == name]
        first = next((point for point in budgets if point.reaches(target, tolerance)), None)
        if first is None:
            found.append(Reached(name, None, [], []))
            continue
        shares = [seconds / target.seconds[seed] for seed, seconds in first.seconds.items() if seed in target.seconds]
        found.append(Reached(name, first.epochs, list(first.seconds.values()), shares))
    return found


def table(points):
    """Return Markdown: seconds, analogies and MEN of each contender and budget, mean and range over seeds."""
    lines = ["| trainer | epochs | runs | seconds | analogies | MEN |", "|---|---|---|---|---|---|"]
    for point in points.values():
        scores = (mean_and_range(values) for values in (point.analogies, point.men))
        seconds = spread(list(point.seconds.values()), ".1f")
        lines.append(f"| {point.contender} | {point.epochs} | {len(point.men)} | {seconds} | {' | '.join(scores)} |")
    return "\n".join(lines)


def mean_and_range(values, form=".3f"):
    """Return the mean of numbers and, if there are several, their range, as text."""
    mean = format(statistics.mean(values), form)
    return mean if len(values) == 1 else f"{mean} ({min(values):{form}}–{max(values):{form}})"


def reached_table(found, reference_epochs):
    """Return Markdown: the smallest budget of each contender that reaches the target, and its seconds."""
    lines = [
        f"| trainer | epochs to the target | seconds | share of gensim's seconds at {reference_epochs} epochs |",
        "|---|---|---|---|",
    ]
    for one in found:
        epochs = "not reached" if one.epochs is None else one.epochs
        lines.append(f"| {one.contender} | {epochs} | {spread(one.seconds, '.1f')} | {spread(one.shares, '.2f')} |")
    return "\n".join(lines)


def picture(points, reference_epochs):
    """Return a function that draws quality against seconds on a matplotlib Figure, the target as a dashed line."""

    def draw(figure):
        figure.set_size_inches(10, 4.5)
        target = points[REFERENCE, reference_epochs]
        ticks = _ticks([statistics.median(point.seconds.values()) for point in points.values()])
        names = list(dict.fromkeys(contender for contender, _ in points))
        panels = figure.subplots(1, 2)
        for panel, title, of in zip(panels, ("analogies, P@1", "MEN, Spearman"), ("analogies", "men"), strict=True):
            for name, marker in zip(names, cycle("o^sDvPX"), strict=False):
                own = [point for (contender, _), point in points.items() if contender == name]
                seconds = [statistics.median(point.seconds.values()) for point in own]
                panel.plot(seconds, [statistics.mean(getattr(point, of)) for point in own], marker=marker, label=name)
            panel.axhline(statistics.mean(getattr(target, of)), color="0.5", linestyle="--", linewidth=1)
            panel.set(xscale="log", xlabel="seconds of training", ylabel=title)
            panel.set_xticks(ticks, labels=[f"{tick:g}" for tick in ticks])
            panel.minorticks_off()
        panels[0].legend()

    return draw


def _ticks(seconds):
    """Return 1, 2 and 5 times powers of ten within a range of seconds, and one on either side of it (list of float)."""
    steps = [factor * 10.0**power for power in range(-4, 7) for factor in (1, 2, 5)]
    low, high = min(seconds), max(seconds)
    below, above = max(step for step in steps if step <= low), min(step for step in steps if step >= high)
    return [step for step in steps if below <= step <= above]


def as_json(runs, plan, part, tolerance):
    """Return the single runs as JSON text."""
    rows = [dataclasses.asdict(run) for run in runs]
    what = {"part": part, "tolerance": tolerance, "plan": dataclasses.asdict(plan)}
    return json.dumps({"machine": machine(), **what, "runs": rows}, indent=1)
