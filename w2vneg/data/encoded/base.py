"""What all encoded data have in common, and how they are dealt out to ranks."""

import numpy as np

from ..sources import TRAVERSALS


class Encoded:
    """Data as ids with their vocabularies: `vocab` of the centres, `vocab_out` of the targets.

    source : str, how training goes through them, as `TrainConfig.source`; arrays : tuple of ndarray, by which a run
    knows its data again; stored : int, bytes on disk; phrases : tuple, those that were joined while reading
    times : ndarray or None, when each was seen; whole : bool, they are all here, not with ranks
    """

    stored = 0
    phrases = ()
    times = None
    whole = True

    @property
    def vocab_out(self):
        """Vocabulary: of the targets; that of the centres unless they are two kinds of things."""
        return self.vocab

    @property
    def traversal(self):
        """The class of the traversal, with what is to be known of it."""
        return TRAVERSALS[self.source]

    def walk(self, config):
        """Return the `Traversal` of these data; InputError or ConfigError if there is no pair to train on."""
        return self.traversal.of(self, config)

    def counts(self, config, window=None):
        """Return how often each pair is trained on; see `Traversal.counts`."""
        return self.traversal.counts(self, config, window)

    def cooccurs(self, config, centres):
        """Return which targets occur with each of `centres`; see `Traversal.cooccurs`."""
        return self.traversal.cooccurs(self, config, centres)

    def written(self, config):
        """Return the data as sentences; see `Traversal.written`."""
        return self.traversal.written(self, config)

    def check(self):
        """Raise InputError if another program has damaged the data since they were encoded."""

    def share(self, slot, borders):
        """Return a rank's share; all together they are the whole, with the vocabulary and counts of the whole.

        slot : int, which share; borders : list of float, (n_ranks + 1,), where shares begin and end, 0 … 1 of the whole

        Raises
        ------
        ConfigError
            If there are too few data for so many ranks.
        """
        return self if len(borders) == 2 else self._share(slot, borders)


def going_round(n, borders):
    """Return whose each of n things is, dealt out one by one: int64 (n,); where shares are equal, k mod n_ranks."""
    shares = np.diff(borders)
    shares = np.maximum(np.round(shares / shares.max(), 9), 1e-9)  # what is meant to be equal is
    sizes = np.ceil(n * shares / shares.sum()).astype(np.int64) + 1  # a few more than there are
    owners = np.repeat(np.arange(len(shares)), sizes)
    turns = np.concatenate([(np.arange(size) + 0.5) / share for size, share in zip(sizes, shares, strict=True)])
    return owners[np.argsort(turns, kind="stable")[:n]]
