"""Plain importance sampling (Bengio and Senécal 2003; Botev, Zheng and Barber 2017, eqs. 10–13).

    L = −s₀ + log Z,    Z = (1/S) Σ_k ω_k e^{s_k} / q_k
    ∂L/∂s₀ = −1        ∂L/∂s_k = ω_k e^{s_k} q_k⁻¹ / Σ_l ω_l e^{s_l} q_l⁻¹

Z is unbiased for draws over all targets, the positive among them; but a set that misses the positive, as most do, has
no term to balance −s₀. The loss has no lower bound and training diverges by nature: it is included to show that.
"""

import numpy as np

from ...ground.registry import About
from ...kernels.contracts import implement_step
from ...kernels.functions import fast_log
from . import LOSSES
from ._parts import OverVocabulary, clipped, count, softmax_step


@LOSSES.register("importance")
class ImportanceSampling(OverVocabulary):
    needs_log_q = True
    takes_positive_weight = False
    unstable = "plain importance sampling diverges by nature: use --loss css or sampled-softmax"
    about = About(
        "softmax whose normaliser is estimated by importance sampling alone; diverges by nature",
        "L = −s₀ + log( (1/S) Σ e^{s_k} / q_k )",
        "Bengio and Senécal 2003; CSS eqs. 10–13",
        "one exponential for each draw",
        "only to see why css and sampled-softmax include the positive",
    )


@implement_step(ImportanceSampling)
def step(loss, centre_row, alpha, rng, logits, exp_logits, log_q, weights, gradients):
    shift = np.float32(fast_log(np.float64(max(count(weights), 1))))
    return softmax_step(loss, rng, clipped(logits[0]), shift, False, logits, log_q, weights, gradients)
