"""Does quality survive many workers? They take turns on the available cores, which tests the merge, not the speed.

A round launches all workers on the available threads, each of which runs several shares one after another; private rows
are then merged as on a machine with as many cores. This does not show the effect of races on shared rows.
"""

import dataclasses
import json
import math
import statistics

from w2vneg.ground.errors import ConfigError

from .quality import DEV, RIVALS, objective_options
from .speed import machine
from .time_to_quality import mean_and_range

DECIDING = "mean-dev"


def check(objectives, workers):
    """Raise ConfigError for an objective that is not ours, or if one worker, the reference, is missing."""
    for name in objectives:
        if name in RIVALS:
            raise ConfigError(f"{name} has no merge of ours to test; name presets, or objectives of benchmarks quality")
        objective_options(name)
    if 1 not in workers:
        raise ConfigError("one worker is the reference; add --workers 1")


def measure(evaluator, objectives, workers, seeds, folder, tell=lambda text: None, each=lambda runs: None):
    """Train every objective with every number of workers; return a list of quality.Run, workers in their `setting`.

    each : callable, receives the list of runs so far after each run
    """
    runs = []
    for seed in seeds:
        for count in workers:
            for name in objectives:
                runs.append(evaluator.measure(name, None, seed, folder, workers=count))
                tell(f"{name}, {count} workers, seed {seed}: {runs[-1].seconds:.1f} s")
                each(runs)
    return runs


def differences(runs, objective):
    """Compare each number of workers with one.

    Returns
    -------
    dict of int -> (float, float)
        Workers -> difference of the mean `mean-dev` from one worker's, and its standard error; NaN for one seed. The
        spread between seeds is assumed equal for all numbers of workers, and estimated from all of them.
    """
    groups = {}
    for run in runs:
        if run.objective == objective:
            groups.setdefault(run.setting["workers"], []).append(run.scores[DECIDING])
    free = sum(len(scores) - 1 for scores in groups.values())
    squares = sum((score - statistics.mean(scores)) ** 2 for scores in groups.values() for score in scores)
    deviation = math.sqrt(squares / free) if free else math.nan
    one = groups[1]
    return {
        count: (
            statistics.mean(scores) - statistics.mean(one),
            deviation * math.sqrt(1 / len(scores) + 1 / len(one)),
        )
        for count, scores in groups.items()
        if count != 1
    }


def table(runs):
    """Return Markdown: development scores by objective and workers, and the difference from one worker."""
    heading = ("objective", "workers", "seeds", *DEV, f"{DECIDING} less one worker's, ± 2 standard errors", "seconds")
    lines = [f"| {' | '.join(heading)} |", "|---" * len(heading) + "|"]
    for name in dict.fromkeys(run.objective for run in runs):
        apart = differences(runs, name)
        for count in dict.fromkeys(run.setting["workers"] for run in runs if run.objective == name):
            own = [run for run in runs if (run.objective, run.setting["workers"]) == (name, count)]
            scores = [mean_and_range([run.scores[column] for run in own]) for column in DEV]
            seconds = mean_and_range([run.seconds for run in own], ".1f")
            cells = (name, count, len(own), *scores, _shown(apart.get(count)), seconds)
            lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def _shown(difference):
    if difference is None:
        return "–"
    apart, error = difference
    if math.isnan(error):
        return f"{apart:+.3f}"
    return f"{apart:+.3f} ± {2 * error:.3f}, {'within' if abs(apart) <= 2 * error else 'beyond'} noise"


def as_json(runs):
    """Return the single runs as JSON text."""
    return json.dumps({"machine": machine(), "runs": [dataclasses.asdict(run) for run in runs]}, indent=1)
