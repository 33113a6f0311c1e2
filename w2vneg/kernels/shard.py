"""The hot loop: one worker's share of one round.

    walk a group -> prescore -> draw -> dots -> prepare_group -> exclude -> weigh -> step -> bound -> update

Every objective goes through here; what differs is behind the sockets of `contracts`. Where negatives are shared by a
window the loop is that of `window`.
"""

import numpy as np

from ..jit import njit
from .contracts import (
    draw,
    fetches,
    group,
    log_prob,
    on_update,
    open_sampler,
    open_weigher,
    prefetch_hint,
    prepare_group,
    prescore,
)
from .functions import exp_into, padded
from .groups import EXPLODED, WindowShape, find_steps, make_absolute, make_scratch, on_own_lines
from .linalg import bound_steps, dot, dots, fetch_row, row_of, step_rows
from .window import train_windows

_ZERO = np.float32(0.0)
_ONE = np.float32(1.0)


def run_shard(plugs, shape, inputs, out, tokens, first, last, alphas, rng, scratch=None):
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
    scratch : Scratch, optional
        This worker's; nothing in it outlasts a group.

    Returns
    -------
    (loss, pairs) : (float, int)
        Sum of the losses of the positives (NaN if a centre's row has exploded), and their number.
    """
    scratch = scratch or make_scratch(shape, inputs.matrix.shape[1])
    states = (
        on_own_lines(open_sampler(plugs.sampler, len(scratch.negatives))),
        on_own_lines(open_weigher(plugs.weigher, shape.max_positives, len(scratch.negative_steps))),
    )
    train = train_windows if isinstance(shape, WindowShape) else train_centres
    return train(shape, plugs, states, scratch, inputs, out, tokens, first, last, alphas, rng)


@njit(loop=True)
def train_centres(shape, plugs, states, scratch, inputs, out, tokens, first, last, alphas, rng):
    """The loop of `run_shard` over centres. All arrays come from outside, so that no reference is counted in it."""
    source, sampler, weigher = plugs.source, plugs.sampler, plugs.weigher
    sampler_state, weigher_state = states
    matrix_in, matrix_out = inputs.matrix, out.matrix
    x = scratch.x
    dim, width = x.shape[0], out.width
    n = shape.n_negatives
    positives, positive_rows = scratch.positives, scratch.positive_rows
    positive_logits, positive_exp_logits = scratch.positive_logits, scratch.positive_exp_logits
    positive_steps, positive_log_q = scratch.positive_steps, scratch.positive_log_q
    negatives, negative_rows = scratch.negatives, scratch.negative_rows
    negative_logits, negative_exp_logits = scratch.negative_logits, scratch.negative_exp_logits
    negative_steps, negative_log_q = scratch.negative_steps, scratch.negative_log_q
    start, slope = np.float32(alphas[0]), np.float32((alphas[1] - alphas[0]) / max(last - first, 1))
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
        draws = n if shape.shared else n * m
        prescore(sampler, sampler_state, matrix_in, centre_row, following_row, out)
        known = draw(
            sampler, sampler_state, place, centre_id, x, out, rng, draws, negatives, negative_log_q, negative_logits
        )
        for k in range(m):
            positive_rows[k] = row_of(out, positives[k])
        for k in range(draws):
            negative_rows[k] = row_of(out, max(negatives[k], 0) if shape.gaps else negatives[k])
            if not (known or fetches(sampler)):  # else the sampler has looked at it
                fetch_row(matrix_out, negative_rows[k])
        dots(width, matrix_out, positive_rows, m, x, positive_logits)
        if not known:
            dots(width, matrix_out, negative_rows, draws, x, negative_logits)
        if shape.positive_log_q:
            log_prob(sampler, sampler_state, place, centre_id, m, positives, positive_logits, positive_log_q)
        if shape.absolute:
            make_absolute(positive_logits, m, scratch.positive_signs)
            make_absolute(negative_logits, draws, scratch.negative_signs)
        exp_into(positive_logits, padded(m), _ONE, _ZERO, positive_exp_logits)
        exp_into(negative_logits, padded(draws), _ONE, _ZERO, negative_exp_logits)
        alpha = start + slope * np.float32(place)
        if not prepare_group(
            weigher, weigher_state, width, centre_row, m, positive_rows, draws, negative_rows, negatives, alpha, rng
        ):
            continue
        loss_sum += find_steps(plugs, weigher_state, shape, scratch, 0, m, alpha, rng)
        norm2 = dot(x, x)
        if not (norm2 < EXPLODED):
            loss_sum = np.nan
        if shape.absolute:
            for k in range(m):
                positive_steps[k] *= scratch.positive_signs[k]
            for k in range(draws):
                negative_steps[k] *= scratch.negative_signs[k]
        if shape.bounded:
            bound_steps(positive_steps, m, negative_steps, draws, norm2)
        step_rows(width, matrix_out, positive_rows, positive_steps, m, x, centre)
        step_rows(width, matrix_out, negative_rows, negative_steps, draws, x, centre)
        on_update(sampler, sampler_state, m, positives, draws, negatives, negative_steps, out)
        pairs += m
    return loss_sum, pairs
