"""What sampled losses estimate: expectations over every possible draw, against the full softmax on twenty words."""

import itertools
import math

import naive
import numpy as np
import pytest
from loss_cases import CASES, SLOW, ask, of

from w2vneg.ground.jit import njit
from w2vneg.kernels.contracts import step

V, POSITIVE = 20, 3
_rng = np.random.default_rng(17)
LOGITS = 1.2 * _rng.normal(size=V)
LOGITS[POSITIVE] = 2.0
Z = np.exp(LOGITS).sum()
SOFTMAX = np.exp(LOGITS) / Z
COUNTS = naive.popularity(np.arange(V, 0, -1), 0.75)


def outcome(name, drawn, q, exclude):
    """Return (Z̃, gradient by word, number of draws that count) of one set of draws from q."""
    ids = [POSITIVE, *drawn]
    weights = np.array([1.0] + [float(not exclude or i != POSITIVE) for i in drawn])
    value, gradients = ask(of(name), LOGITS[ids], weights, np.log(q[ids]))
    by_word = np.zeros(V)
    np.add.at(by_word, ids, gradients.astype(np.float64))
    return math.exp(value + LOGITS[POSITIVE]), by_word, int(weights[1:].sum())


def expectation(name, q, n, exclude):
    """Return E[Z̃] and E[gradient] over all V^n draws with replacement; of those of which some count, if excluded."""
    mean_z, mean_gradient, mass = 0.0, np.zeros(V), 0.0
    for drawn in itertools.product(range(V), repeat=n):
        chance = math.prod(q[i] for i in drawn)
        z, gradient, counted = outcome(name, drawn, q, exclude)
        if counted:
            mass += chance
            mean_z += chance * z
            mean_gradient += chance * gradient
    return mean_z / mass, mean_gradient / mass


FULL_GRADIENT = SOFTMAX - (np.arange(V) == POSITIVE)


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("name", ["css", "sampled-softmax, target excluded"])
def test_the_normaliser_of_css_is_unbiased(name, n):
    for q in (np.full(V, 1 / V), COUNTS, naive.boltzmann(LOGITS, COUNTS, 2.0)):
        assert expectation(name, q, n, exclude=True)[0] == pytest.approx(Z, rel=2e-5)


@pytest.mark.parametrize("n", [1, 2])
def test_the_normaliser_of_plain_importance_sampling_is_unbiased_over_all_words(n):
    assert expectation("importance", COUNTS, n, exclude=False)[0] == pytest.approx(Z, rel=2e-5)


@pytest.mark.parametrize("n", [1, 2])
def test_sampled_softmax_counts_the_positive_twice_where_it_may_be_drawn(n):
    mean_z, _ = expectation("sampled-softmax", COUNTS, n, exclude=False)
    assert mean_z == pytest.approx(Z + math.exp(LOGITS[POSITIVE]), rel=2e-5)


@njit
def _subsets(loss, words, logits, b, positive, rng, exp_logits, picked, log_q, weights, gradients):
    """Return Σ over all subsets of the words of P(subset) e^{L + s₀}, the positive excluded where it is drawn."""
    mean, mass = 0.0, 0.0
    for subset in range(1 << words):
        n, chance = 0, 1.0
        for i in range(words):
            if (subset >> i) & 1:
                n += 1
                picked[n] = logits[i]
                log_q[n] = b[i]
                weights[n] = np.float32(0 if i == positive else 1)
                chance *= b[i]
            else:
                chance *= 1 - b[i]
        for k in range(1, n + 1):
            log_q[k] = np.float32(np.log(log_q[k] / n))
        for k in range(n + 1, words + 1):  # places without a draw
            picked[k], log_q[k], weights[k] = np.float32(50), np.float32(np.inf), np.float32(0)
        value = step(loss, 0, np.float32(0), rng, picked, exp_logits, log_q, weights, gradients)
        mean += chance * np.exp(value + logits[positive])
        mass += chance
    return mean, mass


def test_the_normaliser_of_css_with_independent_draws_is_unbiased():
    words = 8 if SLOW else V
    b = np.minimum(1.0, 0.3 * words * COUNTS[:words] / COUNTS[:words].sum())
    scratch = np.zeros((5, 1 + words), np.float32)
    scratch[1], scratch[3] = LOGITS[POSITIVE], 1
    exp_logits, picked, log_q, weights, gradients = scratch
    mean, mass = _subsets(
        of("css, Bernoulli"),
        words,
        LOGITS.astype(np.float32),
        b,
        POSITIVE,
        np.zeros(1, np.uint64),
        exp_logits,
        picked,
        log_q,
        weights,
        gradients,
    )
    assert mass == pytest.approx(1, rel=1e-9)
    assert b[POSITIVE] > 0.2  # often drawn, then excluded: that must not change what b means
    assert mean == pytest.approx(np.exp(LOGITS[:words]).sum(), rel=2e-5)


@pytest.mark.parametrize("excluded", [False, True])
def test_independent_noise_leaves_nce_with_the_probabilities(excluded):
    """Over all sets of draws and all positives, the gradient is 0 where e^s is the probability; 0 draws are a set, too.

    Where the positive is excluded, P / (1 - P) takes the place of P.
    """
    words, loss = 4, of("nce, Bernoulli")
    p, b = np.array([0.4, 0.3, 0.2, 0.1]), np.array([0.5, 0.2, 0.3, 0.1])
    logits, total = np.log(p / (1 - p if excluded else 1)), np.zeros(words)
    for drawn in itertools.product((False, True), repeat=words):
        chance, entered = np.where(drawn, b, 1 - b).prod(), np.flatnonzero(drawn)
        log_n = math.log(max(1, len(entered)))
        for positive in range(words):
            ids = [positive, *entered, -1]
            weights = [1, *(float(not (excluded and i == positive)) for i in entered), 0]
            log_q = [*(np.log(b[ids[:-1]]) - log_n), np.inf]
            gradients = ask(loss, logits[ids], weights, log_q)[1][:-1].astype(float)
            np.add.at(total, ids[:-1], chance * p[positive] * gradients)
    assert total == pytest.approx(np.zeros(words), abs=1e-6)


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("name", ["css", "sampled-softmax, target excluded"])
def test_softmax_draws_give_the_full_softmax_gradient_whatever_their_number(name, n):
    """Kernel paper, theorem 2.1, with q the law of the negatives."""
    _, gradient = expectation(name, SOFTMAX, n, exclude=True)
    np.testing.assert_allclose(gradient, FULL_GRADIENT, atol=3e-6)


def test_softmax_draws_that_may_be_the_positive_do_not():
    _, gradient = expectation("sampled-softmax", SOFTMAX, 2, exclude=False)
    share = SOFTMAX[POSITIVE]
    assert gradient[POSITIVE] == pytest.approx(2 * share / (1 + share) - 1, abs=1e-5)
    assert abs(gradient - FULL_GRADIENT).max() > 0.01


def bias(name, n, exclude, sets):
    """Return |E[gradient] − full gradient| from random sets of popularity draws, and its standard error."""
    rng = np.random.default_rng([n, 5])
    total, squares, kept = np.zeros(V), np.zeros(V), 0
    for drawn in rng.choice(V, (sets, n), p=COUNTS):
        _, gradient, counted = outcome(name, drawn, COUNTS, exclude)
        if counted:
            total += gradient
            squares += gradient**2
            kept += 1
    mean = total / kept
    error = np.sqrt(np.maximum(squares / kept - mean**2, 0).sum() / kept)
    return np.linalg.norm(mean - FULL_GRADIENT), error


@pytest.mark.slow
@pytest.mark.skipif(SLOW, reason="thousands of steps")
@pytest.mark.parametrize("name", ["css", "large-vocab"])
def test_the_bias_of_other_draws_falls_as_they_get_more(name):
    biases = [bias(name, n, name == "css", 2000) for n in (2, 10, 50)]
    for (more, more_error), (less, less_error) in itertools.pairwise(biases):
        assert more - less > 3 * math.hypot(more_error, less_error), biases


@pytest.mark.skipif(SLOW, reason="hundreds of long steps")
def test_no_number_of_draws_frees_sampled_softmax_of_bias_where_they_may_be_the_positive():
    at_infinity = SOFTMAX / (1 + SOFTMAX[POSITIVE])  # Z tends to Z + e^{s₀}, and the positive's word has two terms
    at_infinity[POSITIVE] = 2 * at_infinity[POSITIVE] - 1
    floor = np.linalg.norm(at_infinity - FULL_GRADIENT)
    measured, error = bias("sampled-softmax", 2000, False, 200)
    assert floor > 0.1
    assert abs(measured - floor) < 4 * error + 1e-3


def test_the_cases_used_here_are_what_they_are_called():
    assert CASES["css, Bernoulli"].setting.sampler.independent
    assert "exclude" in CASES["sampled-softmax, target excluded"].options
