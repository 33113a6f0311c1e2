"""Every target once: for small vocabularies the relaxed softmax is then the full softmax.

As many draws as there are targets, always 0 … V − 1. With the positive excluded (``--exclude target``) the normaliser
e^{s₀} + Σ_{j ≠ j₀} e^{s_j} is the softmax's own. For experiments; it has no name in the registry, for real vocabularies
have the loss ``softmax``.
"""

from ...kernels.contracts import implement_draw
from ..plugs import Sampler


class Everything(Sampler):
    """Nothing to hold."""


@implement_draw(Everything)
def draw(sampler, state, group, centre_id, centre, out, rng, n, ids, log_q, logits):
    for k in range(n):
        ids[k] = k
    return False
