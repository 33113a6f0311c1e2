"""Pairs from a file in the ids of a model's vocabularies: held out for evaluation, or known and to be left out."""

import os
from collections import Counter
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np

from ...ground.errors import InputError
from ..inputs import Input
from ..readers.columns import NONE
from ..readers.frames import InMemoryTable
from ..readers.layout import Column
from ..readers.tables import Tables
from ..readers.text import utf8_or_latin_1
from ..sources._options import tables_of
from ..sources.pairs import pair_columns
from ..vocab import VocabOptions, Vocabulary
from ..words import as_word


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
    weight_read : float or None
        Sum of the weights of all rows, those with unknown items too; None if they come from no file.
    columns : tuple of str
        Which columns of the file were read as what, in words.
    """

    centres: np.ndarray
    targets: np.ndarray
    weights: np.ndarray
    n_unknown: int
    n_read: int
    weight_read: float | None = None
    columns: tuple = ()

    def __len__(self):
        return len(self.centres)


def read_pairs_file(path, vocab, vocab_out, *, lowercase=False):
    """Read pairs (item, target[, weight]) and look their names up.

    Parameters
    ----------
    path : path, table in memory or Input of pairs
        As `--pairs` is read without being told more: the columns that are called so, else 1 and 2. A column of
        ratings or times is no weight. UTF-8, or else Latin-1.
    vocab, vocab_out : Vocabulary
        Names of centres and of targets.
    lowercase : bool
        Whether the vocabularies are of names that were lower-cased.

    Returns
    -------
    HeldOut
        Rows with unknown names are counted; one pair at least is left.

    Raises
    ------
    InputError
        If the file is missing, empty or no such table, with file and line; or if no pair is left, or weights are past
        counting.
    """
    tables = _tables(path)
    parts = []
    n_unknown = 0
    weight_read = 0.0
    for batch in tables:
        centres, targets = (
            _ids(batch.columns[key], names, lowercase) for key, names in (("item", vocab), ("target", vocab_out))
        )
        weights = batch.columns["weight"]
        weights = np.ones(batch.n_rows) if weights is None else weights
        known = (centres >= 0) & (targets >= 0)
        n_unknown += int((~known).sum())
        with np.errstate(over="ignore"):
            weight_read += float(weights.sum())
        kept = known & (weights > 0)
        parts.append((centres[kept], targets[kept], weights[kept]))
    if not weight_read <= float(np.finfo(np.float32).max):
        raise InputError(f"{path}: the weights sum to more than can be counted; scale them down")
    gathered = (np.concatenate(part) for part in zip(*parts, strict=True))
    held = HeldOut(*gathered, n_unknown, tables.n_rows, weight_read, tables.labels.said)
    if not len(held):
        raise InputError(
            f"{path}: none of its {held.n_read:,} pairs has a weight above 0 and two known items; is it from the data "
            "that the model is trained on, with the same names?"
        )
    return held


def count_centres(path, *, lowercase=False):
    """Return how often each name is the first of a pair in a file or table, as for `read_pairs_file`: a Vocabulary."""
    counts = Counter()
    for batch in _tables(path):
        column = batch.columns["item"]
        seen = np.bincount(column.codes[column.codes >= 0], minlength=len(column.names)).tolist()
        for name, count in zip(column.names, seen, strict=True):
            counts[as_word(name, lowercase)] += count
    return Vocabulary.from_counts(counts)


def _tables(path):
    if isinstance(path, Input):
        return tables_of(path.located(), _columns(path), VocabOptions(encoding=utf8_or_latin_1(path.files[0])))
    path = path if isinstance(path, str | os.PathLike) else InMemoryTable.of(path)
    return Tables(path, pair_columns(), encoding=utf8_or_latin_1(path))


def _columns(given):
    """Return the columns of an Input as those of pairs; of ratings users are items there, and items targets."""
    if given.kind != "ratings":
        return pair_columns(given)
    named = SimpleNamespace(item_col=given.user_col, target_col=given.item_col, weight_col=NONE)
    amount = Column("amount", "the amount", "amount", means=("weight",), only_numbers=True)  # below 0: a return
    return [*pair_columns(named), amount]


def _ids(column, vocab, lowercase):
    """Return the ids of a column's names (ndarray, int64, (n_rows,)), -1 for unknown ones."""
    words = [as_word(name, lowercase) for name in column.names]
    return vocab.words.find_all(words).astype(np.int64)[column.codes]
