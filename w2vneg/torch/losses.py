"""The equations of `w2vneg.objectives`' losses and weighers in tensors; autograd computes the gradients.

Each function implements the class of a plug, whose file has the equation. Logits are not clipped to ±80 here, since
none is exponentiated alone. No gradient flows through weights.
"""

import math
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.nn.functional import relu, softplus

from ..objectives.losses.blackout import BlackOut
from ..objectives.losses.complementary_sum import ComplementaryBernoulli, ComplementarySum
from ..objectives.losses.importance_sampling import ImportanceSampling
from ..objectives.losses.negative_sampling import NegativeSampling
from ..objectives.losses.noise_contrastive import LearnedNormaliser, NoiseContrastive
from ..objectives.losses.ranking import Hinge, Ranking
from ..objectives.losses.relaxed_softmax import RelaxedSoftmax
from ..objectives.losses.sampled_softmax import LargeVocabulary, SampledSoftmax
from ..objectives.weighers.importance import SelfNormalisedImportance
from ..objectives.weighers.none import Unweighted
from ..objectives.weighers.self_adversarial import SelfAdversarial

_RAREST = -1e4  # as in losses._parts
_LEAST_REST = 1e-6  # as in losses.complementary_sum

VALUES: dict = {}  # class of a loss -> function (loss, Scores) -> tensor (B,), L of each of B examples
WEIGHTS: dict = {}  # class of a weigher -> function (weigher, logits, log_q, counted) -> ω of the negatives, (B, n)


class Scores(NamedTuple):
    """Logits of B examples, the positive's, (B,), and those of n negatives, (B, n), with their weights and log q.

    weights : (B, n), ω, 0 for negatives that do not count; positive_weight : (B,), ω₀
    log_q_positive, log_q : (B,) and (B, n), or None if not needed
    generator : torch.Generator or None, for random choices
    """

    positive: torch.Tensor
    negative: torch.Tensor
    weights: torch.Tensor
    positive_weight: torch.Tensor
    log_q_positive: Any = None
    log_q: Any = None
    generator: torch.Generator | None = None

    @property
    def counted(self):
        """How many negatives count, at least 1: (B,)."""
        return (self.weights > 0).sum(dim=1).clamp(min=1)

    @property
    def drawn(self):
        """How many targets independent draws entered, excluded ones included, at least 1: (B,)."""
        return torch.isfinite(self.log_q).sum(dim=1).clamp(min=1)

    def corrected(self, n=None):
        """s_k − log(n q_k), with n (B,) of them, or as many as count: (B, n)."""
        n = self.counted if n is None else n
        return self.negative - self.log_q.clamp(min=_RAREST) - n.log()[:, None]

    def positive_corrected(self, n=None):
        """The same of s₀: (B,)."""
        n = self.counted if n is None else n
        return self.positive - self.log_q_positive.clamp(min=_RAREST) - n.log()


def implement(bodies, *plugs):
    """Return a decorator that registers a function or module as the implementation of these classes."""

    def enter(body):
        bodies.update(dict.fromkeys(plugs, body))
        return body

    return enter


def logits_of(hidden, rows, ids, bias=None, absolute=False):
    """Return the logits of ids, (B, k) or shared (k,), whose rows are given: (B, k), in the rows' dtype."""
    scores = hidden @ rows.T if ids.dim() == 1 else torch.bmm(rows, hidden[:, :, None]).squeeze(2)
    scores = scores.to(rows.dtype)  # autocast multiplies in lower precision
    scores = scores if bias is None else scores + bias[ids]
    return scores.abs() if absolute else scores


def penalised(loss, log_z, generator):
    """Return λ (log Z)² for the share of the examples that is penalised, 0 for the others: (B,)."""
    if loss.penalty == 0:
        return torch.zeros_like(log_z)
    if loss.fraction < 1:
        chosen = torch.rand(log_z.shape, generator=generator, device=log_z.device) < loss.fraction
        return loss.penalty * chosen * log_z**2
    return loss.penalty * log_z**2


def _softmax(loss, scores, first, terms, positive_in=True):
    """L = −first + log Z + λ (log Z)² with Z = ω₀ e^first + Σ ω_k e^{term}; 0 where no term counts."""
    terms = terms + scores.weights.log()
    if positive_in:
        terms = torch.cat([(first + scores.positive_weight.log())[:, None], terms], dim=1)
    none = torch.isneginf(terms).all(dim=1)
    log_z = terms.masked_fill(none[:, None], 0).logsumexp(dim=1)
    return (log_z - first + penalised(loss, log_z, scores.generator)).masked_fill(none, 0)


@implement(VALUES, RelaxedSoftmax)
def relaxed(loss, scores):
    return _softmax(loss, scores, scores.positive, scores.negative, loss.positive_in)


@implement(VALUES, SampledSoftmax)
def sampled_softmax(loss, scores):
    return _softmax(loss, scores, scores.positive, scores.corrected())


@implement(VALUES, LargeVocabulary)
def large_vocabulary(loss, scores):
    return _softmax(loss, scores, scores.positive_corrected(), scores.corrected())


@implement(VALUES, ComplementarySum)
def complementary_sum(loss, scores):
    rest = (-torch.expm1(scores.log_q_positive)).clamp(min=_LEAST_REST)
    return _softmax(loss, scores, scores.positive, scores.corrected() + rest.log()[:, None])


@implement(VALUES, ComplementaryBernoulli)
def complementary_bernoulli(loss, scores):
    """q is b over the number of draws, including those of the positive."""
    return _softmax(loss, scores, scores.positive, scores.corrected(scores.drawn))


@implement(VALUES, ImportanceSampling)
def importance_sampling(loss, scores):
    return _softmax(loss, scores, scores.positive, scores.corrected(), positive_in=False)


@implement(VALUES, NegativeSampling)
def negative_sampling(loss, scores):
    noise = (scores.weights * softplus(scores.negative)).sum(dim=1)
    return softplus(-scores.positive) + (noise / scores.counted if loss.mean_negatives else noise)


@implement(VALUES, NoiseContrastive, LearnedNormaliser)
def noise_contrastive(loss, scores):
    n = scores.drawn if loss.independent else scores.counted
    positive, negative = scores.positive_corrected(n) - loss.log_z, scores.corrected(n) - loss.log_z
    value = softplus(-positive) + (scores.weights * softplus(negative)).sum(dim=1)
    return value if loss.independent else value.masked_fill(~(scores.weights > 0).any(dim=1), 0)


@implement(VALUES, Ranking)
def ranking(loss, scores):
    behind = scores.negative - scores.positive[:, None] + loss.margin
    return (scores.weights * softplus(behind)).sum(dim=1)


@implement(VALUES, Hinge)
def hinge(loss, scores):
    behind = scores.negative - scores.positive[:, None] + loss.margin
    return (scores.weights * relu(behind)).sum(dim=1)


@implement(VALUES, BlackOut)
def blackout(loss, scores):
    """For the largest p, 1 − p is the sum of the others, so that nothing is lost to rounding."""
    weights = torch.cat([scores.positive_weight[:, None], scores.weights], dim=1)
    terms = torch.cat([scores.positive_corrected()[:, None], scores.corrected()], dim=1) + weights.log()
    none = ~(scores.weights > 0).any(dim=1)
    log_z = terms.logsumexp(dim=1)
    top = torch.zeros_like(terms, dtype=torch.bool).scatter(1, terms.argmax(dim=1, keepdim=True), True)
    rest = terms.masked_fill(top, -math.inf).masked_fill(none[:, None], 0).logsumexp(dim=1) - log_z
    shares = (terms - log_z[:, None]).masked_fill(top, -math.inf).exp()
    log_rests = torch.where(top, rest[:, None], torch.log1p(-shares))
    value = log_z - terms[:, 0] - torch.where(weights > 0, log_rests, 0)[:, 1:].sum(dim=1)
    return value.masked_fill(none, 0)


@implement(WEIGHTS, Unweighted)
def unweighted(weigher, logits, log_q, counted):
    return counted.to(logits.dtype)


@implement(WEIGHTS, SelfNormalisedImportance)
def importance(weigher, logits, log_q, counted):
    return _shares(-log_q, counted)


@implement(WEIGHTS, SelfAdversarial)
def self_adversarial(weigher, logits, log_q, counted):
    return _shares(logits * weigher.inverse_temperature, counted)


def _shares(exponents, counted):
    """Return n e^{v_k} / Σ e^{v_l} over the n negatives that count: (B, n)."""
    nobody = ~counted.any(dim=1, keepdim=True)
    exponents = exponents.masked_fill(~counted, -torch.inf).masked_fill(nobody, 0)
    return torch.softmax(exponents, dim=1) * counted.sum(dim=1, keepdim=True)


class Evidence(nn.Module):
    """The discriminator D(h, j) = (A h) · e_j, trained alongside the model.

    A linear map of the hidden state replaces the row that the discriminator weigher has for each centre. No gradient of
    its loss reaches the hidden state.
    """

    def __init__(self, n_vocab, dim, weigh_positive):
        super().__init__()
        self.inner = nn.Linear(dim, dim, bias=False)
        self.outer = nn.Embedding(n_vocab, dim)
        nn.init.zeros_(self.outer.weight)
        self.weigh_positive = weigh_positive

    def forward(self, hidden, targets, ids, drawn):
        """Return (ω₀ (B,), ω (B, n), the discriminator's loss (B,)).

        ids : int64, (B, n), or (n,), shared; drawn : bool, in the same shape, False for an empty place
        """
        x = self.inner(hidden.detach())
        positive = (x * self.outer(targets)).sum(dim=1)
        negative = logits_of(x, self.outer(ids), ids)
        value = softplus(-positive) + (drawn * softplus(negative)).sum(dim=1)
        first = torch.sigmoid(-positive.detach()) if self.weigh_positive else torch.ones_like(positive)
        return first, torch.sigmoid(-negative.detach()), value
