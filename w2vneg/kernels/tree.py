"""A balanced binary tree over classes; a node holds Σ w wᵀ of its classes' rows (Blanc and Rendle 2018, §3.2).

    Σ_{j in node} (h · w_j)² = hᵀ (Σ_j w_j w_jᵀ) h = φ(h) · packed(Σ_j w_j w_jᵀ)

The matrix is symmetric, so only its upper triangle is stored, row by row: D = d(d + 1)/2 numbers. φ(h) holds h_i² and
2 h_i h_k. Nodes are numbered as in a heap: 1 is the root, 2i and 2i + 1 are the children of i, the L leaves are
L … 2L − 1. L need not be a power of two: which classes share a node does not matter. Leaf l holds the ids from l V // L
to (l + 1) V // L, at most D / d of them rounded up, so all nodes together take about 2 V d numbers.

Inner loops run over slices that begin at 0: if an index is a sum, the compiler must allow for a negative one and does
not vectorise.
"""

import numpy as np

from ..ground.jit import LEAF, ZERO, njit, prange

_HALF = np.float32(0.5)
_CHUNKS = 16  # ranges of columns whose inner nodes are summed in parallel


def packed_size(dim):
    """Return D, the length of a packed symmetric matrix."""
    return dim * (dim + 1) // 2


def count_leaves(n_vocab, dim):
    """Return L, such that a leaf holds at most about D / d classes."""
    return -(-n_vocab // max(1, -(-packed_size(dim) // dim)))


def node_counts(n_vocab, n_leaves):
    """Return how many classes each node holds, float32, (2 L,); entry 0 is unused."""
    counts = np.zeros(2 * n_leaves, np.float32)
    counts[n_leaves:] = np.diff(np.arange(n_leaves + 1, dtype=np.int64) * n_vocab // n_leaves)
    for node in range(n_leaves - 1, 0, -1):
        counts[node] = counts[2 * node] + counts[2 * node + 1]
    return counts


@njit(borrows=True)
def leaf_start(leaf, n_leaves, n_vocab):
    """Return the first id of a leaf; it ends where leaf + 1 begins."""
    return np.int64(leaf) * n_vocab // n_leaves


@njit(borrows=True)
def _scale_into(target, factor, x):
    for k in range(target.shape[0]):
        target[k] = factor * x[k]


@njit(borrows=True)
def features_into(x, scale, features):
    """Write scale · φ(x), float32 (D,)."""
    dim = x.shape[0]
    place = 0
    for i in range(dim):
        _scale_into(features[place : place + dim - i], (scale + scale) * x[i], x[i:])
        features[place] *= _HALF
        place += dim - i


@njit(fastmath=LEAF, borrows=True)
def node_sum(sums, node, features):
    """Return features · sums[node]."""
    total = ZERO
    for i in range(features.shape[0]):
        total += sums[node, i] * features[i]
    return total


@njit(fastmath=LEAF, borrows=True)
def two_sums(sums, node, features):
    """Return the sums of `node` and of the next one; each load of the features serves both."""
    a = b = ZERO
    for i in range(features.shape[0]):
        v = features[i]
        a += sums[node, i] * v
        b += sums[node + 1, i] * v
    return a, b


@njit(fastmath=LEAF, borrows=True)
def _add_four(target, a, b, c, d):
    """``target += a₀ a + b₀ b + c₀ c + d₀ d``: one row of the triangle, from four rows that start at its diagonal."""
    p, q, r, s = a[0], b[0], c[0], d[0]
    for k in range(target.shape[0]):
        target[k] += (p * a[k] + q * b[k]) + (r * c[k] + s * d[k])


@njit(fastmath=LEAF, borrows=True)
def _add_one(target, a):
    p = a[0]
    for k in range(target.shape[0]):
        target[k] += p * a[k]


@njit(borrows=True)
def _add_squares(packed, rows, begin, end):
    """Add w wᵀ of the rows [begin, end) to a packed triangle, four rows at a time."""
    dim = rows.shape[1]
    j = begin
    while j + 4 <= end:
        place = 0
        for i in range(dim):
            target = packed[place : place + dim - i]
            _add_four(target, rows[j, i:], rows[j + 1, i:], rows[j + 2, i:], rows[j + 3, i:])
            place += dim - i
        j += 4
    while j < end:
        place = 0
        for i in range(dim):
            _add_one(packed[place : place + dim - i], rows[j, i:])
            place += dim - i
        j += 1


@njit(borrows=True)
def _build_leaf(sums, leaf, n_leaves, rows):
    node = n_leaves + leaf
    for i in range(sums.shape[1]):
        sums[node, i] = ZERO
    n_vocab = rows.shape[0]
    _add_squares(sums[node], rows, leaf_start(leaf, n_leaves, n_vocab), leaf_start(leaf + 1, n_leaves, n_vocab))


@njit(borrows=True)
def _add_up(target, a, b):
    for i in range(target.shape[0]):
        target[i] = a[i] + b[i]


@njit(borrows=True)
def _build_columns(sums, n_leaves, begin, end):
    for node in range(n_leaves - 1, 0, -1):
        _add_up(sums[node, begin:end], sums[2 * node, begin:end], sums[2 * node + 1, begin:end])


@njit(parallel=True)
def rebuild(sums, rows):
    """Recompute all sums in O(V D): `sums` float32 (2 L, D), updated in place; `rows` float32, (n_vocab, dim)."""
    n_leaves, size = sums.shape[0] // 2, sums.shape[1]
    for leaf in prange(n_leaves):
        _build_leaf(sums, leaf, n_leaves, rows)
    for chunk in prange(_CHUNKS):
        _build_columns(sums, n_leaves, chunk * size // _CHUNKS, (chunk + 1) * size // _CHUNKS)
