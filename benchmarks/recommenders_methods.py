"""The recommenders, and the starting points of their options. All have 64 factors and two threads."""

import time
from dataclasses import dataclass, field, replace

import numpy as np
from threadpoolctl import threadpool_limits

from w2vneg.config import TrainConfig
from w2vneg.data.encoded import EncodedPairs
from w2vneg.data.vocab import Vocabulary
from w2vneg.ground.errors import require
from w2vneg.run.conductor import Run
from w2vneg.vectors.evaluation import LogitScores, popularity_scores, scores_of
from w2vneg.vectors.evaluation.folding import user_vectors
from w2vneg.vectors.evaluation.recommend import recommend_blocks
from w2vneg.vectors.evaluation.scores import SlimScores, default_of, fit_weights

from .item_rivals import fit

K, DIM, THREADS = 10, 64, 2


@dataclass(frozen=True)
class Asked:
    """Scores and lists for n users. scores : callable, (b rows of them) -> (b, n_items), for `evaluate_ranking`
    lists : callable, (known), csr_matrix (n, n_items) -> ids (n, K)
    """

    scores: object
    lists: object


@dataclass(frozen=True)
class Trained:
    """seconds : float, of training; ask : callable, (rows of the training part) -> Asked
    fold_in : callable, (shown), csr_matrix of new users' items -> Asked; None if the method cannot fold in
    """

    seconds: float
    ask: object
    fold_in: object = None

    def asked(self, part):
        """Return `Asked` for the users of a `Part`."""
        return self.ask(part.users) if part.users is not None else self.fold_in(part.known)


def train_ours(loss, train, setting, seed, score="raw"):
    """Train w2vneg on pairs of user and item."""
    vocabularies = (_numbered(np.asarray(train.sum(axis=axis)).ravel()) for axis in (1, 0))
    (vocab, rows), (vocab_out, columns) = vocabularies
    pairs = EncodedPairs(train[rows][:, columns].tocsr(), vocab, vocab_out)
    config = TrainConfig(loss=loss, source="pairs", rectangular=True, dim=DIM, seed=seed, workers=THREADS, **setting)
    run = Run(config, pairs)
    begun = time.perf_counter()
    run.choose()
    trainer = run.trainer()
    model = trainer.train()
    seconds = time.perf_counter() - begun
    if not trainer.complete:
        raise KeyboardInterrupt  # a partial run is not a measurement
    places, back = np.argsort(rows), np.argsort(columns)

    def of_vectors(vectors):
        some = replace(model, vectors_in=vectors)
        scores = scores_of(some, score)

        def lists(known):
            blocks = recommend_blocks(some, np.arange(len(vectors)), K, known[:, columns].tocsr(), score)
            return columns[np.concatenate([ids for _, ids, _ in blocks])]

        return Asked(lambda rows: scores(rows)[:, back], lists)

    return Trained(
        seconds,
        lambda users: of_vectors(model.vectors_in[places[users]]),
        lambda shown: of_vectors(user_vectors(model, shown[:, columns].tocsr())),
    )


def _numbered(counts):
    """Return a Vocabulary of numbers as words, and the number of each word."""
    vocab = Vocabulary.from_counts({str(i): int(count) for i, count in enumerate(counts)})
    return vocab, np.array([int(word) for word in vocab.words])


def train_corrected(train, setting, seed):
    """Train `ns` with an L2 penalty and popularity noise; the setting's l2 is for users, half of it for items."""
    l2 = setting["l2"]
    options = {"l2": (l2, 0.5 * l2), "bounded_steps": False, "negatives": 16, "noise_exponent": 1.0}
    return train_ours("ns", train, setting | options, seed, "corrected")


_IMPLICIT = {
    "als": "AlternatingLeastSquares",
    "bpr": "BayesianPersonalizedRanking",
    "lmf": "LogisticMatrixFactorization",
}


def train_implicit(kind, train, setting, seed):
    """Fit a model of implicit; ALS folds in new users with `recalculate_user`, the others cannot."""
    library = require(f"implicit.cpu.{kind}", "bench", "measuring implicit")
    topk = require("implicit.cpu.topk", "bench", "measuring implicit").topk
    with threadpool_limits(1, "blas"):  # it brings its own threads
        model = getattr(library, _IMPLICIT[kind])(factors=DIM, random_state=seed, num_threads=THREADS, **setting)
        seconds = fit(model, train)
    items = np.ascontiguousarray(model.item_factors)

    def of_factors(users):
        def lists(known):
            with threadpool_limits(1, "blas"):
                return topk(items, users, K, filter_query_items=known, num_threads=THREADS)[0]

        return Asked(LogitScores(np.ascontiguousarray(users), items), lists)

    def fold_in(shown):
        with threadpool_limits(1, "blas"):
            return of_factors(model.recalculate_user(np.arange(shown.shape[0]), shown))

    return Trained(seconds, lambda users: of_factors(model.user_factors[users]), fold_in if kind == "als" else None)


def train_slim(train, setting, seed):
    """Solve slim, with its default options if the setting is empty; seed : ignored, it is a closed form."""

    def solve():
        options = (setting["neighbours"], setting["l2"]) if setting else default_of(train)
        weights = fit_weights(train, *options, THREADS)
        return lambda has: SlimScores(has, weights)

    return _closed(train, solve)


def train_ease(train, setting, seed):
    """Solve EASE (Steck 2019) by one inverse, in float64."""

    def solve():
        products = (train.T @ train).toarray().astype(np.float64)
        products[np.diag_indices_from(products)] += setting["l2"]
        inverse = np.linalg.inv(products)
        weights = (-inverse / np.diag(inverse)).astype(np.float32)
        np.fill_diagonal(weights, 0.0)
        return lambda has: lambda rows: np.asarray(has[rows] @ weights)

    with threadpool_limits(THREADS, "blas"):
        return _closed(train, solve)


def train_fused(train, setting, seed):
    """Add the scores of `slim` and `weight` times those of w2vneg with defaults."""
    parts, weight = [train_slim(train, {}, seed), train_ours("top-n", train, {}, seed)], np.float32(setting["weight"])

    def both(way, given):
        items, vectors = (getattr(part, way)(given).scores for part in parts)
        scores = lambda rows: items(rows) + weight * vectors(rows)  # noqa: E731
        return Asked(scores, lambda known: best_of(scores, known))

    seconds = sum(part.seconds for part in parts)
    return Trained(seconds, lambda users: both("ask", users), lambda shown: both("fold_in", shown))


def train_popularity(train, setting, seed):
    """Rank by counts in the training part."""
    return _closed(train, lambda: lambda has: popularity_scores(np.asarray(train.sum(axis=0)).ravel()))


def _closed(train, solve):
    """solve : callable, () -> callable, users' items -> their scoring function"""
    begun = time.perf_counter()
    scores_of_those = solve()
    seconds = time.perf_counter() - begun

    def of_items(has):
        scores = scores_of_those(has)
        return Asked(scores, lambda known: best_of(scores, known))

    return Trained(seconds, lambda users: of_items(train[users]), of_items)


def best_of(scores, known):
    """Return the K best items of each row of `known`, without those in it, unordered: ids (n, K)."""
    lists = []
    for first in range(0, known.shape[0], 1000):
        part = np.arange(first, min(first + 1000, known.shape[0]))
        some = scores(part)
        some[known[part].nonzero()] = -np.inf
        lists.append(np.argpartition(-some, K, axis=1)[:, :K])
    return np.concatenate(lists)


@dataclass(frozen=True)
class Method:
    """title : str; train : callable, (train, setting, seed) -> Trained
    guess : dict, the setting to climb from; ratios : dict of name -> float, between the rungs of its ladder
    ours : bool, not a rival; folds_in : bool, it can recommend to users not seen in training
    most : dict of name -> int, end of a ladder that would take hours
    """

    title: str
    train: object
    guess: dict
    ratios: dict
    ours: bool = False
    folds_in: bool = True
    most: dict = field(default_factory=dict)


def _of_implicit(kind, **fixed):
    return lambda train, setting, seed: train_implicit(kind, train, setting | fixed, seed)


_L2 = {"alpha": 0.1, "epochs": 20, "l2": 1.44}, {"alpha": 2.0, "epochs": 2.0, "l2": 1.41}
_OURS = {"alpha": 0.05, "epochs": 20}, {"alpha": 2.0, "epochs": 2.0}
_ALS = {"alpha": 5.0, "regularization": 25.0}, {"alpha": 3.0, "regularization": 5.0}
_STEPS = {"learning_rate": 2.0, "regularization": 3.0, "iterations": 2.0}
METHODS = {
    "popularity": Method("popularity", train_popularity, {}, {}),
    "us": Method("w2vneg `us`", lambda *given: train_ours("us", *given), *_OURS, ours=True),
    "top-n": Method("w2vneg, as it comes", lambda *given: train_ours("top-n", *given), {}, {}, ours=True),
    "ns-corrected": Method("w2vneg `ns`, L2, corrected", train_corrected, *_L2, ours=True),
    "slim": Method("w2vneg `slim`, as it comes", train_slim, {}, {}, ours=True),
    "slim-tuned": Method(
        "w2vneg `slim`",
        train_slim,
        {"neighbours": 100, "l2": 100.0},
        {"neighbours": 2.0, "l2": 2.0},
        ours=True,
        most={"neighbours": 800},
    ),
    "fused": Method("w2vneg `slim` and vectors", train_fused, {"weight": 0.04}, {"weight": 2.0}, ours=True),
    "ease": Method("EASE", train_ease, {"l2": 300.0}, {"l2": 2.0}),
    "als-plain": Method("implicit ALS, as it comes", _of_implicit("als"), {}, {}),
    "als-15": Method("implicit ALS, 15 iterations", _of_implicit("als", iterations=15), *_ALS),
    "als": Method("implicit ALS", _of_implicit("als"), _ALS[0] | {"iterations": 15}, _ALS[1] | {"iterations": 2.0}),
    "implicit-bpr": Method(
        "implicit BPR",
        _of_implicit("bpr"),
        {"learning_rate": 0.02, "regularization": 0.01, "iterations": 100},
        _STEPS,
        folds_in=False,
        most={"iterations": 400},
    ),
    "implicit-lmf": Method(
        "implicit LMF",
        _of_implicit("lmf"),
        {"learning_rate": 1.0, "regularization": 0.6, "iterations": 30},
        _STEPS,
        folds_in=False,
        most={"iterations": 480},
    ),
}


def fitting(task, names):
    """Return the methods that suit a task: EASE inverts a matrix of all items, and some cannot fold in new users."""
    small, old = task.train.shape[1] <= 10_000, task.valid.users is not None
    return [name for name in names if (small or name != "ease") and (old or METHODS[name].folds_in)]
