"""Compare a trained model with the law: corrected scores against log P, and the discriminator's weights.

    u_ij = (1 + T) / T · s_ij + log D(j) = log P(j|i) + c_i                  the law (see docs/reproductions/one-law.md)
         = a log P(j) + b PMI_ij + c_i,    a = b = 1                         its two parts, each with its own slope
    D_ij = log(P(j|i) / (n g_i(j))),    ω_ij = σ(−D_ij) = n g / (P + n g)         the discriminator's fixed point

P(j|i) and P(j) are counted in the training pairs, for pairs that occur often enough. Slopes come from a regression on
both parts, with pairs weighted by their counts; c_i is irrelevant, so all sides are centred for each i.
"""

from typing import NamedTuple

import numpy as np

from w2vneg.objectives.law import settled
from w2vneg.vectors.evaluation import scores_of

POPULAR, PMI = "slope on log pop", "slope on PMI"
_BINS = 12


class Frequent(NamedTuple):
    """Training pairs that occur often. centres, targets : int64 (n,); counts : float64 (n,)
    parts : float64 (2, n), log P(j) and PMI, centred
    """

    centres: np.ndarray
    targets: np.ndarray
    counts: np.ndarray
    parts: np.ndarray


def frequent_pairs(matrix, least=50, most=200_000):
    """Return the `Frequent` pairs of a count matrix: those of `least` or more, evenly thinned to about `most`."""
    pairs = matrix.tocoo()
    rows, columns = (np.asarray(matrix.sum(axis=axis, dtype=np.float64)).ravel() for axis in (1, 0))
    kept = np.flatnonzero(pairs.data >= least)
    kept = kept[:: max(1, -(-len(kept) // most))]
    centres, targets = pairs.row[kept].astype(np.int64), pairs.col[kept].astype(np.int64)
    counts = pairs.data[kept].astype(np.float64)
    popular = np.log(columns[targets] / columns.sum())
    parts = popular, np.log(counts / rows[centres]) - popular
    return Frequent(centres, targets, counts, np.stack([_centred(part, centres, counts) for part in parts]))


def _centred(values, centres, counts):
    """Return values minus their weighted mean for each centre, float64."""
    total = np.maximum(np.bincount(centres, counts), 1e-300)
    return values - (np.bincount(centres, counts * values) / total)[centres]


def against_law(model, pairs):
    """Return both slopes and R² of a model's corrected scores on `Frequent` pairs, and means of scores and log P.

    Returns
    -------
    dict of str -> float; "bins": list of (log P, score), both centred, in bins of log P of equal size
    """
    factor, log_noise = settled(model)
    scores = np.einsum("ij,ij->i", model.vectors_in[pairs.centres], model.vectors_out[pairs.targets])
    scores = factor * scores.astype(np.float64) + (0.0 if log_noise is None else log_noise[pairs.targets])
    scores = _centred(scores, pairs.centres, pairs.counts)
    weighted = pairs.parts * pairs.counts
    slopes = np.linalg.lstsq(weighted @ pairs.parts.T, weighted @ scores, rcond=None)[0]
    left = pairs.counts @ (scores - slopes @ pairs.parts) ** 2
    log_p = pairs.parts.sum(axis=0)
    bins = [part for part in np.array_split(np.argsort(log_p, kind="stable"), _BINS) if len(part)]
    return {
        POPULAR: float(slopes[0]),
        PMI: float(slopes[1]),
        "R²": float(1 - left / max(pairs.counts @ scores**2, 1e-300)),
        "bins": [(float(log_p[part].mean()), float(scores[part].mean())) for part in bins],
    }


def discriminator_weights(model, matrix, n, most=300):
    """Return statistics of the weights of draws from the model's softmax g, learned and at the fixed point.

    n : int, negatives per positive; most : int, centres used

    Returns
    -------
    dict of str -> float
        Mean and spread (standard deviation over mean) of the learned ω and of n g / (P + n g), both under g;
        "agreement" is their correlation.
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
