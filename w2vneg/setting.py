"""What a plug is told of the run it is made for."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Setting:
    """What ``from_options(options, setting)`` of a sampler, weigher or loss may look at.

    counts : int64, (n_vocab,), how often each word occurs, falling
    dim : int, length of the vectors; workers : int
    max_draws : int, negatives of the largest group (for samplers that make room for them)
    ids, offsets : int32 (n_tokens,) and int64 (n_sentences + 1,), the encoded corpus, where there is one
    sampler : the sampler of the run, for weighers and losses; a sampler itself finds None here
    """

    counts: np.ndarray
    dim: int = 100
    workers: int = 1
    max_draws: int = 10
    ids: np.ndarray | None = None
    offsets: np.ndarray | None = None
    sampler: tuple | None = None
