"""`SampledLoss`: an objective of w2vneg as the last layer of a PyTorch model."""

from functools import partial
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import nn
from torch.nn.functional import embedding, log_softmax

from ..config import TrainConfig
from ..config.compatibility import check_plugs
from ..config.table import table
from ..ground.errors import ConfigError, check_whole, did_you_mean
from ..ground.registry import RunContext
from ..objectives.law import law_of
from ..objectives.losses import LOSSES
from ..objectives.losses.softmax import Softmax
from ..objectives.weighers.discriminator import Discriminator
from ..vectors.evaluation.scores import share_of
from .losses import VALUES, WEIGHTS, Evidence, Scores, logits_of, penalised
from .samplers import MODULES, View

_OWN = ("sampler", "weigher", "absolute_softmax", "negatives", "exclude")
_EXCLUSIONS = ("none", "target")
_REDUCTIONS = ("mean", "sum", "none")
_ELSEWHERE = {  # option without effect here -> reason
    "batch": "the batch is that of the hidden states",
    "visits": "each batch has its own draws, so method pool is exact",
    "tree": "all classes are scored by a matrix product",
    "discriminator_alpha": "give loss.evidence.parameters() a group of their own in the optimiser",
    "discriminator_steps": "the discriminator learns at every call",
}


class SampledLoss(nn.Module):
    """Negative log-likelihood of targets given hidden states, or an objective in its place.

    counts : array_like of int, (n_vocab,), how often each target occurs; falling, for the sampler log-uniform
    output : int, size of the hidden states, to create an output layer, with `bias` if set; or a module with a `weight`
        (n_vocab, dim) and optionally a `bias` (n_vocab,), such as the model's own
    loss : str, optional, loss or preset, as ``w2vneg objectives`` lists them; presets fill in the rest
    neighbours : scipy.sparse matrix, (n_contexts, n_vocab), for the sampler bigram: how often each target follows
        a context, or weights, none below 0
    shared : bool, one set of negatives for a whole batch, for samplers that ignore the context
    spare : int, extra draws to replace those that hit the positive: the first `negatives` others count
    reduction : str, mean, sum or none: values in the shape of the targets, 0 for ignored ones
    **options : of the objective, named as in `TrainConfig`: sampler, weigher, negatives, exclude, temp, …

    ConfigError for a name or value that is unknown or has no effect here.
    """

    def __init__(
        self, counts, output, loss=None, *, bias=False, neighbours=None, shared=False, spare=0, reduction="mean",
        **options,
    ):  # fmt: skip
        super().__init__()
        counts = np.asarray(counts.cpu() if isinstance(counts, torch.Tensor) else counts)
        if counts.ndim != 1 or len(counts) < 2 or not np.all(counts >= 0) or counts.sum() <= 0:
            raise ConfigError("counts must say how often each of at least two targets occurs: none below 0, not all 0")
        if reduction not in _REDUCTIONS:
            raise ConfigError(f"unknown reduction {reduction!r}{did_you_mean(reduction, _REDUCTIONS)}")
        check_whole("spare", spare, 0)
        self.config = _resolved(loss, options)
        _refuse_unread(self.config, neighbours, shared, spare)
        self.shared, self.spare, self.reduction = shared, spare, reduction
        self.output = _output(output, len(counts), bias)
        dim = self.output.weight.shape[1]
        draws = (self.config.negatives or 1) + spare
        found = None if neighbours is None else partial(_in_order, neighbours, len(counts))
        context = RunContext(counts, dim=dim, max_draws=draws, neighbours=found, n_centres=1)  # centres have no ids
        self._plug = self.config.make("loss", context)
        self.sampler: Any = None
        self.evidence = self._weigher = None
        if not isinstance(self._plug, Softmax):
            if type(self._plug) not in VALUES:
                known = ", ".join(name for name in LOSSES if LOSSES[name] in {*VALUES, Softmax})
                raise ConfigError(f"loss {self.config.loss.name!r} is not available in w2vneg.torch; use {known}")
            self._make_plugs(context)
        for name in self._plug.parameters:
            self.register_parameter(name, nn.Parameter(torch.tensor(float(getattr(self._plug, name).flat[0]))))
        self._counts = counts

    def _make_plugs(self, context):
        config, n_vocab = self.config, len(context.counts)
        sampler, name = config.make("sampler", context), config.sampler.name
        self._weigher = config.make("weigher", context)
        check_plugs(config, self._plug, self._weigher, sampler)
        if type(sampler) not in MODULES:
            raise ConfigError(f"sampler {name!r} is not available in w2vneg.torch; use popularity or boltzmann")
        self.sampler = MODULES[type(sampler)](sampler, n_vocab)
        if self.spare and sampler.independent:
            raise ConfigError(f"sampler {name!r} draws each target independently; leave spare out")
        if self.shared and not self.sampler.shareable:
            raise ConfigError(f"sampler {name!r} draws for one context; leave shared out, or use sampler='popularity'")
        if isinstance(self._weigher, Discriminator):
            self.evidence = Evidence(n_vocab, context.dim, self._weigher.weigh_positive)
        elif type(self._weigher) not in WEIGHTS:
            raise ConfigError(f"weigher {config.weigher.name!r} is not available in w2vneg.torch; leave it out")

    def extra_repr(self):
        options = self.config.as_dict()
        text = "{preset}, sampler={sampler}, weigher={weigher}, n={negatives}".format_map(options)
        return text + (", shared" if self.shared else "")

    def forward(self, hidden, targets, context=None, *, generator=None):
        """Return the loss, 0 for a batch without targets.

        hidden : float, (..., dim); targets : int64, (...), those below 0 are ignored
        context : int64, (...), optional, the preceding ids, for the sampler bigram; below 0: none, so popularity
        generator : torch.Generator, optional, for all draws; PyTorch's own if none is given

        ConfigError for shapes that do not match, or a context without a row in `neighbours`.
        """
        there = targets >= 0
        hidden, targets, context = self._flat(hidden, targets, context)
        if not len(targets):
            values = self._scored(hidden, targets[:, None]).squeeze(1)  # empty, but backward works
        elif isinstance(self._plug, Softmax):
            scores = self.scores(hidden)
            log_z = scores.logsumexp(dim=1)
            values = log_z - scores.gather(1, targets[:, None]).squeeze(1) + penalised(self._plug, log_z, generator)
        else:
            values = self._sampled(hidden, targets, context, generator)
        if self.reduction == "none":
            return torch.zeros_like(there, dtype=values.dtype).masked_scatter(there, values)
        return values.mean() if self.reduction == "mean" and len(values) else values.sum()

    def scores(self, hidden):
        """Return the logits of all targets: (..., n_vocab)."""
        scores = nn.functional.linear(hidden, self.output.weight, self._bias)
        scores = scores.to(self.output.weight.dtype)  # autocast multiplies in lower precision
        return scores.abs() if self.config.absolute_softmax else scores

    def log_prob(self, hidden, score="raw"):
        """Return log-probabilities of all targets by the softmax of their scores: (..., n_vocab).

        score : "raw", "corrected" to undo the effect of the loss's noise (`evaluation.scores`), or a share λ of that
        """
        scores, share = self.scores(hidden), share_of(score)
        if share != 0:
            factor, log_noise = law_of(self.config, self._counts)
            if log_noise is not None:
                scores = factor * scores + torch.as_tensor(share * log_noise, dtype=scores.dtype, device=scores.device)
        return log_softmax(scores, dim=-1)

    @property
    def _bias(self):
        return getattr(self.output, "bias", None)

    def _flat(self, hidden, targets, context):
        """Return the examples that count: hidden (B, dim), targets (B,), context (B,) or None."""
        dim = self.output.weight.shape[1]
        if hidden.shape != (*targets.shape, dim):
            wanted, found = (*targets.shape, dim), tuple(hidden.shape)
            raise ConfigError(f"hidden states must have the shape of the targets plus {dim}, {wanted}, not {found}")
        if context is not None and context.shape != targets.shape:
            wanted, found = tuple(targets.shape), tuple(context.shape)
            raise ConfigError(f"context must have the shape of the targets, {wanted}, not {found}")
        hidden, targets = hidden.reshape(-1, dim), targets.reshape(-1)
        context = None if context is None else context.reshape(-1)
        there = targets >= 0
        if bool(there.all()):
            return hidden, targets, context
        return hidden[there], targets[there], None if context is None else context[there]

    def _sampled(self, hidden, targets, context, generator):
        weight, bias, n = self.output.weight, self._bias, self.config.negatives
        view = View(hidden.detach(), targets, context, weight.detach(), None if bias is None else bias.detach())
        with torch.no_grad():
            ids, log_q, log_q_positive = self.sampler(view, n + self.spare, self.shared, generator)
        log_q = None if log_q is None else log_q.expand(len(targets), -1)
        drawn, ids = ids >= 0, ids.clamp(min=0)
        positive, negative = self._scored(hidden, targets[:, None]).squeeze(1), self._scored(hidden, ids)
        with torch.no_grad():
            counted = drawn.expand_as(negative)
            if self.config.exclude == "target":
                counted = counted & (ids != targets[:, None])
            if self.spare:
                counted = counted & (counted.cumsum(dim=1) <= n)
            body = WEIGHTS.get(type(self._weigher))  # None: the discriminator
            first, weights = torch.ones_like(negative[:, 0]), body and body(self._weigher, negative, log_q, counted)
        beside = 0.0
        if self.evidence is not None:
            first, weights, value = self.evidence(hidden, targets, ids, drawn)
            weights, beside = weights * counted, value - value.detach()  # adds its gradient, not its value
        scores = Scores(positive, negative, weights, first, log_q_positive, log_q, generator)
        plug = self._plug._replace(**{name: getattr(self, name) for name in self._plug.parameters})
        return VALUES[type(self._plug)](plug, scores) + beside

    def _scored(self, hidden, ids):
        rows = embedding(ids, self.output.weight, sparse=getattr(self.output, "sparse", False))
        return logits_of(hidden, rows, ids, self._bias, self.config.absolute_softmax)


def _resolved(loss, options):
    """Return the options of the objective (RunSpec); ConfigError for options without meaning here."""
    kinds = {"sampler", "weigher", "loss"}
    known = {item.name for item in table().values() if kinds & item.metadata["readers"].keys()} | {*_OWN}
    for name in options:
        if name not in known:
            raise ConfigError(f"SampledLoss has no option {name!r}{did_you_mean(name, sorted(known), shown=0)}")
        if name in _ELSEWHERE:
            raise ConfigError(f"{name} has no effect in w2vneg.torch: {_ELSEWHERE[name]}; leave it out")
    config = TrainConfig(loss=loss, **options).resolved()
    if getattr(config.sampler, "tree", None) is not None:
        config = TrainConfig(loss=loss, tree="none", **options).resolved()
    if config.sampler is not None and config.exclude not in _EXCLUSIONS:
        raise ConfigError(f"exclude must be none or target in w2vneg.torch, not {config.exclude!r}")
    return config


def _refuse_unread(config, neighbours, shared, spare):
    """Raise ConfigError for arguments that no draw uses; config : RunSpec"""
    for name, given in (("neighbours", neighbours is not None), ("shared", shared), ("spare", spare)):
        if given and config.sampler is None:
            raise ConfigError(f"{name} has no effect with loss {config.loss.name!r}, which draws nothing; leave it out")
    if neighbours is not None and not config.sampler.plug.needs_neighbours:
        raise ConfigError(
            f"neighbours has no effect with sampler {config.sampler.name!r}; leave it out, or use sampler='bigram'"
        )
    if spare and config.exclude == "none":
        raise ConfigError(
            "spare replaces draws of the positive, but exclude='none' counts them; leave spare out, or use "
            "exclude='target'"
        )


def _in_order(neighbours, n_vocab):
    """Return a copy of a sparse matrix as csr_matrix, float64: columns sorted, none twice, no 0; else ConfigError."""
    if not sparse.issparse(neighbours):
        kind = type(neighbours).__name__
        raise ConfigError(f"neighbours must be a scipy.sparse matrix, not {kind}: use scipy.sparse.csr_matrix")
    if neighbours.ndim != 2 or neighbours.shape[1] != n_vocab:
        raise ConfigError(
            f"neighbours must have a row for each context and a column for each of {n_vocab} targets, found shape "
            f"{neighbours.shape}"
        )
    found = sparse.csr_matrix(neighbours, dtype=np.float64, copy=True)
    found.sum_duplicates()
    found.eliminate_zeros()
    if not np.all((found.data > 0) & np.isfinite(found.data)):
        raise ConfigError("neighbours must be counts or weights, none below 0 and all finite")
    return found


def _output(output, n_vocab, bias):
    if isinstance(output, nn.Module):
        shape = tuple(getattr(output, "weight", torch.empty(0)).shape)
        if len(shape) != 2 or shape[0] != n_vocab:
            raise ConfigError(f"output needs a weight with a row for each of {n_vocab} targets, found shape {shape}")
        if bias and getattr(output, "bias", None) is None:
            raise ConfigError("bias=True is for an output layer made here; this one has no bias: leave bias=True out")
        return output
    return nn.Linear(output, n_vocab, bias=bias)
