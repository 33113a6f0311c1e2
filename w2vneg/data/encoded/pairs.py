"""Pairs of items with weights: who was seen with whom, and how often."""

import time
from dataclasses import dataclass, replace

import numpy as np

from ...ground.errors import ConfigError, InputError
from ..readers.report import ItemsReport
from ..vocab import Vocabulary, choose_items
from .corpus import Encoded, going_round


@dataclass(frozen=True, eq=False)
class EncodedPairs(Encoded):
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
    row_weights : float64, (n_in,), or None
        Of a rank's share, the rows of the whole, each summed.
    order, times : ndarray, int64 and float64, (nnz,), or None
        Of each entry of the matrix, its place among the row's in the order of time, and its time; where a table has
        times.
    """

    matrix: object
    vocab: Vocabulary
    vocab_out: Vocabulary = None  # type: ignore[assignment]  # always given; a value of its own hides the property
    report: ItemsReport | None = None
    row_weights: np.ndarray | None = None
    order: np.ndarray | None = None
    times: np.ndarray | None = None
    source = "pairs"

    @property
    def arrays(self):
        """The arrays by which a run knows its data again (tuple of ndarray)."""
        return self.matrix.indices, self.matrix.indptr, self.matrix.data

    def __len__(self):
        return self.matrix.nnz

    @property
    def n_pairs(self):
        return float(self.matrix.sum(dtype=np.float64))

    def _share(self, slot, borders):
        """Deal the rows out, so that nobody else trains that centre."""
        from scipy.sparse import csr_matrix  # a quarter of a second, and no text needs it

        matrix = self.matrix
        mine = going_round(matrix.shape[0], borders) == slot
        kept = np.repeat(mine, np.diff(matrix.indptr))
        if not kept.any():
            n_ranks = len(borders) - 1
            raise ConfigError(f"{matrix.shape[0]:,} rows of pairs are too few for {n_ranks} ranks; lower --ranks")
        indptr = np.concatenate([[0], np.cumsum(np.diff(matrix.indptr) * mine)])
        own = csr_matrix((matrix.data[kept], matrix.indices[kept], indptr), shape=matrix.shape)
        weights = np.asarray(matrix.sum(axis=1, dtype=np.float64)).ravel()
        return replace(self, matrix=own, row_weights=weights, order=None, times=None)


@dataclass
class RawPairs:
    """Pairs as they were read, with their names numbered.

    rows, columns : ndarray, int32, (n,); weights : ndarray, float64, (n,), 0 or more
    words, words_out : list of str, their names; the very same list where they are one kind of thing
    times : ndarray, float64, (n,), or None; then no pair stands twice, and those of a row are in their order
    """

    rows: np.ndarray
    columns: np.ndarray
    weights: np.ndarray
    words: list
    words_out: list
    times: np.ndarray | None = None

    def encoded(self, shaping, rectangular, report, started):
        """Choose the items and sum the weights of equal pairs.

        shaping : vocab.VocabOptions; rectangular : bool; report : ItemsReport, completed for the result
        started : float, time.perf_counter at the beginning
        InputError if too few items or no pair are left, or a sum of weights is past float32
        """
        left_out = dict(report.left_out)
        if not self.weights.sum(dtype=np.longdouble) <= np.finfo(np.float32).max:
            raise InputError("the weights sum to more than can be counted; scale them down")
        left_out["rows of weight 0"] = self._keep(self.weights > 0)
        if not rectangular:
            left_out["pairs of an item with itself"] = self._keep(self.rows != self.columns)
        if not len(self.rows):
            raise InputError(
                "no pair is left: all have weight 0 or are of an item with itself; name other files or columns "
                "(--weight-col), or give --rectangular if items and targets are two kinds of things"
            )
        vocab, vocab_out, ids, ids_out, n_out = self._choose(shaping, rectangular)
        fixed = shaping.vocab is not None or shaping.vocab_out is not None
        which = "unknown items" if fixed else "rare items"
        left_out[which] = n_out
        rows, columns = ids[self.rows], ids_out[self.columns]
        known = (rows >= 0) & (columns >= 0)
        left_out[f"rows with {which}"] = int(len(known) - known.sum())
        if not known.any():
            raise InputError(f"no pair is left: every one has one of {left_out[which]:,} {which}; keep more of them")
        from scipy.sparse import coo_matrix  # a quarter of a second, and no text needs it

        matrix = coo_matrix(
            (self.weights[known], (rows[known], columns[known])), (len(vocab), len(vocab_out))
        ).tocsr()  # sums what is there twice
        single = single_precision(matrix)
        left_out["pairs whose weight is below what float32 holds"] = matrix.nnz - single.nnz
        report = replace(
            report,
            items=len(vocab),
            targets=len(vocab_out),
            kept=single.nnz,
            left_out=left_out,
            seconds=time.perf_counter() - started,
        )
        if self.times is None:
            return EncodedPairs(single, vocab, vocab_out, report)
        order = np.lexsort((columns[known], rows[known]))  # as a csr_matrix has its entries
        return EncodedPairs(single, vocab, vocab_out, report, order=order, times=self.times[known][order])

    def _keep(self, kept):
        """Keep some rows and return how many others there were."""
        if not kept.all():
            self.rows, self.columns, self.weights = self.rows[kept], self.columns[kept], self.weights[kept]
        return int(len(kept) - kept.sum())

    def _choose(self, shaping, rectangular):
        """Return (vocab, vocab_out, ids of words, ids of words_out, how many items that were seen are left out)."""
        seen = np.bincount(self.rows, self.weights, len(self.words))
        seen_out = np.bincount(self.columns, self.weights, len(self.words_out))
        if not rectangular:
            seen += seen_out
            vocab, ids = choose_items(self.words, seen, shaping, shaping.vocab)
            return vocab, vocab, ids, ids, int(((ids < 0) & (seen > 0)).sum())
        vocab, ids = choose_items(self.words, seen, shaping, shaping.vocab, "centre")
        vocab_out, ids_out = choose_items(self.words_out, seen_out, shaping, shaping.vocab_out, "target")
        n_out = ((ids < 0) & (seen > 0)).sum() + ((ids_out < 0) & (seen_out > 0)).sum()
        return vocab, vocab_out, ids, ids_out, int(n_out)


def single_precision(matrix):
    """Return a matrix of float32 of which no entry has become 0 or infinite."""
    with np.errstate(over="ignore"):
        single = matrix.astype(np.float32)
    if np.isinf(single.data).any():
        raise InputError(
            f"the weights of a pair sum to {matrix.data.max():g}, past what float32 holds; scale them down"
        )
    single.eliminate_zeros()
    if not single.nnz:
        raise InputError(
            f"the largest weight, {matrix.data.max():g}, is below what float32 holds (1.4e-45); scale weights up"
        )
    return single


def ones_of(matrix):
    """Return a csr_matrix of ones, float32, where a sparse matrix has anything."""
    from scipy.sparse import csr_matrix  # a quarter of a second, and no text needs it

    ones = csr_matrix(matrix, dtype=np.float32, copy=True)
    ones.sum_duplicates()
    ones.eliminate_zeros()
    ones.data[:] = 1.0
    return ones
