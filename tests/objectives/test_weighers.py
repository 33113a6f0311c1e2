"""Every registered weigher against the oracle. Runs with and without the JIT."""

import math

import naive
import numpy as np
import pytest

from w2vneg.config import TrainConfig
from w2vneg.ground.jit import njit
from w2vneg.ground.registry import RunContext
from w2vneg.kernels.contracts import open_weigher, prepare_group, step, weigh
from w2vneg.kernels.linalg import AnyWidth
from w2vneg.objectives.law import law_of
from w2vneg.objectives.weighers import WEIGHERS

ALL = sorted(WEIGHERS)
DIM = 5
WIDTH = AnyWidth()


@njit
def _weigh(weigher, rows, logits, exp_logits, log_q, weights):
    state = open_weigher(weigher, 1, rows.shape[0] - 1)
    ids = rows.astype(np.int32)
    prepare_group(
        weigher,
        state,
        WIDTH,
        0,
        1,
        rows[:1],
        ids.shape[0] - 1,
        rows[1:],
        ids[1:],
        np.float32(0),
        np.zeros(1, np.uint64),
    )
    weigh(weigher, state, 0, 0, ids, logits, exp_logits, log_q, weights)


def example(n, seed=1, spread=2.0):
    """Return (log_q, logits, evaluated) of a positive and n negatives: noise, the model's and the discriminator's."""
    rng = np.random.default_rng([seed, n])
    log_q = np.r_[0.0, rng.normal(-6, spread, n)]
    return log_q, spread * rng.normal(size=1 + n), spread * rng.normal(size=1 + n)


def ask(name, log_q, logits=None, evaluated=None, counted=None, **options):
    """Return the weights of a positive and its negatives; all have the positive's place first."""
    size = len(log_q)
    blank = np.zeros(size)
    options = TrainConfig(weigher=name, **options).resolved()
    weigher = options.make("weigher", RunContext(np.ones(size), DIM))
    if hasattr(weigher, "discriminator_out"):  # let D(0, j) be what is requested
        weigher.discriminator_in[0] = np.eye(DIM)[2]
        weigher.discriminator_out[:, 2] = blank if evaluated is None else evaluated
    logits = np.array(blank if logits is None else logits, np.float32)
    given = np.array(log_q if weigher.needs_log_q else [], np.float32)
    weights = np.ones(size, np.float32) if counted is None else np.array(counted, np.float32)
    with np.errstate(over="ignore"):
        _weigh(weigher, np.arange(size), logits, np.exp(logits), given, weights)
    return weights


def test_every_weigher_is_tested_against_the_oracle():
    assert set(naive.WEIGHERS) == set(ALL), "give tests/naive.py the equation of the new weigher"


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("n", [1, 2, 5, 20, 1000])
@pytest.mark.parametrize("excluded", [0.0, 0.4, 1.0])
def test_weights_equal_the_oracles(name, n, excluded):
    counted = np.r_[True, np.random.default_rng(n).random(n) >= excluded]
    seen = example(n)
    weights = ask(name, *seen, counted)
    seen = [np.asarray(part, np.float32).astype(np.float64) for part in seen]
    np.testing.assert_allclose(weights, naive.WEIGHERS[name](seen[0], seen[1], counted, seen[2]), rtol=3e-5)
    assert not weights[~counted].any()


@pytest.mark.parametrize("name", ALL)
def test_the_positive_counts_once(name):
    assert ask(name, *example(7))[0] == 1


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("far", [[0, -200, 0], [0, -40, -40, -1], [0, -90], [0, 300, 0, 90]])
def test_extremes_give_finite_positive_weights(name, far):
    weights = ask(name, far, far, far)
    assert np.isfinite(weights).all()
    assert (weights > 0).all()


@pytest.mark.parametrize("name", ["importance", "self-adversarial"])
@pytest.mark.parametrize("n", [1, 4, 50])
def test_weights_sum_to_the_number_of_negatives_that_count(name, n):
    counted = np.arange(1 + n) % 3 != 2
    assert ask(name, *example(n))[1:].sum() == pytest.approx(n, rel=1e-5)
    assert ask(name, *example(n), counted)[1:].sum() == pytest.approx(counted[1:].sum(), rel=1e-5)


def test_importance_weights_by_hand():
    # q = ½, ¼, ¼: inverses 2, 4, 4, which sum to 10; times n = 3
    weights = ask("importance", [0, *np.log([0.5, 0.25, 0.25])])
    np.testing.assert_allclose(weights, [1, 0.6, 1.2, 1.2], rtol=1e-5)
    # without the first: 4, 4 of 8; times n = 2
    weights = ask("importance", [0, *np.log([0.5, 0.25, 0.25])], counted=[1, 0, 1, 1])
    np.testing.assert_allclose(weights, [1, 0, 1, 1], rtol=1e-5)


def test_importance_weights_of_uniform_noise_are_one():
    np.testing.assert_allclose(ask("importance", [0, *[-math.log(200)] * 9]), np.ones(10), rtol=1e-6)


def test_importance_weights_do_not_heed_a_common_factor():
    log_q = example(6)[0]
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


@njit
def _pull(weigher, loss, ids, logits, log_q, gradients):
    """Write the gradients of a positive and its negatives, weighed."""
    state, weights, rng = open_weigher(weigher, 1, ids.shape[0] - 1), np.ones_like(logits), np.ones(1, np.uint64)
    weigh(weigher, state, 0, 0, ids, logits, np.exp(logits), log_q, weights)
    step(loss, 0, np.float32(0), rng, logits, np.exp(logits), log_q, weights, gradients)


@pytest.mark.parametrize("weigher", ["none", "importance"])
@pytest.mark.parametrize("loss", ["relaxed", "ns"])
def test_training_stands_still_where_the_law_says(loss, weigher):
    """The gradient that all positives give together, by many draws, where scores are log P − log D − log n."""
    n, p, counts = 4000, np.array([0.1, 0.3, 0.05, 0.2, 0.35]), np.array([160, 80, 40, 20, 10])
    options = {"sampler": "popularity", "noise_exponent": 1.0, "negatives": n, "weigher": weigher}
    config, context = TrainConfig(loss=loss, **options).resolved(), RunContext(counts, DIM)
    plugs = [config.make(kind, context) for kind in ("weigher", "loss")]
    factor, log_noise = law_of(config, counts)
    log_noise = -math.log(len(p)) if log_noise is None else log_noise
    settled = ((np.log(p) - log_noise - math.log(n)) / factor).astype(np.float32)
    q, rng, pulls = counts / counts.sum(), np.random.default_rng(3), np.zeros(len(p))
    for positive, share in enumerate(p):
        for _ in range(10):
            ids = np.r_[positive, rng.choice(len(p), n, p=q)].astype(np.int32)
            gradients = np.zeros(1 + n, np.float32)
            _pull(*plugs, ids, settled[ids], np.log(q)[ids].astype(np.float32), gradients)
            pulls += share / 10 * np.bincount(ids, gradients, len(p))
    np.testing.assert_allclose(pulls, 0, atol=0.01)


def test_self_adversarial_weights_by_hand():
    # e^s = 1, 2, 5 of 8; times n = 3
    logits = [7, 0, math.log(2), math.log(5)]
    np.testing.assert_allclose(ask("self-adversarial", [0] * 4, logits), [1, 3 / 8, 6 / 8, 15 / 8], rtol=1e-5)
    # the last is excluded: 1, 2 of 3; times n = 2
    weights = ask("self-adversarial", [0] * 4, logits, counted=[1, 1, 1, 0])
    np.testing.assert_allclose(weights, [1, 2 / 3, 4 / 3, 0], rtol=1e-5)
    # T = ½ squares e^logit: 1, 4, 25 of 30
    weights = ask("self-adversarial", [0] * 4, logits, adversarial_temp=0.5)
    np.testing.assert_allclose(weights, [1, 0.1, 0.4, 2.5], rtol=1e-5)


@pytest.mark.parametrize(("temp", "expected"), [(1e9, [1, 1, 1, 1]), (1e-9, [1, 0, 0, 3])])
def test_self_adversarial_weights_at_the_ends_of_temperature(temp, expected):
    weights = ask("self-adversarial", [0] * 4, [9, 0.5, -0.5, 0.75], adversarial_temp=temp)
    np.testing.assert_allclose(weights, expected, atol=1e-6)


@pytest.mark.parametrize("weigh_positive", [False, True])
def test_discriminator_weights_by_hand(weigh_positive):
    # σ(−D) of e^D = 3, 1, 1/3, 9
    evaluated = [math.log(3), 0, -math.log(3), math.log(9)]
    weights = ask("discriminator", [0] * 4, evaluated=evaluated, weigh_positive=weigh_positive)
    np.testing.assert_allclose(weights, [0.25 if weigh_positive else 1, 0.5, 0.75, 0.1], rtol=1e-5)
    oracle = naive.discriminator_weights(None, None, [True] * 4, evaluated, weigh_positive)
    np.testing.assert_allclose(weights, oracle, rtol=1e-5)
