"""A text, or baskets, as ids."""

from dataclasses import dataclass

import numpy as np

from ...ground.errors import InputError
from ...kernels.cooccurrence import occurring, pair_counts
from ..readers.report import CorpusReport
from ..vocab import Vocabulary
from .mapping import CUT_SHORT, still_whole
from .walks import walk_baskets, walk_text


@dataclass(frozen=True, eq=False)
class EncodedCorpus:
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
        "text" or "baskets" (histories too), as `TrainConfig.source`.
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

    @property
    def vocab_out(self):
        """Vocabulary: of the targets, which are of one kind with the centres."""
        return self.vocab

    def walk(self, config):
        """Return the `Walk` that ``config.source`` means; InputError if there is no pair to train on."""
        return (walk_text if config.source == "text" else walk_baskets)(self, config)

    def written(self, config):
        """Return the sentences: int32 ids, and int64 offsets; see `EncodedGraph.written`."""
        return self.ids, self.offsets

    def counts(self, config, window=None):
        """Return how often each pair occurs, csr_matrix (n_vocab, n_vocab): within the window, or in a basket.

        window : int, optional, another one than the configuration's, for a text
        """
        if config.source == "text":
            window = window or config.window
            return pair_counts(self.ids, self.offsets, len(self.vocab), window, ordered=config.ordered)
        pairs = pair_counts(self.ids, self.offsets, len(self.vocab), None, ordered=config.ordered)
        pairs.setdiag(0)  # nothing is its own positive
        pairs.eliminate_zeros()
        return pairs

    def beside(self, config, centres):
        """Return which targets occur with each of `centres`, bool (n_centres, n_vocab); a large text is sampled."""
        if config.source == "text":
            return occurring(self.ids, self.offsets, centres, config.window, len(self.vocab))
        return self.counts(config)[centres].toarray() > 0

    def check(self):
        """Raise InputError if another program has cut a mapped file short: looking past its end would be fatal."""
        if not all(map(still_whole, self.arrays)):
            raise InputError(CUT_SHORT)

    @property
    def n_sentences(self):
        return len(self.offsets) - 1
