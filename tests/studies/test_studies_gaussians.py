"""The studies of mixtures of Gaussians: their draws, gradients and law, and that they run in small."""

import dataclasses
import math

import numpy as np
import pytest
from scipy import stats

from studies import STUDIES, rs_gaussians  # noqa: F401  (its studies enter themselves)
from studies.gaussian_draws import QUICK, Draw, corrected_scores, nearer, summed_up
from studies.gaussian_task import (
    Method,
    Plan,
    Truth,
    boltzmann_draws,
    coefficients,
    divergences,
    log_softmax,
    mixture,
    train,
)
from studies.memo import Memo


@pytest.fixture(scope="module")
def truth():
    return Truth(mixture(3, np.random.default_rng(1), 12))


def test_a_mixture_is_a_distribution_with_as_many_peaks_as_it_may_have():
    joint = mixture(2, np.random.default_rng(3), 200)
    assert joint.sum() == pytest.approx(1)
    assert joint.min() >= 0.01 / joint.size
    inner = joint[1:-1, 1:-1]
    around = [joint[1 + a : 199 + a, 1 + b : 199 + b] for a in (-1, 0, 1) for b in (-1, 0, 1) if (a, b) != (0, 0)]
    peaks = (inner > np.max(around, axis=0) * (1 + 1e-9)).sum()
    assert 1 <= peaks <= 2


def test_pairs_follow_the_truth(truth):
    contexts, targets = truth.draw(100_000, np.random.default_rng(2))
    seen = np.bincount(contexts * 12 + targets, minlength=144)
    assert stats.chisquare(seen, 100_000 * truth.joint.ravel()).pvalue > 1e-6


@pytest.mark.parametrize("temp", [0.5, 3.0, math.inf])
@pytest.mark.parametrize("name", ["uniform", "popularity", "1/P"])
def test_negatives_follow_their_law(truth, name, temp):
    rng = np.random.default_rng(5)
    scores, log_d = rng.normal(0, 1.5, (12, 12)).astype(np.float32), truth.log_degeneracy(name)
    rows = np.repeat([3, 7], 4_000)
    drawn = boltzmann_draws(scores, log_d, temp, rows, 5, rng)
    weights = np.exp(np.broadcast_to(log_d, (12, 12)) + scores.astype(float) / temp)
    for row in (3, 7):
        seen = np.bincount(drawn[rows == row].ravel(), minlength=12)
        assert stats.chisquare(seen, seen.sum() * weights[row] / weights[row].sum()).pvalue > 1e-6


def test_maximum_likelihood_has_the_softmaxs_gradient():
    scores = np.random.default_rng(1).normal(size=(2, 4)).astype(np.float32)
    rows, targets = np.array([0, 1, 1]), np.array([2, 0, 3])

    def loss(s):
        return -log_softmax(s)[rows, targets].sum()

    got = coefficients(scores, Method(), np.arange(2), rows, targets, None)
    for cell in np.ndindex(2, 4):
        step = np.zeros((2, 4))
        step[cell] = 1e-5
        numeric = (loss(scores + step) - loss(scores - step)) / 2e-5
        assert got[cell] == pytest.approx(numeric, abs=1e-6)


@pytest.mark.parametrize(("name", "temp"), [("1/P", 0.75), ("1/P", 1.0), ("uniform", 2.0), ("popularity", math.inf)])
def test_the_relaxed_softmax_rests_where_the_law_says(truth, name, temp):
    """At the law's scores the expected gradient is 0, and elsewhere it is not."""
    rng = np.random.default_rng(4)
    method = Method(truth.log_degeneracy(name), temp)
    contexts, targets = truth.draw(50_000, rng)
    law = method.law(np.log(truth.conditional)).astype(np.float32)

    def pull(scores):
        return np.asarray(coefficients(scores, method, np.arange(12), contexts, targets, rng).todense())

    noise = np.sqrt(np.bincount(contexts, minlength=12))[:, None]
    assert np.abs(pull(law) / noise).max() < 5
    assert np.abs(pull(2 * law) / noise).max() > 7


def test_a_corrected_popularity_softmax_rests_at_the_truth(truth):
    rng = np.random.default_rng(4)
    method = Method(truth.log_degeneracy("popularity"), negatives=200, corrected=True)
    contexts, targets = truth.draw(5_000, rng)
    scores = np.log(truth.conditional).astype(np.float32)
    pull = np.asarray(coefficients(scores, method, np.arange(12), contexts, targets, rng).todense())
    assert np.abs(pull / np.sqrt(np.bincount(contexts, minlength=12))[:, None]).max() < 5


def test_divergences_by_hand():
    truth = Truth(np.array([[0.25, 0.25], [0.4, 0.1]]))
    pairs = np.array([0, 0, 1]), np.array([0, 0, 1])  # P̂ = (1, 0) twice, (0, 1) once
    log_g = np.log([[0.5, 0.5], [0.8, 0.2]])
    seen, test, joint = divergences(truth, pairs, log_g)
    assert seen == pytest.approx((2 * math.log(2) + math.log(5)) / 3)
    assert test == pytest.approx(0, abs=1e-12)
    assert joint == pytest.approx(0, abs=1e-12)
    other = np.log([[0.25, 0.75], [0.8, 0.2]])
    expected = 0.5 * math.log(0.5 / 0.25) + 0.5 * math.log(0.5 / 0.75)
    assert divergences(truth, pairs, other)[1:] == pytest.approx((2 / 3 * expected, 0.5 * expected))


def test_correction_undoes_the_law(truth):
    for name, temp in (("1/P", 0.75), ("popularity", 3.0), ("popularity", math.inf)):
        method = Method(truth.log_degeneracy(name), temp)
        learned = method.law(np.log(truth.conditional))
        np.testing.assert_allclose(log_softmax(corrected_scores(learned, method)), np.log(truth.conditional), atol=1e-5)


def test_training_comes_near_to_what_was_observed(truth):
    pairs = truth.draw(20_000, np.random.default_rng(6))
    log_g = log_softmax(train(pairs, Method(), Plan(0.02, batch=200, epochs=8, dim=12), 1, 12))
    seen, _, _ = divergences(truth, pairs, log_g)
    assert seen < 0.02


def test_sums_and_differences_by_hand():
    rows = [
        {"method": name, "pairs": 10, "seed": seed, "KL(P||g)": value}
        for name, values in (("a", (1.0, 2.0, 3.0)), ("b", (0.5, 1.0, 3.0)))
        for seed, value in enumerate(values)
    ]
    table = summed_up(rows, ("method", "pairs"))
    assert list(table["KL(P||g)"]) == [2.0, 1.5]
    assert table["± KL(P||g)"][0] == pytest.approx(4.302653 / math.sqrt(3), rel=1e-6)
    (found,) = nearer("RS", rows, lambda row: row["method"], [("b", "a"), ("c", "a")])
    assert (found.claim, found.verdict, found.seeds) == ("b is nearer to P than a", "inconclusive", 3)
    assert found.difference == pytest.approx(0.5)


def test_a_degeneracy_without_the_truth_is_made_of_the_pairs():
    draw = Draw(dataclasses.replace(QUICK, size=5), 1, n_pairs=50)
    counts = np.ones((5, 5))
    np.add.at(counts, draw.pairs, 1)
    expected = -np.log(counts / counts.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(draw.method("1/P̂").log_d, expected, rtol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rs-figure-2", "rs-figure-3", "rs-figure-4", "rs-figure-5"])
def test_the_studies_run_in_small_and_are_drawn(name):
    told = []
    study = STUDIES[name](told.append, True, 1, Memo())
    assert told and study.verdicts
    for table in study.tables.values():
        assert len(table)
        assert "KL(P||g)" not in table or (table["KL(P||g)"] > 0).all()
    for draw in study.figures.values():
        figure = pytest.importorskip("matplotlib.figure").Figure()
        draw(figure)
        assert figure.axes
