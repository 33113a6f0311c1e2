"""Paradigms: words that differ by one ending or beginning (run, running) stand at one offset a rule.

A rule is a pair of endings (or beginnings) behind a common stem. The cosines of its pairs are a mixture of chance,
N(m₀, s₀) of random pairs, and kin, N(m₁, s₁); π_r is its share of kin, t the chance of a pair to be kin. The mixture is
fitted with the weight n / (n + 100) of either word, for the cosines of rare words say little. Pairs of t < ½ go. k_r is
the sum of t, a_r the mean cosine of a pair's offset with the others'. ẑ are centred rows of length one.

    z_i ← (ẑ_i + λ Σ_j w_ij (ẑ_j ∓ σ_r o_r)) / (1 + λ Σ_j w_ij)
    w_ij = t π_r a_r k_r / (k_r + 20) · n_j / (n_j + 20),    λ = 1 / (h W)
    o_r = Σ t (ẑ_j − ẑ_i) / Σ t,    σ_r = min(3, (rms ‖ẑ_j − ẑ_i‖ / ‖o_r‖)^½)

n_j counts a word, W is the median over words of their Σ w. A mean of noisy offsets is too short, hence σ. Lengths are
given back. A spelling that is not among the words stands at the mean of ẑ_j ∓ σ_r o_r over those that a rule leads to,
weighted by π_r a_r k_r / (k_r + 20).
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ...data.words import PackedStrings
from . import READOUTS, About, Readout, option
from .letters import MULTIPLIER, characters, mixed

_STEM = 3  # characters that words share, at least
_WHOLE = 5  # characters of words that differ by beginnings, at least
_PER_RULE = 10_000  # words of which a pair must follow a rule, at least, or there would be as many rules as words
_FEW = 20  # pairs at which a rule counts half
_RARE = 100  # occurrences at which a word's cosines count half
_KIN = 0.5  # least chance that a pair is kin
_CROWD = 500  # words that share a beginning and are no paradigm any more, such as numbered names
_CHUNK = 1 << 10  # pairs whose offsets stand in memory at a time
_COLUMNS = 16  # moved at a time


@dataclass
class Pairs:
    """E pairs of words and the rules they follow.

    i, j, rule : int32, (E,); kin : float32, (E,), t
    front : bool, (n_rules,), whether it is of beginnings; strength : float64, (n_rules,), π a k / (k + 20)
    offsets : float32, (n_rules, dim), σ o
    """

    i: np.ndarray
    j: np.ndarray
    rule: np.ndarray
    kin: np.ndarray
    front: np.ndarray
    strength: np.ndarray = field(default_factory=lambda: np.empty(0))
    offsets: np.ndarray = field(default_factory=lambda: np.empty((0, 0), np.float32))

    def of(self, kept):
        """Return those of a mask, rules numbered anew."""
        left, rule = np.unique(self.rule[kept], return_inverse=True)
        return Pairs(self.i[kept], self.j[kept], rule.astype(np.int32), self.kin[kept], self.front[left])


class Kin(NamedTuple):
    """A word of the same paradigm; its rule, as ``-y +ies`` or ``un+``, and how many pairs follow that."""

    word: str
    rule: str
    pairs: int


class Rules:
    """What was found in spellings: rules, and the words that they join."""

    def __init__(self, words, pairs):
        self.words, self.pairs = PackedStrings.of(words), pairs

    @cached_property
    def ends(self):
        """What the two words of a rule have behind, or before, their stem: list of (str, str)."""
        first = np.unique(self.pairs.rule, return_index=True)[1].tolist()
        words = ((self.words[int(self.pairs.i[e])], self.words[int(self.pairs.j[e])]) for e in first)
        return [_ends(*both, front) for both, front in zip(words, self.pairs.front, strict=True)]

    def kin(self, word):
        """Return the `Kin` of a word, or of a spelling that is not among the words, the strongest first."""
        sizes, found = np.bincount(self.pairs.rule), {}
        for row, rule, sign in self.joined(word):
            off, on = self.ends[rule][::-sign]
            parts = (off + "-", on + "+") if self.pairs.front[rule] else ("-" + off, "+" + on)
            change = " ".join(part for part in parts if len(part) > 1)
            one = Kin(self.words[row], change, int(sizes[rule]))
            found.setdefault(one.word, one)
        return list(found.values())

    def joined(self, word):
        """Return what stands beside a word: list of (row, rule, 1 where the word is behind the rule, else -1)."""
        row, pairs = self.words.find(word), self.pairs
        if row < 0:
            return self._spelt(word)
        at = np.flatnonzero((pairs.i == row) | (pairs.j == row))
        at = at[np.argsort(-pairs.kin[at] * pairs.strength[pairs.rule[at]], kind="stable")]
        behind = pairs.j[at] == row
        others = np.where(behind, pairs.i[at], pairs.j[at])
        return list(zip(others.tolist(), pairs.rule[at].tolist(), np.where(behind, 1, -1).tolist(), strict=True))

    def _spelt(self, word):
        found = []
        for front in (False, True):
            spelt = word[::-1] if front else word
            for stem in range(_STEM, len(spelt) + 1):
                for other, rule, sign in self._by_end.get((front, spelt[stem:]), ()):
                    base = spelt[:stem] + other
                    row = self.words.find(base[::-1] if front else base)
                    if row >= 0 and (not front or min(len(base), len(spelt)) >= _WHOLE):
                        found.append((row, rule, sign))
        return sorted(found, key=lambda one: -self.pairs.strength[one[1]])

    @cached_property
    def _by_end(self):
        found = {}  # (is it a beginning, end) -> list of (end of the other word, rule, sign)
        for rule, (ends, front) in enumerate(zip(self.ends, self.pairs.front.tolist(), strict=True)):
            one, other = (end[::-1] for end in ends) if front else ends
            found.setdefault((front, other), []).append((one, rule, 1))
            found.setdefault((front, one), []).append((other, rule, -1))
        return found


class Derived:
    """Vectors of any spelling: where its kin among the words would have it, else what its letters (or None) give."""

    def __init__(self, rules, vectors, letters):
        self.rules, self.vectors, self.letters = rules, vectors, letters

    def vector(self, word):
        """Return the vector of a spelling, float32 (dim,); None if nothing is known of it."""
        joined = self.rules.joined(word)
        if not joined:
            return None if self.letters is None else self.letters.vector(word)
        rows, rule, sign = map(np.array, zip(*joined, strict=True))
        known, pairs = self.vectors[rows], self.rules.pairs
        lengths, w = np.linalg.norm(known, axis=1), pairs.strength[rule] / pairs.strength[rule].sum()
        z = w @ (known / np.maximum(lengths, 1e-12)[:, None] + sign[:, None] * pairs.offsets[rule])
        return (z * (w @ lengths / max(np.linalg.norm(z), 1e-12))).astype(np.float32)


def _ends(one, other, front):
    if front:
        return tuple(end[::-1] for end in _ends(one[::-1], other[::-1], False))
    shorter = min(len(one), len(other))
    stem = next((k for k in range(shorter) if one[k] != other[k]), shorter)
    return one[stem:], other[stem:]


@READOUTS.register("paradigms")
class Paradigms(Readout):
    class Options:
        damping: float = option(3.0, "h: what a word itself weighs beside its kin.", above=0)
        support: int = option(8, "Fewest pairs of a rule; more beyond 80,000 words.", at_least=4)
        longest: int = option(5, "Longest ending or beginning.", at_least=1, at_most=20)

    refines = True
    matrices = ()
    of_text = True
    about = About(
        summary="words of a paradigm (run, running) stand at one offset a rule, found in spellings and vectors",
        equation="z_i ← (ẑ_i + λ Σ_j w (ẑ_j − σ_r o_r)) / (1 + λ Σ_j w), λ = 1 / (h W)",
        paper="our own",
        cost="sorting stems, and two products of a sparse matrix with the vectors",
        use="text: syntactic analogies gain most",
    )

    def memory(self, n_vocab, dim):
        return 4 * n_vocab * dim + 700 * n_vocab  # of rows, of sorting stems and of pairs

    def read(self, trained, vectors):
        support = max(self.options.support, len(vectors) // _PER_RULE)
        found = candidates(trained.words, support, self.options.longest)
        kept = any(m is not None and np.may_share_memory(m, vectors) for m in (trained.vectors_in, trained.vectors_out))
        mean = vectors.mean(axis=0, dtype=np.float64).astype(np.float32)
        z = np.subtract(vectors, mean, out=None if kept else vectors)
        lengths = _to_unit(z)
        counts = np.asarray(trained.counts, np.float64)
        pairs = likely(z, found, counts)
        self.rules = Rules(trained.words, pairs)
        if len(pairs.i):
            move(z, pairs, counts / (counts + 20), self.options.damping)
            _to_unit(z)
        z *= lengths
        if trained.spell:
            self.spellings = Derived(self.rules, z, trained.spellings)
        return z


def _to_unit(z):
    """Bring rows to length one, in place; return what they were, float32 (n, 1)."""
    lengths = np.sqrt(np.einsum("ij,ij->i", z, z))[:, None]
    z /= np.maximum(lengths, np.float32(1e-12))
    return lengths


def candidates(words, support, longest):
    """Return the pairs of words that share a stem, of rules with `support` pairs or more."""
    ends = _affixes(words, support, longest)
    starts = _affixes([word[::-1] if len(word) >= _WHOLE else "" for word in words], support, longest)
    i, j, rule = (np.concatenate(both) for both in zip(ends, starts, strict=True))
    n_ends = ends[2].max(initial=-1) + 1
    rule[len(ends[2]) :] += n_ends
    front = np.arange(rule.max(initial=-1) + 1) >= n_ends
    return Pairs(i, j, rule, np.ones(len(i), np.float32), front)


def _affixes(words, support, longest):
    lengths = np.fromiter(map(len, words), np.int64, len(words))
    first = np.cumsum(lengths) - lengths
    codes = characters("".join(words))
    numbers = mixed(codes)
    powers = np.cumprod(np.full(lengths.max(initial=0) + 1, MULTIPLIER))
    sums = np.zeros(len(codes) + 1, np.uint64)
    np.cumsum(numbers * powers[np.arange(len(codes)) - np.repeat(first, lengths)], out=sums[1:])
    stems, ends, borders, owners = [], [], [], []
    for n in range(longest + 1):
        owner = np.flatnonzero(lengths >= _STEM + n)
        border = first[owner] + lengths[owner] - n
        end = np.zeros(len(owner), np.uint64)
        for k in range(n):
            end = end * MULTIPLIER + numbers[border + k]
        stems.append(sums[border] - sums[first[owner]])
        ends.append(end)
        borders.append((codes[border] + np.uint64(1) if n else np.zeros(len(owner))).astype(np.uint32))
        owners.append(owner.astype(np.int32))
    stems, ends, borders, owners = map(np.concatenate, (stems, ends, borders, owners))
    _, number, met = np.unique(ends, return_inverse=True, return_counts=True)
    del ends
    often = np.flatnonzero(met[number] >= support)
    often = often[np.lexsort((number[often], stems[often]))]
    _, place, crowd = np.unique(stems[often], return_inverse=True, return_counts=True)
    often = often[crowd[place] <= _CROWD]
    stems, number, borders, owners = stems[often], number[often], borders[often], owners[often]
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

    buckets = 1 << max(16, len(stems).bit_length())  # so that pairs of rare rules are never kept
    met, waiting = np.zeros(buckets, np.int32), []
    for _, _, rule in each():
        waiting.append(rule % buckets)
        if sum(map(len, waiting)) > buckets >> 2:
            met += np.bincount(np.concatenate(waiting), minlength=buckets).astype(np.int32)
            waiting = []
    for rule in waiting:
        np.add.at(met, rule, 1)
    found = []
    for i, j, rule in each():
        kept = met[rule % buckets] >= support
        found.append((owners[i][kept], owners[j][kept], rule[kept]))
    if not found:
        return (np.empty(0, np.int32),) * 3
    i, j, rule = map(np.concatenate, zip(*found, strict=True))
    _, rule, met = np.unique(rule, return_inverse=True, return_counts=True)
    kept = met[rule] >= support
    return i[kept], j[kept], np.unique(rule[kept], return_inverse=True)[1].astype(np.int32)


def _cosines(z, i, j):
    parts = [slice(k, k + _CHUNK) for k in range(0, len(i), _CHUNK)]
    return np.concatenate([np.empty(0, np.float32)] + [np.einsum("ij,ij->i", z[i[p]], z[j[p]]) for p in parts])


def likely(z, pairs, counts):
    """Return the pairs that are kin, of rules that hold, with all that `Pairs` has."""
    i, j = np.random.default_rng(0).integers(len(z), size=(2, 100_000))
    chance = _cosines(z, i[i != j], j[i != j])
    m0, s0 = float(chance.mean()), max(float(chance.std()), 1e-6)
    cosine, rule, sure = _cosines(z, pairs.i, pairs.j), pairs.rule, (counts / (counts + _RARE)).astype(np.float32)
    sure = sure[pairs.i] * sure[pairs.j]
    n = np.bincount(rule, sure)
    m1, s1, share = m0 + 3 * s0, s0, np.full(len(n), 0.5)
    for _ in range(20):
        prior = np.log(np.clip(share, 1e-9, 1 - 1e-9) / np.clip(1 - share, 1e-9, 1)) + np.log(s0 / s1)
        odds = prior.astype(np.float32)[rule]
        odds += ((cosine - m0) / s0) ** 2 / 2
        odds -= ((cosine - m1) / s1) ** 2 / 2
        t = 1 / (1 + np.exp(-np.clip(odds, -50, 50, out=odds)))
        w = sure * t
        share = np.bincount(rule, w) / n
        total = max(float(w.sum()), 1e-9)
        m1 = max(float(w @ cosine) / total, m0 + s0)
        s1 = max(float(w @ (cosine - m1) ** 2) / total, 1e-4) ** 0.5
    pairs.kin = t
    kept = t >= _KIN
    kept &= (np.bincount(rule[kept], minlength=len(n)) >= 4)[rule] & (share > 0.3)[rule]
    share = share[np.unique(rule[kept])]
    return _of_quality(z, pairs.of(kept), share)


def _of_quality(z, pairs, share):
    """Return the pairs of rules whose offsets agree, with `strength` and `offsets`."""
    from scipy import sparse

    signed = np.concatenate([pairs.kin, -pairs.kin])
    ends = np.concatenate([pairs.rule] * 2), np.concatenate([pairs.j, pairs.i])
    sums = sparse.csr_matrix((signed, ends), (len(share), len(z))) @ z
    quality, squares, total = np.zeros(len(share)), np.zeros(len(share)), np.bincount(pairs.rule, pairs.kin)
    for start in range(0, len(pairs.i), _CHUNK):
        p = slice(start, start + _CHUNK)
        own, t = z[pairs.j[p]] - z[pairs.i[p]], pairs.kin[p]
        rest = sums[pairs.rule[p]] - t[:, None] * own
        lengths = np.linalg.norm(own, axis=1)
        cosine = np.einsum("ij,ij->i", own, rest) / np.maximum(lengths * np.linalg.norm(rest, axis=1), 1e-12)
        quality += np.bincount(pairs.rule[p], t * cosine, len(share))
        squares += np.bincount(pairs.rule[p], t * lengths**2, len(share))
    offsets = sums / total[:, None]
    stretch = np.sqrt(np.sqrt(squares / total) / np.maximum(np.linalg.norm(offsets, axis=1), 1e-12))
    offsets *= np.minimum(3, stretch)[:, None]
    kept = quality > 0.05 * total
    found = pairs.of(kept[pairs.rule])
    found.strength, found.offsets = (share * quality / (total + _FEW))[kept], offsets[kept].astype(np.float32)
    return found


def move(z, pairs, sure, damping):
    """Take words that have kin to the mean of themselves and where their kin would have them, in place."""
    from scipy import sparse

    w = pairs.kin * pairs.strength[pairs.rule]
    i, j = np.concatenate([pairs.i, pairs.j]), np.concatenate([pairs.j, pairs.i])
    w = np.concatenate([w, w]) * sure[j]
    degree = np.bincount(i, w, len(z))
    scale = 1 / (damping * np.median(degree[degree > 0]))
    w = (scale * w).astype(np.float32)
    columns = np.concatenate([j, np.tile(pairs.rule + np.int32(len(z)), 2)])
    weights = np.concatenate([w, -w[: len(pairs.i)], w[len(pairs.i) :]])  # i stands before its rule, j behind it
    given = sparse.csr_matrix((weights, (np.tile(i, 2), columns)), (len(z), len(z) + len(pairs.offsets)))
    whole = (1 + scale * degree).astype(np.float32)[:, None]
    for start in range(0, z.shape[1], _COLUMNS):
        part = slice(start, start + _COLUMNS)
        z[:, part] = (z[:, part] + given @ np.vstack([z[:, part], pairs.offsets[:, part]])) / whole
