"""The price of noise, as its formula has it, is what a tabular model pays."""

import numpy as np
import pytest

from studies.noise_efficiency import FULL, Noise, cost, noises, settled_noise

P, D = np.array([0.4, 0.25, 0.2, 0.1, 0.05]), np.array([0.1, 0.1, 0.3, 0.3, 0.2])


@pytest.mark.parametrize("n", [1, 2, 5, 30])
def test_noise_that_is_the_truth_costs_one_more_nth(n):
    assert cost(P, P, n) == pytest.approx(1 + 1 / n, rel=1e-9)


def test_many_draws_of_any_noise_cost_nothing():
    assert [cost(P, D, n) for n in (1, 10, 100, 1000)] == sorted(cost(P, D, n) for n in (1, 10, 100, 1000))[::-1]
    assert cost(P, D, 1000) == pytest.approx(1.0, abs=0.005)


def test_one_draw_agrees_with_the_information_of_sampled_sets():
    rng, n_sets = np.random.default_rng(1), 400_000
    for n, tolerance in ((1, 0.01), (4, 0.01)):
        ids = np.hstack([rng.choice(5, (n_sets, 1), p=P), rng.choice(5, (n_sets, n), p=D)])
        share = (P / D)[ids] / (P / D)[ids].sum(axis=1, keepdims=True)
        rows = np.zeros((n_sets, 5))
        np.add.at(rows, (np.arange(n_sets)[:, None], ids), share)
        information = np.diag(rows.mean(axis=0)) - rows.T @ rows / n_sets
        h = np.diag(P) - np.outer(P, P)
        assert cost(P, D, n) == pytest.approx(np.trace(h @ np.linalg.pinv(information)) / 4, rel=tolerance)


@pytest.mark.slow
@pytest.mark.parametrize("temp", [np.inf, 3.0, 1.0, 0.5])
@pytest.mark.parametrize("n", [1, 4])
def test_averaged_sgd_of_a_tabular_model_pays_the_price(temp, n):
    """The mean of SGD's iterates has the variance of the sandwich (Polyak and Juditsky 1992)."""
    rng, n_runs, n_steps, first = np.random.default_rng(7), 1000, 16_000, 4000
    factor = 1.0 + 1.0 / temp
    scores, total = np.tile((np.log(P) - np.log(D)) / factor, (n_runs, 1)), np.zeros((n_runs, 5))
    each = np.arange(n_runs)[:, None]
    for step in range(n_steps):
        q = np.cumsum(D * np.exp(scores / temp), axis=1)
        draws = (rng.random((n_runs, n, 1)) > (q / q[:, -1:])[:, None]).sum(axis=2)
        ids = np.hstack([rng.choice(5, (n_runs, 1), p=P), draws])
        share = np.exp(scores[each, ids])
        share /= share.sum(axis=1, keepdims=True)
        step_size = 2.0 / (50 + step) ** 0.6 / factor
        np.add.at(scores, (each, ids), -step_size * share)
        scores[each[:, 0], ids[:, 0]] += step_size
        total += scores * (step >= first)
    corrected = factor * total / (n_steps - first) + np.log(D)
    corrected -= np.log(np.exp(corrected).sum(axis=1, keepdims=True))
    losses = 2 * (n_steps - first) / 4 * (P * (np.log(P) - corrected)).sum(axis=1)
    expected = cost(P, settled_noise(P, D, temp), n)
    assert losses.mean() == pytest.approx(expected, rel=0.1)


def test_settled_noise_lies_between_degeneracy_and_truth():
    assert settled_noise(P, D, np.inf) == pytest.approx(D)
    assert settled_noise(P, D, 1e-9) == pytest.approx(P)
    between = settled_noise(P, D, 1.0)
    assert between == pytest.approx(np.sqrt(P * D) / np.sqrt(P * D).sum())


def test_what_is_tried_covers_exponents_temperatures_and_numbers_of_negatives():
    assert len({noise.name for noise in noises()}) == len(noises()) == 30
    assert Noise(0.75, 1.0, 5).name == "counts^0.75, T = 1, n = 5" and FULL.seeds >= 3


@pytest.mark.slow
def test_the_study_in_small(run_studies, tmp_path):
    result = run_studies("noise-efficiency", "--quick", "--out", tmp_path)
    assert result.code == 0, result.err
    page = (tmp_path / "noise-efficiency.md").read_text(encoding="utf-8")
    assert "E, predicted" in page and "counts^1.25, n = 1" in page and "rank correlation" in page
