"""What is ranked: logits of a model, and baselines that know popularity or counts of co-occurrence only.

A scoring function takes centre ids, int (b,), and returns the scores of all targets, float32 or float64 (b, V). The
caller may change what it gets, and the next call may write over it.

That of a model also has `tiles`, which goes through the same scores, float32, some targets at a time, and yields (first
of these targets, their scores); threads may do so side by side. `rows` is how many centres to ask it for at once.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.sparse

from ...ground.errors import ConfigError
from ...ground.registry import RunContext
from ...kernels.dense.blas import TILE
from .correction import corrected, share_of

FUSED = "slim+"
_PATH_SCORES = 4_000_000  # held at a time


def scores_of(model, score="raw"):
    """Return the scoring function of a `run.model.Model`: its logits, or the log-probabilities along its tree.

    score : "raw", "corrected" for popularity, or the share λ of the correction; see `correction`. "slim+W" adds W times
        the raw scores to those of `slim`, learnt from what the model's users had.
    """
    weight = fused_weight(score)
    if weight is not None:
        return _fused(model, weight)
    share = share_of(score)
    if hasattr(model, "scoring"):
        if share:
            raise ConfigError("a slim model knows popularity already; leave --score out")
        return model.scoring()
    return corrected(model, _raw_scores(model), share) if share else _raw_scores(model)


def fused_weight(score):
    """Return W (float) of "slim+W", None for any other score; ConfigError if W is no number above 0."""
    if not str(score).startswith(FUSED):
        return None
    try:
        weight = float(str(score)[len(FUSED) :])
    except ValueError:
        weight = math.nan
    if not 0 < weight < math.inf:
        raise ConfigError(f"score {score!r:.40} has no number above 0 behind slim+, as slim+0.1 has")
    return weight


def _fused(model, weight):
    if model.known is None or hasattr(model, "scoring"):
        raise ConfigError("score slim+W needs a model with vectors of users and items that keeps what the users had")
    from .slim import SlimScores

    return FusedScores(SlimScores.of(model.known), _raw_scores(model), np.float32(weight))


def are_items_of_one_kind(model):
    """Tell whether a model's centres are its targets, and no words: then none is a rival of its own targets."""
    if model.vocab_out is not model.vocab:
        return False
    return hasattr(model, "scoring") or not model.config.traversal.of_words


def are_dot_products(model):
    """Return whether a model's raw scores are nothing but dot products of its two matrices."""
    return not (_has_paths(model) or model.config.absolute_softmax)


def _has_paths(model):
    return model.config.loss.plug.paths


def _raw_scores(model):
    config, counts = model.config, np.asarray(model.vocab_out.counts)
    if _has_paths(model):
        tree = config.make("loss", RunContext(counts, config.dim, config.workers))
        return PathScores(model.vectors_in, model.vectors_out, tree.starts, tree.turns)
    return LogitScores(model.vectors_in, model.vectors_out, config.absolute_softmax)


class PathScores:
    """The scoring function of a model along paths of a tree: log P of every target, which sum to one; float32.

        log P(j | x) = Σ_v log σ(±s_v) over the path to j = Σ_v log σ(s_v) − Σ_{v to the right} s_v

    starts : int64, (n_targets + 1,); turns : int32, 2 · node and 1 more to the right (`kernels.paths`)
    """

    def __init__(self, vectors_in, vectors_out, starts, turns):
        n_targets, nodes, rights = len(starts) - 1, turns >> 1, (turns & 1).astype(np.float32)
        shape = n_targets, max(n_targets - 1, 1)
        self.vectors_in, self.nodes_out = vectors_in, vectors_out[: shape[1]]
        self.on_path = scipy.sparse.csr_matrix((np.ones_like(rights), nodes, starts), shape)
        self.to_right = scipy.sparse.csr_matrix((rights, nodes, starts), shape)
        self.rows = max(1, _PATH_SCORES // n_targets)

    def __call__(self, centres):
        logits = self.vectors_in[centres] @ self.nodes_out.T
        agreed = -np.logaddexp(np.float32(0.0), -logits)
        return np.ascontiguousarray((self.on_path @ agreed.T - self.to_right @ logits.T).T)

    def tiles(self, centres):
        yield 0, self(centres).astype(np.float32, copy=False)  # every node is on many paths


class LogitScores:
    """The scoring function of a model, float32: raw dot products, or their size for an absolute softmax."""

    rows = 256

    def __init__(self, vectors_in, vectors_out, absolute=False):
        self.vectors_in, self.vectors_out, self.absolute = vectors_in, vectors_out, absolute
        self._kept = np.empty((0, len(vectors_out)), np.float32)

    def __call__(self, centres):
        if len(self._kept) < len(centres):
            self._kept = np.empty((len(centres), len(self.vectors_out)), np.float32)
        return self._products(self.vectors_in[centres], self.vectors_out, self._kept[: len(centres)])

    def tiles(self, centres):
        rows = self.vectors_in[centres]
        buffer = np.empty(len(rows) * TILE, np.float32)
        for first in range(0, len(self.vectors_out), TILE):
            out = self.vectors_out[first : first + TILE]
            yield first, self._products(rows, out, buffer[: len(rows) * len(out)].reshape(len(rows), len(out)))

    def _products(self, rows, out, scores):
        with np.errstate(over="ignore", invalid="ignore"):  # whoever ranks tells what is no number
            np.matmul(rows, out.T, out=scores)
        return np.abs(scores, out=scores) if self.absolute else scores


class FusedScores(NamedTuple):
    """The scoring function of two models together, float32: scores of `slim` and `weight` times logits."""

    items: Callable
    logits: Callable
    weight: np.float32

    @property
    def rows(self):
        return min(self.items.rows, self.logits.rows)

    def __call__(self, centres):
        scores = self.items(centres)
        for first, logits in self.logits.tiles(centres):
            scores[:, first : first + logits.shape[1]] += self.weight * logits
        return scores

    def tiles(self, centres):
        yield 0, self(centres)


def popularity_scores(counts):
    """Return the scoring function that knows nothing of the centre: log of the targets' counts, float64.

    As logits these are the targets' shares of all counts; one never seen counts as half of the least seen one.
    """
    counts = np.asarray(counts, np.float64)
    seen = counts[counts > 0]
    floor = 0.5 * seen.min() if len(seen) else 1.0
    scores = np.log(np.where(counts > 0, counts, floor))
    return lambda centres: np.tile(scores, (len(centres), 1))


def cooccurrence_scores(known, counts):
    """Return the scoring function of item-item counts: how often j was seen with i, equal ones by popularity; float64.

    Scores are the places of these numbers among all that occur: what counts is their order.

    Parameters
    ----------
    known : scipy.sparse matrix, (V_in, V)
        How often each pair was seen in training.
    counts : (V,)
        How often each target was seen.
    """
    known, share = scipy.sparse.csr_matrix(known, dtype=np.float64, copy=True), _shares(counts)
    known.eliminate_zeros()
    known.data = np.unique(known.data, return_inverse=True)[1] + 1.0  # places; shares, below 1, only decide ties

    def score(centres):
        scores = known[centres].toarray()
        scores += share
        return scores

    return score


def history_memory(known):
    """Return an upper bound of the bytes that counts of items together take, of histories as rows (int)."""
    known = scipy.sparse.csr_matrix(known)
    lengths = np.diff(known.indptr).astype(np.float64)
    return int(min((lengths**2).sum(), float(known.shape[1]) ** 2) * 8)


def _shares(counts):
    return np.asarray(counts, np.float64) / (np.sum(counts) + 1.0)
