"""How Boltzmann negatives are drawn (`boltzmann` has the law): from M candidates, or ahead, from all words."""

from collections import namedtuple

import numpy as np

from ...ground.jit import njit
from ...kernels.contracts import (
    implement_draw,
    implement_log_prob,
    implement_on_update,
    implement_open_sampler,
    implement_prescore,
)
from ...kernels.dense.draws import BoltzmannLaw
from ...kernels.functions import accumulate, exp_into, fast_log, highest, padded, ranks_into
from ...kernels.linalg import dot, dots, dots_of_two, fetch_row, row_of
from ...kernels.rng import alias_draw, next_unit
from ..plugs import Sampler
from ._ahead import DrawnAhead, implement_ahead, place_of, score_then


class Boltzmann(Sampler):
    """table : uint64, (n_vocab,), of `kernels.rng`, for D; log_d : float32, (n_vocab,); inverse_temperature : 1 / T
    n_candidates : int, M; replaced : int, replaced for each centre (M: `sir`); absolute : bool, use |x · y|
    """

    table: np.ndarray
    log_d: np.ndarray
    inverse_temperature: float
    n_candidates: int
    replaced: int
    absolute: bool = False

    gives_log_q = True

    def log_target(self, centre_id, logits):
        """Return log D + s / T, with |s| in place of s if that is the model's logit."""
        strengths = np.abs(logits) if self.absolute else logits
        return self.log_d + strengths * self.inverse_temperature


Candidates = namedtuple("Candidates", "ids rows scores next_scores scored overlap running targets ranks place log_z")
"""Scratch of one shard.

ids : int32, rows : int64, scores, next_scores and running weight : float32, all (M,)
scored : int64, (2,), the rows of the centres that `scores` and `next_scores` belong to, -1 for none; the latter is
    that of the next group
overlap : float32, (1,), the dot product of these two centres
targets : float32, ranks : int32, where each draw falls among the weights (n_draws, padded)
place : int64, (2,), the oldest candidate, -1 before there are any; how many are due for replacement
log_z : float32, (1,), log of the mean of e^{s/T} over the candidates of the latest draw
"""


@implement_open_sampler(Boltzmann)
def open_candidates(sampler, n_draws):
    m, room = sampler.n_candidates, padded(n_draws)
    ids, rows, scored = np.empty(m, np.int32), np.empty(m, np.int64), np.full(2, -1, np.int64)
    scores, next_scores, running = np.empty(m, np.float32), np.empty(m, np.float32), np.empty(m, np.float32)
    targets, ranks, place = np.zeros(room, np.float32), np.empty(room, np.int32), np.array([-1, 0], np.int64)
    overlap, log_z = np.empty(1, np.float32), np.empty(1, np.float32)
    return Candidates(ids, rows, scores, next_scores, scored, overlap, running, targets, ranks, place, log_z)


@njit(borrows=True)
def _replace(sampler, state, out, rng, n):
    """Replace the n oldest candidates by new draws, and start loading their rows for the next centres."""
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
    """Score the candidates for two centres at a time: loading their rows is the main cost.

    If the next centre is not the expected one, it is scored alone, so that due candidates are replaced.
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
        chosen = ranks[k] = min(ranks[k], m - 1)  # rounding may leave no sum above
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


class BoltzmannExact(DrawnAhead):
    """log_d : float32, (n_vocab,); inverse_temperature : float; absolute : bool, the logit is |x · y|; then
    the fields of `DrawnAhead`
    """

    log_d: np.ndarray
    inverse_temperature: float
    absolute: bool

    scores_all = "exact Boltzmann sampling", "--method rolling"
    log_target = Boltzmann.log_target

    def law(self):
        return BoltzmannLaw(self.log_d, np.float32(self.inverse_temperature), self.absolute)


implement_ahead(BoltzmannExact)


@implement_log_prob(BoltzmannExact)
def log_prob_ahead(sampler, state, group, centre_id, n, ids, logits, log_q):
    worker, place = state[0], place_of(sampler, group)
    beta, log_z = np.float32(sampler.inverse_temperature), sampler.log_z[worker, place]
    for k in range(n):
        score = score_then(sampler.origin, sampler.due[worker, place], centre_id, ids[k])
        score = abs(score) if sampler.absolute else score
        log_q[k] = sampler.log_d[ids[k]] + score * beta - log_z
