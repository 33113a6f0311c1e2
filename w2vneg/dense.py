"""Matrix products over batches of centres: what needs every score of the vocabulary.

BLAS does the products, compiled loops the rest; memory is bounded by `_SCORES` whatever the vocabulary's size.
"""

import numpy as np

from .jit import LEAF, njit, prange
from .kernels.functions import fast_exp, fast_log
from .kernels.rng import mix, next_unit

_SCORES = 16_000_000  # float32 numbers held at a time (64 MB)
_BLOCK = 256  # targets whose weights are summed together, so that a draw searches two short lists
_ZERO = np.float32(0.0)


@njit(fastmath=LEAF)
def _weights(scores, log_d, beta, sums):
    """Turn a row of scores into weights, block sums into `sums`; return (largest log weight, total)."""
    n = scores.shape[0]
    for j in range(n):
        scores[j] = scores[j] * beta + log_d[j]
    top = scores[0]
    for j in range(n):
        top = max(top, scores[j])
    total = _ZERO
    for block in range(sums.shape[0]):
        subtotal = _ZERO
        for j in range(block * _BLOCK, min((block + 1) * _BLOCK, n)):
            shifted = scores[j] - top
            w = fast_exp(shifted) if shifted > np.float32(-80.0) else _ZERO
            scores[j] = w
            subtotal += w
        sums[block] = subtotal
        total += subtotal
    return top, total


@njit
def _draw(weights, sums, total, rng):
    target = next_unit(rng) * total
    block = 0
    while block < sums.shape[0] - 1 and target >= sums[block]:
        target -= sums[block]
        block += 1
    j = block * _BLOCK
    last = min(j + _BLOCK, weights.shape[0]) - 1
    while j < last and target >= weights[j]:
        target -= weights[j]
        j += 1
    while weights[j] == _ZERO and j > 0:  # rounding carried the target past the last weight
        j -= 1
    return j


@njit(parallel=True)
def _draw_rows(scores, log_d, beta, keys, ids, log_q):
    n_blocks = (scores.shape[1] + _BLOCK - 1) // _BLOCK
    for b in prange(scores.shape[0]):
        sums = np.empty(n_blocks, np.float32)
        _, total = _weights(scores[b], log_d, beta, sums)
        rng = np.empty(1, np.uint64)
        rng[0] = mix(keys[b])
        log_total = fast_log(total)
        for k in range(ids.shape[1]):
            j = _draw(scores[b], sums, total, rng)
            ids[b, k] = j
            log_q[b, k] = fast_log(scores[b, j]) - log_total


def boltzmann_draws(vectors_in, vectors_out, centre_ids, log_d, inverse_temperature, key, ids, log_q):
    """Draw from Q_i(j) ∝ D(j) exp(s_ij / T) exactly, for a batch of centres.

    Parameters
    ----------
    vectors_in, vectors_out : float32, (n_vocab, dim)
    centre_ids : int32, (n_centres,); places with -1 are left alone
    log_d : float32, (n_vocab,)
    inverse_temperature : float, 1 / T
    key : int, names the random stream of this batch
    ids, log_q : int32 and float32, (n_centres, n_draws); written in place
    """
    places = np.flatnonzero(centre_ids >= 0)
    rows = max(1, _SCORES // vectors_out.shape[0])
    for start in range(0, len(places), rows):
        part = places[start : start + rows]
        with np.errstate(over="ignore", invalid="ignore"):  # a run that diverges is the trainer's to notice
            scores = vectors_in[centre_ids[part]] @ vectors_out.T
        keys = np.uint64(key) + part.astype(np.uint64)
        part_ids = np.empty((len(part), ids.shape[1]), np.int32)
        part_log_q = np.empty(part_ids.shape, np.float32)
        _draw_rows(scores, log_d, np.float32(inverse_temperature), keys, part_ids, part_log_q)
        ids[part] = part_ids
        log_q[part] = part_log_q
