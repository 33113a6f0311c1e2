"""Bernoulli noise (Botev, Zheng and Barber 2017, section 2.2): every target enters by itself, never twice.

    P(j enters) = b_j,    b_j = min(0.99, c · count_j^a),    Σ_j b_j = S

S is ``--negatives``: the expected number. c is what makes the b_j sum to S; 0.99 keeps 1 − b_j's logarithm finite. (The
paper takes b = f^0.54 of the frequencies f because that sums to its S = 20.)

Drawn without a look at the V targets. Let arrivals of target j be a Poisson process of rate λ_j = −log(1 − b_j) on the
unit of time, all independent: j arrives at least once with chance b_j. All together are a Poisson process of rate Σ
λ_j, each of them j with chance λ_j / Σ λ. So: go from arrival to arrival until time 1, and leave out whatever has
arrived before. Exact, for about Σ λ draws.

Each set has so many places that a Poisson number of mean S would exceed them with a chance below 10⁻⁶; then what
arrives last is left out. Places that stay empty have id −1 and log q = ∞, and weigh nothing.

log q_j = log(b_j / N) with N the number in this set, so that a loss's n q_j is b_j and its 1 / (n q_j) the paper's
κ = 1 / b_j. A loss that counts only what is left after exclusions must count these too: N is what entered.
"""

import math
from collections import namedtuple

import numpy as np

from ...ground.errors import ConfigError
from ...ground.jit import njit
from ...kernels.contracts import implement_draw, implement_log_prob, implement_open_sampler
from ...kernels.functions import fast_log
from ...kernels.rng import alias_draw, alias_table, next_double
from ..plugs import About, Sampler
from . import SAMPLERS
from .popularity import NoiseOptions, log_popularity

_HIGHEST = 0.99
_OVERFLOW = 1e-6
_NEVER = np.float32(np.inf)
_EMPTY = np.int32(-1)


def places_for(expected):
    """Return an n, as small as a simple bound shows, with P(N > n) < 10⁻⁶ for N a Poisson number of that mean."""
    n = math.ceil(expected)
    while True:
        first = math.exp((n + 1) * math.log(expected) - expected - math.lgamma(n + 2))  # P(N = n + 1)
        if first / (1 - expected / (n + 2)) < _OVERFLOW:  # the terms after it fall faster than a geometric series
            return n
        n += 1


def inclusion(log_p, expected):
    """Return b ∝ e^log_p with none above 0.99 and sum `expected`, float64, (n_vocab,); `expected` ≤ 0.99 n_vocab."""
    p = np.exp(log_p)
    capped = np.zeros(len(p), bool)
    while True:
        b = np.where(capped, _HIGHEST, p * ((expected - _HIGHEST * capped.sum()) / max(p[~capped].sum(), 1e-300)))
        above = b > _HIGHEST
        if not above.any():
            return b
        capped |= above


@SAMPLERS.register("bernoulli")
class Bernoulli(Sampler):
    """table : uint64, (n_vocab,), of `kernels.rng`, for λ; log_b : float32, (n_vocab,)
    rate : float, Σ λ; places : int, of each set
    """

    table: np.ndarray
    log_b: np.ndarray
    rate: float
    places: int

    Options = NoiseOptions
    gives_log_q = True
    context_free = True
    independent = True
    about = About(
        summary="every target enters by itself with probability b_j, never twice; their number varies",
        equation="P(j enters) = b_j ∝ count_j^a, Σ b_j = n",
        paper="CSS §2.2, eqs. 7–9",
        cost="as popularity, and some places that stay empty: 19 in all for 5, 28 for 10",
        use="with css; where many negatives of few targets would otherwise repeat themselves",
    )

    @classmethod
    def max_negatives(cls, negatives):
        return places_for(negatives)

    @classmethod
    def from_options(cls, options, context):
        n_vocab, expected = len(context.counts), context.run.negatives
        if expected > _HIGHEST * n_vocab:
            most = f"at most {int(_HIGHEST * n_vocab)} with sampler bernoulli and {n_vocab} words, as none enters twice"
            raise ConfigError(f"negatives must be {most}; got {expected}: lower --negatives")
        b = inclusion(log_popularity(context.counts, options.noise_exponent), expected)
        rates = -np.log1p(-b)
        with np.errstate(divide="ignore"):
            log_b = np.log(b).astype(np.float32)
        return cls(alias_table(rates), log_b, float(rates.sum()), cls.max_negatives(expected))


Entered = namedtuple("Entered", "marks turn log_sizes n_sets")
"""Scratch of one shard: what has entered a set, and how many entered each set of the latest draw.

marks : int32, (n_vocab,), the latest set that a target has entered; turn : int32, (1,), number of that set
log_sizes : float32, (sets,); n_sets : int64, (1,)
"""


@implement_open_sampler(Bernoulli)
def open_entered(sampler, n_draws):
    marks, log_sizes = np.zeros(sampler.log_b.shape[0], np.int32), np.zeros(n_draws // sampler.places + 1, np.float32)
    return Entered(marks, np.zeros(1, np.int32), log_sizes, np.zeros(1, np.int64))


@njit(borrows=True)
def _draw_set(sampler, state, rng, ids, first, last):
    """Fill the places [first, last) with one independent set and -1 behind it; return its size (int64)."""
    table, marks = sampler.table, state.marks
    turn = np.int32(state.turn[0] + 1)
    state.turn[0] = turn
    place, left = first, sampler.rate
    while place < last:
        left += fast_log(1.0 - next_double(rng))
        if left < 0.0:
            break
        j = alias_draw(table, rng)
        if marks[j] != turn:
            marks[j] = turn
            ids[place] = j
            place += 1
    for k in range(place, last):
        ids[k] = _EMPTY
    return place - first


@implement_draw(Bernoulli)
def draw(sampler, state, group, centre_id, centre, out, rng, n, ids, log_q, logits):
    log_b, places = sampler.log_b, sampler.places
    s = 0
    for first in range(0, n, places):
        size = _draw_set(sampler, state, rng, ids, first, min(first + places, n))
        log_size = np.float32(fast_log(max(1.0, np.float64(size))))
        state.log_sizes[s] = log_size
        s += 1
        if log_q.shape[0] > 0:
            for k in range(first, min(first + places, n)):
                log_q[k] = log_b[ids[k]] - log_size if ids[k] >= 0 else _NEVER
    state.n_sets[0] = s
    return False


@implement_log_prob(Bernoulli)
def log_prob(sampler, state, group, centre_id, n, ids, logits, log_q):
    """The k-th positive stands beside the k-th set, or all of them beside the only one."""
    last = state.n_sets[0] - 1
    for k in range(n):
        log_q[k] = sampler.log_b[ids[k]] - state.log_sizes[min(k, last)]
