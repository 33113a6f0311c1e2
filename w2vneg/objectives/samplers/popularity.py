"""Popularity noise: Q(j) ∝ count_j^a. a = 0.75 is word2vec's, a = 1 the relaxed-softmax paper's "PS"."""

from dataclasses import dataclass

import numpy as np

from ...kernels.ahead import implement_pick
from ...kernels.contracts import implement_log_prob
from ...kernels.rng import alias_draw, alias_table
from ..plugs import About, Sampler, option
from . import SAMPLERS


@dataclass(frozen=True, kw_only=True)
class NoiseOptions:
    """Options of all samplers that draw by counts to a power."""

    noise_exponent: float = option(
        0.75, "Exponent on counts in the noise distribution.", at_least=-5, at_most=5, common=True
    )


def log_popularity(counts, exponent):
    """Return log(count^a / Σ count^a) as float64, (n_vocab,)."""
    weights = exponent * np.log(np.maximum(np.asarray(counts, np.float64), 1e-300))
    weights -= weights.max()
    return weights - np.log(np.exp(weights).sum())


@SAMPLERS.register("popularity")
class Popularity(Sampler):
    """table : uint64, (n_vocab,), of `kernels.rng`; log_p : float32, (n_vocab,)"""

    table: np.ndarray
    log_p: np.ndarray

    Options = NoiseOptions
    gives_log_q = True
    context_free = True
    about = About(
        summary="in proportion to counts to a power",
        equation="Q(j) ∝ count_j^a, a = noise-exponent",
        paper="Mikolov et al. 2013 (a = .75); RS §3.2 (PS, a = 1); kernel §4 (unigram)",
        cost="one random number and one alias-table lookup per negative",
        use="the common choice; fast, independent of the centre",
    )

    @classmethod
    def from_options(cls, options, context):
        log_p = log_popularity(context.counts, options.noise_exponent)
        return cls(alias_table(np.exp(log_p)), log_p.astype(np.float32))


@implement_pick(Popularity)
def pick(sampler, rng):
    return alias_draw(sampler.table, rng)


@implement_log_prob(Popularity)
def log_prob(sampler, state, group, centre_id, n, ids, logits, log_q):
    for k in range(n):
        log_q[k] = sampler.log_p[ids[k]]
