"""The loop of losses that decide along paths of a tree, and so need no negatives.

    walk a group -> gather -> mean -> nodes of the positives' paths -> dots -> steps -> bound -> update

A target's logits are those of the inner nodes on its path, which the loss holds: ``starts`` and ``turns``, as
`huffman.huffman_paths` makes them. Row v of the output matrix is inner node v. A node that lies on the paths of several
positives, as the root does, is looked at once and counts for each of them.
"""

from typing import NamedTuple

import numpy as np

from ..jit import njit
from .bags import add_to_bag, mean_of_bag
from .contracts import gather, group, prefetch_hint
from .functions import FULL, exp_into, fast_log, padded
from .groups import EXPLODED, on_own_lines
from .linalg import bound_steps, dot, dots, fetch_row, row_of, step_rows
from .schedule import linear

_ZERO = np.float32(0.0)
_ONE = np.float32(1.0)


class Path(NamedTuple):
    """Scratch of one shard: the inner nodes of a group, their rows, logits, e^logits and steps, how often the group's
    paths pass each and how often they turn left there; and for each node of the tree its place among them.
    """

    nodes: np.ndarray
    rows: np.ndarray
    logits: np.ndarray
    exp_logits: np.ndarray
    steps: np.ndarray
    passes: np.ndarray
    lefts: np.ndarray
    places: np.ndarray


def make_path(loss, max_positives):
    """Return a `Path` with room for the paths of so many positives."""
    n_nodes = len(loss.starts) - 2
    longest = int(np.diff(loss.starts).max(initial=0))
    room = min(n_nodes, max_positives * longest)
    path = Path(
        np.empty(room, np.int32),
        np.empty(room, np.int64),
        np.zeros(padded(room), np.float32),
        np.zeros(padded(room), np.float32),
        np.empty(room, np.float32),
        np.empty(room, np.float32),
        np.empty(room, np.float32),
        np.zeros(n_nodes, np.int32),
    )
    return on_own_lines(path)


@njit(borrows=True)
def collect_nodes(loss, positives, m, path):
    """Write the distinct inner nodes on the paths of m positives into the scratch; return their number (int)."""
    nodes, passes, lefts, places = path.nodes, path.passes, path.lefts, path.places
    n = 0
    for k in range(m):
        for at in range(loss.starts[positives[k]], loss.starts[positives[k] + 1]):
            node, right = loss.turns[at] >> 1, loss.turns[at] & 1
            place = places[node]
            if place >= n or nodes[place] != node:
                place = n
                nodes[n], places[node], passes[n], lefts[n] = node, n, _ZERO, _ZERO
                n += 1
            passes[place] += _ONE
            lefts[place] += np.float32(1 - right)
    return n


@njit(borrows=True)
def find_path_gradients(path, n):
    """Write dL/ds of each node, passes · σ(s) − lefts, into the steps.

    Return L = Σ passes · log(1 + e^s) − lefts · s over the first n nodes (float64).
    """
    logits, exp_logits, passes, lefts = path.logits, path.exp_logits, path.passes, path.lefts
    exp_into(logits, padded(n), _ONE, _ZERO, exp_logits)
    value, product = 0.0, 1.0  # one logarithm for many factors
    for k in range(n):
        total = _ONE + exp_logits[k]
        path.steps[k] = passes[k] * (exp_logits[k] / total) - lefts[k]
        value -= np.float64(lefts[k] * logits[k])
        if passes[k] == _ONE:
            product *= np.float64(total)
            if product > FULL:
                value += fast_log(product)
                product = 1.0
        else:
            value += np.float64(passes[k]) * fast_log(np.float64(total))
    return value + fast_log(product)


@njit(loop=True)
def train_paths(shape, around, plugs, scratch, bag, path, words, grams, out, tokens, first, last, alphas, rng):
    """Train on the groups at ``tokens[first:last]``; arguments and result are those of `bags.train_bags`."""
    source, inputs, loss = plugs.source, plugs.inputs, plugs.loss
    matrix_out, x, total, positives = out.matrix, scratch.x, bag.step, scratch.positives
    width = out.width
    each = 1.0 / max(last - first, 1)
    loss_sum, pairs = 0.0, 0
    for position in range(first, last):
        m = group(source, tokens, position, rng, positives)
        if m == 0:
            continue
        m, n_words, n_grams = gather(inputs, tokens, position, m, positives, bag.words, bag.grams)
        n = collect_nodes(loss, positives, m, path)
        for k in range(n):
            path.rows[k] = row_of(out, path.nodes[k])
            fetch_row(matrix_out, path.rows[k])
        following, coming = tokens[position + 1], prefetch_hint(source, tokens, position)
        if not around and following >= 0:
            fetch_row(words.matrix, row_of(words, following))
        if around and coming >= 0:
            fetch_row(words.matrix, row_of(words, coming))
        mean_of_bag(width, words, grams, bag, n_words, n_grams, x)
        dots(width, matrix_out, path.rows, n, x, path.logits)
        loss_sum += find_path_gradients(path, n)
        norm2 = dot(x, x)
        if not (norm2 < EXPLODED):
            loss_sum = np.nan
        alpha = np.float32(linear(alphas[0], alphas[1], (position - first) * each))
        for k in range(n):
            path.steps[k] *= -alpha
        if shape.bounded:
            bound_steps(path.steps, 0, path.steps, n, norm2)
        for i in range(total.shape[0]):
            total[i] = _ZERO
        step_rows(width, matrix_out, path.rows, path.steps, n, x, total)
        add_to_bag(words, grams, bag, n_words, n_grams, total)
        pairs += m
    return loss_sum, pairs
