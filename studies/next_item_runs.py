"""Runs of the next-item studies: looked at after every epoch, by every score that a row of the table has.

A model has as many scores as there are shares λ of the correction for its noise D:

    u(λ) = s + λ T / (1 + T) log D,    raw for λ = 0, in proportion to log P(j|i) for λ = 1

Each of them has an epoch of its own for each of two measures, chosen on validation pairs: Precision@15, and the mean
log-likelihood at the scale that suits it best (see `tempering`).
"""

import dataclasses
from dataclasses import dataclass

import numpy as np
import scipy.sparse

from w2vneg.config import TrainConfig
from w2vneg.ground.errors import DivergenceError
from w2vneg.ground.events import EpochDone
from w2vneg.run.trainer import Trainer
from w2vneg.vectors.evaluation import evaluate_ranking, scores_of
from w2vneg.vectors.evaluation.correction import settled

from .item_tasks import Task
from .tempering import fitted_scale, likelihoods

RANKING, LIKELIHOOD = "P@15", "log-likelihood"  # what is chosen by
KS = (1, 5, 15, 50)


@dataclass(frozen=True)
class Setting:
    """task : Task; common : TrainConfig, options that all runs have
    valid : (centres, targets, weights), what is chosen by
    known : scipy.sparse.csr_matrix, left out of rankings, or None
    """

    task: Task
    common: TrainConfig
    valid: tuple
    known: scipy.sparse.csr_matrix | None = None

    @property
    def n_targets(self):
        return len(self.task.train.vocab_out)


def untempered(model, share):
    """Return the scoring function u(λ), and the factor (1 + T) / T that the law gives it."""
    factor, log_noise = settled(model)
    score = scores_of(model)
    if not share or log_noise is None:
        return score, factor
    addend = (share / factor * log_noise).astype(np.float32)

    def corrected(centres):
        scores = score(centres)
        scores += addend
        return scores

    return corrected, factor


def train(setting, options, seed, look):
    """Train, and call ``look(model, epoch)`` after every epoch.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C: a part of a run is no measurement.
    """

    def after(event):
        if isinstance(event, EpochDone):
            trainer.engine.compose()
            look(trainer.model, event.epoch)

    config = dataclasses.replace(setting.common, **options, seed=seed)
    trainer = Trainer(setting.task.train, config, [after])
    trainer.train()
    if not trainer.complete:
        raise KeyboardInterrupt


def curve(setting, options, seed, shares):
    """Return how a run does on validation pairs after each epoch.

    Returns
    -------
    list of dict of str -> dict
        For each epoch: λ, as text -> both measures and the fitted scale. Empty if the run diverged.
    """
    found = []
    try:
        train(setting, options, seed, lambda model, epoch: found.append(_validated(setting, model, shares)))
    except DivergenceError:
        return []
    return found


def _validated(setting, model, shares):
    figures = {}
    for share in shares:
        score, _ = untempered(model, share)
        precision = evaluate_ranking(
            score, setting.valid, setting.n_targets, ks=(15,), known=setting.known, logits=False, samples=0, bootstrap=0
        ).precision[15]
        scale, value = fitted_scale(score, setting.valid, setting.n_targets, setting.known)
        figures[f"{share:g}"] = {RANKING: precision, LIKELIHOOD: value, "scale": scale}
    return figures


def tested(setting, options, seed, wanted):
    """Train, and evaluate on the test part the epochs that validation likes best.

    Parameters
    ----------
    wanted : sequence of (float, str)
        Shares λ and measures, `RANKING` or `LIKELIHOOD`.

    Returns
    -------
    list of dict of str -> float
        Figures for each of `wanted`.
    """
    best = {}

    def look(model, epoch):
        found = _validated(setting, model, sorted({share for share, _ in wanted}))
        for share, measure in wanted:
            own = found[f"{share:g}"]
            if (share, measure) not in best or own[measure] > best[share, measure][1][measure]:
                kept = dataclasses.replace(
                    model, vectors_in=model.vectors_in.copy(), vectors_out=model.vectors_out.copy()
                )
                best[share, measure] = kept, own, epoch

    train(setting, options, seed, look)
    figures = []
    for share, measure in wanted:
        model, own, epoch = best[share, measure]
        score, factor = untempered(model, share)
        found = ranked(setting, score) if measure == RANKING else tempered(setting, score, factor, own["scale"])
        figures.append(found | {"epoch": epoch})
    return figures


def _held(task):
    return task.test.centres, task.test.targets, task.test.weights


def ranked(setting, score):
    """Return Precision@k and MPR of a scoring function on the test part: dict of str -> float."""
    result = evaluate_ranking(
        score, _held(setting.task), setting.n_targets, ks=KS, known=setting.known, logits=False, samples=0, bootstrap=0
    )
    return {f"P@{k}": result.precision[k] for k in KS} | {"MPR": result.mpr}


def tempered(setting, score, factor, scale):
    """Return the likelihoods of u(λ) on the test part, by itself, times the law's factor and times a fitted scale."""
    scales = (1.0, factor, scale)
    found = likelihoods(score, _held(setting.task), setting.n_targets, scales, setting.known)
    names = ("trained", "law", "fitted")
    figures = {f"log-likelihood, {name}": pair[0] for name, pair in zip(names, found, strict=True)}
    figures |= {f"eq. 9, {name}": pair[1] for name, pair in zip(names, found, strict=True)}
    return figures | {"scale, law": factor, "scale, fitted": scale}
