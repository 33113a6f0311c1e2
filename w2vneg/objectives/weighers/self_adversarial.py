"""Self-adversarial weights (Sun, Deng, Nie and Tang 2019, "RotatE", eqs. 5 and 6): the harder, the heavier.

    ω_k = n e^{s_k / T} / Σ_l e^{s_l / T}

over the n negatives of a positive that count, with no gradient through the weights. T → 0 leaves only the hardest
negative, T → ∞ makes all weights 1. The paper's weights sum to 1 (as in the loss `ns` with `mean_negatives`), ours to
n, so that the same learning rates apply. The paper's α is 1 / T.
"""

import numpy as np

from ...ground.jit import ONE
from ...kernels.contracts import implement_weigh
from ..plugs import About, Weigher, option
from . import WEIGHERS
from .importance import share_out


@WEIGHERS.register("self-adversarial")
class SelfAdversarial(Weigher):
    """inverse_temperature : float, 1 / T"""

    inverse_temperature: float

    class Options:
        adversarial_temp: float = option(
            1.0, "Temperature T of the weights, softmax(s / T) over the negatives of a positive.", above=0
        )

    about = About(
        summary="weights in proportion to e^{s / T}: hard negatives from easy draws",
        equation="ω_k = n e^{s_k / T} / Σ e^{s_l / T}",
        paper="Sun et al. 2019 (RotatE), eqs. 5–6, there without the factor n",
        cost="n exponentials",
        use="for hard negatives from a cheap sampler, with a loss that sums over them (ns)",
    )

    @classmethod
    def from_options(cls, options, context):
        return cls(min(1.0 / options.adversarial_temp, 1e30))


@implement_weigh(SelfAdversarial)
def weigh(weigher, state, k, offset, ids, logits, exp_logits, log_q, weights):
    share_out(logits, ONE, np.float32(weigher.inverse_temperature), weights)
