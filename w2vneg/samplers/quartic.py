"""Draws from the quartic kernel (Blanc and Rendle 2018, §4.2), q(j|i) ∝ s_ij⁴ + 1: all scores by a matrix product.

Its features would be d⁴/24 numbers for each node of a tree. The paper, which says nothing of how it drew them, uses it
in a figure only. Here a batch of centres is scored against all classes ahead of its training; memory is bounded by
`_SCORES` whatever the vocabulary's size.
"""

from typing import NamedTuple

import numpy as np

from ..jit import LEAF, njit, prange
from ..kernels.contracts import implement_draw, implement_log_noise, implement_open_sampler
from ..kernels.functions import fast_log
from ..kernels.rng import mix, next_unit

_SCORES = 16_000_000  # float32 numbers held at a time (64 MB)
_BLOCK = 256  # classes whose weights are summed together, so that a draw searches two short lists
_ZERO = np.float32(0.0)
_ONE = np.float32(1.0)


class QuarticAhead(NamedTuple):
    """Quartic kernel, draws made ahead for a batch of centres.

    ids : int32, (workers, batch, max_draws); log_q : float32, the same; log_z : float32, (workers, batch), log Σ K
    """

    ids: np.ndarray
    log_q: np.ndarray
    log_z: np.ndarray

    gives_log_q = True

    @property
    def batch_groups(self):
        return self.ids.shape[1]

    def refresh(self, vectors_in, vectors_out, centre_ids, key):
        """Draw for the centres of the next launch; see `quartic_draws`."""
        n_draws = self.ids.shape[2]
        quartic_draws(
            vectors_in,
            vectors_out,
            centre_ids.ravel(),
            key,
            self.ids.reshape(-1, n_draws),
            self.log_q.reshape(-1, n_draws),
            self.log_z.reshape(-1),
        )


@njit(fastmath=LEAF, borrows=True)
def _weights(scores, running):
    """Turn a row of scores into s⁴ + 1; running sums over blocks into `running`."""
    n = scores.shape[0]
    total = _ZERO
    for block in range(running.shape[0]):
        subtotal = _ZERO
        for j in range(block * _BLOCK, min((block + 1) * _BLOCK, n)):
            square = scores[j] * scores[j]
            weight = square * square + _ONE
            scores[j] = weight
            subtotal += weight
        total += subtotal
        running[block] = total


@njit(borrows=True)
def _draw(weights, running, rng):
    last = running.shape[0] - 1
    target = next_unit(rng) * running[last]
    block = 0
    for k in range(last):
        block += running[k] <= target
    if block > 0:
        target -= running[block - 1]
    j, end = block * _BLOCK, min((block + 1) * _BLOCK, weights.shape[0])
    while j < end - 1 and target >= weights[j]:
        target -= weights[j]
        j += 1
    return j


@njit(parallel=True)
def _draw_rows(scores, places, key, ids, log_q, log_z):
    """Draw for each of the `places` from its row of scores, which become weights."""
    blocks = (scores.shape[1] + _BLOCK - 1) // _BLOCK
    for b in prange(scores.shape[0]):
        place = places[b]
        running = np.empty(blocks, np.float32)
        _weights(scores[b], running)
        rng = np.empty(1, np.uint64)
        rng[0] = mix(key + np.uint64(place))
        log_total = fast_log(np.float64(running[blocks - 1]))
        log_z[place] = log_total
        for k in range(ids.shape[1]):
            j = _draw(scores[b], running, rng)
            ids[place, k] = j
            log_q[place, k] = fast_log(np.float64(scores[b, j])) - log_total


def quartic_draws(vectors_in, vectors_out, centre_ids, key, ids, log_q, log_z):
    """Draw from Q_i(j) ∝ s_ij⁴ + 1 exactly, for a batch of centres.

    Parameters
    ----------
    vectors_in, vectors_out : float32, (n_vocab, dim)
    centre_ids : int32, (n_centres,); places with -1 are left alone
    key : int, names the random stream of this batch
    ids, log_q : int32 and float32, (n_centres, n_draws); written in place
    log_z : float32, (n_centres,), gets log Σ_j (s_ij⁴ + 1)
    """
    places = np.flatnonzero(centre_ids >= 0)
    rows = max(1, _SCORES // len(vectors_out))
    for start in range(0, len(places), rows):
        part = places[start : start + rows]
        with np.errstate(over="ignore", invalid="ignore"):  # a run that diverges is the trainer's to notice
            scores = vectors_in[centre_ids[part]] @ vectors_out.T
        _draw_rows(scores, part, np.uint64(key), ids, log_q, log_z)


@implement_open_sampler(QuarticAhead)
def open_quartic(sampler, n_draws):
    """The place of the worker, which `draw` knows and `log_noise` asks for."""
    return np.zeros(1, np.int64)


@implement_draw(QuarticAhead)
def draw_ahead(sampler, state, group, centre_id, centre, out, rng, n, ids, log_q, logits):
    worker, drawn, drawn_log_q = out.worker, sampler.ids, sampler.log_q
    state[0] = worker
    for k in range(n):
        ids[k] = drawn[worker, group, k]
    for k in range(min(n, log_q.shape[0])):
        log_q[k] = drawn_log_q[worker, group, k]
    return False


@implement_log_noise(QuarticAhead)
def log_noise_ahead(sampler, state, group, centre_id, n, ids, logits, log_q):
    """The positives' kernel as their rows are now, over the sum as it was when the batch was drawn."""
    log_z = np.float64(sampler.log_z[state[0], group])
    for k in range(n):
        square = np.float64(logits[k]) * np.float64(logits[k])
        log_q[k] = fast_log(square * square + 1.0) - log_z
