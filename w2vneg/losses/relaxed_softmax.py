"""Relaxed softmax (Tanielian and Vasile 2019, eq. 5): a softmax whose normaliser runs over the drawn negatives only.

    L = −s₀ + log Z,    Z = ω₀ e^{s₀} + Σ_k ω_k e^{s_k}
    ∂L/∂s₀ = ω₀ e^{s₀}/Z − 1        ∂L/∂s_k = ω_k e^{s_k}/Z

with ω₀ = 1 unless a weigher says otherwise.

Eq. 5 lists only the negatives in its set V. Without the positive the loss has no lower bound, and eq. 10 of the CIS
paper, by the same authors, includes it; so it is included here. Nothing corrects for how the negatives were drawn:
that is what makes it relaxed.
"""

import math
from typing import NamedTuple

import numpy as np

from ..kernels.contracts import implement_step
from ..kernels.functions import fast_log
from ..registry import About
from . import LOSSES

_ZERO = np.float32(0.0)
_ONE = np.float32(1.0)


@LOSSES.register("relaxed")
class RelaxedSoftmax(NamedTuple):
    """Relaxed softmax; it has no hyper-parameters of its own (`flavour` only keeps the tuple from being empty)."""

    flavour: int = 0

    needs_log_q = False
    about = About(
        summary="softmax over the positive and the drawn negatives, as they come",
        equation="L = −s₀ + log(ω₀ e^{s₀} + Σ ω_k e^{s_k})",
        paper="RS eq. 5; CIS eqs. 8 and 10",
        cost="1 + n dot products, 1 + n e^s and one logarithm",
        use="with hard negatives (boltzmann, selfplay) the best vectors measured here; with uniform ones it "
        "approximates the full softmax",
    )

    @classmethod
    def from_options(cls, options, setting):
        return cls()

    def untrained(self, n_negatives):
        return math.log(1 + n_negatives)


@implement_step(RelaxedSoftmax)
def step(loss, centre_row, alpha, rng, logits, odds, log_q, weights, gradients):
    noise = _ZERO
    for k in range(1, odds.shape[0]):
        noise += weights[k] * odds[k]
    positive = weights[0] * odds[0]
    total = positive + noise
    scale = _ONE / total
    gradients[0] = -noise * scale
    for k in range(1, odds.shape[0]):
        gradients[k] = weights[k] * odds[k] * scale
    return fast_log(np.float64(total) / np.float64(odds[0]))
