"""A text, or baskets, as ids."""

from dataclasses import dataclass, replace

import numpy as np

from ...ground.errors import ConfigError, InputError
from ..readers.report import CorpusReport
from ..vocab import Vocabulary
from .base import Encoded
from .mapping import CUT_SHORT, still_whole


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
    report: CorpusReport = None
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
