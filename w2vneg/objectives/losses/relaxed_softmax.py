"""Relaxed softmax (Tanielian and Vasile 2019, eq. 5): a softmax whose normaliser runs over the drawn negatives only.

    L = −s₀ + log Z,    Z = ω₀ e^{s₀} + Σ_k ω_k e^{s_k}
    ∂L/∂s₀ = ω₀ e^{s₀}/Z − 1        ∂L/∂s_k = ω_k e^{s_k}/Z

with ω₀ = 1 unless a weigher sets it. Eq. 5 lists only the negatives in its set V. Without the positive, the loss has no
lower bound, and eq. 10 of the CIS paper, by the same authors, includes it; so it is included here. If
`positive_in_normaliser` is off, the first term of Z is left out and ∂L/∂s₀ = −1. Nothing corrects for how the
negatives were drawn: that is what makes it relaxed.
"""

import math

import numpy as np

from ...ground.jit import LEAF, ONE, ZERO, njit
from ...kernels.contracts import implement_step, implement_step_group
from ...kernels.functions import FULL, fast_log
from ..plugs import About, Loss, option
from . import LOSSES
from ._parts import PenaltyOptions, clear, parse_penalty, penalty_at, penalty_now


@LOSSES.register("relaxed")
class RelaxedSoftmax(Loss):
    """positive_in : bool, Z includes the positive; penalty, fraction : float, of self-normalisation"""

    positive_in: bool = True
    penalty: float = 0.0
    fraction: float = 1.0

    class Options(PenaltyOptions):
        positive_in_normaliser: bool = option(
            True, "Include the positive in the normaliser. Without it, as in RS eq. 5, the loss is unbounded below."
        )

    about = About(
        "softmax over the positive and its negatives, regardless of how these were drawn",
        "L = −s₀ + log( e^{s₀} + Σ ω_k e^{s_k} )",
        "RS eq. 5; CIS eqs. 7–10 with the discriminator's weights",
        "no exponential of its own",
        "with hard negatives (boltzmann): the best vectors for the time spent",
    )

    @classmethod
    def from_options(cls, options, context):
        return cls(options.positive_in_normaliser is not False, *parse_penalty(options.self_normalise))

    def loss_at_init(self, n_negatives):
        log_z = math.log(n_negatives + self.positive_in)
        return log_z + penalty_at(self, log_z)


@implement_step(RelaxedSoftmax)
def step(loss, centre_row, alpha, rng, logits, exp_logits, log_q, weights, gradients):
    noise = ZERO
    for k in range(1, exp_logits.shape[0]):
        noise += weights[k] * exp_logits[k]
    positive = weights[0] * exp_logits[0] if loss.positive_in else ZERO
    total = positive + noise
    if total == ZERO:
        clear(gradients)
        return 0.0
    scale = ONE / total
    gradients[0] = -noise * scale if loss.positive_in else -ONE
    strength = penalty_now(loss, rng)
    penalty = 0.0
    if strength > 0.0:
        log_z = fast_log(np.float64(total))
        penalty = strength * log_z * log_z
        pull = np.float32(2.0 * strength * log_z)
        gradients[0] += pull * positive * scale
        scale += pull * scale
    for k in range(1, exp_logits.shape[0]):
        gradients[k] = weights[k] * exp_logits[k] * scale
    return fast_log(np.float64(total) / np.float64(exp_logits[0])) + penalty


@implement_step_group(RelaxedSoftmax)
def step_group(loss, shared, weighed, m, n, exp_logits, weights, log_q, steps):
    if loss.penalty > 0.0 or not loss.positive_in:
        return False, 0.0
    (e_positive, e_negative), (w_positive, w_negative), (positives, negatives) = exp_logits, weights, steps
    value, ratio = 0.0, 1.0  # one logarithm for many quotients Z / e^{s₀}
    noise = _weighed_sum(e_negative, w_negative, 0, n, weighed)
    shares = ZERO
    for k in range(m):
        if k > 0 and not shared:
            noise = _weighed_sum(e_negative, w_negative, k * n, n, weighed)
        positive = e_positive[k] * w_positive[k] if weighed else e_positive[k]
        total = positive + noise
        scale = ONE / total if total != ZERO else ZERO
        positives[k] = -noise * scale
        shares += scale
        if not shared:
            for j in range(n):
                o = e_negative[k * n + j]
                negatives[k * n + j] = scale * (o * w_negative[k * n + j] if weighed else o)
        if total != ZERO:
            ratio *= (np.float64(positive) + np.float64(noise)) / np.float64(e_positive[k])
            if not 1 / FULL < ratio < FULL:
                value += fast_log(ratio)
                ratio = 1.0
    if shared:
        for j in range(n):
            negatives[j] = shares * (e_negative[j] * w_negative[j] if weighed else e_negative[j])
    return True, value + fast_log(ratio)


@njit(fastmath=LEAF, borrows=True)
def _weighed_sum(exp_logits, weights, first, n, weighed):
    """Return Σ ω e^s of n negatives from the `first` on."""
    total = ZERO
    for j in range(n):
        total += exp_logits[first + j] * weights[first + j] if weighed else exp_logits[first + j]
    return total
