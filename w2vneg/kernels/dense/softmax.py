"""One step of the exact softmax over a batch of centres (equations in losses/softmax.py).

With a row x_b for each distinct centre of the batch, m_b its number of positives, c_bj how often j is among them:

    s_bj = x_b · y_j        Z_b = Σ_j e^{s_bj}        g_bj = m_b e^{s_bj} / Z_b − c_bj
    Δy_j = −α Σ_b g_bj x_b        Δx_b = −α Σ_j g_bj y_j        (three matrix products, two of them for the gradients)

Scores are stored tile by tile as e^{s − t}, t the tile's largest score in that row, so that nothing overflows and the
exponentials are computed while the tile is in the cache. The missing factor of e^s / Z, one for each tile and row, goes
into x_b and into the product's rows. The positives' part c is sparse and is added without a matrix.

The tiles, and the order in which their parts are summed, depend only on the vocabulary: results are the same for any
number of threads.
"""

from collections import namedtuple
from typing import NamedTuple

import numpy as np

from ...ground.jit import LEAF, ONE, ZERO, njit, prange
from ..contracts import group
from ..functions import exp_into, fast_exp, fast_log
from ..linalg import dot
from ..rng import next_unit
from .blas import TILE, largest, n_tiles, tile_of

_PARTS = 32  # of the vocabulary, each with a sum of its own; more than most machines have cores
_EXPLODED = np.float32(1e8)  # |x|² beyond this, or NaN, means divergence


Batch = namedtuple("Batch", "rows starts targets penalised sorted_targets sorted_rows")
"""Distinct centres and their positives, in row order and again in target order.

rows : float32, (R, dim), input rows of the centres; updated in place
starts : int64, (R + 1,), where each row's positives begin in `targets` (int32, (n_positives,))
penalised : float32, (R,), number of positives of the row that add λ (log Z)²
sorted_targets, sorted_rows : int32, (n_positives,), by ascending target
"""


class Groups(NamedTuple):
    """centres : int32, (n_groups,); ends : int64, (n_groups,), where each group's positives end
    positives : int32, (n_positives,); penalised : float32, (n_positives,), 1 if penalised, else 0
    """

    centres: np.ndarray
    ends: np.ndarray
    positives: np.ndarray
    penalised: np.ndarray

    @classmethod
    def room(cls, n_groups, n_positives):
        """Return uninitialised arrays for so many groups and positives."""
        return cls(
            np.empty(n_groups, np.int32),
            np.empty(n_groups, np.int64),
            np.empty(n_positives, np.int32),
            np.empty(n_positives, np.float32),
        )

    def part(self, first, last):
        """Return the groups [first, last), with `ends` counted from their first positive."""
        begin, end = self.ends[first - 1] if first else 0, self.ends[last - 1]
        ends = self.ends[first:last] - begin
        return Groups(self.centres[first:last], ends, self.positives[begin:end], self.penalised[begin:end])


@njit
def collect_groups(source, tokens, ranges, rngs, fraction, groups):
    """List every group of a round, worker by worker, in `groups`; return their number.

    tokens : int32, (workers, capacity); ranges : int64, (workers, 2); as `shard.reading` leaves them
    rngs : uint64, (workers, 8), each worker's stream, advanced in place; fraction : float, share of pairs to penalise
    """
    centres, ends, positives, penalised = groups
    n = filled = 0
    for worker in range(ranges.shape[0]):
        rng = rngs[worker]
        for position in range(ranges[worker, 0], ranges[worker, 1]):
            m = group(source, tokens[worker], position, rng, positives[filled:])
            if m == 0:
                continue
            for k in range(filled, filled + m):
                penalised[k] = 1 if fraction >= 1 or next_unit(rng) < fraction else 0
            filled += m
            centres[n] = tokens[worker, position]
            ends[n] = filled
            n += 1
    return n


def batch_of(vectors_in, groups):
    """Merge groups into one row for each distinct centre, because equal centres have equal scores.

    Return the ids of the rows, int32 (R,), ascending, and the `Batch`.
    """
    centres, ends, positives, penalised = groups
    distinct, row_of_group = np.unique(centres, return_inverse=True)
    rows = np.repeat(row_of_group, np.diff(ends, prepend=0)).astype(np.int32)
    by_row, by_target = np.argsort(rows, kind="stable"), np.argsort(positives, kind="stable")
    batch = Batch(
        vectors_in[distinct],
        np.searchsorted(rows[by_row], np.arange(len(distinct) + 1)),
        positives[by_row],
        np.bincount(rows, penalised, len(distinct)).astype(np.float32),
        positives[by_target],
        rows[by_target],
    )
    return distinct, batch


class Workspace(NamedTuple):
    """Scratch for batches of at most B rows over V targets, allocated once for all batches.

    scores : float32, (tiles, B · TILE); tops, totals, factors : float32, (tiles, B), for each tile and row
    parts : float32, (parts, B, dim), sums over parts of the vocabulary of Σ_j p_bj y_j
    gradient : float32, (B, dim); reach : float32, (B,), the longest of a row's positives; losses : float64, (B,)
    """

    scores: np.ndarray
    tops: np.ndarray
    totals: np.ndarray
    factors: np.ndarray
    parts: np.ndarray
    gradient: np.ndarray
    reach: np.ndarray
    losses: np.ndarray

    @classmethod
    def of(cls, batch, n_vocab, dim):
        tiles = n_tiles(n_vocab)
        return cls(
            np.empty((tiles, batch * min(TILE, n_vocab)), np.float32),
            np.empty((tiles, batch), np.float32),
            np.empty((tiles, batch), np.float32),
            np.empty((tiles, batch), np.float32),
            np.empty((min(_PARTS, tiles), batch, dim), np.float32),
            np.empty((batch, dim), np.float32),
            np.empty(batch, np.float32),
            np.empty(batch, np.float64),
        )


Manner = namedtuple("Manner", "alpha bounded absolute penalty")
"""alpha : float32; bounded, absolute : bool, as in `kernels.groups.LoopSpec`; penalty : float32, λ"""


@njit(fastmath=LEAF, borrows=True)
def _exponentials(scores, top):
    exp_into(scores, scores.shape[0], ONE, top, scores)
    total = ZERO
    for j in range(scores.shape[0]):
        total += scores[j]
    return total


@njit(fastmath=LEAF, borrows=True)
def _signed_exponentials(scores, top):
    """The same for |s|; the stored weight keeps the sign of s, which the chain rule needs."""
    total = ZERO
    for j in range(scores.shape[0]):
        w = fast_exp(abs(scores[j]) - top)
        scores[j] = -w if scores[j] < ZERO else w
        total += w
    return total


@njit(borrows=True)
def _largest_magnitude(scores):
    top = np.int32(0)
    for j in range(scores.shape[0]):
        top = np.int32(max(top, np.float32(abs(scores[j])).view(np.int32)))
    return np.int32(top).view(np.float32)


@njit
def _score_tile(rows, out, scores, tops, totals, absolute):
    np.dot(rows, out.T, scores)
    for b in range(rows.shape[0]):
        if absolute:
            tops[b] = _largest_magnitude(scores[b])
            totals[b] = _signed_exponentials(scores[b], tops[b])
        else:
            tops[b] = largest(scores[b])
            totals[b] = _exponentials(scores[b], tops[b])


@njit(borrows=True)
def _finish_row(b, batch, work, vectors_out, manner):
    """Normalise a row over all tiles and include its positives; write its loss, NaN if the row has exploded."""
    tops, totals, factors = work.tops, work.totals, work.factors
    x, gradient = batch.rows[b], work.gradient[b]
    tiles, first, last = tops.shape[0], batch.starts[b], batch.starts[b + 1]
    top = tops[0, b]
    for t in range(1, tiles):
        top = max(top, tops[t, b])
    total = 0.0
    for t in range(tiles):
        factors[t, b] = fast_exp(tops[t, b] - top)
        total += np.float64(factors[t, b]) * np.float64(totals[t, b])
    log_z = np.float64(top) + fast_log(total)
    weight = np.float64(last - first) + 2.0 * manner.penalty * batch.penalised[b] * log_z
    scale = np.float32(weight / total)
    for t in range(tiles):
        factors[t, b] *= scale
    gradient[:] = ZERO
    loss = manner.penalty * batch.penalised[b] * log_z * log_z
    reach = ZERO
    for k in range(first, last):
        y = vectors_out[batch.targets[k]]
        score = dot(x, y)
        sign = -ONE if manner.absolute and score < ZERO else ONE
        loss += log_z - np.float64(score * sign)
        for i in range(x.shape[0]):
            gradient[i] -= sign * y[i]
        reach = max(reach, dot(y, y))
    work.reach[b] = np.sqrt(reach)
    work.losses[b] = loss if dot(x, x) < _EXPLODED else np.nan


@njit(fastmath=LEAF, borrows=True)
def _take_product(product, x, factors, sums, scaled):
    """Add the tile's part of Σ_j p_bj y_j to `sums`, and write the scaled x_b for the next product."""
    for b in range(x.shape[0]):
        f = factors[b]
        for i in range(x.shape[1]):
            sums[b, i] += f * product[b, i]
            scaled[b, i] = f * x[b, i]


@njit(fastmath=LEAF, borrows=True)
def _subtract(row, factor, other):
    for i in range(row.shape[0]):
        row[i] -= factor * other[i]


@njit(borrows=True)
def _bounded_step(alpha, gradient, longest):
    """Reduce alpha so that this step moves the logit of no row of length `longest` by more than 1."""
    reach = alpha * np.sqrt(dot(gradient, gradient)) * longest
    return alpha / reach if reach > ONE else alpha


@njit
def _update_part(part, n_parts, batch, work, vectors_out, manner, longest):
    """Process the tiles of one part of the vocabulary: both gradient products, and the update of its rows."""
    x, tiles = batch.rows, work.tops.shape[0]
    n_rows, dim = x.shape
    sums = work.parts[part, :n_rows]
    sums[:] = ZERO
    product, scaled = np.empty((n_rows, dim), np.float32), np.empty((n_rows, dim), np.float32)
    gradients = np.empty((TILE, dim), np.float32)
    targets, target_rows = batch.sorted_targets, batch.sorted_rows
    for tile in range(part * tiles // n_parts, (part + 1) * tiles // n_parts):
        low = tile * TILE
        out = vectors_out[low : min(low + TILE, vectors_out.shape[0])]
        scores = tile_of(work.scores, tile, n_rows, out.shape[0])
        np.dot(scores, out, product)
        _take_product(product, x, work.factors[tile], sums, scaled)
        gradient = gradients[: out.shape[0]]
        np.dot(scores.T, scaled, gradient)
        k = np.searchsorted(targets, low)
        while k < targets.shape[0] and targets[k] < low + out.shape[0]:
            j, b = targets[k] - low, target_rows[k]
            _subtract(gradient[j], -ONE if manner.absolute and scores[b, j] < ZERO else ONE, x[b])
            k += 1
        for j in range(out.shape[0]):
            step = _bounded_step(manner.alpha, gradient[j], longest) if manner.bounded else manner.alpha
            _subtract(out[j], step, gradient[j])


@njit(parallel=True)
def softmax_step(batch, work, vectors_out, manner):
    """Take a gradient descent step on the summed loss of a batch: updates `batch.rows`, which the caller writes back,
    and `vectors_out` in place. Return the sum of the losses of all positives, NaN if a row has exploded.
    """
    x, tiles, n_parts = batch.rows, work.tops.shape[0], work.parts.shape[0]
    n_rows, n_vocab = x.shape[0], vectors_out.shape[0]
    for t in prange(tiles):
        tile = np.int64(t)  # else the callees are compiled for signed and for unsigned numbers
        low = tile * TILE
        out = vectors_out[low : min(low + TILE, n_vocab)]
        scores = tile_of(work.scores, tile, n_rows, out.shape[0])
        _score_tile(x, out, scores, work.tops[tile], work.totals[tile], manner.absolute)
    for b in prange(n_rows):
        _finish_row(np.int64(b), batch, work, vectors_out, manner)
    longest = ZERO
    for b in range(n_rows):
        longest = max(longest, dot(x[b], x[b]))
    longest = np.float32(np.sqrt(longest))
    for part in prange(n_parts):
        _update_part(np.int64(part), n_parts, batch, work, vectors_out, manner, longest)
    for b in prange(n_rows):
        for part in range(n_parts):
            _subtract(work.gradient[b], -ONE, work.parts[part, b])
        step = _bounded_step(manner.alpha, work.gradient[b], work.reach[b]) if manner.bounded else manner.alpha
        _subtract(x[b], step, work.gradient[b])
    loss = 0.0
    for b in range(n_rows):
        loss += work.losses[b]
    return loss
