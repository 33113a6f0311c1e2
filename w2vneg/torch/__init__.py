"""Losses and samplers of w2vneg as PyTorch modules, over the hidden states of any model; the extra `torch`.

    from w2vneg.torch import SampledLoss

    loss = SampledLoss(counts, dim, loss="css", negatives=100)
    loss(hidden, targets).backward()
    loss.log_prob(hidden)

The plugs are the same as everywhere: name, options, defaults and what is refused come from `w2vneg.objectives.losses`,
`w2vneg.objectives.samplers` and `w2vneg.objectives.weighers`. Here is a second body for each of them, in tensors.
"""

from ..ground.errors import require

require("torch", "torch", "w2vneg.torch")

from .sampled import SampledLoss  # noqa: E402

__all__ = ["SampledLoss"]
