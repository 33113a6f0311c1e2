"""How strong the L2 penalty is where nobody says: the run is tried on nine tenths of its pairs, each time with another.

With a few items of each user, rows may learn these by heart, and lists are then worse than popularity's. How strong a
penalty keeps them from it depends on how much there is to learn, which neither the length of histories nor any other
count says. So a tenth of the pairs is held out, or up to three in turn; the penalty of the preset is tried, then
stronger ones, as long as each is better than those before.
"""

import dataclasses
import math
import time

import numpy as np

from ..config.options import l2_strengths, penalties_to_try
from ..data.encoded import EncodedPairs
from ..data.encoded.pairs import HeldOut
from ..data.inputs import Input, encode_input
from ..ground.errors import W2vnegError
from ..ground.events import PenaltyChosen
from ..objectives.presets import preset_of
from .trainer import Trainer

METRIC = "ndcg@10"
_LONG = 40  # pairs a user, where the preset's was best in all data
_FEWEST, _MOST = 2_000, 300_000  # pairs: fewer say little, and of more those of some users are enough
_HELD, _TOO_FEW = 5_000, 100  # pairs to find, of as many users at most: where a tenth is less, other tenths follow
_PARTS, _FOLDS = 10, 3  # tenths, and how many of them at most


def is_open(given, config, pairs):
    """Tell whether the penalty is to be chosen: a preset like top-n on users and items, few pairs a user, and no --l2.

    given : TrainConfig, with what was chosen by hand; config : RunSpec of it; pairs : encoded data of any kind
    """
    if given.l2 is not None or config.engine != "local" or not isinstance(pairs, EncodedPairs):
        return False
    preset = preset_of(config.preset or config.loss.name, of_words=False)
    n_pairs, n_users = pairs.matrix.nnz, np.count_nonzero(np.diff(pairs.matrix.indptr))
    few = _FEWEST <= n_pairs < _LONG * n_users and not config.source.pairs_per_epoch
    return preset.by_pairs and config.rectangular and few and any(l2_strengths(config.l2))


def most_tried(config, pairs):
    """Return how many whole runs choosing takes at most, about (float)."""
    n_pairs = pairs.matrix.nnz
    return len(penalties_to_try(config.l2)) * _folds(n_pairs) * (1 - 1 / _PARTS) * min(1.0, _MOST / n_pairs)


def choose_l2(config, pairs, of_command=False):
    """Return the event `PenaltyChosen`, with the penalty that is best by NDCG@10 of held-out pairs.

    config : RunSpec; pairs : EncodedPairs; of_command : bool, as of `Trainer.train`
    None if too few of what is held out is known to the rest, or the run fails with the preset's penalty
    KeyboardInterrupt after Ctrl-C
    """
    begun, figures, best = time.perf_counter(), {}, None
    splits = list(_splits(pairs.matrix, config.seed))
    if sum(len(validation.held) for _, validation in splits) < _TOO_FEW:
        return None
    for l2 in penalties_to_try(config.l2):
        tried = dataclasses.replace(config, l2=l2)
        try:
            models = [(validation, _trained(tried, train, of_command)) for train, validation in splits]
            figures[l2] = float(np.mean([validation.figures(model)[METRIC] for validation, model in models]))
        except W2vnegError:  # it diverges
            break
        if best is not None and figures[l2] <= figures[best]:
            break
        best = l2
    if best is None:
        return None
    popularity = float(np.mean([validation.of_popularity(model) for validation, model in models]))
    return PenaltyChosen(best, METRIC, figures, popularity, time.perf_counter() - begun)


def _trained(config, pairs, of_command):
    trainer = Trainer(pairs, config)
    trainer.train(of_command=of_command)
    if trainer.stopped or not trainer.complete:
        raise KeyboardInterrupt
    return trainer.model


def _folds(n_pairs):
    return min(_FOLDS, math.ceil(_HELD * _PARTS / min(n_pairs, _MOST)))


def _splits(matrix, seed):
    """Yield nine tenths of the pairs as EncodedPairs, and the `Validation` on the last one; other tenths if few."""
    from scipy.sparse import coo_matrix  # no text needs these two

    from .validation import Validation

    rng = np.random.default_rng(seed)
    if matrix.nnz > _MOST:
        some = rng.permutation(matrix.shape[0])
        n = np.searchsorted(np.cumsum(np.diff(matrix.indptr)[some]), _MOST)
        matrix = matrix[np.sort(some[: max(1, n)])]
    matrix = matrix.tocoo()
    parts = rng.integers(0, _PARTS, matrix.nnz)
    for fold in range(_folds(matrix.nnz)):
        held = parts == fold
        ends = matrix.row[~held], matrix.col[~held]
        kept = coo_matrix((matrix.data[~held], ends), matrix.shape)
        train = encode_input(Input("pairs", kept, rectangular=True), min_count=1)
        users = _places(train.vocab, matrix.row[held], matrix.shape[0])
        items = _places(train.vocab_out, matrix.col[held], matrix.shape[1])
        known = (users >= 0) & (items >= 0)
        known &= np.isin(users, rng.permutation(np.unique(users[known]))[:_HELD])
        n = int(known.sum())
        if n:
            yield train, Validation(HeldOut(users[known], items[known], np.ones(n), 0, n), metric=METRIC)


def _places(vocab, numbers, n):
    """Return where numbers below n stand in a vocabulary of such: ndarray, int64; -1 of one that is not there."""
    places = np.full(n, -1)
    places[np.array(vocab.words, np.int64)] = np.arange(len(vocab))
    return places[numbers]
