"""Every registered loss: closed forms, gradients by finite differences, extremes. Runs with and without the JIT."""

import math

import naive
import numpy as np
import pytest
from scripted import Scripted

from w2vneg.config import TrainConfig
from w2vneg.jit import njit
from w2vneg.kernels.contracts import step
from w2vneg.kernels.exclusion import ExcludeNone
from w2vneg.kernels.functions import exp_into
from w2vneg.kernels.linalg import Rows
from w2vneg.kernels.shard import Plugs, Shape, run_shard
from w2vneg.kernels.walk import TextWindows
from w2vneg.losses import LOSSES
from w2vneg.setting import Setting
from w2vneg.weighers import WEIGHERS

ALL = sorted(name for name in LOSSES if not getattr(LOSSES[name], "dense", False))  # see test_dense_engine.py
SETTING = Setting(np.arange(1000, 0, -1))
LN2 = math.log(2)


@pytest.fixture(autouse=True)
def _wrapping_integers():
    """Plain Python warns where uint64 wraps round, which random streams do on purpose."""
    with np.errstate(over="ignore"):
        yield


@njit
def _take_step(loss, rng, logits, odds, log_q, weights, gradients):
    exp_into(logits, logits.shape[0], np.float32(1), np.float32(0), odds)
    return step(loss, 0, np.float32(0), rng, logits, odds, log_q, weights, gradients)


def of(name):
    return LOSSES[name].from_options(TrainConfig(loss=name).resolved(), SETTING)


def ask(loss, logits, weights=None, log_q=None):
    """Return (L, dL/ds) as the socket gives them."""
    logits = np.array(logits, np.float32)
    weights = np.ones_like(logits) if weights is None else np.array(weights, np.float32)
    if loss.needs_log_q:
        log_q = np.full_like(logits, -5) if log_q is None else np.array(log_q, np.float32)
        log_q[0] = 0
    else:
        log_q = np.empty(0, np.float32)
    gradients = np.full_like(logits, np.nan)
    value = _take_step(loss, np.zeros(1, np.uint64), logits, np.empty_like(logits), log_q, weights, gradients)
    return value, gradients


def test_every_loss_is_tested_against_the_oracle():
    assert set(naive.LOSSES) == set(ALL), "give tests/naive.py the equation of the new loss"


POINTS = [
    # all logits 0, two negatives: −3 log ½ = 3 log 2; σ(0) = ½
    ("ns", [0, 0, 0], [1, 1, 1], 2.0794415416798357, [-0.5, 0.5, 0.5]),
    # σ(log 3) = 3/4; −log ¾ + −log(1 − ¼) = 2 log 4/3 with s₁ = −log 3, σ(s₁) = ¼
    ("ns", [math.log(3), -math.log(3)], [1, 1], 0.5753641449035618, [-0.25, 0.25]),
    # s₁ = log 3 weighs 2, s₂ = 0 weighs ½: log 2 + 2 log 4 + ½ log 2 = 5½ log 2
    ("ns", [0, math.log(3), 0], [1, 2, 0.5], 3.8123094930796995, [-0.5, 1.5, 0.25]),
    # all logits 0, two negatives: log 3; shares ⅓ each
    ("relaxed", [0, 0, 0], [1, 1, 1], 1.0986122886681098, [-2 / 3, 1 / 3, 1 / 3]),
    # e^s = 2; 1, 5: Z = 8, L = −log 2 + log 8 = 2 log 2
    ("relaxed", [math.log(2), 0, math.log(5)], [1, 1, 1], 1.3862943611198906, [-0.75, 0.125, 0.625]),
    # e^s = 1; 4, 2 with weights ½, 3: Z = 1 + 2 + 6 = 9, L = log 9
    ("relaxed", [0, math.log(4), math.log(2)], [1, 0.5, 3], 2.1972245773362196, [-8 / 9, 2 / 9, 6 / 9]),
]


@pytest.mark.parametrize(("name", "logits", "weights", "value", "gradient"), POINTS)
def test_closed_forms(name, logits, weights, value, gradient):
    got, gradients = ask(of(name), logits, weights)
    assert got == pytest.approx(value, abs=5e-6)
    np.testing.assert_allclose(gradients, gradient, rtol=1e-5)
    by_hand, by_hand_gradient = naive.LOSSES[name](logits, weights)  # the oracle answers the same questions
    assert by_hand == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(by_hand_gradient, gradient, rtol=1e-12)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("n", [1, 5, 8, 9, 17, 64])
def test_untrained_is_the_loss_of_zero_logits(name, n):
    loss = of(name)
    assert ask(loss, np.zeros(1 + n))[0] == pytest.approx(loss.untrained(n), abs=1e-5)


def example(n, seed, spread=2.0):
    """Return random (logits, weights, log_q) of a positive and n negatives; the positive weighs 1."""
    rng = np.random.default_rng([seed, n])
    weights = rng.uniform(0.1, 3, 1 + n)
    weights[rng.random(1 + n) < 0.4] = 1
    weights[0] = 1
    log_q = rng.normal(-4, 1.5, 1 + n)
    log_q[0] = 0
    return spread * rng.normal(size=1 + n), weights, log_q


def differences(value_at, logits, h):
    """Central differences, error O(h⁴): float32 logits leave no room for a small h."""
    gradient = np.empty(len(logits))
    for k in range(len(logits)):
        at = [value_at(np.where(np.arange(len(logits)) == k, logits + d * h, logits)) for d in (-2, -1, 1, 2)]
        gradient[k] = (at[0] - 8 * at[1] + 8 * at[2] - at[3]) / (12 * h)
    return gradient


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("n", range(1, 21))
def test_gradients_are_the_slopes_of_the_loss(name, n):
    loss = of(name)
    logits, weights, log_q = example(n, seed=1)
    slopes = differences(lambda at: ask(loss, at, weights, log_q)[0], logits, h=0.06)
    np.testing.assert_allclose(ask(loss, logits, weights, log_q)[1], slopes, atol=5e-4)


@pytest.mark.parametrize("name", sorted(naive.LOSSES))
@pytest.mark.parametrize("n", range(1, 21))
def test_the_oracles_gradients_are_the_slopes_of_its_loss(name, n):
    logits, weights, log_q = example(n, seed=2)
    slopes = differences(lambda at: naive.LOSSES[name](at, weights, log_q)[0], logits, h=1e-3)
    np.testing.assert_allclose(naive.LOSSES[name](logits, weights, log_q)[1], slopes, atol=1e-10)


@pytest.mark.parametrize("name", sorted(naive.LOSSES))
@pytest.mark.parametrize("spread", [0.3, 3.0, 15.0])
def test_values_and_gradients_equal_the_oracles(name, spread):
    loss = of(name)
    for n in (1, 2, 7, 8, 15, 16, 20, 100):
        logits, weights, log_q = example(n, seed=3, spread=spread)
        logits = np.clip(logits, -79, 79).astype(np.float32).astype(np.float64)
        for w in (weights, np.ones(1 + n)):
            value, gradient = naive.LOSSES[name](logits, w, log_q)
            got, gradients = ask(loss, logits, w, log_q)
            assert got == pytest.approx(value, rel=2e-5, abs=1e-5)
            np.testing.assert_allclose(gradients, gradient, rtol=5e-5, atol=1e-7)


def extremes():
    rows = []
    for far in (60.0, 200.0):
        for n in (1, 3, 8, 16, 40):
            rows.append(np.array([far] + [-far] * n))
            rows.append(np.array([-far] + [far] * n))
            rows.append(np.full(1 + n, far))
            rows.append(np.full(1 + n, -far))
            rows.append(far * (-1.0) ** np.arange(1 + n))
    return rows


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("logits", extremes(), ids=lambda s: f"{s[0]:+.0f} and {len(s) - 1} from {s[1]:+.0f}")
def test_extreme_logits_give_finite_values_and_gradients(name, logits):
    loss = of(name)
    mixed = np.where(np.arange(len(logits)) % 8 == 0, 2.0, 1.0)
    mixed[0] = 1
    for weights in (np.ones(len(logits)), mixed):
        value, gradients = ask(loss, logits, weights)
        assert math.isfinite(value)
        assert np.isfinite(gradients).all()
        if name in naive.LOSSES:  # the contract: logits beyond ±80 count as ±80
            expected, gradient = naive.LOSSES[name](np.clip(logits, -80, 80), weights)
            assert value == pytest.approx(expected, rel=1e-4, abs=1e-5)
            np.testing.assert_allclose(gradients, gradient, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", ALL)
def test_ten_thousand_hard_negatives_stay_finite(name):
    value, gradients = ask(of(name), np.full(10_001, 75.0))
    assert math.isfinite(value)
    assert np.isfinite(gradients).all()


@pytest.mark.parametrize("name", sorted(naive.LOSSES))
@pytest.mark.parametrize("shared", [False, True])
def test_one_group_moves_both_matrices_down_the_slope_of_its_loss(name, shared):
    n, dim, n_vocab, alpha = 3, 4, 12, 2.0**-7
    rng = np.random.default_rng(11)
    centre, positives = 4, [1, 7]
    drawn = rng.permutation([0, 2, 3, 5, 6, 8, 9])[: n if shared else 2 * n]
    matrices = rng.normal(size=(2, n_vocab, dim)).astype(np.float32)
    log_q = rng.normal(-3, 1, len(drawn)).astype(np.float32)

    tokens = np.array([positives[0], centre, positives[1], -1], np.int32)
    source = TextWindows(tokens, np.array([0, 3]), np.zeros(n_vocab, np.uint64), 1, False)
    sampler = Scripted(drawn[None].astype(np.int32), log_q[None], False)
    weigher = WEIGHERS["none"].from_options(TrainConfig(), SETTING)
    loss = of(name)
    trained = matrices.copy()
    run_shard(
        Plugs(source, sampler, weigher, loss, ExcludeNone()),
        Shape(2, n, shared, loss.needs_log_q, False),
        Rows(trained[0], 0, n_vocab, 0),
        Rows(trained[1], 0, n_vocab, 0),
        tokens,
        1,
        2,
        (alpha, alpha),
        np.zeros(1, np.uint64),
    )

    def value_at(flat):
        inputs, outputs = flat.reshape(matrices.shape)
        return naive.group_loss(name, "none", inputs[centre], outputs, positives, drawn, log_q, n, shared)[0]

    flat = matrices.astype(np.float64).ravel()
    slopes = np.empty_like(flat)
    for k in range(len(flat)):
        ahead, behind = flat.copy(), flat.copy()
        ahead[k] += 1e-5
        behind[k] -= 1e-5
        slopes[k] = (value_at(ahead) - value_at(behind)) / 2e-5
    moved = (matrices.astype(np.float64) - trained) / alpha
    np.testing.assert_allclose(moved, slopes.reshape(matrices.shape), rtol=1e-3, atol=1e-4)
    assert np.count_nonzero(np.abs(slopes) > 1e-3) >= dim * (1 + 2 + n)
