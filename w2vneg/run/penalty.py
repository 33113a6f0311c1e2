"""Choose the L2 penalty when none is given, by training on nine tenths of the pairs with one penalty after another.

With few items per user, rows may memorise them, and lists are then worse than popularity's. The penalty that prevents
this depends on how much there is to learn, which neither the length of histories nor any other count shows. So one
tenth of the pairs is held out, or up to three tenths in turn. The preset's penalty is tried first, then 1.4 times as
much; then twice as much if that was better, else 1.2 times.
"""

import dataclasses
import math
import time

import numpy as np

from ..config.options import l2_strengths, penalties_to_try
from ..data.encoded import EncodedPairs
from ..data.encoded.pairs import HeldOut, some_rows
from ..data.inputs import Input, encode_input
from ..ground.errors import W2vnegError
from ..ground.events import PenaltyChosen
from ..objectives.presets import preset_of
from .trainer import Trainer

METRIC = "ndcg@10"
_LONG = 40  # pairs per user, from which the preset's penalty was best on all data
_FEWEST, _MOST = 2_000, 200_000  # pairs: fewer are inconclusive; of more, those of some users suffice
_HELD, _TOO_FEW = 5_000, 100  # held-out pairs wanted, also the most users; the fewest users
_PARTS, _FOLDS = 10, 3  # tenths, and the most that are held out in turn


def is_open(given, config, pairs):
    """Return whether the penalty should be chosen: a preset like top-n, users and items, few pairs per user, no --l2.

    given : TrainConfig, with the options set explicitly; config : its RunSpec; pairs : encoded data of any kind
    """
    if given.l2 is not None or config.engine != "local" or not isinstance(pairs, EncodedPairs):
        return False
    preset = preset_of(config.preset or config.loss.name, of_words=False)
    n_pairs, n_users = pairs.matrix.nnz, np.count_nonzero(np.diff(pairs.matrix.indptr))
    few = _FEWEST <= n_pairs < _LONG * n_users and not config.source.pairs_per_epoch
    return preset.by_pairs and config.rectangular and few and any(l2_strengths(config.l2))


def most_tried(pairs):
    """Return the approximate cost of choosing, in whole runs (float)."""
    n_pairs = pairs.matrix.nnz
    return 3 * _folds(n_pairs) * (1 - 1 / _PARTS) * min(1.0, _MOST / n_pairs)


def choose_l2(config, pairs, of_command=False, followed=None):
    """Return the event `PenaltyChosen`, with the penalty that has the best NDCG@10 on held-out pairs.

    A penalty much stronger than the preset's must be better, over users, by more than the standard error. The preset's
    is kept, without figures, if too few users can be evaluated, or the run fails with it.

    config : RunSpec; pairs : EncodedPairs; of_command : bool, as for `Trainer.train`
    followed : Validation, optional, of the run itself; its patience and interval also apply to these runs
    KeyboardInterrupt after Ctrl-C
    """
    begun, users, popular = time.perf_counter(), {}, []
    splits = list(_splits(pairs.matrix, config.seed, followed))

    def better(l2, errors=1.0):
        """Try a penalty; return whether it is better than the weakest by more than `errors` standard errors."""
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
    elif better(between, errors=0.0):  # close to the preset's, so it can do little harm
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
    """Yield (nine tenths of the pairs as EncodedPairs, `Validation` on the rest); more splits if pairs are few."""
    from scipy.sparse import coo_matrix  # text needs neither of these imports

    from .validation import Validation

    rng, how = np.random.default_rng(seed), {"patience": followed.patience, "every": followed.every} if followed else {}
    matrix = some_rows(matrix, _MOST, rng).tocoo()
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
    """Return the ids of numbers below n in a vocabulary of such numbers: ndarray, int64; -1 if absent."""
    places = np.full(n, -1)
    places[np.array(vocab.words, np.int64)] = np.arange(len(vocab))
    return places[numbers]
