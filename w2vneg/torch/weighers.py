"""The weights of `w2vneg.objectives.weighers`, in tensors; no gradient goes through them."""

import torch
from torch import nn
from torch.nn.functional import softplus

from ..objectives.weighers.discriminator import Discriminator
from ..objectives.weighers.importance import SelfNormalisedImportance
from ..objectives.weighers.none import Unweighted
from ..objectives.weighers.self_adversarial import SelfAdversarial

WEIGHTS: dict = {}  # class of a weigher -> function (weigher, logits, log_q, counted) -> ω of the negatives, (B, n)


def implement(weigher):
    """Return a decorator that makes a function the body of this class."""

    def enter(function):
        WEIGHTS[weigher] = function
        return function

    return enter


@implement(Unweighted)
def unweighted(weigher, logits, log_q, counted):
    return counted.to(logits.dtype)


@implement(SelfNormalisedImportance)
def importance(weigher, logits, log_q, counted):
    return _shares(-log_q, counted)


@implement(SelfAdversarial)
def self_adversarial(weigher, logits, log_q, counted):
    return _shares(logits * weigher.inverse_temperature, counted)


def _shares(exponents, counted):
    """Return n e^{v_k} / Σ e^{v_l} over the n places that count: (B, n)."""
    some = counted.any(dim=1, keepdim=True)
    exponents = exponents.masked_fill(~counted & some, -torch.inf)
    return torch.softmax(exponents, dim=1) * counted.sum(dim=1, keepdim=True)


class Evidence(nn.Module):
    """The discriminator D(h, j) = (A h) · e_j, trained beside the model.

    A linear map of the hidden state stands where the discriminator of rows has a row of its own for each centre. No
    gradient of its loss reaches the hidden state.
    """

    def __init__(self, n_vocab, dim, weigh_positive):
        super().__init__()
        self.inner = nn.Linear(dim, dim, bias=False)
        self.outer = nn.Embedding(n_vocab, dim)
        nn.init.zeros_(self.outer.weight)
        self.weigh_positive = weigh_positive

    def forward(self, hidden, targets, ids, drawn):
        """Return (ω₀ (B,), ω (B, n), the discriminator's loss (B,)).

        ids : int64, (B, n), or (n,), shared; drawn : bool, the same, False for a place that stays empty
        """
        x = self.inner(hidden.detach())
        positive = (x * self.outer(targets)).sum(dim=1)
        rows = self.outer(ids)
        negative = x @ rows.T if ids.dim() == 1 else torch.bmm(rows, x[:, :, None]).squeeze(2)
        value = softplus(-positive) + (drawn * softplus(negative)).sum(dim=1)
        first = torch.sigmoid(-positive.detach()) if self.weigh_positive else torch.ones_like(positive)
        return first, torch.sigmoid(-negative.detach()), value


def evidence_of(weigher, n_vocab, dim):
    """Return the module that a weigher trains, or None."""
    return Evidence(n_vocab, dim, weigher.weigh_positive) if isinstance(weigher, Discriminator) else None
