"""Models of items whose logits are given."""

import numpy as np

from w2vneg.config import TrainConfig
from w2vneg.data.vocab import Vocabulary
from w2vneg.run.model import Model

ITEMS = "abcde"
LOGITS = [  # row: centre; a's best is b
    [0, 4, 3, 2, 1],
    [1, 0, 2, 3, 4],
    [0, 0, 0, 0, 0],
    [0, 0, 0, 0, 0],
    [0, 0, 0, 0, 0],
]


def model_of(logits, words=ITEMS, words_out=None, **options):
    """A model whose raw dot products are `logits`."""
    logits = np.asarray(logits, np.float32)
    config = TrainConfig(dim=len(words), source="pairs", rectangular=words_out is not None, **options).resolved()
    vocab = Vocabulary(list(words), np.arange(len(words), 0, -1))
    vocab_out = words_out and Vocabulary(list(words_out), np.arange(len(words_out), 0, -1))
    return Model(vocab, config, np.eye(len(words), dtype=np.float32), logits.T.copy(), vocab_out=vocab_out)
