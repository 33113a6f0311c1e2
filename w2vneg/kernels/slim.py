"""Item-item weights in closed form: a ridge regression of each item on its nearest neighbours (`evaluation.scores`)."""

import numpy as np

from ..ground.jit import LEAF, launch, njit
from .functions import first_at_least


def solve_items(products, neighbours, l2, parts):
    """Solve (G_KK + λ I) b = G_Kj for every item j but the last, K its neighbours; the same for any number of threads.

    products : csr_matrix, float32, (n + 1, n + 1), G, symmetric; the last is the column of ones, a neighbour of all
    neighbours : int, number per item, besides the column of ones; l2 : float, λ; parts : int, threads

    Returns the neighbours of each item and their weights, int32 and float32, (n, neighbours + 1); the column of ones
    first, id -1 for missing neighbours.
    """
    full = 4 * products.nnz >= products.shape[0] ** 2  # a dense look-up: a tenth of the time, up to twice the memory
    dense = products.toarray().astype(np.float32) if full else np.empty((0, 0), np.float32)
    starts, columns = products.indptr.astype(np.int64), products.indices.astype(np.int32)
    values, diagonal = products.data.astype(np.float32), products.diagonal().astype(np.float32)
    n = products.shape[0] - 1
    ids, weights = np.full((n, neighbours + 1), -1, np.int32), np.zeros((n, neighbours + 1), np.float32)

    def work(part):
        room = neighbours + 1
        scratch = np.empty(room, np.float32), np.empty((room, room), np.float64), np.empty(room, np.float64)
        _solve(starts, columns, values, dense, diagonal, np.float32(l2), part, parts, *scratch, ids, weights)

    launch(work, parts)
    return ids, weights


@njit(borrows=True)
def _product(starts, columns, values, i, j):
    low = first_at_least(columns, starts[i], starts[i + 1], j)
    return values[low] if low < starts[i + 1] and columns[low] == j else np.float32(0.0)


@njit(borrows=True)
def _choose(starts, columns, values, diagonal, l2, j, merits, chosen):
    """Write the column of ones and the items of largest G_ij² / (G_ii + λ) into `chosen`; return their number.

    Ties go to the first item, which is the more popular one. merits : float32, as long as `chosen`, scratch
    """
    ones, n = diagonal.shape[0] - 1, 1
    chosen[0] = ones
    for place in range(starts[j], starts[j + 1]):
        i, together = columns[place], values[place]
        merit = together * together / (diagonal[i] + l2)
        if i in (j, ones) or (n == chosen.shape[0] and merit <= merits[n - 1]):
            continue
        at = min(n, chosen.shape[0] - 1)
        n = at + 1
        while at > 1 and merits[at - 1] < merit:
            merits[at], chosen[at] = merits[at - 1], chosen[at - 1]
            at -= 1
        merits[at], chosen[at] = merit, i
    return n


@njit(fastmath=LEAF, borrows=True)
def _dot(a, b, n):
    total = 0.0
    for k in range(n):
        total += a[k] * b[k]
    return total


@njit(borrows=True)
def _solve_system(system, right, n):
    """Solve the first n equations of a positive definite system, the lower half of (n, n); in place, into `right`."""
    for i in range(n):
        row = system[i]
        for j in range(i):
            row[j] = (row[j] - _dot(row, system[j], j)) / system[j, j]
        row[i] = np.sqrt(row[i] - _dot(row, row, i))
        right[i] = (right[i] - _dot(row, right, i)) / row[i]
    for i in range(n - 1, -1, -1):
        row = system[i]
        right[i] /= row[i]
        for k in range(i):
            right[k] -= row[k] * right[i]


@njit
def _solve(starts, columns, values, dense, diagonal, l2, part, parts, merits, system, right, ids, weights):
    for j in range(part, ids.shape[0], parts):  # round-robin: popular items take longer
        chosen = ids[j]
        n = _choose(starts, columns, values, diagonal, l2, j, merits, chosen)
        for a in range(n):
            for b in range(a):
                if dense.shape[0]:
                    system[a, b] = dense[chosen[a], chosen[b]]
                else:
                    system[a, b] = _product(starts, columns, values, chosen[a], chosen[b])
            system[a, a] = diagonal[chosen[a]] + l2
            right[a] = _product(starts, columns, values, chosen[a], j)
        _solve_system(system, right, n)
        for a in range(n):
            weights[j, a] = right[a]
