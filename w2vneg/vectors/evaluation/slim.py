"""Items by items, sparse and in closed form: what somebody has says what comes next, without any vectors.

X holds who has what, ones, and a column of ones more: X' = [X, 1]. With G = X'ᵀ X', item j is regressed on its K
nearest neighbours N, those of largest G_ij² / (G_ii + λ), and on the column of ones:

    (G_NN + λ I) b_j = G_Nj,        scores of a user  x'ᵀ B

With all items as neighbours, and every two seen together, this is EASE (Steck 2019), with few its sparse relative.
SLIM (Ning and Karypis 2011) is the same regression with other penalties. New users need nothing but what they have.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse

from ...data.encoded.pairs import ones_of
from ...ground.errors import ConfigError, InputError
from ...ground.files.memory import memory_size
from ...ground.jit import available_threads
from ...kernels.slim import solve_items
from .scores import history_memory

_SCORES = 4_000_000  # held at a time
_MANY = 60  # items of a user, on average


class Weights(NamedTuple):
    """items : csr_matrix, float32, (n, n), what having i adds to the score of j; base : float32, (n,), for everybody"""

    items: scipy.sparse.csr_matrix
    base: np.ndarray


def fit_weights(has, neighbours, l2, workers=None):
    """Return the `Weights` that have's columns give each other.

    Parameters
    ----------
    has : scipy.sparse matrix, (n_users, n)
        Who has what; how often does not matter.
    neighbours : int, at least 1
        K; `default_of` has usual ones.
    l2 : float, above 0
        λ; the same.
    workers : int, optional, threads; all that there are, if None

    Raises
    ------
    ConfigError, InputError
        If an option is out of range, nobody has two items, or the counts of items together are more than a quarter of
        the memory.
    """
    has = ones_of(has)
    if neighbours < 1 or not 0 < l2 < np.inf:
        raise ConfigError(f"neighbours must be at least 1 and l2 above 0, got {neighbours} and {l2}")
    if not has.nnz or np.diff(has.indptr).max() < 2:
        raise InputError("nobody has two items, so that none says anything of another; look at what was read")
    if 2 * history_memory(has) > memory_size() // 4:  # the product, and once more while it is made
        raise InputError(
            f"the counts of items together could take {2 * history_memory(has) / 1e9:.0f} GB, more than a quarter of "
            "the memory; leave rare items out with --min-count, or users with very many"
        )
    n = has.shape[1]
    ones = scipy.sparse.csr_matrix(np.ones((has.shape[0], 1), np.float32))
    wide = scipy.sparse.hstack([has, ones], format="csr", dtype=np.float32)
    products = (wide.T @ wide).tocsr()
    products.sort_indices()
    parts = available_threads() if workers is None else workers
    ids, weights = solve_items(products, min(neighbours, n), l2, max(1, min(parts, n)))
    base, ids, weights = weights[:, 0].copy(), ids[:, 1:], weights[:, 1:]
    real = ids >= 0
    to = np.broadcast_to(np.arange(n)[:, None], ids.shape)[real]
    return Weights(scipy.sparse.csr_matrix((weights[real], (ids[real], to)), (n, n)), base)


def default_of(has):
    """Return K and λ for who has what: (200, 300) where users have many items, as of films, else (50, 30), as of shops.

    Chosen on validation parts: users of MovieLens 1M and 100K have 116 and 74 items, of UK Online Retail 43, of Belgian
    retail 7.
    """
    return (200, 300.0) if has.nnz > _MANY * has.shape[0] else (50, 30.0)


class SlimScores:
    """A scoring function, as `scores` has them: float32, one product of sparse matrices for all of `centres`."""

    def __init__(self, has, weights):
        self.has, self.weights = has, weights
        self.rows = max(1, min(256, _SCORES // max(1, len(weights.base))))

    @classmethod
    def of(cls, known):
        """Learn from who has what, with usual options."""
        has = ones_of(known)
        return cls(has, fit_weights(has, *default_of(has)))

    def __call__(self, centres):
        scores = (self.has[centres] @ self.weights.items).toarray()
        scores += self.weights.base
        return scores

    def together(self, centres):
        """Return the scores of somebody who has what all of `centres` have, float64, (n,)."""
        return (self(centres) - self.weights.base).sum(axis=0, dtype=np.float64) + self.weights.base

    def tiles(self, centres):
        yield 0, self(centres)
