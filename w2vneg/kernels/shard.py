"""The hot loop: one worker's share of one round.

    walk a group -> draw -> dots -> weigh -> step -> bound -> update

Every objective goes through here; what differs is behind the sockets of `contracts`.
"""

from typing import NamedTuple

import numpy as np

from ..jit import njit
from .contracts import draw, group, open_sampler, step, weigh
from .functions import exp_into
from .linalg import dot, dots, fetch_row, row_of, step_rows

_ZERO = np.float32(0.0)
_ONE = np.float32(1.0)
_EXPLODED = np.float32(1e8)  # |x|² beyond this (or NaN) is no embedding any more


class Plugs(NamedTuple):
    """What a run is made of: the source of groups and the three plugs (each a NamedTuple)."""

    source: tuple
    sampler: tuple
    weigher: tuple
    loss: tuple


class Shape(NamedTuple):
    """max_positives : int, the largest group; n_negatives : int, per positive (or per group when shared)
    shared : bool, one set of negatives for the group; needs_log_q : bool, somebody reads log q
    bounded : bool, hold a group's steps to about one unit of logit (see `_bound`)
    exclude_target : bool, a negative that is the positive weighs nothing
    """

    max_positives: int
    n_negatives: int
    shared: bool
    needs_log_q: bool
    bounded: bool
    exclude_target: bool = False


@njit
def _bound(positive_steps, m, negative_steps, draws, norm2):
    """Scale a group's steps so that its positives together, and each negative, move a logit by at most 1.

    Row k moves by c_k x and so its logit by c_k |x|². The positives are taken together, as they may be one row: without
    this a window that repeats one word takes many stale steps along that row, and at a high alpha vectors grow without
    limit. Negatives are taken singly: counting their sum as well would cut ordinary steps and costs quality (measured).
    """
    reach = _ZERO
    for k in range(m):
        reach += abs(positive_steps[k])
    for k in range(draws):
        step_size = abs(negative_steps[k])
        reach = step_size if step_size > reach else reach
    if reach * norm2 > _ONE:
        scale = _ONE / (reach * norm2)
        for k in range(m):
            positive_steps[k] *= scale
        for k in range(draws):
            negative_steps[k] *= scale


@njit
def exclude(ids, weights):
    """Let negatives that are the positive ``ids[0]`` weigh nothing; tell whether there was one."""
    found = False
    for j in range(1, ids.shape[0]):
        if ids[j] == ids[0]:
            weights[j] = _ZERO
            found = True
    return found


@njit
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
    source, sampler, weigher, loss = plugs
    matrix_in, matrix_out = inputs.matrix, out.matrix  # taken out once: each access counts a reference
    dim, width = matrix_in.shape[1], out.width
    n = shape.n_negatives
    max_draws = n if shape.shared else n * shape.max_positives
    group_log_q = max_draws if shape.needs_log_q else 0
    positives = np.empty(shape.max_positives, np.int32)
    positive_rows = np.empty(shape.max_positives, np.int64)
    positive_logits = np.empty(shape.max_positives, np.float32)
    positive_odds = np.empty(shape.max_positives, np.float32)
    positive_steps = np.empty(shape.max_positives, np.float32)
    negatives = np.empty(max_draws, np.int32)
    negative_rows = np.empty(max_draws, np.int64)
    negative_logits = np.empty(max_draws, np.float32)
    negative_odds = np.empty(max_draws, np.float32)
    negative_steps = np.empty(max_draws, np.float32)
    log_q = np.zeros(group_log_q, np.float32)
    pair_ids = np.empty(1 + n, np.int32)  # what weigh and step see of one positive and its negatives
    pair_logits = np.empty(1 + n, np.float32)
    pair_odds = np.empty(1 + n, np.float32)
    pair_log_q = np.zeros(1 + n if shape.needs_log_q else 0, np.float32)
    pair_weights = np.ones(1 + n, np.float32)
    pair_gradients = np.empty(1 + n, np.float32)
    x = np.empty(dim, np.float32)
    gradient = np.empty(dim, np.float32)
    state = open_sampler(sampler, max_draws)
    start, slope = np.float32(alphas[0]), np.float32((alphas[1] - alphas[0]) / max(last - first, 1))
    loss_sum, pairs = 0.0, 0
    for position in range(first, last):
        m = group(source, tokens, position, rng, positives)
        if m == 0:
            continue
        centre_id = tokens[position]
        centre_row = row_of(inputs, centre_id)
        for i in range(dim):
            x[i] = matrix_in[centre_row, i]
            gradient[i] = _ZERO
        following = tokens[position + 1]
        if following >= 0:
            fetch_row(matrix_in, row_of(inputs, following))
        draws = n if shape.shared else n * m
        known = draw(sampler, state, position - first, centre_id, x, out, rng, draws, negatives, log_q, negative_logits)
        for k in range(m):
            positive_rows[k] = row_of(out, positives[k])
        for k in range(draws):
            negative_rows[k] = row_of(out, negatives[k])
            if not known:  # else the sampler has just looked at it
                fetch_row(matrix_out, negative_rows[k])
            negative_steps[k] = _ZERO
        dots(width, matrix_out, positive_rows, m, x, positive_logits)
        if not known:
            dots(width, matrix_out, negative_rows, draws, x, negative_logits)
        exp_into(positive_logits, m, _ONE, _ZERO, positive_odds)
        exp_into(negative_logits, draws, _ONE, _ZERO, negative_odds)
        alpha = start + slope * np.float32(position - first)
        for k in range(m):
            offset = 0 if shape.shared else k * n
            pair_ids[0], pair_logits[0], pair_odds[0] = positives[k], positive_logits[k], positive_odds[k]
            if k == 0 or not shape.shared:
                for j in range(n):
                    pair_ids[1 + j] = negatives[offset + j]
                    pair_logits[1 + j] = negative_logits[offset + j]
                    pair_odds[1 + j] = negative_odds[offset + j]
                if shape.needs_log_q:
                    for j in range(n):
                        pair_log_q[1 + j] = log_q[offset + j]
            weigh(weigher, centre_id, pair_ids, pair_logits, pair_odds, pair_log_q, pair_weights)
            excluded = shape.exclude_target and exclude(pair_ids, pair_weights)
            loss_sum += step(loss, pair_logits, pair_odds, pair_log_q, pair_weights, pair_gradients)
            if excluded:
                for j in range(1 + n):
                    pair_weights[j] = _ONE
            positive_steps[k] = -alpha * pair_gradients[0]
            for j in range(n):
                negative_steps[offset + j] -= alpha * pair_gradients[1 + j]
        norm2 = dot(x, x)
        if not (norm2 < _EXPLODED):
            loss_sum = np.nan
        if shape.bounded:
            _bound(positive_steps, m, negative_steps, draws, norm2)
        step_rows(width, matrix_out, positive_rows, positive_steps, m, x, gradient)
        step_rows(width, matrix_out, negative_rows, negative_steps, draws, x, gradient)
        for i in range(dim):
            matrix_in[centre_row, i] += gradient[i]
        pairs += m
    return loss_sum, pairs
