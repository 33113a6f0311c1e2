"""Encoded data: what all have in common, how they are dealt out to ranks; and a text, or baskets, as ids."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...ground.errors import ConfigError, InputError
from ..readers.report import CorpusReport
from ..sources import TRAVERSALS
from ..vocab import Vocabulary
from .stored import CUT_SHORT, still_whole


class Encoded:
    """Data as ids with their vocabularies: `vocab` of the centres, `vocab_out` of the targets.

    source : str, how training goes through them, as `TrainConfig.source`; arrays : tuple of ndarray, by which a run
    knows its data again; stored : int, bytes on disk; phrases : tuple, those that were joined while reading
    times : ndarray or None, when each was seen; whole : bool, they are all here, not with ranks
    """

    source: str
    vocab: Vocabulary
    report: Any
    stored: int = 0
    phrases: tuple = ()
    times: np.ndarray | None = None
    whole: bool = True

    @property
    def vocab_out(self):
        """Vocabulary: of the targets; that of the centres unless they are two kinds of things."""
        return self.vocab

    @property
    def n_pairs(self):
        """How much an epoch has to learn from (float): the pairs where data are pairs, else what they consist of."""
        return float(len(self))

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


@dataclass(frozen=True, eq=False)
class EncodedCorpus(Encoded):
    """A text, or baskets, as ids. The arrays are read-only; large ones are mapped and may be larger than memory.

    Attributes
    ----------
    ids : ndarray, int32, (n_tokens,)
        The kept tokens, sentence after sentence.
    offsets : ndarray, int64, (n_sentences + 1,)
        Sentence s is ``ids[offsets[s]:offsets[s + 1]]``; none is empty.
    vocab : Vocabulary
    report : CorpusReport or ItemsReport
    source : str
        How training goes through it, as `TrainConfig.source`.
    stored : int
        Bytes that it takes on disk, in the cache or in temporary files.
    phrases : tuple of data.phrases.Phrase
        Those that were joined while reading.
    times : ndarray, float64, (n_tokens,), or None
        When each was seen, rising within a history; where a table has times.
    """

    ids: np.ndarray
    offsets: np.ndarray
    vocab: Vocabulary
    report: CorpusReport | None = None
    source: str = "text"
    stored: int = 0
    phrases: tuple = ()
    times: np.ndarray | None = None

    def __len__(self):
        return len(self.ids)

    @property
    def arrays(self):
        """The arrays by which a run knows its data again (tuple of ndarray)."""
        return self.ids, self.offsets

    def check(self):
        """Raise InputError if another program has cut a mapped file short: looking past its end would be fatal."""
        if not all(map(still_whole, self.arrays)):
            raise InputError(CUT_SHORT)

    @property
    def n_sentences(self):
        return len(self.offsets) - 1

    @property
    def n_single(self):
        """How many sentences have one word (int)."""
        return int((np.diff(self.offsets) == 1).sum())

    def _share(self, slot, borders):
        """Cut it into stretches, within a sentence only if it is `divisible`; arrays are views."""
        begin, end = (int(len(self) * border) for border in borders[slot : slot + 2])
        if not self.traversal.divisible:
            begin, end = (int(self.offsets[np.searchsorted(self.offsets, place)]) for place in (begin, end))
        if end - begin < 2:
            raise ConfigError(f"{len(self):,} tokens are too few for {len(borders) - 1} ranks; lower --ranks")
        first = np.searchsorted(self.offsets, begin, "right")
        last = np.searchsorted(self.offsets, end, "left")
        offsets = np.concatenate([[begin], self.offsets[first:last], [end]]) - begin
        return replace(self, ids=self.ids[begin:end], offsets=offsets.astype(np.int64))


def going_round(n, borders):
    """Return whose each of n things is, dealt out one by one: int64 (n,); where shares are equal, k mod n_ranks."""
    shares = np.diff(borders)
    shares = np.maximum(np.round(shares / shares.max(), 9), 1e-9)  # what is meant to be equal is
    sizes = np.ceil(n * shares / shares.sum()).astype(np.int64) + 1  # a few more than there are
    owners = np.repeat(np.arange(len(shares)), sizes)
    turns = np.concatenate([(np.arange(size) + 0.5) / share for size, share in zip(sizes, shares, strict=True)])
    return owners[np.argsort(turns, kind="stable")[:n]]
