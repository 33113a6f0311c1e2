"""Paradigms: words that differ by one ending or beginning (run, running) move to one common offset per rule.

A rule is a pair of endings (or beginnings) of a common stem. The cosines of its pairs are a mixture of chance,
N(m₀, s₀) of random pairs, and kin, N(m₁, s₁); π_r is its share of kin, t the probability that a pair is kin. In the
fit, each word has the weight n / (n + 100), as cosines of rare words are noisy. Pairs with t < ½ are dropped. k_r is
the sum of t, a_r the mean cosine of a pair's offset with the others'. ẑ are centred rows of length one.

    z_i ← (ẑ_i + λ Σ_j w_ij (ẑ_j ∓ σ_r o_r)) / (1 + λ Σ_j w_ij)
    w_ij = t π_r a_r k_r / (k_r + 20) · n_j / (n_j + 20),    λ = 1 / (h W)
    o_r = Σ t (ẑ_j − ẑ_i) / Σ t,    σ_r = min(3, (rms ‖ẑ_j − ẑ_i‖ / ‖o_r‖)^½)

n_j is a word's count, W the median over words of their Σ w. A mean of noisy offsets is too short, hence σ. Lengths are
restored. An unknown spelling gets the mean of ẑ_j ∓ σ_r o_r over the words that its rules lead to, weighted by
π_r a_r k_r / (k_r + 20).
"""

from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from ...data.words import PackedStrings
from ...ground.jit import available_threads
from ...kernels.kin import Links, add_weights, compare_offsets, cosines, pull, sum_offsets, weigh_kin
from . import READOUTS, About, Readout, option
from ._stems import STEM, WHOLE, in_parts, linked, part_of

_PER_RULE = 10_000  # words per pair that a rule must have, or there would be as many rules as words
_FEW = 20  # pairs at which a rule counts half
_RARE = 100  # occurrences at which a word's cosines count half
_KIN = 0.5  # least probability that a pair is kin
_ROWS = 1 << 11  # rows per block
_CHUNK = 1 << 16  # pairs per block
_SHARES = 16  # shares of the pairs, each with its own sums for all rules
_LINE = 16  # float32 numbers in a cache line


@dataclass
class Pairs:
    """E pairs of words and the rules they follow.

    i, j, rule : int32, (E,); kin : float32, (E,), t
    front : bool, (n_rules,), whether it is about beginnings; strength : float64, (n_rules,), π a k / (k + 20)
    offsets : float32, (n_rules, dim), σ o
    """

    i: np.ndarray
    j: np.ndarray
    rule: np.ndarray
    kin: np.ndarray
    front: np.ndarray
    strength: np.ndarray = field(default_factory=lambda: np.empty(0))
    offsets: np.ndarray = field(default_factory=lambda: np.empty((0, 0), np.float32))

    @property
    def links(self):
        return Links(self.i, self.j, self.rule, self.kin)

    def keep(self, kept):
        """Keep the pairs of a mask and renumber the rules; return the mask of the remaining rules."""
        for name in Links._fields:  # one at a time, as they may be large
            setattr(self, name, getattr(self, name)[kept])
        left = np.zeros(len(self.front), bool)
        left[self.rule] = True
        self.rule = (np.cumsum(left, dtype=np.int32) - np.int32(1))[self.rule]
        self.front = self.front[left]
        return left


class Kin(NamedTuple):
    """A word of the same paradigm; its rule, such as ``-y +ies`` or ``un+``, and how many pairs follow it."""

    word: str
    rule: str
    pairs: int


class Rules:
    """The rules found in spellings, and the words that they link."""

    def __init__(self, words, pairs):
        self.words, self.pairs = PackedStrings.of(words), pairs

    @cached_property
    def ends(self):
        """The endings, or beginnings, of the two words of each rule: list of (str, str)."""
        some = np.empty(len(self.pairs.front), np.int64)  # a pair of each rule
        some[self.pairs.rule] = np.arange(len(self.pairs.rule))
        words = ((self.words[int(self.pairs.i[e])], self.words[int(self.pairs.j[e])]) for e in some)
        return [_ends(*both, front) for both, front in zip(words, self.pairs.front, strict=True)]

    def kin(self, word):
        """Return the `Kin` of a word, or of an unknown spelling, the strongest first."""
        sizes = np.bincount(self.pairs.rule)
        found: dict[str, Kin] = {}
        for row, rule, _ in self.joined(word):
            front = self.pairs.front[rule]
            off, on = _ends(word, self.words[row], front)
            parts = (off + "-", on + "+") if front else ("-" + off, "+" + on)
            change = " ".join(part for part in parts if len(part) > 1)
            one = Kin(self.words[row], change, int(sizes[rule]))
            found.setdefault(one.word, one)
        return list(found.values())

    def joined(self, word):
        """Return the words linked to a word: list of (row, rule, 1 if the word is the second of the rule, else -1)."""
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
            for stem in range(STEM, len(spelt) + 1):
                for other, rule, sign in self._by_end.get((front, spelt[stem:]), ()):
                    base = spelt[:stem] + other
                    row = self.words.find(base[::-1] if front else base)
                    if row >= 0 and (not front or min(len(base), len(spelt)) >= WHOLE):
                        found.append((row, rule, sign))
        return sorted(found, key=lambda one: -self.pairs.strength[one[1]])

    @cached_property
    def _by_end(self):
        found: dict[tuple[bool, str], list] = {}  # is it a beginning, end -> (end of the other word, rule, sign)
        for rule, (ends, front) in enumerate(zip(self.ends, self.pairs.front.tolist(), strict=True)):
            one, other = (end[::-1] for end in ends) if front else ends
            found.setdefault((front, other), []).append((one, rule, 1))
            found.setdefault((front, one), []).append((other, rule, -1))
        return found


class Derived:
    """Vectors of any spelling: predicted by its kin among the words, else by its letters, if they are not None."""

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
        damping: float = option(3.0, "h: weight of a word's own vector relative to its kin.", above=0)
        support: int = option(8, "Fewest pairs of a rule; more beyond 80,000 words.", at_least=4)
        longest: int = option(5, "Longest ending or beginning.", at_least=1, at_most=20)

    refines = True
    matrices = ()
    of_text = True
    about = About(
        summary="words of a paradigm (run, running) move to one offset per rule, found in spellings and vectors",
        equation="z_i ← (ẑ_i + λ Σ_j w (ẑ_j − σ_r o_r)) / (1 + λ Σ_j w), λ = 1 / (h W)",
        paper="our own",
        cost="sorting stems, and four passes over the rows of pairs",
        use="text: syntactic analogies gain most",
    )

    def memory(self, n_vocab, dim):
        return 4 * n_vocab * dim + 700 * n_vocab  # for rows, sorted stems and pairs

    def read(self, trained, vectors):
        support = max(self.options.support, len(vectors) // _PER_RULE)
        found = candidates(trained.words, support, self.options.longest)
        z, lengths = _directions(vectors, None if trained.keeps(vectors) else vectors)
        counts = np.asarray(trained.counts, np.float64)
        pairs = likely(z, found, counts)
        self.rules = Rules(trained.words, pairs)
        move(z, pairs, counts / (counts + 20), self.options.damping)

        def restore(rows):
            _to_unit(z[rows])
            z[rows] *= lengths[rows]

        in_parts(restore, len(z), _ROWS)
        if trained.spell:
            self.spellings = Derived(self.rules, z, trained.spellings)
        return z


def _directions(vectors, out=None):
    """Return rows minus their mean, scaled to length one, and their former lengths, float32 (n, 1)."""
    z = np.empty(vectors.shape, np.float32) if out is None else out
    lengths = np.empty((len(z), 1), np.float32)
    sums = in_parts(lambda rows: vectors[rows].sum(axis=0, dtype=np.float64), len(z), _ROWS)
    mean = (np.sum(sums, axis=0) / len(z)).astype(np.float32)

    def work(rows):
        np.subtract(vectors[rows], mean, out=z[rows])
        lengths[rows] = _to_unit(z[rows])

    in_parts(work, len(z), _ROWS)
    return z, lengths


def _to_unit(z):
    """Scale rows to length one, in place; return their former lengths, float32 (n, 1)."""
    lengths = np.sqrt(np.einsum("ij,ij->i", z, z))[:, None]
    z /= np.maximum(lengths, np.float32(1e-12))
    return lengths


def candidates(words, support, longest):
    """Return the pairs of words that share a stem, by rules with `support` pairs or more."""
    links, front = linked(words, support, longest)
    return Pairs(*links, front)


def _cosines(z, links):
    cosine = np.empty(len(links.i), np.float32)
    in_parts(lambda part: cosines(z, part_of(links, part), cosine[part]), len(cosine), _CHUNK)
    return cosine


def _in_shares(work, links):
    """Run ``work(slice)`` on shares of links and return the sums of the results."""
    results = in_parts(work, len(links.i), max(_CHUNK, -(-len(links.i) // _SHARES)))
    return [sum(parts[1:], parts[0]) for parts in zip(*results, strict=True)]


def _of_rules(links, n_rules, weights):
    """Sum ``weights(slice)`` of links by rule, float64 (n_rules,)."""
    return _in_shares(lambda part: [np.bincount(links.rule[part], weights(part), n_rules)], links)[0]


def _columns(dim, share):
    """Return the columns per thread, so that all threads together hold a share of them; results do not depend on it."""
    return _LINE * max(1, -(-int(dim * share) // (_LINE * available_threads())))


def likely(z, pairs, counts):
    """Return the pairs that are kin, by rules that hold, with all fields of `Pairs`. `pairs` itself is changed."""
    i, j = np.random.default_rng(0).integers(len(z), size=(2, 100_000))
    i, j = i[i != j].astype(np.int32), j[i != j].astype(np.int32)
    chance = _cosines(z, Links(i, j, i, np.ones(len(i), np.float32)))
    sure = (counts / (counts + _RARE)).astype(np.float32)
    kept, share = _fit(z, pairs.links, len(pairs.front), chance, sure)
    return _of_quality(z, pairs, share[pairs.keep(kept)])


def _fit(z, links, n_rules, chance, sure):
    """Fit the mixture: write the probability of kin into `links`; return which are kept, and π of each rule."""
    m0, s0 = float(chance.mean()), max(float(chance.std()), 1e-6)
    cosine = _cosines(z, links)
    sure = sure[links.i] * sure[links.j]
    n = _of_rules(links, n_rules, sure.__getitem__)
    m1, s1, share = m0 + 3 * s0, s0, np.full(n_rules, 0.5)
    for _ in range(20):
        prior = np.log(np.clip(share, 1e-9, 1 - 1e-9) / np.clip(1 - share, 1e-9, 1)) + np.log(s0 / s1)
        laws = np.array([m0, s0, m1, s1], np.float32)
        weigh = partial(_weigh, links, cosine, sure, prior.astype(np.float32), laws)
        share, total, first, second = _in_shares(weigh, links)
        share, total = share / n, max(total, 1e-9)
        m1 = max(first / total, m0 + s0)
        s1 = max(second / total - 2 * m1 * first / total + m1**2, 1e-4) ** 0.5
    kept = links.kin >= _KIN
    kept &= ((_of_rules(links, n_rules, kept.__getitem__) >= 4) & (share > 0.3))[links.rule]
    return kept, share


def _weigh(links, cosine, sure, prior, laws, part):
    share = np.zeros(len(prior))
    return share, *weigh_kin(part_of(links, part), cosine[part], sure[part], prior, laws, share)


def _of_quality(z, pairs, share):
    """Return the pairs of rules whose offsets agree, with `strength` and `offsets`."""
    sums, total, quality, squares = _offsets(z, pairs.links, len(share))
    lengths = np.sqrt(np.einsum("ij,ij->i", sums, sums)) / total
    stretch = np.minimum(3, np.sqrt(np.sqrt(squares / total) / np.maximum(lengths, 1e-12)))
    kept = quality > 0.05 * total
    pairs.keep(kept[pairs.rule])
    pairs.strength, pairs.offsets = (share * quality / (total + _FEW))[kept], sums[kept]
    pairs.offsets *= (stretch / total)[kept, None].astype(np.float32)
    return pairs


def _offsets(z, links, n_rules):
    """Return for each rule Σ t o, float32 (n_rules, dim), Σ t, Σ t cos(o, the others' sum) and Σ t ‖o‖²."""
    sums = np.zeros((n_rules, z.shape[1]), np.float32)
    in_parts(lambda part: sum_offsets(z, links, part.start, part.stop, sums), z.shape[1], _columns(z.shape[1], 1))

    def compare(part):
        quality, squares = np.zeros((2, n_rules))
        compare_offsets(z, part_of(links, part), sums, quality, squares)
        return quality, squares

    return sums, _of_rules(links, n_rules, links.kin.__getitem__), *_in_shares(compare, links)


def move(z, pairs, sure, damping):
    """Move words that have kin to the mean of their own and their predicted vectors, in place."""
    links, weights = pairs.links, np.zeros(len(z))
    add_weights(links, pairs.strength, sure, weights)
    scale = 1 / (damping * np.median(weights[weights > 0])) if weights.any() else 0.0
    strength, whole = scale * pairs.strength, (1 + scale * weights).astype(np.float32)[:, None]

    def work(columns):
        before = np.ascontiguousarray(z[:, columns])
        pull(z, before, links, strength, sure, pairs.offsets, columns.start)
        z[:, columns] /= whole

    in_parts(work, z.shape[1], _columns(z.shape[1], 0.25))
