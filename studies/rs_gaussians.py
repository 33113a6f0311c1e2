"""Mixtures of Gaussians on a grid (Tanielian and Vasile 2019, figures 1 to 5): what does a relaxed softmax learn?

The truth is known; see `gaussian_task` for the mixtures and the training. The law of the relaxed softmax predicts the
best divergence of a method before any training, in the columns "law". Two remarks on D = 1/P_i, the paper's best
degeneracy, follow from it. At T the scores are T / (1 + T) (log P̂ + log P): the truth is added to the observed
distribution, so a model that "generalises better" was given the answer. With enough data they are 2 T / (1 + T) log P,
which is exact at T = 1. So there are two controls: the same without the truth (1/P̂, from the training pairs), and
maximum likelihood with the same truth added afterwards.

Adam's rates are chosen on held-out pairs of a separate mixture, each by climbing until both neighbours are worse.
"""

import dataclasses
import math

import numpy as np
import pandas as pd

from . import STUDIES, Study, declare
from .gaussian_draws import FULL, QUICK, Draw, nearer, row, summed_up, tuned
from .gaussian_task import Method, log_softmax

_CONTEXT = 0.625  # of the side: the paper's i = 625 of 1,000
_NEGATIVES = (1, 5, 25, 100)
_PARTS = {"training": "KL(P̂||g)", "test": "KL(P||g)"}
DEGENERACIES = ("1/P", "uniform", "popularity")


def _lines(table, x, by, y, title=None, log_x=True):
    """Return a function that draws column y against x, one line per value of `by`; an infinite x comes last."""

    def draw(figure):
        axes = figure.add_subplot()
        for name, part in table.groupby(by, sort=False):
            finite = part[x].replace(math.inf, 4 * part[x][np.isfinite(part[x])].max())
            axes.errorbar(finite, part[y], part.get(f"± {y}"), marker="o", label=name, capsize=2)
        if log_x:
            axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel(x)
        axes.set_ylabel(title or y)
        axes.legend()

    return draw


def _rows(memo, scale, seed, asked, tell):
    """Return the rows of all seeds, each with its labels and figures.

    asked : list of (labels of the row, dict; components or None; method, tuple; Plan)
    """

    def one(called, components, method, plan, seed):
        figures = memo(["row", sorted(called.items()), seed], row, scale, seed, components, method, plan)
        return called | {"seed": seed} | figures

    found = memo.each(one, *zip(*[(*each, seed + k) for each in asked for k in range(scale.seeds)], strict=True))
    for called, rows in zip(asked, zip(*[iter(found)] * scale.seeds, strict=True), strict=True):
        tell(f"{called[0]}: KL {np.mean([one['KL(P||g)'] for one in rows]):.4f}")
    return found


def _said(scale, more=""):
    plan = scale.plan
    return (
        f"Mixtures of Gaussians on a grid of {scale.size} x {scale.size}; {scale.pairs:,} pairs unless said otherwise, "
        f"minibatches of {plan.batch}, {plan.epochs} epochs, d = {plan.dim}, 5 negatives, {scale.seeds} draws of "
        f"mixture and pairs; ± is half of a 95 % interval over them. KL in nats. {more}\n"
    )


# figures 1 and 2


def temperatures(scale, seed, tell, memo):
    """Return rows of D × T, and the plan of each D."""
    plans = memo.each(lambda degeneracy: tuned(scale, (degeneracy, 1.0), memo, degeneracy), DEGENERACIES)
    plans = dict(zip(DEGENERACIES, plans, strict=True))
    asked = [({"D": d, "T": temp}, None, (d, temp), plans[d]) for d in DEGENERACIES for temp in scale.temps]
    return _rows(memo, scale, seed, asked, tell), plans


def _figure_1(scale, seed, plan):
    """Return a function that draws P, g and Q of one context at three T, for D = 1/P, and a table of the mass of Q.

    The temperatures are the lowest, .75 and the highest finite one.
    """
    i, draw = int(_CONTEXT * scale.size), Draw(scale, seed)
    p = draw.truth.conditional[i]
    shown, rows = {}, []
    finite = [temp for temp in scale.temps if not math.isinf(temp)]
    for temp in dict.fromkeys((finite[0], 0.75, finite[-1])):
        method = draw.method("1/P", temp)
        scores = draw.trained(method, plan)
        q = np.exp(log_softmax(scores[i : i + 1] / temp + method.log_d[i]))[0]
        shown[temp] = np.exp(log_softmax(scores[i : i + 1]))[0], q
        likely = p > 1 / len(p)
        rows.append({"T": temp, "share of draws on P_i > 1/J": q[likely].sum(), "effective targets": 1 / (q**2).sum()})

    def draw_on(figure):
        figure.set_size_inches(4 * len(shown), 3.2)
        for place, (temp, (g, q)) in enumerate(shown.items(), 1):
            axes = figure.add_subplot(1, len(shown), place)
            for name, values in (("P", p), ("g", g), ("Q", q)):
                axes.plot(values, label=name)
            axes.set_title(f"T = {temp:g}")
            axes.set_xlabel("target j")
            axes.legend()

    return draw_on, pd.DataFrame(rows)


def best_temperatures(table):
    """Return, for each D, the T with the least divergence: learned, corrected, and by the law."""
    rows = []
    for name, part in table.groupby("D", sort=False):
        row = {"D": name}
        for column in ("KL(P||g)", "KL corrected", "KL of the law"):
            best = part.loc[part[column].idxmin()]
            row |= {f"T for {column}": best["T"], column: best[column]}
        rows.append(row)
    return pd.DataFrame(rows)


@STUDIES.register("rs-figure-2")
@declare("RS", "figures 1 and 2", minutes=8)
def rs_figure_2(tell, quick, seed, memo):
    """Temperature and degeneracy on mixtures of Gaussians (RS figures 1 and 2), and the number of negatives."""
    scale = QUICK if quick else FULL
    memo = memo.under(scale.key())
    rows, plans = temperatures(scale, seed, tell, memo)
    table = summed_up(rows, ("D", "T"))
    asked = [({"negatives": n}, None, ("1/P", 0.75, n), plans["1/P"]) for n in _NEGATIVES[: 2 if quick else None]]
    few = _rows(memo, scale, seed, asked, tell)
    pictured, mass = _figure_1(scale, seed, plans["1/P"])
    best = best_temperatures(table)
    said = (
        "The paper finds a best T for each degeneracy, .75 for D = 1/P, and that 1/P is best of all. The law's best T "
        "is 1 for 1/P and infinity for uniform noise, which finite data then shift. 5 negatives are the "
        "paper's best number."
    )
    tables = {"temperatures": table, "best": best, "negatives": summed_up(few, ("negatives",)), "figure 1": mass}
    figures = {
        "figure 1": pictured,
        "figure 2": _lines(table, "T", "D", "KL(P||g)"),
        "figure 2 corrected": _lines(table, "T", "D", "KL corrected"),
    }
    best_of = [f"{name}, T = {temp:g}" for name, temp in zip(best["D"], best["T for KL(P||g)"], strict=True)]
    verdicts = nearer(
        "RS figure 2",
        rows + few,
        lambda row: f"{row['D']}, T = {row['T']:g}" if "D" in row else f"n = {row['negatives']}",
        [("1/P, T = 0.75", other) for other in best_of[1:]] + [("n = 5", f"n = {n}") for n in _NEGATIVES if n != 5],
    )
    return Study(tables, _said(scale, said), figures, verdicts)


# figure 3


@STUDIES.register("rs-figure-3")
@declare("RS", "figure 3", minutes=8)
def rs_figure_3(tell, quick, seed, memo):
    """Batch size: maximum likelihood and the relaxed softmax on mixtures of Gaussians (RS figure 3)."""
    scale = QUICK if quick else FULL
    memo = memo.under(scale.key())
    methods = {"MLE": (None,), "RS 1/P T=.75": ("1/P", 0.75)}

    def asked(name, batch):
        plan = dataclasses.replace(scale.plan, batch=batch)
        plan = tuned(scale, methods[name], memo, [name, batch], plan)
        return {"method": name, "batch": batch, "rate": plan.rate}, None, methods[name], plan

    wanted = [(name, batch) for name in methods for batch in scale.batches]
    rows = _rows(memo, scale, seed, memo.each(asked, *zip(*wanted, strict=True)), tell)
    table = summed_up(rows, ("method", "batch"))
    said = "The paper: maximum likelihood fits P̂ better with large minibatches, the relaxed softmax P at every size."
    figures = {f"figure 3 {part}": _lines(table, "batch", "method", y) for part, y in _PARTS.items()}
    verdicts = nearer(
        "RS figure 3",
        rows,
        lambda row: f"{row['method']}, batch {row['batch']}",
        [(f"RS 1/P T=.75, batch {batch}", f"MLE, batch {batch}") for batch in scale.batches],
    )
    return Study({"batch": table}, _said(scale, said), figures, verdicts)


# figure 4


def _by_size(scale, n_pairs, seed, plans):
    """Return rows of all methods on one draw of `n_pairs`: those of the paper, and controls."""
    draw = Draw(scale, seed, n_pairs=n_pairs)
    epochs = []
    scores = draw.trained(Method(), plans["MLE"], lambda scores: epochs.append(draw.evaluated(log_softmax(scores))))
    log_g, truth = log_softmax(scores), np.log(draw.truth.conditional)
    rows = [("MLE", draw.evaluated(log_g))]
    rows.append(("MLE, epoch chosen", max(epochs, key=lambda figures: figures["log g held out"])))
    factors = [(temp, draw.evaluated(log_softmax(temp / (1 + temp) * scores))) for temp in _finite(scale)]
    rows.append(("MLE, tempered", max(factors, key=lambda found: found[1]["log g held out"])[1]))
    rows.append(("MLE told P", draw.evaluated(log_softmax(0.75 / 1.75 * (log_g + truth)))))
    for name, degeneracy in (("RS 1/P T=.75", "1/P"), ("RS 1/P̂ T=.75", "1/P̂")):
        learned = draw.trained(draw.method(degeneracy, 0.75), plans["RS"])
        rows.append((name, draw.evaluated(log_softmax(learned))))
    uniform = {}
    for temp in (*_finite(scale), math.inf):
        learned = draw.trained(draw.method("uniform", temp), plans["RS"])
        uniform[temp] = draw.evaluated(log_softmax(learned))
    chosen = max(uniform, key=lambda temp: uniform[temp]["log g held out"])
    rows.append(("RS uniform, T chosen", uniform[chosen]))
    common = {"pairs": n_pairs, "seed": seed}
    temps = [common | {"T": temp} | figures for temp, figures in uniform.items()]
    return [{"method": name} | common | figures for name, figures in rows], temps


def _finite(scale):
    return [temp for temp in scale.temps if temp >= 1 and not math.isinf(temp)] or [scale.temps[-2]]


_GAPS = (
    ("RS 1/P T=.75", "MLE"),
    ("RS 1/P T=.75", "MLE told P"),
    ("RS 1/P̂ T=.75", "MLE"),
    ("RS uniform, T chosen", "MLE"),
    ("RS uniform, T chosen", "MLE, tempered"),
    ("RS uniform, T chosen", "MLE, epoch chosen"),
)


@STUDIES.register("rs-figure-4")
@declare("RS", "figure 4", minutes=12)
def rs_figure_4(tell, quick, seed, memo):
    """Size of the training set on mixtures of Gaussians (RS figure 4): is the relaxed softmax a regulariser?"""
    scale = QUICK if quick else FULL
    memo = memo.under(scale.key())
    chosen = {"MLE": (None,), "RS": ("1/P", 0.75)}

    def of_size(n_pairs):
        steps = -(-n_pairs // scale.plan.batch)
        plan = dataclasses.replace(scale.plan, epochs=max(3, -(-scale.least_steps // steps)))
        plans = {name: tuned(scale, method, memo, [name, n_pairs], plan, n_pairs) for name, method in chosen.items()}
        seeds = range(seed, seed + scale.seeds)
        return memo.each(lambda one: memo([n_pairs, one], _by_size, scale, n_pairs, one, plans), seeds)

    rows, temps = [], []
    for n_pairs, found in zip(scale.sizes, memo.each(of_size, scale.sizes), strict=True):
        for of_draw, by_temp in found:
            rows += of_draw
            temps += by_temp
        tell(f"{n_pairs:,} pairs: " + ", ".join(f"{row['method']} {row['KL(P||g)']:.3f}" for row in of_draw))
    table, by_temp = summed_up(rows, ("method", "pairs")), summed_up(temps, ("pairs", "T"))
    said = (
        f"At least 3 epochs and {scale.least_steps} minibatches at each size. The paper: the relaxed softmax "
        "generalises better with few pairs, so it regularises. Controls: maximum likelihood at its best epoch on "
        "held-out pairs; its logits times T/(1+T), T chosen likewise (tempered); and with log P added as in the law "
        "(told P). 1/P̂ comes from the training pairs alone."
    )
    figures = {f"figure 4 {part}": _lines(table, "pairs", "method", y) for part, y in _PARTS.items()}
    figures["T by size"] = _lines(by_temp, "T", "pairs", "KL(P||g)")
    verdicts = nearer(
        "RS figure 4",
        rows,
        lambda row: f"{row['method']}, {row['pairs']:,} pairs",
        [(f"{one}, {n:,} pairs", f"{other}, {n:,} pairs") for one, other in _GAPS for n in scale.sizes],
    )
    tables = {"sizes": table, "uniform by T": by_temp}
    return Study(tables, _said(scale, said), figures, verdicts)


# figure 5


_SCHEMES = {  # name -> arguments of `Draw.method`
    "MLE": (None,),
    "SS": ("popularity", math.inf, 50, True),
    "US": ("uniform",),
    "PS": ("popularity",),
    "UBS": ("uniform", 5.0),
    "PBS": ("popularity", 7.5),
}


@STUDIES.register("rs-figure-5")
@declare("RS", "figure 5", minutes=8)
def rs_figure_5(tell, quick, seed, memo):
    """Six methods on three mixtures of Gaussians (RS figure 5)."""
    scale = QUICK if quick else FULL
    memo = memo.under(scale.key())
    plans = dict(zip(_SCHEMES, memo.each(lambda name: tuned(scale, _SCHEMES[name], memo, name), _SCHEMES), strict=True))
    asked = [
        ({"method": name, "components": components}, components, method, plans[name])
        for components in scale.components
        for name, method in _SCHEMES.items()
    ]
    rows = _rows(memo, scale, seed, asked, tell)
    table = summed_up(rows, ("components", "method"))
    wanted = [("UBS", "US"), ("PBS", "PS"), ("UBS", "MLE"), ("PBS", "MLE")]
    said = (
        "SS has 50 negatives, as in the paper; UBS has T = 5, PBS 7.5. The paper: both Boltzmann methods beat all "
        "others on all three."
    )
    tables = {"methods": table}
    verdicts = nearer(
        "RS figure 5",
        rows,
        lambda row: f"{row['method']}, {row['components']} components",
        [(f"{one}, {n} components", f"{other}, {n} components") for one, other in wanted for n in scale.components],
    )
    figures = {"figure 5": _lines(table, "components", "method", "KL(P||g)", log_x=False)}
    return Study(tables, _said(scale, said), figures, verdicts)
