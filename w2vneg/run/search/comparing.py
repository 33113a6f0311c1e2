"""Runs side by side over the same seeds: means with intervals, and differences from the first run, seed by seed.

Seeds decide more than many a change of options does. Two runs of one seed share what is drawn at the start, so that
their difference may vary less than either: its interval is the one that says whether they differ. Intervals are
Student's at 95 %, over seeds: they say nothing of other data.
"""

import csv
import io
import math
from dataclasses import dataclass

import numpy as np

from .trials import key_of


@dataclass(frozen=True)
class Compared:
    """One run over its seeds.

    name : str; values : dict of int -> float, the metric by seed; seconds : float, mean
    mean : float; low, high : float, its interval, or None with one seed
    difference, difference_low, difference_high : float, from the first run over the seeds of both; None for the first
    reason : str, why it failed, or None; then all numbers are None
    """

    name: str
    values: dict
    mean: float | None
    low: float | None
    high: float | None
    difference: float | None
    difference_low: float | None
    difference_high: float | None
    seconds: float | None
    reason: str | None = None


def compared(trials, combinations, names, metric):
    """Sum up trials of several runs, in the order given; list of `Compared`.

    trials : list of `trials.Trial`; combinations : list of dict, the options of each run; names : list of str, of each
    metric : str, the figure to compare
    """
    found = []
    first = None
    for options, name in zip(combinations, names, strict=True):
        own = [trial for trial in trials if key_of(trial.options, 0) == key_of(options, 0)]
        failed = next((trial.reason for trial in own if trial.reason is not None), None)
        if failed is not None or not own:
            found.append(Compared(name, {}, *(None,) * 7, reason=failed or "was not run"))
            continue
        values = {trial.seed: trial.figures[metric] for trial in own}
        differences = (None,) * 3
        if first is None:
            first = values
        else:
            differences = interval([values[seed] - first[seed] for seed in values if seed in first])
        seconds = float(np.mean([trial.seconds for trial in own]))
        found.append(Compared(name, values, *interval(list(values.values())), *differences, seconds))
    return found


def interval(values):
    """Return the mean of numbers and the ends of its 95 % interval by Student's t: (float, float, float).

    The ends are None for fewer than two, and so is the mean of none.
    """
    if not values:
        return None, None, None
    mean = float(np.mean(values))
    if len(values) < 2:
        return mean, None, None
    from scipy import stats

    reach = stats.t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / math.sqrt(len(values))
    return mean, float(mean - reach), float(mean + reach)


def as_rows(runs, metric):
    """Return a heading and a line for each run, of text."""
    heading = ["run", metric, "95 % interval", "difference", "95 % interval", "seeds", "seconds"]
    lines = [heading]
    for run in runs:
        if run.reason is not None:
            lines.append([run.name, "–", run.reason, "–", "–", "0", "–"])
            continue
        lines.append(
            [
                run.name,
                f"{run.mean:.4f}",
                _span(run.low, run.high, ".4f"),
                "–" if run.difference is None else f"{_rounded(run.difference):+.4f}",
                _span(run.difference_low, run.difference_high, "+.4f"),
                str(len(run.values)),
                f"{run.seconds:.1f}",
            ]
        )
    return lines


def as_csv(runs, metric):
    """Return a line for each run and seed as CSV text: what another program makes tables of."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["run", "seed", metric])
    for run in runs:
        writer.writerows([run.name, seed, repr(value)] for seed, value in run.values.items())
    return stream.getvalue()


def _span(low, high, layout):
    return "–" if low is None else f"{_rounded(low):{layout}} … {_rounded(high):{layout}}"


def _rounded(value):
    """Return the value to four places, and 0 for what would be shown as −0."""
    return round(value, 4) + 0.0
