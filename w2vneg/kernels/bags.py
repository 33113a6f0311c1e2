"""The loop for vectors that are the mean of several rows: a bag of words, of n-grams, or of both.

    walk a group -> gather a bag -> mean -> draw -> dots -> [...] -> bound -> the whole step to each row -> shrink

The steps in brackets are `groups.find_gradients`, as in the other loops. Each row of the bag takes the whole step, as
in word2vec.c, gensim and fastText, so their mean moves as a row of its own would. A row that occurs twice takes it
twice. The module also has means of rows outside the loop: of n-grams, and of contexts.
"""

from collections import namedtuple

import numpy as np

from ..ground.jit import ONE, ZERO, available_threads, launch, njit
from .contracts import draw, fetches, gather, group, on_update, prefetch_hint
from .groups import EXPLODED, Group, drawn_places, find_gradients, on_own_lines, scale_steps
from .linalg import bound_steps, dot, dots, fetch_row, row_of, sum_rows
from .schedule import linear
from .updates import shrink_each, step_bag, step_targets

Bag = namedtuple("Bag", "words word_rows grams gram_rows step")
"""Scratch of one shard: ids and rows of a group's words and n-grams, and the step of their mean."""


def make_bag(words, grams, dim):
    """Return a `Bag` with room for `words` words and `grams` n-grams."""
    arrays = np.empty(words, np.int32), np.empty(words, np.int64), np.empty(grams, np.int32), np.empty(grams, np.int64)
    return on_own_lines(Bag(*arrays, np.empty(dim, np.float32)))


@njit(borrows=True)
def mean_of_bag(width, words, grams, bag, n_words, n_grams, x):
    """Find the rows of a group's words and n-grams, and write their mean into x, float32 (dim,)."""
    word_rows, gram_rows = bag.word_rows, bag.gram_rows
    for k in range(n_words):
        word_rows[k] = row_of(words, bag.words[k])
    for k in range(n_grams):
        gram_rows[k] = row_of(grams, bag.grams[k])
    for i in range(x.shape[0]):
        x[i] = ZERO
    sum_rows(width, words.matrix, word_rows, n_words, x)
    sum_rows(width, grams.matrix, gram_rows, n_grams, x)
    share = ONE / np.float32(n_words + n_grams)
    for i in range(x.shape[0]):
        x[i] *= share


@njit(borrows=True)
def add_to_bag(words, grams, bag, n_words, n_grams, step):
    """Add a step, float32 (dim,), to each row that `mean_of_bag` found."""
    step_bag(words.frozen, words, bag.words, bag.word_rows, n_words, step)
    step_bag(grams.frozen, grams, bag.grams, bag.gram_rows, n_grams, step)


@njit(borrows=True)
def shrink_bag(words, grams, bag, n_words, n_grams, amount):
    """Shrink each row of a bag; `amount` is that of `updates.shrink`."""
    shrink_each(words.decay, words.frozen, words, bag.words, n_words, amount)
    shrink_each(grams.decay, grams.frozen, grams, bag.grams, n_grams, amount)


@njit(loop=True)
def train_bags(shape, around, plugs, states, scratch, bag, words, grams, out, tokens, first, last, alphas, rng):
    """Train on the groups at ``tokens[first:last]``; arguments and result are those of `shard.run_shard`.

    around : bool, CBOW: the context words make up the vector, and the middle word is the positive
    words, grams : Rows, the two matrices that bags are gathered from
    """
    source, inputs, sampler, sampler_state = plugs.source, plugs.inputs, plugs.sampler, states[0]
    matrix_out, x, total = out.matrix, scratch.x, bag.step
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
        place = position - first
        m, n_words, n_grams = gather(inputs, tokens, position, m, positives, bag.words, bag.grams)
        centre_id = -1 if around else tokens[position]  # a bag of several words has no id
        mean_of_bag(width, words, grams, bag, n_words, n_grams, x)
        scratch.centres[0], scratch.centre_rows[0] = centre_id, bag.word_rows[0]
        following, coming = tokens[position + 1], prefetch_hint(source, tokens, position)
        if around and coming >= 0:
            fetch_row(words.matrix, row_of(words, coming))
        if around and following >= 0:
            fetch_row(matrix_out, row_of(out, following))
        if not around and coming >= 0:
            fetch_row(matrix_out, row_of(out, coming))
        draws = drawn_places(shape, m)
        known = draw(sampler, sampler_state, place, centre_id, x, out, rng, draws, negatives, log_q, negative_logits)
        for k in range(m):
            positive_rows[k] = row_of(out, positives[k])
        for k in range(draws):
            negative_rows[k] = row_of(out, max(negatives[k], 0) if shape.gaps else negatives[k])
            if not (known or fetches(sampler)):
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
        for i in range(dim):
            total[i] = ZERO
        step_targets(out.frozen, out, positives, positive_rows, positive_steps, m, x, total)
        step_targets(out.frozen, out, negatives, negative_rows, negative_steps, draws, x, total)
        add_to_bag(words, grams, bag, n_words, n_grams, total)
        shrink_bag(words, grams, bag, n_words, n_grams, alpha * np.float32(m))
        shrink_each(out.decay, out.frozen, out, positives, m, alpha)
        on_update(sampler, sampler_state, m, positives, draws, negatives, negative_steps, out)
        pairs += m
    return loss_sum, pairs


def mean_rows(starts, grams, words_in, grams_in, vectors, parts=2):
    """Write into ``vectors[w]`` the mean of ``words_in[w]`` and of the rows ``grams[starts[w]:starts[w + 1]]``."""
    bounds = [part * len(vectors) // parts for part in range(parts + 1)]
    launch(lambda part: _mean_rows(starts, grams, words_in, grams_in, vectors, bounds[part], bounds[part + 1]), parts)


@njit
def _mean_rows(starts, grams, words_in, grams_in, vectors, begin, end):
    for word in range(begin, end):
        row = vectors[word]
        for i in range(row.shape[0]):
            row[i] = words_in[word, i]
        for place in range(starts[word], starts[word + 1]):
            gram = grams[place]
            for i in range(row.shape[0]):
                row[i] += grams_in[gram, i]
        share = ONE / np.float32(1 + starts[word + 1] - starts[word])
        for i in range(row.shape[0]):
            row[i] *= share


def context_means(ids, offsets, keep, vectors_out, window):
    """Return for each word the mean of the output vectors of its neighbours in a text, float32 (n_vocab, dim):

        S_w = Σ_{places of w} Σ_{0 < |offset| ≤ window} k(v) y_v / Σ Σ k(v)

    where k(v) is the probability that v survives subsampling. It is a sliding sum: each token enters it once and leaves
    it once, so the cost does not depend on the window.

    ids : int32, (n_tokens,); offsets : int64, (n_sentences + 1,), neighbours share a sentence
    keep : float64, (n_vocab,), k; vectors_out : float32, (n_vocab, dim), Y
    """
    n_vocab, dim = vectors_out.shape
    sums, weights = np.zeros((n_vocab, dim), np.float32), np.zeros(n_vocab)
    n_parts = min(available_threads(), dim)
    bounds = [dim * k // n_parts for k in range(n_parts + 1)]  # of columns: each thread reads the whole text
    totals = [weights, *(np.zeros(n_vocab) for _ in range(n_parts - 1))]

    def add(part):
        columns = slice(bounds[part], bounds[part + 1])
        own = np.ascontiguousarray(vectors_out[:, columns])
        found = np.zeros(own.shape)  # float32 stops growing at some ten million occurrences of a word
        _add_contexts(ids, offsets, keep, own, window, found, totals[part])
        sums[:, columns] = found

    launch(add, n_parts)
    sums /= np.where(weights > 0, weights, 1.0)[:, None].astype(np.float32)
    return sums


@njit
def _add_contexts(ids, offsets, keep, vectors, window, sums, weights):
    dim = vectors.shape[1]
    running = np.empty(dim, np.float64)
    for s in range(offsets.shape[0] - 1):
        first, last = offsets[s], offsets[s + 1]
        running[:] = 0.0
        weight, enters, leaves = 0.0, first, first
        for place in range(first, last):
            while enters < last and enters <= place + window:
                k = keep[ids[enters]]
                weight += k
                for i in range(dim):
                    running[i] += k * vectors[ids[enters], i]
                enters += 1
            while leaves < place - window:
                k = keep[ids[leaves]]
                weight -= k
                for i in range(dim):
                    running[i] -= k * vectors[ids[leaves], i]
                leaves += 1
            word = ids[place]
            own = keep[word]
            weights[word] += weight - own
            for i in range(dim):
                sums[word, i] += running[i] - own * vectors[word, i]
