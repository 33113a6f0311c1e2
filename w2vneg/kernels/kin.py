"""Words with a common stem: the rules that their endings follow, and the common offset of the pairs of a rule.

    groups by stem -> how often two endings meet -> links between words -> cosines -> kin -> offsets -> steps

Links are stored in the order of their groups, so that rows are read again while still in cache.
"""

from typing import NamedTuple

import numpy as np

from ..ground.jit import LEAF, ONE, ZERO, njit
from .functions import first_at_least
from .linalg import dot

_MULTIPLIER, _SHIFT, _NEXT = np.uint64(0x9E3779B97F4A7C15), np.uint64(29), np.uint64(1)
_HALF, _LIMIT = np.float32(0.5), np.float32(50)  # of log odds
_LEAST = 1e-12


class Groups(NamedTuple):
    """Words as stems and endings. An entry is a word cut in two; entries of one stem are adjacent.

    words, ends, group : int32, (n,), of each entry; starts : int64, (n_groups + 1,), where each group begins
    by_end : int32, (n,), entries in the order of their endings; end_starts : int64, (n_ends + 1,)
    beyond : int32, (n_ends,), the first ending after each that begins with another character
    """

    words: np.ndarray
    ends: np.ndarray
    group: np.ndarray
    starts: np.ndarray
    by_end: np.ndarray
    end_starts: np.ndarray
    beyond: np.ndarray


class Links(NamedTuple):
    """Pairs of words. i, j, rule : int32, (n,), words and their rule; kin : float32, (n,), t, probability of kin"""

    i: np.ndarray
    j: np.ndarray
    rule: np.ndarray
    kin: np.ndarray


@njit(borrows=True)
def _hash(codes, first, last):
    key = np.uint64(0)
    for k in range(first, last):
        code = (np.uint64(codes[k]) + _NEXT) * _MULTIPLIER
        key = key * _MULTIPLIER + (code ^ code >> _SHIFT)
    return key


@njit(loop=True)
def cut(codes, starts, words, n, stems, ends):
    """Hash the last n characters of some words, and the stems before them.

    codes : uint32, the characters of all words; starts : int64, (n_words + 1,); words : int64, (k,)
    stems, ends : uint64, (k,), written; an empty string has the hash 0
    """
    for k in range(words.shape[0]):
        last = starts[words[k] + 1]
        stems[k] = _hash(codes, starts[words[k]], last - n)
        ends[k] = _hash(codes, last - n, last)


@njit(loop=True)
def count_rules(groups, first, last, met):
    """Count stems that endings [first, last) share with those from `beyond` on: met, int32 (last - first, n_ends)."""
    for a in range(first, last):
        for k in range(groups.end_starts[a], groups.end_starts[a + 1]):
            one = groups.group[groups.by_end[k]]
            for m in range(groups.starts[one], groups.starts[one + 1]):
                b = groups.ends[m]
                met[a - first, b] += np.int32(b >= groups.beyond[a])


@njit(loop=True)
def list_links(groups, rule_starts, later, links, number):
    """Write the pairs of words that follow rules: ending a with each b in later[rule_starts[a]:rule_starts[a + 1]].

    number : int, that of the first rule; links.kin is left unchanged
    """
    n = 0
    for one in range(groups.starts.shape[0] - 1):
        for k in range(groups.starts[one], groups.starts[one + 1]):
            for m in range(k + 1, groups.starts[one + 1]):
                low, high = (k, m) if groups.ends[k] < groups.ends[m] else (m, k)
                a, b = groups.ends[low], groups.ends[high]
                place = first_at_least(later, rule_starts[a], rule_starts[a + 1], b)
                if place < rule_starts[a + 1] and later[place] == b:
                    links.i[n], links.j[n] = groups.words[low], groups.words[high]
                    links.rule[n] = number + place
                    n += 1


@njit(loop=True)
def cosines(z, links, out):
    """Write the dot products of linked rows into out, float32 (n,)."""
    for e in range(out.shape[0]):
        out[e] = dot(z[links.i[e]], z[links.j[e]])


@njit(loop=True)
def weigh_kin(links, cosine, sure, prior, laws, shares):
    """Write the probabilities t of kin for cosines c, log odds prior_r + ((c − m₀) / s₀)² / 2 − ((c − m₁) / s₁)² / 2.

    sure : float32, (n,), weight of each link; prior : float32, (n_rules,)
    laws : float32, m₀, s₀, m₁ and s₁; shares : float64, (n_rules,), to which the weights w = sure · t are added
    Returns sums over links : Σ w, Σ w c and Σ w c², float64
    """
    m0, s0, m1, s1 = laws[0], laws[1], laws[2], laws[3]
    total = first = second = 0.0
    for e in range(cosine.shape[0]):
        c = cosine[e]
        far, near = (c - m0) / s0, (c - m1) / s1
        odds = prior[links.rule[e]] + far * far * _HALF - near * near * _HALF
        t = ONE / (ONE + np.exp(-min(max(odds, -_LIMIT), _LIMIT)))
        links.kin[e] = t
        w = np.float64(sure[e] * t)
        shares[links.rule[e]] += w
        total, first, second = total + w, first + w * c, second + w * c * c
    return total, first, second


@njit(fastmath=LEAF, borrows=True)
def _add_difference(w, one, other, total):
    for c in range(total.shape[0]):
        total[c] += w * (other[c] - one[c])


@njit(loop=True)
def sum_offsets(z, links, first, last, sums):
    """Add t (z_j − z_i) to the sums of rules, float32 (n_rules, dim), in the columns [first, last)."""
    for e in range(links.kin.shape[0]):
        one, other = z[links.i[e], first:last], z[links.j[e], first:last]
        _add_difference(links.kin[e], one, other, sums[links.rule[e], first:last])


@njit(fastmath=LEAF, borrows=True)
def _beside(one, other, total, t):
    """Return |o|², |r|² and o · r for an offset o = other − one and r, `total` without t o."""
    own = rest = both = ZERO
    for c in range(one.shape[0]):
        offset = other[c] - one[c]
        left = total[c] - t * offset
        own += offset * offset
        rest += left * left
        both += offset * left
    return own, rest, both


@njit(loop=True)
def compare_offsets(z, links, sums, quality, squares):
    """Add t cos(o, r) and t |o|² of each link to its rule's, float64 (n_rules,); r is the sum over the other links."""
    for e in range(links.kin.shape[0]):
        rule, t = links.rule[e], links.kin[e]
        own, rest, both = _beside(z[links.i[e]], z[links.j[e]], sums[rule], t)
        quality[rule] += t * both / max(np.sqrt(np.float64(own) * rest), _LEAST)
        squares[rule] += t * own


@njit(loop=True)
def add_weights(links, strength, sure, weights):
    """Add t · strength[rule] · sure[other word] of each link to the weights of both words, float64 (n_words,)."""
    for e in range(links.kin.shape[0]):
        w = links.kin[e] * strength[links.rule[e]]
        weights[links.i[e]] += w * sure[links.j[e]]
        weights[links.j[e]] += w * sure[links.i[e]]


@njit(fastmath=LEAF, borrows=True)
def _step(one, other, one_before, other_before, offset, to_one, to_other):
    for c in range(one.shape[0]):
        one[c] += to_one * (other_before[c] - offset[c])
        other[c] += to_other * (one_before[c] + offset[c])


@njit(loop=True)
def pull(z, before, links, strength, sure, offsets, first):
    """Add to each row, for each of its links, the weight of `add_weights` times the row that its kin predicts.

    before : float32, (n_words, k), a copy of the columns of z from `first` on; offsets : float32, (n_rules, dim)
    """
    last = first + before.shape[1]
    for e in range(links.kin.shape[0]):
        i, j, rule = links.i[e], links.j[e], links.rule[e]
        w = links.kin[e] * strength[rule]
        one, other, offset = z[i, first:last], z[j, first:last], offsets[rule, first:last]
        _step(one, other, before[i], before[j], offset, np.float32(w * sure[j]), np.float32(w * sure[i]))
