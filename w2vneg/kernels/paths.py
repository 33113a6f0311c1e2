"""The loops for losses that decide along paths of a tree and need no negatives.

    walk a group -> gather -> mean -> nodes of the positives' paths -> dots -> steps -> bound -> update -> shrink

A target's logits are those of the inner nodes on its path. The loss holds the paths as ``starts`` and ``turns``, made
by `huffman_paths`. Row v of the output matrix is inner node v. A node on the paths of several positives, such as the
root, is processed once and counts for each of them.

If pairs go both ways and a centre has a row of its own, a group is seen from its other side, as in `window`: the
context words are the centres, and all of them follow the one path of the middle word, six nodes at a time.
"""

from collections import namedtuple

import numpy as np

from ..ground.jit import ONE, ZERO, njit
from .bags import add_to_bag, mean_of_bag, shrink_bag
from .contracts import gather, group, prefetch_hint
from .functions import FULL, exp_into, fast_log, padded
from .groups import EXPLODED, on_own_lines
from .linalg import bound_steps, dot, dots, fetch_row, row_of, window_products, window_steps
from .schedule import linear
from .simd.tiles import NEGATIVES
from .updates import shrink, shrink_each, step_targets

TILE = 1 + NEGATIVES  # nodes processed at once for all centres of a window
_NEAR = 6  # levels below the root whose nodes are in the cache anyway


Path = namedtuple("Path", "nodes rows logits exp_logits steps passes lefts places")
"""Scratch of one shard: the inner nodes of a group, their rows, logits, e^logits and steps, how often the group's
paths pass each and how often they turn left there; and, for each node of the tree, its index among them.

For a window, logits and steps are stored by tiles: the first node's for all centres, then each centre's for the others.
"""


def make_path(loss, max_positives):
    """Return a `Path` with room for the paths of `max_positives` positives."""
    n_nodes = len(loss.starts) - 2
    longest = int(np.diff(loss.starts).max(initial=0))
    room = max_positives * longest
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
                nodes[n], places[node], passes[n], lefts[n] = node, n, ZERO, ZERO
                n += 1
            passes[place] += ONE
            lefts[place] += np.float32(1 - right)
    return n


@njit(borrows=True)
def find_path_gradients(path, n):
    """Write dL/ds of each node, passes · σ(s) − lefts, into the steps.

    Return L = Σ passes · log(1 + e^s) − lefts · s over the first n nodes (float64).
    """
    logits, exp_logits, passes, lefts = path.logits, path.exp_logits, path.passes, path.lefts
    exp_into(logits, padded(n), ONE, ZERO, exp_logits)
    value, product = 0.0, 1.0  # one logarithm for many factors
    for k in range(n):
        total = ONE + exp_logits[k]
        path.steps[k] = passes[k] * (exp_logits[k] / total) - lefts[k]
        value -= np.float64(lefts[k] * logits[k])
        if passes[k] == ONE:
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
            total[i] = ZERO
        step_targets(out.frozen, out, path.nodes, path.rows, path.steps, n, x, total)
        add_to_bag(words, grams, bag, n_words, n_grams, total)
        shrink_bag(words, grams, bag, n_words, n_grams, alpha * np.float32(m))
        for k in range(n):
            shrink(out.decay, out.frozen, out, path.nodes[k], alpha * path.passes[k])
        pairs += m
    return loss_sum, pairs


@njit(borrows=True)
def find_window_gradients(loss, path, begin, n, m, alpha, norms):
    """Write the steps, -alpha · dL/ds, of m centres at the n nodes of the path that begins at ``loss.turns[begin]``.

    norms : float32, (m,), |x|² of the centres

    Returns the sum of the losses, and the most that the steps of one node's row move a logit: (float64, float32).
    """
    logits, exp_logits, steps = path.logits, path.exp_logits, path.steps
    exp_into(logits, padded(m * n), ONE, ZERO, exp_logits)
    value, product, reach = 0.0, 1.0, ZERO
    for j in range(n):
        first = j // TILE * TILE
        others = min(TILE, n - first) - 1
        at, apart = (first * m, 1) if j == first else (first * m + m + j - first - 1, others)
        left, moved = np.float32(1 - (loss.turns[begin + j] & 1)), ZERO
        for k in range(m):
            place = at + k * apart
            total = ONE + exp_logits[place]
            step = -alpha * (exp_logits[place] / total - left)
            steps[place] = step
            moved += abs(step) * norms[k]
            value -= np.float64(left * logits[place])
            product *= np.float64(total)
            if product > FULL:
                value += fast_log(product)
                product = 1.0
        reach = moved if moved > reach else reach
    return value + fast_log(product), reach


@njit(loop=True)
def train_path_windows(shape, plugs, scratch, path, inputs, out, tokens, first, last, alphas, rng):
    """Train on the windows around ``tokens[first:last]``; arguments and result are those of `shard.run_shard`.

    All logits are computed before any row changes; then the centres step along the path, tile by tile.
    """
    source, loss = plugs.source, plugs.loss
    matrix_in, matrix_out, width = inputs.matrix, out.matrix, out.width
    centres, centre_rows, norms, rows = scratch.centres, scratch.centre_rows, scratch.norms, path.rows
    logits, steps, room = path.logits, path.steps, scratch.gradients
    each = 1.0 / max(last - first, 1)
    loss_sum, pairs = 0.0, 0
    for position in range(first, last):
        m = group(source, tokens, position, rng, centres)
        if m == 0:
            continue
        begin, end = loss.starts[tokens[position]], loss.starts[tokens[position] + 1]
        n = end - begin
        for j in range(n):
            rows[j] = row_of(out, loss.turns[begin + j] >> 1)
        following, coming = tokens[position + 1], prefetch_hint(source, tokens, position)
        if following >= 0:
            for at in range(loss.starts[following] + _NEAR, loss.starts[following + 1]):
                fetch_row(matrix_out, row_of(out, loss.turns[at] >> 1))
        if coming >= 0:
            fetch_row(matrix_in, row_of(inputs, coming))
        for k in range(m):
            centre_rows[k] = row_of(inputs, centres[k])
        for j in range(0, n, TILE):
            others, at = min(TILE, n - j) - 1, j * m
            window_products(
                width, matrix_in, centre_rows, m, matrix_out, rows[j:], others, logits[at:], logits[at + m :], norms
            )
        for k in range(m):
            if not (norms[k] < EXPLODED):
                loss_sum = np.nan
        alpha = np.float32(linear(alphas[0], alphas[1], (position - first) * each))
        value, reach = find_window_gradients(loss, path, begin, n, m, alpha, norms)
        loss_sum += value
        if shape.bounded and reach > ONE:
            for k in range(m * n):
                steps[k] /= reach
        for j in range(0, n, TILE):
            others, at = min(TILE, n - j) - 1, j * m
            window_steps(
                width, matrix_in, centre_rows, m, matrix_out, rows[j:], others, steps[at:], steps[at + m :], room
            )
        shrink_each(inputs.decay, inputs.frozen, inputs, centres, m, alpha)
        for j in range(n):
            shrink(out.decay, out.frozen, out, loss.turns[begin + j] >> 1, alpha * np.float32(m))
        pairs += m
    return loss_sum, pairs


def huffman_paths(counts):
    """Build the Huffman tree of counts in falling order: merge the two rarest nodes until one is left (Huffman 1952).
    Frequent targets are near the root. Inner nodes are numbered from the root by falling count.

    Returns starts : int64, (n_targets + 1,), where the path of each target begins in `turns`
        turns : int32, paths from the root down: 2 · node, plus 1 for a turn to the right, the more frequent side
    """
    counts = np.ascontiguousarray(counts, np.int64)
    parents, rights = _merge_rarest(counts)
    depths = _depths(parents, len(counts))
    starts = np.concatenate([[0], np.cumsum(depths[: len(counts)])])
    return starts, _turns(parents, rights, starts)


@njit
def _merge_rarest(counts):
    """Return each node's parent, an inner node number, and its side, 1 for right; leaves first, then inner nodes."""
    n = counts.shape[0]
    inner = max(n - 1, 0)
    parents, rights = np.full(n + inner, -1, np.int32), np.zeros(n + inner, np.uint8)
    passes = np.zeros(inner, np.int64)
    leaf, oldest = n - 1, inner - 1  # the rarest of either kind: both queues are sorted
    for made in range(inner - 1, -1, -1):
        for side in range(2):
            if leaf >= 0 and (oldest <= made or counts[leaf] < passes[oldest]):
                child, count = leaf, counts[leaf]
                leaf -= 1
            else:
                child, count = n + oldest, passes[oldest]
                oldest -= 1
            parents[child], rights[child] = made, side
            passes[made] += count
    return parents, rights


@njit
def _depths(parents, n):
    """Return the number of inner nodes above each node: int64, leaves first, then inner nodes."""
    depths = np.zeros(parents.shape[0], np.int64)
    for node in range(n + 1, parents.shape[0]):  # a parent's number is below its children's
        depths[node] = depths[n + parents[node]] + 1
    for leaf in range(n):
        depths[leaf] = depths[n + parents[leaf]] + 1 if parents[leaf] >= 0 else 0
    return depths


@njit
def _turns(parents, rights, starts):
    n = starts.shape[0] - 1
    turns = np.empty(starts[n], np.int32)
    for leaf in range(n):
        node = leaf
        for place in range(starts[leaf + 1] - 1, starts[leaf] - 1, -1):
            turns[place] = 2 * parents[node] + rights[node]
            node = n + parents[node]
    return turns
