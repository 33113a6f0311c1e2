"""Weighted pairs as groups: a row of the matrix is the centre, some of its columns are its positives.

Each row is visited in proportion to its weight, about eight pairs at a time, and the visits of all rows are shuffled.
If the weights are counts, the pairs of each visit are listed beforehand, so that an epoch holds every pair exactly as
often as its count. Otherwise, they are drawn in proportion to their weights when the row is visited.
"""

from collections import namedtuple

import numpy as np

from ..ground.jit import njit
from .contracts import implement_fill, implement_group
from .rng import alias_place, next_below, next_unit
from .walk import SEPARATOR

_HEAD = 1  # entries before the centres of listed pairs


ListedPairs = namedtuple("ListedPairs", "centres starts sizes targets")
"""Fewer than 2^31 visits whose pairs are listed: visit v has the centre ``centres[v]`` and the targets
``targets[starts[v]:starts[v] + sizes[v]]``.

centres : int32, (n_visits,); starts : int64, (n_visits,); sizes : int32, (n_visits,); targets : int32, (n_pairs,)
"""


DrawnPairs = namedtuple("DrawnPairs", "centres means starts targets table")
"""Visits whose pairs are drawn. centres : int32, (n_visits,)
means : float32, (n_in,), mean number of pairs in a visit; starts : int64, (n_in + 1,), where a row's columns begin
targets : int32, (n_pairs,), the columns; table : uint64, (n_pairs,), alias tables of the rows
"""


@njit(borrows=True)
def _write_centres(centres, lo, hi, tokens, n):
    """Write the centres of the visits [lo, hi) from index n on, then `SEPARATOR`; return its index."""
    for visit in range(lo, hi):
        tokens[n] = centres[visit]
        n += 1
    tokens[n] = SEPARATOR
    return n


@implement_fill(ListedPairs)
def fill_listed(source, lo, hi, epoch_key, tokens):
    """Write `lo`, from which `group` finds a visit's targets, and then the centres of the visits [lo, hi)."""
    tokens[0] = lo
    return _HEAD, _write_centres(source.centres, lo, hi, tokens, _HEAD)


@implement_group(ListedPairs)
def group_listed(source, tokens, position, rng, positives):
    if tokens[position] < 0:
        return 0
    visit = tokens[0] + position - _HEAD
    start, n = source.starts[visit], source.sizes[visit]
    for k in range(n):
        positives[k] = source.targets[start + k]
    return n


@implement_fill(DrawnPairs)
def fill_drawn(source, lo, hi, epoch_key, tokens):
    return 0, _write_centres(source.centres, lo, hi, tokens, 0)


@implement_group(DrawnPairs)
def group_drawn(source, tokens, position, rng, positives):
    """Draw from the centre's columns, as many as the visit's mean, rounded up or down at random."""
    centre = tokens[position]
    if centre < 0:
        return 0
    mean = source.means[centre]
    n = np.int64(mean)
    if next_unit(rng) < mean - n:
        n += 1
    first = source.starts[centre]
    for k in range(n):
        positives[k] = source.targets[first + alias_place(source.table, first, source.starts[centre + 1] - first, rng)]
    return n


@njit
def list_pairs(starts, columns, counts, visit, rng, centres, begins, sizes, targets):
    """Repeat each pair as often as its count, shuffle the pairs of each row, and cut rows into visits.

    starts : int64, (n_in + 1,); columns : int32, (n_pairs,); counts : int64, (n_pairs,); the matrix
    visit : int, maximum number of pairs in a visit
    centres, begins, sizes : int32, int64, int32, (n_visits,), and targets : int32, (sum of the counts,), written
    """
    n = v = 0
    for row in range(starts.shape[0] - 1):
        begin = n
        for place in range(starts[row], starts[row + 1]):
            for _ in range(counts[place]):
                targets[n] = columns[place]
                n += 1
        for k in range(n - begin - 1, 0, -1):
            other = begin + next_below(rng, k + 1)
            targets[begin + k], targets[other] = targets[other], targets[begin + k]
        parts = -(-(n - begin) // visit)
        for part in range(parts):
            centres[v] = row
            begins[v] = begin + part * (n - begin) // parts
            sizes[v] = begin + (part + 1) * (n - begin) // parts - begins[v]
            v += 1
