"""What users had when a model of users and items was trained: what its lists leave out. Kept with the model."""

from dataclasses import replace

import numpy as np

from ..data.encoded.pairs import ones_of
from ..ground.errors import InputError
from ..ground.files.npy import read_numbers

KNOWN = "known.npy"
_MOST = 12_500_000  # pairs that are kept, 100 MB


def known_of(data):
    """Return who has what in encoded pairs of users and items: csr_matrix, float32 ones; None of other data.

    None of more pairs than are kept, too.
    """
    if data.vocab_out is data.vocab or not 0 < data.matrix.nnz <= _MOST:
        return None
    return ones_of(data.matrix)


def with_known(data, earlier):
    """Return encoded newer pairs of users and items with those that an earlier model keeps.

    A few passes over all of them go on where that model is; passes over the newer ones alone would forget the others.

    data : EncodedPairs, whose vocabularies know all of the earlier `Model`; other data stay as they are
    """
    if earlier.known is None or data.vocab_out is data.vocab:
        return data
    from scipy.sparse import coo_matrix

    before = earlier.known.tocoo()
    rows, columns = (
        data.vocab.words.find_all(earlier.vocab.words),
        data.vocab_out.words.find_all(earlier.vocab_out.words),
    )
    moved = coo_matrix((before.data, (rows[before.row], columns[before.col])), data.matrix.shape).tocsr()
    return replace(data, matrix=(data.matrix + moved).tocsr(), order=None, times=None)


def write_known(folder, known):
    """Write known pairs into a folder; nothing if there are none."""
    if known is not None:
        pairs = known.tocoo()
        np.save(folder / KNOWN, np.stack([pairs.row, pairs.col], axis=1).astype(np.int32), allow_pickle=False)


def read_known_pairs(folder, shape):
    """Return what `write_known` wrote, csr_matrix of ones of this shape; None if it wrote nothing.

    InputError if the file is damaged.
    """
    path = folder / KNOWN
    if not path.exists():
        return None
    from scipy.sparse import coo_matrix

    pairs = read_numbers(path)
    if pairs.shape[1] != 2 or pairs.min() < 0 or (pairs.max(axis=0) >= shape).any():
        raise InputError(f"{path}: not pairs of the {shape[0]:,} users and {shape[1]:,} items here; it is damaged")
    return ones_of(coo_matrix((np.ones(len(pairs), np.float32), pairs.T), shape))
