"""Exact draws for a batch of centres from any distribution over scores: a matrix product, then short searches.

A law is a NamedTuple that binds the socket

    weigh_row(law, low, scores, top, sums) -> largest

It turns the scores (float32) of targets low, low + 1, … into weights times e^{−top} and writes their sums into `sums`
(float32, zeroed), one for each `LANES` of them. It returns the logarithm of the largest scaled weight (float32; −∞ if
there is none). Beyond ±40, the weights may be meaningless: the row is weighed again, with fresh scores and a better
top. A law whose weights need no scaling ignores `top` and returns 0.

Weights are stored tile by tile, and those in one cache line are summed together. A draw finds its tile in the tiles'
running sums, its line in the tile's running sums, its target in the line.
"""

import math
from collections import namedtuple
from typing import NamedTuple

import numpy as np

from ...ground.jit import LEAF, ONE, ZERO, njit, prange, prefetch
from ..contracts import socket
from ..functions import accumulate, fast_exp, fast_log, padded, ranks_into
from ..rng import mix, next_unit
from ..simd.lanes import weigh_lanes
from ..simd.vectors import LANES
from .blas import TILE, n_tiles, one_blas_thread, tile_of

_SCORES = 16_000_000  # float32 numbers held at a time (64 MB)
_LINES = TILE // LANES  # per tile
_NEAR = np.float32(40.0)  # a scale within e^±40 of the largest weight suffices: what is lost is negligible
_FAR = np.float32(-80.0)  # a tile whose scale is below e^−80 of the best counts as 0

implement_weigh_row, weigh_row = socket("weigh_row", "law low scores top sums", returns=True)


BoltzmannLaw = namedtuple("BoltzmannLaw", "log_d beta absolute")
"""The law D(j) e^{s/T}; a NaN score has weight 0.

log_d : float32, (n_vocab,); beta : float32, 1 / T; absolute : bool, use |s| instead of s
"""


@njit(borrows=True)
def _make_absolute(scores):
    for j in range(scores.shape[0]):
        scores[j] = abs(scores[j])


@implement_weigh_row(BoltzmannLaw)
def _weigh_row_by_boltzmann(law, low, scores, top, sums):
    n = scores.shape[0]
    if law.absolute:
        _make_absolute(scores)
    return weigh_lanes(scores, n, np.float32(law.beta), law.log_d[low : low + n], top, sums)


KernelLaw = namedtuple("KernelLaw", "power alpha")
"""The law of kernel sampling, α s^power + 1. power : int, 2 or 4; alpha : float32"""


@njit(fastmath=LEAF, borrows=True)
def _weigh_kernel(law, scores, sums):
    power, alpha, n = law.power, law.alpha, scores.shape[0]
    for j in range(n):
        square = scores[j] * scores[j]
        scores[j] = alpha * (square * square if power == 4 else square) + ONE
    for line in range((n + LANES - 1) // LANES):
        total = ZERO
        for j in range(line * LANES, min((line + 1) * LANES, n)):
            total += scores[j]
        sums[line] = total


@implement_weigh_row(KernelLaw)
def _weigh_row_by_kernel(law, low, scores, top, sums):
    _weigh_kernel(law, scores, sums)
    return ZERO


@njit
def _weigh_rows(law, low, scores, tops, tile, sums):
    """Weigh a tile's scores row by row; fix tops far from the largest weight; return True to request a second pass."""
    again = False
    for b in range(scores.shape[0]):
        sums[b, tile] = ZERO
        largest = weigh_row(law, low, scores[b], tops[b, tile], sums[b, tile])
        if not abs(largest) < _NEAR:
            tops[b, tile] += largest
            again |= largest != -np.inf  # a row without any weight is done
    return again


@njit
def _weigh_tile(law, rows, out, low, scores, tile, sums, tops, totals):
    """Weigh one tile for all rows, with tops of 0 if that suffices."""
    np.dot(rows, out.T, scores)
    tops[:, tile] = ZERO
    if _weigh_rows(law, low, scores, tops, tile, sums):
        np.dot(rows, out.T, scores)
        _weigh_rows(law, low, scores, tops, tile, sums)
    for b in range(rows.shape[0]):
        totals[b, tile] = accumulate(sums[b, tile])


@njit(parallel=True)
def _weigh(law, rows, vectors_out, weights, sums, tops, totals):
    """Fill in weights (tiles, rows · TILE), running sums (rows, tiles, lines), tops and totals (rows, tiles)."""
    n_rows, n_vocab = rows.shape[0], vectors_out.shape[0]
    for tile in prange(tops.shape[1]):
        low, high = tile * TILE, min((tile + 1) * TILE, n_vocab)
        scores = tile_of(weights, tile, n_rows, high - low)
        _weigh_tile(law, rows, vectors_out[low:high], low, scores, tile, sums, tops, totals)


@njit(borrows=True)
def _held_back(running, k):
    """Return k, or the last index at which the running sums grow, if rounding has led beyond it."""
    k = min(k, running.shape[0] - 1)
    while k > 0 and running[k] == running[k - 1]:
        k -= 1
    return k


@njit(borrows=True)
def _first_above(running, target):
    """Return the first k with running[k] > target, limited by `_held_back`."""
    below = np.int32(0)
    for j in range(running.shape[0]):
        below += np.int32(running[j] <= target)
    return _held_back(running, below)


@njit(borrows=True)
def _first_beyond(values, begin, end, target):
    """Return the first k with values[begin] + … + values[k] > target; the last above 0 if rounding leaves none."""
    last = k = begin
    while k < end and target >= values[k]:
        last = k if values[k] > ZERO else last
        target -= values[k]
        k += 1
    return k if k < end else last


@njit(borrows=True)
def _running_shares(tops, totals, running):
    """Add up the totals of a row's tiles on one scale, e^{−top}, into `running`; return top."""
    top = tops[0]
    for tile in range(1, tops.shape[0]):
        top = max(top, tops[tile])
    total = ZERO
    for tile in range(tops.shape[0]):
        shifted = tops[tile] - top
        total += totals[tile] * fast_exp(shifted) if shifted > _FAR else ZERO
        running[tile] = total
    return top


@njit(borrows=True)
def _width(tile, n_vocab):
    return min(TILE, n_vocab - tile * TILE)


@njit(borrows=True)
def _find_tiles(n, sums, totals, running, rng, tiles, rests):
    """Find each draw's tile, and a number of its own for its place there; prefetch the tile's sums.

    The rest of the first number would do for few targets, but of a million it has too few bits to reach the rarest.
    """
    total = running[-1]
    for k in range(n):
        rests[k] = next_unit(rng) * total
    ranks_into(running, rests, n, tiles)
    for k in range(n):
        tile = tiles[k] = _held_back(running, tiles[k])
        rests[k] = next_unit(rng) * totals[tile]
        for line in range(0, _LINES, LANES):
            prefetch(sums, tile, line)


@njit(borrows=True)
def _find_lines(n, weights, sums, b, n_vocab, tiles, rests, begins):
    """Find each draw's line in the row's weights of its tile, and the rest of its number; prefetch the line."""
    for k in range(n):
        tile = tiles[k]
        width = _width(tile, n_vocab)
        line = min(_first_above(sums[tile], rests[k]), (width - 1) // LANES)
        rests[k] -= sums[tile, line - 1] if line > 0 else ZERO
        begins[k] = line * LANES
        prefetch(weights, tile, b * width + begins[k])


@njit(parallel=True)
def _draw(weights, sums, tops, totals, n_vocab, row_of_place, places, key, ids, log_q, log_z):
    """Draw for each of `places` from its row's weights; all draws go step by step, to overlap memory latency."""
    n, room = ids.shape[1], padded(ids.shape[1])
    for p in prange(places.shape[0]):
        b, place = row_of_place[p], places[p]
        running, rests = np.empty(tops.shape[1], np.float32), np.empty(room, np.float32)
        tiles, begins = np.empty(room, np.int32), np.empty(n, np.int64)
        top = _running_shares(tops[b], totals[b], running)
        normaliser = top + np.float32(fast_log(np.float64(running[-1])))
        log_z[place] = normaliser
        rng = np.empty(1, np.uint64)
        rng[0] = mix(key + np.uint64(place))
        _find_tiles(n, sums[b], totals[b], running, rng, tiles, rests)
        _find_lines(n, weights, sums[b], b, n_vocab, tiles, rests, begins)
        for k in range(n):
            tile = tiles[k]
            width = _width(tile, n_vocab)
            row = weights[tile, b * width : (b + 1) * width]
            j = _first_beyond(row, begins[k], min(begins[k] + LANES, width), rests[k])
            ids[place, k], rests[k] = tile * TILE + j, row[j]
        for k in range(n):
            log_q[place, k] = np.float32(fast_log(np.float64(rests[k]))) + (tops[b, tiles[k]] - normaliser)


def rows_at_once(n_vocab):
    """Return the most distinct centres whose scores are held at a time (int)."""
    return max(1, _SCORES // n_vocab)


def scratch_size(rows, n_vocab):
    """Return how many float32 numbers of scratch `exact_draws` uses for `rows` distinct centres (int)."""
    rows = min(rows, rows_at_once(n_vocab))
    return n_tiles(n_vocab) * rows * (min(TILE, n_vocab) + _LINES + 2)


def _carve(scratch, rows, n_vocab):
    """Return views (weights, sums, tops, totals) into `scratch`, shaped as `_weigh` needs them."""
    tiles = n_tiles(n_vocab)
    shapes = (tiles, rows * min(TILE, n_vocab)), (rows, tiles, _LINES), (rows, tiles), (rows, tiles)
    *parts, _ = np.split(scratch, np.cumsum([math.prod(shape) for shape in shapes]))
    return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]


class Drawn(NamedTuple):
    """ids, log_q : int32 and float32, (n_centres, n_draws); log_z : float32, (n_centres,), log Σ of all weights"""

    ids: np.ndarray
    log_q: np.ndarray
    log_z: np.ndarray

    @classmethod
    def room(cls, *shape):
        """Return arrays of zeros for (…, n_draws) draws."""
        return cls(np.zeros(shape, np.int32), np.zeros(shape, np.float32), np.zeros(shape[:-1], np.float32))

    def flat(self):
        """Return the same memory with one row for each centre."""
        n_draws = self.ids.shape[-1]
        return Drawn(self.ids.reshape(-1, n_draws), self.log_q.reshape(-1, n_draws), self.log_z.ravel())


def exact_draws(law, vectors_in, vectors_out, centre_ids, key, drawn, scratch=None):
    """Draw from Q_i(j) in proportion to a law's weights of s_ij, exactly, for a batch of centres.

    Equal centres share one row of the product; their draws are independent.

    centre_ids : int32, (n_centres,); entries of -1 are skipped; key : int, names the random stream of this batch
    drawn : Drawn, written in place; scratch : float32, (`scratch_size` of n_centres,), optional; reusing it saves as
        much time as the product takes
    """
    places = np.flatnonzero(centre_ids >= 0)
    if len(places) == 0:
        return
    n_vocab = len(vectors_out)
    places = places[np.argsort(centre_ids[places], kind="stable")]
    centres, row_of_place = np.unique(centre_ids[places], return_inverse=True)
    rows = min(len(centres), rows_at_once(n_vocab))
    if scratch is None:
        scratch = np.empty(scratch_size(rows, n_vocab), np.float32)
    room, key = _carve(scratch, rows, n_vocab), np.uint64(key)
    with one_blas_thread():
        for start in range(0, len(centres), rows):
            _weigh(law, vectors_in[centres[start : start + rows]], vectors_out, *room)
            here = slice(*np.searchsorted(row_of_place, (start, start + rows)))
            _draw(*room, n_vocab, row_of_place[here] - start, places[here], key, *drawn)
