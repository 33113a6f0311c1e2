"""Dynamic negative sampling (Zhang, Chen, Wang and Yu 2013): the hardest of a few.

    j = argmax { s_ic : c = c_1 … c_M },    c_l ~ P iid,    P(c) ∝ count_c^a

Each negative is the highest-scoring of M fresh draws from the popularity distribution. If F(j) is the share of P that
scores below j, then j is drawn with probability

    Q_i(j) = (F(j) + P(j))^M − F(j)^M

(without ties in score), which moves from P at M = 1 to the hardest target as M → ∞. F is a sum over the vocabulary, so
log q is not available. Only the ranks of the scores matter, not their differences.
"""

from collections import namedtuple

import numpy as np

from ...ground.jit import njit
from ...kernels.contracts import implement_draw, implement_open_sampler
from ...kernels.linalg import dots, fetch_row, row_of
from ...kernels.rng import alias_draw, alias_table
from ..plugs import About, Sampler
from . import SAMPLERS
from .boltzmann import candidates
from .popularity import NoiseOptions, log_popularity

_LOWEST = np.float32(-np.inf)


@SAMPLERS.register("dns")
class HardestOfM(Sampler):
    """table : uint64, (n_vocab,), of `kernels.rng`, for P; n_candidates : int, M
    absolute : bool, the hardest has the largest |s|
    """

    table: np.ndarray
    n_candidates: int
    absolute: bool

    class Options(NoiseOptions):
        candidates: int = candidates(8)

    about = About(
        summary="the hardest of M draws from the popularity distribution, by rank of score",
        equation="j = argmax s_ic over c_1 … c_M ~ P, P(c) ∝ count_c^a",
        paper="Zhang et al. 2013; Chen et al. 2018",
        cost="M dot products per negative",
        use="with ranking losses and with ns; not with losses that need log q",
    )

    @classmethod
    def cost(cls, options, context):
        return 0.06 * context.dim * options.candidates * context.mean_draws

    @classmethod
    def from_options(cls, options, context):
        log_p = log_popularity(context.counts, options.noise_exponent)
        return cls(alias_table(np.exp(log_p)), options.candidates, context.run.absolute_softmax)


Scored = namedtuple("Scored", "ids rows scores")
"""Scratch of one shard: ids int32 and rows int64, (2, M), of the candidates of this negative and of the next, whose
rows are loaded meanwhile; scores float32, (M,)."""


@implement_open_sampler(HardestOfM)
def open_scored(sampler, n_draws):
    m = sampler.n_candidates
    return Scored(np.empty((2, m), np.int32), np.empty((2, m), np.int64), np.empty(m, np.float32))


@njit(borrows=True)
def _propose(table, out, rng, ids, rows):
    """Draw the candidates of one negative and start loading their rows."""
    for c in range(ids.shape[0]):
        ids[c] = alias_draw(table, rng)
        rows[c] = row_of(out, ids[c])
        fetch_row(out.matrix, rows[c])


@implement_draw(HardestOfM)
def draw(sampler, state, group, centre_id, centre, out, rng, n, ids, log_q, logits):
    table, m, absolute = sampler.table, sampler.n_candidates, sampler.absolute
    candidates, rows, scores = state.ids, state.rows, state.scores
    _propose(table, out, rng, candidates[0], rows[0])
    for k in range(n):
        this, following = k % 2, (k + 1) % 2
        if k + 1 < n:
            _propose(table, out, rng, candidates[following], rows[following])
        dots(out.width, out.matrix, rows[this], m, centre, scores)
        hardest, top = 0, _LOWEST
        for c in range(m):
            strength = abs(scores[c]) if absolute else scores[c]
            if strength > top:
                hardest, top = c, strength
        ids[k] = candidates[this, hardest]
        logits[k] = scores[hardest]
    return True
