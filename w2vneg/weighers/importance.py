"""Self-normalised importance weights: draws from Q count as if they had come from the uniform distribution.

    ω_k = n q_k⁻¹ / Σ_l q_l⁻¹,    so that the weights of a set of n negatives sum to n

With the relaxed softmax Σ ω_k e^{s_k} then estimates n / V times the sum over the whole vocabulary, whatever the
sampler (Bengio and Senécal 2003): the loss of n uniform draws, with the variance of better ones. Needs a sampler that
gives log q.
"""

from typing import NamedTuple

import numpy as np

from ..kernels.contracts import implement_weigh
from ..kernels.functions import fast_exp
from ..registry import About
from . import WEIGHERS

_ZERO = np.float32(0.0)


@WEIGHERS.register("importance")
class SelfNormalisedImportance(NamedTuple):
    """Nothing to hold (`flavour` only keeps the tuple from being empty)."""

    flavour: int = 0

    needs_log_q = True
    about = About(
        summary="self-normalised importance weights: draws count as if they had come from the uniform distribution",
        equation="ω_k = n q_k⁻¹ / Σ q_l⁻¹",
        paper="Bengio and Senécal 2003",
        cost="one e^x for each negative",
        use="with the relaxed softmax and a sampler other than uniform, to aim at the full softmax again",
    )

    @classmethod
    def from_options(cls, options, setting):
        return cls()


@implement_weigh(SelfNormalisedImportance)
def weigh(weigher, state, k, offset, ids, logits, odds, log_q, weights):
    n = log_q.shape[0]
    lowest = log_q[1]
    for k in range(2, n):
        lowest = min(lowest, log_q[k])
    total = _ZERO
    for k in range(1, n):
        weights[k] = fast_exp(lowest - log_q[k])
        total += weights[k]
    scale = np.float32(n - 1) / total
    for k in range(1, n):
        weights[k] *= scale
