"""The shape of a cloud of vectors: lengths, hubs, spectrum."""

import numpy as np

_NEAREST = 10
_ASKED = 2000  # words whose nearest are looked up for hubs
_COSINES = 1 << 24  # held at a time


def lengths(vectors):
    """Return the length of each vector, float64 (n,)."""
    matrix = vectors.matrix
    return np.sqrt(np.einsum("ij,ij->i", matrix, matrix, dtype=np.float64))


def hubness(vectors, seed=1):
    """Return how often each word is among the ten nearest of others, int64 (n,), and how many words were asked.

    A sample of 2,000 words stands for all where there are more. Evenly spread, every word would be there ten times for
    each word that is asked, shared out over all.
    """
    unit, n = vectors.unit, len(vectors)
    asked = np.arange(n) if n <= _ASKED else np.sort(np.random.default_rng(seed).choice(n, _ASKED, replace=False))
    k, seen = min(_NEAREST, n - 1), np.zeros(n, np.int64)
    together = max(1, _COSINES // n)
    for start in range(0, len(asked) if k else 0, together):
        rows = asked[start : start + together]
        cosines = unit[rows] @ unit.T
        cosines[np.arange(len(rows)), rows] = -np.inf
        np.add.at(seen, np.argpartition(cosines, n - k, axis=1)[:, n - k :].ravel(), 1)
    return seen, len(asked)


def spectrum(vectors):
    """Return the share of the variance along each principal axis, float64 (dim,), the largest first."""
    values, _ = principal_axes(vectors.matrix)
    total = values.sum()
    return values / total if total > 0 else np.full(len(values), 1 / len(values))


def effective_rank(shares):
    """Return exp of the entropy of the shares (float): how many axes of equal share would be as many as these."""
    positive = shares[shares > 0]
    return float(np.exp(-(positive * np.log(positive)).sum()))


def principal_axes(matrix):
    """Return variances along principal axes, falling, and the axes as columns, float64 (dim, dim)."""
    centred = matrix - matrix.mean(axis=0, dtype=np.float64).astype(np.float32)
    values, axes = np.linalg.eigh((centred.T @ centred).astype(np.float64) / len(matrix))
    return np.maximum(values[::-1], 0), axes[:, ::-1]
