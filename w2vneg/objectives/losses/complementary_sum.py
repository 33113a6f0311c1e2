"""Complementary sum sampling (Botev, Zheng and Barber 2017, eqs. 16–22): the positive summed, the rest estimated.

    L = −s₀ + log Z̃,    Z̃ = ω₀ e^{s₀} + Σ_k ω_k κ_k e^{s_k}
    ∂L/∂s₀ = ω₀ e^{s₀}/Z̃ − 1        ∂L/∂s_k = ω_k κ_k e^{s_k}/Z̃

S draws with replacement, none of them the positive: κ_k = 1 / (S q'_k), q' = q / (1 − q₀), the law of draws from q
without those that hit the positive. Independent draws (Bernoulli, each target once or not at all):
κ_k = 1 / b_k. Either way E[Z̃] = Z, the full softmax's normaliser, and every gradient lies in [−1, 1]: that
makes it stable, unlike plain importance sampling. With draws in proportion to e^{s}, Z̃ is Z itself for any S.

Eqs. 10 and 18 print u where log u is meant; the estimate of log Z is biased (footnote 3), that of Z is not.

Draws of the positive must be excluded. ``--exclude window`` or ``known`` exclude more, which makes κ slightly too
large. A sampler whose log q is an estimate may give q₀ above 1; 1 − q₀ is taken as at least 1e-6.
"""

import math

import numpy as np

from ...ground.registry import About
from ...kernels.contracts import implement_step, implement_step_group
from ...kernels.functions import fast_log
from . import LOSSES
from ._parts import OverVocabulary, clipped, count, count_drawn, parse_penalty, softmax_group, softmax_step

_LEAST_REST = 1e-6


@LOSSES.register("css")
class ComplementarySum(OverVocabulary):
    needs_log_q = True
    needs_exclusion = True
    needs_positive_log_q = True
    about = About(
        "softmax whose normaliser is the positive's own term plus an unbiased estimate of all others",
        "L = −s₀ + log( e^{s₀} + Σ κ_k e^{s_k} ), κ = (1 − q₀) / (S q_k), or 1 / b_k with Bernoulli draws",
        "CSS eqs. 16–22",
        "one exponential for each draw, log q of the positive",
        "to approach the full softmax with bounded gradients; needs --exclude target; biased with few draws: see next",
    )

    @classmethod
    def from_options(cls, options, context):
        independent = context.sampler is not None and context.sampler.independent
        made = ComplementaryBernoulli if independent else cls
        return made(len(context.counts), *parse_penalty(options.self_normalise))


class ComplementaryBernoulli(OverVocabulary):
    needs_log_q = True
    needs_exclusion = True
    about = ComplementarySum.about


@implement_step(ComplementarySum)
def step(loss, centre_row, alpha, rng, logits, exp_logits, log_q, weights, gradients):
    rest = max(-math.expm1(np.float64(log_q[0])), _LEAST_REST)
    shift = np.float32(fast_log(max(count(weights), 1) / rest))
    return softmax_step(loss, rng, clipped(logits[0]), shift, True, logits, log_q, weights, gradients)


@implement_step_group(ComplementarySum)
def step_group(loss, shared, weighed, m, n, exp_logits, weights, log_q, steps):
    for k in range(m):
        steps[0][k] = max(-math.expm1(np.float64(log_q[0][k])), _LEAST_REST) / n
    return softmax_group(loss, shared, weighed, m, n, exp_logits, log_q[1], steps)


@implement_step(ComplementaryBernoulli)
def step_independent(loss, centre_row, alpha, rng, logits, exp_logits, log_q, weights, gradients):
    shift = np.float32(fast_log(np.float64(max(count_drawn(log_q), 1))))
    return softmax_step(loss, rng, clipped(logits[0]), shift, True, logits, log_q, weights, gradients)
