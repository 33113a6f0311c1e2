"""Pairs per second of training on items, ours, gensim's item2vec and implicit's BPR, interleaved.

A pair is one positive with its negatives, whatever its origin, and every positive counts once:

    ours       pairs as the trainer counts them: drawn ones, or those of baskets with at most 32 positives per item
    item2vec   ordered pairs of places in a history at most 16 apart, the same number of positives per item
    BPR        triples it draws (user, item had, item not had): a user with an item, and one negative

BPR's pair is of another kind and has one negative instead of five, so the table also shows scores per second: dot
products, those of the positive and of each negative.
"""

import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from w2vneg.config import TrainConfig
from w2vneg.ground.errors import require
from w2vneg.ground.events import EpochDone
from w2vneg.ground.jit import available_threads
from w2vneg.run.trainer import Trainer

from .contenders import spread
from .item_rivals import fit, in_new_orders, user_items, window_pairs
from .item_trainers import counted_pairs
from .rivals import train_gensim, write_sentences

REACH = 16  # of windows, each way: twice as many positives per item
REFERENCE = "gensim item2vec"


@dataclass(frozen=True)
class Timing:
    """One contender in one round: seconds of training, pairs, and their scores (dot products)."""

    contender: str
    repeat: int
    seconds: float
    pairs: int
    scores: int


def contenders(histories, dim, folder):
    """Return a dict of name -> function of no argument that trains once and returns (seconds, pairs, negatives)."""
    n_pairs = window_pairs(np.diff(histories.offsets), REACH)
    drawn = {"source": "pairs", "pair_weights": "sample", "pairs_per_epoch": n_pairs}
    baskets = {"source": "baskets", "pairs_per_item": 2 * REACH}
    pairs = counted_pairs(histories)
    text = write_sentences(in_new_orders(histories, 1, 1), Path(folder) / "histories.txt")
    common = {"dim": dim, "epochs": 1}
    return {
        "w2vneg ns, drawn pairs": lambda: _ours(pairs, common | drawn | {"loss": "ns"}),
        "w2vneg ns, drawn pairs, shared negatives": lambda: _ours(
            pairs, common | drawn | {"loss": "ns", "share_negatives": "centre"}
        ),
        "w2vneg us, drawn pairs": lambda: _ours(pairs, common | drawn | {"loss": "us"}),
        "w2vneg relaxed (n = 10), drawn pairs": lambda: _ours(pairs, common | drawn | {"loss": "relaxed"}),
        "w2vneg ns, baskets": lambda: _ours(histories, common | baskets | {"loss": "ns"}),
        REFERENCE: lambda: _item2vec(text, dim, n_pairs),
        "implicit BPR": lambda: _bpr(user_items(histories), dim, n_pairs),
    }


def measure(histories, dim, repeats, names=None, tell=lambda text: None):
    """Time every contender, or those of these names, once in each round, after an untimed round of ours.

    Returns
    -------
    list of Timing
    """
    timings = []
    with tempfile.TemporaryDirectory() as folder:
        runs = {name: run for name, run in contenders(histories, dim, folder).items() if names is None or name in names}
        for name, run in runs.items():
            if name.startswith("w2vneg"):
                run()  # compiles or loads compiled code
        for repeat in range(repeats):
            for name, run in runs.items():
                seconds, pairs, negatives = run()
                timings.append(Timing(name, repeat, seconds, pairs, pairs * (1 + negatives)))
                tell(f"round {repeat + 1}, {name}: {seconds:.1f} s")
    return timings


def _ours(data, options):
    pairs = []
    listener = lambda event: pairs.append(event.pairs) if isinstance(event, EpochDone) else None  # noqa: E731
    trainer = Trainer(data, TrainConfig(**options), [listener])
    begun = time.perf_counter()
    trainer.train()
    if not trainer.complete:
        raise KeyboardInterrupt  # a partial run is not a measurement
    return time.perf_counter() - begun, sum(pairs), trainer.config.negatives


def _item2vec(text, dim, n_pairs):
    options = {"dim": dim, "window": REACH, "negatives": 5, "dynamic_window": False, "subsample": 0, "epochs": 1}
    return train_gensim(text, 0.025, 1, options | {"workers": available_threads()})[1], n_pairs, 5


def _bpr(matrix, dim, n_pairs):
    module = require("implicit.cpu.bpr", "bench", "measuring implicit")
    rounds = max(1, round(n_pairs / matrix.nnz))
    model = module.BayesianPersonalizedRanking(factors=dim, iterations=rounds, random_state=1)
    return fit(model, matrix), rounds * matrix.nnz, 1


def table(timings):
    """Return Markdown: medians and ranges over rounds, and ratios taken within a round."""
    reference = {t.repeat: t.pairs / t.seconds for t in timings if t.contender == REFERENCE}
    lines = [
        f"| trainer | million pairs/s, median (range) | million scores/s | times {REFERENCE} in pairs |",
        "|---|---|---|---|",
    ]
    for name in dict.fromkeys(t.contender for t in timings):
        own = [t for t in timings if t.contender == name]
        rates = spread([t.pairs / t.seconds / 1e6 for t in own], ".2f")
        scores = statistics.median(t.scores / t.seconds / 1e6 for t in own)
        ratios = spread([t.pairs / t.seconds / reference[t.repeat] for t in own], ".1f")
        lines.append(f"| {name} | {rates} | {scores:.1f} | {ratios} |")
    return "\n".join(lines)
