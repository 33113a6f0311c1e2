"""Common alternatives for items seen together: nearest neighbours, factors of users and items, item2vec.

Each trains only on the histories of the training users, with any number of threads, and offers one or several readings:
ways to score targets j given an item i, chosen on held-out pairs. So no method is limited to a reading made for another
question:

    neighbours (Cosine, TFIDF, BM25)   log sim_ij + a log n_j for a = 0, ½, 1 (n_j histories contain j); items that are
                                       not neighbours come last, the popular ones first
    factors y_j (ALS, BPR)             cos(y_i, y_j), which implicit calls similar items; y_i · y_j; and the model's
                                       recommendation to a user who only had i: for ALS y_iᵀ (YᵀY + λI)⁻¹ y_j, a new
                                       user's score up to a factor, for BPR i's factors as a user's, and j's bias
    item2vec                           cos(in_i, in_j); in_i · out_j + a log n_j for a = 0, ½, 1

The last is included because negative sampling with popularity noise fits log P(j|i) − log Q(j); our own models have the
same choice. Settings are around the projects' advice: implicit's examples, its issues 100, 125 and 581 (range of λ and
α; BM25's K1 and B); gensim's note on `ns_exponent` and the paper it cites (Caselles-Dupré et al. 2018: for items the
noise, the number of epochs and the window matter most; best exponents from −1 to 1).
"""

import dataclasses
import tempfile
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse
from threadpoolctl import threadpool_limits

from w2vneg.ground.errors import require
from w2vneg.ground.jit import available_threads
from w2vneg.vectors.evaluation import LogitScores

from .rivals import train_gensim, write_sentences

POWERS = {"": 0.0, " + ½ log n": 0.5, " + log n": 1.0}  # suffix of a reading -> factor a of log n_j
_NEIGHBOURS = 40_000_000  # similarities kept at most: about 2 GB of memory at the peak


@dataclass(frozen=True)
class Reading:
    """scores : callable, int64 (b,) item ids -> (b, V), for `evaluate_ranking`; logits : bool, they are logits"""

    scores: object
    logits: bool


@dataclass(frozen=True)
class Effort:
    """Budget of one training: pairs : int, approximate, for trainers on pairs; dim : int
    rounds : float, factor on the iterations of trainers that pass over users and items
    """

    pairs: int
    dim: int = 100
    rounds: float = 1.0

    def iterations(self, usual):
        return max(1, round(self.rounds * usual))


def user_items(histories):
    """Return the items of each user as csr_matrix, float32 ones, (n_users, n_items)."""
    shape = histories.n_sentences, len(histories.vocab)
    matrix = scipy.sparse.csr_matrix((np.ones(len(histories), np.float32), histories.ids, histories.offsets), shape)
    matrix.sum_duplicates()
    matrix.data[:] = 1.0
    return matrix


def train_neighbours(kind, histories, setting, seed, effort):
    """Fit implicit's `kind` + "Recommender" on all similarities, or the largest of each item if there are too many.

    Returns
    -------
    (dict of str -> Reading, seconds)
    """
    module = require("implicit.nearest_neighbours", "bench", "measuring implicit")
    n_items = len(histories.vocab)
    model = getattr(module, f"{kind}Recommender")(K=min(n_items, max(1, _NEIGHBOURS // n_items)), **setting)
    seconds = fit(model, user_items(histories))
    counts = histories.vocab.counts
    return {
        f"log sim{name}": Reading(neighbour_scores(model.similarity, counts, power), False)
        for name, power in POWERS.items()
    }, seconds


def neighbour_scores(similarity, counts, power):
    """Return the scoring function log sim_ij + power · log n_j over neighbours, with all others below them by n_j.

    similarity : scipy.sparse matrix, (V, V), row i holds the neighbours of i; counts : int64, (V,), above 0
    """
    scores = scipy.sparse.csr_matrix(similarity, dtype=np.float64)
    scores.data[scores.data < 0] = 0.0
    scores.eliminate_zeros()
    log_n = np.log(np.asarray(counts, np.float64))
    scores.data = np.log(scores.data) + power * log_n[scores.indices]
    below = log_n - log_n.max() + (scores.data.min() if scores.nnz else 0.0) - 1.0

    def score(centres):
        own = scores[centres]
        all_scores = np.tile(below, (len(centres), 1))
        all_scores[np.repeat(np.arange(len(centres)), np.diff(own.indptr)), own.indices] = own.data
        return all_scores

    return score


def train_als(histories, setting, seed, effort):
    """Fit implicit's AlternatingLeastSquares; return the same as `train_neighbours`."""
    module = require("implicit.cpu.als", "bench", "measuring implicit")
    options = setting | {"iterations": effort.iterations(setting["iterations"])}
    with threadpool_limits(1, "blas"):  # implicit warns otherwise, and brings its own threads
        model = module.AlternatingLeastSquares(factors=effort.dim, random_state=seed, **options)
        seconds = fit(model, user_items(histories))
    factors = np.ascontiguousarray(model.item_factors)
    exact = factors.astype(np.float64)
    products = exact.T @ exact + setting["regularization"] * np.eye(effort.dim)
    new_user = np.linalg.solve(products, exact.T).T.astype(np.float32)
    return _factor_readings(factors, new_user, factors), seconds


def train_bpr(histories, setting, seed, effort):
    """Fit implicit's BayesianPersonalizedRanking; return as `train_neighbours`. The last factor is the item bias."""
    module = require("implicit.cpu.bpr", "bench", "measuring implicit")
    options = setting | {"iterations": effort.iterations(setting["iterations"])}
    with threadpool_limits(1, "blas"):
        model = module.BayesianPersonalizedRanking(factors=effort.dim, random_state=seed, **options)
        seconds = fit(model, user_items(histories))
    factors = np.ascontiguousarray(model.item_factors)
    as_user = factors.copy()
    as_user[:, -1] = 1.0
    return _factor_readings(factors, as_user, factors), seconds


def _factor_readings(factors, as_user, targets):
    unit = _unit(factors)
    return {
        "cosine": Reading(LogitScores(unit, unit), False),
        "inner product": Reading(LogitScores(factors, factors), False),
        "new user": Reading(LogitScores(as_user, targets), False),
    }


def fit(model, matrix):
    """Fit a model of implicit; return its seconds (float). It uses its own threads, as it recommends."""
    with warnings.catch_warnings(), threadpool_limits(1, "blas"):
        warnings.filterwarnings("ignore", message="Method expects CSR input")  # raised by implicit's own code
        begun = time.perf_counter()
        model.fit(matrix, show_progress=False)
        return time.perf_counter() - begun


def train_item2vec(histories, setting, seed, effort):
    """Train gensim's skip-gram on the histories as sentences; return the same as `train_neighbours`.

    The order of a history does not matter, so each pass shuffles it: a window shorter than the history then sees all
    its pairs in the long run. There are as many passes as `effort` has pairs for, at least one.

    setting : dict of alpha, noise_exponent, negatives, window (None: the longest history), share (of the pairs)
    """
    lengths = np.diff(histories.offsets)
    window = setting["window"] or int(lengths.max())
    passes = max(1, round(effort.pairs * setting["share"] / max(1, window_pairs(lengths, window))))
    options = {
        "dim": effort.dim,
        "window": window,
        "negatives": setting["negatives"],
        "noise_exponent": setting["noise_exponent"],
        "dynamic_window": False,
        "subsample": 0,
        "workers": available_threads(),
        "epochs": 1,
    }
    with tempfile.TemporaryDirectory() as folder:
        text = write_sentences(in_new_orders(histories, passes, seed), Path(folder) / "histories.txt")
        model, seconds = train_gensim(text, setting["alpha"], seed, options)
    rows = [model.wv.key_to_index[word] for word in histories.vocab.words]
    vectors_in, vectors_out = model.wv.vectors[rows], model.syn1neg[rows]
    unit = _unit(vectors_in)
    readings = {"cosine": Reading(LogitScores(unit, unit), False)}
    return readings | popular_readings("in · out", vectors_in, vectors_out, histories.vocab.counts), seconds


def popular_readings(name, vectors_in, vectors_out, counts):
    """Return the readings in_i · out_j + a log n_j, dict of str -> Reading; all are logits."""
    log_n = np.log(np.asarray(counts, np.float64)).astype(np.float32)
    ones = np.ones((len(vectors_in), 1), np.float32)
    return {
        name + more: Reading(
            LogitScores(np.hstack([vectors_in, ones]), np.hstack([vectors_out, power * log_n[:, None]])), True
        )
        for more, power in POWERS.items()
    }


def window_pairs(lengths, window):
    """Return the number of ordered pairs of places at most `window` apart in histories of these lengths (int)."""
    lengths = np.asarray(lengths, np.int64)
    reach = np.minimum(lengths - 1, window)
    return int((2 * lengths * reach - reach * (reach + 1)).sum())


def in_new_orders(histories, passes, seed):
    """Return an EncodedCorpus with every history `passes` times, each time in a new order."""
    rng = np.random.default_rng(seed)
    history = np.repeat(np.arange(histories.n_sentences), np.diff(histories.offsets))
    ids = [histories.ids[np.argsort(history + rng.random(len(history)))] for _ in range(passes)]
    starts = [histories.offsets[:-1] + turn * len(histories) for turn in range(passes)]
    offsets = np.concatenate([*starts, [passes * len(histories)]]).astype(np.int64)
    return dataclasses.replace(histories, ids=np.concatenate(ids), offsets=offsets)


def _unit(vectors):
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1.0)


def grid(**values):
    """Return every combination of values as a list of dict."""
    settings = [{}]
    for name, choices in values.items():
        settings = [setting | {name: value} for setting in settings for value in choices]
    return settings
