"""What a plug is told of the run it is made for."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Setting:
    """What ``from_options(options, setting)`` of a sampler, weigher or loss may look at.

    counts : int64, (n_vocab,), how often each target occurs, falling
    dim : int, length of the vectors; workers : int
    max_draws : int, negatives of the largest group (for samplers that make room for them)
    mean_draws : float, negatives of a group on average (for what draws cost); `max_draws` if left out
    neighbours : function without arguments, counts which targets stand next to each centre: csr_matrix (n_in, n_vocab)
    n_centres : int, rows of the input matrix; the number of targets if left out
    sampler : the sampler of the run, for weighers and losses; a sampler itself finds None here
    """

    counts: np.ndarray
    dim: int = 100
    workers: int = 1
    max_draws: int = 10
    neighbours: Callable | None = None
    sampler: tuple | None = None
    n_centres: int | None = None
    mean_draws: float | None = None

    def __post_init__(self):
        if self.n_centres is None:
            object.__setattr__(self, "n_centres", len(self.counts))
        if self.mean_draws is None:
            object.__setattr__(self, "mean_draws", float(self.max_draws))
