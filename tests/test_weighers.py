"""Every registered weigher against the oracle. Runs with and without the JIT."""

import math

import naive
import numpy as np
import pytest

from w2vneg.config import TrainConfig
from w2vneg.jit import njit
from w2vneg.kernels.contracts import weigh
from w2vneg.weighers import WEIGHERS

ALL = sorted(WEIGHERS)


@njit
def _weigh(weigher, ids, logits, odds, log_q, weights):
    weigh(weigher, 0, 0, 0, ids, logits, odds, log_q, weights)


def ask(name, log_q):
    """Return the weights of a positive and its negatives; `log_q` (1 + n,) with the positive's 0 first."""
    weigher = WEIGHERS[name].from_options(TrainConfig(weigher=name).resolved(), None)
    log_q = np.array(log_q, np.float32)
    blank = np.zeros(len(log_q), np.float32)
    weights = np.ones(len(log_q), np.float32)
    given = log_q if weigher.needs_log_q else np.empty(0, np.float32)
    _weigh(weigher, np.arange(len(log_q), dtype=np.int32), blank, blank + 1, given, weights)
    return weights


def noise(n, seed=1, spread=2.0):
    return np.r_[0.0, np.random.default_rng([seed, n]).normal(-6, spread, n)]


def test_every_weigher_is_tested_against_the_oracle():
    assert set(naive.WEIGHERS) == set(ALL), "give tests/naive.py the equation of the new weigher"


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("n", [1, 2, 5, 20, 1000])
def test_weights_equal_the_oracles(name, n):
    np.testing.assert_allclose(ask(name, noise(n)), naive.WEIGHERS[name](noise(n)), rtol=2e-5)


@pytest.mark.parametrize("name", ALL)
def test_the_positive_counts_once(name):
    assert ask(name, noise(7))[0] == 1


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("log_q", [[0, -200, 0], [0, -40, -40, -1], [0, -90]])
def test_extreme_probabilities_give_finite_positive_weights(name, log_q):
    weights = ask(name, log_q)
    assert np.isfinite(weights).all()
    assert (weights > 0).all()


def test_importance_weights_by_hand():
    # q = ½, ¼, ¼: inverses 2, 4, 4, which sum to 10; times n = 3
    weights = ask("importance", [0, *np.log([0.5, 0.25, 0.25])])
    np.testing.assert_allclose(weights, [1, 0.6, 1.2, 1.2], rtol=1e-5)


@pytest.mark.parametrize("n", [1, 4, 50])
def test_importance_weights_sum_to_the_number_of_negatives(n):
    assert ask("importance", noise(n))[1:].sum() == pytest.approx(n, rel=1e-5)


def test_importance_weights_of_uniform_noise_are_one():
    np.testing.assert_allclose(ask("importance", [0, *[-math.log(200)] * 9]), np.ones(10), rtol=1e-6)


def test_importance_weights_do_not_heed_a_common_factor():
    log_q = noise(6)
    shifted = log_q - 3.25 * (np.arange(7) > 0)
    np.testing.assert_allclose(ask("importance", log_q), ask("importance", shifted), rtol=1e-5)


def test_importance_weighted_sums_estimate_the_sum_over_the_vocabulary():
    rng = np.random.default_rng(4)
    q = naive.popularity(1e4 / np.arange(1, 101), 0.75)
    values = np.sort(np.exp(rng.normal(size=100)))  # large for rare words
    drawn = rng.choice(100, 20_000, p=q)
    weights = ask("importance", np.r_[0, np.log(q)[drawn]])[1:]
    assert weights @ values[drawn] / len(drawn) == pytest.approx(values.mean(), rel=0.03)
    assert values[drawn].mean() != pytest.approx(values.mean(), rel=0.06)  # which plain means do not
