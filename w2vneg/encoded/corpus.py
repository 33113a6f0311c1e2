"""A text, or baskets, as ids."""

from dataclasses import dataclass

import numpy as np

from ..readers.report import CorpusReport
from ..vocab import Vocabulary


@dataclass(frozen=True, eq=False)
class EncodedCorpus:
    """A text as ids. The arrays are read-only and may be larger than memory.

    Attributes
    ----------
    ids : ndarray, int32, (n_tokens,)
        The kept tokens, sentence after sentence.
    offsets : ndarray, int64, (n_sentences + 1,)
        Sentence s is ``ids[offsets[s]:offsets[s + 1]]``; none is empty.
    vocab : Vocabulary
    report : CorpusReport
    """

    ids: np.ndarray
    offsets: np.ndarray
    vocab: Vocabulary
    report: CorpusReport = None

    def __len__(self):
        return len(self.ids)

    @property
    def n_sentences(self):
        return len(self.offsets) - 1
