"""The k highest scores of each row, found tile by tile while a tile's scores are in the cache.

A score too low for the list costs one comparison, 64 at a time.
"""

from typing import NamedTuple

import numpy as np

from ...ground.jit import available_threads, launch, njit
from ..simd.lanes import above_lanes
from ..simd.octets import trailing_zeros

_CHUNK = 64  # scores that `above_lanes` compares


class LeftOut(NamedTuple):
    """Columns that may not be listed: row r leaves out own[r] and known[starts[r] : ends[r]], which are ascending.

    own : int64, (b,), −1 for none; known : int32
    starts, ends : int64, (b,); `starts` is updated in place, to skip the columns of finished tiles
    """

    own: np.ndarray
    known: np.ndarray
    starts: np.ndarray
    ends: np.ndarray

    @classmethod
    def of(cls, own, known=None):
        """known : scipy.sparse.csr_matrix, the columns to leave out of each row"""
        if known is None:
            return cls(own, np.empty(0, np.int32), *np.zeros((2, len(own)), np.int64))
        known.sort_indices()
        offsets = known.indptr.astype(np.int64)
        return cls(own, known.indices.astype(np.int32), offsets[:-1].copy(), offsets[1:])

    def rows(self, some):
        return LeftOut(self.own[some], self.known, self.starts[some], self.ends[some])


class Lists(NamedTuple):
    """The highest scores so far of each row and their columns, highest first, ties in the order of columns.

    ids : int32, (b, k), −1 beyond the length of the list; scores : float32, (b, k), −∞ there
    lengths : int64, (b,); sound : bool, (b,), False if a score of the row was NaN, which makes its list meaningless
    """

    ids: np.ndarray
    scores: np.ndarray
    lengths: np.ndarray
    sound: np.ndarray

    @classmethod
    def empty(cls, n_rows, k):
        ids, scores = np.full((n_rows, k), -1, np.int32), np.full((n_rows, k), -np.inf, np.float32)
        return cls(ids, scores, np.zeros(n_rows, np.int64), np.ones(n_rows, np.bool_))

    def rows(self, some):
        return Lists(*(part[some] for part in self))


@njit(borrows=True)
def _enter(score, j, length, ids, scores):
    """Insert a score into a list in falling order, after equal ones; return the new length of the list."""
    k = ids.shape[0]
    if length == k and not score > scores[k - 1]:
        return length
    length = min(length + 1, k)
    place = length - 1
    while place > 0 and score > scores[place - 1]:
        ids[place], scores[place] = ids[place - 1], scores[place - 1]
        place -= 1
    ids[place], scores[place] = j, score
    return length


@njit(borrows=True)
def _look(score, j, r, lists):
    if np.isnan(score):
        lists.sound[r] = False
    elif score > -np.inf:
        lists.lengths[r] = _enter(score, j, lists.lengths[r], lists.ids[r], lists.scores[r])


@njit(loop=True)
def best_of_tile(scores, first, left_out, lists):
    """Enter the highest scores of some columns into the lists, which are updated in place.

    scores : float32, (b, width), of the columns from `first` on, in ascending tiles; columns left out are set to −∞
    """
    n_rows, width = scores.shape
    k = lists.ids.shape[1]
    for r in range(n_rows):
        line = scores[r]
        if first <= left_out.own[r] < first + width:
            line[left_out.own[r] - first] = -np.inf
        while left_out.starts[r] < left_out.ends[r] and left_out.known[left_out.starts[r]] < first + width:
            line[left_out.known[left_out.starts[r]] - first] = -np.inf
            left_out.starts[r] += 1
        whole = width - width % _CHUNK
        for begin in range(0, whole, _CHUNK):
            news = above_lanes(line, begin, lists.scores[r, k - 1])  # −∞ while the list is not full
            while news:
                j = begin + np.int64(trailing_zeros(news))
                news &= news - np.uint64(1)
                _look(line[j], first + j, r, lists)
        for column in range(whole, width):
            _look(line[column], first + column, r, lists)


def best_of_rows(scores, k):
    """Return the k highest scores of each row of a contiguous float32 matrix, as `Lists`."""
    lists, count = Lists.empty(len(scores), k), available_threads()
    nothing = LeftOut.of(np.full(len(scores), -1))
    edges = np.linspace(0, len(scores), count + 1).astype(int).tolist()

    def work(part):
        some = slice(edges[part], edges[part + 1])
        best_of_tile(scores[some], 0, nothing.rows(some), lists.rows(some))

    launch(work, count)
    return lists
