"""Uniform noise: Q(j) = 1 / V. The papers' "US" and "UniS"."""

import math

import numpy as np

from ...kernels.ahead import implement_pick
from ...kernels.contracts import implement_log_prob
from ...kernels.rng import next_below
from ..plugs import About, Sampler
from . import SAMPLERS


@SAMPLERS.register("uniform")
class Uniform(Sampler):
    """n_vocab : int; log_p : float, −log V"""

    n_vocab: int
    log_p: float

    gives_log_q = True
    context_free = True
    about = About(
        summary="every word equally likely",
        equation="Q(j) = 1 / V",
        paper="RS §3.2 (US), CIS §4 (UniS)",
        cost="one random number for each negative, no table",
        use="a plain baseline; its negatives are mostly rare words, and easy",
    )

    @classmethod
    def from_options(cls, options, context):
        return cls(len(context.counts), -math.log(len(context.counts)))


@implement_pick(Uniform)
def pick(sampler, rng):
    return next_below(rng, sampler.n_vocab)


@implement_log_prob(Uniform)
def log_prob(sampler, state, group, centre_id, n, ids, logits, log_q):
    for k in range(n):
        log_q[k] = np.float32(sampler.log_p)
