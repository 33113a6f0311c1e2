"""Graphs: edges with weights, on which training walks at random.

The count of a node is how often walks visit it: ten walks of 80 nodes from each node that has an edge to follow, each
step by the weights alone. It is worked out, not drawn, and does not change with the options of the run. So noise by
popularity follows visits, as it does where walks are written out and counted as a text.
"""

from dataclasses import dataclass, replace

import numpy as np

from ...ground.errors import ConfigError, InputError
from ..readers.report import ItemsReport
from ..vocab import Vocabulary, choose_items
from .corpus import Encoded, going_round
from .pairs import single_precision

_WALKS, _LENGTH = 10, 80  # of the visits that are counted
_SETTLED = 1e-4  # share of the visits that moves in a step, from which on the steps to come are taken to be alike


@dataclass(frozen=True, eq=False)
class EncodedGraph(Encoded):
    """A graph as a sparse matrix.

    Attributes
    ----------
    matrix : scipy.sparse.csr_matrix, float32, (n_nodes, n_nodes)
        Row i has the weights of the edges that lead on from node i, above 0; columns sorted, none twice, none on the
        diagonal. Symmetric unless the graph is directed.
    vocab : Vocabulary
        Names of the nodes, with visits as counts.
    report : ItemsReport
    directed : bool
    origins : ndarray, int32, (n_origins,), or None
        Where walks begin; None: at every node with an edge to follow. Of a rank's share a part of them.
    """

    matrix: object
    vocab: Vocabulary
    report: ItemsReport | None = None
    directed: bool = False
    origins: np.ndarray | None = None
    source = "graph"

    def __len__(self):
        return self.matrix.nnz

    @property
    def arrays(self):
        """The arrays by which a run knows its data again (tuple of ndarray)."""
        return self.matrix.indices, self.matrix.indptr, self.matrix.data

    def _share(self, slot, borders):
        """Deal out the nodes where walks begin; the graph is whole at every rank."""
        all_origins = np.flatnonzero(np.diff(self.matrix.indptr)).astype(np.int32)
        own = all_origins[going_round(len(all_origins), borders) == slot]
        if not len(own):
            raise ConfigError(f"{len(self.vocab):,} nodes are too few for {len(borders) - 1} ranks; lower --ranks")
        return replace(self, origins=own)


@dataclass
class RawEdges:
    """Edges as they were read, with their names numbered.

    heads, tails : ndarray, int32, (n,); weights : ndarray, float32 or float64, (n,), above 0
    words : list of str; directed : bool
    left_out : dict of str -> int, added to: what was not kept, and how many
    repeats : int, rows whose weight was added to that of the same edge; known once it is `encoded`
    """

    heads: np.ndarray
    tails: np.ndarray
    weights: np.ndarray
    words: list
    directed: bool
    left_out: dict
    repeats: int = 0

    def encoded(self, shaping):
        """Sum equal edges, choose the nodes, and number them by visits; return an EncodedGraph without a report."""
        if not 2 * self.weights.sum(dtype=np.longdouble) <= np.finfo(np.float32).max:
            raise InputError("the weights sum to more than can be counted; scale them down")
        proper = self.heads != self.tails
        self.left_out["edges of a node with itself"] = int(len(proper) - proper.sum())
        if not proper.any():
            raise InputError("no edge is left: all are of a node with itself; name other files or columns")
        alone = len(self.words) - len(np.union1d(self.heads[proper], self.tails[proper]))
        self.left_out["nodes without an edge to another"] = alone
        matrix = self._matrix(self.heads[proper], self.tails[proper], self.weights[proper])
        self.repeats = int(proper.sum()) - self.count(matrix)
        del self.heads, self.tails, self.weights
        visits = expected_visits(matrix)
        vocab, ids = choose_items(self.words, visits, shaping, shaping.vocab, "node")
        matrix = matrix.tocoo()
        rows, columns = ids[matrix.row], ids[matrix.col]
        known = (rows >= 0) & (columns >= 0)
        which = "rare nodes" if shaping.vocab is None else "unknown nodes"
        self.left_out[which] = int(((ids < 0) & (visits > 0)).sum())
        self.left_out[f"edges of {which}"] = self.count(matrix) - int(known.sum()) // (1 if self.directed else 2)
        if not known.any():
            raise InputError(
                f"no edge is left: every one has one of {self.left_out[which]:,} {which}; keep more of them"
            )
        matrix = _csr(rows[known], columns[known], matrix.data[known], len(vocab))
        return EncodedGraph(matrix, vocab, directed=self.directed)

    def count(self, matrix):
        """Return how many edges a matrix stands for (int)."""
        return matrix.nnz if self.directed else matrix.nnz // 2

    def _matrix(self, heads, tails, weights):
        if not self.directed:
            heads, tails = np.concatenate([heads, tails]), np.concatenate([tails, heads])
            weights = np.concatenate([weights, weights])
        return single_precision(_csr(heads, tails, weights, len(self.words)))


def _csr(rows, columns, data, n):
    from scipy.sparse import coo_matrix  # a quarter of a second, and no text needs it

    return coo_matrix((data, (rows, columns)), (n, n)).tocsr()  # sums what is there twice


def expected_visits(matrix):
    """Return how often each node is visited, float64, (n_nodes,).

    matrix : csr_matrix, float32, (n_nodes, n_nodes), weights of edges

    Walks are those that the counts of a graph's vocabulary are of. With P the chances of a step, they are at their k-th
    node i with chance (start P^k)_i, so visits are the sum of that over the steps of all walks.
    """
    weights = np.asarray(matrix.sum(axis=1, dtype=np.float64)).ravel()
    here = (weights > 0).astype(np.float32)
    inverse = np.divide(1.0, weights, out=np.zeros_like(weights), where=weights > 0).astype(np.float32)
    transposed = matrix.T
    visits = here.astype(np.float64)
    for step in range(1, _LENGTH):
        before, here = here, transposed @ (here * inverse)
        if np.abs(here - before).sum(dtype=np.float64) <= _SETTLED * here.sum(dtype=np.float64):
            return _WALKS * (visits + (_LENGTH - step) * here)
        visits += here
    return _WALKS * visits
