"""Bernoulli noise (Botev, Zheng and Barber 2017, section 2.2): targets are drawn independently, at most once.

    P(j enters) = b_j,    b_j = min(0.99, c · count_j^a),    Σ_j b_j = S

S is ``--negatives``: the expected number. c makes the b_j sum to S; 0.99 keeps log(1 − b_j) finite. (The paper uses
b = f^0.54 of the frequencies f because that sums to its S = 20.)

Drawing does not visit all V targets. Let target j arrive by a Poisson process of rate λ_j = −log(1 − b_j) on the unit
of time, independently of the others: it arrives at least once with probability b_j. Together, all arrivals are a
Poisson process of rate Σ λ_j, and each of them is j with probability λ_j / Σ λ. So we go from arrival to arrival until
time 1, and skip targets that have arrived before. This is exact, and takes about Σ λ draws.

Each set has enough places that a Poisson number of mean S exceeds them with probability below 10⁻⁶; then the last
arrivals are dropped. Empty places have id −1, log q = ∞ and weight 0.

log q_j = log(b_j / N) with N the number in this set, so that a loss's n q_j is b_j and its 1 / (n q_j) the paper's
κ = 1 / b_j. A loss must count excluded draws, too: N is the number that entered.
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
    """Return n with P(N > n) < 10⁻⁶ for a Poisson number N of this mean, the smallest by a simple bound."""
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
    rate : float, Σ λ; places : int, per set
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
        summary="each target is drawn independently with probability b_j, at most once; the number of draws varies",
        equation="P(j enters) = b_j ∝ count_j^a, Σ b_j = n",
        paper="CSS §2.2, eqs. 7–9",
        cost="as popularity, plus some empty places: 19 places for 5 negatives, 28 for 10",
        use="with css; for many negatives from few targets, which would repeat otherwise",
    )

    @classmethod
    def max_negatives(cls, negatives):
        return places_for(negatives)

    @classmethod
    def from_options(cls, options, context):
        n_vocab, expected = len(context.counts), context.run.negatives
        if expected > _HIGHEST * n_vocab:
            most = f"at most {int(_HIGHEST * n_vocab)} with sampler bernoulli and {n_vocab} words, as none repeats"
            raise ConfigError(f"negatives must be {most}; got {expected}: lower --negatives")
        b = inclusion(log_popularity(context.counts, options.noise_exponent), expected)
        rates = -np.log1p(-b)
        with np.errstate(divide="ignore"):
            log_b = np.log(b).astype(np.float32)
        return cls(alias_table(rates), log_b, float(rates.sum()), cls.max_negatives(expected))


Entered = namedtuple("Entered", "marks turn log_sizes n_sets")
"""Scratch of one shard: which targets have entered a set, and how many entered each set of the latest draw.

marks : int32, (n_vocab,), the latest set that a target has entered; turn : int32, (1,), number of the latest set
log_sizes : float32, (sets,); n_sets : int64, (1,)
"""


@implement_open_sampler(Bernoulli)
def open_entered(sampler, n_draws):
    marks, log_sizes = np.zeros(sampler.log_b.shape[0], np.int32), np.zeros(n_draws // sampler.places + 1, np.float32)
    return Entered(marks, np.zeros(1, np.int32), log_sizes, np.zeros(1, np.int64))


@njit(borrows=True)
def _draw_set(sampler, state, rng, ids, first, last):
    """Fill the places [first, last) with one independent set, then -1; return its size (int64)."""
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
    """The k-th positive goes with the k-th set, or all of them with the only one."""
    last = state.n_sets[0] - 1
    for k in range(n):
        log_q[k] = sampler.log_b[ids[k]] - state.log_sizes[min(k, last)]
