"""Recommending items to users, beside implicit's ALS and BPR and EASE: quality, seconds of training, lists a second.

Each user's items are split 70 : 10 : 20. Options are chosen by NDCG@10 of the validation part, by climbing: along each
option from a first guess, up and down a ladder of equal ratios, until no neighbour is better. So no winner stands at
the edge of what was tried. Winners are trained again under seeds of their own and reported on the test part; what was
trained on and what chose is left out of the lists. All have 64 factors, two threads, and see the training part alone.
"""

import json
import statistics
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import scipy.sparse
from threadpoolctl import threadpool_limits

from w2vneg.config import TrainConfig
from w2vneg.data.encoded import EncodedPairs
from w2vneg.data.inputs import Input, encode_input
from w2vneg.data.splits import split_data
from w2vneg.data.vocab import Vocabulary
from w2vneg.ground.errors import W2vnegError, require
from w2vneg.ground.files.atomic import atomic_file
from w2vneg.ground.files.bounded import read_json
from w2vneg.run.trainer import Trainer
from w2vneg.vectors.evaluation import LogitScores, evaluate_ranking, popularity_scores, scores_of
from w2vneg.vectors.evaluation.recommend import recommend_blocks
from w2vneg.vectors.evaluation.slim import SlimScores, default_of, fit_weights

from .contenders import spread
from .item_rivals import fit
from .speed import machine

K, DIM, THREADS = 10, 64, 2
_USERS = 10_000  # that are ranked for, of more a fixed sample
CHOICES = Path(__file__).parent / "recommenders.json"  # what climbing has found


@dataclass(frozen=True, eq=False)
class Task:
    """name : str; train, valid, test : csr_matrix, float32 ones, (n_users, n_items)"""

    name: str
    train: scipy.sparse.csr_matrix
    valid: scipy.sparse.csr_matrix
    test: scipy.sparse.csr_matrix

    @classmethod
    def of(cls, name, user_items, seed=1):
        """Split a matrix of who has what."""
        data = encode_input(Input("pairs", user_items, rectangular=True), min_count=1)
        parts = split_data(data, "pair", (0.7, 0.1, 0.2), seed, kind="pairs").matrices
        return cls(name, *(parts[name] for name in ("train", "valid", "test")))

    def line(self):
        users, items = self.train.shape
        sizes = ", ".join(f"{getattr(self, part).nnz:,}" for part in ("train", "valid", "test"))
        return f"{self.name}: {users:,} users, {items:,} items; {sizes} pairs"


PAIRS = {
    "ml-1m": Input("pairs", "ml-1m-pairs", rectangular=True),
    "ml-100k": Input("ratings", "ml-100k", rectangular=True),
    "online-retail": Input("ratings", "online-retail", rectangular=True, user_col="CustomerID", item_col="StockCode"),
}


def load(name):
    """Return a `Task`: users of MovieLens and the movies they rated, customers of a shop (no returns), or Belgian
    baskets and what is in them.
    """
    if name in PAIRS:
        data = encode_input(PAIRS[name].located(None), min_count=1)
        return Task.of(name, data.matrix)
    data = encode_input(Input("baskets", "belgian-retail").located(None), min_count=1)
    shape = data.n_sentences, len(data.vocab)
    matrix = scipy.sparse.csr_matrix((np.ones(len(data), np.float32), data.ids, data.offsets), shape, copy=True)
    matrix.sum_duplicates()
    matrix.data[:] = 1.0
    return Task.of(name, matrix)


@dataclass(frozen=True)
class Trained:
    """scores : callable, as `evaluate_ranking` takes; recommend : callable, (known) -> ids (n_users, K), of all users
    seconds : float, of training
    """

    scores: object
    recommend: object
    seconds: float


def train_ours(loss, train, setting, seed, score="raw"):
    """Train w2vneg on pairs of user and item."""
    vocabularies = (_numbered(np.asarray(train.sum(axis=axis)).ravel()) for axis in (1, 0))
    (vocab, rows), (vocab_out, columns) = vocabularies
    pairs = EncodedPairs(train[rows][:, columns].tocsr(), vocab, vocab_out)
    config = TrainConfig(loss=loss, source="pairs", rectangular=True, dim=DIM, seed=seed, workers=THREADS, **setting)
    trainer = Trainer(pairs, config)
    begun = time.perf_counter()
    model = trainer.train()
    seconds = time.perf_counter() - begun
    if not trainer.complete:
        raise KeyboardInterrupt  # a part of a run is no measurement
    scores, places, back = scores_of(model, score), np.argsort(rows), np.argsort(columns)

    def recommend(known):
        known = known[rows][:, columns].tocsr()
        blocks = recommend_blocks(model, np.arange(len(rows)), K, known, score)
        return np.concatenate([ids for _, ids, _ in blocks])

    return Trained(lambda centres: scores(places[centres])[:, back], recommend, seconds)


def _numbered(counts):
    """Return a Vocabulary of numbers, and the number that each of its words stands for."""
    vocab = Vocabulary.from_counts({str(i): int(count) for i, count in enumerate(counts)})
    return vocab, np.array([int(word) for word in vocab.words])


def train_implicit(kind, train, setting, seed):
    """Fit implicit's AlternatingLeastSquares or BayesianPersonalizedRanking."""
    module, name = {"als": ("als", "AlternatingLeastSquares"), "bpr": ("bpr", "BayesianPersonalizedRanking")}[kind]
    library = require(f"implicit.cpu.{module}", "bench", "measuring implicit")
    with threadpool_limits(1, "blas"):  # it brings its own threads
        model = getattr(library, name)(factors=DIM, random_state=seed, num_threads=THREADS, **setting)
        seconds = fit(model, train)
    users = np.arange(train.shape[0])

    def recommend(known):
        with threadpool_limits(1, "blas"):
            return model.recommend(users, known, N=K, filter_already_liked_items=True)[0]

    factors = (np.ascontiguousarray(part) for part in (model.user_factors, model.item_factors))
    return Trained(LogitScores(*factors), recommend, seconds)


def train_penalised(loss, train, setting, seed, score="raw", targets=1.0, **options):
    """Train w2vneg with an L2 penalty; the setting's l2 is that of users, and `targets` times it that of items."""
    setting, l2 = dict(setting), setting["l2"]
    setting |= {"l2": (l2, targets * l2), "bounded_steps": False, **options}
    return train_ours(loss, train, setting, seed, score)


def train_slim(train, setting, seed):
    """Solve slim with its usual options; seed : ignored, it is a closed form."""
    return _closed(train, lambda has: SlimScores(has, fit_weights(has, *default_of(has), THREADS)))


def train_ease(train, setting, seed):
    """Solve EASE (Steck 2019) by one inverse, in float64."""

    def solve(has):
        products = (has.T @ has).toarray().astype(np.float64)
        products[np.diag_indices_from(products)] += setting["l2"]
        inverse = np.linalg.inv(products)
        weights = (-inverse / np.diag(inverse)).astype(np.float32)
        np.fill_diagonal(weights, 0.0)
        return lambda users: np.asarray(has[users] @ weights)

    with threadpool_limits(THREADS, "blas"):
        return _closed(train, solve)


def _closed(train, solve):
    has, begun = train.sign().tocsr(), time.perf_counter()
    scores = solve(has)
    seconds = time.perf_counter() - begun

    def recommend(known):
        lists = []
        for first in range(0, has.shape[0], 1000):
            part = np.arange(first, min(first + 1000, has.shape[0]))
            some = scores(part)
            some[known[part].nonzero()] = -np.inf
            lists.append(np.argpartition(-some, K, axis=1)[:, :K])
        return np.concatenate(lists)

    return Trained(scores, recommend, seconds)


@dataclass(frozen=True)
class Method:
    """title : str; train : callable, (train, setting, seed) -> Trained
    guess : dict, the setting to climb from; ratios : dict of name -> float, of one rung of its ladder to the next
    """

    title: str
    train: object
    guess: dict
    ratios: dict


_L2 = {"alpha": 0.1, "epochs": 20, "l2": 1.44}, {"alpha": 2.0, "epochs": 2.0, "l2": 1.41}
_OURS = {"alpha": 0.05, "epochs": 20}, {"alpha": 2.0, "epochs": 2.0}
METHODS = {
    "us": Method("w2vneg `us`", lambda *given: train_ours("us", *given), *_OURS),
    "top-n": Method("w2vneg, as it comes", lambda *given: train_ours("top-n", *given), {}, {}),
    "top-n-tuned": Method(
        "w2vneg `top-n`", lambda *given: train_penalised("top-n", *given, targets=0.38, negatives=16), *_L2
    ),
    "ns-corrected": Method(
        "w2vneg `ns`, L2, corrected",
        lambda *given: train_penalised("ns", *given, score="corrected", targets=0.5, negatives=16, noise_exponent=1.0),
        *_L2,
    ),
    "slim": Method("w2vneg `slim`, as it comes", train_slim, {}, {}),
    "ease": Method("EASE", train_ease, {"l2": 300.0}, {"l2": 2.0}),
    "als-plain": Method("implicit ALS, as it comes", lambda *given: train_implicit("als", *given), {}, {}),
    "als-15": Method(
        "implicit ALS, 15 iterations",
        lambda train, setting, seed: train_implicit("als", train, setting | {"iterations": 15}, seed),
        {"alpha": 5.0, "regularization": 25.0},
        {"alpha": 3.0, "regularization": 5.0},
    ),
    "als": Method(
        "implicit ALS",
        lambda *given: train_implicit("als", *given),
        {"alpha": 5.0, "regularization": 25.0, "iterations": 15},
        {"alpha": 3.0, "regularization": 5.0, "iterations": 2.0},
    ),
    "implicit-bpr": Method(
        "implicit BPR",
        lambda *given: train_implicit("bpr", *given),
        {"learning_rate": 0.02, "regularization": 0.01, "iterations": 100},
        {"learning_rate": 2.0, "regularization": 3.0, "iterations": 2.0},
    ),
}


def fitting(task, names):
    """Return the methods that a task is not too large for: EASE inverts a matrix of all items."""
    return [name for name in names if name != "ease" or task.train.shape[1] <= 10_000]


def evaluate(scores, task, part, known):
    """Return the figures of one part: dict of str -> float. known : csr_matrix, left out of the lists"""
    held = getattr(task, part).tocoo()
    users = np.unique(held.row)
    if len(users) > _USERS:
        chosen = np.zeros(task.train.shape[0], bool)
        chosen[np.random.default_rng(1).choice(users, _USERS, replace=False)] = True
        kept = chosen[held.row]
        pairs = held.row[kept], held.col[kept], held.data[kept]
    else:
        pairs = held.row, held.col, held.data
    options = {"ks": (K, 20, 100), "known": known, "logits": False, "samples": 0, "bootstrap": 0}
    found = evaluate_ranking(scores, pairs, task.train.shape[1], **options)
    figures = {f"NDCG@{K}": found.ndcg[K], "recall@20": found.recall[20], "NDCG@100": found.ndcg[100]}
    return figures | {f"MAP@{K}": found.map[K], f"coverage@{K}": found.coverage[K]}


def neighbours(setting, ratios):
    """Return the settings one rung away on each ladder (list of dict)."""
    found = []
    for name, ratio in ratios.items():
        for value in (setting[name] * ratio, setting[name] / ratio):
            value = max(1, round(value)) if isinstance(setting[name], int) else float(f"{value:.6g}")
            if value != setting[name]:
                found.append(setting | {name: value})
    return found


def climb(task, name, record, tell=lambda text: None, methods=METHODS):
    """Return the setting that no neighbour beats on validation, and fill in the record, a list of trials (dict)."""
    method = methods[name]
    tried = {_key(one["setting"]): one["value"] for one in record if (one["task"], one["method"]) == (task.name, name)}

    def value_of(setting):
        if _key(setting) not in tried:
            begun = time.perf_counter()
            try:
                trained = method.train(task.train, setting, 1)
                value = evaluate(trained.scores, task, "valid", task.train)[f"NDCG@{K}"]
            except W2vnegError:  # it diverges
                value = 0.0
            tried[_key(setting)] = value
            record.append({"task": task.name, "method": name, "setting": setting, "value": value})
            tell(f"{task.name}, {name} {setting}: NDCG@{K} {value:.4f} ({time.perf_counter() - begun:.0f} s)")
        return tried[_key(setting)]

    known = [one["setting"] for one in record if (one["task"], one["method"]) == (task.name, name)]
    best = max([method.guess, *known], key=value_of)
    while True:
        better = next((one for one in neighbours(best, method.ratios) if value_of(one) > value_of(best)), None)
        if better is None:
            return best
        best = better


def _key(setting):
    return json.dumps(setting, sort_keys=True)


def choose(tasks, names, path=CHOICES, tell=lambda text: None):
    """Climb for each task and method, and keep trials and winners in a file; one that is there is gone on with."""
    kept = read_json(path) if Path(path).exists() else {"trials": [], "chosen": {}}

    class Kept(list):
        def append(self, trial):
            super().append(trial)
            write()

    trials = Kept(kept["trials"])

    def write():
        with atomic_file(path, "w", encoding="utf-8") as stream:
            lines = ",\n".join(json.dumps(trial) for trial in trials)  # one a line, for whoever reads changes
            stream.write(f'{{"trials": [\n{lines}\n],\n"chosen": {json.dumps(kept["chosen"], indent=1)}}}\n')

    for task in tasks:
        for name in names:
            kept["chosen"].setdefault(task.name, {})[name] = climb(task, name, trials, tell)
            write()
    return kept["chosen"]


@dataclass(frozen=True)
class Run:
    """task, method : str; seed : int; seconds : float, of training; rate : float, lists a second; figures : dict"""

    task: str
    method: str
    seed: int
    seconds: float
    rate: float
    figures: dict


def measure(task, chosen, seeds, tell=lambda text: None, methods=METHODS):
    """Train and ask the winners in turn, once a round; list of Run. chosen : dict of method -> setting"""
    known = (task.train + task.valid).tocsr()
    warm_up(task, chosen, methods)
    runs = []
    for seed in range(1, seeds + 1):
        for name, setting in chosen.items():
            trained = methods[name].train(task.train, setting, seed)
            begun = time.perf_counter()
            lists = trained.recommend(known)
            rate = len(lists) / (time.perf_counter() - begun)
            runs.append(
                Run(task.name, name, seed, trained.seconds, rate, evaluate(trained.scores, task, "test", known))
            )
            tell(f"{task.name}, round {seed}, {name}: NDCG@{K} {runs[-1].figures[f'NDCG@{K}']:.4f}")
    return runs


def warm_up(task, chosen, methods=METHODS):
    """Load or compile all code before the clock runs: a hundred users, an epoch."""
    few = task.train[:100]
    for name, setting in chosen.items():
        short = setting | {option: 1 for option in ("epochs", "iterations") if option in setting}
        methods[name].train(few, short, 1).recommend(few)


def popularity(task):
    """Return the figures of popularity in training."""
    known = (task.train + task.valid).tocsr()
    return evaluate(popularity_scores(np.asarray(task.train.sum(axis=0)).ravel()), task, "test", known)


def table(runs, baselines, methods=METHODS):
    """Return Markdown: means over rounds, and of speeds medians with their range.

    baselines : dict of task -> figures
    """
    figures = list(runs[0].figures)
    lines = [f"| | {' | '.join(figures)} | training, s | lists a second |", "|---" * (len(figures) + 3) + "|"]
    for task in dict.fromkeys(run.task for run in runs):
        lines.append(f"| **{task}** |" + " |" * (len(figures) + 2))
        lines.append("| popularity | " + " | ".join(f"{baselines[task][one]:.4f}" for one in figures) + " | – | – |")
        for name in dict.fromkeys(run.method for run in runs if run.task == task):
            own = [run for run in runs if (run.task, run.method) == (task, name)]
            means = [f"{statistics.mean(run.figures[one] for run in own):.4f}" for one in figures]
            speeds = spread([run.seconds for run in own], ".1f"), spread([run.rate for run in own], ",.0f")
            lines.append(f"| {methods[name].title} | {' | '.join([*means, *speeds])} |")
    return "\n".join(lines)


def as_json(runs):
    """Return all runs as JSON, with the machine they are of (str)."""
    return json.dumps({"machine": machine(), "runs": [asdict(run) for run in runs]}, indent=1)
