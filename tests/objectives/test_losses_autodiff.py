"""Every loss beside independent arithmetic: SciPy's log-softmax and log-sigmoid, gradients by the autograd package.

Each formula is written once more here, straight from its paper, as a function of the logits alone; nobody derived a
gradient by hand for it.
"""

import math

import autograd
import autograd.numpy as anp
import numpy as np
import pytest
from loss_cases import CASES, N_VOCAB, ask, example, of, off_kinks
from scipy.special import log_expit, log_softmax


def log_sigmoid(x):
    return -anp.logaddexp(0.0, -x)


def log_sum(terms):
    return anp.log(anp.sum(anp.exp(terms - 50.0))) + 50.0


def ns(s, w, q, mean=False):
    share = 1 / (len(s) - 1) if mean else 1
    return -log_sigmoid(s[0]) - share * anp.sum(w[1:] * log_sigmoid(-s[1:]))


def softmax(terms, first, penalty=0.0):
    return -first + log_sum(terms) + penalty * log_sum(terms) ** 2


def relaxed(s, w, q, penalty=0.0, positive_in=True):
    terms = s + np.log(w)
    return softmax(terms if positive_in else terms[1:], s[0], penalty)


def with_positive(s, w, log_kappa, penalty=0.0):
    """Softmax in which negative k counts κ_k times."""
    return softmax(anp.concatenate([s[:1], s[1:] + log_kappa]) + np.log(w), s[0], penalty)


def sampled(s, w, q, penalty=0.0):
    return with_positive(s, w, -q[1:] - math.log(len(s) - 1), penalty)


def css(s, w, q, penalty=0.0):
    return with_positive(s, w, np.log1p(-np.exp(q[0])) - q[1:] - math.log(len(s) - 1), penalty)


def large(s, w, q, penalty=0.0):
    expected = q + math.log(len(s) - 1)
    return softmax(s - expected + np.log(w), s[0] - expected[0], penalty)


def importance(s, w, q, penalty=0.0):
    return softmax((s - q + np.log(w))[1:] - math.log(len(s) - 1), s[0], penalty)


def nce(s, w, q, log_z=0.0):
    x = s - q - math.log(len(s) - 1) - log_z
    return -log_sigmoid(x[0]) - anp.sum(w[1:] * log_sigmoid(-x[1:]))


def blackout(s, w, q):
    z = anp.exp(s - q + np.log(w))
    p = z / anp.sum(z)
    return -anp.log(p[0]) - anp.sum(anp.log(1 - p[1:]))


def ranking(s, w, q, margin):
    return -anp.sum(w[1:] * log_sigmoid(s[0] - s[1:] - margin))


def hinge(s, w, q, margin=1.0):
    return anp.sum(w[1:] * anp.maximum(0.0, margin - s[0] + s[1:]))


FORMULAS = {
    "ns": ns,
    "ns, mean": lambda s, w, q: ns(s, w, q, mean=True),
    "relaxed": relaxed,
    "relaxed, eq. 5": lambda s, w, q: relaxed(s, w, q, positive_in=False),
    "relaxed, penalised": lambda s, w, q: relaxed(s, w, q, 0.1),
    "relaxed, eq. 5, penalised": lambda s, w, q: relaxed(s, w, q, 0.1, False),
    "sampled-softmax": sampled,
    "sampled-softmax, penalised": lambda s, w, q: sampled(s, w, q, 0.1),
    "sampled-softmax, both corrected": large,
    "sampled-softmax, target excluded": css,
    "large-vocab": large,
    "large-vocab, penalised": lambda s, w, q: large(s, w, q, 0.1),
    "css": css,
    "css, penalised": lambda s, w, q: css(s, w, q, 0.1),
    "css, Bernoulli": sampled,  # b = n q: the same κ = 1 / (n q)
    "importance": importance,
    "importance, penalised": lambda s, w, q: importance(s, w, q, 0.1),
    "nce": nce,
    "nce, Z = e^2": lambda s, w, q: nce(s, w, q, 2.0),
    "nce, learned": lambda s, w, q: nce(s, w, q, math.log(N_VOCAB)),
    "nce, Bernoulli": nce,
    "blackout": blackout,
    "ranking": lambda s, w, q: ranking(s, w, q, math.log(N_VOCAB - 1)),
    "bpr": lambda s, w, q: ranking(s, w, q, 0.0),
    "hinge": hinge,
    "hinge, 2": lambda s, w, q: hinge(s, w, q, 2.0),
}


def test_every_case_has_a_formula():
    assert set(FORMULAS) == set(CASES)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("spread", [1.0, 6.0])
def test_values_and_gradients_are_those_of_automatic_differentiation(name, spread):
    loss, formula = of(name), FORMULAS[name]
    for n in (1, 2, 5, 16, 33):
        logits, weights, log_q = example(n, seed=21, spread=spread)
        logits = off_kinks(name, logits)
        value, gradients = ask(loss, logits, weights, log_q)
        assert value == pytest.approx(float(formula(logits, weights, log_q)), rel=2e-5, abs=1e-5)
        expected = autograd.grad(formula)(logits, weights, log_q)
        np.testing.assert_allclose(gradients, expected, rtol=1e-4, atol=2e-6)


@pytest.mark.parametrize("spread", [1.0, 10.0, 25.0])
def test_values_are_those_of_scipy(spread):
    for n in (1, 2, 5, 16, 33):
        logits, _, log_q = example(n, seed=22, spread=spread)
        expected_often = log_q + math.log(n)
        half = np.concatenate([[0.0], expected_often[1:]])
        by_scipy = {
            "relaxed": -log_softmax(logits)[0],
            "large-vocab": -log_softmax(logits - log_q)[0],
            "sampled-softmax": -log_softmax(logits - half)[0],
            "ns": -log_expit(logits[0]) - log_expit(-logits[1:]).sum(),
            "nce": -log_expit((logits - expected_often)[0]) - log_expit(-(logits - expected_often)[1:]).sum(),
            "bpr": -log_expit(logits[0] - logits[1:]).sum(),
        }
        for name, expected in by_scipy.items():
            assert ask(of(name), logits, log_q=log_q)[0] == pytest.approx(expected, rel=2e-5, abs=2e-5), name
