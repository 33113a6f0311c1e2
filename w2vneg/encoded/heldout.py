"""Pairs from a file in the ids of a model's vocabularies: held out for judging, or known and to be left out."""

from dataclasses import dataclass

import numpy as np

from ..errors import InputError


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Weighted pairs (centre, target) in ids, in the order of the file.

    Attributes
    ----------
    centres, targets : ndarray, int64, (n,)
    weights : ndarray, float64, (n,)
        Above 0; 1 where the file has no weights.
    n_unknown : int
        Rows of which an item is in no vocabulary; they are not among the pairs.
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
    path : path of a table of two or three columns, with or without a header line
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
    import pandas as pd

    try:
        table = pd.read_csv(path, sep="\t", header=None, dtype=str, na_filter=False, encoding=encoding)
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: no table of pairs can be read ({error}); give item<TAB>target<TAB>weight") from error
    if table.shape[1] < 2:
        raise InputError(f"{path}:1: only one column found; give item<TAB>target<TAB>weight")
    weights = pd.to_numeric(table[2], errors="coerce") if table.shape[1] > 2 else pd.Series(1.0, table.index)
    if np.isnan(weights.iloc[0]) or tuple(table.iloc[0, :2]) == ("item", "target"):
        table, weights = table.iloc[1:], weights.iloc[1:]
    if not (weights >= 0).all():
        wrong = int(np.argmin((weights >= 0).to_numpy()))
        raise InputError(f"{path}:{weights.index[wrong] + 1}: the weight is no number of 0 or more")
    centres = table[0].map(vocab.index).fillna(-1).to_numpy(np.int64)
    targets = table[1].map(vocab_out.index).fillna(-1).to_numpy(np.int64)
    weights = weights.to_numpy(np.float64)
    known = (centres >= 0) & (targets >= 0)
    kept = known & (weights > 0)
    return HeldOut(centres[kept], targets[kept], weights[kept], int((~known).sum()), len(table))
