"""Vectors of texts: means of their words' vectors, weighted by how rare a word is.

Arora, Liang and Ma (2017), "A Simple but Tough-to-Beat Baseline for Sentence Embeddings"; no component is taken out.
"""

import re

import numpy as np

from ..ground.errors import ConfigError
from .search import normalised

_PIECES = re.compile(r"\w+|[^\w\s]+")


def weights_of(counts, a):
    """Return a / (a + p(w)) of each word, float32 (n,), from counts (n,)."""
    if counts is None or not counts.sum():
        raise ConfigError("these vectors have no counts to weigh words by; give a=None for the plain mean")
    if not 0 < a < float("inf"):
        raise ConfigError(f"a must be a positive number, or None for the plain mean, not {a!r}")
    return (a / (a + counts / counts.sum())).astype(np.float32)


def splitter(words):
    """Return what splits a text into words as the exported tokenizer does: callable, str -> list of str."""
    lower = all(word == word.lower() for word in words)
    split = _PIECES.findall if all(_PIECES.fullmatch(word) for word in words) else str.split
    return (lambda text: split(text.lower())) if lower else split


def encode(texts, split, row_of, matrix, weights, normalize):
    """Return the vectors of texts (str, or lists of words), float32 (len(texts), dim); unknown words count as zeros."""
    found = np.zeros((len(texts), matrix.shape[1]), np.float32)
    for at, text in enumerate(texts):
        words = split(text) if isinstance(text, str) else list(text)
        rows = [row for row in map(row_of, words) if row >= 0]
        if rows:
            weighed = matrix[rows] if weights is None else matrix[rows] * weights[rows, None]
            found[at] = weighed.sum(axis=0, dtype=np.float64) / len(words)
    return normalised(found) if normalize else found


def mover_distance(first, second, matrix):
    """Return the least cost of moving the rows of one text, lists of int, to those of another (float)."""
    from scipy.optimize import linprog
    from scipy.spatial.distance import cdist

    (a, have), (b, want) = (np.unique(rows, return_counts=True) for rows in (first, second))
    cost = cdist(matrix[a].astype(np.float64), matrix[b].astype(np.float64))
    leave, arrive = np.kron(np.eye(len(a)), np.ones(len(b))), np.kron(np.ones(len(a)), np.eye(len(b)))
    masses = np.concatenate([have / have.sum(), want / want.sum()])
    return float(linprog(cost.ravel(), A_eq=np.vstack([leave, arrive]), b_eq=masses).fun)
