"""One law for the family: s = T / (1 + T) · (log P(j|i) − log D(j)), tested on every objective that it covers.

Each objective trains on pairs drawn in proportion to their counts, for twenty epochs, because the law describes the end
of training; its alpha is chosen by the log-likelihood of validation pairs. Boltzmann noise is drawn among all targets,
from pools if they are 10,000 or more, and in separate rows among rolling candidates. Then several seeds are evaluated
at the end of training:

- slopes of corrected scores on log popularity and on PMI (`law_fit`);
- test pairs under score(λ) = (1 + T) / T · s + λ log D, λ from 0 to 1.5: log-likelihood, Precision@15, MPR;
- differences from the full softmax, corrected, paired by seed, and two null models;
- CIS against self-play for several numbers of negatives, and on data with sparse support;
- where the law fails: few candidates at low T, too few epochs, shared negatives, excluded positives.
"""

import dataclasses
import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from w2vneg.data.inputs import Input, encode_input
from w2vneg.vectors.evaluation import evaluate_ranking

from . import STUDIES, Study, declare
from .climb import RATES, Rates
from .item_runs import (
    DRAWS,
    LIKELIHOOD,
    NULLS,
    POPULARITY,
    Setting,
    curve,
    drawing,
    fitted_scale,
    improper,
    likelihoods,
    method_of,
    null_model,
    pairs_config,
    thinned,
    train,
    untempered,
)
from .item_tasks import communities, load_task, make_task
from .law_fit import PMI, POPULAR, against_law, discriminator_weights, frequent_pairs
from .verdicts import Claim, Unit, cell, judged

REFERENCE = "full softmax"
_TEMPERED = {
    f"{name}, T = {temp:g}": {"loss": loss, "temp": temp, "method": "exact"}
    for name, loss in (("uniform", "ubs"), ("popularity", "pbs"))
    for temp in (6.0, 1.0, 0.5)
}
_PLAIN = {
    REFERENCE: {"loss": "mle"},
    "sampled softmax": {"loss": "ss"},
    "uniform": {"loss": "us"},
    "popularity": {"loss": "ps"},
    "popularity^.75": {"loss": "ps", "noise_exponent": 0.75},
    "log-uniform": {"loss": "pops"},
}
_HARD = {"loss": "ubs", "temp": 0.25, "method": "exact"}
_FAILURES = {  # case where the law is expected to fail -> (options, the objective whose alpha it uses)
    "T = 0.25": (_HARD, "uniform, T = 0.5"),
    "T = 0.25, rolling": (_HARD | {"method": "rolling"}, "uniform, T = 0.5"),
    "popularity, 5 epochs": ({"loss": "ps", "epochs": 5}, "popularity"),
    "popularity, shared by a centre": ({"loss": "ps", "share_negatives": "centre"}, "popularity"),
    "popularity, positive excluded": ({"loss": "ps", "exclude": "target"}, "popularity"),
}
_UNITS = {"log-likelihood": Unit(1.0, "nats", 0.005), "P@15": Unit(100.0, "points")}
_MARKERS = "os^DvPX<>*hd"


@dataclass(frozen=True)
class Scale:
    """dim, epochs, seeds : int; most : int, maximum of pairs per epoch; least : int, count of a frequent pair
    rates : Rates; centres : int, number used of the test part
    negatives, shares : values tried; few : bool, only the objectives and failures that a test needs
    """

    dim: int = 100
    epochs: int = 20
    most: int = 1_000_000
    seeds: int = 5
    least: int = 50
    rates: Rates = RATES
    centres: int = 1500
    negatives: tuple = (1, 5, 20)
    shares: tuple = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5)
    few: bool = False


FULL = Scale()
LARGE = dataclasses.replace(FULL, seeds=3)
QUICK = Scale(
    dim=16,
    epochs=3,
    most=20_000,
    seeds=2,
    least=10,
    rates=Rates(starts=(0, 1), steps=0),
    negatives=(1,),
    shares=(0.0, 1.0, 1.5),
    few=True,
)
_TASKS = {  # name -> (scale, about how many minutes of one core)
    "ml-100k": (FULL, 120),
    "text": (FULL, 160),
    "belgian": (LARGE, 190),
    "ml-1m": (LARGE, 220),
    "uk": (LARGE, 220),
}


def objectives(few=False):
    """Return options by objective; Boltzmann noise is drawn exactly unless the name says rolling (see `drawing`)."""
    found = _PLAIN | _TEMPERED
    found |= {f"{name}, rolling": _TEMPERED[name] | {"method": "rolling"} for name in _TEMPERED if "T = 1" in name}
    return {name: found[name] for name in (REFERENCE, "popularity", "popularity, T = 1")} if few else found


# evaluations of a trained model, functions of (setting, model, scale, …), which a worker process may run


def _looked_at(setting, options, seed, look, scale, *given):
    """Train, and return ``look(setting, model, scale, *given)``."""
    found = {}
    train(setting, options, seed, lambda model, epoch: found.update(model=model))
    return look(setting, found["model"], scale, *given)


def _figures(setting, score, factor):
    """Return log-likelihood at this factor, P@15 and MPR of a scoring function on the test part."""
    ranked = evaluate_ranking(score, setting.held, setting.n_targets, ks=(15,), logits=False, samples=0, bootstrap=0)
    value = likelihoods(score, setting.held, setting.n_targets, (factor,))[0][0]
    return {"log-likelihood": value, "P@15": ranked.precision[15], "MPR": ranked.mpr}


def _against_law(setting, model, scale):
    return against_law(model, frequent_pairs(setting.task.train.matrix, scale.least))


def at_the_law(setting, model, scale):
    """Return the comparison with the law, and figures of the test part for λ = 1."""
    return _against_law(setting, model, scale) | _figures(setting, *untempered(model, 1.0))


def along_shares(setting, model, scale):
    """Return the same, figures for each λ, and the log-likelihood of unscaled raw scores."""
    shares = {f"{share:g}": _figures(setting, *untempered(model, share)) for share in scale.shares}
    score, _ = untempered(model, 0.0)
    raw = likelihoods(score, setting.held, setting.n_targets, (1.0,))[0][0]
    return at_the_law(setting, model, scale) | {"shares": shares, "raw": raw, "raw P@15": shares["0"]["P@15"]}


def cooperation(setting, model, scale, n):
    """Return figures of self-play or CIS with n negatives at its best scale, and statistics of its weights."""
    score, _ = untempered(model, 0.0)
    fitted, _ = fitted_scale(score, setting.valid, setting.n_targets)
    found = _figures(setting, score, fitted) | {PMI: _against_law(setting, model, scale)[PMI]}
    weights = discriminator_weights(model, setting.task.train.matrix, n) if model.extra else {}
    return found | {"weights": weights}


class Laboratory:
    """One task on which objectives are trained and evaluated, with finished parts in a memo.

    Parameters
    ----------
    task : Task
    scale : Scale
    seed : int, the first of ``scale.seeds``
    memo : Memo
    """

    def __init__(self, task, scale, seed, memo):
        self.scale, self.seed, self.memo, self.name = scale, seed, memo, task.name
        test, valid = (
            thinned((part.centres, part.targets, part.weights), n)
            for part, n in ((task.test, scale.centres), (task.valid, scale.centres // 3))
        )
        test = dataclasses.replace(task.test, **dict(zip(("centres", "targets", "weights"), test, strict=True)))
        self.setting = Setting(dataclasses.replace(task, test=test), pairs_config(task, scale, seed), valid)
        self.method = method_of(task.n_targets)
        self.objectives = drawing(objectives(scale.few), self.method)

    def alpha(self, options):
        """Return the best learning rate by validation for these options."""

        def value(alpha):
            found = options | {"alpha": alpha}
            key = self._key(found, self.seed, "validation")
            epochs = self.memo(key, curve, self.setting, found, self.seed, (1.0,))
            return epochs[-1]["1"][LIKELIHOOD] if epochs else -math.inf  # the law describes the end of training

        return self.scale.rates.best(value, self.memo.each)

    def runs(self, options, look, *given):
        """Train under every seed; return ``look(setting, model, scale, *given)`` for each."""

        def one(seed):
            key = self._key(options, seed, [look.__name__, *given])
            return self.memo(key, _looked_at, self.setting, options, seed, look, self.scale, *given)

        return self.memo.each(one, range(self.seed, self.seed + self.scale.seeds))

    def nulls(self):
        """Return the figures of the null models: dict of name -> dict."""
        found = self.memo.each(lambda name: self.memo(self._key({}, 0, name), null_model, self.setting, name), NULLS)
        return dict(zip(NULLS, found, strict=True))

    def _key(self, options, seed, what):
        common = self.setting.common
        scale = [common.get("pairs_per_epoch"), common.dim, common.epochs, self.scale.least, self.scale.centres]
        return [self.name, self.setting.n_targets, scale, sorted(options.items()), seed, what]


def law_tables(bench, tell):
    """Return tables by name, claims, runs and bins of all objectives on one task, and a note on rows (see `judged`)."""

    def one(name):
        options = bench.objectives[name]
        alpha = bench.alpha(options)
        runs = bench.runs(options | {"alpha": alpha}, along_shares)
        tell(f"{bench.name}: {name}: {PMI} {cell([run[PMI] for run in runs])}")
        return alpha, runs

    looked = dict(zip(bench.objectives, bench.memo.each(one, bench.objectives), strict=True))
    nulls, likely = bench.nulls(), "log-likelihood"
    least = nulls[POPULARITY][f"{likely}, law"]
    rows = [
        {"objective": name, likely: f"{found[f'{likely}, law']:.4f}", "P@15": f"{100 * found['P@15']:.2f}"}
        for name, found in nulls.items()
    ]
    along, bins = [], []
    for name, (alpha, runs) in looked.items():
        beaten = np.mean([run[likely] for run in runs]) < least
        row = {"objective": name + " (popularity beats it)" * bool(beaten), "alpha": f"{alpha:g}"}
        row |= {figure: cell([run[figure] for run in runs]) for figure in (POPULAR, PMI, "R²")}
        row |= {f"{likely}, raw": cell([run["raw"] for run in runs], 4), likely: cell([run[likely] for run in runs], 4)}
        row["P@15, raw"] = cell([run["raw P@15"] for run in runs], 2, 100.0)
        rows.append(row | {"P@15": cell([run["P@15"] for run in runs], 2, 100.0)})
        bins += [(name, *pair) for pair in runs[0]["bins"]]
        for share in bench.scale.shares:
            found = [run["shares"][f"{share:g}"] for run in runs]
            means = {figure: float(np.mean([one[figure] for one in found])) for figure in found[0]}
            along.append({"objective": name, "λ": share} | means)
    order = ["objective", "alpha", POPULAR, PMI, "R²", f"{likely}, raw", likely, "P@15, raw", "P@15"]
    tables = {"law": pd.DataFrame(rows).fillna("–")[order], "along λ": pd.DataFrame(along)}
    claims = []
    for name in list(looked)[1:]:
        draws = bench.objectives[name].get("method", "")
        text = f"{bench.name}: {name}, corrected, beats the full softmax"
        claims += [Claim("ours", text, name, REFERENCE, figure, draws=draws) for figure in _UNITS]
    runs = {(name, figure): [run[figure] for run in found] for name, (_, found) in looked.items() for figure in _UNITS}

    def note(row, figure):
        beaten = row in looked and figure == likely and np.mean(runs[row, figure]) < least
        return f"popularity beats {row}" if beaten else ""

    return tables, claims, runs, bins, note


def cooperation_table(bench, tell):
    """Return rows, claims and runs of CIS against self-play, for each number of negatives and both ways to draw."""
    options = {
        (loss, draws): {"loss": loss, "method": draws}
        for draws in (bench.method, "rolling")
        for loss in ("selfplay", "cis")
    }
    alphas = dict(zip(options, bench.memo.each(bench.alpha, options.values()), strict=True))
    tried = [(n, *which) for n in bench.scale.negatives for which in options]

    def one(n, loss, draws):
        given = options[loss, draws] | {"alpha": alphas[loss, draws], "negatives": n}
        return bench.runs(given, cooperation, n)

    made = dict(zip(tried, bench.memo.each(one, *zip(*tried, strict=True)), strict=True))
    rows, claims, runs = [], [], {}
    for n in bench.scale.negatives:
        for draws in dict.fromkeys(draws for _, draws in options):
            own, cis = (made[n, loss, draws] for loss in ("selfplay", "cis"))
            row = {"data": bench.name, "n": n, "draws": draws}
            row |= {f"{PMI}, {name}": cell([run[PMI] for run in found]) for name, found in (("SP", own), ("CIS", cis))}
            row |= {key: cell([run["weights"][key] for run in cis], 2) for key in cis[0]["weights"]}
            for figure, unit in _UNITS.items():
                ends = [f"{bench.name}, {name}, {n}, {draws}" for name in ("CIS", "SP")]
                values = [np.array([run[figure] for run in found]) for found in (cis, own)]
                runs |= {(end, figure): value for end, value in zip(ends, values, strict=True)}
                row[f"{figure}, CIS − SP"] = cell(values[0] - values[1], 4, unit.factor)
                text = f"{bench.name}, n = {n}: CIS improves on self-play"
                claims.append(Claim("CIS", text, *ends, figure, draws=draws))
            rows.append(row)
            tell(f"{bench.name}: CIS beside self-play, n = {n}, {draws}: P@15 {row['P@15, CIS − SP']}")
    return rows, claims, runs


def failure_rows(bench, tell):
    """Return slopes and R² where the law is expected to fail, and the corrected figures."""
    tried = {name: like for name, (_, like) in _FAILURES.items() if like in bench.objectives}
    options = drawing({name: own for name, (own, _) in _FAILURES.items()}, bench.method)

    def one(name):
        alpha = bench.alpha(bench.objectives[tried[name]])
        runs = bench.runs(options[name] | {"alpha": alpha}, at_the_law)
        row = {"data": bench.name, "setting": name, "alpha": f"{alpha:g}"}
        row |= {figure: cell([run[figure] for run in runs]) for figure in (POPULAR, PMI, "R²")}
        row["log-likelihood"] = cell([run["log-likelihood"] for run in runs], 4)
        tell(f"{bench.name}: {name}: {PMI} {row[PMI]}")
        return row | {"P@15": cell([run["P@15"] for run in runs], 2, 100.0)}

    return bench.memo.each(one, tried)


def _task(name, quick, seed):
    if quick:
        return make_task("made-up baskets", communities(seed), seed, "baskets")
    if name != "text":
        return load_task(name, seed)
    text = encode_input(Input("corpus", "enwiki2015-head").located(), max_vocab=2000)
    return make_task("text, 2,000 words", text, seed, "corpus", 2)


def _draw_law(bins):
    def draw(figure):
        axes = figure.subplots()
        for marker, objective in zip(_MARKERS, dict.fromkeys(row[0] for row in bins), strict=False):
            points = np.array([row[1:] for row in bins if row[0] == objective])
            axes.plot(*points.T, marker=marker, markersize=4, linewidth=0.8, label=objective)
        ends = [edge(row[1] for row in bins) for edge in (min, max)]
        axes.plot(ends, ends, color="black", linewidth=0.8)
        axes.set_xlabel("log P(j|i), centred")
        axes.set_ylabel("corrected score, centred")
        axes.legend(fontsize=6)

    return draw


def _draw_shares(along):
    def draw(figure):
        names = ("log-likelihood", "P@15", "MPR")
        for axes, name in zip(figure.subplots(1, len(names)), names, strict=True):
            for marker, (objective, part) in zip(_MARKERS, along.groupby("objective", sort=False), strict=False):
                axes.plot(part["λ"], part[name], marker=marker, markersize=4, linewidth=0.8, label=objective)
            axes.set_title(name, fontsize=8)
            axes.set_xlabel("λ")
        axes.legend(fontsize=4)

    return draw


def _study(name, given):
    tell, quick, seed, memo = given
    scale, task = QUICK if quick else _TASKS[name][0], _task(name, quick, seed)
    tell(task.line())
    bench = Laboratory(task, scale, seed, memo)
    tables, claims, runs, bins, note = law_tables(bench, tell)
    sparse = make_task("sparse support", communities(seed, 400, 6000, other=0.0), seed, "baskets")
    rows = []
    for each in (bench, Laboratory(sparse, scale, seed, memo)):
        found = cooperation_table(each, tell)
        rows, claims, runs = rows + found[0], claims + found[1], runs | found[2]
    tables |= {"cooperation": pd.DataFrame(rows), "failures": pd.DataFrame(failure_rows(bench, tell))}
    columns = ["c", "log-likelihood", "RS eq. 9"]
    tables["improper"] = pd.DataFrame([(c, *pair) for c, pair in improper().items()], columns=columns)
    text = (
        f"{task.line()}. d = {scale.dim}, {scale.epochs} epochs of "
        f"{bench.setting.common.get('pairs_per_epoch'):,} pairs, {scale.seeds} "
        f"seeds; {scale.rates.said()}, chosen by the log-likelihood of validation pairs at the end. "
        f"Draws at finite T are {DRAWS[bench.method]}, or rolling if the row says so. Slopes and R² are for corrected "
        f"scores on log P(j) and PMI, over pairs that occur {scale.least} times or more, weighted by counts; the law "
        "predicts 1 and 1. Log-likelihood in nats and P@15 in % on test pairs, corrected unless marked raw. Intervals "
        "in tables are at 95 %; verdicts allow for the number of comparisons.\n"
    )
    figures = {"law": _draw_law(bins), "along": _draw_shares(tables["along λ"])}
    return Study(tables, text, figures, judged(claims, runs, _UNITS, note))


def _register(name):
    def study(tell, quick, seed, memo):
        return _study(name, (tell, quick, seed, memo))

    study.__doc__ = f"One law: where scores settle, predicted and learned, raw and corrected, on {name}."
    STUDIES.register(f"one-law-{name}")(declare("ours", "one law", minutes=_TASKS[name][1])(study))


for _name in _TASKS:
    _register(_name)
