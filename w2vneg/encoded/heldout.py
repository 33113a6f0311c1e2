"""Held-out or known pairs as ids of given vocabularies."""

from dataclasses import dataclass

import numpy as np

from ..errors import InputError


@dataclass(frozen=True, eq=False)
class HeldOut:
    """centres, targets : int64, (n,); weights : float64, (n,)
    n_unknown : int, pairs left out because an item is in no vocabulary; n_read : int, pairs in the file
    """

    centres: np.ndarray
    targets: np.ndarray
    weights: np.ndarray
    n_unknown: int
    n_read: int


def read_pairs_file(path, vocab, vocab_out):
    """Read item, target[, weight] lines. InputError if the file cannot be read."""
    try:
        with open(path, encoding="utf-8") as stream:
            lines = [line.rstrip("\n").split("\t") for line in stream]
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    rows = [row for row in lines if row[0] != "item"]
    known = [row for row in rows if row[0] in vocab and row[1] in vocab_out]
    return HeldOut(
        np.array([vocab.id(row[0]) for row in known], np.int64),
        np.array([vocab_out.id(row[1]) for row in known], np.int64),
        np.array([float(row[2]) if len(row) > 2 else 1.0 for row in known]),
        len(rows) - len(known),
        len(rows),
    )
