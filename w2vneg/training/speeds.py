"""Shares of ranks by their speed: all train the same made-up text at once, and who takes longer gets less of the data.

This comes before anything is read, so that ranks can be given their files by it. What counts is how machines differ,
not what the run will train, so it is plain negative sampling, with as long vectors and as many workers as the run has.

Speeds are rounded to steps of the square root of two around the median's. Machines that are alike, and differ by what
else they are at, so get equal shares, and the bits of a run in which nobody was measured.
"""

import math
import statistics
import time

import numpy as np

from ..config import TrainConfig
from ..data.encoded import EncodedCorpus
from ..data.vocab import Vocabulary
from ..events import SharesChosen
from .assembly import assemble_local
from .model import Model

_WORDS, _SENTENCE = 20_000, 20
_TOKENS = 200_000  # of each worker: half a second or so
_TRIES = 3  # of which the quickest counts: a machine is disturbed now and then, and never hastened


class SpeedTrial:
    """What an actor opens first where ranks are measured. dim, workers : int"""

    def __init__(self, dim, workers):
        self._dim, self._workers = dim, workers

    def open(self, progress):
        """Make up a text, and return what trains on it."""
        options = {"dim": self._dim, "workers": self._workers, "min_count": 1, "subsample": 0.0, "loss": "ns"}
        config, corpus = TrainConfig(**options).resolved(), _made_up(_TOKENS * self._workers)
        self._engine = assemble_local(corpus, config, Model.fresh(corpus.vocab, config)).engine
        return self

    def seconds(self):
        """Return how long an epoch takes (float); the first one compiles, or loads what is compiled."""
        started = time.perf_counter()
        for now in self._engine.plan(0):
            self._engine.run(now, (1e-6, 1e-6))
        return time.perf_counter() - started


def _made_up(n_tokens):
    counts = np.maximum(1, n_tokens / (1 + np.arange(_WORDS)) / math.log(_WORDS)).astype(np.int64)
    ids = np.random.default_rng(1).choice(_WORDS, n_tokens, p=counts / counts.sum()).astype(np.int32)
    offsets = np.arange(0, n_tokens + 1, _SENTENCE)
    ids.flags.writeable = offsets.flags.writeable = False  # as a rank's data are: another type to the compiler
    return EncodedCorpus(ids, offsets, Vocabulary([f"w{k:05}" for k in range(_WORDS)], counts.tolist()))


def measure_shares(crew, config):
    """Measure the ranks of a `Crew`; returns `SharesChosen`."""
    crew.open([SpeedTrial(config.dim, config.workers)] * config.ranks)
    tries = [crew.ask("seconds") for _ in range(1 + _TRIES)][1:]
    return shares_by([min(of_rank) for of_rank in zip(*tries, strict=True)])


def shares_by(seconds):
    """Return `SharesChosen`; seconds : list of float, above 0, what the same took each rank."""
    median = statistics.median_low(seconds)  # a rank's own: between two that differ, both would be rounded away from it
    steps = [round(2 * math.log2(median / taken)) for taken in seconds]
    shares = ",".join(f"{2 ** ((step - max(steps)) / 2):.3g}" for step in steps)
    slowest = max(range(len(seconds)), key=seconds.__getitem__)
    return SharesChosen(shares, slowest, median / seconds[slowest])
