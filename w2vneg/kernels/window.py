"""The loop for negatives shared by a window: the middle word is the positive of all context words, the centres.

The pairs are those of the other loop, seen from their other word, as in word2vec.c: as many, each as often. Every
centre is compared with n negatives, but all m centres together fetch only 1 + n rows of the output matrix (Ji et al.
2016, "Parallelizing word2vec in shared and distributed memory"). The draws must not depend on the centre, because there
are several.
"""

import numpy as np

from ..ground.jit import ONE, ZERO, njit
from .contracts import draw, fetches, group, on_update, prefetch_hint
from .groups import EXPLODED, Group, find_gradients, of_windows, scale_steps
from .linalg import dot, fetch_row, row_of, window_products
from .schedule import linear
from .updates import shrink, shrink_each, step_window


@njit(loop=True)
def train_windows(shape, plugs, states, scratch, inputs, out, tokens, first, last, alphas, rng):
    """Train on the windows around ``tokens[first:last]``; arguments and result are those of `shard.run_shard`.

    All logits are computed before any row changes; then the centres' pairs step one after the other (`linalg`).
    """
    shape = of_windows(shape)
    source, sampler, sampler_state = plugs.source, plugs.sampler, states[0]
    matrix_in, matrix_out = inputs.matrix, out.matrix
    x, width, n = scratch.x, out.width, shape.n_negatives
    centres, centre_rows, norms = scratch.centres, scratch.centre_rows, scratch.norms
    positives, negatives, target_rows = scratch.positives, scratch.negatives, scratch.target_rows
    positive_logits, negative_logits = scratch.positive_logits, scratch.negative_logits
    negative_steps = scratch.negative_steps
    each = 1.0 / max(last - first, 1)
    loss_sum, pairs = 0.0, 0
    for position in range(first, last):
        m = group(source, tokens, position, rng, centres)
        if m == 0:
            continue
        word, place = tokens[position], position - first
        draw(sampler, sampler_state, place, word, x, out, rng, n, negatives, scratch.negative_log_q, negative_logits)
        for j in range(n):
            target_rows[1 + j] = row_of(out, max(negatives[j], 0) if shape.gaps else negatives[j])
            if not fetches(sampler):
                fetch_row(matrix_out, target_rows[1 + j])
        following = tokens[position + 1]
        if following >= 0:
            fetch_row(matrix_out, row_of(out, following))
        coming = prefetch_hint(source, tokens, position)
        if coming >= 0:
            fetch_row(matrix_in, row_of(inputs, coming))
        target_rows[0] = row_of(out, word)
        target = matrix_out[target_rows[0]]
        for k in range(m):
            positives[k], centre_rows[k] = word, row_of(inputs, centres[k])
        window_products(
            width, matrix_in, centre_rows, m, matrix_out, target_rows, n, positive_logits, negative_logits, norms
        )
        for k in range(m):
            if not (norms[k] < EXPLODED):
                loss_sum = np.nan
        alpha = np.float32(linear(alphas[0], alphas[1], place * each))
        loss_sum += find_gradients(plugs, states, shape, scratch, width, Group(place, word, m, m), alpha, rng)[1]
        scale_steps(scratch, m, m * n, -alpha)
        scale = _bounding_scale(scratch, m, n, dot(target, target)) if shape.bounded else ONE
        if scale < ONE:
            scale_steps(scratch, m, m * n, scale)
        step_window(inputs.frozen, out.frozen, inputs, out, scratch, m, n)
        shrink_each(inputs.decay, inputs.frozen, inputs, centres, m, alpha)
        shrink(out.decay, out.frozen, out, word, alpha * np.float32(m))
        on_update(sampler, sampler_state, m, positives, n, negatives, negative_steps, out)
        pairs += m
    return loss_sum, pairs


@njit(borrows=True)
def _bounding_scale(scratch, m, n, target_norm):
    """Return the factor that scales a group's steps so that no target's row moves a logit by much more than 1, as in
    `linalg.bound_steps`; 1 for most groups.

    Target j moves by Σ_k c_kj x_k. For centres of about one length, that moves a logit by at most Σ_k |c_kj| |x_k|².
    A repeated centre moves by Σ_k c_k0 y, y the positive's row, and its logit by at most Σ_k |c_k0| |y|², counted too.
    The step of a centre that occurs once is not counted, nor are steps along negatives, as in the other loop.
    """
    positive_steps, negative_steps, norms = scratch.positive_steps, scratch.negative_steps, scratch.norms
    own = through = ZERO
    for k in range(m):
        through += abs(positive_steps[k])
        own += abs(positive_steps[k]) * norms[k]
    reach = own
    if through * target_norm > ONE:
        again = _largest_repeated_step(scratch, m) * target_norm
        reach = again if again > reach else reach
    for j in range(n):
        of_negative = ZERO
        for k in range(m):
            of_negative += abs(negative_steps[k * n + j]) * norms[k]
        reach = of_negative if of_negative > reach else reach
    return ONE / reach if reach > ONE else ONE


@njit(borrows=True)
def _largest_repeated_step(scratch, m):
    """Return the largest Σ_k |c_k0| of a centre that occurs more than once in the window; 0 if none does."""
    centre_rows, positive_steps = scratch.centre_rows, scratch.positive_steps
    slots, sums = scratch.slots, scratch.slot_sums
    last = slots.shape[0] - 1
    for slot in range(last + 1):
        slots[slot] = -1
    longest = ZERO
    for k in range(m):
        row, slot = centre_rows[k], centre_rows[k] & last
        while slots[slot] >= 0 and slots[slot] != row:
            slot = (slot + 1) & last
        if slots[slot] < 0:
            slots[slot], sums[slot] = row, abs(positive_steps[k])
        else:
            sums[slot] += abs(positive_steps[k])
            longest = sums[slot] if sums[slot] > longest else longest
    return longest
