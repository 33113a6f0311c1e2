"""Does quality survive many ranks? They take turns in one process, which tests the exchange, not the speed."""

import dataclasses
import json
import math

from w2vneg.ground.errors import ConfigError

from .quality import DEV, RIVALS, TEST, objective_options
from .speed import machine
from .time_to_quality import mean_and_range


def check(objectives):
    """Raise ConfigError for an objective that is not ours."""
    for name in objectives:
        if name in RIVALS:
            raise ConfigError(f"{name} has no ranks; name presets, or objectives of benchmarks quality")
        objective_options(name)


def settings(n_tokens, epochs, ranks, exchanges, options):
    """Return the options of each run of the table, a list of dict.

    n_tokens : int, of an epoch; ranks, exchanges : sequences of int, exchanges are per run; one rank needs none
    options : dict, of all runs with several ranks
    """
    made = [{}] if 1 in ranks else []
    for n in ranks:
        for often in exchanges if n > 1 else ():
            every = max(1, n_tokens // n // math.ceil(often / epochs))
            made.append({"engine": "virtual", "ranks": n, "exchange_every": every, **options})
    return made


def measure(evaluator, objectives, grid, seeds, readouts, folder, tell=lambda text: None, each=lambda runs: None):
    """Train every objective with every setting; return a list of quality.Run.

    each : callable, receives the list of runs so far after each run
    """
    runs = []
    for seed in seeds:
        for setting in grid:
            for name in objectives:
                runs += evaluator.measure_all(name, None, seed, folder, readouts, **setting)
                shown = ", ".join(f"{key} {value}" for key, value in setting.items()) or "one rank"
                tell(f"{name}, {shown}, seed {seed}: {runs[-1].seconds:.1f} s")
                each(runs)
    return runs


def table(runs, n_tokens, epochs, part):
    """Return Markdown: scores by objective, read-out, ranks and exchanges; mean and range over seeds."""
    columns = DEV if part == "dev" else TEST["spearman"]
    heading = ("objective", "read-out", "ranks", "tokens between", "exchanges", "seeds", *columns)
    lines = [f"| {' | '.join(heading)} |", "|---" * len(heading) + "|"]
    groups = {}
    for run in runs:
        groups.setdefault((run.objective, run.readout, *map(str, run.setting.items())), []).append(run)
    for own in groups.values():
        ranks, every = own[0].setting.get("ranks", 1), own[0].setting.get("exchange_every")
        often = "–" if every is None else epochs * -(-(n_tokens // ranks) // every)
        every = "–" if every is None else f"{every:,}"
        values = [[run.scores.get(column) for run in own] for column in columns]
        scores = ["–" if None in column else mean_and_range(column) for column in values]
        cells = (own[0].objective, own[0].readout, ranks, every, often, len(own), *scores)
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def as_json(runs):
    """Return the single runs as JSON text."""
    return json.dumps({"machine": machine(), "runs": [dataclasses.asdict(run) for run in runs]}, indent=1)
