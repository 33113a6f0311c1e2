"""Ranking metrics, an entry of `METRICS` each: how it is summed, what it is a mean over, its usual name.

    rank_ij = #{j' : s_ij' > s_ij} + ½ #{j' ≠ j : s_ij' = s_ij}                 0 is the top; ties count half
    R_i     = all held-out targets of i;  g_i = softmax of s_i;  j' = the V_i targets of i's catalogue

Ties have no order: every figure is its average over all orders of tied targets, except coverage and novelty, whose
lists take ties in the order of ids. The tables of docs/ranking.md are generated from here.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import digamma, gammaln

from ...ground.registry import Registry

METRICS = Registry("metric")  # str -> RankingMetric, in the order of display
COMMON = ("ndcg", "recall", "list_precision", "map", "coverage")  # of lists, for short tables


@dataclass(frozen=True)
class RankingMetric:
    """One metric.

    sums : callable, (`ranking.Block`), or (Block, k) if `at_k` -> float64 (n_centres,), sums over each centre's pairs,
        of which the figure is a mean; None if unavailable
    title : str, its usual name, with {k} for k; form : str, how it is printed
    at_k : bool, there is one for each length of list; by_pair : bool, a weighted mean over pairs, not over centres
    sign : int, 1 if higher is better, −1 if lower is, 0 if models are not compared by it
    chosen_as : str, its name for ``--metric``, if runs can be chosen by it; of_mean : callable, from mean to figure
    """

    sums: Callable
    title: str
    at_k: bool = False
    by_pair: bool = False
    sign: int = 1
    chosen_as: str = ""
    of_mean: Callable = np.positive
    form: str = ".4f"

    def full(self, name, k):
        return f"{name}@{k}" if self.at_k else name


def metric(name, title, **traits):
    """Return a decorator that registers a function as `sums` of a `RankingMetric`; its docstring is the definition."""
    return lambda sums: METRICS.register(name)(RankingMetric(sums, title, **traits)).sums


class TieGroups:
    """The held-out targets of some centres, grouped by centre and equal score.

    In a group, t targets of a centre are tied, h of them held out, and a targets are above. All orders of the t are
    equally likely, so a held-out target is at each of the places a + 1 … a + t with probability 1 / t.

    row, above, total, held, before : int64, (n_groups,), by centre and then by falling score: the centre, targets above
    (a), tied targets (t), held-out ones among them (h), and held-out targets above
    """

    def __init__(self, block):
        width = int(block.above.max(initial=0)) + 1
        keys, first, self.held = np.unique(block.row * width + block.above, return_index=True, return_counts=True)
        self.row, self.above, self.total = keys // width, keys % width, block.equal[first] + 1
        self._n = block.n_centres
        so_far, relevant = np.cumsum(self.held), block.relevant
        self.before = so_far - self.held - (np.cumsum(relevant) - relevant).astype(np.int64)[self.row]

    def sum(self, values):
        """Return sums over each centre's groups, float64 (n_centres,)."""
        return np.bincount(self.row, values, self._n)


@metric("mpr", "MPR", by_pair=True, chosen_as="mpr")
def _mpr(block):
    """Mean of 1 − rank_ij / (V_i − 1): the share of other targets that j beats. 1 is perfect, ½ is chance.
    RS §3.2.3, CIS §4; exact here."""
    rank = block.above + 0.5 * block.equal
    return block.total(block.weight * (1.0 - rank / np.maximum(block.size[block.row] - 1, 1)))


@metric("mpr_sampled", "MPR, sampled", by_pair=True, sign=0)
def _mpr_sampled(block):
    """How often s_ij > s_ij' for `--samples` targets j' drawn uniformly from i's catalogue; ties lose. RS eq. 10,
    with `--mpr sampled`. It equals the exact MPR except for ties and 1/V_i."""
    if not block.samples:
        return None
    size = block.size[block.row]
    below = size - 1 - block.above - block.equal
    wins = block.rng.binomial(block.samples, below / size)  # each j' is below j with this probability
    return block.total(block.weight * wins / block.samples)


@metric("auc", "AUC")
def _auc(block):
    """How often a target of R_i is above one that is not held out; ties count half."""
    ties, others = block.ties, block.size - block.relevant
    beaten_by = (ties.above - ties.before) + 0.5 * (ties.total - ties.held)
    lost = ties.sum(ties.held * beaten_by) / np.maximum(block.relevant * others, 1)
    return np.where(others > 0, 1.0 - lost, 0.5)


@metric("mrr", "MRR")
def _mrr(block):
    """1 / the best rank of R_i, from 1, in the whole catalogue."""
    ties = block.ties  # it is in the first group of a centre, at place m with probability C(t − m, h − 1) / C(t, h)
    best = np.unique(ties.row, return_index=True)[1]
    groups = np.stack([ties.above[best], ties.total[best], ties.held[best]])
    cases, which = np.unique(groups, axis=1, return_inverse=True)
    values = np.empty(cases.shape[1])
    for n, (a, t, h) in enumerate(cases.T.tolist()):
        m = np.arange(1.0, t - h + 2)
        chance = gammaln(t - m + 1) - gammaln(h) - gammaln(t - m - h + 2)
        chance -= gammaln(t + 1) - gammaln(h + 1) - gammaln(t - h + 1)
        values[n] = (np.exp(chance) / (a + m)).sum()
    return values[which.ravel()]


@metric("likelihood", "likelihood", by_pair=True, chosen_as="likelihood", form=".3e")
def _likelihood(block):
    """Mean of g_i(j) = e^{s_ij} / Σ_j' e^{s_ij'}. RS eq. 9."""
    return block.total(block.weight * np.exp(block.log_p)) if block.logits else None


@metric("nll", "NLL, nats", by_pair=True, sign=-1, chosen_as="nll", of_mean=np.negative)
def _nll(block):
    """Mean of −log g_i(j)."""
    return block.total(block.weight * block.log_p) if block.logits else None


@metric("perplexity", "perplexity", by_pair=True, sign=0, of_mean=lambda mean: np.exp(-mean), form=",.1f")
def _perplexity(block):
    """e^NLL."""
    return _nll(block)


@metric("precision", "P@{k} of pairs", at_k=True, by_pair=True, chosen_as="prec")
def _precision(block, k):
    """How often j is among the k best. RS §3.2.3, CIS §4, there "Prec@k"."""
    return block.total(block.weight * block.inside(k))


@metric("list_precision", "precision@{k}", at_k=True)
def _list_precision(block, k):
    """|top_k ∩ R_i| / k."""
    return block.total(block.inside(k)) / k


@metric("recall", "recall@{k}", at_k=True, chosen_as="recall")
def _recall(block, k):
    """|top_k ∩ R_i| / |R_i|."""
    return block.total(block.inside(k)) / block.relevant


@metric("hit_rate", "hit rate@{k}", at_k=True)
def _hit_rate(block, k):
    """1 if top_k contains a target of R_i, else 0."""
    ties = block.ties
    rate = (ties.sum(ties.above + ties.total <= k) > 0).astype(np.float64)
    border = (ties.above < k) & (ties.above + ties.total > k)
    t, h, s = ties.total[border], ties.held[border], k - ties.above[border]
    possible = t - h >= s  # s of the t at the border are listed: none held out with probability C(t − h, s) / C(t, s)
    rest = np.where(possible, t - h, s)
    missed = gammaln(rest + 1) - gammaln(rest - s + 1) - gammaln(t + 1) + gammaln(t - s + 1)
    row = ties.row[border]
    rate[row] = np.maximum(rate[row], 1.0 - possible * np.exp(missed))
    return rate


@metric("ndcg", "NDCG@{k}", at_k=True, chosen_as="ndcg")
def _ndcg(block, k):
    """Σ_{j ∈ top_k ∩ R_i} 1 / log₂(place_ij + 2), divided by its value for the best order: Σ_{r < min(k, |R_i|)}
    1 / log₂(r + 2)."""
    gains = np.concatenate([[0.0], np.cumsum(1.0 / np.log2(np.arange(k) + 2.0))])
    first, last = np.minimum(block.above, k), np.minimum(block.above + block.equal + 1, k)
    gain = block.total((gains[last] - gains[first]) / (block.equal + 1.0))
    return gain / gains[np.minimum(k, block.relevant).astype(np.int64)]


@metric("map", "MAP@{k}", at_k=True)
def _map(block, k):
    """Σ_{j ∈ top_k ∩ R_i} (held-out ones among the first p_j) / p_j, divided by min(k, |R_i|); p_j is the rank of j,
    from 1."""
    # Up to place a + m there are the b held-out ones before the group, the target itself, and a share g of the m − 1
    # others, g = (h − 1) / (t − 1). With c = b + 1 and H the harmonic numbers, the sum over m ≤ M = min(t, k − a) is
    #     Σ (c + g (m − 1)) / (a + m) = g M + (c − g (a + 1)) (H(a + M) − H(a))
    ties = block.ties
    a, t, h = ties.above, ties.total, ties.held
    share = (h - 1) / np.maximum(t - 1, 1)
    inside = np.clip(k - a, 0, t)
    sums = share * inside + (ties.before + 1 - share * (a + 1)) * (digamma(a + inside + 1.0) - digamma(a + 1.0))
    return ties.sum(h * sums / t) / np.minimum(k, block.relevant)


@metric("coverage", "coverage@{k}", at_k=True, sign=0)
def _coverage(block, k):
    """The share of all targets that are in any centre's top_k. It is not a mean and has no interval."""
    return None  # `ranking` computes it over all lists


@metric("novelty", "novelty@{k}, bits", at_k=True, sign=0)
def _novelty(block, k):
    """Mean of −log₂(share of j in all counts) over top_k: how unpopular the listed targets are, in bits. By the counts
    of the popularity baseline."""
    return block.novelty(k)
