"""The hot loop: one worker's share of one round.

    walk a group -> prescore -> draw -> dots -> [prepare_group -> exclude -> weigh -> step] -> bound -> update -> shrink

Every objective runs through this loop; the sockets of `contracts` hold the differences. The steps in brackets are
`groups.find_gradients`, which four loops share: this one, `window` for negatives shared by a window, `bags` for vectors
made of several rows, and `observe`, which does not train. A loss along paths of a tree has no negatives and a loop of
its own, `paths`.
"""

import numpy as np

from ..ground.jit import launch, njit
from ..ground.registry import Sharing
from .bags import make_bag, train_bags
from .contracts import draw, fetches, fill, group, on_update, open_sampler, open_weigher, prefetch_hint, prescore
from .groups import EXPLODED, Group, drawn_places, find_gradients, make_scratch, on_own_lines, scale_steps
from .linalg import bound_steps, dot, dots, fetch_row, row_of
from .paths import make_path, train_path_windows, train_paths
from .schedule import linear
from .updates import shrink, shrink_each, stays, step_targets
from .window import train_windows


def run_shard(plugs, shape, inputs, out, tokens, first, last, alphas, rng, scratch=None):
    """Train on the groups whose centres are at ``tokens[first:last]``.

    inputs, out : Rows, both matrices as this worker sees them, updated in place; if several rows make up a vector,
        `inputs` is a pair of them, of words and of n-grams
    tokens : int32, (capacity,), the block's scratch as `fill` left it
    alphas : (float, float), learning rate at `first` and at `last`; linear in between
    rng : uint64, (1,); scratch : Scratch, optional, this worker's; nothing in it outlasts a group

    Returns the sum of the losses of the positives (NaN if a centre's row has exploded), and their number: (float, int).
    """
    dim = out.matrix.shape[1]
    scratch = scratch or make_scratch(shape, dim)
    states = (
        on_own_lines(open_sampler(plugs.sampler, len(scratch.negatives))),
        on_own_lines(open_weigher(plugs.weigher, shape.max_positives, len(scratch.negative_steps))),
    )
    if plugs.inputs is not None:
        n_words, n_grams = plugs.inputs.room(shape.max_positives)
        bag, around = make_bag(n_words, n_grams, dim), plugs.inputs.around
        if plugs.loss.paths:
            path = make_path(plugs.loss, shape.max_positives)
            if shape.sharing == Sharing.WINDOW and inputs[0].frozen is None and out.frozen is None:
                return train_path_windows(shape, plugs, scratch, path, inputs[0], out, tokens, first, last, alphas, rng)
            return train_paths(shape, around, plugs, scratch, bag, path, *inputs, out, tokens, first, last, alphas, rng)
        return train_bags(shape, around, plugs, states, scratch, bag, *inputs, out, tokens, first, last, alphas, rng)
    train = train_windows if shape.sharing == Sharing.WINDOW else train_centres
    return train(shape, plugs, states, scratch, inputs, out, tokens, first, last, alphas, rng)


@njit(loop=True)
def train_centres(shape, plugs, states, scratch, inputs, out, tokens, first, last, alphas, rng):
    """The loop of `run_shard` over centres. All arrays are passed in, so that it counts no references."""
    source, sampler, sampler_state = plugs.source, plugs.sampler, states[0]
    matrix_in, matrix_out = inputs.matrix, out.matrix
    x = scratch.x
    dim, width = x.shape[0], out.width
    positives, positive_rows = scratch.positives, scratch.positive_rows
    negatives, negative_rows, log_q = scratch.negatives, scratch.negative_rows, scratch.negative_log_q
    positive_logits, negative_logits = scratch.positive_logits, scratch.negative_logits
    positive_steps, negative_steps = scratch.positive_steps, scratch.negative_steps
    each = 1.0 / max(last - first, 1)
    loss_sum, pairs = 0.0, 0
    for position in range(first, last):
        m = group(source, tokens, position, rng, positives)
        if m == 0:
            continue
        centre_id, place = tokens[position], position - first
        centre_row = row_of(inputs, centre_id)
        centre = matrix_in[centre_row]
        scratch.centres[0], scratch.centre_rows[0] = centre_id, centre_row
        for i in range(dim):
            x[i] = centre[i]
        following = tokens[position + 1]
        following_row = row_of(inputs, following) if following >= 0 else -1
        if following >= 0:
            fetch_row(matrix_in, following_row)
        coming = prefetch_hint(source, tokens, position)
        if coming >= 0:
            fetch_row(matrix_out, row_of(out, coming))
        draws = drawn_places(shape, m)
        prescore(sampler, sampler_state, matrix_in, centre_row, following_row, out)
        known = draw(sampler, sampler_state, place, centre_id, x, out, rng, draws, negatives, log_q, negative_logits)
        for k in range(m):
            positive_rows[k] = row_of(out, positives[k])
        for k in range(draws):
            negative_rows[k] = row_of(out, max(negatives[k], 0) if shape.gaps else negatives[k])
            if not (known or fetches(sampler)):  # else the sampler has loaded it
                fetch_row(matrix_out, negative_rows[k])
        dots(width, matrix_out, positive_rows, m, x, positive_logits)
        if not known:
            dots(width, matrix_out, negative_rows, draws, x, negative_logits)
        alpha = np.float32(linear(alphas[0], alphas[1], place * each))
        trains, loss = find_gradients(plugs, states, shape, scratch, width, Group(place, centre_id, m, m), alpha, rng)
        if not trains:
            continue
        loss_sum += loss
        norm2 = dot(x, x)
        if not (norm2 < EXPLODED):
            loss_sum = np.nan
        scale_steps(scratch, m, draws, -alpha)
        if shape.bounded:
            bound_steps(positive_steps, m, negative_steps, draws, norm2)
        moving = scratch.sink if stays(inputs.frozen, centre_id) else centre
        step_targets(out.frozen, out, positives, positive_rows, positive_steps, m, x, moving)
        step_targets(out.frozen, out, negatives, negative_rows, negative_steps, draws, x, moving)
        shrink(inputs.decay, inputs.frozen, inputs, centre_id, alpha * np.float32(m))
        shrink_each(out.decay, out.frozen, out, positives, m, alpha)
        on_update(sampler, sampler_state, m, positives, draws, negatives, negative_steps, out)
        pairs += m
    return loss_sum, pairs


def reading(source, blocks, epoch_key, tokens, ranges):
    """Return a callable that reads a worker's block into tokens, int32 (workers, capacity), given its number.

    blocks, ranges : int64, (workers, 2)
    """
    epoch_key = np.uint64(epoch_key)

    def read(worker):
        lo, hi = blocks[worker]
        ranges[worker] = fill_block(source, lo, hi, epoch_key, tokens[worker]) if lo < hi else 0

    return read


@njit(loop=True)
def fill_block(source, lo, hi, epoch_key, tokens):
    """Call `contracts.fill` from Python."""
    return fill(source, lo, hi, epoch_key, tokens)


def train_round(plugs, shape, scratches, inputs, out, tokens, ranges, alphas, rngs, read=None):
    """Train each worker on ``tokens[worker, ranges[worker, 0]:ranges[worker, 1]]``, on a thread of its own.

    scratches, inputs, out : lists of arguments of `run_shard`, one for each worker
    alphas : float64, (workers, 2); rngs : uint64, (workers, 8), one cache line each; updated in place
    read : callable of a worker's number, optional, called first to fill its tokens and range (see `reading`)

    Returns the same as `run_shard`, summed over all workers.
    """

    def work(worker):
        if read is not None:
            read(worker)
        first, last = ranges[worker]
        start, end = alphas[worker]
        rows = inputs[worker], out[worker]
        rng, scratch = rngs[worker], scratches[worker]
        return run_shard(plugs, shape, *rows, tokens[worker], first, last, (start, end), rng, scratch)

    losses, pairs = zip(*launch(work, len(ranges)), strict=True)
    return sum(losses), sum(pairs)
