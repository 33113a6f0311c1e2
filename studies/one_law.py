"""One law for the family: s = T / (1 + T) · (log P(j|i) − log D(j)), tested on every objective that it speaks of.

Each objective trains on pairs drawn in proportion to their counts; its alpha is chosen by the log-likelihood of
validation pairs. Then several seeds are looked at where training ends:

- learned against predicted scores of frequent pairs (`law_fit`);
- test pairs under score(λ) = (1 + T) / T · s + λ log D, λ from 0 to 1.5: log-likelihood, Precision@15, MPR;
- differences to the full softmax, raw and corrected, paired by seed;
- CIS beside self-play for several numbers of negatives, and on data with sparse support;
- where the law fails: few candidates at low T, too few epochs, shared negatives, excluded positives.
"""

import dataclasses
from contextlib import contextmanager

import numpy as np
import pandas as pd

from w2vneg.data.inputs import Input, encode_input
from w2vneg.objectives.samplers.boltzmann import BoltzmannFamily

from . import STUDIES, Study, declare
from .item_tasks import load_task, make_task
from .law_bench import FAILURES, FRESHNESS, FULL, LARGE, OBJECTIVES, QUICK, REFERENCE, Laboratory
from .memo import Memo
from .next_item import communities
from .tempering import improper
from .verdicts import Claim, Unit, interval, verdict

_MARKERS = "os^DvPX<>*hd"
_TASKS = {  # name -> (scale, about how many minutes)
    "ml-100k": (FULL, 20),
    "text": (FULL, 25),
    "belgian": (LARGE, 40),
    "ml-1m": (LARGE, 25),
    "uk": (LARGE, 20),
}
_UNITS = {"log-likelihood": 1.0, "P@15": 100.0, "MPR": 100.0}


def _cell(values, digits=3, factor=1.0):
    mean, low, high = interval(factor * np.asarray(values))
    return f"{mean:.{digits}f} ± {(high - low) / 2:.{digits}f}"


def law_tables(bench, tell):
    """Return (table of the law, table along λ, verdict rows, bins) of one task."""
    laws, along, bins, looked = [], [], [], {}
    for name in bench.scale.objectives:
        options = OBJECTIVES[name]
        options = options | {"alpha": bench.alpha(options)}
        runs = looked[name] = bench.runs(options, bench.along_shares, "along λ")
        figures = {figure: [run["law"][figure] for run in runs] for figure in ("slope", "R²")}
        row = {"data": bench.setting.task.name, "objective": name, "alpha": f"{options['alpha']:g}"}
        laws.append(row | {figure: _cell(values) for figure, values in figures.items()})
        bins += [(bench.setting.task.name, name, *pair) for pair in runs[0]["law"]["bins"]]
        for share in bench.scale.shares:
            found = {
                figure: [run["shares"][f"{share:g}"][figure] for run in runs]
                for figure in ("log-likelihood", "P@15", "MPR")
            }
            along.append(
                {"data": row["data"], "objective": name, "λ": share}
                | {"log-likelihood": float(np.mean(found["log-likelihood"]))}
                | {figure: 100 * float(np.mean(found[figure])) for figure in ("P@15", "MPR")}
            )
        tell(f"{row['data']}: {name}: slope {laws[-1]['slope']}, R² {laws[-1]['R²']}")
    return laws, along, bins, looked


def differences(name, looked):
    """Return the differences of every objective to the full softmax, raw and corrected, as rows and verdicts.

    The claim that is judged: the objective differs from the full softmax by what matters, in its favour.
    """
    others = [other for other in looked if other != REFERENCE]
    rows, verdicts, n = [], [], 2 * len(others)
    for other in others:
        row = {"data": name, "objective": other}
        for figure, unit in (("log-likelihood", Unit(1.0, "nats", 0.005)), ("P@15", Unit(100.0, "points"))):
            for kind in ("raw", "corrected"):
                own, full = (_figure(looked[each], figure, kind) for each in (other, REFERENCE))
                row[f"{figure}, {kind}"] = _cell(unit.factor * (own - full), 4 if figure[0] == "l" else 2)
                if kind == "corrected":
                    least = 0.01 * unit.factor * full.mean() if unit.least is None else unit.least
                    claim = Claim(
                        "RS, CIS", f"{name}: {other}, corrected, beats the full softmax: {figure}", "", "", ""
                    )
                    verdicts.append(verdict(claim, unit.factor * (own - full), least, n, unit.name))
        rows.append(row)
    return rows, verdicts


def _figure(runs, figure, kind):
    if kind == "raw" and figure == "log-likelihood":
        return np.array([run["raw"] for run in runs])
    return np.array([run["shares"]["0" if kind == "raw" else "1"][figure] for run in runs])


def cooperation_table(bench, tell):
    """Return rows and verdicts of CIS beside self-play, for each number of negatives."""
    rows, verdicts = [], []
    alphas = {name: bench.alpha({"loss": name}) for name in ("selfplay", "cis")}
    name = bench.setting.task.name
    for n in bench.scale.negatives:
        own, cis = (
            bench.runs({"loss": each, "alpha": alphas[each], "negatives": n}, bench.cooperation(n), "cooperation")
            for each in ("selfplay", "cis")
        )
        row = {"data": name, "n": n}
        row |= {f"slope, {kind}": _cell([run["slope"] for run in runs]) for kind, runs in (("SP", own), ("CIS", cis))}
        row |= {key: _cell([run["weights"][key] for run in cis], 2) for key in cis[0]["weights"]}
        for figure, unit in (("P@15", Unit(100.0, "points")), ("log-likelihood", Unit(1.0, "nats", 0.005))):
            better, worse = (unit.factor * np.array([run[figure] for run in runs]) for runs in (cis, own))
            row[f"{figure}, CIS − SP"] = _cell(better - worse, 4)
            least = 0.01 * worse.mean() if unit.least is None else unit.least
            claim = Claim("CIS", f"{name}, n = {n}: CIS improves on self-play: {figure}", "CIS", "SP", figure)
            verdicts.append(verdict(claim, better - worse, least, 2 * len(bench.scale.negatives), unit.name))
        rows.append(row)
        tell(f"{name}: CIS beside self-play, n = {n}: P@15 {row['P@15, CIS − SP']}")
    return rows, verdicts


def failure_rows(bench, tell):
    """Return slope and R² where the law is expected to fail, and what it costs, corrected."""
    rows = []
    for name in bench.scale.failures:
        options, like = FAILURES[name]
        alpha = bench.alpha(OBJECTIVES[like])
        runs = bench.runs(options | {"alpha": alpha}, bench.at_the_law, "at the law")
        row = {"data": bench.setting.task.name, "setting": name, "alpha": f"{alpha:g}"}
        rows.append(row | _law_cells(runs))
        tell(f"{row['data']}: {name}: slope {rows[-1]['slope']}")
    return rows


@contextmanager
def _drawn_ahead(centres):
    """Let exact draws be made for so many centres ahead."""
    former, BoltzmannFamily._batch = BoltzmannFamily._batch, centres
    try:
        yield
    finally:
        BoltzmannFamily._batch = former


def freshness_rows(bench, tell):
    """Return what draws cost that are stale: three seeds, a tenth of the pairs, for fresh draws take long."""
    name, seed, scale = bench.setting.task.name, bench.seed, bench.scale
    small = dataclasses.replace(scale, most=scale.most // 10, seeds=min(scale.seeds, 3))
    bench, rows = Laboratory(bench.setting.task, small, seed, bench.memo), []
    for manner in scale.freshness:
        method, ahead = FRESHNESS[manner]
        options = {"loss": "ubs", "temp": 1.0, "alpha": 0.2, "method": method}
        with _drawn_ahead(ahead):
            runs = bench.runs(options, bench.at_the_law, manner)
        rows.append({"data": name, "draws": manner} | _law_cells(runs))
        tell(f"{name}: {manner}: P@15 {rows[-1]['P@15']}")
    return rows


def _law_cells(runs):
    """Return cells of what `Laboratory.at_the_law` found."""
    cells = {figure: _cell([run[figure] for run in runs]) for figure in ("slope", "R²")}
    cells["log-likelihood"] = _cell([run["log-likelihood"] for run in runs], 4)
    return cells | {"P@15": _cell([run["P@15"] for run in runs], 2, 100.0)}


def _task(name, quick, seed):
    if quick:
        return make_task("made-up baskets", communities(seed), "user", seed, "baskets")
    if name != "text":
        return load_task(name, "user", seed)
    text = encode_input(Input("corpus", "enwiki2015-head").located(), max_vocab=2000)
    return make_task("text, 2,000 words", text, "user", seed, "corpus", 2)


def _draw_law(bins):
    def draw(figure):
        axes = figure.subplots()
        for marker, objective in zip(_MARKERS, dict.fromkeys(row[1] for row in bins), strict=False):
            points = np.array([row[2:] for row in bins if row[1] == objective])
            axes.plot(*points.T, marker=marker, markersize=4, linewidth=0.8, label=objective)
        ends = [edge(row[2] for row in bins) for edge in (min, max)]
        axes.plot(ends, ends, color="black", linewidth=0.8)
        axes.set_xlabel("predicted s, centred")
        axes.set_ylabel("learned s, centred")
        axes.legend(fontsize=6)

    return draw


def _draw_shares(along):
    def draw(figure):
        for axes, name in zip(figure.subplots(1, len(_UNITS)), _UNITS, strict=True):
            for marker, (objective, part) in zip(_MARKERS, along.groupby("objective", sort=False), strict=False):
                axes.plot(part["λ"], part[name], marker=marker, markersize=4, linewidth=0.8, label=objective)
            axes.set_title(name, fontsize=8)
            axes.set_xlabel("λ")
        axes.legend(fontsize=4)

    return draw


def _study(name, given):
    tell, quick, seed, memo = given
    scale, task, memo = QUICK if quick else _TASKS[name][0], _task(name, quick, seed), Memo() if memo is None else memo
    tell(task.line())
    bench = Laboratory(task, scale, seed, memo)
    laws, along, bins, looked = law_tables(bench, tell)
    rows, verdicts = differences(task.name, looked)
    tables = {"law": laws, "differences": rows, "along λ": along, "cooperation": []}
    sparse = make_task("sparse support", communities(seed, 400, 6000, other=0.0), "user", seed, "baskets")
    for each in (bench, Laboratory(sparse, scale, seed, memo)):
        rows, found = cooperation_table(each, tell)
        tables["cooperation"] += rows
        verdicts += found
    tables["failures"] = failure_rows(bench, tell)
    tables["freshness"] = freshness_rows(bench, tell)
    tables = {key: pd.DataFrame(rows) for key, rows in tables.items()}
    tables["improper"] = pd.DataFrame(
        [(c, *pair) for c, pair in improper().items()], columns=["c", "log-likelihood", "RS eq. 9"]
    )
    tables["bins"] = pd.DataFrame(bins, columns=["data", "objective", "predicted", "learned"])
    text = (
        f"{task.line()}. d = {scale.dim}, {scale.epochs} epochs of {bench.setting.common.pairs_per_epoch:,} pairs, "
        f"{scale.seeds} seeds; alpha chosen by the log-likelihood of validation pairs. Slope and R² of learned on "
        f"predicted scores, of {len(bench.pairs.log_p):,} pairs that occur {scale.least} times or more. Differences "
        "are to the full softmax, paired by seed: log-likelihood in nats, P@15 in points. Intervals in tables are of "
        "95 %; verdicts allow for the number of comparisons.\n"
    )
    return Study(tables, text, {"law": _draw_law(bins), "along": _draw_shares(tables["along λ"])}, verdicts)


def _register(name):
    def study(tell, quick, seed, memo=None):
        return _study(name, (tell, quick, seed, memo))

    study.__doc__ = f"One law: where scores settle, predicted and learned, raw and corrected, on {name}."
    STUDIES.register(f"one-law-{name}")(declare("ours", "one law", resumes=True, minutes=_TASKS[name][1])(study))


for _name in _TASKS:
    _register(_name)
