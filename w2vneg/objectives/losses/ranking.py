"""Ranking: the positive should lead each negative by a margin (Botev, Zheng and Barber 2017, eqs. 24–27).

    x_k = s_k − s₀ + Δ
    logistic    L = Σ_k ω_k log(1 + e^{x_k})       ∂L/∂s_k = ω_k σ(x_k)        ∂L/∂s₀ = −Σ_k ∂L/∂s_k
    hinge       L = Σ_k ω_k max(0, x_k)            ∂L/∂s_k = ω_k [x_k > 0]     ∂L/∂s₀ = −Σ_k ∂L/∂s_k

With a single negative and Δ = log(V − 1), its default, the logistic loss is complementary sum sampling from uniform
draws; Δ = 0 is Bayesian personalised ranking (Rendle et al. 2009). The hinge loss has Δ = 1 (eq. 24).
"""

import math

import numpy as np

from ...ground.jit import ZERO
from ...kernels.contracts import implement_step
from ..plugs import About, Loss, option
from . import LOSSES
from ._parts import clipped, logistic_many, softplus


class OfLead(Loss, base=True, fields=True):
    """margin : float, Δ"""

    margin: float

    class Options:
        margin: float | None = option(
            None, "Margin between the positive and its negatives.", default_text="ranking: log(V - 1), hinge: 1"
        )

    takes_positive_weight = False


@LOSSES.register("ranking")
class Ranking(OfLead):
    about = About(
        "logistic loss on the lead of the positive over each negative; margin 0 is BPR",
        "L = −Σ log σ(s₀ − s_k − Δ),  Δ = log(V − 1)",
        "CSS eqs. 25–27; margin 0: Rendle et al. 2009",
        "one exponential for each negative",
        "when only the order matters, as in recommendations; Δ = 0 with dns or popularity draws",
    )

    @classmethod
    def from_options(cls, options, context):
        margin = options.margin
        return cls(math.log(max(len(context.counts) - 1, 1)) if margin is None else float(margin))

    def loss_at_init(self, n_negatives):
        return n_negatives * softplus(self.margin)


@LOSSES.register("hinge")
class Hinge(OfLead):
    about = About(
        "hinge loss on the lead of the positive over each negative",
        "L = Σ max(0, Δ − s₀ + s_k),  Δ = 1",
        "CSS eq. 24 (Collobert and Weston 2008)",
        "one comparison for each negative",
        "ranking that ignores pairs already in order; learns only from violations",
    )

    @classmethod
    def from_options(cls, options, context):
        return cls(1.0 if options.margin is None else float(options.margin))

    def loss_at_init(self, n_negatives):
        return n_negatives * max(0.0, self.margin)


@implement_step(Ranking)
def step(loss, centre_row, alpha, rng, logits, exp_logits, log_q, weights, gradients):
    lead = clipped(logits[0]) - np.float32(loss.margin)
    for k in range(1, gradients.shape[0]):
        gradients[k] = clipped(logits[k]) - lead
    value = logistic_many(weights, gradients)
    total = ZERO
    for k in range(1, gradients.shape[0]):
        total += gradients[k]
    gradients[0] = -total
    return value


@implement_step(Hinge)
def step_hinge(loss, centre_row, alpha, rng, logits, exp_logits, log_q, weights, gradients):
    lead = clipped(logits[0]) - np.float32(loss.margin)
    total, value = ZERO, 0.0
    for k in range(1, gradients.shape[0]):
        short, weight = clipped(logits[k]) - lead, weights[k]
        behind = short > ZERO and weight > ZERO
        gradients[k] = weight if behind else ZERO
        value += np.float64(weight) * np.float64(short) if behind else 0.0
        total += gradients[k]
    gradients[0] = -total
    return value
