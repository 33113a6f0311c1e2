"""Exact draws from a kernel of the logit for a batch of centres: one matrix product, two short searches for each."""

import numpy as np

from ..jit import LEAF, njit, prange
from ..kernels.functions import fast_log
from ..kernels.rng import mix, next_unit

_SCORES = 16_000_000  # float32 numbers held at a time (64 MB)
_BLOCK = 256  # targets whose weights are summed together, so that a draw searches two short lists
_ZERO = np.float32(0.0)
_ONE = np.float32(1.0)


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


@njit(fastmath=LEAF)
def _weigh(scores, power, alpha, sums):
    """Turn a row of scores into α s^power + 1, block sums into `sums`; return the total."""
    n = scores.shape[0]
    total = _ZERO
    for block in range(sums.shape[0]):
        subtotal = _ZERO
        for j in range(block * _BLOCK, min((block + 1) * _BLOCK, n)):
            square = scores[j] * scores[j]
            scores[j] = alpha * (square * square if power == 4 else square) + _ONE
            subtotal += scores[j]
        sums[block] = subtotal
        total += subtotal
    return total


@njit(parallel=True)
def _draw_rows(scores, power, alpha, keys, ids, log_q, log_z):
    n_blocks = (scores.shape[1] + _BLOCK - 1) // _BLOCK
    for b in prange(scores.shape[0]):
        sums = np.empty(n_blocks, np.float32)
        total = _weigh(scores[b], power, alpha, sums)
        rng = np.empty(1, np.uint64)
        rng[0] = mix(keys[b])
        log_total = fast_log(total)
        log_z[b] = log_total
        for k in range(ids.shape[1]):
            j = _draw(scores[b], sums, total, rng)
            ids[b, k] = j
            log_q[b, k] = fast_log(scores[b, j]) - log_total


def kernel_draws(vectors_in, vectors_out, power, alpha, centre_ids, key, ids, log_q, log_z):
    """Draw from Q_i(j) ∝ α s_ij^power + 1 exactly, for a batch of centres; `log_z`, float32 (n_centres,), gets log Σ_j.

    power : int, 2 or 4; alpha : float. The other arguments are those of `boltzmann_draws`.
    """
    places = np.flatnonzero(centre_ids >= 0)
    rows = max(1, _SCORES // vectors_out.shape[0])
    for start in range(0, len(places), rows):
        part = places[start : start + rows]
        with np.errstate(over="ignore", invalid="ignore"):  # a run that diverges is the trainer's to notice
            scores = vectors_in[centre_ids[part]] @ vectors_out.T
        keys = np.uint64(key) + part.astype(np.uint64)
        part_ids = np.empty((len(part), ids.shape[1]), np.int32)
        part_log_q, part_log_z = np.empty(part_ids.shape, np.float32), np.empty(len(part), np.float32)
        _draw_rows(scores, power, np.float32(alpha), keys, part_ids, part_log_q, part_log_z)
        ids[part], log_q[part], log_z[part] = part_ids, part_log_q, part_log_z
