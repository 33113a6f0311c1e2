"""Paradigms: words that differ by one ending or beginning (run, running) stand at one offset a rule.

A rule is a pair of endings (or beginnings) behind a common stem. The cosines of its pairs are a mixture of chance,
N(m₀, s₀) of random pairs, and kin, N(m₁, s₁); π_r is its share of kin, t the chance of a pair to be kin, a_r the mean
cosine of a pair's offset with the others'. ẑ are centred rows of length one.

    Σ_i n_i / (n_i + κ) ‖z_i − ẑ_i‖² + 1 / (h W) Σ_(i, j) w ‖z_j − z_i − σ_r o_r‖²      (four Jacobi steps)
    w = t π_r a_r (n_i / (n_i + 20) + n_j / (n_j + 20)),    o_r = Σ t (ẑ_j − ẑ_i) / Σ t
    σ_r = min(3, (rms ‖ẑ_j − ẑ_i‖ / ‖o_r‖)^½)

W is the median over words of their Σ w. A mean of noisy offsets is too short, hence σ. Lengths are given back.
"""

from dataclasses import dataclass

import numpy as np

from ...ground.option import option
from ...ground.registry import About
from . import READOUTS, Readout

_STEPS = 4  # of Jacobi
_BUCKETS = 1 << 22  # of counting rules, so that pairs of rare rules are never kept
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_CHUNK = 1 << 15  # pairs whose offsets stand in memory at a time


@dataclass
class Pairs:
    """E pairs of words and their rules: `i`, `j`, `rule` int64 (E,), `kin` (E,) chances, `strength` π a of rules."""

    i: np.ndarray
    j: np.ndarray
    rule: np.ndarray
    kin: np.ndarray
    strength: np.ndarray | None = None

    def of(self, kept):
        """Return those of a mask, rules numbered anew."""
        rule = np.unique(self.rule[kept], return_inverse=True)[1]
        return Pairs(self.i[kept], self.j[kept], rule, self.kin[kept])


@READOUTS.register("paradigms")
class Paradigms(Readout):
    """Refines vectors of words by the rules that their spellings show."""

    class Options:
        damping: float = option(3.0, "h: what a word itself weighs beside its kin.", above=0)
        kin: float = option(0.05, "Least chance that a pair is kin.", at_least=0, at_most=1)
        prior: float = option(2.0, "Occurrences that kin are worth.", above=0)
        support: int = option(8, "Fewest pairs of a rule.", at_least=2)
        longest: int = option(5, "Longest ending or beginning.", at_least=1, at_most=20)

    refines = True
    matrices = ()
    of_text = True
    about = About(
        summary="words of a paradigm (run, running) stand at one offset a rule, found in spellings and vectors",
        equation="Σ n/(n+κ) ‖z - ẑ‖² + 1/(hW) Σ w ‖z_j - z_i - σ_r o_r‖²",
        paper="our own",
        cost="sorting stems, and products of a sparse matrix, V by V, with the vectors",
        use="text: syntactic analogies gain most",
    )

    def memory(self, n_vocab, dim):
        return 2 * 4 * n_vocab * dim + 2000 * n_vocab  # of rows and of sorting stems

    def read(self, trained, vectors):
        z = vectors - vectors.mean(axis=0, dtype=np.float64).astype(np.float32)
        lengths = np.linalg.norm(z, axis=1, keepdims=True)
        z /= np.where(lengths > 0, lengths, 1)
        pairs = likely(z, candidates(trained.words, self.options.support, self.options.longest), self.options.kin)
        if len(pairs.i):
            for moved in steps(z, pairs, np.asarray(trained.counts, np.float64), self.options):
                z = moved
            z /= np.maximum(np.linalg.norm(z, axis=1, keepdims=True), np.float32(1e-12))
        z *= lengths
        return z


def candidates(words, support, longest):
    """Return the pairs of words that share a stem, of rules with `support` pairs or more."""
    ends = _affixes(words, support, longest, 3)
    starts = _affixes([word[::-1] if len(word) >= 5 else "" for word in words], support, longest, 3)
    i, j, rule = (np.concatenate(both) for both in zip(ends, starts, strict=True))
    rule[len(ends[2]) :] += ends[2].max(initial=-1) + 1
    return Pairs(i, j, rule, np.ones(len(i)))


def _affixes(words, support, longest, stem):
    lengths = np.fromiter(map(len, words), np.int64, len(words))
    first = np.cumsum(lengths) - lengths
    codes = np.frombuffer("".join(words).encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.uint64)
    mixed = (codes + np.uint64(1)) * _MULTIPLIER
    mixed ^= mixed >> np.uint64(29)
    powers = np.cumprod(np.full(lengths.max(initial=0) + 1, _MULTIPLIER))
    sums = np.zeros(len(codes) + 1, np.uint64)
    np.cumsum(mixed * powers[np.arange(len(codes)) - np.repeat(first, lengths)], out=sums[1:])
    stems, ends, borders, owners = [], [], [], []
    for n in range(longest + 1):
        owner = np.flatnonzero(lengths >= stem + n)
        border = first[owner] + lengths[owner] - n
        end = np.zeros(len(owner), np.uint64)
        for k in range(n):
            end = end * _MULTIPLIER + mixed[border + k]
        stems.append(sums[border] - sums[first[owner]])
        ends.append(end)
        borders.append(codes[border] + np.uint64(1) if n else np.zeros(len(owner), np.uint64))
        owners.append(owner)
    stems, ends, borders, owners = map(np.concatenate, (stems, ends, borders, owners))
    _, number, met = np.unique(ends, return_inverse=True, return_counts=True)
    often = met[number] >= support
    stems, number, borders, owners = stems[often], number[often], borders[often], owners[often]
    order = np.lexsort((number, stems))
    stems, number, borders, owners = stems[order], number[order], borders[order], owners[order]
    size = len(met)

    def each():
        active = np.arange(len(stems) - 1)
        for k in range(1, len(stems)):
            active = active[active + k < len(stems)]
            active = active[stems[active] == stems[active + k]]
            if not len(active):
                return
            at = active[borders[active] != borders[active + k]]
            yield at, at + k, number[at] * size + number[at + k]

    met = np.zeros(_BUCKETS, np.int32)
    for _, _, rule in each():
        np.add.at(met, rule % _BUCKETS, 1)
    found = [
        (owners[i][kept], owners[j][kept], rule[kept])
        for i, j, rule in each()
        for kept in [met[rule % _BUCKETS] >= support]
    ]
    if not found:
        return (np.empty(0, np.int64),) * 3
    i, j, rule = map(np.concatenate, zip(*found, strict=True))
    _, rule, met = np.unique(rule, return_inverse=True, return_counts=True)
    kept = met[rule] >= support
    return i[kept], j[kept], np.unique(rule[kept], return_inverse=True)[1]


def _cosines(z, i, j):
    parts = [slice(k, k + _CHUNK) for k in range(0, len(i), _CHUNK)]
    return np.concatenate([np.empty(0)] + [np.einsum("ij,ij->i", z[i[p]], z[j[p]]) for p in parts])


def likely(z, pairs, least):
    """Return the pairs that are kin, with their chance, of rules that hold."""
    if not len(pairs.i):
        return pairs
    i, j = np.random.default_rng(0).integers(len(z), size=(2, 100_000))
    chance = _cosines(z, i[i != j], j[i != j])
    m0, s0 = chance.mean(), max(chance.std(), 1e-6)
    cosine, rule, n = _cosines(z, pairs.i, pairs.j), pairs.rule, np.bincount(pairs.rule)
    m1, s1, share = m0 + 3 * s0, s0, np.full(len(n), 0.5)
    for _ in range(20):
        odds = np.log(np.clip(share, 1e-9, 1 - 1e-9) / np.clip(1 - share, 1e-9, 1))[rule] + np.log(s0 / s1)
        odds += ((cosine - m0) / s0) ** 2 / 2 - ((cosine - m1) / s1) ** 2 / 2
        t = 1 / (1 + np.exp(-np.clip(odds, -50, 50)))
        share = np.bincount(rule, t) / n
        total = max(t.sum(), 1e-9)
        m1 = max(t @ cosine / total, m0 + s0)
        s1 = max(np.sqrt(t @ (cosine - m1) ** 2 / total), 0.01)
    pairs.kin = t
    kept = t >= least
    kept &= (np.bincount(rule[kept], minlength=len(n)) >= 4)[rule] & (share > 0.3)[rule]
    share = share[np.unique(rule[kept])]
    pairs = pairs.of(kept)
    if not len(pairs.i):
        return pairs
    sums, quality = _offsets(z, pairs), np.zeros(len(share))
    for start in range(0, len(pairs.i), _CHUNK):
        p = slice(start, start + _CHUNK)
        own, t = z[pairs.j[p]] - z[pairs.i[p]], pairs.kin[p]
        rest = sums[pairs.rule[p]] - t[:, None] * own
        norms = np.linalg.norm(own, axis=1) * np.linalg.norm(rest, axis=1)
        cosine = np.einsum("ij,ij->i", own, rest) / np.maximum(norms, 1e-12)
        quality += np.bincount(pairs.rule[p], t * cosine, len(share))
    quality /= np.bincount(pairs.rule, pairs.kin)
    kept = quality > 0.05
    found = pairs.of(kept[pairs.rule])
    found.strength = (share * quality)[kept]
    return found


def _offsets(z, pairs):
    """Return Σ t (z_j − z_i) of each rule, (n_rules, dim)."""
    from scipy import sparse

    ends = np.concatenate([pairs.j, pairs.i])
    signed, rules = np.concatenate([pairs.kin, -pairs.kin]), np.concatenate([pairs.rule] * 2)
    return sparse.csr_matrix((signed.astype(np.float32), (rules, ends)), (pairs.rule.max() + 1, len(z))) @ z


def steps(z, pairs, counts, options):
    """Yield the rows after each Jacobi step."""
    from scipy import sparse

    sure, total = counts / (counts + 20), np.bincount(pairs.rule, pairs.kin)
    offsets = _offsets(z, pairs) / total[:, None]
    squares = np.bincount(pairs.rule, pairs.kin * (2 - 2 * _cosines(z, pairs.i, pairs.j))) / total
    stretch = np.minimum(3, np.sqrt(np.sqrt(squares) / np.maximum(np.linalg.norm(offsets, axis=1), 1e-12)))
    offsets = (offsets * stretch[:, None]).astype(np.float32)
    w = pairs.kin * pairs.strength[pairs.rule] * (sure[pairs.i] + sure[pairs.j])
    i, j = np.concatenate([pairs.i, pairs.j]), np.concatenate([pairs.j, pairs.i])
    degree = np.bincount(i, np.concatenate([w, w]), len(z))
    scale = 1 / (options.damping * np.median(degree[degree > 0]))
    w = (scale * w).astype(np.float32)
    near = sparse.csr_matrix((np.concatenate([w, w]), (i, j)), (len(z), len(z)))
    shift = sparse.csr_matrix((np.concatenate([-w, w]), (i, np.concatenate([pairs.rule] * 2))), (len(z), len(total)))
    own = np.where(degree > 0, counts / (counts + options.prior), 1.0)
    fixed = own.astype(np.float32)[:, None] * z + shift @ offsets
    whole = np.maximum(own + scale * degree, 1e-12).astype(np.float32)[:, None]
    for _ in range(_STEPS):
        z = (fixed + near @ z) / whole
        yield z
