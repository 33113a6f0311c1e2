"""The hot loop: one worker's share of one round.

    walk a group -> draw -> dots -> regard -> exclude -> weigh -> step -> bound -> update

Every objective goes through here; what differs is behind the sockets of `contracts`.
"""

from typing import NamedTuple

import numpy as np

from ..jit import njit
from .contracts import (
    draw,
    exclude,
    follow,
    group,
    log_noise,
    open_sampler,
    open_weigher,
    regard,
    step,
    step_group,
    weigh,
    weigh_group,
)
from .functions import exp_into, padded
from .linalg import bound_steps, dot, dots, fetch_row, row_of, step_rows

_ZERO = np.float32(0.0)
_ONE = np.float32(1.0)
_EMPTY = np.float32(np.inf)
_EXPLODED = np.float32(1e8)  # |x|² beyond this (or NaN) is no embedding any more


class Plugs(NamedTuple):
    """What a run is made of: the source of groups, the three plugs, and what a negative must not be (NamedTuples)."""

    source: tuple
    sampler: tuple
    weigher: tuple
    loss: tuple
    exclusion: tuple


class Shape(NamedTuple):
    """max_positives : int, the largest group; n_negatives : int, places for each positive's (or a shared group's)
    shared : bool, one set of negatives for the group; needs_log_q : bool, somebody reads log q
    bounded : bool, hold a group's steps to about one unit of logit (see `linalg.bound_steps`)
    positive_log_q : bool, the positives' log q is read too; absolute : bool, the logit is |x · y|
    gaps : bool, the sampler may leave places empty (id -1)
    weighed : bool, the weigher may change weights
    """

    max_positives: int
    n_negatives: int
    shared: bool
    needs_log_q: bool
    bounded: bool
    positive_log_q: bool = False
    absolute: bool = False
    gaps: bool = False
    weighed: bool = True


class Scratch(NamedTuple):
    """Arrays of one shard: of a group's targets (ids, rows, logits, e^logits, steps, log q, signs, ω), of one pair."""

    positives: np.ndarray
    positive_rows: np.ndarray
    positive_logits: np.ndarray
    positive_odds: np.ndarray
    positive_steps: np.ndarray
    positive_log_q: np.ndarray
    positive_signs: np.ndarray
    positive_weights: np.ndarray
    negatives: np.ndarray
    negative_rows: np.ndarray
    negative_logits: np.ndarray
    negative_odds: np.ndarray
    negative_steps: np.ndarray
    negative_log_q: np.ndarray
    negative_signs: np.ndarray
    negative_weights: np.ndarray
    ids: np.ndarray
    logits: np.ndarray
    odds: np.ndarray
    log_q: np.ndarray
    weights: np.ndarray
    gradients: np.ndarray
    x: np.ndarray
    gradient: np.ndarray


@njit
def _scratch(shape, dim):
    m, n = shape.max_positives, shape.n_negatives
    draws = n if shape.shared else n * m
    log_q = shape.needs_log_q
    return Scratch(
        np.empty(m, np.int32),
        np.empty(m, np.int64),
        np.zeros(padded(m), np.float32),
        np.zeros(padded(m), np.float32),
        np.empty(m, np.float32),
        np.zeros(m if shape.positive_log_q else 0, np.float32),
        np.empty(m if shape.absolute else 0, np.float32),
        np.empty(m if shape.weighed else 0, np.float32),
        np.empty(draws, np.int32),
        np.empty(draws, np.int64),
        np.zeros(padded(draws), np.float32),
        np.zeros(padded(draws), np.float32),
        np.empty(draws, np.float32),
        np.zeros(draws if log_q else 0, np.float32),
        np.empty(draws if shape.absolute else 0, np.float32),
        np.empty(draws if shape.weighed else 0, np.float32),
        np.empty(1 + n, np.int32),
        np.empty(1 + n, np.float32),
        np.empty(1 + n, np.float32),
        np.zeros(1 + n if log_q else 0, np.float32),
        np.ones(1 + n, np.float32),
        np.empty(1 + n, np.float32),
        np.empty(dim, np.float32),
        np.empty(dim, np.float32),
    )


@njit(borrows=True)
def _make_absolute(logits, n, signs):
    """Replace the first n logits by their absolute values, and keep their signs for the chain rule."""
    for k in range(n):
        signs[k] = -_ONE if logits[k] < _ZERO else _ONE
        logits[k] *= signs[k]


@njit(borrows=True)
def _gather(shape, scratch, k):
    """Bring what the k-th pair of the group is made of together, in ids, logits, odds and log q; return the offset of
    its negatives.
    """
    n, offset = shape.n_negatives, 0 if shape.shared else k * shape.n_negatives
    ids, logits, odds, log_q = scratch.ids, scratch.logits, scratch.odds, scratch.log_q
    ids[0], logits[0], odds[0] = scratch.positives[k], scratch.positive_logits[k], scratch.positive_odds[k]
    if k == 0 or not shape.shared:
        for j in range(n):
            ids[1 + j] = scratch.negatives[offset + j]
            logits[1 + j] = scratch.negative_logits[offset + j]
            odds[1 + j] = scratch.negative_odds[offset + j]
        if shape.needs_log_q:
            for j in range(n):
                log_q[1 + j] = scratch.negative_log_q[offset + j]
            if shape.gaps:
                for j in range(1, 1 + n):
                    log_q[j] = _EMPTY if ids[j] < 0 else log_q[j]
    if shape.positive_log_q:
        log_q[0] = scratch.positive_log_q[k]
    return offset


@njit(borrows=True)
def _excludes_some(exclusion, shape, scratch, centre_id, m):
    """Tell whether any negative of the group must not stand where it does."""
    n, ids, weights = shape.n_negatives, scratch.ids, scratch.weights
    for k in range(m):
        ids[0] = scratch.positives[k]
        if k == 0 or not shape.shared:
            offset = 0 if shape.shared else k * n
            for j in range(n):
                ids[1 + j] = scratch.negatives[offset + j]
        if exclude(exclusion, centre_id, scratch.positives, m, ids, weights):
            for j in range(1 + n):
                weights[j] = _ONE
            return True
    return False


@njit(borrows=True)
def _steps(plugs, weigher_state, shape, scratch, centre_id, centre_row, m, alpha, rng):
    """Write the steps of a group's targets, −α dL/dlogit, from their logits; return the sum of its losses."""
    loss, exclusion = plugs.loss, plugs.exclusion
    positive_steps, negative_steps = scratch.positive_steps, scratch.negative_steps
    n = shape.n_negatives
    draws = n if shape.shared else n * m
    positive_weights, negative_weights = scratch.positive_weights, scratch.negative_weights
    if not shape.gaps and (
        not shape.weighed or weigh_group(plugs.weigher, weigher_state, m, draws, positive_weights, negative_weights)
    ):
        done, value = step_group(
            loss,
            shape.shared,
            shape.weighed,
            m,
            n,
            scratch.positive_odds,
            scratch.negative_odds,
            positive_weights,
            negative_weights,
            positive_steps,
            negative_steps,
        )
        if done and not _excludes_some(exclusion, shape, scratch, centre_id, m):
            for k in range(m):
                positive_steps[k] *= -alpha
            for k in range(draws):
                negative_steps[k] *= -alpha
            return value
    ids, logits, odds, log_q = scratch.ids, scratch.logits, scratch.odds, scratch.log_q
    weights, gradients = scratch.weights, scratch.gradients
    for k in range(draws):
        negative_steps[k] = _ZERO
    value = 0.0
    for k in range(m):
        offset = _gather(shape, scratch, k)
        changed = exclude(exclusion, centre_id, scratch.positives, m, ids, weights)
        if shape.gaps:
            changed = True
            for j in range(1, 1 + n):
                if ids[j] < 0:
                    weights[j] = _ZERO
        changed |= weigh(plugs.weigher, weigher_state, k, offset, ids, logits, odds, log_q, weights)
        value += step(loss, centre_row, alpha, rng, logits, odds, log_q, weights, gradients)
        if changed:  # they come as 1 to the next pair
            for j in range(1 + n):
                weights[j] = _ONE
        positive_steps[k] = -alpha * gradients[0]
        for j in range(n):
            negative_steps[offset + j] -= alpha * gradients[1 + j]
    return value


@njit(merged=True)
def run_shard(plugs, shape, inputs, out, tokens, first, last, alphas, rng):
    """Train on the groups whose centres stand at ``tokens[first:last]``.

    Parameters
    ----------
    plugs : Plugs
    shape : Shape
    inputs, out : Rows
        Both matrices as this worker sees them; updated in place.
    tokens : int32, (capacity,)
        The block's scratch as `fill` left it.
    first, last : int
    alphas : (float, float)
        Learning rate at `first` and at `last`; linear between them.
    rng : uint64, (1,)

    Returns
    -------
    (loss, pairs) : (float64, int64)
        Sum of the losses of the positives (NaN if a centre's row has exploded), and their number.
    """
    scratch = _scratch(shape, inputs.matrix.shape[1])
    n_draws = scratch.negatives.shape[0]
    states = open_sampler(plugs.sampler, n_draws), open_weigher(plugs.weigher, shape.max_positives, n_draws)
    return _train_groups(plugs, states, shape, scratch, inputs, out, tokens, first, last, alphas, rng)


@njit(borrows=True)
def _train_groups(plugs, states, shape, scratch, inputs, out, tokens, first, last, alphas, rng):
    """The loop of `run_shard`, apart from all allocation so that no reference is counted in it."""
    source, sampler, weigher = plugs.source, plugs.sampler, plugs.weigher
    sampler_state, weigher_state = states
    matrix_in, matrix_out = inputs.matrix, out.matrix
    x, gradient = scratch.x, scratch.gradient
    dim, width = x.shape[0], out.width
    n = shape.n_negatives
    positives, positive_rows = scratch.positives, scratch.positive_rows
    positive_logits, positive_odds = scratch.positive_logits, scratch.positive_odds
    positive_steps, positive_log_q = scratch.positive_steps, scratch.positive_log_q
    negatives, negative_rows = scratch.negatives, scratch.negative_rows
    negative_logits, negative_odds = scratch.negative_logits, scratch.negative_odds
    negative_steps, negative_log_q = scratch.negative_steps, scratch.negative_log_q
    start, slope = np.float32(alphas[0]), np.float32((alphas[1] - alphas[0]) / max(last - first, 1))
    loss_sum, pairs = 0.0, 0
    for position in range(first, last):
        m = group(source, tokens, position, rng, positives)
        if m == 0:
            continue
        centre_id, place = tokens[position], position - first
        centre_row = row_of(inputs, centre_id)
        for i in range(dim):
            x[i] = matrix_in[centre_row, i]
            gradient[i] = _ZERO
        following = tokens[position + 1]
        if following >= 0:
            fetch_row(matrix_in, row_of(inputs, following))
        draws = n if shape.shared else n * m
        known = draw(
            sampler, sampler_state, place, centre_id, x, out, rng, draws, negatives, negative_log_q, negative_logits
        )
        for k in range(m):
            positive_rows[k] = row_of(out, positives[k])
        for k in range(draws):
            negative_rows[k] = row_of(out, max(negatives[k], 0) if shape.gaps else negatives[k])
            if not known:  # else the sampler has just looked at it
                fetch_row(matrix_out, negative_rows[k])
        dots(width, matrix_out, positive_rows, m, x, positive_logits)
        if not known:
            dots(width, matrix_out, negative_rows, draws, x, negative_logits)
        if shape.positive_log_q:
            log_noise(sampler, sampler_state, place, centre_id, m, positives, positive_logits, positive_log_q)
        if shape.absolute:
            _make_absolute(positive_logits, m, scratch.positive_signs)
            _make_absolute(negative_logits, draws, scratch.negative_signs)
        exp_into(positive_logits, padded(m), _ONE, _ZERO, positive_odds)
        exp_into(negative_logits, padded(draws), _ONE, _ZERO, negative_odds)
        alpha = start + slope * np.float32(place)
        if not regard(
            weigher, weigher_state, width, centre_row, m, positive_rows, draws, negative_rows, negatives, alpha, rng
        ):
            continue
        loss_sum += _steps(plugs, weigher_state, shape, scratch, centre_id, centre_row, m, alpha, rng)
        norm2 = dot(x, x)
        if not (norm2 < _EXPLODED):
            loss_sum = np.nan
        if shape.absolute:
            for k in range(m):
                positive_steps[k] *= scratch.positive_signs[k]
            for k in range(draws):
                negative_steps[k] *= scratch.negative_signs[k]
        if shape.bounded:
            bound_steps(positive_steps, m, negative_steps, draws, norm2)
        step_rows(width, matrix_out, positive_rows, positive_steps, m, x, gradient)
        step_rows(width, matrix_out, negative_rows, negative_steps, draws, x, gradient)
        for i in range(dim):
            matrix_in[centre_row, i] += gradient[i]
        follow(sampler, sampler_state, m, positives, draws, negatives, out)
        pairs += m
    return loss_sum, pairs
