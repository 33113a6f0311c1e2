"""Runs of the next-item studies, evaluated after every epoch with every score that a row of the table uses.

A model has one score for each share λ of the correction for its noise D:

    u(λ) = s + λ T / (1 + T) log D,    raw for λ = 0, in proportion to log P(j|i) for λ = 1

For each score, the best epoch on validation pairs is chosen twice: by Precision@15, and by the mean log-likelihood at
its best scale.

    mean log-likelihood   E_(i,j) log g_i(j),    g_i = softmax(c · u_i)         a proper score
    RS eq. 9              E_(i,j) g_i(j)                                        not a proper one

The first is concave in c: d/dc = E[u_ij − E_g u], d²/dc² = −E Var_g u. Equation 9 rewards overconfidence: with two
targets of probabilities .6 and .4, the truth scores .6² + .4² = .52, and (1, 0) scores .6. So with eq. 9 a wrong
temperature alone can reorder methods. `improper` computes this example.

There are two null models: popularity alone, and pair counts interpolated with it,

    p(j|i) = w N_ij / N_i + (1 − w) (N_j + 1) / Σ (N + 1),    w chosen on validation pairs, 0 for popularity
"""

import dataclasses
from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy.optimize
import scipy.sparse

from w2vneg.config import TrainConfig
from w2vneg.ground.errors import DivergenceError
from w2vneg.ground.events import EpochDone
from w2vneg.objectives.law import settled
from w2vneg.run.trainer import Trainer
from w2vneg.vectors.evaluation import evaluate_ranking, scores_of

from .item_tasks import Task

RANKING, LIKELIHOOD = "P@15", "log-likelihood"  # criteria of choices
KS = (1, 5, 15, 50)
POPULARITY, INTERPOLATED = "popularity", "counts and popularity"
NULLS = (POPULARITY, INTERPOLATED)
DRAWS = {"exact": "exact", "pool": "from pools"}  # method -> in words
_POOLED = 10_000  # targets, from which exact draws would take days
_SCORES = 4_000_000  # held at once
_LOWEST, _HIGHEST = 0.01, 100.0
_SAME = 1e-4  # relative change of c at which the search ends


@dataclass(frozen=True)
class Setting:
    """task : Task; common : TrainConfig, options shared by all runs
    valid : (centres, targets, weights), for choices
    """

    task: Task
    common: TrainConfig
    valid: tuple

    @property
    def n_targets(self):
        return self.task.n_targets

    @property
    def held(self):
        """The test part: (centres, targets, weights)."""
        return self.task.test.centres, self.task.test.targets, self.task.test.weights


def method_of(n_targets):
    """Return the way to draw among all of so many targets: "exact", or "pool", which draws for 8 visits at once."""
    return "pool" if n_targets >= _POOLED else "exact"


def drawing(options, method):
    """Return options by name (dict of dict) with exact draws replaced by those of a method."""
    return {name: own | ({"method": method} if own.get("method") == "exact" else {}) for name, own in options.items()}


def pairs_config(task, scale, seed):
    """Return the options shared by all runs of a scale: an epoch draws at most two fifths of the occurrences."""
    total = int(task.train.matrix.sum(dtype=np.float64))
    return TrainConfig(
        source="pairs",
        pair_weights="sample",
        pairs_per_epoch=min(scale.most, 2 * total // 5),
        dim=scale.dim,
        epochs=scale.epochs,
        workers=1,
        seed=seed,
    )


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
        After Ctrl-C: a partial run is not a measurement.
    """

    def after(event):
        if isinstance(event, EpochDone):
            trainer.engine.replica.compose()
            look(trainer.model, event.epoch)

    config = dataclasses.replace(setting.common, **options, seed=seed)
    trainer = Trainer(setting.task.train, config, [after])
    trainer.train()
    if not trainer.complete:
        raise KeyboardInterrupt


def curve(setting, options, seed, shares):
    """Return validation figures of a run after each epoch.

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
        scale, value = fitted_scale(score, setting.valid, setting.n_targets)
        precision = _ranked(score, setting.valid, setting.n_targets, (15,)).precision[15]
        figures[f"{share:g}"] = {RANKING: precision, LIKELIHOOD: value, "scale": scale}
    return figures


def tested(setting, options, seed, wanted):
    """Train, and evaluate on the test part the epochs that are best on validation pairs.

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

    try:
        train(setting, options, seed, look)
    except DivergenceError:
        if not best:
            raise  # otherwise the best epoch came earlier
    figures = []
    for share, measure in wanted:
        model, own, epoch = best[share, measure]
        score, factor = untempered(model, share)
        found = ranked(setting, score) if measure == RANKING else tempered(setting, score, factor, own["scale"])
        figures.append(found | {"epoch": epoch})
    return figures


def _ranked(score, held, n_targets, ks):
    return evaluate_ranking(score, held, n_targets, ks=ks, logits=False, samples=0, bootstrap=0)


def ranked(setting, score):
    """Return Precision@k and MPR of a scoring function on the test part: dict of str -> float."""
    result = _ranked(score, setting.held, setting.n_targets, KS)
    return {f"P@{k}": result.precision[k] for k in KS} | {"MPR": result.mpr}


def tempered(setting, score, factor, scale):
    """Return the likelihoods of u(λ) on the test part: as is, times the law's factor, and times a fitted scale."""
    found = likelihoods(score, setting.held, setting.n_targets, (1.0, factor, scale))
    names = ("trained", "law", "fitted")
    figures = {f"log-likelihood, {name}": pair[0] for name, pair in zip(names, found, strict=True)}
    figures |= {f"eq. 9, {name}": pair[1] for name, pair in zip(names, found, strict=True)}
    return figures | {"scale, law": factor, "scale, fitted": scale}


# null models


def null_model(setting, name):
    """Return the figures of a null model on the test part: dict of str -> float, including the weight of counts."""
    matrix = setting.task.train.matrix
    weight = best_weight(matrix, setting.valid) if name == INTERPOLATED else 0.0
    score = interpolated(matrix, weight)
    return ranked(setting, score) | tempered(setting, score, 1.0, 1.0) | {"weight of counts": weight}


def best_weight(matrix, held):
    """Return the best weight of counts for pairs (centres, targets, weights)."""
    found = scipy.optimize.minimize_scalar(lambda w: -_log_p(matrix, w, held), bounds=(0.0, 1.0), method="bounded")
    return float(found.x)


def null_losses(matrix, valid, held):
    """Return the mean −log p of held pairs under both null models, nats; `valid` chooses the weight of counts."""
    weights = {POPULARITY: 0.0, INTERPOLATED: best_weight(matrix, valid)}
    losses = {name: -_log_p(matrix, weight, held) for name, weight in weights.items()}
    return pd.DataFrame({"null model": list(losses), "weight of counts": weights.values(), "loss": losses.values()})


def interpolated(matrix, weight):
    """Return the scoring function log p(j|i) of counts, csr_matrix (n_centres, n_targets), and their weight w."""
    popularity, totals = _marginals(matrix)

    def score(centres):
        counts = matrix[centres].toarray().astype(np.float64)
        return np.log(counts * (weight / totals[centres])[:, None] + (1 - weight) * popularity).astype(np.float32)

    return score


def _marginals(matrix):
    counts = np.asarray(matrix.sum(axis=0, dtype=np.float64)).ravel() + 1.0
    return counts / counts.sum(), np.maximum(np.asarray(matrix.sum(axis=1, dtype=np.float64)).ravel(), 1.0)


def _log_p(matrix, weight, held):
    """Return the mean log p(j|i) of pairs."""
    centres, targets, weights = held
    popularity, totals = _marginals(matrix)
    counts = np.asarray(matrix[centres.copy(), targets.copy()], np.float64).ravel()  # scipy needs its own copies
    log_p = np.log(weight * counts / totals[centres] + (1 - weight) * popularity[targets])
    return float(weights @ log_p / np.sum(weights))


# likelihoods


def _blocks(score, held, n_targets):
    """Yield (scores, float32 (b, n_targets); rows, targets, weights of the pairs) block by block of centres."""
    centres, targets, weights = held
    shape = int(centres.max()) + 1, n_targets
    pairs = scipy.sparse.coo_matrix((weights, (centres, targets)), shape).tocsr()
    asked = np.flatnonzero(np.diff(pairs.indptr))
    size = max(1, _SCORES // n_targets)
    for start in range(0, len(asked), size):
        part = asked[start : start + size]
        scores, own = score(part), pairs[part]
        yield scores, np.repeat(np.arange(len(part)), np.diff(own.indptr)), own.indices, own.data


def likelihoods(score, held, n_targets, scales):
    """Return for each scale c the mean of log g and the mean of g, with g the softmax of c · score.

    Parameters
    ----------
    score : callable, as in `evaluation.scores`
    held : (centres, targets, weights), int (n,), int (n,), float (n,)
    n_targets : int
    scales : sequence of float, above 0

    Returns
    -------
    list of (float, float)
    """
    sums, total = np.zeros((len(scales), 2)), 0.0
    for scores, rows, targets, weights in _blocks(score, held, n_targets):
        total += weights.sum()
        scores -= scores.max(axis=1, keepdims=True)
        own = scores[rows, targets].astype(np.float64)
        for place, scale in enumerate(scales):
            log_z = np.log(np.exp(scores * np.float32(scale)).sum(axis=1, dtype=np.float64))
            log_p = scale * own - log_z[rows]
            sums[place] += weights @ log_p, weights @ np.exp(log_p)
    return [tuple(float(value) for value in pair / total) for pair in sums]


def fitted_scale(score, held, n_targets, most=_SCORES):
    """Return (c, mean log-likelihood at c) for the best c on these pairs, by Newton steps.

    most : int, scores used at most; beyond it, evenly spaced centres are used
    """
    held = thinned(held, max(1, most // n_targets))
    blocks = list(_blocks(lambda part: score(part).copy(), held, n_targets))
    total, scale = sum(weights.sum() for *_, weights in blocks), 1.0
    for scores, *_ in blocks:
        scores -= scores.max(axis=1, keepdims=True)
    for _ in range(40):
        value, slope, curve = np.sum([_derivatives(block, scale) for block in blocks], axis=0) / total
        step = slope / max(curve, 1e-12)
        new = min(max(scale + step, scale / 2, _LOWEST), scale * 2, _HIGHEST)
        if abs(new - scale) < _SAME * scale:
            break
        scale = new
    return float(scale), float(value)


def _derivatives(block, scale):
    """Return Σ w log g, its first derivative by c, and minus its second."""
    scores, rows, targets, weights = block
    g = np.exp(scores * np.float32(scale))
    z = g.sum(axis=1, dtype=np.float64)
    mean = np.einsum("ij,ij->i", g, scores, dtype=np.float64) / z
    square = np.einsum("ij,ij,ij->i", g, scores, scores, dtype=np.float64) / z
    own = scores[rows, targets].astype(np.float64)
    value = weights @ (scale * own - np.log(z)[rows])
    return np.array([value, weights @ (own - mean[rows]), weights @ (square - mean**2)[rows]])


def thinned(held, most):
    """Return the pairs (centres, targets, weights) of at most `most` evenly spaced centres."""
    there = np.unique(held[0])
    kept = np.isin(held[0], there[np.linspace(0, len(there) - 1, min(most, len(there))).astype(int)])
    return tuple(part[kept] for part in held)


def improper(p=0.6, scales=(0.5, 1.0, 2.0, 8.0)):
    """Return the scores of two targets of probabilities p and 1 − p: dict of c -> (mean log-likelihood, eq. 9).

    The logits are c times the log of the truth; c = 1 is the truth.
    """
    truth, found = np.array([p, 1 - p]), {}
    for scale in scales:
        said = truth**scale / (truth**scale).sum()
        found[scale] = float(truth @ np.log(said)), float(truth @ said)
    return found
