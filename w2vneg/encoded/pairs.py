"""Pairs of items with weights: who was seen with whom, and how often."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse

from ..vocab import Vocabulary
from .walks import walk_pairs


@dataclass(frozen=True, eq=False)
class EncodedPairs:
    """Weighted pairs (i, j): j was seen with i. Rows are centres, columns targets.

    Attributes
    ----------
    matrix : scipy.sparse.csr_matrix, float32, (n_in, n_out)
        Weights above 0; columns sorted, none twice.
    vocab : Vocabulary
        Names of the rows. Its counts are sums of weights, rounded up: of a row and the column of the same name together
        where rows and columns are one kind of thing, else of rows.
    vocab_out : Vocabulary
        Names of the columns; the very object `vocab` where they are one kind of thing.
    report : object with a method ``line()``
        What was read and what became of it.
    """

    matrix: scipy.sparse.csr_matrix
    vocab: Vocabulary
    vocab_out: Vocabulary
    report: object = None

    @property
    def ids(self):
        """The columns of all pairs, int32 (n_pairs,); by them a run is known again."""
        return np.asarray(self.matrix.indices, np.int32)

    def __len__(self):
        return self.matrix.nnz

    def walk(self, config):
        """Return the `Walk` over the rows; ConfigError if ``config.pair_weights`` does not fit the weights."""
        return walk_pairs(self, config)

    def counts(self, config, window=None):
        """Return the matrix itself; the arguments are `EncodedCorpus.counts`'s."""
        return self.matrix

    def beside(self, config, centres):
        """Return which targets occur with each of `centres`, bool (n_centres, n_out)."""
        return self.matrix[centres].toarray() > 0
