"""Recommendations: the targets that score highest for one or several items or users.

For seeds i₁ … i_m the score of j is the mean of the raw logits, (1/m) Σ s_(i j) = v̄ · w_j with v̄ the seeds' mean
input vector. As a softmax it is the geometric mean of the seeds' distributions: all seeds must agree. The score of a
single seed is its logit. A seed given twice counts twice.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse

from ...data.inputs import Input
from ...data.words import as_word, several_hint
from ...ground.errors import ConfigError, InputError, UnknownNameError, check_whole
from ...ground.jit import launch
from ...kernels.dense.blas import one_blas_thread
from ...kernels.evaluation.best import LeftOut, Lists, best_of_tile
from .. import top_rows
from ..named_rows import named
from .folding import NEW_USER, amounts_of, fold_in, ids_of, unit_of
from .lookup import read_lines
from .scores import scores_of

_SCORES = 16_000_000  # of a block of centres, which is yielded when it is done
_BLOCKS = 8  # times what a thread takes at once: smallest size of a block


@dataclass(frozen=True, eq=False)
class Recommendations:
    """Recommended lists of many centres, `queries`.

    ids : int32, (n, k), rows of ``words`` (PackedStrings), best first; −1 after the end of a list
    scores : float32, (n, k); −inf after the end of a list
    """

    queries: list
    ids: np.ndarray
    scores: np.ndarray
    words: object

    def __len__(self):
        return len(self.queries)

    def __iter__(self):
        for query, ids, scores in zip(self.queries, self.ids.tolist(), self.scores.tolist(), strict=True):
            yield query, [(self.words[i], score) for i, score in zip(ids, scores, strict=True) if i >= 0]


def absent_of(model, only):
    """Return which targets may not be listed, bool (V,), as they are not among the names `only`; None for None.

    Unknown names, such as new products, are ignored; ConfigError if all names are unknown.
    """
    if only is None:
        return None
    names = named(only, model.vocab_out.words, model.config.lowercase)
    found = model.vocab_out.words.find_all([as_word(name, model.config.lowercase) for name in names])
    absent = np.ones(len(model.vocab_out), bool)
    absent[found[found >= 0]] = False
    if absent.all():
        raise ConfigError(f"only: the model knows none of the {len(names):,} names given")
    return absent


def recommend_blocks(model, centres, k, known=None, score="raw", absent=None):
    """Yield the best targets of blocks of centres: centres, int (b,); ids and scores, (b, k), as in `Recommendations`.

    ConfigError if k is below 1, InputError if scores are not finite.
    centres : ndarray, int, (n,), ids, each with its own list; score : see `scores.scores_of`
    known : scipy.sparse.csr_matrix, (n_in, n_out), optional, targets to leave out for each centre
    absent : ndarray, bool (n_out,), optional, targets to leave out for all, from `absent_of`
    """
    check_whole("k", k)
    score, n_targets = scores_of(model, score), len(model.vocab_out)
    one_kind, k = model.vocab_out is model.vocab, min(k, n_targets)
    block = score.rows * max(_BLOCKS, _SCORES // (score.rows * n_targets))
    for start in range(0, len(centres), block):
        part = centres[start : start + block]
        own = part.astype(np.int64) if one_kind else np.full(len(part), -1)
        left_out, lists = LeftOut.of(own, None if known is None else known[part]), Lists.empty(len(part), k)

        def work(n, part=part, left_out=left_out, lists=lists):
            some = slice(n * score.rows, (n + 1) * score.rows)
            for first, scores in score.tiles(part[some]):
                if absent is not None:
                    scores[:, absent[first : first + scores.shape[1]]] = -np.inf
                best_of_tile(scores, first, left_out.rows(some), lists.rows(some))

        with one_blas_thread():
            launch(work, -(-len(part) // score.rows))
        if not lists.sound.all():
            raise InputError("some scores are not finite: the vectors are too long, the model has diverged")
        yield part, lists.ids, lists.scores


def read_queries(model, path=None):
    """Return the ids of the names in a file, one per line, int64 (n,), and the unknown names (list).

    Without a file the ids are all centres. InputError if the file cannot be read, or names no known centre.
    """
    if path is None:
        return np.arange(len(model.vocab)), []
    names = [as_word(line, model.config.lowercase) for _, line in read_lines(path, of_names=True)]
    centres = model.vocab.words.find_all(names).astype(np.int64)
    known = centres >= 0
    if not known.any():
        such = f"such as {names[0]!r:.60}{several_hint(names, model.vocab.words)}"
        raise InputError(f"{path}: none of its {len(names):,} names is known to the model, {such}")
    return centres[known], [name for name, found in zip(names, known.tolist(), strict=True) if not found]


UNKNOWN = "error", "skip", "popular"  # what an unknown name gets


def popular(model, k, known, absent=None):
    """Return the most popular targets, for unknown names: ids, int32 (n, k), and log shares, float32.

    known : csr_matrix, (n, n_targets), targets to leave out for each; shorter lists end with −1 and −∞
    absent : bool, (n_targets,), optional, targets to leave out for all
    """
    counts = np.asarray(model.vocab_out.counts, np.float64)
    k = min(k, len(counts))
    shares = np.log(np.maximum(counts, 1.0) / counts.sum()).astype(np.float32)
    allowed = counts if absent is None else np.where(absent, -1.0, counts)
    best = top_rows(allowed, min(k + int(np.diff(known.indptr).max(initial=0)), len(counts))).astype(np.int32)
    best = best[allowed[best] >= 0]
    ids, scores = np.full((known.shape[0], k), -1, np.int32), np.full((known.shape[0], k), -np.inf, np.float32)
    for row, has in enumerate(np.split(known.indices, known.indptr[1:-1])):
        own = best[~np.isin(best, has)][:k]
        ids[row, : len(own)], scores[row, : len(own)] = own, shares[own]
    return ids, scores


def recommend_many(
    model, queries=None, k=10, known=None, score="raw", unknown="error", strange=(), had=None, only=None
):
    """Return the best targets of each of many centres as `Recommendations`.

    queries : sequence of str, optional, names of centres; all of them if None; the rest as for `recommend_blocks`
    unknown : {"error", "skip", "popular"}, for unknown names: UnknownNameError, no list, or the most popular targets
    strange : sequence of str, further names to treat as unknown
    had : callable, optional, from unknown names (list of str) to the targets to leave out for each, csr_matrix
    only : sequence of str, optional, the targets that may be listed
    """
    vocab, lowercase = model.vocab, model.config.lowercase
    if unknown not in UNKNOWN:
        raise ConfigError(f"unknown must be one of {', '.join(UNKNOWN)}, not {unknown!r:.60}")
    if queries is None:
        names, rows = list(vocab.words), np.arange(len(vocab))
    else:
        names = named(queries, vocab.words, lowercase)
        words = [as_word(name, lowercase) for name in names]
        rows = (ids_of(model, names) if unknown == "error" else vocab.words.find_all(words)).astype(np.int64)
    if not names:
        raise ConfigError("recommending needs at least one name; got none")
    without = np.isin(rows, vocab.words.find_all(strange)) & (rows >= 0)
    if unknown == "error" and without.any():
        raise UnknownNameError(f"{names[int(np.argmax(without))]!r} has no item that the model knows")
    rows[without] = -1
    if unknown == "skip":
        names, rows = [name for name, row in zip(names, rows.tolist(), strict=True) if row >= 0], rows[rows >= 0]
    check_whole("k", k)
    absent = absent_of(model, only)
    ids, scores = (np.empty((len(rows), min(k, len(model.vocab_out))), kind) for kind in (np.int32, np.float32))
    others = np.flatnonzero(rows < 0)
    if len(others):
        nothing = scipy.sparse.csr_matrix((len(others), len(model.vocab_out)))
        has = nothing if had is None else had([names[i] for i in others.tolist()])
        ids[others], scores[others] = popular(model, k, has, absent)
    there, first = np.flatnonzero(rows >= 0), 0
    for some, *best in recommend_blocks(model, rows[there], k, known, score, absent):
        ids[there[first : first + len(some)]], scores[there[first : first + len(some)]] = best
        first += len(some)
    return Recommendations(names, ids, scores, model.vocab_out.words)


def recommend(model, seeds, k=10, known=None, score="raw", only=None):
    """Return the targets that score highest for the seeds, best first: list of (str, float).

    Seeds are left out if centres and targets are the same kind of thing.

    seeds : str or sequence of str, names of centres; a whole number is a name if that exists, else a row, unless most
        names are whole numbers
    known : scipy.sparse matrix, (n_in, n_out), optional, targets to leave out if known for any of the seeds
    score : see `scores.scores_of`; only : sequence of str, optional, the targets that may be listed
    """
    check_whole("k", k)
    ids = ids_of(model, seeds)
    if not len(ids):
        raise ConfigError("recommending needs at least one item or user; got none")
    scoring = scores_of(model, score)
    scores = scoring.together(ids) if hasattr(scoring, "together") else scoring(ids).mean(axis=0, dtype=np.float64)
    if model.vocab_out is model.vocab:
        scores[ids] = -np.inf
    if known is not None:
        scores[known[np.unique(ids)].indices] = -np.inf
    if (absent := absent_of(model, only)) is not None:
        scores[absent] = -np.inf
    rows = top_rows(scores, min(k, int(np.isfinite(scores).sum())))
    return [(model.vocab_out.words[row], float(scores[row])) for row in rows]


def recommend_new(model, items, k=10, score="raw", only=None):
    """Return the items that score highest for a new user, without those that the user has.

    items : str, sequence of str, or dict of str -> amount, the user's items, whole numbers as in `recommend`; the rest
        as for `recommend`
    """
    names = named(items, model.vocab_out.words, model.config.lowercase)
    if not names:
        raise ConfigError("recommending to a new user needs at least one item of that user; got none")
    ids_of(model, names, of_items=True)  # raises for an unknown one
    amounts = amounts_of(items, len(names), unit_of(model)).tolist()
    rows = [(NEW_USER, item, amount) for item, amount in zip(names, amounts, strict=True)]
    folded = fold_in(model, Input("pairs", rows, weight_col=3))
    return recommend(folded.model, NEW_USER, k, folded.known, score, only)
