"""Words that share a stem, and the rules that they follow: found from spelling alone.

A word is cut before each of its last few characters. Stems and ends are identified by 64-bit hashes: the chance that
any two of a few million collide is about one in a million. Beginnings are ends of words written backwards.
"""

import numpy as np

from ...ground.jit import launch
from ...kernels.kin import Groups, Links, count_rules, cut, list_links

STEM = 3  # fewest characters that words share
WHOLE = 5  # fewest characters of words that differ by beginnings
_CROWD = 500  # most words of a stem: more are no paradigm, such as numbered names
_MOST = 25  # most pairs per word of a large vocabulary: more would take more memory than its vectors
_LARGE = 1 << 16  # words
_ENDS = 64  # ends whose rules are counted at a time


def in_parts(work, n, size):
    """Run ``work(slice)`` for parts of n things, at least one part, and return the results: same on any machine."""
    parts = [slice(start, min(start + size, n)) for start in range(0, max(n, 1), size)]
    return launch(lambda k: work(parts[k]), len(parts))


def linked(words, support, longest) -> tuple[Links, np.ndarray]:
    """Return `Links` between words that share a stem, by rules with `support` pairs or more, and whether each rule is
    about beginnings, bool (n_rules,). If there are more than `_MOST` pairs per word, the rarest rules are dropped.
    """
    lengths = np.fromiter(map(len, words), np.int64, len(words))
    codes = np.frombuffer("".join(words).encode("utf-32-le", "surrogatepass"), np.uint32).copy()
    sides = launch(lambda front: _groups(codes, lengths, bool(front), support, longest), 2)
    rules = [_rules(groups, support) for groups in sides]
    falling = np.sort(np.concatenate([met for _, _, met in rules]))[::-1]
    too_many = falling[np.cumsum(falling, dtype=np.int64) > _MOST * max(len(words), _LARGE)]
    least = too_many[0] + 1 if len(too_many) else 0
    rules = [[of[met >= least] for of in (one, other, met)] for one, other, met in rules]
    n_links, n_rules = (np.cumsum([0, *(count(met) for _, _, met in rules)]).tolist() for count in (np.sum, len))
    i, j, rule = (np.empty(n_links[-1], np.int32) for _ in range(3))
    found = Links(i, j, rule, np.ones(n_links[-1], np.float32))

    def work(side):
        one, other, _ = rules[side]
        starts = np.searchsorted(one, np.arange(len(sides[side].beyond) + 1))
        list_links(sides[side], starts, other, part_of(found, slice(*n_links[side : side + 2])), n_rules[side])

    launch(work, 2)
    return found, np.arange(n_rules[-1]) >= n_rules[1]


def part_of(links, part):
    """Return the `Links` of a slice."""
    return Links(*(of[part] for of in links))


def _groups(codes, lengths, front, support, longest):
    """Return the `Groups` of words by stem: stems of 2 to `_CROWD` words, ends of `support` words or more."""
    if front:  # all characters backwards, so that the last word comes first
        codes, lengths = codes[::-1].copy(), lengths[::-1]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    found, first = [], []
    for n in range(longest + 1):
        words = np.flatnonzero(lengths >= max(STEM + n, WHOLE if front else 0))
        stems, ends = np.empty((2, len(words)), np.uint64)
        cut(codes, starts, words, n, stems, ends)
        often, met = np.unique(ends, return_counts=True)
        often = often[met >= support]
        place = np.searchsorted(often, ends)
        known = place < len(often)
        known[known] = often[place[known]] == ends[known]
        words, place = words[known], place[known]
        first.append(np.zeros(len(often), np.int64))  # an end's first character, 0 if it has none
        if n:
            first[n][place] = codes[starts[words + 1] - n] + np.int64(1)
        place += sum(map(len, first[:n]))
        found.append((stems[known], words.astype(np.int32), place.astype(np.int32)))
    stems, words, ends = map(np.concatenate, zip(*found, strict=True))
    begins = np.concatenate(first)
    del found, first
    rank = np.empty(len(begins), np.int32)
    rank[np.argsort(begins, kind="stable")] = np.arange(len(begins))
    begins.sort()
    entries, sizes = _of_one_stem(stems)
    words, ends = words[entries], rank[ends[entries]]
    by_end = np.argsort(ends, kind="stable").astype(np.int32)
    return Groups(
        words=len(lengths) - 1 - words if front else words,
        ends=ends,
        group=np.repeat(np.arange(len(sizes), dtype=np.int32), sizes),
        starts=np.concatenate([[0], np.cumsum(sizes)]),
        by_end=by_end,
        end_starts=np.searchsorted(ends[by_end], np.arange(len(begins) + 1)),
        beyond=np.searchsorted(begins, begins, "right").astype(np.int32),
    )


def _of_one_stem(stems):
    """Return the places of stems of 2 to `_CROWD` words, sorted by stem, and the number of words of each stem."""
    order = np.argsort(stems, kind="stable")
    stems = stems[order]
    fresh = np.ones(len(stems), bool)
    fresh[1:] = stems[1:] != stems[:-1]
    sizes = np.diff(np.flatnonzero(fresh), append=len(stems))
    kept = (sizes > 1) & (sizes <= _CROWD)
    return order[np.repeat(kept, sizes)], sizes[kept]


def _rules(groups, support):
    """Return pairs of ends that share `support` stems or more, int32: one, the other, and the number of stems."""

    def work(part):
        met = np.zeros((part.stop - part.start, len(groups.beyond)), np.int32)
        count_rules(groups, part.start, part.stop, met)
        one, other = np.nonzero(met >= support)
        return (one + part.start).astype(np.int32), other.astype(np.int32), met[one, other]

    return [np.concatenate(parts) for parts in zip(*in_parts(work, len(groups.beyond), _ENDS), strict=True)]
