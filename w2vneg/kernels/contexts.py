"""What stands around a word in the data: for each word the mean of the output vectors of its neighbours.

    S_w = Σ_{places of w} Σ_{0 < |offset| ≤ window} k(v) y_v / Σ Σ k(v),    k(v) the chance that v survives subsampling

A sliding sum: each token enters a place's sum once and leaves it once, so the window's length costs nothing.
"""

import numpy as np

from ..ground.jit import available_threads, launch, njit


def context_means(ids, offsets, keep, vectors_out, window):
    """Return S.

    Parameters
    ----------
    ids : int32, (n_tokens,); offsets : int64, (n_sentences + 1,)
        A text as ids; neighbours are of one sentence.
    keep : float64, (n_vocab,), k
    vectors_out : float32, (n_vocab, dim), Y
    window : int

    Returns
    -------
    float32, (n_vocab, dim)
        Zero for a word that never has a neighbour.
    """
    n_vocab, dim = vectors_out.shape
    sums, weights = np.zeros((n_vocab, dim), np.float32), np.zeros(n_vocab)
    n_parts = min(available_threads(), dim)
    bounds = [dim * k // n_parts for k in range(n_parts + 1)]  # of columns: each thread goes through the whole text
    totals = [weights, *(np.zeros(n_vocab) for _ in range(n_parts - 1))]

    def add(part):
        columns = slice(bounds[part], bounds[part + 1])
        own = np.ascontiguousarray(vectors_out[:, columns])
        found = np.zeros(own.shape, np.float32)
        _add(ids, offsets, keep, own, window, found, totals[part])
        sums[:, columns] = found

    launch(add, n_parts)
    sums /= np.where(weights > 0, weights, 1.0)[:, None].astype(np.float32)
    return sums


@njit
def _add(ids, offsets, keep, vectors, window, sums, weights):
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
                sums[word, i] += np.float32(running[i] - own * vectors[word, i])
