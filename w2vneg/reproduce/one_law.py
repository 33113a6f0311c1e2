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
import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..config import TrainConfig
from ..data.inputs import Input, encode_input
from ..evaluation import evaluate_ranking
from . import STUDIES, Study, declare
from .climb import alpha_at, best_place
from .item_tasks import load_task, make_task
from .law_fit import binned, discriminator_weights, frequent_pairs, learned_and_predicted, line
from .memo import Memo
from .next_item import communities
from .next_item_runs import LIKELIHOOD, Setting, curve, train, untempered
from .tempering import fitted_scale, improper, likelihoods
from .verdicts import Claim, Unit, interval, verdict

SHARES = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5)
REFERENCE = "full softmax"
OBJECTIVES = {
    REFERENCE: {"loss": "mle"},
    "sampled softmax": {"loss": "ss"},
    "uniform": {"loss": "us"},
    "popularity": {"loss": "ps"},
    "popularity^.75": {"loss": "ps", "noise_exponent": 0.75},
    "log-uniform": {"loss": "pops"},
    "uniform, T = 6": {"loss": "ubs", "temp": 6.0},
    "uniform, T = 1": {"loss": "ubs", "temp": 1.0},
    "uniform, T = 0.5": {"loss": "ubs", "temp": 0.5},
    "popularity, T = 6": {"loss": "pbs", "temp": 6.0},
    "popularity, T = 1": {"loss": "pbs", "temp": 1.0},
    "popularity, T = 0.5": {"loss": "pbs", "temp": 0.5},
}
_HARD = {"loss": "ubs", "temp": 0.25}
FAILURES = {  # where the law is expected to fail -> (options, the objective whose alpha it takes)
    "T = 0.25, rolling": (_HARD, "uniform, T = 0.5"),
    "T = 0.25, sir": (_HARD | {"method": "sir"}, "uniform, T = 0.5"),
    "T = 0.25, exact": (_HARD | {"method": "exact"}, "uniform, T = 0.5"),
    "T = 1, rolling": ({"loss": "ubs", "temp": 1.0}, "uniform, T = 1"),
    "T = 1, exact": ({"loss": "ubs", "temp": 1.0, "method": "exact"}, "uniform, T = 1"),
    "T = 1, one epoch": ({"loss": "ubs", "temp": 1.0, "epochs": 1}, "uniform, T = 1"),
    "popularity, one epoch": ({"loss": "ps", "epochs": 1}, "popularity"),
    "popularity, shared by a centre": ({"loss": "ps", "share_negatives": "centre"}, "popularity"),
    "popularity, positive excluded": ({"loss": "ps", "exclude": "target"}, "popularity"),
}
_UNITS = {"log-likelihood": 1.0, "P@15": 100.0, "MPR": 100.0}
NEGATIVES = (1, 5, 20)  # of CIS and self-play


@dataclass(frozen=True)
class Scale:
    """dim, epochs, seeds as said; most : int, pairs drawn for an epoch; least : int, counts of a frequent pair
    steps : int, of the search for alpha; objectives, failures, negatives, shares : what is tried
    centres : int, of the test part, that are ranked
    """

    dim: int = 100
    epochs: int = 5
    most: int = 1_000_000
    seeds: int = 5
    least: int = 50
    steps: int = 3
    centres: int = 1500
    objectives: tuple = tuple(OBJECTIVES)
    failures: tuple = tuple(FAILURES)
    negatives: tuple = NEGATIVES
    shares: tuple = SHARES


FULL = Scale()
QUICK = Scale(
    dim=16,
    epochs=2,
    most=20_000,
    seeds=2,
    least=10,
    steps=0,
    objectives=(REFERENCE, "uniform", "popularity", "popularity, T = 1"),
    failures=("popularity, one epoch",),
    negatives=(1,),
    shares=(0.0, 1.0, 1.5),
)


def _setting(task, scale, seed):
    total = int(task.train.matrix.sum(dtype=np.float64))
    common = TrainConfig(
        source="pairs",
        pair_weights="sample",
        pairs_per_epoch=min(scale.most, 2 * total // 5),
        dim=scale.dim,
        epochs=scale.epochs,
        workers=1,
        seed=seed,
    )
    return Setting(_thinned(task, scale.centres), common, _pairs(task.valid, scale.centres // 3))


def _pairs(held, most):
    """Return (centres, targets, weights) of at most so many evenly spaced centres."""
    there = np.unique(held.centres)
    kept = np.isin(held.centres, there[np.linspace(0, len(there) - 1, min(most, len(there))).astype(int)])
    return held.centres[kept], held.targets[kept], held.weights[kept]


def _thinned(task, most):
    centres, targets, weights = _pairs(task.test, most)
    test = dataclasses.replace(task.test, centres=centres, targets=targets, weights=weights)
    return dataclasses.replace(task, test=test)


class Laboratory:
    """One task on which objectives are trained and looked at, whatever is done kept in a memo.

    Parameters
    ----------
    task : Task
    scale : Scale
    seed : int, the first of ``scale.seeds``
    memo : Memo
    """

    def __init__(self, task, scale, seed, memo):
        self.scale, self.seed, self.memo = scale, seed, memo
        self.setting = _setting(task, scale, seed)
        self.pairs = frequent_pairs(task.train.matrix, scale.least)
        test = self.setting.task.test
        self.held = test.centres, test.targets, test.weights

    def alpha(self, options):
        """Return the learning rate that validation likes best for these options."""

        def value(place):
            found = options | {"alpha": alpha_at(place[0])}
            key = self._key(found, self.seed, "validation")
            epochs = self.memo(key, lambda: curve(self.setting, found, self.seed, (1.0,)))
            return max((epoch["1"][LIKELIHOOD] for epoch in epochs), default=-math.inf)

        return alpha_at(best_place(value, [(0, 1)], self.scale.steps)[0])

    def runs(self, options, look, name):
        """Train under every seed; return what ``look(model)`` makes of each, kept under `name`."""
        found = []
        for seed in range(self.seed, self.seed + self.scale.seeds):
            key = self._key(options, seed, name)
            found.append(self.memo(key, lambda seed=seed: self._looked_at(options, seed, look)))
        return found

    def _key(self, options, seed, name):
        common = self.setting.common
        scale = [common.pairs_per_epoch, common.dim, common.epochs, self.scale.least, self.scale.centres]
        return [self.setting.task.name, len(self.setting.task.train.vocab), scale, sorted(options.items()), seed, name]

    def _looked_at(self, options, seed, look):
        found = {}
        train(self.setting, options, seed, lambda model, epoch: found.update(model=model))
        return look(found["model"])

    def against_law(self, model):
        """Return slope, R² and bins of learned against predicted scores."""
        both = learned_and_predicted(model, self.pairs)
        return line(*both) | {"bins": binned(*both)}

    def at_the_law(self, model):
        """Return what the law says, and figures of the test part for λ = 1."""
        score, factor = untempered(model, 1.0)
        return line(*learned_and_predicted(model, self.pairs)) | self.figures(score, factor, self.held)

    def along_shares(self, model):
        """Return what the law says, and figures of the test part for each λ; for λ = 0 those of raw scores, too."""
        held = self.held
        found = {"law": self.against_law(model), "shares": {}}
        for share in self.scale.shares:
            score, factor = untempered(model, share)
            found["shares"][f"{share:g}"] = self.figures(score, factor, held)
        score, _ = untempered(model, 0.0)
        found["raw"] = likelihoods(score, held, self.setting.n_targets, (1.0,))[0][0]
        return found

    def figures(self, score, factor, held):
        """Return log-likelihood at this factor, P@15 and MPR of a scoring function."""
        n_targets = self.setting.n_targets
        ranked = evaluate_ranking(score, held, n_targets, ks=(15,), logits=False, samples=0, bootstrap=0)
        value = likelihoods(score, held, n_targets, (factor,))[0][0]
        return {"log-likelihood": value, "P@15": ranked.precision[15], "MPR": ranked.mpr}

    def cooperation(self, n):
        """Return a look at a run of self-play or CIS with n negatives: figures, and what the weights are like."""

        def look(model):
            score, _ = untempered(model, 0.0)
            scale, _ = fitted_scale(score, self.setting.valid, self.setting.n_targets)
            found = self.figures(score, scale, self.held) | {"slope": self.against_law(model)["slope"]}
            if model.extra:
                found["weights"] = discriminator_weights(model, self.setting.task.train.matrix, n)
            return found

        return look


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
        row |= {figure: _cell([run[figure] for run in runs]) for figure in ("slope", "R²")}
        row["log-likelihood"] = _cell([run["log-likelihood"] for run in runs], 4)
        row["P@15"] = _cell([run["P@15"] for run in runs], 2, 100.0)
        rows.append(row)
        tell(f"{bench.setting.task.name}: {name}: slope {row['slope']}")
    return rows


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
        for objective in dict.fromkeys(row[1] for row in bins):
            points = np.array([row[2:] for row in bins if row[1] == objective])
            axes.plot(*points.T, ".-", linewidth=0.8, label=objective)
        ends = [edge(row[2] for row in bins) for edge in (min, max)]
        axes.plot(ends, ends, color="black", linewidth=0.8)
        axes.set_xlabel("predicted s, centred")
        axes.set_ylabel("learned s, centred")
        axes.legend(fontsize=6)

    return draw


def _draw_shares(along):
    def draw(figure):
        for axes, name in zip(figure.subplots(1, len(_UNITS)), _UNITS, strict=True):
            for objective, part in along.groupby("objective", sort=False):
                axes.plot(part["λ"], part[name], ".-", linewidth=0.8, label=objective)
            axes.set_title(name, fontsize=8)
            axes.set_xlabel("λ")
        axes.legend(fontsize=4)

    return draw


def _study(name, given):
    tell, quick, seed, memo = given
    scale, task, memo = QUICK if quick else FULL, _task(name, quick, seed), Memo() if memo is None else memo
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
    STUDIES.register(f"one-law-{name}")(declare("ours", "one law", resumes=True)(study))


for _name in ("ml-100k", "text", "belgian", "ml-1m", "uk"):
    _register(_name)
