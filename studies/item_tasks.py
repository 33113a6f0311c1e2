"""Tasks of the next-item studies: named data, split by user into three parts."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse

from w2vneg.data.encoded import EncodedCorpus, EncodedPairs, HeldOut
from w2vneg.data.inputs import Input, encode_input
from w2vneg.data.splits import Shares, split_data, users_of
from w2vneg.data.vocab import Vocabulary

SHARES = (0.7, 0.1, 0.2)

INPUTS = {  # name -> (input, number of most frequent items kept)
    "belgian": (Input("baskets", "belgian-retail"), None),
    "uk": (Input("ratings", "online-retail", user_col="InvoiceNo", item_col="StockCode", bad_rows="skip"), None),
    "ml-100k": (Input("ratings", "ml-100k", user_col=1, item_col=2, rating_col=3, min_rating=4, time_col=4), None),
    "ml-1m": (Input("ratings", "ml-1m-pairs", user_col="user", item_col="movie"), None),
    "text-12k": (Input("corpus", "enwiki2015-head"), 12_000),
    "text-15k": (Input("corpus", "enwiki2015-head"), 15_000),
    "text-30k": (Input("corpus", "enwiki2015-head"), 30_000),
}
WINDOWS = {"text-12k": 1, "text-15k": 3, "text-30k": 1}


@dataclass(frozen=True)
class Task:
    """train : EncodedPairs, weights are counts; valid, test : HeldOut, in the same ids
    histories : EncodedCorpus, the baskets, histories or lines of the training pairs
    """

    name: str
    train: EncodedPairs
    valid: HeldOut
    test: HeldOut
    histories: EncodedCorpus

    @property
    def n_targets(self):
        return len(self.train.vocab_out)

    def line(self):
        """Return a one-line description of the task (str)."""
        parts = [
            f"{len(part):,} pairs ({part.weights.sum():,.0f} occurrences; {part.n_unknown:,} more with unknown items)"
            for part in (self.valid, self.test)
        ]
        return (
            f"{self.name}, split by user: {len(self.train.vocab):,} items, {self.train.matrix.nnz:,} training "
            f"pairs ({self.train.matrix.sum(dtype=np.float64):,.0f} occurrences), held out {parts[0]} and {parts[1]}"
        )


def load_task(name, seed=1):
    """Return the `Task` of named data: 70 % for training, 10 % for choices, 20 % for reporting.

    Text gives pairs of a word and one of the next words; items give every pair of a basket or history, in both orders.
    """
    given, most = INPUTS[name]
    data = encode_input(given.located(), max_vocab=most)
    return make_task(name, data, seed, given.kind, WINDOWS.get(name))


def make_task(name, data, seed, kind, window=None):
    """Return the `Task` of encoded data. Its items and their counts come from the training pairs only."""
    parts = split_data(data, "user", SHARES, seed, kind=kind, window=window, ordered=kind == "corpus").matrices
    train = parts["train"].tocoo()
    counts = np.bincount(train.row, train.data, len(data.vocab)) + np.bincount(train.col, train.data, len(data.vocab))
    seen = np.flatnonzero(counts)
    vocab = Vocabulary.from_counts({data.vocab.words[i]: int(counts[i]) for i in seen})
    new = np.full(len(data.vocab), -1, np.int32)
    new[data.vocab.words.find_all(vocab.words)] = np.arange(len(vocab))
    places = new[train.row], new[train.col]
    matrix = scipy.sparse.coo_matrix((train.data.astype(np.float32), places), (len(vocab), len(vocab))).tocsr()
    matrix.sort_indices()
    held = {part: _held(parts[part], new) for part in ("valid", "test")}
    dealt = users_of(data, Shares(*SHARES), np.random.default_rng(seed))
    histories = _histories(*dealt["train"], new, vocab, data.source)
    return Task(name, EncodedPairs(matrix, vocab, vocab), *held.values(), histories)


def _histories(ids, offsets, new, vocab, source):
    """Return histories in new ids, without items that are in no training pair and without empty histories."""
    ids = new[ids]
    user = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))[ids >= 0]
    lengths = np.bincount(user, minlength=len(offsets) - 1)
    offsets = np.concatenate([[0], np.cumsum(lengths[lengths > 0])]).astype(np.int64)
    return EncodedCorpus(ids[ids >= 0], offsets, vocab, source=source)


def _held(matrix, new):
    pairs = matrix.tocoo()
    centres, targets = new[pairs.row].astype(np.int64), new[pairs.col].astype(np.int64)
    known = (centres >= 0) & (targets >= 0)
    weights = pairs.data[known].astype(np.float64)
    return HeldOut(centres[known], targets[known], weights, int((~known).sum()), len(known))


def communities(seed, n_items=60, n_baskets=3000, other=0.05):
    """Return synthetic baskets, an EncodedCorpus: each has one of four tastes, and some items are more popular.

    other : float, probability of an item of another taste relative to one of its own
    """
    rng = np.random.default_rng(seed)
    weights = 1.0 / np.arange(1, n_items + 1)
    baskets = []
    for _ in range(n_baskets):
        own = weights * np.where(np.arange(n_items) % 4 == rng.integers(4), 1.0, other)
        baskets.append(rng.choice(n_items, rng.integers(2, 6), replace=False, p=own / own.sum()))
    ids = np.concatenate(baskets)
    counts = np.bincount(ids, minlength=n_items)
    order = np.argsort(-counts, kind="stable")
    vocab = Vocabulary([f"item{k:03}" for k in range(n_items)], counts[order])
    offsets = np.cumsum([0, *map(len, baskets)]).astype(np.int64)
    return EncodedCorpus(np.argsort(order)[ids].astype(np.int32), offsets, vocab, source="baskets")
