"""Self-normalised importance weights: draws from Q count as if they had come from the uniform distribution.

    ω_k = n q_k⁻¹ / Σ_l q_l⁻¹,    so that the weights of the n negatives that count sum to n

With the relaxed softmax Σ ω_k e^{s_k} then estimates n / V times the sum over the whole vocabulary, whatever the
sampler (Bengio and Senécal 2003): the loss of n uniform draws, with the variance of better ones.
"""

import numpy as np

from ...ground.jit import ONE, ZERO, njit
from ...kernels.contracts import implement_weigh
from ...kernels.functions import fast_exp
from ..plugs import About, Weigher
from . import WEIGHERS

_LOWEST = np.float32(-np.inf)


@WEIGHERS.register("importance")
class SelfNormalisedImportance(Weigher):
    needs_log_q = True
    about = About(
        summary="self-normalised importance weights: draws count as if they had come from the uniform distribution",
        equation="ω_k = n q_k⁻¹ / Σ q_l⁻¹",
        paper="Bengio and Senécal 2003",
        cost="one e^x for each negative",
        use="with the relaxed softmax and a sampler other than uniform, to aim at the full softmax again",
    )


@njit(borrows=True)
def share_out(values, sign, beta, weights):
    """Set the weights of the n negatives that count to n e^{±v β} / Σ e^{±v β}; sign : float32, ±1."""
    top, counted, total = _LOWEST, ZERO, ZERO
    for j in range(1, weights.shape[0]):
        if weights[j] > ZERO:
            counted += ONE
            top = max(top, sign * values[j])
    for j in range(1, weights.shape[0]):
        if weights[j] > ZERO:
            weights[j] = fast_exp((sign * values[j] - top) * beta)
            total += weights[j]
    scale = counted / total if total > ZERO else ZERO
    for j in range(1, weights.shape[0]):
        weights[j] *= scale


@implement_weigh(SelfNormalisedImportance)
def weigh(weigher, state, k, offset, ids, logits, exp_logits, log_q, weights):
    share_out(log_q, -ONE, ONE, weights)
