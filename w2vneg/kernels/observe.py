"""The training loop without its updates: what the plugs draw, weigh and return for given pairs."""

from collections import namedtuple

import numpy as np

from ..ground.jit import ZERO, njit
from ..ground.registry import Sharing
from .contracts import draw, fill, group, log_prob, open_sampler, open_weigher
from .groups import Group, find_gradients, make_scratch
from .linalg import dots, row_of

Pairs = namedtuple("Pairs", "centres positives sizes")
"""Pairs to observe. centres : int32, (n_pairs,); positives : int32, (n_pairs, most), all those of the group, the
pair's own first; sizes : int64, (n_pairs,), their number
"""


Seen = namedtuple("Seen", "ids weights gradients")
"""Observations, one row per task. ids : int32, (n_tasks, n), -1 for empty slots
weights, gradients : float32, (n_tasks, 1 + n), the positive first; gradients with respect to the dot products
"""


@njit
def sample_groups(source, ranges, epoch_key, rng, tokens, pairs):
    """Write into `pairs` the first group of each span ``ranges[c]`` (int64, (n_pairs, 2)); size 0 if it has none.

    epoch_key : uint64, determines the kept tokens; tokens : int32, scratch as for `fill`
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


def observe(plugs, shape, inputs, out, pairs, tasks, every, rng, seen):
    """Draw a set of negatives for each task and write the loss's gradients into `seen`; nothing is trained.

    tasks : int64, (n_tasks,), index of the pair of each; the sampler gets a task's index as its group
    every : int, number of tasks after which sampler and weigher start from fresh states, as at a launch
    """
    one_by_one = shape._replace(sharing=int(Sharing.CENTRE), gaps=True)  # computes all weights, pair by pair
    scratch = make_scratch(one_by_one, inputs.matrix.shape[1])
    _observe(plugs, one_by_one, scratch, inputs, out, pairs, tasks, every, rng, seen)


@njit
def _observe(plugs, shape, scratch, inputs, out, pairs, tasks, every, rng, seen):
    n, x, width = shape.n_negatives, scratch.x, out.width
    negatives, negative_rows, negative_logits = scratch.negatives, scratch.negative_rows, scratch.negative_logits
    states = open_sampler(plugs.sampler, n), open_weigher(plugs.weigher, shape.max_positives, n)
    for t in range(tasks.shape[0]):
        if t > 0 and t % every == 0:
            states = open_sampler(plugs.sampler, n), open_weigher(plugs.weigher, shape.max_positives, n)
        c = tasks[t]
        centre_id, size = pairs.centres[c], pairs.sizes[c]
        scratch.positives[:size] = pairs.positives[c, :size]
        scratch.centres[0], scratch.centre_rows[0] = centre_id, row_of(inputs, centre_id)
        x[:] = inputs.matrix[scratch.centre_rows[0]]
        draw(plugs.sampler, states[0], t, centre_id, x, out, rng, n, negatives, scratch.negative_log_q, negative_logits)
        scratch.positive_rows[0] = row_of(out, scratch.positives[0])
        for k in range(n):
            negative_rows[k] = row_of(out, max(negatives[k], 0))
        dots(width, out.matrix, scratch.positive_rows, 1, x, scratch.positive_logits)
        dots(width, out.matrix, negative_rows, n, x, negative_logits)
        find_gradients(plugs, states, shape, scratch, width, Group(t, centre_id, 1, size), ZERO, rng)
        seen.ids[t] = negatives
        seen.weights[t] = scratch.weights
        seen.gradients[t, 0] = scratch.positive_steps[0]
        seen.gradients[t, 1:] = scratch.negative_steps[:n]


@njit
def enumerate_noise(sampler, inputs, out, centres, n, rng, words, logits, log_q):
    """Write into `log_q` (float32, (n_centres, n_words)) the sampler's log q of each of `words` (int32), after n draws
    for each centre. `logits`, float32, are their dot products. The index of a centre is that of its group.
    """
    state = open_sampler(sampler, n)
    drawn, unread, drawn_logits = np.empty(n, np.int32), np.zeros(n, np.float32), np.empty(n, np.float32)
    for c in range(centres.shape[0]):
        x = inputs.matrix[row_of(inputs, centres[c])]
        draw(sampler, state, c, centres[c], x, out, rng, n, drawn, unread, drawn_logits)
        log_prob(sampler, state, c, centres[c], words.shape[0], words, logits[c], log_q[c])
