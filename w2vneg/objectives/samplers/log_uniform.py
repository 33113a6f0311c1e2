"""Log-uniform noise by rank: the popularity sampling, "PopS", of the CIS paper's experiments.

    Q(k) = log((k + 2) / (k + 1)) / log(V + 1),    k = 0 … V − 1, ids by falling count

Zipf's law with exponent 1, from the ranks alone. The sum over all k telescopes: for u uniform on [0, 1) (float64, since
at rank 10⁶ two boundaries lie one part in a million apart) an exact draw is k = ⌊(V + 1)^u⌋ − 1.
"""

import math

import numpy as np

from ...ground.jit import njit
from ...kernels.ahead import implement_pick
from ...kernels.contracts import implement_log_prob
from ...kernels.rng import next_double
from ..plugs import About, Sampler
from . import SAMPLERS
from .popularity import log_prob


@SAMPLERS.register("log-uniform")
class LogUniform(Sampler):
    """n_vocab : int, V; log_range : float, log(V + 1); log_p : float32, (n_vocab,)"""

    n_vocab: int
    log_range: float
    log_p: np.ndarray

    gives_log_q = True
    context_free = True
    about = About(
        summary="popularity by rank alone, following Zipf's law",
        equation="Q(j) = log((j + 2) / (j + 1)) / log(V + 1), j the rank from 0",
        paper="CIS §4 (PopS)",
        cost="one exponential a draw",
        use="to repeat experiments that sample by rank; if counts are unreliable",
    )

    @classmethod
    def from_options(cls, options, context):
        n_vocab = len(context.counts)
        log_range = math.log1p(n_vocab)
        log_p = np.log(np.log1p(1.0 / np.arange(1, n_vocab + 1))) - math.log(log_range)
        return cls(n_vocab, log_range, log_p.astype(np.float32))


@njit(borrows=True)
def rank_at(u, log_range, n_vocab):
    """Return the rank (int64) at which the distribution's running sum passes u (float64, [0, 1))."""
    rank = np.int64(math.exp(u * log_range)) - 1
    return min(rank, n_vocab - 1)  # the largest u may round up to V + 1


@implement_pick(LogUniform)
def pick(sampler, rng):
    return rank_at(next_double(rng), sampler.log_range, sampler.n_vocab)


implement_log_prob(LogUniform)(log_prob)
