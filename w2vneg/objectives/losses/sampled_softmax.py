"""Sampled softmax (Blanc and Rendle 2018, eqs. 2–5) and softmax over a sampled vocabulary (CSS §6.2).

Sampled softmax corrects each negative's logit by its expected count among the n draws, but not the positive's:

    o₀ = s₀        o_k = s_k − log(n q_k)
    L = −o₀ + log Z,    Z = ω₀ e^{o₀} + Σ_k ω_k e^{o_k}
    ∂L/∂s₀ = ω₀ e^{o₀}/Z − 1        ∂L/∂s_k = ω_k e^{o_k}/Z

Eq. 2 is about negative classes. If draws from q are never the positive, Theorem 2.1 says that the gradient is an
unbiased estimate of the full softmax's if q is the softmax itself. If the positive is excluded, the remaining draws
follow q / (1 − q₀), and this loss is exactly complementary sum sampling, which then runs in its place. Without
exclusion, the positive's term may enter Z twice, and the estimate is biased for every q and number of draws.

With `correct_positive`, the positive's logit becomes s₀ − log(n q₀) as well, as in TensorFlow. log n then cancels in L:
this is the softmax over positive and negatives on s − log q of Jean et al. (2015), the CSS paper's "IS Large Vocab",
registered as `large-vocab`. In the penalty of self-normalisation, log Z keeps the correction by log n.
"""

import math

import numpy as np

from ...ground.jit import ONE
from ...ground.option import option
from ...ground.registry import About
from ...kernels.contracts import implement_step, implement_step_group
from ...kernels.functions import fast_exp, fast_log
from . import LOSSES
from ._parts import (
    LIMIT,
    OverVocabulary,
    PenaltyOptions,
    clipped,
    corrected,
    count,
    penalty_at,
    softmax_group,
    softmax_step,
)
from .complementary_sum import ComplementarySum


@LOSSES.register("sampled-softmax")
class SampledSoftmax(OverVocabulary):
    class Options(PenaltyOptions):
        correct_positive: bool = option(False, "Correct the positive's logit by its log q, too.")

    needs_log_q = True
    about = About(
        "softmax over the positive and the negatives, each negative's logit less log(n q)",
        "L = −s₀ + log( e^{s₀} + Σ e^{s_k} / (n q_k) )",
        "kernel eqs. 2–5 (with the positive excluded: the same as css)",
        "one exponential for each draw",
        "to approach the full softmax, with --exclude target; biased with few draws far from the softmax: see next",
    )

    @classmethod
    def from_options(cls, options, context):
        if options.correct_positive:
            return LargeVocabulary.from_options(options, context)
        if context.run.exclude not in (None, "none"):
            return ComplementarySum.from_options(options, context)
        return super().from_options(options, context)

    def loss_at_init(self, n_negatives):
        """Return the value for uniform draws; for others, the log of the expected normaliser."""
        log_z = math.log(1 + self.n_vocab)
        return log_z + penalty_at(self, log_z)


@LOSSES.register("large-vocab")
class LargeVocabulary(OverVocabulary):
    needs_log_q = True
    needs_positive_log_q = True
    about = About(
        "softmax over the positive and the negatives on s − log q",
        "L = −s₀ + log q₀ + log( e^{s₀} / q₀ + Σ e^{s_k} / q_k )",
        "CSS §6.2, 'IS Large Vocab' (Jean et al. 2015)",
        "one exponential for each draw, log q of the positive",
        "as the papers' baseline; the positive's correction keeps frequent words from being favoured",
    )

    def loss_at_init(self, n_negatives):
        log_z = math.log((1 + n_negatives) * self.n_vocab / n_negatives)
        return math.log(1 + n_negatives) + penalty_at(self, log_z)


@implement_step(SampledSoftmax)
def step(loss, centre_row, alpha, rng, logits, exp_logits, log_q, weights, gradients):
    shift = np.float32(fast_log(np.float64(max(count(weights), 1))))
    return softmax_step(loss, rng, clipped(logits[0]), shift, True, logits, log_q, weights, gradients)


@implement_step(LargeVocabulary)
def step_corrected(loss, centre_row, alpha, rng, logits, exp_logits, log_q, weights, gradients):
    shift = np.float32(fast_log(np.float64(max(count(weights), 1))))
    first = corrected(logits[0], log_q[0]) - shift
    return softmax_step(loss, rng, first, shift, True, logits, log_q, weights, gradients)


@implement_step_group(SampledSoftmax)
def step_group(loss, shared, weighed, m, n, exp_logits, weights, log_q, steps):
    for k in range(m):
        steps[0][k] = ONE / n
    return softmax_group(loss, shared, weighed, m, n, exp_logits, log_q[1], steps)


@implement_step_group(LargeVocabulary)
def step_group_corrected(loss, shared, weighed, m, n, exp_logits, weights, log_q, steps):
    for k in range(m):
        if log_q[0][k] < -LIMIT:
            return False, 0.0
        steps[0][k] = fast_exp(log_q[0][k])  # both terms of Z times n q₀: L is the same
    return softmax_group(loss, shared, weighed, m, n, exp_logits, log_q[1], steps)
