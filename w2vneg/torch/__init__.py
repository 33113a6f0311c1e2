"""Losses and samplers of w2vneg as PyTorch modules, for the hidden states of any model; needs the extra `torch`.

    from w2vneg.torch import SampledLoss

    loss = SampledLoss(counts, dim, loss="css", negatives=100)
    loss(hidden, targets).backward()
    loss.log_prob(hidden)

The plugs are those of `w2vneg.objectives`; each has a second implementation here, in tensors.
"""

from ..ground.errors import require

require("torch", "torch", "w2vneg.torch")

from .sampled import SampledLoss  # noqa: E402

__all__ = ["SampledLoss"]
