"""Figures 1 and 2 of the CSS paper: estimators and draws against enumeration, the studies in small against claims."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from studies import STUDIES
from studies.css_figure_1 import (
    coefficients_of_plain_importance,
    css_bernoulli,
    css_importance,
    estimate_all,
    plain_importance,
    verdicts_on,
)
from studies.css_figure_2 import CLAIMS, METHODS, QUICK, choose_rates, left_at_the_end, run
from studies.memo import Memo
from studies.softmax_regression import (
    DRAWS,
    Plan,
    Problem,
    exact_coefficients,
    exponent_expecting,
    relative,
    sampled_coefficients,
)
from studies.steps import loss_of, steps
from studies.verdicts import judged

U = np.array([2.0, 0.3, 0.9, 0.1])  # u of a problem with four classes, the first in question


@pytest.fixture(scope="module", params=["css-figure-1", pytest.param("css-figure-2", marks=pytest.mark.slow)])
def study(request):
    lines = []
    found = STUDIES[request.param](lines.append, True, 1, Memo())
    assert lines
    return request.param, found


def enumerated(n_classes, n_samples):
    """Return all (n_classes ** n_samples, n_samples) ways to draw with repetition."""
    return np.array(list(itertools.product(range(n_classes), repeat=n_samples)))


def repeated(n):
    return np.full(n, U[0]), np.tile(U[1:], (n, 1))


def test_plain_importance_sampling_estimates_the_whole_sum():
    ids = enumerated(4, 3)
    first, others = repeated(len(ids))
    z = first / plain_importance(first, others, ids)
    assert z.mean() == pytest.approx(U.sum())
    assert z.var() == pytest.approx((4 * (U**2).sum() - U.sum() ** 2) / 3)  # eq. 6, q = 1/4


def test_css_with_importance_keeps_the_first_term_and_estimates_the_rest():
    ids = enumerated(3, 3)
    first, others = repeated(len(ids))
    z = first / css_importance(first, others, ids)
    assert z.mean() == pytest.approx(U.sum())
    assert z.var() == pytest.approx((3 * (U[1:] ** 2).sum() - U[1:].sum() ** 2) / 3)  # eq. 6 on the others, q = 1/3


def test_css_with_bernoulli_has_the_variance_of_eq_9():
    b = 0.3
    included = np.array(list(itertools.product([False, True], repeat=3)))
    chance = np.prod(np.where(included, b, 1 - b), axis=1)
    first, others = repeated(len(included))
    z = first / css_bernoulli(first, others, included, b)
    mean = chance @ z
    assert mean == pytest.approx(U.sum())
    assert chance @ (z - mean) ** 2 == pytest.approx((1 / b - 1) * (U[1:] ** 2).sum())


@pytest.mark.parametrize("independent", [False, True])
def test_the_loss_holds_the_same_estimate(independent):
    rng = np.random.default_rng(4)
    u = rng.uniform(0.01, 5, (50, 7))
    probability = 0.2  # each of 8 classes, or b of independent draws
    q = probability / 6 if independent else 1 / 8
    logits, log_q = np.log(u).astype(np.float32), np.full(u.shape, np.log(q), np.float32)
    gradients = steps(loss_of("css", np.ones(8, np.int64), independent), logits, log_q, np.ones_like(logits))
    if independent:
        expected = u[:, 0] / (u[:, 0] + u[:, 1:].sum(axis=1) / probability)
    else:
        expected = u[:, 0] / (u[:, 0] + 7 * u[:, 1:].mean(axis=1))
    np.testing.assert_allclose(1 + gradients[:, 0], expected, rtol=1e-4, atol=1e-6)


def test_plain_importances_coefficient_leaves_the_interval_when_the_class_is_not_drawn():
    gamma = coefficients_of_plain_importance(np.log([[6.0, 1, 3]]), np.log([[0.5, 0.25, 0.25]]), np.ones((1, 3)))
    np.testing.assert_allclose(gamma, [[1 - 6 / 8, -4 / 16, -12 / 16]])
    gamma = coefficients_of_plain_importance(np.log([[60.0, 1, 3]]), np.log([[0.5, 0.25, 0.25]]), np.ones((1, 3)))
    assert gamma[0, 0] == pytest.approx(1 - 60 / 8)


SMALL = Plan(n_classes=12, dim=4, n_points=300, batch=30, samples=4, iterations=30)


@pytest.fixture(scope="module")
def problem():
    found = Problem(SMALL, np.random.default_rng(3))
    assert (found.counts > 0).all()
    return found


def test_the_exponent_expects_as_many_classes_as_asked(problem):
    assert problem.inclusion.sum() == pytest.approx(4, abs=1e-9)
    assert exponent_expecting(np.array([0.5, 0.5, 0]), 1) == pytest.approx(1)
    assert exponent_expecting(np.array([0.25, 0.75]), 2) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("noise", ["all", "others"])
def test_draws_follow_the_class_frequencies(problem, noise):
    target = int(problem.counts.argmax())
    drawn = DRAWS[noise](problem, np.full(20_000, target), np.random.default_rng(5))
    assert (drawn.ids[:, 0] == target).all()
    assert (drawn.weights == 1).all()
    np.testing.assert_allclose(drawn.log_q, np.log(problem.frequency)[drawn.ids], rtol=1e-6)
    expected = problem.frequency.copy()
    if noise == "others":
        expected[target] = 0
    expected *= drawn.ids[:, 1:].size / expected.sum()
    observed = np.bincount(drawn.ids[:, 1:].ravel(), minlength=12)
    assert (observed[expected == 0] == 0).all()
    assert stats.chisquare(observed[expected > 0], expected[expected > 0]).pvalue > 1e-6


def test_bernoulli_draws_each_class_at_its_own_rate_and_never_the_target(problem):
    targets = np.arange(24_000) % 12
    drawn = DRAWS["bernoulli"](problem, targets, np.random.default_rng(6))
    filled = drawn.weights > 0
    assert filled[:, 0].all()
    assert not (filled[:, 1:] & (drawn.ids[:, 1:] == targets[:, None])).any()
    assert (drawn.log_q[:, 1:][~filled[:, 1:]] == np.inf).all()
    numbers = filled[:, 1:].sum(axis=1)
    rows, places = np.nonzero(filled[:, 1:])
    b = numbers[rows] * np.exp(drawn.log_q[rows, 1 + places])
    np.testing.assert_allclose(b, problem.inclusion[drawn.ids[rows, 1 + places]], rtol=1e-5)
    assert len(set(zip(rows.tolist(), drawn.ids[rows, 1 + places].tolist(), strict=True))) == len(rows)
    observed = np.bincount(drawn.ids[rows, 1 + places], minlength=12)
    for c, count in enumerate(observed):
        assert stats.binomtest(int(count), 22_000, problem.inclusion[c]).pvalue > 1e-6


def test_exact_coefficients_are_the_slopes_of_the_log_likelihood(problem):
    rng = np.random.default_rng(7)
    w = rng.normal(size=(12, 4)).astype(np.float32)
    gradient = exact_coefficients(problem, w, np.arange(300)).T @ problem.inputs
    direction = rng.normal(size=w.shape).astype(np.float32)
    h = 2.0**-6
    slope = (problem.log_likelihood(w + h * direction) - problem.log_likelihood(w - h * direction)) / (2 * h)
    assert -(gradient * direction).sum() == pytest.approx(slope, rel=1e-3)


def test_bernoulli_that_takes_every_class_is_the_exact_gradient():
    full = Problem(Plan(n_classes=12, dim=4, n_points=300, batch=30, samples=12), np.random.default_rng(3))
    w = np.random.default_rng(8).normal(size=(12, 4)).astype(np.float32)
    points = np.arange(40)
    loss = loss_of("css", full.counts, independent=True)
    found = sampled_coefficients(full, w, points, loss, "bernoulli", "negatives", np.random.default_rng(9))
    np.testing.assert_allclose(found, exact_coefficients(full, w, points), atol=2e-5)


def test_many_importance_draws_approach_the_exact_gradient():
    many = Problem(Plan(n_classes=12, dim=4, n_points=300, batch=30, samples=20_000), np.random.default_rng(3))
    w = np.random.default_rng(8).normal(size=(12, 4)).astype(np.float32)
    points = np.arange(10)
    loss = loss_of("css", many.counts)
    found = sampled_coefficients(many, w, points, loss, "others", "negatives", np.random.default_rng(9))
    np.testing.assert_allclose(found, exact_coefficients(many, w, points), atol=0.02)


@pytest.mark.parametrize("method", [m for m in METHODS[1:] if m.reference], ids=lambda m: m.name)
def test_losses_that_take_a_reference_know_differences_only(problem, method):
    rng = np.random.default_rng(10)
    drawn = DRAWS[method.noise](problem, problem.targets[:30], rng)
    logits = rng.normal(scale=3, size=drawn.ids.shape).astype(np.float32)
    shifted = relative(logits + 100, drawn.weights, method.reference)
    highest = np.where(drawn.weights > 0, shifted, -np.inf)[:, 1:].max(axis=1)
    zero = shifted[:, 0] if method.reference == "positive" else highest[np.isfinite(highest)]
    np.testing.assert_allclose(zero, 0, atol=1e-5)
    loss = loss_of(method.loss, problem.counts, method.noise == "bernoulli", **method.options)
    plain = steps(loss, logits, drawn.log_q, drawn.weights)
    np.testing.assert_allclose(steps(loss, shifted, drawn.log_q, drawn.weights), plain, rtol=1e-3, atol=1e-4)


def test_runs_repeat_with_their_key_and_a_rate_too_high_ends_at_minus_infinity(problem):
    css = METHODS[1]
    first, second, other = (run(problem, css, 0.001, [1, 10, 30], key) for key in ((1, 0), (1, 0), (1, 1)))
    np.testing.assert_array_equal(first, second)
    assert (first != other).any()
    assert first[-1] > problem.log_likelihood(np.zeros_like(problem.parameters))
    assert run(problem, METHODS[0], 1e38, [1, 30], (1, 0))[-1] == -np.inf


def check_figure_1(study):
    rmse = {(r["estimator"], r["S"]): np.hypot(r["mean"], r["sd"]) for _, r in study.tables["errors"].iterrows()}
    for n_samples in (10, 20, 50):
        assert rmse["plain IS", n_samples] > 1
        assert rmse["CSS-IS", n_samples] < 0.06
        assert rmse["CSS-Bernoulli", n_samples] < 0.12
        assert rmse["CSS-Bernoulli", n_samples] > 1.5 * rmse["CSS-IS", n_samples]
    for name in ("CSS-IS", "CSS-Bernoulli"):
        assert rmse[name, 50] < rmse[name, 20] < rmse[name, 10]
    errors = study.tables["errors"].set_index("estimator")["share > 1"]
    assert errors["plain IS"].min() > 0.5
    assert errors["CSS-IS"].max() == errors["CSS-Bernoulli"].max() == 0
    outside = study.tables["coefficients"].set_index("estimator")["cases outside [−1, 1]"]
    assert outside["CSS-IS"] == outside["CSS-Bernoulli"] == 0 < outside["plain IS"]
    assert set(study.figures) == {"plain-is", "css-is", "css-bernoulli"}


def check_figure_2(study):
    tables = study.tables
    last = str(QUICK.marks[-1])
    start = tables["data"]["log-likelihood of w = 0"].mean()
    for name in ("paper", "own-rate"):
        final = tables[name].set_index("method")[last]
        assert final["exact"] == final.max()
        for method in ("CSS-IS", "CSS-Bernoulli", "BlackOut", "ranking"):
            assert 0 > final[method] > 0.05 * start
            assert final[method] > final["plain IS"]
        assert final["NS"] < 0.15 * start
        assert final["NCE"] < 0.9 * start
    shared = tables["paper"].set_index("method")["rate"]
    assert shared["exact"] == shared["CSS-IS"] == shared["CSS-Bernoulli"] == shared["plain IS"]
    rates = tables["rates"].set_index("method")
    chosen = choose_rates(rates)
    assert all(rates.loc[m.name, chosen[m.name, "own"]] == rates.loc[m.name].max() for m in METHODS)
    assert list(tables["margins"]["margin"]) == [0, round(np.log(99), 4)]


def test_the_studies_in_small_show_what_the_paper_says(study):
    name, found = study
    {"css-figure-1": check_figure_1, "css-figure-2": check_figure_2}[name](found)


def test_figures_draw_on_a_figure_that_is_given(study):
    figures = pytest.importorskip("matplotlib.figure")
    for draw in study[1].figures.values():
        figure = figures.Figure()
        draw(figure)
        assert figure.axes[0].lines


def test_what_is_left_at_the_end_is_paired_by_data_set():
    rows = [
        {"method": name, "way": way, "data": data, "iteration": at, "log-likelihood": value + at * (way == "own")}
        for name, values in (("CSS-IS", (-1.0, -2.0)), ("plain IS", (-21.0, -22.0)))
        for way in ("paper", "own")
        for data, value in enumerate(values)
        for at in (10, 20)
    ]
    runs = left_at_the_end(pd.DataFrame(rows), -100.0)
    assert runs == {("CSS-IS", "left, %"): [1, 2], ("plain IS", "left, %"): [21, 22]}
    (found,) = judged(CLAIMS, runs, {})
    assert (found.verdict, found.difference, found.seeds) == ("holds", 20, 2)
    names = {method.name for method in METHODS}
    assert {row for claim in CLAIMS for row in (claim.better, claim.worse)} <= names


def test_estimates_are_judged_problem_by_problem():
    estimates = estimate_all(200, 300, np.random.default_rng(1))
    found = verdicts_on(estimates)
    assert len(found) == 9 and {one.seeds for one in found} == {300}
    assert [one.verdict for one in found[:2]] == ["holds", "holds"]
    assert found[2].claim == "CSS-Bernoulli, S = 10 is as far off as CSS-IS, S = 10"
    assert found[2].verdict == "does not hold"
