"""The Huffman tree over targets: frequent ones near the root, so that the paths of a text are as short as can be."""

import numpy as np

from ..ground.jit import njit


def huffman_paths(counts):
    """Build the tree of these counts, by merging the two rarest of what is left again and again (Huffman 1952).

    Inner nodes are numbered from the root by falling count, so that their rows are as frequent at the front of a matrix
    as those of words are.

    Parameters
    ----------
    counts : int, (n_targets,), falling

    Returns
    -------
    starts : int64, (n_targets + 1,)
        Where the path of each target begins in `turns`.
    turns : int32
        Paths from the root down: 2 · node, and 1 more where it goes right, to the more frequent side.
    """
    counts = np.ascontiguousarray(counts, np.int64)
    parents, rights = _merge_rarest(counts)
    depths = _depths(parents, len(counts))
    starts = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(depths[: len(counts)], out=starts[1:])
    return starts, _turns(parents, rights, starts)


@njit
def _merge_rarest(counts):
    """Return each node's parent, the number of an inner node, and its side; leaves first, then inner nodes."""
    n = counts.shape[0]
    inner = max(n - 1, 0)
    parents, rights = np.full(n + inner, -1, np.int32), np.zeros(n + inner, np.uint8)
    passes = np.zeros(inner, np.int64)
    leaf, oldest = n - 1, inner - 1  # the rarest of either kind: both queues are sorted
    for made in range(inner - 1, -1, -1):
        for side in range(2):
            if leaf >= 0 and (oldest <= made or counts[leaf] < passes[oldest]):
                child, count = leaf, counts[leaf]
                leaf -= 1
            else:
                child, count = n + oldest, passes[oldest]
                oldest -= 1
            parents[child], rights[child] = made, side
            passes[made] += count
    return parents, rights


@njit
def _depths(parents, n):
    """Return how many inner nodes are above each node: int64, leaves first, then inner nodes."""
    depths = np.zeros(parents.shape[0], np.int64)
    for node in range(n + 1, parents.shape[0]):  # a parent's number is below its children's
        depths[node] = depths[n + parents[node]] + 1
    for leaf in range(n):
        depths[leaf] = depths[n + parents[leaf]] + 1 if parents[leaf] >= 0 else 0
    return depths


@njit
def _turns(parents, rights, starts):
    n = starts.shape[0] - 1
    turns = np.empty(starts[n], np.int32)
    for leaf in range(n):
        node = leaf
        for place in range(starts[leaf + 1] - 1, starts[leaf] - 1, -1):
            turns[place] = 2 * parents[node] + rights[node]
            node = n + parents[node]
    return turns
