"""Does a trained model stand where the law says? Learned scores beside predicted ones, and the discriminator's weights.

    s_ij = T / (1 + T) · (log P(j|i) − log D(j)) + c_i                       the law (see docs/reproductions/one-law.md)
    D_ij = log(P(j|i) / (n g_i(j))),    ω_ij = σ(−D_ij) = n g / (P + n g)         the discriminator's fixed point

P(j|i) is counted in the training pairs; pairs that occur often enough count alike. c_i is nobody's business, so both
sides are centred for each i. A slope of 1 and an R² of 1 would be the law to the letter.
"""

from typing import NamedTuple

import numpy as np

from w2vneg.vectors.evaluation import scores_of
from w2vneg.vectors.evaluation.correction import settled

_BINS = 12


class Frequent(NamedTuple):
    """Training pairs that occur often. centres, targets : int64 (n,); log_p : float64 (n,), log of N_ij / N_i"""

    centres: np.ndarray
    targets: np.ndarray
    log_p: np.ndarray


def frequent_pairs(matrix, least=50, most=200_000):
    """Return the `Frequent` pairs of a matrix of counts: those with `least` or more, evenly thinned to about `most`."""
    pairs = matrix.tocoo()
    totals = np.asarray(matrix.sum(axis=1, dtype=np.float64)).ravel()
    kept = np.flatnonzero(pairs.data >= least)
    kept = kept[:: max(1, -(-len(kept) // most))]
    centres = pairs.row[kept].astype(np.int64)
    log_p = np.log(pairs.data[kept].astype(np.float64)) - np.log(totals[centres])
    return Frequent(centres, pairs.col[kept].astype(np.int64), log_p)


def centred(values, centres):
    """Return values less their mean for each centre, float64."""
    counts = np.bincount(centres)
    return values - (np.bincount(centres, values) / np.maximum(counts, 1))[centres]


def learned_and_predicted(model, pairs):
    """Return (learned, predicted) scores of `Frequent` pairs, centred by centre, float64 (n,) each."""
    factor, log_noise = settled(model)
    noise = 0.0 if log_noise is None else log_noise[pairs.targets]
    predicted = (pairs.log_p - noise) / factor
    learned = np.einsum("ij,ij->i", model.vectors_in[pairs.centres], model.vectors_out[pairs.targets])
    return centred(learned.astype(np.float64), pairs.centres), centred(predicted, pairs.centres)


def line(learned, predicted):
    """Return the slope of learned on predicted scores, and R²: dict of str -> float."""
    both, own, square = predicted @ learned, learned @ learned, predicted @ predicted
    if min(own, square) <= 0:
        return {"slope": 0.0, "R²": 0.0}
    return {"slope": float(both / square), "R²": float(both**2 / (own * square))}


def binned(learned, predicted):
    """Return means of both in as many bins of predicted scores of equal size: list of (predicted, learned)."""
    order = np.argsort(predicted, kind="stable")
    parts = [part for part in np.array_split(order, _BINS) if len(part)]
    return [(float(predicted[part].mean()), float(learned[part].mean())) for part in parts]


def discriminator_weights(model, matrix, n, most=300):
    """Return how a discriminator weighs the draws from the model's own softmax g, and how its fixed point would.

    n : int, negatives of a positive; most : int, centres that are looked at

    Returns
    -------
    dict of str -> float
        Mean and spread, standard deviation over mean, of the learned ω and of n g / (P + n g), both under g; how far
        they agree is the correlation of the two.
    """
    rows = np.linspace(0, matrix.shape[0] - 1, min(most, matrix.shape[0])).astype(int)
    scores = scores_of(model)(rows).astype(np.float64)
    g = np.exp(scores - scores.max(axis=1, keepdims=True))
    g /= g.sum(axis=1, keepdims=True)
    p = matrix[rows].toarray().astype(np.float64)
    p /= np.maximum(p.sum(axis=1, keepdims=True), 1.0)
    d = model.extra["discriminator_in"][rows] @ model.extra["discriminator_out"].T
    learned, fixed = 1.0 / (1.0 + np.exp(d.astype(np.float64))), n * g / (p + n * g)
    found = {}
    for name, weights in (("learned", learned), ("fixed point", fixed)):
        mean = float((g * weights).sum(axis=1).mean())
        spread = float(np.sqrt((g * (weights - mean) ** 2).sum(axis=1).mean()))
        found |= {f"mean ω, {name}": mean, f"spread of ω, {name}": spread / mean}
    a, b = learned - (g * learned).sum() / g.sum(), fixed - (g * fixed).sum() / g.sum()
    found["agreement"] = float((g * a * b).sum() / np.sqrt((g * a * a).sum() * (g * b * b).sum()))
    return found
