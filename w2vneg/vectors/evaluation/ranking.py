"""Ranking of held-out pairs (i, j): the rank of j among all targets, sorted by the raw logit s_ij.

`metrics` derives figures from the ranks: means over pairs, as in the papers, and means over centres, as for
recommendations, which compare the list of the k best targets of i with all its held-out ones.
Known targets that are left out are removed from i's catalogue before anything is ranked or normalised; V_i is what
remains. Intervals: percentile bootstrap over centres, whose pairs belong together; beyond `_GROUPS` centres, over
that many random groups of them.
"""

from dataclasses import asdict, dataclass, field
from numbers import Integral
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import scipy.sparse
from scipy.special import stdtrit

from ...ground.errors import ConfigError, InputError, check_whole
from ...kernels.evaluation.best import best_of_rows
from ...kernels.evaluation.ranking import Question, find_places
from .metrics import METRICS, TieGroups

_SCORES = 16_000_000  # scores held at a time (64 MB as float32)
_GROUPS = 10_000
KS = (1, 5, 15, 50)


@dataclass(frozen=True)
class RankingResult:
    """The result of a ranking; every figure of `METRICS` is also an attribute: ``result.mpr``, ``result.ndcg[15]``.

    figures : dict of name -> float, or dict of k -> float; None if unavailable (likelihoods of scores that are not
        logits, mpr_sampled without samples), empty for novelty without counts
    intervals : dict of name -> (low, high), 95 %, of every mean ("precision@5"); none without bootstrap, for one centre
    pairs : float, sum of their weights; distinct_pairs, centres : int; targets : int, in the catalogue
    known_left_out : bool; known_held_out : int, pairs both known and held out, which stay in the catalogue
    tenths : list of dict, tenths of all targets, most popular first: "pairs", the share of held-out pairs with such a
        target, "precision", dict of k -> how often it is among the k best; empty without counts
    """

    figures: dict
    pairs: float
    distinct_pairs: int
    centres: int
    targets: int
    known_left_out: bool
    known_held_out: int
    intervals: dict
    tenths: list
    sums: dict = field(default_factory=dict, repr=False, compare=False)  # float64 (groups,), of centres

    if TYPE_CHECKING:  # the figures by name: class variables, as they are not fields
        mpr: ClassVar[float]
        auc: ClassVar[float]
        mrr: ClassVar[float]
        mpr_sampled: ClassVar[float | None]
        likelihood: ClassVar[float | None]
        nll: ClassVar[float | None]
        perplexity: ClassVar[float | None]
        precision: ClassVar[dict[int, float]]
        list_precision: ClassVar[dict[int, float]]
        recall: ClassVar[dict[int, float]]
        hit_rate: ClassVar[dict[int, float]]
        ndcg: ClassVar[dict[int, float]]
        map: ClassVar[dict[int, float]]
        coverage: ClassVar[dict[int, float]]
        novelty: ClassVar[dict[int, float]]

    def __getattr__(self, name):
        try:
            return self.__dict__["figures"][name]
        except KeyError:
            raise AttributeError(f"{type(self).__name__} has no {name!r}") from None

    def by_name(self):
        """Return every figure by its full name, as ``"precision@5"``: dict of str -> float or None."""
        found = {}
        for name, value in self.figures.items():
            found |= {f"{name}@{k}": one for k, one in value.items()} if METRICS[name].at_k else {name: value}
        return found

    def as_dict(self):
        facts = {name: value for name, value in asdict(self).items() if name != "sums"}
        return facts.pop("figures") | facts

    def above(self, other, name):
        """Return by how much a figure is better than in `other`, with its 95 % interval: three float.

        Below 0 it is worse. The interval is Student's, for paired differences of the same centres, evaluated with the
        same seed; it is infinite if all differences are equal.
        name : str, full name of a figure that models are compared by; other : RankingResult of the same pairs
        """
        one = METRICS[name.partition("@")[0]]
        sizes, apart = self.sums["pairs" if one.by_pair else "centres"], self.sums[name] - other.sums[name]
        n, mean = len(sizes), apart.sum() / sizes.sum()
        spread = np.sqrt(((apart - mean * sizes) ** 2).sum() * n / max(n - 1, 1)) / sizes.sum()
        difference, reach = one.sign * one.of_mean(mean), stdtrit(n - 1, 0.975) * spread if spread > 0 else np.inf
        return float(difference), float(difference - reach), float(difference + reach)


def evaluate_ranking(
    scores, pairs, n_targets, *, ks=KS, known=None, one_kind=False, logits=True, samples=100, bootstrap=1000, seed=1,
    counts=None, each=None,
):  # fmt: skip
    """Rank the held-out targets of every centre among the whole catalogue; returns a `RankingResult`.

    scores : callable, int64 (b,) centre ids -> float32 or float64 (b, n_targets); see `scores`
    pairs : (centres, targets, weights), int, int and float, (n,), held out; weights of repeated pairs are summed
    known : scipy.sparse matrix, (n_centres, n_targets), optional, pairs to leave out of the catalogue, if not held out
    one_kind : bool, centres are targets, too, and none competes with its own targets
    logits : bool, the scores are logits, so that likelihoods are meaningful
    samples, bootstrap : int, targets drawn for each pair for the sampled MPR, and resamples of the centres for the
        intervals, which depend on centres and seed, not on scores; 0 for none
    counts : (n_targets,), optional, how often each target was seen in training, for novelty
    each : callable, optional, called for every block with its centres, int (b,), and their sums: "ndcg@10" ->
        float64 (b,); for means over centres, these are the figures of each centre

    InputError if there is no pair, or scores are not finite. ConfigError if a k is below 1, a weight is negative,
    there are fewer than two targets, or known pairs belong to another catalogue.
    """
    ks = check_settings(ks, samples, bootstrap, seed)
    if n_targets < 2:
        raise ConfigError(f"ranking needs two targets or more; got {n_targets}")
    held = _as_held(pairs, n_targets)
    centres = np.flatnonzero(np.diff(held.indptr))
    known_in = given_in = _as_known(known, *held.shape)
    if one_kind:  # no centre is in its own catalogue
        known_in = (given_in + scipy.sparse.eye(*held.shape, dtype=bool, format="csr")).tocsr()
    for_groups, for_samples, for_bootstrap = map(np.random.default_rng, np.random.SeedSequence(seed).spawn(3))
    groups = np.arange(len(centres))
    if len(centres) > _GROUPS:
        groups = for_groups.permutation(groups) % _GROUPS
    table = {}  # figure -> float64 (groups,), sums over the centres of each group
    rows = max(1, _SCORES // n_targets)
    catalogue = _Catalogue(ks, n_targets, counts)
    for start in range(0, len(centres), rows):
        part = slice(start, start + rows)
        block = Block(scores(centres[part]), centres[part], held, known_in, logits, samples, for_samples)
        block.novelty = catalogue.add(block)
        found = _sums(block, ks)
        if each is not None:
            each(centres[part], found)
        for name, sums in found.items():
            total = table.setdefault(name, np.zeros(groups.max() + 1))
            total += np.bincount(groups[part], sums, len(total))
    means = {name: float(value[0]) for name, value in _means(table, np.ones((1, groups.max() + 1))).items()}
    figures = {
        name: {k: means[f"{name}@{k}"] for k in ks if f"{name}@{k}" in means} if METRICS[name].at_k else means.get(name)
        for name in METRICS
    }
    return RankingResult(
        figures=figures | {"coverage": catalogue.coverage()},
        pairs=float(held.data.sum()),
        distinct_pairs=held.nnz,
        centres=len(centres),
        targets=n_targets,
        known_left_out=known is not None,
        known_held_out=int(given_in.multiply(held.astype(bool)).nnz),
        intervals=_intervals(table, bootstrap, for_bootstrap),
        tenths=catalogue.tenths(),
        sums=table,
    )


def check_settings(ks, samples=0, bootstrap=0, seed=0, **others):
    """Return ks as a tuple of int; ConfigError if it or another setting of `evaluate_ranking` is out of range."""
    given = tuple(ks) if np.iterable(ks) else ()
    if not given or not all(isinstance(k, Integral) and k >= 1 for k in given):
        raise ConfigError(f"ks must be whole numbers of at least 1, such as ks=(5, 15), not {ks!r:.60}")
    for name, value in (("samples", samples), ("bootstrap", bootstrap), ("seed", seed)):
        check_whole(name, value, 0)
    return tuple(map(int, given))


class Block:
    """The held-out pairs of some centres with their ranks, for `metrics`.

    row : int64, (n,), centre within the block; target : int32, (n,); weight : float64, (n,)
    above, equal : int64, (n,), targets that score higher, and others that score the same
    size : int64, (b,), of each centre's catalogue; log_p : float64, (n,)
    scores : (b, n_targets), −∞ for targets left out; relevant : float64, (b,), held-out targets of each centre
    ties : metrics.TieGroups; novelty : callable, k -> float64 (b,) or None
    logits, samples, rng : as for `evaluate_ranking`
    """

    def __init__(self, scores, centres, held, known, logits, samples, rng):
        part, seen = held[centres], known[centres]
        self.n_centres = len(centres)
        self.logits, self.samples, self.rng = logits, samples, rng
        self.row = np.repeat(np.arange(len(centres)), np.diff(part.indptr))
        self.target, self.weight = part.indices, part.data
        wanted, out = ((one.indptr.astype(np.int64), one.indices.astype(np.int32)) for one in (part, seen))
        self.scores = np.ascontiguousarray(scores)
        found = find_places(self.scores, Question(*wanted, *out))
        if not np.isfinite(found.log_z).all() or not np.isfinite(found.own).all():
            raise InputError("some scores are not finite: the vectors are too long, the model has diverged")
        self.above, self.equal = found.above, found.equal
        self.size = scores.shape[1] - found.gone
        self.log_p = found.own - found.log_z[self.row]
        self.relevant = self.total(None)
        self.ties = TieGroups(self)

    def total(self, values):
        """Return sums over each centre's pairs, float64 (b,), of values (n,); None counts the pairs."""
        return np.bincount(self.row, values, self.n_centres)

    def inside(self, k):
        """Return whether each pair's target is among the k best, float64 (n,): 0 or 1, or a share in a tie."""
        return np.clip((k - self.above) / (self.equal + 1.0), 0.0, 1.0)


def _sums(block, ks):
    """Return the sums behind every figure: dict of name -> float64 (b,), over each centre's pairs."""
    sums = {"pairs": block.total(block.weight), "centres": np.ones(block.n_centres)}
    for name, one in METRICS.items():
        sums |= {f"{name}@{k}": one.sums(block, k) for k in ks} if one.at_k else {name: one.sums(block)}
    return {name: values for name, values in sums.items() if values is not None}


class _Catalogue:
    """Figures of the whole catalogue: which targets are in any centre's list, and precision by popularity."""

    def __init__(self, ks, n_targets, counts):
        self._ks, self._best_place = ks, np.full(n_targets, n_targets)  # best rank of each target in any list
        self._bits = self._tenth = None
        if counts is not None:
            counts = np.asarray(counts, np.float64)
            order = np.argsort(-counts, kind="stable")
            self._tenth = np.empty(n_targets, np.int64)  # ties by id
            self._tenth[order] = 10 * np.arange(n_targets) // n_targets
            self._pairs, self._found = np.zeros(10), {k: np.zeros(10) for k in ks}
            if counts.sum() > 0:
                self._bits = -np.log2(np.where(counts > 0, counts, 0.5 * counts[counts > 0].min()) / counts.sum())

    def add(self, block):
        """Count a block's lists; return a function from k to the novelty of each list, float64 (b,), or None."""
        k = min(max(self._ks), block.scores.shape[1])
        ids = best_of_rows(block.scores.astype(np.float32, copy=False), k).ids
        listed = ids >= 0
        np.minimum.at(self._best_place, ids[listed], np.broadcast_to(np.arange(k), ids.shape)[listed])
        if self._tenth is not None:
            tenth = self._tenth[block.target]
            self._pairs += np.bincount(tenth, block.weight, 10)
            for one, found in self._found.items():
                found += np.bincount(tenth, block.weight * block.inside(one), 10)
        if self._bits is None:
            return lambda k: None
        bits = np.cumsum(np.where(listed, self._bits[ids], 0.0), axis=1)
        lengths = np.cumsum(listed, axis=1)
        return lambda one: bits[:, min(one, k) - 1] / np.maximum(lengths[:, min(one, k) - 1], 1)

    def coverage(self):
        return {k: float((self._best_place < k).mean()) for k in self._ks}

    def tenths(self):
        if self._tenth is None:
            return []
        found = {k: sums / np.where(self._pairs, self._pairs, 1.0) for k, sums in self._found.items()}
        precision = [{k: float(means[n]) for k, means in found.items()} if self._pairs[n] else None for n in range(10)]
        shares = (self._pairs / self._pairs.sum()).tolist()
        return [{"pairs": share, "precision": own} for share, own in zip(shares, precision, strict=True)]


def _as_held(pairs, n_targets):
    """Return the held-out pairs as CSR, float64 weights above 0, each pair once."""
    centres, targets, weights = (np.asarray(values) for values in pairs)
    if len(weights) and not (np.isfinite(weights).all() and weights.min() >= 0):
        raise ConfigError("weights of held-out pairs must be finite and not negative")
    seen = weights > 0
    if not seen.any():
        raise InputError("no held-out pair to rank: all their items are unknown to the model")
    shape = (int(centres[seen].max()) + 1, n_targets)
    held = scipy.sparse.coo_matrix((weights[seen].astype(np.float64), (centres[seen], targets[seen])), shape).tocsr()
    held.sum_duplicates()
    return held


def _as_known(known, n_centres, n_targets):
    """Return a CSR matrix of ones where a pair is known, with a row for every centre requested."""
    known = scipy.sparse.coo_matrix((n_centres, n_targets) if known is None else known)
    if known.shape[1] != n_targets:
        raise ConfigError(f"the known pairs have {known.shape[1]} targets, the scores {n_targets}; use one vocabulary")
    within = known.row < n_centres
    ones = np.ones(int(within.sum()), bool)
    return scipy.sparse.csr_matrix((ones, (known.row[within], known.col[within])), (n_centres, n_targets))


def _means(table, weights):
    """Return every figure for weights of the groups, float64 (r, groups): dict of name -> float64 (r,)."""
    by_pair, by_centre = weights @ table["pairs"], weights @ table["centres"]
    means = {}
    for name, sums in table.items():
        if name not in ("pairs", "centres"):
            one = METRICS[name.partition("@")[0]]
            means[name] = one.of_mean(weights @ sums / (by_pair if one.by_pair else by_centre))
    return means


def _intervals(table, bootstrap, rng):
    n = len(table["centres"])
    if n < 2 or not bootstrap:
        return {}
    parts, batch = [], max(1, _SCORES // 16 // n)
    for start in range(0, bootstrap, batch):
        r = min(batch, bootstrap - start)
        drawn = rng.integers(0, n, (r, n)) + n * np.arange(r)[:, None]
        parts.append(_means(table, np.bincount(drawn.ravel(), minlength=r * n).reshape(r, n).astype(np.float64)))
    means = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return {name: tuple(np.quantile(values, (0.025, 0.975)).tolist()) for name, values in means.items()}
