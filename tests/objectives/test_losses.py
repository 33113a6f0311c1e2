"""Every registered loss: closed forms, an oracle, extremes. Runs with and without the JIT.

The slopes of every loss are proved three times: by hand at the points below, by the oracle's own formulas, and by
automatic differentiation in `test_losses_autodiff`.
"""

import math

import naive
import numpy as np
import pytest
from loss_cases import ALL, CASES, N_VOCAB, SETTING, SLOW, ask, example, of, take_step_at
from scripted import Scripted, noise_of

from w2vneg.config import TrainConfig
from w2vneg.ground.errors import ConfigError
from w2vneg.ground.jit import njit
from w2vneg.kernels.contracts import step, step_group
from w2vneg.kernels.groups import LoopSpec, Plugs
from w2vneg.kernels.linalg import Rows
from w2vneg.kernels.shard import run_shard
from w2vneg.kernels.walk import TextWindows
from w2vneg.objectives.losses import LOSSES
from w2vneg.objectives.losses._parts import logistic_many
from w2vneg.objectives.samplers.exclusions import ExcludeNone, ExcludeTarget
from w2vneg.objectives.weighers import WEIGHERS

LN2 = math.log(2)


@pytest.fixture(autouse=True)
def _wrapping_integers():
    """Plain Python warns where uint64 wraps round, which random streams do on purpose."""
    with np.errstate(over="ignore"):
        yield


def test_every_loss_is_tested_against_the_oracle():
    assert set(naive.LOSSES) == set(ALL), "give tests/naive.py the equation of the new loss"


@pytest.mark.parametrize("name", ALL)
def test_every_loss_tells_about_itself(name):
    about = LOSSES[name].about
    assert all(getattr(about, field).strip() for field in ("summary", "equation", "paper", "cost", "use"))
    assert "\n" not in about.summary


LOG3, LOG4 = math.log(3), math.log(4)
PULL4 = 1 + 0.2 * LOG4
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
    # the negatives' mean: log 2 + ½ (2 log 4 + ½ log 2) = 3¼ log 2
    ("ns, mean", [0, LOG3, 0], [1, 2, 0.5], 3.25 * LN2, [-0.5, 0.75, 0.125]),
    # eq. 5 to the letter: e^s = 2; 1, 3 with Z = 4: L = log 4 − log 2
    ("relaxed, eq. 5", [LN2, 0, LOG3], [1, 1, 1], LN2, [-1, 0.25, 0.75]),
    # Z = 1 + 3 = 4: log 4 + 0.1 (log 4)²; shares ¼, ¾ times 1 + 0.2 log 4, the positive's less 1
    ("relaxed, penalised", [0, LOG3], [1, 1], LOG4 + 0.1 * LOG4**2, [PULL4 / 4 - 1, 0.75 * PULL4]),
]
NOISY = [  # with q₀, q₁, …
    # n q = ¼, ½: Z = 1 + 4 e^{s₁} + 2 e^{s₂} = 1 + 8 + 6 = 15, e^{s₀} = 1
    ("sampled-softmax", [0, LN2, LOG3], [1, 1, 1], [0.5, 0.125, 0.25], math.log(15), [-14 / 15, 8 / 15, 6 / 15]),
    # the third is as if not drawn: n q = ⅛: Z = 1 + 16 = 17
    ("sampled-softmax", [0, LN2, LOG3], [1, 1, 0], [0.5, 0.125, 0.25], math.log(17), [-16 / 17, 16 / 17, 0]),
    # e^s / q = 2, 16, 12: shares 1/15, 8/15, 6/15; log Z = log(30 / n)
    ("large-vocab", [0, LN2, LOG3], [1, 1, 1], [0.5, 0.125, 0.25], math.log(15), [-14 / 15, 8 / 15, 6 / 15]),
    ("sampled-softmax, both corrected", [0, 0], [1, 1], [0.5, 0.25], LOG3, [-2 / 3, 2 / 3]),
    # κ = (1 − ½) / (2 q) = 2, 1: Z = 2 + 2·2 + 3 = 9, L = log 9/2
    ("css", [LN2, LN2, LOG3], [1, 1, 1], [0.5, 0.125, 0.25], math.log(4.5), [-7 / 9, 4 / 9, 3 / 9]),
    ("sampled-softmax, target excluded", [LN2, LN2], [1, 1], [0.5, 0.25], LOG3, [-2 / 3, 2 / 3]),
    # weight ½ on the first: Z = 2 + 2 + 3 = 7
    ("css", [LN2, LN2, LOG3], [1, 0.5, 1], [0.5, 0.125, 0.25], math.log(3.5), [-5 / 7, 2 / 7, 3 / 7]),
    # b = 2 q = ¼, ½: κ = 4, 2: Z = 1 + 4 + 2 = 7, whatever q₀
    ("css, Bernoulli", [0, 0, 0], [1, 1, 1], [0.5, 0.125, 0.25], math.log(7), [-6 / 7, 4 / 7, 2 / 7]),
    # one of the two was drawn but excluded: b stays 2 q = ½: Z = 1 + 2
    ("css, Bernoulli", [0, 0, 0], [1, 0, 1], [0.5, 0.125, 0.25], LOG3, [-2 / 3, 0, 2 / 3]),
    # Z = ½ (8 · 2 + 4 · 3) = 14, e^{s₀} = 2
    ("importance", [LN2, LN2, LOG3], [1, 1, 1], [0.5, 0.125, 0.25], math.log(7), [-1, 16 / 28, 12 / 28]),
    # e^s / (n q): 1 / 1, 2 / ¼, 3 / ½ = 1, 8, 6: log 2 + log 9 + log 7
    ("nce", [0, LN2, LOG3], [1, 1, 1], [0.5, 0.125, 0.25], math.log(126), [-1 / 2, 8 / 9, 6 / 7]),
    # Z = e² divides them all: 1, 8
    ("nce, Z = e^2", [2, 2 + LN2], [1, 1], [1, 0.25], LN2 + math.log(9), [-1 / 2, 8 / 9]),
    # b = 2 q = 1, ¼, ½, one excluded: e^s / b = 1, 6
    ("nce, Bernoulli", [0, LN2, LOG3], [1, 0, 1], [0.5, 0.125, 0.25], math.log(14), [-1 / 2, 0, 6 / 7]),
    # e^s / q = 2, 4, 2: p = ¼, ½, ¼; L = log 4 + log 2 + log 4/3; r = 1, 1/3, R = 4/3
    ("blackout", [0, 0, -LN2], [1, 1, 1], [0.5, 0.25, 0.25], math.log(32 / 3), [-13 / 12, 5 / 6, 1 / 4]),
    # log(1 + 999 e^{s₁ − s₀}), which is −log of css's p₀ for one uniform draw
    ("ranking", [0, 0], [1, 1], [1, 1], math.log(1000), [-0.999, 0.999]),
    ("bpr", [LOG3, 0, LOG3], [1, 1, 2], [1, 1, 1], math.log(4 / 3) + 2 * LN2, [-1.25, 0.25, 1]),
    ("hinge", [2, 0.5, 1.25, 3], [1, 1, 1, 0.5], [1, 1, 1, 1], 0.25 + 0.5 * 2, [-1.5, 0, 1, 0.5]),
]


@pytest.mark.parametrize(
    ("name", "logits", "weights", "q", "value", "gradient"), [(n, s, w, None, v, g) for n, s, w, v, g in POINTS] + NOISY
)
def test_closed_forms(name, logits, weights, q, value, gradient):
    log_q = None if q is None else np.log(q)
    got, gradients = ask(of(name), logits, weights, log_q)
    assert got == pytest.approx(value, abs=5e-6)
    np.testing.assert_allclose(gradients, gradient, rtol=2e-5)
    by_hand, by_hand_gradient = CASES[name].oracle(logits, weights, log_q)  # the oracle answers the same questions
    assert by_hand == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(by_hand_gradient, gradient, rtol=1e-12)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("n", [1, 5, 8, 9, 17, 64])
def test_untrained_is_the_loss_of_zero_logits_under_uniform_draws(name, n):
    loss = of(name)
    assert ask(loss, np.zeros(1 + n), log_q=uniform_log_q(name, n))[0] == pytest.approx(loss.loss_at_init(n), abs=2e-5)


def uniform_log_q(name, n):
    """Return log q of uniform draws; for css with independent ones b = n / (V − 1), as the positive is never drawn."""
    return np.full(1 + n, -math.log(N_VOCAB - 1 if name == "css, Bernoulli" else N_VOCAB))


def differences(value_at, logits, h):
    """Central differences, error O(h⁴): float32 logits leave no room for a small h."""
    gradient = np.empty(len(logits))
    for k in range(len(logits)):
        at = [value_at(np.where(np.arange(len(logits)) == k, logits + d * h, logits)) for d in (-2, -1, 1, 2)]
        gradient[k] = (at[0] - 8 * at[1] + 8 * at[2] - at[3]) / (12 * h)
    return gradient


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("spread", [0.3, 3.0, 15.0])
def test_values_and_gradients_equal_the_oracles(name, spread):
    loss = of(name)
    for n in (1, 2, 3, 7, 8, 9, 15, 16, 20, 100):
        logits, weights, log_q = example(n, seed=3, spread=spread)
        logits = np.clip(logits, -79, 79).astype(np.float32).astype(np.float64)
        log_q = log_q.astype(np.float32).astype(np.float64)
        for w in (weights, np.ones(1 + n)):
            value, gradient = CASES[name].oracle(logits, w, log_q)
            got, gradients = ask(loss, logits, w, log_q)
            assert got == pytest.approx(value, rel=2e-5, abs=1e-5)
            np.testing.assert_allclose(gradients, gradient, rtol=8e-5, atol=1e-6)


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


@pytest.mark.parametrize("name", CASES)
def test_extreme_logits_give_finite_values_and_gradients(name):
    loss = of(name)
    for logits in extremes():
        mixed = np.where(np.arange(len(logits)) % 8 == 0, 2.0, 1.0)
        mixed[0] = 1
        log_q = -3.0 - np.arange(len(logits)) % 7
        for weights in (np.ones(len(logits)), mixed):
            value, gradients = ask(loss, logits, weights, log_q)
            assert math.isfinite(value)
            assert np.isfinite(gradients).all()
            # the contract: logits beyond ±80 count as ±80
            expected, gradient = CASES[name].oracle(np.clip(logits, -80, 80), weights, log_q)
            assert value == pytest.approx(expected, rel=1e-4, abs=1e-4)
            np.testing.assert_allclose(gradients, gradient, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("name", CASES)
def test_absurd_noise_probabilities_stay_finite(name):
    loss = of(name)
    for far in (-1e30, -1e5, -90.0, 0.0, 3.0):
        for logits in ([80.0, -80, 0, 80], [-80.0, 80, 0, 80], [0.0, 0, 0, 0]):
            for places in ([0], [1], [1, 2], [1, 2, 3], [0, 1, 2, 3]):
                log_q = np.full(4, -5.0)
                log_q[places] = far
                value, gradients = ask(loss, logits, log_q=log_q)
                assert math.isfinite(value)
                assert np.isfinite(gradients).all()


@pytest.mark.parametrize("name", CASES)
def test_ten_thousand_hard_negatives_stay_finite(name):
    value, gradients = ask(of(name), np.full(10_001, 75.0))
    assert math.isfinite(value)
    assert np.isfinite(gradients).all()


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("n", [1, 6, 17])
def test_a_negative_of_weight_0_is_as_if_it_had_not_been_drawn(name, n):
    loss = of(name)
    logits, weights, log_q = example(n, seed=5)
    value, gradients = ask(loss, logits, weights, log_q)
    places = np.sort(np.random.default_rng(n).integers(1, 2 + n, 5))  # of those that are not there
    absent = np.inf if "Bernoulli" in name else -1.0
    padded = [np.insert(a, places, b) for a, b in ((logits, [99, -99, 0, 75, -75]), (weights, 0), (log_q, absent))]
    padded_value, padded_gradients = ask(loss, *padded)
    assert padded_value == pytest.approx(value, rel=2e-6)
    np.testing.assert_allclose(padded_gradients[padded[1] > 0], gradients, rtol=1e-5, atol=1e-7)
    assert (padded_gradients[padded[1] == 0] == 0).all()


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("first", [-60.0, 0.0, 60.0])
def test_without_any_negative_nothing_breaks(name, first):
    empty = np.inf if "Bernoulli" in name else -3.0
    value, gradients = ask(of(name), [first, 70, -70], [1, 0, 0], [-2, empty, empty])
    assert math.isfinite(value)
    assert np.isfinite(gradients).all()
    assert (gradients[1:] == 0).all()


@njit
def _extreme_coefficients(loss, rng, logits, exp_logits, log_q, weights, gradients):
    """Take a step on each row (float32, (cases, 1 + n)); return the least and the largest gradient."""
    low, high = np.float32(0), np.float32(0)
    for case in range(logits.shape[0]):
        step(loss, 0, np.float32(0), rng, logits[case], exp_logits, log_q[case], weights[case], gradients)
        for k in range(gradients.shape[0]):
            low, high = min(low, gradients[k]), max(high, gradients[k])
        high = max(high, gradients[1:].sum() - np.float32(2e-6))
        low = low if gradients[0] <= 0 else np.float32(-9)
    return low, high


@pytest.mark.parametrize("name", ["css", "css, Bernoulli"])
def test_coefficients_of_css_lie_within_one_over_a_million_cases(name):
    """CSS eq. 20: its gradients are those of a distribution, each in [−1, 1], repeated draws taken together."""
    loss, n = of(name), 4
    rng = np.random.default_rng(9)
    low = high = 0.0
    for spread in (1, 5, 30, 100):
        shape = (500 if SLOW else 250_000, 1 + n)
        logits, weights = (spread * rng.normal(size=shape)).astype(np.float32), np.ones(shape, np.float32)
        log_q = -rng.exponential(4, shape).astype(np.float32) - np.float32(1e-3)
        weights[rng.random(shape) < 0.2] = 0
        weights[:, 0] = 1
        gradients, exp_logits = np.zeros(1 + n, np.float32), np.zeros(1 + n, np.float32)
        found = _extreme_coefficients(loss, np.zeros(1, np.uint64), logits, exp_logits, log_q, weights, gradients)
        low, high = min(low, found[0]), max(high, found[1])
    assert -1 <= low < -0.99
    assert 0.99 < high <= 1


@pytest.mark.parametrize("name", ["relaxed", "sampled-softmax", "large-vocab", "css", "importance"])
def test_a_penalty_on_a_fraction_of_the_pairs_has_the_expectation_of_one_on_all(name):
    def make(text):
        exclude = {} if LOSSES[name].needs_exclusion else {"exclude": "none"}
        return TrainConfig(loss=name, self_normalise=text, **exclude).resolved().make("loss", SETTING)

    logits, weights, log_q = example(6, seed=8)
    plain, _ = ask(of(name), logits, weights, log_q)
    full, _ = ask(make("0.2"), logits, weights, log_q)
    some = make("0.2,0.25")
    penalties = [ask(some, logits, weights, log_q, seed)[0] - plain for seed in range(2000)]
    chosen = np.abs(penalties) > 1e-9
    np.testing.assert_allclose(np.array(penalties)[chosen], 4 * (full - plain), rtol=1e-4)
    assert abs(chosen.mean() - 0.25) < 4.5 * math.sqrt(0.25 * 0.75 / 2000)
    assert some.loss_at_init(6) == pytest.approx(make("0.2").loss_at_init(6), rel=1e-12)


@pytest.mark.parametrize("text", ["", "x", "1,2,3", "-1", "inf", "nan", "1,0", "1,1.5", "1,", "1;0.5"])
def test_a_penalty_out_of_range_is_refused(text):
    with pytest.raises(ConfigError, match=r"self_normalise must be .* got .*; write 0.1"):
        TrainConfig(loss="css", self_normalise=text).resolved().make("loss", SETTING)


@pytest.mark.parametrize("text", ["", "learnt", "inf", "nan", "1001"])
def test_a_log_z_out_of_range_is_refused(text):
    with pytest.raises(ConfigError, match="log_z must be 'learned' or a number from -1000 to 1000"):
        TrainConfig(loss="nce", log_z=text).resolved().make("loss", SETTING)


def answer_for_a_group(name, shared, weighed, m=5, n=11, far=None, rare=0.0):
    """Return (done, L), (dL/ds of the positives, of the negatives), and the logits, weights and log q.

    far : (float, float), the logits of all positives and negatives; some weights are then 0 or tiny
    rare : float, subtracted from log q
    """
    rng = np.random.default_rng(17)
    sizes = m, n if shared else m * n
    logits = [rng.normal(0, 3, size).astype(np.float32) for size in sizes]
    weights = [rng.uniform(0.1, 2.0, size if weighed else 0).astype(np.float32) for size in sizes]
    if far:
        logits = [np.full(size, logit, np.float32) for size, logit in zip(sizes, far, strict=True)]
        weights = [rng.choice([0, 1e-35, 1e-35], size if weighed else 0).astype(np.float32) for size in sizes]
    slopes = tuple(np.full_like(part, np.nan) for part in logits)
    log_q = tuple((np.log(rng.uniform(1e-4, 0.5, size)) - rare).astype(np.float32) for size in sizes)
    exp_logits = tuple(np.exp(part) for part in logits)
    answer = step_group(of(name), shared, weighed, m, n, exp_logits, tuple(weights), log_q, slopes)
    return answer, slopes, logits, weights if weighed else [np.ones_like(part) for part in logits], log_q


_CORRECTED = ["sampled-softmax", "large-vocab", "css"]
_CORRECTED += ["sampled-softmax, both corrected", "sampled-softmax, target excluded"]
_AT_ONCE = ["ns", "relaxed", *_CORRECTED]


@pytest.mark.parametrize(("weighed", "names"), [(False, _AT_ONCE), (True, ["relaxed"])])
def test_who_answers_for_a_whole_group(weighed, names):
    assert [name for name in CASES if answer_for_a_group(name, True, weighed)[0][0]] == sorted(names)


@pytest.mark.parametrize(("name", "weighed"), [*((name, False) for name in _AT_ONCE), ("relaxed", True)])
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("far", [None, (-80, 80), (80, -80), (80, 80)])  # products beyond what a float64 holds
@pytest.mark.parametrize("m", [1, 3, 5, 9])
def test_a_group_answered_at_once_is_its_pairs_one_by_one(name, weighed, shared, m, far):
    n = 11
    answer = answer_for_a_group(name, shared, weighed, m, n, far)
    (done, value), (first, rest), (positive, negative), (positive_weights, weights), log_q = answer
    if not done:
        assert far in [(80, 80), (-80, 80)] and name in _CORRECTED  # e^s / q is beyond float32
        return
    wanted, total = np.zeros(len(negative)), 0.0
    for k in range(len(positive)):
        part = slice(0, n) if shared else slice(k * n, (k + 1) * n)
        logits = np.concatenate([positive[k : k + 1], negative[part]])
        weights_of_all = np.append(positive_weights[k], weights[part])
        one, gradients = ask(of(name), logits, weights_of_all, np.append(log_q[0][k], log_q[1][part]))
        assert first[k] == pytest.approx(gradients[0], rel=1e-5)
        wanted[part] += gradients[1:]
        total += one
    assert value == pytest.approx(total, rel=1e-5)
    np.testing.assert_allclose(rest, wanted, rtol=2e-5, atol=1e-33)  # one by one, e^x ends at e^-80


@pytest.mark.parametrize("name", _CORRECTED)
@pytest.mark.parametrize("shared", [False, True])
def test_noise_beyond_what_exp_takes_is_left_to_the_pairs(name, shared):
    assert answer_for_a_group(name, shared, False)[0][0]
    assert not answer_for_a_group(name, shared, False, rare=90.0)[0][0]


def test_a_thousand_factors_stay_among_the_floats():
    gradients, weights = np.zeros(1001, np.float32), np.ones(1001, np.float32)
    assert logistic_many(weights, gradients) == pytest.approx(1000 * math.log(2))
    assert (gradients[1:] == 0.5).all()


LOOPED = ["ns", "nce, learned", "css, Bernoulli"]  # no log q; the positive's, too, and own rows; places left empty
NOT_DRAWN = {"ns": ExcludeTarget()}  # the positives are not among the draws: only that others have it compiled, too


@pytest.mark.parametrize("name", [*LOOPED[:2], pytest.param(LOOPED[2], marks=pytest.mark.slow)])
@pytest.mark.parametrize("shared", [False, True])
def test_the_loop_moves_both_matrices_down_the_slope_of_the_loss(name, shared):
    n, dim, n_vocab, alpha = 3, 4, 12, 2.0**-7
    rng = np.random.default_rng(11)
    centre, positives = 4, [1, 7]
    drawn = rng.permutation([0, 2, 3, 5, 6, 8, 9])[: n if shared else 2 * n]
    matrices = rng.normal(size=(2, n_vocab, dim)).astype(np.float32)
    log_q = rng.normal(-3, 1, len(drawn)).astype(np.float32)

    gaps = name == "css, Bernoulli"
    if gaps:
        drawn[1] = -1
    tokens = np.array([positives[0], centre, positives[1], -1], np.int32)
    source = TextWindows(tokens, np.array([0, 3]), np.zeros(n_vocab, np.uint64), 1, False)
    sampler = Scripted(drawn[None].astype(np.int32), log_q[None], False)
    weigher = WEIGHERS["none"]()
    loss = of(name)
    trained = matrices.copy()
    run_shard(
        Plugs(source, sampler, weigher, loss, NOT_DRAWN.get(name, ExcludeNone())),
        LoopSpec(2, n, int(shared), loss.needs_log_q, False, loss.needs_positive_log_q, gaps=gaps, weighed=False),
        Rows(trained[0], 0, n_vocab, 0),
        Rows(trained[1], 0, n_vocab, 0),
        tokens,
        1,
        2,
        (alpha, alpha),
        np.zeros(1, np.uint64),
    )

    def pair(k, inputs, outputs, log_z):
        places = [p for p in naive.negatives_of(k, n, drawn, shared) if drawn[p] >= 0]
        logits = outputs[[positives[k], *drawn[places]]] @ inputs[centre]
        logs = [noise_of(positives[k]), *log_q[places]]
        given = {"nce, learned": {"log_z": log_z}, "css, Bernoulli": {"drawn": len(places)}}.get(name, {})
        return naive.LOSSES[CASES[name].loss](logits, np.ones(len(logits)), logs, **given)

    log_zs = [math.log(N_VOCAB)]  # a learned one moves from pair to pair
    for k in range(2):
        log_zs.append(log_zs[-1] + alpha * pair(k, *matrices.astype(np.float64), log_zs[-1])[1].sum())
    if name == "nce, learned":
        np.testing.assert_allclose(loss.log_z[centre, 0], log_zs[-1], rtol=1e-6)

    def value_at(flat):
        return sum(pair(k, *flat.reshape(matrices.shape), log_zs[k])[0] for k in range(2))

    slopes = differences(value_at, matrices.astype(np.float64).ravel(), h=1e-3)
    moved = (matrices.astype(np.float64) - trained) / alpha
    np.testing.assert_allclose(moved, slopes.reshape(matrices.shape), rtol=1e-3, atol=2e-4)
    assert np.count_nonzero(np.abs(slopes) > 1e-3) >= dim * (1 + 2 + n - gaps)


@pytest.mark.parametrize("weights", [[1, 1, 1, 1], [1, 0.5, 0, 2]])
def test_a_learned_log_z_goes_down_the_slope_of_the_loss(weights):
    loss = of("nce, learned")
    logits, _, log_q = example(3, seed=7)
    start, alpha = 1.25, np.float32(0.5)
    loss.log_z[2, 0] = start
    arrays = [np.array(a, np.float32) for a in (logits, np.exp(logits), log_q, weights)]
    take_step_at(loss, 2, alpha, np.zeros(1, np.uint64), *arrays, np.empty(4, np.float32))

    def value_at(log_z):
        return naive.noise_contrastive(logits, weights, log_q, log_z=log_z[0])[0]

    moved = (start - loss.log_z[2, 0]) / alpha
    assert moved == pytest.approx(differences(value_at, np.array([start]), 1e-3)[0], rel=1e-4)
    others = np.delete(loss.log_z[:, 0], 2)
    assert (others == np.float32(math.log(N_VOCAB))).all()  # where all logits are 0, log Z is log V
    for sign in (1, -1):  # a step moves it by at most 1
        loss.log_z[2, 0] = 0
        arrays[0][:] = 80 * sign
        take_step_at(loss, 2, np.float32(100), np.zeros(1, np.uint64), *arrays, np.empty(4, np.float32))
        assert loss.log_z[2, 0] == sign
