"""Figure 1 of the CSS paper (Botev, Zheng and Barber 2017): p(c = 1 | x) estimated from S of 10 000 classes.

    p = u₁ / Σ_c u_c                                                     exact, eq. 14
    plain importance sampling   p ≈ u₁ / (1/S Σ_{s∈S} u_s / q_s)         eq. 15, q uniform over all C classes
    CSS with importance         p ≈ u₁ / (u₁ + 1/S Σ_{s∈S} u_s / q_s)    eq. 21, q uniform over the other C − 1
    CSS with Bernoulli          p ≈ u₁ / (u₁ + Σ_{c: s_c=1} u_c / b_c)   eq. 22, b_c = S / (C − 1)

The u_c of the other classes are uniform on [0, 1]. For the first the caption prints u₁ = exp(C y), y standard normal:
with C = 10 000 that is 0 or infinity, and p, which the figure spreads over its horizontal axis, would be 0 or 1. We
take u₁ = C exp(y), which spreads it. The tables by exact p do not depend on this choice.

The second half tests the claim of §4, that a coefficient of CSS lies within [−1, 1], on the loss itself.
"""

from functools import partial
from itertools import pairwise

import numpy as np
import pandas as pd

from . import STUDIES, Study, declare
from .steps import loss_of, steps
from .verdicts import Claim, Unit, judged

SAMPLES = (10, 20, 50)
ESTIMATORS = ("plain IS", "CSS-IS", "CSS-Bernoulli")
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_BINS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


@STUDIES.register("css-figure-1")
@declare("CSS", "figure 1", minutes=1)
def css_figure_1(tell, quick, seed, memo):
    """Estimates of a class's probability by plain importance sampling and by CSS; bounds of CSS's coefficients."""
    n_classes, n_repeats, n_cases = (1000, 400, 20_000) if quick else (10_000, 5000, 1_000_000)
    rng = np.random.default_rng([seed, 1])
    tell(f"{n_repeats} problems of {n_classes} classes")
    estimates = estimate_all(n_classes, n_repeats, rng)
    tell(f"{n_cases} random cases of the loss's coefficients")
    tables = {
        "errors": table_of_errors(estimates),
        "rmse-by-p": table_by_probability(estimates),
        "coefficients": table_of_coefficients(n_cases, rng),
    }
    text = (
        f"p(c = 1 | x) of {n_repeats} random problems of {n_classes} classes, estimated from S classes; `errors` and "
        "`rmse-by-p` are of estimate − exact. For u uniform on [0, 1] eqs. 6 and 9 give the sum of the others a "
        "relative standard deviation of √(1 / 3S) and √(4 / 3S): Bernoulli's is twice as large. `coefficients` are γ̃ "
        f"of `css` in {n_cases} random cases, and eq. 12 of plain importance sampling for an undrawn positive.\n"
    )
    return Study(tables, text, _figures(estimates), verdicts_on(estimates))


def verdicts_on(estimates):
    """Return verdicts on |estimate − exact|, paired by problem.

    Equal means here: within a tenth of the error of CSS with importance.
    """
    runs = {}
    for name, n_samples, part in _in_order(estimates):
        runs[f"{name}, S = {n_samples}", "error"] = (part.estimate - part.exact).abs().to_numpy()
    claims = []
    for s in SAMPLES:
        plain, importance, bernoulli = (f"{name}, S = {s}" for name in ESTIMATORS)
        for better in (importance, bernoulli):
            claims.append(Claim("CSS figure 1", f"{plain} is farther off than {better}", plain, better, "error"))
        text, margin = f"{bernoulli} is as far off as {importance}", 0.1 * runs[importance, "error"].mean()
        claims.append(Claim("CSS figure 1", text, bernoulli, importance, "error", margin))
    return judged(claims, runs, {"error": Unit(name="of probability")})


def plain_importance(first, others, ids):
    """Return eq. 15's estimates for many problems.

    Parameters
    ----------
    first : float64, (n,)
        u₁ of each problem.
    others : float64, (n, C − 1)
        u of the other classes.
    ids : int, (n, S)
        Classes drawn uniformly from all C; 0 is the class in question.

    Returns
    -------
    p : float64, (n,)
    """
    drawn = np.take_along_axis(np.column_stack([first, others]), ids, axis=1)
    return first / ((1 + others.shape[1]) * drawn.mean(axis=1))


def css_importance(first, others, ids):
    """Return eq. 21's estimates; `ids` (int, (n, S)) are places in `others`, drawn uniformly with replacement."""
    drawn = np.take_along_axis(others, ids, axis=1)
    return first / (first + others.shape[1] * drawn.mean(axis=1))


def css_bernoulli(first, others, included, probability):
    """Return eq. 22's estimates; `included` (bool, as `others`) marks the classes drawn, each with `probability`."""
    return first / (first + (others * included).sum(axis=1) / probability)


def estimate_all(n_classes, n_repeats, rng, chunk=250):
    """Return a DataFrame (estimator, S, exact, estimate) of `n_repeats` random problems under each estimator and S."""
    parts = []
    for start in range(0, n_repeats, chunk):
        n = min(chunk, n_repeats - start)
        first = n_classes * np.exp(rng.standard_normal(n))
        others = rng.random((n, n_classes - 1))
        exact = first / (first + others.sum(axis=1))
        for n_samples in SAMPLES:
            probability = n_samples / (n_classes - 1)
            found = (
                plain_importance(first, others, rng.integers(n_classes, size=(n, n_samples))),
                css_importance(first, others, rng.integers(n_classes - 1, size=(n, n_samples))),
                css_bernoulli(first, others, rng.random(others.shape) < probability, probability),
            )
            parts += [
                pd.DataFrame({"estimator": name, "S": n_samples, "exact": exact, "estimate": estimate})
                for name, estimate in zip(ESTIMATORS, found, strict=True)
            ]
    return pd.concat(parts, ignore_index=True)


def _in_order(estimates):
    for name in ESTIMATORS:
        for n_samples in SAMPLES:
            yield name, n_samples, estimates[(estimates.estimator == name) & (n_samples == estimates.S)]


def table_of_errors(estimates):
    """Return mean, standard deviation, quantiles and extremes of estimate − exact, and the share beyond 1."""
    rows = []
    for name, n_samples, part in _in_order(estimates):
        error = part.estimate - part.exact
        quantiles = {f"{q:.0%}": error.quantile(q) for q in _QUANTILES}
        row = {"estimator": name, "S": n_samples, "mean": error.mean(), "sd": error.std()} | quantiles
        row |= {"largest |error|": error.abs().max(), "share > 1": (part.estimate > 1 + 1e-12).mean()}
        rows.append(row)
    return pd.DataFrame(rows)


def table_by_probability(estimates):
    """Return root mean squared errors by exact p, the figure's horizontal axis."""
    rows = []
    for name, n_samples, part in _in_order(estimates):
        row = {"estimator": name, "S": n_samples}
        for low, high in pairwise(_BINS):
            inside = part[(part.exact >= low) & (part.exact < high)]
            row[f"p {low:g}–{high:g}"] = np.sqrt(((inside.estimate - inside.exact) ** 2).mean())
        rows.append(row)
    return pd.DataFrame(rows)


def random_cases(n_cases, rng, n_negatives=20, bernoulli=False):
    """Return (logits, log_q, weights), float32, (n_cases, 1 + n_negatives), extreme on purpose.

    Deviations of the logits range from 0.1 to 20; none to all but one of the negatives' places are empty; q lies
    between 10⁻⁶ and 1/2, or for Bernoulli is b / n with b up to 1.
    """
    shape = (n_cases, 1 + n_negatives)
    spread = np.exp(rng.uniform(np.log(0.1), np.log(20), (n_cases, 1)))
    logits = np.clip(spread * rng.standard_normal(shape), -79, 79)
    filled = rng.integers(1, n_negatives + 1, (n_cases, 1))
    weights = np.arange(1 + n_negatives) <= filled
    if bernoulli:
        log_q = np.where(weights, rng.uniform(np.log(1e-6), 0, shape) - np.log(filled), np.inf)
    else:
        log_q = rng.uniform(np.log(1e-6), np.log(0.5), shape)
    return tuple(part.astype(np.float32) for part in (logits, log_q, weights))


def table_of_coefficients(n_cases, rng, chunk=50_000):
    """Return the extremes of γ̃ = −dL/dlogit (eq. 20) over random cases, and eq. 12's of plain importance sampling."""
    rows = []
    for name in ESTIMATORS:
        bernoulli = name == "CSS-Bernoulli"
        loss = loss_of("css", np.arange(1000, 0, -1), independent=bernoulli)
        extremes = []
        for start in range(0, n_cases, chunk):
            case = random_cases(min(chunk, n_cases - start), rng, bernoulli=bernoulli)
            gamma = coefficients_of_plain_importance(*case) if name == "plain IS" else 0 - steps(loss, *case)
            positive, negatives = gamma[:, 0], gamma[:, 1:]
            outside = (np.abs(gamma) > 1).any(axis=1).sum()
            extremes.append([positive.min(), positive.max(), negatives.min(), negatives.max(), outside])
        low, high, lowest, highest, outside = np.array(extremes, np.float64).T
        row = {"estimator": name, "cases": n_cases, "lowest γ of the positive": low.min()}
        row |= {"highest γ of the positive": high.max(), "lowest γ of a negative": lowest.min()}
        row |= {"highest γ of a negative": highest.max(), "cases outside [−1, 1]": int(outside.sum())}
        rows.append(row)
    return pd.DataFrame(rows)


def coefficients_of_plain_importance(logits, log_q, weights):
    """Return γ of plain importance sampling, float64, shape of `logits`; an undrawn positive's is by eq. 12."""
    logits, log_q = logits.astype(np.float64), log_q.astype(np.float64)
    terms = weights * np.exp(logits - log_q)
    total = terms[:, 1:].sum(axis=1)
    gamma = 0 - terms / total[:, None]
    gamma[:, 0] = 1 - np.exp(logits[:, 0]) * weights[:, 1:].sum(axis=1) / total
    return gamma


def draw_estimates(figure, estimates, name):
    """Draw one panel of the paper's figure on a matplotlib Figure: estimate by exact p, a colour for each S."""
    axes = figure.subplots()
    part = estimates[estimates.estimator == name]
    for n_samples, marker in zip(SAMPLES, "os^Dv", strict=False):
        points = part[n_samples == part.S].iloc[:1000]
        axes.plot(points.exact, points.estimate, marker, markersize=3, label=f"S = {n_samples}")
    right = np.linspace(0.001, 1, 200)
    axes.plot(right, right, color="0.5", linestyle="-", linewidth=0.8, label="exact")
    axes.set(xlabel="exact p(c = 1 | x)", ylabel="estimate", title=name, xlim=(0, 1))
    if name == "plain IS":
        axes.set(yscale="log")
    axes.legend()


def _figures(estimates):
    return {
        name.lower().replace(" ", "-"): partial(draw_estimates, estimates=estimates, name=name) for name in ESTIMATORS
    }
