"""Rank held-out pairs with a model and with counting baselines: is the model worth having?

>>> from w2vneg import Word2Vec
>>> evaluation = Word2Vec.load("model").evaluate_ranking("split/test.tsv", exclude_known="split/train.tsv")
>>> evaluation.model.mpr, evaluation.results["popularity"].mpr

The baselines are popularity, and `slim` for users and items or co-occurrence counts for items of one kind. They are
fitted on the training part of the same split and ranked like the model.
"""

import math
import os
from dataclasses import asdict, dataclass, replace
from functools import partial

import numpy as np
import scipy.sparse

from ...data.encoded.pairs import as_trained, read_pairs_file
from ...data.inputs import Input
from ...data.readers.frames import InMemoryTable
from ...data.vocab import Vocabulary
from ...data.words import as_word
from ...ground.errors import ConfigError, InputError
from .folding import with_users
from .metrics import METRICS
from .ranking import KS, RankingResult, check_settings, evaluate_ranking
from .scores import SlimScores, are_items_of_one_kind, cooccurrence_scores, fused_weight, popularity_scores, scores_of

STANDINGS = BETTER, WORSE, ALIKE = "better than", "worse than", "not distinguishable from"


def standing(low, high):
    """Return the one of `STANDINGS` for the ends of a difference's interval (see `RankingResult.above`)."""
    return BETTER if low > 0 else WORSE if high < 0 else ALIKE


MODEL, POPULARITY, COOCCURRENCE, SLIM = "model", "popularity", "item-item co-occurrence", "slim"


@dataclass(frozen=True)
class Coverage:
    """How much of some files of pairs a model knows: read, unknown : int, rows, and those with an unknown item;
    evaluated, weight : float, known share of the rows, and of the weight; columns : how the first file was read
    """

    files: list
    read: int
    unknown: int
    evaluated: float
    weight: float
    columns: tuple = ()


@dataclass(frozen=True)
class RankingEvaluation:
    """results : dict of str -> RankingResult, of the model and of each baseline, by the names above
    test, known, train : Coverage of the pairs ranked, left out of the catalogue, and used by the baselines; or None
    options : dict of the settings; missing : dict of baseline -> why it is missing
    own_known : bool, whether the training items of the model's users were left out of the catalogue
    trained : int, distinct test pairs that the model was trained on, if it keeps its pairs; shown : int, distinct test
        pairs that are in `fold_in`
    """

    results: dict[str, RankingResult]
    test: Coverage
    known: Coverage | None
    train: Coverage | None
    options: dict
    missing: dict
    own_known: bool = False
    trained: int = 0
    shown: int = 0

    @property
    def model(self) -> RankingResult:
        """RankingResult of the model itself."""
        return self.results[MODEL]

    def differences(self, baseline):
        """Return by how much the model beats a baseline: ``"precision@5"`` -> result of `RankingResult.above`."""
        other, own = self.results[baseline], self.model.by_name()
        names = [n for n in own if n in self.model.sums and n in other.sums and METRICS[n.partition("@")[0]].sign]
        return {name: self.model.above(other, name) for name in names}

    def beside(self, baseline):
        """Return how the model compares with a baseline: ``"precision@5"`` -> one of `STANDINGS`."""
        return {name: standing(*ends) for name, (_, *ends) in self.differences(baseline).items()}

    def as_dict(self):
        results = {name: one.as_dict() for name, one in self.results.items()}
        found = {name: self.differences(name) for name in list(results)[1:]}
        apart = {  # an infinite end becomes None, as JSON has no infinity
            name: {figure: [x if math.isfinite(x) else None for x in one] for figure, one in of.items()}
            for name, of in found.items()
        }
        return asdict(replace(self, results={})) | {"results": results, "differences": apart}


def evaluate_with_baselines(
    model, test, *, exclude_known=None, train=(), baselines=True, score="raw", fold_in=None, rank_itself=False,
    note=None, **settings,
):  # fmt: skip
    """Rank held-out pairs with a model and with baselines; returns a `RankingEvaluation`.

    Tables are str, Path, a sequence of them, a table in memory or Input.

    test : table, pairs (item, target[, weight]) that were not trained on
    exclude_known : table, optional, pairs to leave out of each centre's catalogue, usually the training part. None
        leaves out what the model's users had in training, () nothing.
    train : table, data of the baselines, if not `exclude_known`; without both, popularity is by the model's counts
    fold_in : table, optional, (user, item), for the users' vectors (`folding.fold_in`); left out of their lists
    note : callable, optional, called with a line on how `fold_in` was read
    rank_itself : bool, among items of one kind, a centre competes with its own targets, as in the papers
    settings : ks, samples, bootstrap, seed of `evaluate_ranking`; for score see `scores_of`
    """
    settings = {"ks": KS, "samples": 100, "bootstrap": 1000, "seed": 1} | settings
    settings["ks"] = check_settings(**settings)
    train = _as_paths(train)
    trained, folded = model, with_users(model, fold_in, note)
    model, shown = folded.model, folded.known
    tests = _as_paths(test)
    if not tests:
        raise ConfigError("name the held-out pairs to rank: at least one file or table")
    held, tested = _read(tests, model)
    n_trained = _trained_on(trained, model.vocab, *held[:2])
    n_shown = 0 if shown is None else in_both(shown, *held[:2])
    own = exclude_known is None
    known, left_out = (model.known, None) if own else _matrix(_as_paths(exclude_known), model)
    counted, learnt = (known, left_out) if not train else _matrix(train, model, liked=True)
    if folded.users is not None and own and not train:  # the folded-in pairs are not training data
        counted = model.trained_on
    known = _together(known, shown)
    seen = model.vocab_out.counts if counted is None else np.asarray(counted.sum(axis=0)).ravel()
    one_kind = are_items_of_one_kind(model) and not rank_itself
    options = {"pairs": held, "n_targets": len(model.vocab_out), "known": known, "counts": seen, "one_kind": one_kind}
    rank = partial(evaluate_ranking, **options, **settings)
    logits = fused_weight(score) is None and not hasattr(model, "scoring")
    results, missing = {MODEL: rank(scores_of(model, score), logits=logits)}, {}
    if baselines:
        results[POPULARITY] = rank(popularity_scores(seen))
        name = SLIM if model.config.rectangular else COOCCURRENCE
        try:
            if counted is None:
                raise InputError("it needs the training part, which is not given")
            if name == COOCCURRENCE and not results[MODEL].known_held_out and _is_within(counted, known):
                why = "the pairs that it counts are left out of the catalogue; without them, it equals popularity"
                raise InputError(why)
            scores = SlimScores.of(counted, shown) if name == SLIM else cooccurrence_scores(counted, seen)
            results[name] = rank(scores, logits=False)
        except InputError as error:  # no user has two items, too many do, or no item is known
            missing[name] = str(error)
    settings |= {"ks": list(settings["ks"]), "score": score}
    own = own and model.known is not None
    return RankingEvaluation(results, tested, left_out, learnt, settings, missing, own, n_trained, n_shown)


def _trained_on(model, vocab, centres, targets):
    """Return how many of the pairs are among a model's training pairs (int). vocab : Vocabulary of the centres"""
    if model.known is None:
        return 0
    distinct, place = np.unique(centres, return_inverse=True)
    rows = model.vocab.words.find_all([vocab.words[i] for i in distinct.tolist()])[place]
    there = rows >= 0
    return in_both(model.known, rows[there], targets[there])


def in_both(matrix, centres, targets):
    """Return how many distinct pairs are also in a sparse matrix (int)."""
    pairs = scipy.sparse.coo_matrix((np.ones(len(centres)), (centres, targets)), matrix.shape).tocsr()
    return pairs.multiply(matrix.astype(bool)).nnz


def read_known_of(strange, files, model, more=None, note=None):
    """Return known pairs, and a function from names, list of str (n,), to what they have, csr_matrix (n, n_targets).

    Known pairs are CSR, float64 (n_in, n_out), with the weights of repeated pairs summed; None if there are none.

    strange : sequence of str, names that the model may not know
    files : path, sequence of them, table in memory or Input; None: what the model's users had in training
    more : csr_matrix, optional, pairs to add; note : callable, optional, called with a line on how columns were read
    """
    lowercase, vocab = model.config.lowercase, model.vocab
    words = {word: 1 for name in strange if (word := as_word(name, lowercase)) and word not in vocab}
    if words and files is not None:
        vocab = vocab.grown(Vocabulary.from_counts(words))
    if files is None:
        if note is not None and model.known is None and more is None and model.vocab_out is not model.vocab:
            note("This model does not keep its users' items, so their lists may contain them; see --exclude-known.")
        pairs = own = model.known
    else:
        pairs, coverage = _matrix(_as_paths(files), model, vocab=vocab)
        if note is not None and coverage is not None:
            note(f"{', '.join(coverage.files)}: {'; '.join(coverage.columns)}")
        own = pairs if pairs is None or vocab is model.vocab else pairs[vocab.words.find_all(model.vocab.words)]

    def had(names):
        rows = vocab.words.find_all([as_word(name, lowercase) for name in names])
        there, shape = np.flatnonzero(rows >= 0), (len(names), len(model.vocab_out))
        if pairs is None or not len(there):
            return scipy.sparse.csr_matrix(shape)
        chosen = scipy.sparse.csr_matrix((np.ones(len(there)), (there, rows[there])), (len(names), len(vocab)))
        return (chosen @ pairs).tocsr()

    return _together(own, more), had


def _together(pairs, more):
    """Return the sum of two matrices of pairs; either may be None."""
    return more if pairs is None else pairs if more is None else (pairs + more).tocsr()


def _is_within(counted, known):
    """Return whether all pairs of a matrix are in another, which may be None."""
    pairs = counted.astype(bool)
    return known is not None and pairs.multiply(known.astype(bool)).nnz == pairs.nnz


def _as_paths(files):
    paths_or_tables = str | os.PathLike | InMemoryTable
    if isinstance(files, str | os.PathLike | Input):
        files = [files]
    elif not isinstance(files, list | tuple) or not all(isinstance(file, paths_or_tables) for file in files):
        return [InMemoryTable.of_pairs(files)]
    return [os.fsdecode(file) if isinstance(file, os.PathLike) else file for file in files]


def _read(files, model, needed=True, liked=True, vocab=None):
    """Return centres, targets and weights of the pairs, and their `Coverage`.

    needed : bool, see `read_pairs_file`; liked : bool, see `as_trained`; vocab : of the centres, if not the model's
    """
    names = {"vocab": vocab or model.vocab, "vocab_out": model.vocab_out, "lowercase": model.config.lowercase}
    read = partial(read_pairs_file, **names, needed=needed)
    parts = [as_trained(file, model.origin.table, read, liked) for file in files]
    pairs = tuple(np.concatenate([getattr(part, name) for part in parts]) for name in ("centres", "targets", "weights"))
    n_read, unknown = sum(part.n_read for part in parts), sum(part.n_unknown for part in parts)
    weight = float(pairs[2].sum()) / (sum(part.weight_read for part in parts) or 1.0)
    evaluated = (n_read - unknown) / max(1, n_read)
    return pairs, Coverage(list(map(str, files)), n_read, unknown, evaluated, weight, parts[0].columns)


def _matrix(files, model, liked=False, vocab=None):
    """Return known pairs as CSR, and their `Coverage`; None twice if there are none, as in an empty table.

    liked : bool, see `as_trained`; low ratings make pairs known, too; vocab : of the centres, if not the model's
    """
    tables = [file.files[0] if isinstance(file, Input) else file for file in files]
    files = [file for file, one in zip(files, tables, strict=True) if not isinstance(one, InMemoryTable) or len(one)]
    if not files:
        return None, None
    (centres, targets, weights), coverage = _read(files, model, needed=False, liked=liked, vocab=vocab)
    shape = len(vocab or model.vocab), len(model.vocab_out)
    return scipy.sparse.coo_matrix((weights, (centres, targets)), shape).tocsr(), coverage
