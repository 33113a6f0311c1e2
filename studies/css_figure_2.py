"""Figure 2 of the CSS paper (Botev, Zheng and Barber 2017, §6.1): softmax regression trained from few classes.

C = 1000 classes, D = 100, N = 2000 points whose classes are drawn from a model of the same form; minibatches of 50
points, gradient ascent with momentum 0.99, S = 20 classes drawn for each point. The study compares the exact
log-likelihood of all points by iteration; (b) does so for several margins Δ of the ranking objective.

Choices the paper leaves open: inputs and true parameters are standard normal; w starts at 0; draws are
fresh for each point of each minibatch; f, the empirical class frequency, is the noise of all methods, over all
classes if the definition says so (plain importance sampling, NCE), otherwise over all but the point's own class.
Bernoulli takes b(c) = f(c)^a with the a that expects S classes (the paper's own is 0.54).
"""

import math
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pandas as pd

from . import STUDIES, Study, declare
from .softmax_regression import Plan, Problem, ascend, exact_coefficients, sampled_coefficients
from .steps import loss_of
from .verdicts import Claim, Unit, judged


@dataclass(frozen=True)
class Method:
    """loss : str in LOSSES, "" for the exact gradient; noise : str in DRAWS; options : dict, of the loss
    reference : str, see `relative`; shares_rate : bool, uses the rate of the exact gradient in the paper
    """

    name: str
    loss: str = ""
    noise: str = "others"
    reference: str = "negatives"
    options: dict = field(default_factory=dict)
    shares_rate: bool = False


METHODS = (
    Method("exact", shares_rate=True),
    Method("CSS-IS", "css", shares_rate=True),
    Method("CSS-Bernoulli", "css", "bernoulli", shares_rate=True),
    Method("BlackOut", "blackout"),
    Method("ranking", "ranking", reference="positive"),
    Method("plain IS", "importance", "all", shares_rate=True),
    Method("NCE", "nce", "all", ""),
    Method("NS", "ns", reference="", options={"mean_negatives": True}),
)
_LEFT = "left, %"
CLAIMS = (
    *(
        Claim("CSS figure 2", f"plain IS leaves more to win than {name}", "plain IS", name, _LEFT)
        for name in ("CSS-IS", "CSS-Bernoulli", "BlackOut", "ranking")
    ),
    Claim("CSS figure 2", "NCE with z = 1 leaves more to win than CSS-IS", "NCE", "CSS-IS", _LEFT),
    Claim("CSS figure 2", "negative sampling leaves more to win than CSS-IS", "NS", "CSS-IS", _LEFT),
    Claim("CSS figure 2", "CSS-Bernoulli and CSS-IS are alike, within 1 %", "CSS-Bernoulli", "CSS-IS", _LEFT, 1.0),
    Claim("CSS figure 2", "CSS-IS is as good as the exact gradient, within 1 %", "CSS-IS", "exact", _LEFT, 1.0),
)
_MUST_CONVERGE = ("exact", "CSS-IS", "CSS-Bernoulli")  # at the shared rate


@dataclass(frozen=True)
class Scale:
    """plan : Plan; rates, margins : tuples tried; seeds : int, data sets besides the one used to choose rates
    marks : iterations shown in the tables
    """

    plan: Plan
    rates: tuple
    margins: tuple
    seeds: int
    marks: tuple


FULL = Scale(
    Plan(),
    (0.00001, 0.00003, 0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03),
    (0.0, 2.0, 4.0, math.log(999), 9.0, 12.0),
    5,
    (10, 30, 100, 200, 300, 500, 1000, 2000),
)
QUICK = Scale(
    Plan(n_classes=100, dim=30, n_points=400, batch=40, samples=8, iterations=300),
    (0.0003, 0.001, 0.003, 0.01),
    (0.0, math.log(99)),
    1,
    (10, 30, 100, 300),
)


@STUDIES.register("css-figure-2")
@declare("CSS", "figure 2", minutes=3)
def css_figure_2(tell, quick, seed, memo):
    """Exact log-likelihood by iteration of softmax regression trained by CSS and its rivals."""
    scale = QUICK if quick else FULL
    problems = [Problem(scale.plan, np.random.default_rng([seed, 2, k])) for k in range(1 + scale.seeds)]
    rates = table_of_rates(scale, problems[0], seed, tell)
    chosen = choose_rates(rates)
    curves = all_curves(scale, problems[1:], chosen, seed, tell)
    by_margin, margins = all_margins(scale, problems[0], seed, tell)
    tables = {
        "data": table_of_data(problems),
        "rates": rates.reset_index(),
        "paper": table_at_marks(curves, "paper", scale.marks),
        "own-rate": table_at_marks(curves, "own", scale.marks),
        "margins": by_margin.reset_index(),
    }
    figures = {
        "curves": partial(draw_curves, curves=curves, truth=tables["data"]["log-likelihood of the truth"].mean()),
        "margins": partial(draw_margins, margins=margins),
    }
    units = {_LEFT: Unit(name="% of the start's", least=0.1)}
    verdicts = judged(CLAIMS, left_at_the_end(curves, tables["data"]["log-likelihood of w = 0"].mean()), units)
    return Study(tables, report(scale, tables, chosen), figures, verdicts)


def left_at_the_end(curves, start):
    """Return the log-likelihood still missing at the end, in % of the start's: (method, figure) -> one per data set.

    Runs use the paper's choice of rates.
    """
    last = curves[(curves.way == "paper") & (curves.iteration == curves.iteration.max())].sort_values("data")
    return {
        (method, _LEFT): (100 * part["log-likelihood"] / start).to_list()
        for method, part in last.groupby("method", sort=False)
    }


def iterations_to_record(n_iterations, marks):
    """Return the marks and about 60 more iterations, evenly spaced on a log scale, as a sorted list of int."""
    spread = np.geomspace(1, n_iterations, 60).astype(int).tolist()
    return sorted({*spread, *marks, n_iterations})


def run(problem, method, rate, record_at, key, **options):
    """Train by `method` with a random stream seeded by `key` (tuple of int); return the log-likelihoods of `ascend`."""
    rng = np.random.default_rng([*key, 3])
    if not method.loss:
        return ascend(problem, lambda w, points, rng: exact_coefficients(problem, w, points), rate, record_at, rng)
    loss = loss_of(method.loss, problem.counts, independent=method.noise == "bernoulli", **method.options, **options)

    def coefficients(parameters, points, rng):
        return sampled_coefficients(problem, parameters, points, loss, method.noise, method.reference, rng)

    return ascend(problem, coefficients, rate, record_at, rng)


def table_of_rates(scale, problem, seed, tell):
    """Return the score of every method at every rate, see `lowest_late`: one row per method, one column per rate."""
    rows = {}
    record_at = np.linspace(scale.plan.iterations // 2, scale.plan.iterations, 6).astype(int).tolist()
    for method in METHODS:
        tell(f"learning rates of {method.name}")
        found = [run(problem, method, rate, record_at, (seed, 0)) for rate in scale.rates]
        rows[method.name] = [lowest_late(record_at, values) for values in found]
    return pd.DataFrame.from_dict(rows, orient="index", columns=list(scale.rates)).rename_axis("method")


def lowest_late(record_at, values):
    """Return the lowest log-likelihood recorded in the second half of a run, so that a lucky end does not count."""
    return np.min(values[np.array(record_at) >= record_at[-1] // 2])


def choose_rates(rates):
    """Return {(method, "own" or "paper"): rate}: each method's best, and that of the paper's way.

    The paper gives the exact gradient and the approximations of the normaliser one rate without saying which. This
    is the one that is best for the worst of the exact gradient and both kinds of CSS.
    """
    shared = rates.loc[list(_MUST_CONVERGE)].min().idxmax()
    chosen = {}
    for method in METHODS:
        own = rates.loc[method.name].idxmax()
        chosen[method.name, "own"] = own
        chosen[method.name, "paper"] = shared if method.shares_rate else own
    return chosen


def all_curves(scale, problems, chosen, seed, tell):
    """Return a DataFrame (method, way, rate, data, iteration, log-likelihood) of all runs at the rates chosen."""
    record_at = iterations_to_record(scale.plan.iterations, scale.marks)
    parts = []
    for method in METHODS:
        tell(f"{method.name} on {len(problems)} data sets")
        for k, problem in enumerate(problems):
            done = {}  # rate -> log-likelihoods: both ways often agree
            for way in ("paper", "own"):
                rate = chosen[method.name, way]
                if rate not in done:
                    done[rate] = run(problem, method, rate, record_at, (seed, 1 + k))
                columns = {"method": method.name, "way": way, "rate": rate, "data": k, "iteration": record_at}
                parts.append(pd.DataFrame(columns | {"log-likelihood": done[rate]}))
    return pd.concat(parts, ignore_index=True)


def all_margins(scale, problem, seed, tell):
    """Return (scores of every Δ at every rate, see `lowest_late`; curves at each Δ's best rate), both DataFrames."""
    ranking = next(method for method in METHODS if method.name == "ranking")
    record_at = iterations_to_record(scale.plan.iterations, scale.marks)
    rows, parts = {}, []
    for margin in scale.margins:
        tell(f"ranking with margin {margin:.3g}")
        found = {r: run(problem, ranking, r, record_at, (seed, 0), margin=margin) for r in scale.rates}
        scores = {rate: lowest_late(record_at, values) for rate, values in found.items()}
        rows[round(margin, 4)] = list(scores.values())
        best = max(scores, key=scores.get)
        columns = {"margin": margin, "rate": best, "iteration": record_at, "log-likelihood": found[best]}
        parts.append(pd.DataFrame(columns))
    final = pd.DataFrame.from_dict(rows, orient="index", columns=list(scale.rates)).rename_axis("margin")
    return final, pd.concat(parts, ignore_index=True)


def table_of_data(problems):
    """Return statistics of the data sets; the first is the one used to choose rates."""
    rows = []
    for problem in problems:
        rows.append(
            {
                "classes seen": int((problem.counts > 0).sum()),
                "most frequent": int(problem.counts.max()),
                "Σ f^0.54": (problem.frequency[problem.counts > 0] ** 0.54).sum(),
                "a expecting S": problem.exponent,
                "log-likelihood of w = 0": problem.log_likelihood(np.zeros_like(problem.parameters)),
                "log-likelihood of the truth": problem.log_likelihood(problem.parameters),
            }
        )
    return pd.DataFrame(rows).rename_axis("data").reset_index()


def table_at_marks(curves, way, marks):
    """Return mean log-likelihoods over the data sets at `marks`, and the standard deviation at the last."""
    rows = []
    for method in METHODS:
        part = curves[(curves.method == method.name) & (curves.way == way)]
        by_iteration = part.groupby("iteration")["log-likelihood"]
        means, last = by_iteration.mean(), by_iteration.get_group(marks[-1])
        row = {"method": method.name, "rate": part.rate.iloc[0]} | {str(mark): means[mark] for mark in marks}
        rows.append(row | {"sd at the end": last.std(ddof=1) if len(last) > 1 else np.nan})
    return pd.DataFrame(rows)


def report(scale, tables, chosen):
    """Return the study's text, the method."""
    plan, data = scale.plan, tables["data"]
    return (
        f"Softmax regression, C = {plan.n_classes}, D = {plan.dim}, N = {plan.n_points}, S = {plan.samples}, "
        f"batches of {plan.batch}, momentum {plan.momentum}, {plan.iterations} iterations, w = 0 at the start "
        f"(log-likelihood {data['log-likelihood of w = 0'].mean():.0f}). Rates are tried on one data set and evaluated "
        "by the lowest exact log-likelihood of the training data in the second half of the run (`rates`), so that one "
        f"that oscillates and happens to end well is not chosen; the tables are means over {scale.seeds} others. "
        "`paper` follows the paper: the exact gradient, CSS and plain IS share one rate, "
        f"{chosen['exact', 'paper']:g}, at which the worst of exact, CSS-IS and CSS-Bernoulli does best; the others "
        "have their own best. In `own-rate` every method has its own best. Bernoulli's exponent that expects S classes "
        f"is {data['a expecting S'].min():.3f} to {data['a expecting S'].max():.3f} on these data (paper: 0.54).\n"
    )


def draw_curves(figure, curves, truth):
    """Draw (a) on a matplotlib Figure: log-likelihood by iteration, and on the right its negative on log axes."""
    plain, missing = figure.subplots(1, 2)
    part = curves[curves.way == "paper"]
    means = part.groupby(["method", "iteration"])["log-likelihood"].mean()
    for method in METHODS:
        curve = means[method.name]
        label = f"{method.name} ({part[part.method == method.name].rate.iloc[0]:g})"
        line = "--" if "Bernoulli" in method.name else "-"
        plain.plot(curve.index, curve.to_numpy(), line)
        missing.plot(curve.index, -curve.to_numpy(), line, label=label)
    for axes, level in ((plain, truth), (missing, -truth)):
        axes.axhline(level, color="grey", linewidth=0.7, label="the truth")
    plain.set(xscale="log", xlabel="iteration", ylabel="exact log-likelihood", ylim=(1.5 * means.iloc[0], 0))
    missing.set(xscale="log", yscale="log", xlabel="iteration", ylabel="−log-likelihood")
    missing.legend(fontsize="small", loc="lower left")


def draw_margins(figure, margins):
    """Draw (b) on a matplotlib Figure: −log-likelihood by iteration for each margin of the ranking objective."""
    axes = figure.subplots()
    for margin, part in margins.groupby("margin"):
        axes.plot(part.iteration, -part["log-likelihood"], label=f"Δ = {margin:.3g} ({part.rate.iloc[0]:g})")
    axes.set(xscale="log", yscale="log", xlabel="iteration", ylabel="−log-likelihood")
    axes.legend(fontsize="small")
