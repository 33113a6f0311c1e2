"""The hot loop's questions without its updates: what the plugs draw, weigh and answer for given pairs."""

from typing import NamedTuple

import numpy as np

from ..jit import njit
from .contracts import draw, exclude, fill, group, log_prob, open_sampler, open_weigher, prepare_group, step, weigh
from .functions import exp_into
from .linalg import dots, row_of

_ZERO = np.float32(0.0)
_ONE = np.float32(1.0)
_EMPTY = np.float32(np.inf)  # log q of an empty place


class Pairs(NamedTuple):
    """Pairs to look at. centres : int32, (n_pairs,); positives : int32, (n_pairs, most), all of the group, that of the
    pair first; sizes : int64, (n_pairs,), how many those are
    """

    centres: np.ndarray
    positives: np.ndarray
    sizes: np.ndarray


class Seen(NamedTuple):
    """What was seen, a row a task. ids : int32, (n_tasks, n), -1 for empty places
    weights, gradients : float32, (n_tasks, 1 + n), the positive first; gradients with respect to the dot products
    """

    ids: np.ndarray
    weights: np.ndarray
    gradients: np.ndarray


@njit
def sample_groups(source, ranges, epoch_key, rng, tokens, pairs):
    """Write into `pairs` the first group of each stretch ``spans[c]`` (int64, (n_pairs, 2)); size 0 if it has none.

    epoch_key : uint64, names the choice of kept tokens; tokens : int32, scratch as for `fill`
    """
    for c in range(ranges.shape[0]):
        first, last = fill(source, ranges[c, 0], ranges[c, 1], epoch_key, tokens)
        pairs.sizes[c] = 0
        for position in range(first, last):
            m = group(source, tokens, position, rng, pairs.positives[c])
            if m > 0:
                pairs.centres[c] = tokens[position]
                pairs.sizes[c] = m
                break


@njit
def observe(plugs, shape, inputs, out, pairs, tasks, every, rng, seen):
    """Draw a set of negatives for each task and ask the loss for its gradient; nothing is trained.

    Parameters
    ----------
    plugs : Plugs; shape : Shape
    inputs, out : Rows
    pairs : Pairs
    tasks : int64, (n_tasks,)
        Which pair each task looks at; a task's place is what the sampler is told for its group.
    every : int
        Tasks after which sampler and weigher start from fresh states, as at a launch.
    rng : uint64, (1,)
    seen : Seen
        Written in place.
    """
    n = shape.n_negatives
    states = open_sampler(plugs.sampler, n), open_weigher(plugs.weigher, shape.max_positives, n)
    x = np.empty(inputs.matrix.shape[1], np.float32)
    rows, drawn = np.zeros(1 + n, np.int64), np.empty(n, np.int32)
    drawn_logits = np.empty(n, np.float32)
    drawn_log_q = np.zeros(n if shape.needs_log_q else 0, np.float32)
    ids, logits, exp_logits = np.empty(1 + n, np.int32), np.empty(1 + n, np.float32), np.empty(1 + n, np.float32)
    signs, log_q = np.ones(1 + n, np.float32), np.zeros(1 + n if shape.needs_log_q else 0, np.float32)
    positive_log_q = np.zeros(1 if shape.positive_log_q else 0, np.float32)
    for t in range(tasks.shape[0]):
        if t > 0 and t % every == 0:
            states = open_sampler(plugs.sampler, n), open_weigher(plugs.weigher, shape.max_positives, n)
        sampler_state, weigher_state = states
        c = tasks[t]
        centre_id, positives = pairs.centres[c], pairs.positives[c]
        centre_row = row_of(inputs, centre_id)
        x[:] = inputs.matrix[centre_row]
        draw(plugs.sampler, sampler_state, t, centre_id, x, out, rng, n, drawn, drawn_log_q, drawn_logits)
        ids[0], rows[0] = positives[0], row_of(out, positives[0])
        for k in range(n):
            ids[1 + k] = drawn[k]
            rows[1 + k] = row_of(out, max(drawn[k], 0))
        dots(out.width, out.matrix, rows, 1 + n, x, logits)
        if shape.positive_log_q:
            log_prob(plugs.sampler, sampler_state, t, centre_id, 1, positives, logits, positive_log_q)
            log_q[0] = positive_log_q[0]
        if shape.needs_log_q:
            for k in range(n):
                log_q[1 + k] = _EMPTY if drawn[k] < 0 else drawn_log_q[k]
        if shape.absolute:
            for k in range(1 + n):
                signs[k] = -_ONE if logits[k] < _ZERO else _ONE
                logits[k] *= signs[k]
        exp_into(logits, 1 + n, _ONE, _ZERO, exp_logits)
        width = out.width
        prepare_group(plugs.weigher, weigher_state, width, centre_row, 1, rows[:1], n, rows[1:], drawn, _ZERO, rng)
        weights, gradients = seen.weights[t], seen.gradients[t]
        weights[:] = _ONE
        exclude(plugs.exclusion, centre_id, positives, pairs.sizes[c], ids, weights)
        for k in range(1, 1 + n):
            if ids[k] < 0:
                weights[k] = _ZERO
        weigh(plugs.weigher, weigher_state, 0, 0, ids, logits, exp_logits, log_q, weights)
        step(plugs.loss, centre_row, _ZERO, rng, logits, exp_logits, log_q, weights, gradients)
        seen.ids[t] = drawn
        for k in range(1 + n):
            gradients[k] *= signs[k]


@njit
def enumerate_noise(sampler, inputs, out, centres, n, rng, words, logits, log_q):
    """Write into `log_q` (float32, (n_centres, n_vocab)) what the sampler answers for each of `words` (int32) after a
    draw of n for each centre; `logits`, float32, are their dot products. A centre's place is that of its group.
    """
    state = open_sampler(sampler, n)
    drawn, unread, drawn_logits = np.empty(n, np.int32), np.zeros(n, np.float32), np.empty(n, np.float32)
    for c in range(centres.shape[0]):
        x = inputs.matrix[row_of(inputs, centres[c])]
        draw(sampler, state, c, centres[c], x, out, rng, n, drawn, unread, drawn_logits)
        log_prob(sampler, state, c, centres[c], words.shape[0], words, logits[c], log_q[c])
