"""Negative sampling (Mikolov et al. 2013; notes eqs. 18–22): logistic regression of the positive against the noise.

    L = −log σ(s₀) − Σ_k ω_k log σ(−s_k)
    ∂L/∂s₀ = σ(s₀) − 1        ∂L/∂s_k = ω_k σ(s_k)

With `mean_negatives` the sum over the negatives is divided by the number of those that count (CSS eq. 28).

Unlike in word2vec.c, no update is skipped at large |s|: for hard negatives, those are the informative ones.
"""

import math

import numpy as np

from ...ground.jit import ONE, ZERO, njit
from ...kernels.contracts import implement_step, implement_step_group
from ...kernels.functions import FULL, fast_log
from ..plugs import About, Loss, option
from . import LOSSES
from ._parts import count


@LOSSES.register("ns")
class NegativeSampling(Loss):
    """mean_negatives : bool, average the negatives' terms instead of summing them"""

    mean_negatives: bool = False

    class Options:
        mean_negatives: bool = option(
            False,
            "Average the negatives' terms instead of summing them, as in CSS eq. 28.",
            negative_flag="sum-negatives",
        )

    takes_absolute_logits = False
    takes_positive_weight = False
    rank_alpha = 2.0
    about = About(
        "logistic regression of the positive against the negatives: word2vec's",
        "L = −log σ(s₀) − Σ log σ(−s_k)",
        "Mikolov et al. 2013; notes eqs. 15–22; CSS eq. 28 (mean over the negatives)",
        "one exponential for each negative",
        "fast and stable; its optimum is not that of the likelihood",
    )

    def loss_at_init(self, n_negatives):
        return (1 + (1 if self.mean_negatives else n_negatives)) * math.log(2.0)


@implement_step(NegativeSampling)
def step(loss, centre_row, alpha, rng, logits, exp_logits, log_q, weights, gradients):
    gradients[0] = -ONE / (ONE + exp_logits[0])
    product = 1.0 + 1.0 / np.float64(exp_logits[0])  # −log σ(s₀) = log(1 + e^{−s₀}); one logarithm for many factors
    value = 0.0
    for k in range(1, exp_logits.shape[0]):
        total = ONE + exp_logits[k]
        gradients[k] = weights[k] * exp_logits[k] / total
        if product > FULL:
            value += fast_log(product)
            product = np.float64(1.0)
        if weights[k] != ONE:
            value += np.float64(weights[k]) * fast_log(total)
        else:
            product *= np.float64(total)
    value += fast_log(product)
    if loss.mean_negatives:
        share = ONE / np.float32(max(count(weights), 1))
        for k in range(1, exp_logits.shape[0]):
            gradients[k] *= share
        positive = fast_log(1.0 + 1.0 / np.float64(exp_logits[0]))
        value = positive + (value - positive) * np.float64(share)
    return value


@implement_step_group(NegativeSampling)
def step_group(loss, shared, weighed, m, n, exp_logits, weights, log_q, steps):
    if loss.mean_negatives or weighed:
        return False, 0.0
    (e_positive, e_negative), (positives, negatives) = exp_logits, steps
    draws, times = (n, np.float32(m)) if shared else (m * n, ONE)
    for k in range(m):
        positives[k] = -ONE / (ONE + e_positive[k])
    for k in range(draws):
        negatives[k] = times * (e_negative[k] / (ONE + e_negative[k]))
    return True, _log_product(e_negative, draws, ZERO) * np.float64(times) + _log_product(e_positive, m, ONE)


@njit(borrows=True)
def _log_product(exp_logits, n, inverse):
    """Return Σ log(1 + o_k) over the first n e^s (float64), with 1 / o_k if `inverse` is 1."""
    value, product = 0.0, 1.0
    for k in range(n):
        o = np.float64(exp_logits[k])
        product *= 1.0 + (1.0 / o if inverse > ZERO else o)
        if product > FULL:
            value += fast_log(product)
            product = 1.0
    return value + fast_log(product)
