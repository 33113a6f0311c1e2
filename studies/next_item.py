"""Next-item prediction (Tanielian and Vasile 2019, table 2; CIS, tables 2 and 7): which objective ranks best?

Every method trains on the same pairs, drawn in proportion to their counts. Popularity noise removes popularity from the
scores, so such a method has two rows: the same models ranked by s, and with log D added ("+ log Q"; see `item_runs`).
Noise that depends on the model is drawn among all targets, as in the papers, from pools if there are 10,000 targets or
more; rows that end in "rolling" draw among 64 candidates, the default of w2vneg. Every row makes its own choices on the
validation part, by its own score: learning rate and temperature jointly (see `climb`), and the epoch. It does so twice,
by Precision@15 for the ranking table and by mean log-likelihood for the likelihood table. Then several seeds train with
these choices, and are evaluated on the whole test part. No run stops early: while alpha is high, a run may get worse
before it gets better.

The split is by user: validation and test have baskets, histories or lines of text not seen in training, but their pairs
may have occurred there. The papers do not describe their split, and use another MovieLens, so only orders of methods
compare, not figures.
"""

import dataclasses
import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from . import STUDIES, Study, declare
from .climb import RATES, TEMPERATURES, Rates, best_place, warm_at
from .item_runs import (
    DRAWS,
    LIKELIHOOD,
    NULLS,
    POPULARITY,
    RANKING,
    Setting,
    curve,
    drawing,
    method_of,
    null_model,
    pairs_config,
    tested,
    thinned,
)
from .item_tasks import INPUTS, communities, load_task, make_task
from .next_item_papers import SHOWN, UNITS, beside_papers, claims_of, negatives_claims, rolling
from .verdicts import cell, judged

METHODS = {  # name -> options; FS, UniS, PopS, SP and CIS are CIS's names, the others RS's
    "FS (MLE)": {"loss": "mle"},
    "SS": {"loss": "ss"},
    "US (UniS)": {"loss": "us"},
    "UBS": {"loss": "ubs", "method": "exact"},
    "PS": {"loss": "ps"},
    "PBS": {"loss": "pbs", "method": "exact"},
    "PopS": {"loss": "pops"},
    "SP": {"loss": "selfplay", "method": "exact"},
    "CIS": {"loss": "cis", "method": "exact"},
}
_WARM = ("ubs", "pbs")  # losses whose temperature is chosen
ROWS = {  # the same, with rolling candidates after exact draws
    row: options | ({"method": "rolling"} if row != name else {})
    for name, options in METHODS.items()
    for row in (name, rolling(name))
}
_BY_POPULARITY = ("ps", "pbs", "pops")
_SAMPLE = 100_000  # validation pairs, about


@dataclass(frozen=True)
class Scale:
    """rates : Rates; starts : starting points (alpha, T) of the joint search (see `climb`)
    most : int, limit of pairs per epoch, which are two fifths of the occurrences; dim, epochs, seeds : int
    """

    rates: Rates = RATES
    starts: tuple = ((-2, 1), (0, 4), (2, 1))
    dim: int = 100
    epochs: int = 5
    most: int = 1_000_000
    seeds: int = 5


FULL = Scale()
TEXT = dataclasses.replace(FULL, most=2_000_000, seeds=3)
WIDE = dataclasses.replace(TEXT, most=1_000_000)  # the full softmax's cost per pair grows with the words
_SCALES = {"text-12k": TEXT, "text-15k": TEXT, "text-30k": WIDE}
QUICK = Scale(Rates(starts=(1,), steps=1), starts=((1, 3),), dim=16, epochs=2, most=20_000, seeds=2)


@dataclass(frozen=True)
class Measured:
    """Results. chosen : dict of (row, measure) -> options; runs : dict of (row, figure) -> list of float, one per
    seed; nulls : dict of row -> dict of figure -> float
    """

    chosen: dict
    runs: dict
    nulls: dict

    @property
    def rows(self):
        """Names of the rows, in order."""
        return list(dict.fromkeys(row for row, _ in self.chosen))

    def beaten(self, row, figure):
        """Return a note if popularity alone beats a row by a figure, else an empty string."""
        least = self.nulls[POPULARITY][figure]
        return f"popularity beats {row}" if np.mean(self.runs[row, figure]) < least else ""


def measure(task, scale, seed, tell, memo, methods):
    """Tune and train every method on one task.

    Parameters
    ----------
    task : item_tasks.Task
    scale : Scale
    seed : int, the first of ``scale.seeds``
    tell : callable, receives lines of progress
    memo : Memo
    methods : dict of name -> options

    Returns
    -------
    Measured
    """
    valid = task.valid.centres, task.valid.targets, task.valid.weights
    share = min(1.0, _SAMPLE / max(len(task.valid), 1))
    valid = thinned(valid, max(1, round(share * len(np.unique(valid[0])))))
    setting = Setting(task, pairs_config(task, scale, seed), valid)

    def one(name):
        shares = (0.0, 1.0) if methods[name]["loss"] in _BY_POPULARITY else (0.0,)
        rows = [(share, by) for share in shares for by in (RANKING, LIKELIHOOD)]
        found = memo.each(lambda row: _chosen(setting, methods[name], (shares, *row), scale, memo), rows)
        chosen = {(row_name(name, share), by): options for (share, by), options in zip(rows, found, strict=True)}
        runs = _test(setting, name, dict(zip(rows, found, strict=True)), scale, memo)
        names = dict.fromkeys(row for row, _ in chosen)
        best = ", ".join(f"{row} {100 * np.mean(runs[row, RANKING]):.2f}" for row in names)
        tell(f"{task.name}: P@15 {best}")
        return chosen, runs

    made = memo.each(one, methods)
    nulls = memo.each(lambda name: memo([task.line(), name], null_model, setting, name), NULLS)
    chosen, runs = ({key: value for part in made for key, value in part[k].items()} for k in (0, 1))
    return Measured(chosen, runs, dict(zip(NULLS, nulls, strict=True)))


def row_name(method, share):
    """Return the name of a row: the method, and whether log Q is added."""
    return f"{method} + log Q" if share else method


def _key(setting, options, seed, *rest):
    """Return the key of a part of the study."""
    common = setting.common
    scale = [common.get("pairs_per_epoch"), common.dim, common.epochs]
    return [setting.task.line(), scale, sorted(options.items()), seed, *rest]


def _chosen(setting, options, row, scale, memo):
    """Return the best options by validation for a row, (all shares of its method, its own share, its measure)."""
    shares, share, by = row
    seed = setting.common.seed

    def value(found):
        if found is None:
            return -math.inf
        epochs = memo(_key(setting, found, seed, "validation", list(shares)), curve, setting, found, seed, shares)
        return max((epoch[f"{share:g}"][by] for epoch in epochs), default=-math.inf)

    if options["loss"] not in _WARM:
        return options | {"alpha": scale.rates.best(lambda alpha: value(options | {"alpha": alpha}), memo.each)}
    place = best_place(
        lambda place: value(warm_at(options, place, scale.rates)), scale.starts, scale.rates.steps, memo.each
    )
    return warm_at(options, place, scale.rates)


def _test(setting, name, chosen, scale, memo):
    """Train with each choice of a method under every seed, once for rows with the same choice; return the runs.

    chosen : dict of (share, measure) -> options
    """
    wanted, runs = {}, {}
    for row, found in chosen.items():
        wanted.setdefault(tuple(sorted(found.items())), []).append(row)

    def one(given, seed):
        rows, options = wanted[given], dict(given)
        return rows, memo(_key(setting, options, seed, "test", rows), tested, setting, options, seed, rows)

    seeds = range(setting.common.seed, setting.common.seed + scale.seeds)
    for rows, figures in memo.each(one, [given for given in wanted for _ in seeds], [*seeds] * len(wanted)):
        for (share, by), found in zip(rows, figures, strict=True):
            for figure, value in found.items():
                figure = f"epoch, {by}" if figure == "epoch" else figure
                runs.setdefault((row_name(name, share), figure), []).append(value)
    return runs


def ranking_table(measured):
    """Return rankings as text: in percent, ± half of a 95 % interval over seeds."""
    return _table(measured, RANKING, dict.fromkeys(("P@1", "P@5", "P@15", "P@50", "MPR"), 100.0), "P@15")


def likelihood_table(measured):
    """Return mean log-likelihoods in nats and RS eq. 9 in 1e-4, as text: as trained, by the law, by a fitted scale."""
    scores = ("trained", "law", "fitted")
    figures = {"scale, law": 1.0, "scale, fitted": 1.0}
    figures |= {f"log-likelihood, {name}": 1.0 for name in scores} | {f"eq. 9, {name}": 1e4 for name in scores}
    return _table(measured, LIKELIHOOD, figures, "log-likelihood, fitted")


def _table(measured, by, figures, judge):
    """Return a table, null models first; rows that popularity beats by the figure `judge` are marked."""
    rows = []
    for name, values in measured.nulls.items():
        row = {"method": name, "alpha": "–", "T": "–", "epoch": "–"}
        rows.append(row | {each: f"{factor * values[each]:.{_digits(each)}f}" for each, factor in figures.items()})
    for name in measured.rows:
        chosen, epochs = measured.chosen[name, by], measured.runs[name, f"epoch, {by}"]
        row = {"method": name + " (popularity beats it)" * bool(measured.beaten(name, judge))}
        row |= {"alpha": f"{chosen['alpha']:.3g}", "T": f"{chosen['temp']:g}" if "temp" in chosen else "–"}
        row["epoch"] = f"{np.mean(epochs):g}"
        rows.append(
            row | {each: cell(measured.runs[name, each], _digits(each), factor) for each, factor in figures.items()}
        )
    return pd.DataFrame(rows)


def _digits(figure):
    return 4 if figure.startswith("log-") else 2


def _made(name, quick, seed):
    """Return (Task, Scale) of a study."""
    if quick:
        return make_task("made-up baskets", communities(seed), seed, "baskets"), QUICK
    return load_task(name, seed), _SCALES.get(name, FULL)


def _study(name, given):
    tell, quick, seed, memo = given
    task, scale = _made(name, quick, seed)
    tell(task.line())
    method = method_of(task.n_targets)
    measured = measure(task, scale, seed, tell, memo, drawing(ROWS, method))
    tables = {"ranking": ranking_table(measured), "likelihood": likelihood_table(measured)}
    tables["papers"] = beside_papers(name, measured)
    verdicts = judged(claims_of(method), measured.runs, UNITS, measured.beaten)
    return Study(tables, _described(task, scale, measured), verdicts=verdicts)


def _described(task, scale, measured):
    common = pairs_config(task, scale, 1)
    temps = ", ".join(f"{temp:g}" for temp in TEMPERATURES)
    return (
        f"{task.line()}. d = {scale.dim}, {scale.epochs} epochs of {common.get('pairs_per_epoch'):,} pairs, "
        f"{scale.seeds} seeds. Draws of UBS, PBS, SP and CIS are {DRAWS[method_of(task.n_targets)]}, "
        "or rolling if the row says so. "
        "Every row chose alpha, T and epoch on validation pairs by its own score: "
        f"{scale.rates.said()}; T on {temps} and "
        "halves below. Null models: popularity, and counts interpolated with it at weight "
        f"{measured.nulls[NULLS[1]]['weight of counts']:.2f}. Rankings in percent, log-likelihoods in nats, eq. 9 in "
        "1e-4, with 95 % intervals over seeds.\n"
    )


@STUDIES.register("next-item-negatives")
@declare("RS", "§3.2, negatives", minutes=40)
def negatives(tell, quick, seed, memo):
    """Are 5 negatives best? RS's four methods on ml-100k with 1, 5 and 20, alpha and T chosen for each."""
    task, scale = _made("ml-100k", quick, seed)
    tell(task.line())
    names = ("US (UniS)",) if quick else ("US (UniS)", "PS", "UBS", "PBS")
    methods = {f"{name}, n = {n}": METHODS[name] | {"negatives": n} for name in names for n in (1, 5, 20)}
    measured = measure(task, scale, seed, tell, memo, methods)
    tables = {"ranking": ranking_table(measured), "likelihood": likelihood_table(measured)}
    verdicts = judged(negatives_claims(names), measured.runs, UNITS, measured.beaten)
    return Study(tables, _described(task, scale, measured), verdicts=verdicts)


def _register(name):
    what = "Next word" if name.startswith("text") else "Next item"
    study_name = f"next-{'word' if name.startswith('text') else 'item'}-{name.removeprefix('text-')}"
    paper, shows, minutes = SHOWN[name]

    def study(tell, quick, seed, memo):
        return _study(name, (tell, quick, seed, memo))

    study.__doc__ = f"{what}: all methods of RS table 2 and CIS tables 2 and 7 on {name}, split by user."
    STUDIES.register(study_name)(declare(paper, shows, minutes=minutes)(study))


for _name in INPUTS:
    _register(_name)
