"""Figures of a list, averaged over all orders that equal scores can take.

Of the equal scores of one centre, t in all and h of them held out, with a others above them, every order is as likely
as any other. So a held-out one stands at each of the places a + 1 … a + t with chance 1 / t.
"""

import numpy as np
from scipy.special import digamma, gammaln


class TieGroups:
    """The held-out targets of some centres, those of one centre with equal scores together.

    Parameters
    ----------
    row : ndarray, int64, (n,)
        Which centre each held-out target is of.
    above, equal : ndarray, int64, (n,)
        Targets that score higher, and others that score the same.
    n_centres : int

    Attributes
    ----------
    row, above, total, held, before : ndarray, int64, (n_groups,)
        By centre and then by falling score: the centre, targets above, equal ones in all, held-out ones among them, and
        held-out ones above.
    """

    def __init__(self, row, above, equal, n_centres):
        width = int(above.max(initial=0)) + 1
        keys, first, self.held = np.unique(row * width + above, return_index=True, return_counts=True)
        self.row, self.above, self.total = keys // width, keys % width, equal[first] + 1
        so_far = np.cumsum(self.held)
        relevant = np.bincount(self.row, self.held, n_centres)
        self.before = so_far - self.held - (np.cumsum(relevant) - relevant).astype(np.int64)[self.row]
        self.relevant = relevant  # float64, (n_centres,)
        self._n = n_centres

    def _sum(self, values):
        return np.bincount(self.row, values, self._n)

    def hit_rate(self, k):
        """Return the chance that any held-out target is among the k best, float64 (n_centres,).

        Of a group at the border s still come in: a draw without replacement, which misses with chance
        C(t − h, s) / C(t, s).
        """
        rate = (self._sum(self.above + self.total <= k) > 0).astype(np.float64)
        border = (self.above < k) & (self.above + self.total > k)
        t, h, s = self.total[border], self.held[border], k - self.above[border]
        possible = t - h >= s
        rest = np.where(possible, t - h, s)
        missed = gammaln(rest + 1) - gammaln(rest - s + 1) - gammaln(t + 1) + gammaln(t - s + 1)
        row = self.row[border]
        rate[row] = np.maximum(rate[row], 1.0 - possible * np.exp(missed))
        return rate

    def average_precision(self, k):
        """Return Σ_{j ∈ top_k ∩ R} (held-out ones up to j's place) / (j's place), divided by min(k, |R|).

        At place a + m of its group, one finds the b held-out ones before the group, itself, and of the m − 1 others a
        share of (h − 1) / (t − 1). With g this share and c = b + 1, the sum over m ≤ M = min(t, k − a) is

            Σ (c + g (m − 1)) / (a + m) = g M + (c − g (a + 1)) (H(a + M) − H(a))        H the harmonic numbers
        """
        a, t, h = self.above, self.total, self.held
        share = (h - 1) / np.maximum(t - 1, 1)
        inside = np.clip(k - a, 0, t)
        sums = share * inside + (self.before + 1 - share * (a + 1)) * (digamma(a + inside + 1.0) - digamma(a + 1.0))
        return self._sum(h * sums / t) / np.minimum(k, self.relevant)

    def reciprocal_rank(self):
        """Return 1 / place of the best held-out target, float64 (n_centres,).

        It is of the first group, and at its place m with chance C(t − m, h − 1) / C(t, h).
        """
        best = np.unique(self.row, return_index=True)[1]
        cases, which = np.unique(
            np.stack([self.above[best], self.total[best], self.held[best]]), axis=1, return_inverse=True
        )
        values = np.empty(cases.shape[1])
        for n, (a, t, h) in enumerate(cases.T.tolist()):
            m = np.arange(1.0, t - h + 2)
            chance = gammaln(t - m + 1) - gammaln(h) - gammaln(t - m - h + 2)
            chance -= gammaln(t + 1) - gammaln(h + 1) - gammaln(t - h + 1)
            values[n] = (np.exp(chance) / (a + m)).sum()
        return values[which.ravel()]

    def auc(self, size):
        """Return how often a held-out target is above one that is not held out, equal ones half, float64 (n_centres,).

        size : int64, (n_centres,), of each centre's catalogue; ½ where all of it is held out
        """
        others = size - self.relevant
        beaten_by = (self.above - self.before) + 0.5 * (self.total - self.held)
        lost = self._sum(self.held * beaten_by) / np.maximum(self.relevant * others, 1)
        return np.where(others > 0, 1.0 - lost, 0.5)
