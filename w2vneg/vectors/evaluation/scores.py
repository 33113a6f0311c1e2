"""Scoring functions: logits of a model, corrected on request, sparse regressions, and counting baselines.

A scoring function takes centre ids, int (b,), and returns the scores of all targets, float32 or float64 (b, V). The
caller may modify the result, and the next call may overwrite it. Scoring functions of models are `Scores`.
"""

import math
from numbers import Integral, Real
from typing import NamedTuple

import numpy as np
import scipy.sparse

from ...data.encoded.pairs import ones_of
from ...ground.errors import ConfigError, InputError
from ...ground.files.memory import memory_size
from ...ground.jit import available_threads
from ...ground.registry import RunContext
from ...kernels.dense.blas import TILE
from ...kernels.slim import solve_items
from ...objectives.law import settled

RAW, CORRECTED, FUSED = "raw", "corrected", "slim+"
_SCORES = 4_000_000  # held at a time
_MANY = 60  # items per user, on average


def scores_of(model, score="raw"):
    """Return the scoring function of a `run.model.Model`: its logits, or the log-probabilities along its tree.

    score : "raw", "corrected" for popularity, or the share λ of the correction; "slim+W" adds W times the raw scores to
        those of `slim`, fitted on the items of the model's users

    With noise D, and Boltzmann negatives at temperature T, a softmax over drawn negatives converges to

        s = T / (1 + T) · (log P(j|i) − log D(j))          T = ∞ without them

    So targets are ranked by probability, rather than by probability relative to the noise, with

        score(λ) = (1 + T) / T · s + λ log D(j)            λ = 1; with λ = 0 the order is that of raw scores

    ConfigError if the limit of the scores is unknown for the model's loss and sampler.
    """
    weight = fused_weight(score)
    share = share_of(score) if weight is None else 0.0
    if weight is not None and (model.known is None or hasattr(model, "scoring")):
        raise ConfigError("score slim+W needs a model with vectors of users and items that keeps the users' items")
    if hasattr(model, "scoring"):
        if share:
            raise ConfigError("a slim model already includes popularity; leave --score out")
        return model.scoring()
    config, counts = model.config, np.asarray(model.vocab_out.counts)
    if config.loss.plug.paths:
        tree = config.make("loss", RunContext(counts, config.dim, config.workers))
        raw = PathScores(model.vectors_in, model.vectors_out, tree.starts, tree.turns)
    else:
        raw = LogitScores(model.vectors_in, model.vectors_out, config.absolute_softmax)
    if weight is not None:
        learnt = (model.known,) if model.trained_on is None else (model.trained_on, model.known)
        return FusedScores(SlimScores.of(*learnt), raw, np.float32(weight))
    factor, log_noise = settled(model) if share else (1.0, None)
    if log_noise is not None:  # always None along a tree
        raw.factor, raw.addend = np.float32(factor), (share * log_noise).astype(np.float32)
    return raw


def share_of(score):
    """Return λ (float) for "raw", "corrected" or a number; ConfigError for anything else."""
    if score in (RAW, CORRECTED):
        return float(score == CORRECTED)
    share = as_number(score)
    if not math.isfinite(share):
        raise ConfigError(f"score must be raw, corrected or a number, not {score!r:.40}")
    return share


def fused_weight(score):
    """Return W (float) of "slim+W", None for any other score; ConfigError if W is not a number above 0."""
    if not str(score).startswith(FUSED):
        return None
    weight = as_number(str(score)[len(FUSED) :])
    if not 0 < weight < math.inf:
        raise ConfigError(f"score {score!r:.40} has no number above 0 after slim+; write slim+0.1, for example")
    return weight


def as_number(value):
    """Return a number or its text as float, NaN for anything else."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan


def are_items_of_one_kind(model):
    """Return whether a model's centres are also its targets, but not words: then none competes with its targets."""
    if model.vocab_out is not model.vocab:
        return False
    return hasattr(model, "scoring") or not model.config.traversal.of_words


class Scores:
    """The scoring function of a model. rows : int, how many centres to score at once"""

    rows = 256

    def tiles(self, centres):
        """Yield the same scores, float32, in tiles of targets: (first target, scores). Safe for concurrent threads."""
        yield 0, self(centres).astype(np.float32, copy=False)


class PathScores(Scores):
    """The scoring function of a model along paths of a tree: log P of every target, float32.

        log P(j | x) = Σ_v log σ(±s_v) over the path to j = Σ_v log σ(s_v) − Σ_{v to the right} s_v

    starts : int64, (n_targets + 1,); turns : int32, 2 · node, plus 1 for the right (`kernels.paths`)
    """

    def __init__(self, vectors_in, vectors_out, starts, turns):
        n_targets, nodes, rights = len(starts) - 1, turns >> 1, (turns & 1).astype(np.float32)
        shape = n_targets, max(n_targets - 1, 1)
        self.vectors_in, self.nodes_out = vectors_in, vectors_out[: shape[1]]
        self.on_path = scipy.sparse.csr_matrix((np.ones_like(rights), nodes, starts), shape)
        self.to_right = scipy.sparse.csr_matrix((rights, nodes, starts), shape)
        self.rows = max(1, _SCORES // n_targets)

    def __call__(self, centres):
        logits = self.vectors_in[centres] @ self.nodes_out.T
        agreed = -np.logaddexp(np.float32(0.0), -logits)
        return np.ascontiguousarray((self.on_path @ agreed.T - self.to_right @ logits.T).T)


class LogitScores(Scores):
    """The scoring function of a model, float32: raw dot products, or their absolute values for an absolute softmax.

    factor : float32, multiplies them; addend : float32, (n_targets,), is then added; None for both leaves them as is
    """

    factor = addend = None

    def __init__(self, vectors_in, vectors_out, absolute=False):
        self.vectors_in, self.vectors_out, self.absolute = vectors_in, vectors_out, absolute
        self._kept = np.empty((0, len(vectors_out)), np.float32)

    def __call__(self, centres):
        if len(self._kept) < len(centres):
            self._kept = np.empty((len(centres), len(self.vectors_out)), np.float32)
        return self._scores(self.vectors_in[centres], 0, self.vectors_out, self._kept[: len(centres)])

    def tiles(self, centres):
        rows = self.vectors_in[centres]
        buffer = np.empty(len(rows) * TILE, np.float32)
        for first in range(0, len(self.vectors_out), TILE):
            out = self.vectors_out[first : first + TILE]
            yield first, self._scores(rows, first, out, buffer[: len(rows) * len(out)].reshape(len(rows), len(out)))

    def _scores(self, rows, first, out, scores):
        with np.errstate(over="ignore", invalid="ignore"):  # callers report non-finite scores
            np.matmul(rows, out.T, out=scores)
        if self.absolute:
            np.abs(scores, out=scores)
        if self.addend is not None:
            scores *= self.factor
            scores += self.addend[first : first + len(out)]
        return scores


class FusedScores(Scores):
    """The scoring function of two models together, float32: scores of `slim` plus `weight` times logits."""

    def __init__(self, items, logits, weight):
        self.items, self.logits, self.weight, self.rows = items, logits, weight, min(items.rows, logits.rows)

    def __call__(self, centres):
        scores = self.items(centres)
        for first, logits in self.logits.tiles(centres):
            scores[:, first : first + logits.shape[1]] += self.weight * logits
        return scores


class SlimScores(Scores):
    """The scoring function of `fit_weights`: float32, one product of sparse matrices for all of `centres`."""

    def __init__(self, has, weights):
        self.has, self.weights = has, weights
        self.rows = max(1, min(256, _SCORES // max(1, len(weights.base))))

    @classmethod
    def of(cls, known, shown=None):
        """Fit on users' items, with default options. shown : of the same shape, optional, further items of the users"""
        has = ones_of(known)
        learnt = has[np.diff(has.indptr) > 0]  # users without items would count in the column of ones
        return cls(has if shown is None else ones_of(known + shown), fit_weights(learnt, *default_of(learnt)))

    def __call__(self, centres):
        scores = (self.has[centres] @ self.weights.items).toarray()
        scores += self.weights.base
        return scores

    def together(self, centres):
        """Return the scores of one user who has the items of all `centres`, float64, (n,)."""
        return (self(centres) - self.weights.base).sum(axis=0, dtype=np.float64) + self.weights.base


class Weights(NamedTuple):
    """items : csr_matrix, float32, (n, n), what having i adds to the score of j; base : float32, (n,), for all users"""

    items: scipy.sparse.csr_matrix
    base: np.ndarray


def fit_weights(has, neighbours, l2, workers=None):
    """Regress items on each other, in closed form and without vectors; returns sparse `Weights`.

    X has ones where a user has an item, X' = [X, 1] one more column of ones. With G = X'ᵀ X', item j is regressed on
    its K nearest neighbours N, those with the largest G_ij² / (G_ii + λ), and on the column of ones:

        (G_NN + λ I) b_j = G_Nj,        scores of a user  x'ᵀ B

    If all items are neighbours and every two occur together, this is EASE (Steck 2019); with few, its sparse relative.
    SLIM (Ning and Karypis 2011) is the same regression with other penalties.

    has : scipy.sparse matrix, (n_users, n), the users' items; amounts do not matter
    neighbours, l2 : int, at least 1; float, above 0; K and λ, with defaults in `default_of`; workers : int, threads

    ConfigError for an option out of range; InputError if no user has two items, or the item-item counts could take more
    than a quarter of the memory.
    """
    has = ones_of(has)
    check_penalty(neighbours, l2)
    lengths, n = np.diff(has.indptr).astype(np.float64), has.shape[1]
    if lengths.max(initial=0) < 2:
        raise InputError("no user has two items, so items cannot be related; check what was read")
    size = 2 * 8 * min((lengths**2).sum(), float(n) ** 2)  # upper bound for the product, held twice while it is made
    if size > memory_size() // 4:
        much = f"the item-item counts could take {size / 1e9:.0f} GB, more than a quarter of the memory"
        raise InputError(f"{much}; drop rare items with --min-count, or users with very many items")
    ones = scipy.sparse.csr_matrix(np.ones((has.shape[0], 1), np.float32))
    wide = scipy.sparse.hstack([has, ones], format="csr", dtype=np.float32)
    products = (wide.T @ wide).tocsr()
    products.sort_indices()
    parts = available_threads() if workers is None else workers
    ids, weights = solve_items(products, min(neighbours, n), l2, max(1, min(parts, n)))
    base, ids, weights = weights[:, 0].copy(), ids[:, 1:], weights[:, 1:]
    real = ids >= 0
    to = np.broadcast_to(np.arange(n)[:, None], ids.shape)[real]
    return Weights(scipy.sparse.csr_matrix((weights[real], (ids[real], to)), (n, n)), base)


def check_penalty(neighbours, l2):
    """Raise ConfigError if one of these options of `fit_weights` is out of range."""
    if not (isinstance(neighbours, Integral) and neighbours >= 1 and isinstance(l2, Real) and 0 < l2 < np.inf):
        raise ConfigError(f"neighbours must be a whole number above 0, and l2 above 0; not {neighbours!r} and {l2!r}")


def default_of(has):
    """Return the default K and λ: (200, 300) if users have many items, as with films, else (50, 30), as in shops.

    Chosen on validation parts: users have 116 items in MovieLens 1M, 74 in MovieLens 100K, 43 in UK Online Retail and
    7 in Belgian retail.
    """
    return (200, 300.0) if has.nnz > _MANY * has.shape[0] else (50, 30.0)


def popularity_scores(counts):
    """Return a scoring function that ignores the centre: log of the targets' counts, float64.

    As logits these give the targets' shares of all counts; an unseen target counts as half of the rarest one.
    """
    counts = np.asarray(counts, np.float64)
    seen = counts[counts > 0]
    scores = np.log(np.where(counts > 0, counts, 0.5 * seen.min() if len(seen) else 1.0))
    return lambda centres: np.tile(scores, (len(centres), 1))


def cooccurrence_scores(known, counts):
    """Return a scoring function of item-item counts: how often j was seen with i, ties by popularity; float64.

    known : scipy.sparse matrix, (V_in, V), how often each pair was seen in training; counts : (V,), each target
    """
    known = scipy.sparse.csr_matrix(known, dtype=np.float64, copy=True)
    share = np.asarray(counts, np.float64) / (np.sum(counts) + 1.0)
    known.eliminate_zeros()
    known.data = np.unique(known.data, return_inverse=True)[1] + 1.0  # ranks; shares, below 1, only break ties

    def score(centres):
        scores = known[centres].toarray()
        scores += share
        return scores

    return score
