"""Ranking of held-out pairs (i, j): where does j stand among all targets, sorted by the raw logit s_ij?

    rank_ij = #{j' : s_ij' > s_ij} + ½ #{j' ≠ j : s_ij' = s_ij}                 0 is the top; ties count half
    MPR     = mean over pairs of 1 − rank_ij / (V − 1)                          share of the catalogue ranked below j
    sampled MPR (RS eq. 10) = how often s_ij > s_ij' for j' drawn uniformly from the catalogue, ties lost
    Prec@k  = share of pairs with rank_ij < k                                   the papers' (RS §3.2.3, CIS §4)
    likelihood E[g_i(j)] (RS eq. 9), mean NLL and perplexity, with g_i = softmax of s_i over all targets

Recommendation people ask for lists: the k best targets for i against the set R_i of all its held-out targets.

    list precision@k = |top_k ∩ R_i| / k        recall@k = |top_k ∩ R_i| / |R_i|        hit rate@k = 1 if they meet
    NDCG@k = Σ_{j ∈ top_k ∩ R_i} 1 / log₂(rank_ij + 2)  /  Σ_{r < min(k, |R_i|)} 1 / log₂(r + 2)

each a mean over centres. Where known targets are left out, they are taken from i's catalogue before anything is
ranked or normalised; V then is what remains. Intervals: percentile bootstrap over centres, whose pairs belong together.
"""

from dataclasses import asdict, dataclass

import numpy as np
import scipy.sparse

from ..errors import ConfigError, InputError
from . import EVALUATORS

_SCORES = 4_000_000  # float32 numbers held at a time (16 MB)
KS = (1, 5, 15, 50)


@dataclass(frozen=True)
class RankingResult:
    """mpr, mpr_sampled, likelihood, nll, perplexity : float; likelihoods are None for scores that are no logits
    precision : dict of k -> float, the papers'; list_precision, recall, hit_rate, ndcg : dict of k -> float
    intervals : dict of name -> (low, high), 95 %, for every figure ("precision@5"); empty without bootstrap
    pairs : float, their weights' sum; centres : int; targets : int, in the catalogue; known_left_out : bool
    """

    mpr: float
    mpr_sampled: float
    precision: dict
    list_precision: dict
    recall: dict
    hit_rate: dict
    ndcg: dict
    likelihood: float | None
    nll: float | None
    perplexity: float | None
    pairs: float
    centres: int
    targets: int
    known_left_out: bool
    intervals: dict

    def as_dict(self):
        return asdict(self)


def logits_of(vectors_in, vectors_out):
    """Return the scoring function of a model: centre ids int (b,) -> float32 (b, V), a new array."""
    return lambda centres: vectors_in[centres] @ vectors_out.T


def popularity_scores(counts):
    """Return the scoring function that knows nothing of the centre: log of the targets' counts."""
    scores = np.log(np.maximum(np.asarray(counts, np.float32), 1e-3))
    return lambda centres: np.tile(scores, (len(centres), 1))


def cooccurrence_scores(known, counts):
    """Return the scoring function of item-item counts: how often j was seen with i; equal ones by popularity.

    Parameters
    ----------
    known : scipy.sparse matrix, (V_in, V), how often each pair was seen in training
    counts : (V,), how often each target was seen
    """
    known = scipy.sparse.csr_matrix(known)
    share = np.asarray(counts, np.float64) / (np.sum(counts) + 1.0)  # below 1, so that it only decides ties
    return lambda centres: (known[centres].toarray() + share).astype(np.float32)


@EVALUATORS.register("ranking")
def evaluate_ranking(scores, pairs, n_targets, *, ks=KS, known=None, logits=True, samples=100, bootstrap=1000, seed=1):
    """Rank the held-out targets of every centre among the whole catalogue, in blocks of bounded memory.

    Parameters
    ----------
    scores : callable, int64 (b,) centre ids -> float32 (b, n_targets)
        See `logits_of`, `popularity_scores`, `cooccurrence_scores`.
    pairs : (centres, targets, weights), int (n,), int (n,), float (n,)
        Held-out pairs; the same pair twice counts as one of both weights.
    n_targets : int
    ks : sequence of int
    known : scipy.sparse matrix, (n_centres, n_targets), optional
        Pairs to leave out of the catalogue (those trained on). A held-out pair among them stays in.
    logits : bool
        Whether the scores are logits, so that likelihoods mean something.
    samples : int
        Targets j' drawn for each pair for the sampled MPR.
    bootstrap : int
        Resamples of the centres for the intervals; 0 for none.
    seed : int

    Returns
    -------
    RankingResult

    Raises
    ------
    InputError
        If there is no pair. ConfigError if a k is below 1 or there are fewer than two targets.
    """
    if len(pairs[0]) == 0:
        raise InputError("no held-out pair to rank: all their items are unknown to the model")
    if n_targets < 2 or min(ks) < 1:
        raise ConfigError(f"ranking needs two targets or more and every k at least 1; got {n_targets} and k {min(ks)}")
    held = scipy.sparse.coo_matrix((pairs[2], (pairs[0], pairs[1])), (int(np.max(pairs[0])) + 1, n_targets)).tocsr()
    held.sum_duplicates()
    centres = np.flatnonzero(np.diff(held.indptr))
    known = None if known is None else _as_known(known, held.shape[0], n_targets)
    rows = max(1, _SCORES // n_targets)
    rng = np.random.default_rng(seed)
    sums = [
        _block(scores(part), part, held, known, ks, logits, samples, rng)
        for part in (centres[start : start + rows] for start in range(0, len(centres), rows))
    ]
    table = {name: np.concatenate([block[name] for block in sums]) for name in sums[0]}
    return _result(table, ks, n_targets, known is not None, logits, bootstrap, rng)


def _block(scores, centres, held, known, ks, logits, samples, rng):
    """Return per centre of a block the sums that every figure is made of: dict of name -> float64 (b,)."""
    size = np.full(len(centres), scores.shape[1], np.float64)
    part = held[centres]
    row = np.repeat(np.arange(len(centres)), np.diff(part.indptr))
    target, weight = part.indices, part.data.astype(np.float64)
    own = scores[row, target]
    if known is not None:
        size -= _leave_out(scores, centres, known, part)
    above, equal = np.empty(len(own)), np.empty(len(own))
    for k, (r, s) in enumerate(zip(row, own, strict=True)):
        line = scores[r]
        above[k], equal[k] = np.count_nonzero(line > s), np.count_nonzero(line == s) - 1
    rank = above + 0.5 * equal
    total = lambda values: np.bincount(row, weight * values, len(centres))  # noqa: E731
    count = lambda values: np.bincount(row, values, len(centres))  # noqa: E731
    sums = {"pairs": total(np.ones(len(own))), "centres": np.ones(len(centres))}
    sums["mpr"] = total(1.0 - rank / np.maximum(size[row] - 1, 1))
    below = np.maximum(size[row] - 1 - above - equal, 0)  # a draw of j' wins with chance below / V: count the wins
    sums["mpr_sampled"] = total(rng.binomial(samples, below / size[row]) / samples)
    if logits:
        top = scores.max(axis=1)
        log_z = top + np.log(np.exp(scores - top[:, None]).sum(axis=1, dtype=np.float64))
        log_p = own.astype(np.float64) - log_z[row]
        sums |= {"log_p": total(log_p), "likelihood": total(np.exp(log_p))}
    relevant = count(np.ones(len(own)))
    gain = 1.0 / np.log2(rank + 2.0)
    ideal = np.concatenate([[0.0], np.cumsum(1.0 / np.log2(np.arange(max(ks)) + 2.0))])
    for k in ks:
        inside = (rank < k).astype(np.float64)
        hits = count(inside)
        sums[f"precision@{k}"] = total(inside)
        sums[f"list_precision@{k}"] = hits / k
        sums[f"recall@{k}"] = hits / relevant
        sums[f"hit_rate@{k}"] = (hits > 0).astype(np.float64)
        sums[f"ndcg@{k}"] = count(inside * gain) / ideal[np.minimum(k, relevant).astype(int)]
    return sums


def _leave_out(scores, centres, known, part):
    """Set the scores of known targets to −∞, but not of held-out ones; return how many each centre loses."""
    seen = known[centres]
    out = (seen - seen.multiply(part.astype(bool))).tocsr()
    out.eliminate_zeros()
    scores[np.repeat(np.arange(len(centres)), np.diff(out.indptr)), out.indices] = -np.inf
    return np.diff(out.indptr)


def _as_known(known, n_centres, n_targets):
    """Return a CSR matrix of int8 ones where a pair is known, with a row for every centre that is asked for."""
    known = scipy.sparse.coo_matrix(known)
    if known.shape[1] != n_targets:
        raise ConfigError(f"the known pairs have {known.shape[1]} targets, the scores {n_targets}; use one vocabulary")
    asked = known.row < n_centres
    ones = np.ones(int(asked.sum()), bool)
    return scipy.sparse.csr_matrix((ones, (known.row[asked], known.col[asked])), (n_centres, n_targets)).astype(np.int8)


_BY_PAIR = ("mpr", "mpr_sampled", "likelihood", "log_p", "precision")


def _means(table, weights):
    """Return every figure for these weights of the centres: dict of name -> float."""
    by_pair, by_centre = float(weights @ table["pairs"]), float(weights @ table["centres"])
    return {
        name: float(weights @ sums) / (by_pair if name.split("@")[0] in _BY_PAIR else by_centre)
        for name, sums in table.items()
        if name not in ("pairs", "centres")
    }


def _result(table, ks, n_targets, left_out, logits, bootstrap, rng):
    n = len(table["centres"])
    means = _means(table, np.ones(n))
    samples = [_means(table, np.bincount(rng.integers(0, n, n), minlength=n)) for _ in range(bootstrap)]
    intervals = {
        name: tuple(float(v) for v in np.quantile([sample[name] for sample in samples], (0.025, 0.975)))
        for name in means
        if samples
    }
    nll = -means["log_p"] if logits else None
    if "log_p" in intervals:
        low, high = intervals.pop("log_p")
        intervals["nll"] = (-high, -low)
    at = {name: {k: means[f"{name}@{k}"] for k in ks} for name in ("precision", "list_precision", "recall", "hit_rate")}
    return RankingResult(
        mpr=means["mpr"],
        mpr_sampled=means["mpr_sampled"],
        **at,
        ndcg={k: means[f"ndcg@{k}"] for k in ks},
        likelihood=means.get("likelihood"),
        nll=nll,
        perplexity=float(np.exp(nll)) if logits else None,
        pairs=float(table["pairs"].sum()),
        centres=n,
        targets=n_targets,
        known_left_out=left_out,
        intervals=intervals,
    )
