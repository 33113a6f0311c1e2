"""One model for every popularity: scores corrected by the share λ, beside models trained with other noise.

A model with noise D = pop, ranked by s + λ log D, is compared with a model of its own for each noise D = pop^a, ranked
by s, where a = 1 − λ: by the law, both rank by log P(j|i) − a log pop(j). Users × items, 70 % of each user's items for
training, 10 % for choices and 20 % for the test; known items are left out of the lists. Each model of its own has an
alpha chosen by its own NDCG@10 on validation data; the one model's alpha is chosen at λ = 1, its likeliest lists.

Precision is shown by popularity of the target, in tenths of all items, as in `eval ranking --all`.
"""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from w2vneg.config import TrainConfig
from w2vneg.data.encoded import EncodedPairs
from w2vneg.data.encoded.pairs import ones_of
from w2vneg.data.inputs import Input, encode_input
from w2vneg.data.splits import split_data
from w2vneg.data.vocab import Vocabulary
from w2vneg.ground.errors import DivergenceError
from w2vneg.run.trainer import Trainer
from w2vneg.vectors.evaluation import evaluate_ranking, scores_of

from . import STUDIES, Study, declare
from .climb import Rates
from .verdicts import Claim, Unit, cell, judged

_K = 10
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)  # λ; the noise of a model of its own has the exponent 1 − λ
INPUTS = {
    "ml-100k": Input("ratings", "ml-100k", rectangular=True, user_col=1, item_col=2, rating_col=3, min_rating=1),
    "ml-1m": Input("pairs", "ml-1m-pairs", rectangular=True),
}
_TENTHS = {  # of all items, most popular first
    f"P@{_K}, tenth 1": (0, 1),
    f"P@{_K}, tenths 2 and 3": (1, 3),
    f"P@{_K}, tenths 4 to 10": (3, 10),
}
_BEHIND = 0.01  # that does not matter
_NDCG, _COVERAGE, _NOVELTY = f"NDCG@{_K}", f"coverage@{_K}", f"novelty@{_K}, bits"


@dataclass(frozen=True)
class Task:
    """train : EncodedPairs; known, held : dict of "valid" and "test" -> csr_matrix (n_users, n_items)"""

    name: str
    train: EncodedPairs
    known: dict
    held: dict


@dataclass(frozen=True)
class Scale:
    """dim, epochs, seeds : int; rates : Rates"""

    dim: int
    epochs: int
    seeds: int
    rates: Rates


_FULL = Scale(64, 40, 5, Rates(0.14, 2.0, (-1, 1)))
_LARGE = Scale(64, 20, 3, Rates(0.14, 2.0, (0,)))
_QUICK = Scale(8, 3, 2, Rates(0.2, 2.0, (0,), 0))


def made_task(name, data, seed):
    """Return the `Task` of `EncodedPairs` of users and items."""
    ones = EncodedPairs(ones_of(data.matrix), data.vocab, data.vocab_out)
    parts = split_data(ones, "pair", (0.7, 0.1, 0.2), seed, kind="pairs").matrices
    train, valid, test = (parts[part] for part in ("train", "valid", "test"))
    vocab_out, order = _by_count(data.vocab_out.words, np.asarray(train.sum(axis=0)).ravel())
    train, valid, test = (matrix.tocsc()[:, order].tocsr() for matrix in (train, valid, test))
    known = {"valid": train, "test": (train + valid).tocsr()}
    return Task(name, EncodedPairs(train, data.vocab, vocab_out), known, {"valid": valid, "test": test})


def _by_count(words, counts):
    """Return a Vocabulary with these counts, and the former number of each of its words."""
    vocab = Vocabulary.from_counts({word: int(count) for word, count in zip(words, counts, strict=True)})
    former = {word: k for k, word in enumerate(words)}
    return vocab, np.array([former[word] for word in vocab.words])


def trial(task, scale, exponent, alpha, seed, shares, part):
    """Train with noise pop^exponent; return {share: figures} on a part of the data, dict that JSON can hold.

    If training diverges, NDCG is −inf.
    """
    config = TrainConfig(
        loss="ps",
        source="pairs",
        rectangular=True,
        noise_exponent=exponent,
        negatives=16,
        dim=scale.dim,
        epochs=scale.epochs,
        alpha=alpha,
        l2=(1.4, 0.7),
        workers=1,
        seed=seed,
    )
    trainer = Trainer(task.train, config)
    try:
        model = trainer.train()
    except DivergenceError:
        return {f"{share:g}": {_NDCG: -math.inf} for share in shares}
    if not trainer.complete:
        raise KeyboardInterrupt  # a partial run is not a measurement
    return {f"{share:g}": figures(task, scores_of(model, share), part) for share in shares}


def figures(task, scores, part):
    """Return the figures (dict) of lists by these scores on a part."""
    held, counts = task.held[part].tocoo(), task.train.vocab_out.counts
    pairs, options = (held.row, held.col, held.data), {"known": task.known[part], "samples": 0, "bootstrap": 0}
    found = evaluate_ranking(scores, pairs, len(counts), ks=(_K,), counts=counts, **options)
    row = {_NDCG: found.ndcg[_K], _COVERAGE: found.coverage[_K], _NOVELTY: found.novelty[_K]}
    shares = np.array([tenth["pairs"] for tenth in found.tenths])
    hits = shares * np.array([tenth["precision"][_K] if tenth["pairs"] else 0.0 for tenth in found.tenths])
    for name, (first, end) in _TENTHS.items():
        row[name] = float(hits[first:end].sum() / shares[first:end].sum())
    return row


def measure(task, scale, tell, seed, memo):
    """Return rows by (model, λ) -> {"alpha": float, figure: one value per seed}."""
    memo = memo.under(task.name, task.train.matrix.nnz, scale.dim, scale.epochs)

    def one(name, exponent, ranked, shares):
        def value(alpha):
            key = [exponent, alpha, seed, "valid", ranked]
            return memo(key, trial, task, scale, exponent, alpha, seed, [ranked], "valid")[f"{ranked:g}"][_NDCG]

        alpha = scale.rates.best(value, memo.each)

        def run(k):
            key = [exponent, alpha, seed + k, "test", shares]
            return memo(key, trial, task, scale, exponent, alpha, seed + k, shares, "test")

        found = memo.each(run, range(1, 1 + scale.seeds))
        tell(f"{name}, noise exponent {exponent:g}, alpha {alpha:g}: {found[0][f'{shares[0]:g}'][_NDCG]:.4f}")
        rows = {}
        for share in shares:
            columns = {figure: [run[f"{share:g}"][figure] for run in found] for figure in found[0][f"{share:g}"]}
            rows[name, share if name == "one model" else 1 - exponent] = {"alpha": alpha} | columns
        return rows

    asked = [("its own", 1 - share, 0.0, [0.0]) for share in SHARES[1:]]
    asked.append(("one model", 1.0, 1.0, list(SHARES)))
    return {key: row for rows in memo.each(one, *zip(*asked, strict=True)) for key, row in rows.items()}


def claims():
    """Return the claims that one model's lists are not behind those of a model of its own, for each λ."""
    found = []
    for share in SHARES[1:]:
        ends = f"one model, λ = {share:g}", f"its own, λ = {share:g}"
        for figure in (_NDCG, *_TENTHS):
            text = f"λ = {share:g}: one model is at most .01 behind one trained with noise pop^{1 - share:g}"
            found.append(Claim("ours", text, *ends, figure, by=-_BEHIND))
    return found


def _study(task, scale, given):
    found = measure(task, scale, *given)
    popularity = figures(task, lambda users: np.tile(task.train.vocab_out.counts, (len(users), 1)) * 1.0, "test")
    rows, runs = [], {}
    for (name, share), row in sorted(found.items(), key=lambda item: (item[0][1], item[0][0])):
        shown = {figure: cell(values, 3) for figure, values in row.items() if figure != "alpha"}
        rows.append({"λ": f"{share:g}", "model": name, "alpha": f"{row['alpha']:.3g}"} | shown)
        runs |= {(f"{name}, λ = {share:g}", figure): row[figure] for figure in shown}
    null = {figure: f"{value:.3f}" for figure, value in popularity.items()}
    rows.append({"λ": "–", "model": "popularity", "alpha": "–"} | null)
    text = (
        f"{task.name}: {task.train.matrix.shape[0]:,} users, {task.train.matrix.shape[1]:,} items, "
        f"{task.train.matrix.nnz:,} training pairs. `ps`, d = {scale.dim}, 16 negatives, L2 1.4,.7, {scale.epochs} "
        f"epochs, one worker; {scale.rates.said()}; {scale.seeds} seeds, ± is half of a 95 % interval. Precision@{_K} "
        "by tenths of all items, most popular first.\n"
    )
    verdicts = judged(claims(), runs, dict.fromkeys((_NDCG, *_TENTHS), Unit(least=-_BEHIND)))
    return Study({"along λ": pd.DataFrame(rows)}, text, verdicts=verdicts)


def _made_up(seed, users=120, items=40):
    rng = np.random.default_rng(seed)
    weights = 1.0 / np.arange(1, items + 1)
    taste = rng.integers(4, size=users)
    chance = np.where(np.arange(items) % 4 == taste[:, None], 1.0, 0.1) * weights
    rows = [rng.choice(items, 10, replace=False, p=one / one.sum()) for one in chance]
    matrix = np.zeros((users, items), np.float32)
    for user, chosen in enumerate(rows):
        matrix[user, chosen] = 1.0
    return matrix


def made_up(seed):
    """Return the task of synthetic users of four tastes, for quick runs."""
    import scipy.sparse

    matrix = scipy.sparse.csr_matrix(_made_up(seed))
    users = Vocabulary.from_counts({f"user{k:03}": int(matrix[k].nnz) for k in range(matrix.shape[0])})
    items, order = _by_count([f"item{k:02}" for k in range(matrix.shape[1])], np.asarray(matrix.sum(axis=0)).ravel())
    return made_task("made-up users", EncodedPairs(matrix[:, order].tocsr(), users, items), seed)


@STUDIES.register("any-popularity")
@declare("ours", "λ by popularity of targets", minutes=12)
def any_popularity(tell, quick, seed, memo):
    """One model for every popularity, on MovieLens 100K, by popularity of the target; quick: synthetic users."""
    if quick:
        return _study(made_up(seed), _QUICK, (tell, seed, memo))
    return _study(made_task("ml-100k", encode_input(INPUTS["ml-100k"].located()), seed), _FULL, (tell, seed, memo))


@STUDIES.register("any-popularity-ml-1m")
@declare("ours", "λ by popularity of targets, ML-1M", minutes=40)
def any_popularity_ml_1m(tell, quick, seed, memo):
    """The same on MovieLens 1M."""
    if quick:
        return any_popularity(tell, quick, seed, memo)
    return _study(made_task("ml-1m", encode_input(INPUTS["ml-1m"].located()), seed), _LARGE, (tell, seed, memo))
