"""Vectors of any spelling out of a model's n-grams, as fastText makes them."""

import numpy as np

from ...data.words import PackedStrings
from ...kernels.text.words import buckets_of
from ...objectives.inputs.subwords import rows_of_grams


class GramSpellings:
    """Vectors of any spelling: the mean of its n-grams' rows, 0 for a bucket without one.

    Attributes
    ----------
    rows : float32, (n_rows, dim)
    minn, maxn, buckets : int, characters of an n-gram, and how many numbers it is hashed to
    used : int64, (n_rows,), the bucket of each row; None: they are all buckets in order
    """

    def __init__(self, rows, minn, maxn, buckets, used=None):
        self.rows, self.minn, self.maxn, self.buckets = rows, minn, maxn, buckets
        self._place = None  # dict of bucket -> row
        if used is not None:
            self._place = {bucket: row for row, bucket in enumerate(used.tolist())}

    def vector(self, word):
        """Return the vector of a spelling, float32 (dim,); None if it has no n-gram, or none that has a row."""
        _, found = buckets_of(PackedStrings([word]), self.minn, self.maxn, self.buckets)
        places = found.tolist()
        if self._place is not None:
            places = [self._place[bucket] for bucket in places if bucket in self._place]
        if not places:
            return None
        return np.asarray(self.rows[places]).sum(axis=0, dtype=np.float32) / np.float32(len(found))


def spellings_of(vocab, rows, minn, maxn, buckets):
    """Return the `GramSpellings` of a model with n-grams.

    vocab : Vocabulary; rows : float32, (n_grams, dim), ``grams_in``; minn, maxn, buckets : int, as it was trained

    Returns None if the vocabulary has another number of n-grams.
    """
    *_, used = rows_of_grams(vocab.words, vocab.counts, minn, maxn, buckets)
    return GramSpellings(rows, minn, maxn, buckets, used) if len(rows) == max(1, len(used)) else None
