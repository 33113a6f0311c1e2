"""The groups of a round, gathered into batches of distinct centres."""

import numpy as np

from ...jit import njit
from ..contracts import group
from ..rng import next_unit
from .softmax import Batch


@njit
def collect_groups(source, tokens, ranges, rngs, fraction, centres, ends, positives, penalised):
    """List every group of a round, worker after worker.

    Parameters
    ----------
    source : NamedTuple; tokens : int32, (workers, capacity); ranges : int64, (workers, 2); as `fill_round` leaves them
    rngs : uint64, (workers, 8); each worker's stream, advanced in place
    fraction : float, of the pairs to be penalised
    centres : int32, (n_groups,); ends : int64, (n_groups,), where each group's positives end; written
    positives : int32, (n_positives,); penalised : float32, (n_positives,), 1 for those chosen, else 0; written

    Returns
    -------
    int64
        The number of groups.
    """
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


def batch_of(vectors_in, centres, ends, positives, penalised):
    """Bring groups together: one row for each distinct centre, since equal ones have equal scores.

    Parameters
    ----------
    vectors_in : float32, (n_vocab, dim)
    centres : int32, (n_groups,); ends : int64, (n_groups,), counted from the first positive given
    positives : int32, (n_positives,); penalised : float32, (n_positives,)

    Returns
    -------
    (distinct, Batch) : the ids of the rows, int32 (R,), rising; and the batch
    """
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
