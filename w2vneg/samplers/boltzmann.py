"""Boltzmann negatives (Tanielian and Vasile 2019, eq. 8): hard ones, close to the centre as the model now sees it.

    Q_i(j) = D(j) e^{s_ij / T} / Σ_j' D(j') e^{s_ij' / T}

D, the degeneracy, is uniform, popularity or given; T → ∞ leaves D, T → 0 the hardest target. Three methods:

`rolling`
    A shard keeps M candidates drawn from D and replaces a few of them for each centre, so that their rows stay in the
    nearest cache; it scores all M and draws among them with weights e^{s/T} (they already follow D). This is
    sampling-importance-resampling (Rubin 1988) in which neighbouring centres share proposals. No table, any V.
    Candidates are scored for two neighbours at once and replaced behind the second, whose scores are corrected for what
    the first one's step has moved its negatives.
`sir`
    The same with all M candidates replaced behind each centre.
`exact`
    All V targets scored by a matrix product, for a batch of centres ahead of their training (`dense.exact_draws`).

log q of `rolling` and `sir` takes the candidates' mean of e^{s/T} for the sum over D: exact as M → ∞. The draws' total
variation from Q_i grows as e^{s/T} gets peaky and shrinks with M; tests/samplers/test_samplers.py measures it.

Self-play (the CIS paper's g(·|i)) is D uniform and T = 1: the model's own softmax draws the negatives. Where the
model's logit is |s| (kernel paper, eq. 11), so is the s above.
"""

import dataclasses
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..errors import ConfigError
from ..jit import njit
from ..kernels.ahead import hand_out
from ..kernels.alias import alias_draw, alias_table
from ..kernels.contracts import (
    implement_draw,
    implement_log_prob,
    implement_on_update,
    implement_open_sampler,
    implement_prescore,
)
from ..kernels.dense import BoltzmannLaw, exact_draws, scratch_size
from ..kernels.functions import accumulate, exp_into, fast_log, highest, padded, ranks_into
from ..kernels.linalg import dot, dots, dots_of_two, fetch_row, row_of
from ..kernels.rng import next_unit
from ..option import option, refuse_idle
from ..plugs import Sampler
from ..registry import About
from . import SAMPLERS
from .popularity import NoiseOptions, log_popularity
from .temperature import check_schedule

DEGENERACIES = ("uniform", "popularity")
METHODS = ("rolling", "sir", "exact")
TEMP_SCHEDULES = ("constant", "linear", "cosine", "adaptive")

_ZERO = np.float32(0.0)


def _weights(values):
    """Return the weights of a given degeneracy as a tuple of float, so that configurations compare."""
    try:
        return tuple(float(value) for value in values)
    except (TypeError, ValueError) as error:
        raise ConfigError(
            f"degeneracy must be {', '.join(DEGENERACIES)}, a file or one weight for each word, not {str(values)[:60]}"
        ) from error


def candidates(default):
    """Return the option that says among how many a negative is chosen."""
    return option(default, "Candidates M among which rolling, sir and dns choose.", at_least=1, at_most=65536)


@dataclass(frozen=True, kw_only=True)
class MethodOptions:
    """How Boltzmann negatives are drawn, whatever T and D."""

    method: str = option(
        "rolling",
        "How Boltzmann negatives are drawn: rolling or sir (among candidates), exact (all words).",
        choices=METHODS,
    )
    candidates: int = candidates(64)
    replaced: int = option(2, "Candidates that rolling replaces for each centre.", at_least=1)


@dataclass(frozen=True, kw_only=True)
class BoltzmannOptions(NoiseOptions, MethodOptions):
    """T, D, and how T changes."""

    temp: float = option(
        1.0,
        "Temperature T of Boltzmann sampling; inf leaves the degeneracy distribution alone.",
        above=0,
        infinite=True,
    )
    temp_schedule: str = option(
        "constant",
        "How T changes over the run: constant, linear or cosine (to --temp-end), adaptive (holds "
        "--effective-candidates).",
        choices=TEMP_SCHEDULES,
    )
    temp_end: float | None = option(None, "Temperature at the end of a linear or cosine schedule.", above=0)
    effective_candidates: float | None = option(
        None,
        "Effective number of candidates, (sum w)^2 / sum w^2, that the adaptive temperature holds.",
        above=1,
    )
    degeneracy: str = option(
        "popularity",
        "What Boltzmann sampling multiplies e^(s/T) by: uniform, popularity (counts ^ noise-exponent), "
        "or a file of word<TAB>weight.",
        otherwise=_weights,
        metavar="NAME|FILE",
    )


def log_degeneracy(options, counts):
    """Return log D as float64, (n_vocab,), for the degeneracy that the options name or hold."""
    given = options.degeneracy
    if isinstance(given, str):
        return log_popularity(counts, options.noise_exponent if given == "popularity" else 0.0)
    given = np.asarray(given, np.float64)
    if given.shape != (len(counts),) or not np.all(np.isfinite(given)) or given.min() < 0 or given.sum() <= 0:
        raise ConfigError(
            f"a given degeneracy must hold {len(counts)} finite weights, none negative, not all zero; "
            f"got an array of shape {given.shape}"
        )
    with np.errstate(divide="ignore"):
        return np.log(given / given.sum())


def idle_of_method(options, given):
    """Return, as None, the options of candidates that the method does not read; ConfigError if one was given."""
    idle = {"sir": ("replaced",), "exact": ("candidates", "replaced")}.get(options.method, ())
    return refuse_idle(idle, f"--method {options.method}", given)


class Boltzmann(Sampler):
    """Draws among M candidates.

    table : uint64, (n_vocab,), of `kernels.alias`, for D; log_d : float32, (n_vocab,)
    inverse_temperature : float, 1 / T
    n_candidates : int, M; replaced : int, candidates replaced for each centre (M: `sir`)
    absolute : bool, the logit is |x · y|
    """

    table: np.ndarray
    log_d: np.ndarray
    inverse_temperature: float
    n_candidates: int
    replaced: int
    absolute: bool = False

    gives_log_q = True

    def log_target(self, centre_id, logits):
        """Return log D + s / T, with |s| in place of s where that is the model's logit."""
        strengths = np.abs(logits) if self.absolute else logits
        return self.log_d + strengths * self.inverse_temperature


class BoltzmannExact(Sampler):
    """Draws made ahead for a batch of centres.

    log_d : float32, (n_vocab,); inverse_temperature : float; absolute : bool, the logit is |x · y|
    ids : int32, (workers, batch, max_draws); log_q : float32, the same; log_z : float32, (workers, batch)
    scratch : float32, memory of the draws
    """

    log_d: np.ndarray
    inverse_temperature: float
    absolute: bool
    ids: np.ndarray
    log_q: np.ndarray
    log_z: np.ndarray
    scratch: np.ndarray

    gives_log_q = True
    scores_all = "exact Boltzmann sampling", "--method rolling"

    @classmethod
    def of(cls, log_d, inverse_temperature, batch, context, absolute=False):
        """Make room for `batch` centres of each worker; log_d : (n_vocab,)."""
        places = context.workers, batch
        return cls(
            np.asarray(log_d, np.float32),
            inverse_temperature,
            absolute,
            np.zeros((*places, context.max_draws), np.int32),
            np.zeros((*places, context.max_draws), np.float32),
            np.zeros(places, np.float32),
            np.empty(scratch_size(context.workers * batch, len(log_d)), np.float32),
        )

    log_target = Boltzmann.log_target

    @property
    def batch_groups(self):
        return self.ids.shape[1]

    def refresh(self, vectors_in, vectors_out, centre_ids, key):
        """Draw for the centres of the next launch; see `kernels.dense.exact_draws`."""
        n_draws = self.ids.shape[2]
        exact_draws(
            BoltzmannLaw(self.log_d, np.float32(self.inverse_temperature), self.absolute),
            vectors_in,
            vectors_out,
            centre_ids.ravel(),
            key,
            self.ids.reshape(-1, n_draws),
            self.log_q.reshape(-1, n_draws),
            self.log_z.ravel(),
            self.scratch,
        )


@SAMPLERS.register("boltzmann")
class BoltzmannFamily(Sampler):
    """Chooses the class by ``options.method``."""

    gives_log_q = True
    Options = BoltzmannOptions
    about = About(
        summary="hard negatives: a given distribution sharpened by the model's own scores",
        equation="Q_i(j) = D(j) e^{s_ij / T} / Σ D(j') e^{s_ij' / T}",
        paper="RS eq. 8 (UBS, PBS)",
        cost="rolling, sir: M dot products and e^s for each centre; exact: V of them, as a matrix product",
        use="the best vectors measured here with the relaxed softmax; lower T: harder negatives, better at the top",
    )

    _batch = 128  # centres per matrix product and worker: large enough for BLAS, small enough to be fresh

    @classmethod
    def draws_ahead(cls, options):
        return options.method == "exact"

    @classmethod
    def settle(cls, options, given):
        """Empty what method, degeneracy and schedule make idle; at T = ∞ draw from the degeneracy itself."""
        check_schedule(options)
        if math.isinf(options.temp) and options.temp_schedule == "constant" and options.degeneracy in DEGENERACIES:
            refuse_idle(("method", "candidates", "replaced"), "--temp inf, which draws from the degeneracy", given)
            values = {field.name: None for field in dataclasses.fields(BoltzmannOptions)}
            kept = {"noise_exponent": options.noise_exponent} if options.degeneracy == "popularity" else {}
            if not kept:
                refuse_idle(("noise_exponent",), "a degeneracy that is not popularity", given)
            return values | kept | {"sampler": options.degeneracy}
        values = idle_of_method(options, given)
        if options.degeneracy != "popularity":
            values |= refuse_idle(("noise_exponent",), "a degeneracy that is not popularity", given)
        return values

    @classmethod
    def cost(cls, options, context):
        """Return the rough nanoseconds that a group's draws take."""
        if options.method == "exact":
            return 0.02 * context.dim * len(context.counts) * context.workers
        return 0.06 * context.dim * options.candidates

    @classmethod
    def from_options(cls, options, context):
        return cls.build(options, context, log_degeneracy(options, context.counts), min(1.0 / options.temp, 1e30))

    @classmethod
    def build(cls, options, context, log_d, beta):
        """Return the sampler of degeneracy e^log_d (float64, (n_vocab,)) and inverse temperature beta."""
        if options.method == "exact":
            return BoltzmannExact.of(log_d, beta, cls._batch, context, options.absolute_softmax)
        replaced = options.candidates if options.method == "sir" else min(options.replaced, options.candidates)
        return Boltzmann(
            alias_table(np.exp(log_d)),
            log_d.astype(np.float32),
            beta,
            options.candidates,
            max(1, replaced),
            options.absolute_softmax,
        )


@SAMPLERS.register("selfplay")
class Selfplay(Sampler):
    """Boltzmann sampling with D uniform and T = 1, by the same methods."""

    gives_log_q = True
    Options = MethodOptions
    about = About(
        summary="the model's own softmax draws the negatives: Boltzmann with a uniform degeneracy and T = 1",
        equation="Q_i(j) = e^{s_ij} / Σ e^{s_ij'}",
        paper="CIS §3.4 and §4 (SP)",
        cost="M dot products a centre (rolling, sir), V (exact)",
        use="with the relaxed softmax; with the discriminator as weigher it is CIS",
    )

    cost = BoltzmannFamily.cost
    draws_ahead = BoltzmannFamily.draws_ahead

    @classmethod
    def settle(cls, options, given):
        return idle_of_method(options, given)

    @classmethod
    def from_options(cls, options, context):
        return BoltzmannFamily.build(options, context, log_popularity(context.counts, 0.0), 1.0)


class Candidates(NamedTuple):
    """Scratch of one shard.

    ids : int32, rows : int64, scores, next_scores and running weight : float32, all (M,)
    scored : int64, (2,), the rows of the centres that `scores` and `next_scores` are of, -1 for none; the latter is
        that of the next group
    overlap : float32, (1,), the dot product of these two centres
    targets : float32, ranks : int32, where each draw falls among the weights (n_draws and some)
    place : int64, (2,), which candidate is the oldest, -1 before there are any; how many are due to be replaced
    log_z : float32, (1,), log of the mean of e^{s/T} over the candidates of the latest draw
    """

    ids: np.ndarray
    rows: np.ndarray
    scores: np.ndarray
    next_scores: np.ndarray
    scored: np.ndarray
    overlap: np.ndarray
    running: np.ndarray
    targets: np.ndarray
    ranks: np.ndarray
    place: np.ndarray
    log_z: np.ndarray


@implement_open_sampler(Boltzmann)
def open_candidates(sampler, n_draws):
    m, room = sampler.n_candidates, padded(n_draws)
    return Candidates(
        np.empty(m, np.int32),
        np.empty(m, np.int64),
        np.empty(m, np.float32),
        np.empty(m, np.float32),
        np.full(2, -1, np.int64),
        np.empty(1, np.float32),
        np.empty(m, np.float32),
        np.zeros(room, np.float32),
        np.empty(room, np.int32),
        np.array([-1, 0], np.int64),
        np.empty(1, np.float32),
    )


@njit(borrows=True)
def _replace(sampler, state, out, rng, n):
    """Draw n new candidates in place of the oldest, and start loading their rows: they are for the next centres."""
    table, ids, rows = sampler.table, state.ids, state.rows
    place = state.place[0]
    for _ in range(n):
        ids[place] = alias_draw(table, rng)
        rows[place] = row_of(out, ids[place])
        fetch_row(out.matrix, rows[place])
        place += 1
        if place == sampler.n_candidates:
            place = 0
    state.place[0] = place


@implement_prescore(Boltzmann)
def prescore(sampler, state, inputs, centre_row, following_row, out):
    """Score the candidates for two centres at a time: that they are loaded is what it costs.

    Where another centre comes than was expected it is scored alone, so that what is due is replaced.
    """
    scores, next_scores, scored, m = state.scores, state.next_scores, state.scored, sampler.n_candidates
    if scored[1] == centre_row:
        for k in range(m):
            scores[k] = next_scores[k]
        scored[0], scored[1] = centre_row, -1
        return
    alone = scored[1] >= 0 or following_row < 0 or following_row == centre_row
    if not alone and state.place[0] >= 0 and sampler.replaced < m:
        centre, following = inputs[centre_row], inputs[following_row]
        dots_of_two(out.width, out.matrix, state.rows, m, centre, following, scores, next_scores)
        state.overlap[0] = dot(centre, following)
        scored[0], scored[1] = centre_row, following_row
    else:
        scored[0] = scored[1] = -1


@implement_draw(Boltzmann)
def draw(sampler, state, group, centre_id, centre, out, rng, n, ids, log_q, logits):
    if state.place[0] < 0:
        state.place[0] = 0
        _replace(sampler, state, out, rng, sampler.n_candidates)
    candidates, scores, running, scored = state.ids, state.scores, state.running, state.scored
    m = sampler.n_candidates
    beta = np.float32(sampler.inverse_temperature)
    if scored[0] < 0:
        dots(out.width, out.matrix, state.rows, m, centre, scores)
    strengths = scores
    if sampler.absolute:
        strengths = running
        for k in range(m):
            running[k] = abs(scores[k])
    top = highest(strengths, m)
    exp_into(strengths, m, beta, top, running)
    total = accumulate(running)
    targets, ranks = state.targets, state.ranks
    for k in range(n):
        targets[k] = next_unit(rng) * total
    ranks_into(running, targets, n, ranks)
    for k in range(n):
        chosen = ranks[k] = min(ranks[k], m - 1)  # rounding may leave none above
        ids[k] = candidates[chosen]
        logits[k] = scores[chosen]
    if log_q.shape[0] > 0:
        log_d = sampler.log_d
        log_z = top * beta + np.float32(fast_log(total / np.float32(m)))
        state.log_z[0] = log_z
        for k in range(n):
            strength = abs(logits[k]) if sampler.absolute else logits[k]
            log_q[k] = log_d[ids[k]] + strength * beta - log_z
    state.place[1] += sampler.replaced
    if scored[1] < 0:  # else the next centre is scored with these
        _replace(sampler, state, out, rng, min(state.place[1], m))
        state.place[1] = 0
    scored[0] = -1
    return True


@implement_on_update(Boltzmann)
def on_update(sampler, state, m, positives, n, negatives, steps, out):
    """Bring the scores for the next centre up to date: row j has moved by c · x, so its score by c · x · x'."""
    if state.scored[1] >= 0:
        next_scores, ranks, overlap = state.next_scores, state.ranks, state.overlap[0]
        for k in range(n):
            next_scores[ranks[k]] += steps[k] * overlap


@implement_log_prob(Boltzmann)
def log_prob(sampler, state, group, centre_id, n, ids, logits, log_q):
    beta, log_z = np.float32(sampler.inverse_temperature), state.log_z[0]
    for k in range(n):
        strength = abs(logits[k]) if sampler.absolute else logits[k]
        log_q[k] = sampler.log_d[ids[k]] + strength * beta - log_z


@implement_open_sampler(BoltzmannExact)
def open_drawn(sampler, n_draws):
    """The place of the worker, which `draw` knows and `log_prob` asks for."""
    return np.zeros(1, np.int64)


@implement_draw(BoltzmannExact)
def draw_ahead(sampler, state, group, centre_id, centre, out, rng, n, ids, log_q, logits):
    state[0] = out.worker
    hand_out(sampler.ids, sampler.log_q, out.worker, group, n, ids, log_q)
    return False


@implement_log_prob(BoltzmannExact)
def log_prob_ahead(sampler, state, group, centre_id, n, ids, logits, log_q):
    beta, log_z = np.float32(sampler.inverse_temperature), sampler.log_z[state[0], group]
    for k in range(n):
        score = abs(logits[k]) if sampler.absolute else logits[k]
        log_q[k] = sampler.log_d[ids[k]] + score * beta - log_z
