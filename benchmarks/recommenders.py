"""Recommending items to users, compared with implicit and EASE: quality, seconds of training, lists per second.

See `recommenders_tasks` for the data and splits. Options are chosen by NDCG@10 on validation data, by hill climbing:
each option moves from a first guess up and down a ladder of equal ratios, until no neighbour is better. So no winner
lies at the edge of the values tried, unless a ladder has an end, as that of slim's neighbours has. Winners are trained
again with several seeds and reported on the test part.

Every figure except coverage is a mean over users, with an interval from a bootstrap over users. Each method is compared
with the best rival, the one with the highest validation figure, by a paired t test over users; p values are corrected
by Holm's method over all methods of a data set.
"""

import json
import statistics
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np
import scipy.stats

from w2vneg.ground.errors import W2vnegError
from w2vneg.ground.files.atomic import atomic_file
from w2vneg.ground.files.bounded import read_json
from w2vneg.vectors.evaluation import evaluate_ranking

from .contenders import spread
from .gauges import peak_memory, reset_peak_memory
from .recommenders_methods import METHODS, K
from .recommenders_tasks import Part
from .speed import machine

CHOICES = Path(__file__).parent / "recommenders.json"  # results of the climbing
MAIN = f"NDCG@{K}"
_SHOWN = {MAIN: f"ndcg@{K}", "recall@20": "recall@20", "NDCG@100": "ndcg@100", f"MAP@{K}": f"map@{K}"}
COVERAGE = f"coverage@{K}"
_RESAMPLES = 2000


def evaluate(scores, part):
    """Return the figures of a `Part`'s users, dict of str -> float64 (n,), and the coverage of their lists (float)."""
    n, n_items = part.held.shape
    own = {name: np.empty(n) for name in _SHOWN}

    def keep(rows, found):
        for name, key in _SHOWN.items():
            own[name][rows] = found[key]

    held = part.held.tocoo()
    options = {"ks": (K, 20, 100), "known": part.known, "logits": False, "samples": 0, "bootstrap": 0}
    found = evaluate_ranking(scores, (held.row, held.col, held.data), n_items, each=keep, **options)
    return own, found.coverage[K]


def neighbours(setting, ratios, most=MappingProxyType({})):
    """Return the settings one rung away on each ladder (list of dict); most : dict of name -> end of its ladder"""
    found = []
    for name, ratio in ratios.items():
        for value in (setting[name] * ratio, setting[name] / ratio):
            value = max(1, round(value)) if isinstance(setting[name], int) else float(f"{value:.6g}")
            if value != setting[name] and value <= most.get(name, value):
                found.append(setting | {name: value})
    return found


def climb(task, name, record, tell=lambda text: None, methods=METHODS):
    """Return the setting that no neighbour beats on validation, and add trials (dict) to the list `record`."""
    method = methods[name]
    tried = {_key(one["setting"]): one["value"] for one in record if (one["task"], one["method"]) == (task.name, name)}

    def value_of(setting):
        if _key(setting) not in tried:
            begun = time.perf_counter()
            try:
                trained = method.train(task.train, setting, 1)
                value = float(evaluate(trained.asked(task.valid).scores, task.valid)[0][MAIN].mean())
            except W2vnegError:  # it diverged
                value = 0.0
            tried[_key(setting)] = value
            record.append({"task": task.name, "method": name, "setting": setting, "value": value})
            tell(f"{task.name}, {name} {setting}: {MAIN} {value:.4f} ({time.perf_counter() - begun:.0f} s)")
        return tried[_key(setting)]

    known = [one["setting"] for one in record if (one["task"], one["method"]) == (task.name, name)]
    best = max([method.guess, *known], key=value_of)
    while True:
        better = next(
            (one for one in neighbours(best, method.ratios, method.most) if value_of(one) > value_of(best)), None
        )
        if better is None:
            return best
        best = better


def _key(setting):
    return json.dumps(setting, sort_keys=True)


def choose(tasks, names, path=CHOICES, tell=lambda text: None):
    """Climb for each task and method, and store trials and winners in a file; resume from an existing file."""
    kept = read_json(path) if Path(path).exists() else {"trials": [], "chosen": {}}

    class Kept(list):
        def append(self, trial):
            super().append(trial)
            write()

    trials = Kept(kept["trials"])

    def write():
        with atomic_file(path, "w", encoding="utf-8") as stream:
            lines = ",\n".join(json.dumps(trial) for trial in trials)  # one per line, for readable diffs
            stream.write(f'{{"trials": [\n{lines}\n],\n"chosen": {json.dumps(kept["chosen"], indent=1)}}}\n')

    for task in tasks:
        for name in names:
            kept["chosen"].setdefault(task.name, {})[name] = climb(task, name, trials, tell)
            write()
    return kept["chosen"]


def best_rival(task, names, trials, methods=METHODS):
    """Return the name of the best rival by validation among `names`; None if there are no trials of any."""
    rivals = {name for name in names if not methods[name].ours}
    own = [one for one in trials if one["task"] == task.name and one["method"] in rivals]
    return max(own, key=lambda one: one["value"])["method"] if own else None


@dataclass(frozen=True, eq=False)
class Run:
    """task, method : str; seed : int; seconds : float, of training; rate : float, lists per second
    memory : int, peak bytes of training beyond those used before
    users : dict of figure -> float64 (n,), one per user; coverage : float
    """

    task: str
    method: str
    seed: int
    seconds: float
    rate: float
    memory: int
    users: dict
    coverage: float


def measure(task, chosen, seeds, tell=lambda text: None, methods=METHODS):
    """Train and test the winners in turn, once per round; return a list of Run. chosen : dict of method -> setting"""
    warm_up(task, chosen, methods)
    runs = []
    for seed in range(1, seeds + 1):
        for name, setting in chosen.items():
            before = reset_peak_memory()
            trained = methods[name].train(task.train, setting, seed)
            memory, begun = peak_memory() - before, time.perf_counter()
            asked = trained.asked(task.test)
            rate = len(asked.lists(task.test.known)) / (time.perf_counter() - begun)
            found = evaluate(asked.scores, task.test)
            runs.append(Run(task.name, name, seed, trained.seconds, rate, memory, *found))
            tell(f"{task.name}, round {seed}, {name}: {MAIN} {runs[-1].users[MAIN].mean():.4f}")
    return runs


def warm_up(task, chosen, methods=METHODS):
    """Load or compile all code before timing, with a hundred users and one epoch."""
    few, known, held = task.train[:100], task.test.known[:100], task.test.held[:100]
    part = Part(known, held, None if task.test.users is None else np.arange(known.shape[0]) % few.shape[0])
    for name, setting in chosen.items():
        short = setting | {option: 1 for option in ("epochs", "iterations") if option in setting}
        methods[name].train(few, short, 1).asked(part).lists(part.known)


@dataclass(frozen=True)
class Row:
    """A method's row of a table. figures : dict of name -> (mean, low, high), of coverage -> (mean,)
    seeds : (low, high), of NDCG@10; difference : (mean, low, high), in NDCG@10 from the best rival, and p : float,
    Holm's, None for the rival itself or without one; seconds, rates : list of float; memory : list of int, bytes
    """

    task: str
    method: str
    figures: dict
    seeds: tuple
    difference: tuple | None
    p: float | None
    seconds: list
    rates: list
    memory: list


def rows_of(runs, rivals):
    """Return a `Row` for each method of each task; rivals : dict of task -> method, or None."""
    rows = []
    for task in dict.fromkeys(run.task for run in runs):
        own = [run for run in runs if run.task == task]
        means = {  # per user, over seeds
            name: {key: np.mean([run.users[key] for run in own if run.method == name], axis=0) for key in _SHOWN}
            for name in dict.fromkeys(run.method for run in own)
        }
        rival = means.get(rivals.get(task))
        away = {name: users[MAIN] - rival[MAIN] for name, users in means.items() if rival and users is not rival}
        p = holm({name: paired_p(values) for name, values in away.items()})
        for name, users in means.items():
            of_it = [run for run in own if run.method == name]
            figures = {key: interval(values) for key, values in users.items()}
            figures[COVERAGE] = (statistics.mean(run.coverage for run in of_it),)
            by_seed = [float(run.users[MAIN].mean()) for run in of_it]
            difference = interval(away[name]) if name in away else None
            speeds = ([getattr(run, one) for run in of_it] for one in ("seconds", "rate", "memory"))
            rows.append(Row(task, name, figures, (min(by_seed), max(by_seed)), difference, p.get(name), *speeds))
    return rows


def interval(values, resamples=_RESAMPLES, seed=1):
    """Return the mean of one value per user, and its 95 % percentile interval by resampling users: three floats."""
    rng, n = np.random.default_rng(seed), len(values)
    means = [values[rng.integers(0, n, n)].mean() for _ in range(resamples)]
    return float(np.mean(values)), *map(float, np.quantile(means, (0.025, 0.975)))


def paired_p(differences):
    """Return the p value of a two-sided paired t test, 1 if nothing differs; differences : float64, (n,)"""
    if len(differences) < 2 or not np.ptp(differences):
        return float(not np.any(differences))
    return float(scipy.stats.ttest_1samp(differences, 0.0).pvalue)


def holm(p):
    """Return p values corrected for their number (Holm 1979): dict of name -> float.

    The k-th smallest of m, from k = 0, is multiplied by m − k; results never decrease with p, nor exceed 1.
    """
    corrected, least = {}, 0.0
    for k, name in enumerate(sorted(p, key=p.get)):
        least = corrected[name] = max(least, min(1.0, (len(p) - k) * p[name]))
    return corrected


def table(rows, methods=METHODS):
    """Return Markdown: means over seeds with intervals over users, and medians of speeds with their range."""
    columns = [*_SHOWN, COVERAGE, f"{MAIN} − best rival (p)", "training, s", "lists a second", "MB"]
    lines = [f"| | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    for task in dict.fromkeys(row.task for row in rows):
        lines.append(f"| **{task}** |" + " |" * len(columns))
        for row in (row for row in rows if row.task == task):
            cells = [_with_interval(row.figures[name]) for name in (*_SHOWN, COVERAGE)]
            cells.append("–" if row.difference is None else f"{_with_interval(row.difference)} ({row.p:.2g})")
            cells += [spread(row.seconds, ".1f"), spread(row.rates, ",.0f"), f"{max(row.memory) / 2**20:,.0f}"]
            lines.append(f"| {methods[row.method].title} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _with_interval(found):
    mean, *ends = found
    return f"{mean:.4f}" + (f" [{ends[0]:.4f}, {ends[1]:.4f}]" if ends else "")


def as_json(rows):
    """Return all rows as JSON, with the machine (str)."""
    return json.dumps({"machine": machine(), "rows": [asdict(row) for row in rows]}, indent=1)
