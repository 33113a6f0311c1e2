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


@njit
def _best_of_row(line, ids, scores):
    """Keep a list sorted by falling score; an equal score stands behind those before it, so the lower column leads."""
    k, filled = ids.shape[0], 0
    for j in range(line.shape[0]):
        score = line[j]
        if filled == k:
            if not score > scores[k - 1]:
                continue
        elif score > -np.inf:
            filled += 1
        else:
            continue
        place = filled - 1
        while place > 0 and score > scores[place - 1]:
            ids[place], scores[place] = ids[place - 1], scores[place - 1]
            place -= 1
        ids[place], scores[place] = j, score


@njit(parallel=True)
def best_of_rows(scores, left_out, ids, best):
    """Write the columns of the highest scores of each row, the highest first, equal ones in the order of columns.

    Parameters
    ----------
    scores : float32, (b, V)
        Updated in place: what is left out gets −∞. A NaN is never listed.
    left_out : LeftOut
    ids : int32, (b, k)
        Filled with −1; where fewer than k are left, the rest stays so.
    best : float32, (b, k)
        Filled with −∞; updated in place, as `ids`.
    """
    for r in prange(scores.shape[0]):
        line = scores[r]
        if left_out.own[r] >= 0:
            line[left_out.own[r]] = -np.inf
        for n in range(left_out.starts[r], left_out.starts[r + 1]):
            line[left_out.known[n]] = -np.inf
        _best_of_row(line, ids[r], best[r])
