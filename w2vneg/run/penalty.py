"""How strong the L2 penalty is where nobody says: the run is tried on nine tenths of its pairs, each time with another.

With a few items of each user, rows may learn these by heart, and lists are then worse than popularity's. How strong a
penalty keeps them from it depends on how much there is to learn, which neither the length of histories nor any other
count says. So a tenth of the pairs is held out, or up to three in turn. The penalty of the preset is tried, and 1.4
times as much; then twice as much if that was better, else 1.2 times.
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
_FEWEST, _MOST = 2_000, 200_000  # pairs: fewer say little, and of more those of some users are enough
_HELD, _TOO_FEW = 5_000, 100  # pairs to find, of as many users at most and so many at least; other tenths follow
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


def most_tried(pairs):
    """Return how many whole runs choosing takes, about (float)."""
    n_pairs = pairs.matrix.nnz
    return 3 * _folds(n_pairs) * (1 - 1 / _PARTS) * min(1.0, _MOST / n_pairs)


def choose_l2(config, pairs, of_command=False, followed=None):
    """Return the event `PenaltyChosen`, with the penalty that is best by NDCG@10 of held-out pairs.

    One that is much stronger than the preset's has to be better, over users, by more than the standard error. The
    preset's stays, and there are no figures, if too few users can be looked at, or the run fails with it.

    config : RunSpec; pairs : EncodedPairs; of_command : bool, as of `Trainer.train`
    followed : Validation, optional, by which the run itself will be evaluated: so each is, on what is held out here
    KeyboardInterrupt after Ctrl-C
    """
    begun, users, popular = time.perf_counter(), {}, []
    splits = list(_splits(pairs.matrix, config.seed, followed))

    def better(l2, errors=1.0):
        """Try a penalty; tell whether it is better than the weakest, by more than so many standard errors."""
        own, found = dataclasses.replace(config, l2=l2), []
        try:
            for train, validation in splits:
                model = _trained(own, train, validation if followed else None, of_command)
                validation.figures(model, each=lambda centres, sums: found.append(sums[METRIC]))
                if l2 == weak:
                    popular.append(validation.of_popularity(model))
        except W2vnegError:  # it diverges
            return False
        users[l2] = np.concatenate(found)
        gains = users[l2] - users[weak]
        return gains.mean() > errors * gains.std() / math.sqrt(len(gains))

    weak, between, strong, strongest = penalties_to_try(config.l2)
    if sum(len(np.unique(validation.held.centres)) for _, validation in splits) >= _TOO_FEW:
        better(weak)
    if weak not in users:
        return PenaltyChosen(weak, METRIC, {}, 0.0, time.perf_counter() - begun)
    taken = [weak]
    if better(strong):
        taken += [strong, strongest] if better(strongest) else [strong]
    elif better(between, errors=0.0):  # it is near, and harms little
        taken.append(between)
    figures = {l2: float(found.mean()) for l2, found in users.items()}
    best = max(taken, key=figures.get)
    return PenaltyChosen(best, METRIC, figures, float(np.mean(popular)), time.perf_counter() - begun)


def _trained(config, pairs, validation, of_command):
    trainer = Trainer(pairs, config, validation=validation)
    trainer.train(of_command=of_command)
    if trainer.stopped or not trainer.complete:
        raise KeyboardInterrupt
    return trainer.model


def _folds(n_pairs):
    return min(_FOLDS, math.ceil(_HELD * _PARTS / min(n_pairs, _MOST)))


def _splits(matrix, seed, followed=None):
    """Yield nine tenths of the pairs as EncodedPairs, and the `Validation` on the last one; other tenths if few."""
    from scipy.sparse import coo_matrix  # no text needs these two

    from .validation import Validation

    rng, how = np.random.default_rng(seed), {"patience": followed.patience, "every": followed.every} if followed else {}
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
        if n := int(known.sum()):
            yield train, Validation(HeldOut(users[known], items[known], np.ones(n), 0, n), metric=METRIC, **how)


def _places(vocab, numbers, n):
    """Return where numbers below n stand in a vocabulary of such: ndarray, int64; -1 of one that is not there."""
    places = np.full(n, -1)
    places[np.array(vocab.words, np.int64)] = np.arange(len(vocab))
    return places[numbers]
