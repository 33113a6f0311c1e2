"""The groups of a round, gathered into batches of distinct centres."""

from typing import NamedTuple

import numpy as np

from ...ground.jit import njit
from ..contracts import group
from ..rng import next_unit
from .softmax import Batch


class Groups(NamedTuple):
    """centres : int32, (n_groups,); ends : int64, (n_groups,), where each group's positives end
    positives : int32, (n_positives,); penalised : float32, (n_positives,), 1 for those chosen, else 0
    """

    centres: np.ndarray
    ends: np.ndarray
    positives: np.ndarray
    penalised: np.ndarray

    @classmethod
    def room(cls, n_groups, n_positives):
        """Return arrays that hold so many, not yet filled."""
        return cls(
            np.empty(n_groups, np.int32),
            np.empty(n_groups, np.int64),
            np.empty(n_positives, np.int32),
            np.empty(n_positives, np.float32),
        )

    def part(self, first, last):
        """Return the groups from number `first` to before `last`, their positives counted from the first of them."""
        begin, end = self.ends[first - 1] if first else 0, self.ends[last - 1]
        ends = self.ends[first:last] - begin
        return Groups(self.centres[first:last], ends, self.positives[begin:end], self.penalised[begin:end])


@njit
def collect_groups(source, tokens, ranges, rngs, fraction, groups):
    """List every group of a round, worker after worker.

    Parameters
    ----------
    source : NamedTuple; tokens : int32, (workers, capacity); ranges : int64, (workers, 2); as `fill_round` leaves them
    rngs : uint64, (workers, 8); each worker's stream, advanced in place
    fraction : float, of the pairs to be penalised
    groups : Groups, written in place

    Returns
    -------
    int64
        The number of groups.
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
    """Bring groups together: one row for each distinct centre, since equal ones have equal scores.

    Parameters
    ----------
    vectors_in : float32, (n_vocab, dim); groups : Groups

    Returns
    -------
    (distinct, Batch) : the ids of the rows, int32 (R,), rising; and the batch
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
