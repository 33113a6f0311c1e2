"""The k highest scores of each row, by one look at every score: what cannot enter the list costs a comparison."""

from typing import NamedTuple

import numpy as np

from ...jit import njit, prange


class LeftOut(NamedTuple):
    """What may not be listed: row r leaves out column own[r], and the columns known[starts[r] : starts[r + 1]].

    own : int64, (b,), −1 for none; starts : int64, (b + 1,); known : int32
    """

    own: np.ndarray
    starts: np.ndarray
    known: np.ndarray


_CHUNK = 64  # scores compared with the last of the list at once


@njit(borrows=True)
def _enter(score, j, filled, ids, scores):
    """Put a score into a list sorted by falling score, behind equal ones; return how long the list is now."""
    k = ids.shape[0]
    if (filled == k and not score > scores[k - 1]) or score == -np.inf:
        return filled
    filled = min(filled + 1, k)
    place = filled - 1
    while place > 0 and score > scores[place - 1]:
        ids[place], scores[place] = ids[place - 1], scores[place - 1]
        place -= 1
    ids[place], scores[place] = j, score
    return filled


@njit(borrows=True)
def _any_above(part, last):
    """Tell whether a score of a slice is above `last`, or NaN; a slice, for places from 0 on become vector code."""
    above = np.int32(0)
    for j in range(part.shape[0]):
        above += np.int32(not part[j] <= last)
    return above > 0


@njit
def _best_of_row(line, ids, scores):
    """Fill a list; return False if a score is NaN. Chunks without a score above the list's last are passed over."""
    k, filled, n = ids.shape[0], 0, line.shape[0]
    for low in range(0, n, _CHUNK):
        part = line[low : min(low + _CHUNK, n)]
        if filled == k and not _any_above(part, scores[k - 1]):
            continue
        for j in range(part.shape[0]):
            if np.isnan(part[j]):
                return False
            filled = _enter(part[j], low + j, filled, ids, scores)
    return True


@njit(parallel=True)
def _best_of_rows(scores, left_out, ids, best, sound):
    for r in prange(scores.shape[0]):
        line = scores[r]
        if left_out.own[r] >= 0:
            line[left_out.own[r]] = -np.inf
        for n in range(left_out.starts[r], left_out.starts[r + 1]):
            line[left_out.known[n]] = -np.inf
        sound[r] = _best_of_row(line, ids[r], best[r])


def best_of_rows(scores, left_out, k):
    """Return the highest scores of each row and their columns, the highest first, equal ones in the order of columns.

    Parameters
    ----------
    scores : float32, (b, V)
        Updated in place: what is left out gets −∞.
    left_out : LeftOut
    k : int, at least 1

    Returns
    -------
    ids : int32, (b, k)
        −1 where fewer than k are left.
    best : float32, (b, k)
        −∞ there.
    sound : bool, (b,)
        Whether no score of the row is NaN; of another row the list means nothing.
    """
    shape = len(scores), k
    ids, best, sound = (
        np.full(shape, -1, np.int32),
        np.full(shape, -np.inf, np.float32),
        np.empty(len(scores), np.bool_),
    )
    _best_of_rows(scores, left_out, ids, best, sound)
    return ids, best, sound
