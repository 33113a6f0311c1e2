"""Contenders of the comparison on items, and the settings tried for each.

Every contender gets the training histories and an `Effort`, and about a dozen settings; trainers that sample pairs get
about the same number of them. Ours counts pairs in the histories or reads them as baskets.
"""

import time
from dataclasses import dataclass
from functools import partial

import numpy as np

from w2vneg.config import TrainConfig
from w2vneg.data.encoded import EncodedPairs
from w2vneg.run.trainer import Trainer
from w2vneg.vectors.evaluation import cooccurrence_scores, popularity_scores

from .item_rivals import (
    Reading,
    grid,
    popular_readings,
    train_als,
    train_bpr,
    train_item2vec,
    train_neighbours,
    window_pairs,
)

_PASSES = 5  # passes that drawn pairs are divided into: alpha falls over all of them


@dataclass(frozen=True)
class Contender:
    """title : str, for tables; train : callable (histories, setting, seed, effort) -> (dict of Reading, seconds)
    settings : list of dict, to try; seeded : bool, the result depends on the seed
    """

    title: str
    train: object
    settings: list
    seeded: bool = True


def train_ours(histories, setting, seed, effort):
    """Train w2vneg; counting pairs is part of the time, if it is done.

    setting : dict of options, and source ("pairs" or "baskets"), share (of the effort's pairs)
    """
    options = {name: value for name, value in setting.items() if name != "share"}
    n_pairs = max(1, round(effort.pairs * setting.get("share", 1.0)))
    common = {"dim": effort.dim, "seed": seed}
    begun = time.perf_counter()
    if options["source"] == "pairs":
        data = counted_pairs(histories)
        common |= {"pair_weights": "sample", "pairs_per_epoch": max(1, n_pairs // _PASSES), "epochs": _PASSES}
        config = TrainConfig(**options, **common)
    else:
        data, config = histories, TrainConfig(**options, **common)
        in_a_pass = window_pairs(np.diff(histories.offsets), -(-config.resolved().source.pairs_per_item // 2))
        config = TrainConfig(**options, **common, epochs=max(1, round(n_pairs / max(1, in_a_pass))))
    trainer = Trainer(data, config)
    model = trainer.train()
    seconds = time.perf_counter() - begun
    if not trainer.complete:
        raise KeyboardInterrupt  # a partial run is not a measurement
    return popular_readings("in · out", model.vectors_in, model.vectors_out, histories.vocab.counts), seconds


def counted_pairs(histories):
    """Return the counts of two items in one history, as EncodedPairs."""
    counts = histories.traversal.counts(histories, TrainConfig(source="baskets").resolved())
    return EncodedPairs(counts.astype(np.float32), histories.vocab, histories.vocab)


def train_popularity(histories, setting, seed, effort):
    """Count how often each item occurs with others."""
    begun = time.perf_counter()
    counts = np.asarray(counted_pairs(histories).matrix.sum(axis=0, dtype=np.float64)).ravel()
    return {"log count": Reading(popularity_scores(counts), True)}, time.perf_counter() - begun


def train_cooccurrence(histories, setting, seed, effort):
    """Count how often two items are in one history."""
    begun = time.perf_counter()
    pairs = counted_pairs(histories).matrix
    seconds = time.perf_counter() - begun
    return {"count": Reading(cooccurrence_scores(pairs, histories.vocab.counts), False)}, seconds


_PAIRS, _BASKETS = {"source": "pairs"}, {"source": "baskets"}
_OURS = [
    *(_PAIRS | setting for setting in grid(loss=("us",), alpha=(0.02, 0.01, 0.05))),
    *(_BASKETS | setting for setting in grid(loss=("us",), alpha=(0.02, 0.05))),
    *(_PAIRS | setting for setting in grid(loss=("ss",), noise_exponent=(0.5, 1.0), alpha=(0.01, 0.03))),
    _PAIRS | {"loss": "css-is", "alpha": 0.01},
    _PAIRS | {"loss": "cis", "alpha": 0.01},
    _PAIRS | {"loss": "ubs", "temp": 3.0, "alpha": 0.02},
    _PAIRS | {"loss": "relaxed", "temp": 1.0, "alpha": 0.02},
]
_ITEM2VEC = grid(
    alpha=(0.01, 0.0025), noise_exponent=(0.75, 0.0), negatives=(5,), window=(None, 5, 16), share=(1.0,)
) + grid(alpha=(0.05,), noise_exponent=(0.75, 0.0), negatives=(5,), window=(None,), share=(1.0,))
_BPR = grid(learning_rate=(0.003, 0.01, 0.001), regularization=(0.01, 0.1), iterations=(100, 30))
CONTENDERS = {  # name -> Contender
    "w2vneg": Contender("**w2vneg**", train_ours, _OURS),
    "item2vec": Contender("gensim item2vec", train_item2vec, _ITEM2VEC),
    "cosine": Contender("implicit cosine", partial(train_neighbours, "Cosine"), [{}], False),
    "tfidf": Contender("implicit TF-IDF", partial(train_neighbours, "TFIDF"), [{}], False),
    "bm25": Contender(
        "implicit BM25", partial(train_neighbours, "BM25"), grid(K1=(0.5, 1.2, 10.0, 100.0), B=(0.0, 0.4, 0.8)), False
    ),
    "als": Contender(
        "implicit ALS",
        train_als,
        grid(alpha=(10.0, 1.0, 40.0), regularization=(100.0, 10.0, 0.1, 1000.0), iterations=(15,)),
    ),
    "bpr": Contender(
        "implicit BPR", train_bpr, [*_BPR, {"learning_rate": 0.05, "regularization": 0.01, "iterations": 100}]
    ),
    "popularity": Contender("popularity", train_popularity, [{}], False),
    "cooccurrence": Contender("item-item co-occurrence", train_cooccurrence, [{}], False),
}
