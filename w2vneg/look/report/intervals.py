"""Intervals of 95 % that a report shows beside its figures."""

import numpy as np

_RESAMPLES = 500


def wilson(share, n):
    """Return both ends of Wilson's interval (1927) of a share of `n` trials."""
    z2 = 1.959964**2
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = np.sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n**2))) / (1 + z2 / n)
    return np.maximum(centre - half, 0), np.minimum(centre + half, 1)


def paired_difference(human, first, second, seed=1):
    """Return how much higher the second's Spearman correlation with people is than the first's, and its interval.

    Both have scored the same pairs of words. These are drawn again with replacement, 500 times, for both alike: a
    percentile bootstrap (Efron 1979). So what makes a set hard for either does not widen the interval.

    Parameters
    ----------
    human, first, second : ndarray, float64, (n,)
    seed : int

    Returns
    -------
    difference, low, high : float
    """
    drawn = np.random.default_rng(seed).integers(0, len(human), (_RESAMPLES, len(human)))
    drawn[0] = np.arange(len(human))  # the pairs themselves
    a, b, c = (_ranks(values[drawn]) for values in (human, first, second))
    differences = _correlation(a, c) - _correlation(a, b)
    return float(differences[0]), *map(float, np.nanpercentile(differences[1:], (2.5, 97.5)))


def _ranks(values):
    from scipy.stats import rankdata

    ranks = rankdata(values, axis=1)
    return ranks - ranks.mean(axis=1, keepdims=True)


def _correlation(a, b):
    with np.errstate(invalid="ignore", divide="ignore"):
        return (a * b).sum(axis=1) / np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1))
