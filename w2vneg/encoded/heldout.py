"""Pairs from a file in the ids of a model's vocabularies: held out for judging, or known and to be left out."""

from dataclasses import dataclass

import numpy as np

from ..readers.names import as_word
from ..readers.tables import Tables
from .items import pair_columns


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Weighted pairs (centre, target) in ids, in the order of the file.

    Attributes
    ----------
    centres, targets : ndarray, int64, (n,)
    weights : ndarray, float64, (n,)
        Above 0; 1 where the file has no weights.
    n_unknown : int
        Rows with an item that is in no vocabulary; they are not among the pairs.
    n_read : int
        Rows of the file.
    """

    centres: np.ndarray
    targets: np.ndarray
    weights: np.ndarray
    n_unknown: int
    n_read: int

    def __len__(self):
        return len(self.centres)


def read_pairs_file(path, vocab, vocab_out, *, encoding="utf-8"):
    """Read pairs (item, target[, weight]) and look their names up.

    Parameters
    ----------
    path : path
        A table as `encode_pairs` reads it without being told more: the columns 1 and 2, and 3 if there is a number.
    vocab, vocab_out : Vocabulary
        Names of centres and of targets.
    encoding : str

    Returns
    -------
    HeldOut
        Unknown names are no error: their rows are counted, and there may be no pair at all.

    Raises
    ------
    InputError
        If the file is missing, empty or no such table; names file and line.
    """
    tables = Tables(path, pair_columns(), encoding=encoding)
    parts = []
    n_unknown = 0
    for batch in tables:
        centres, targets = _ids(batch.columns["item"], vocab), _ids(batch.columns["target"], vocab_out)
        weights = batch.columns["weight"]
        weights = np.ones(batch.n_rows) if weights is None else weights
        known = (centres >= 0) & (targets >= 0)
        n_unknown += int((~known).sum())
        kept = known & (weights > 0)
        parts.append((centres[kept], targets[kept], weights[kept]))
    return HeldOut(*(np.concatenate(part) for part in zip(*parts, strict=True)), n_unknown, tables.n_rows)


def _ids(column, vocab):
    """Return the ids of a column's names (ndarray, int64, (n_rows,)), -1 for unknown ones."""
    return np.array([vocab.index.get(as_word(name), -1) for name in column.names], np.int64)[column.codes]
