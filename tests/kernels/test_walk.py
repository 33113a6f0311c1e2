"""Windows, sentences, blocks and subsampling of the text walker against the oracle. Runs with and without the JIT."""

import os
from itertools import chain, pairwise

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from walking import GUARD, KEY, groups, wrapping_integers  # noqa: F401, a fixture of every test here

from w2vneg.kernels.contracts import fill, group, prefetch_hint
from w2vneg.kernels.rng import kept_at
from w2vneg.kernels.schedule import keep_thresholds
from w2vneg.kernels.walk import SEPARATOR, TextWindows, sentence_at

SLOW = os.environ.get("NUMBA_DISABLE_JIT") == "1"
EXAMPLES = 60 if SLOW else 300
ALL = 2**32


def text(lengths, vocabulary=None, seed=1):
    """Return (ids, offsets) of sentences of these lengths; every position its own word unless a vocabulary is given."""
    n = sum(lengths)
    ids = np.arange(n) if vocabulary is None else np.random.default_rng(seed).integers(0, vocabulary, n)
    return ids.astype(np.int32), np.cumsum([0, *lengths]).astype(np.int64)


def source_of(ids, offsets, window, keep=None, dynamic=False):
    keep = np.full(ids.max() + 1, ALL, np.uint64) if keep is None else np.asarray(keep, np.uint64)
    return TextWindows(ids, offsets, keep, window, dynamic)


def scratch(block, window):
    """Return as many tokens as the engine gives a worker for a block of this size."""
    return 2 * block + 2 * window + 8


def walk(source, lo=0, hi=None, seed=1):
    """Return [(centre, positives)] of the block [lo, hi), watching that nothing is written outside the scratch."""
    hi = len(source.ids) if hi is None else hi
    return groups(source, lo, hi, scratch(hi - lo, source.window), 2 * source.window, seed)


def kept_by(source):
    return lambda position: bool(kept_at(KEY, position, source.keep[source.ids[position]]))


def expected(source, lo=0, hi=None):
    hi = len(source.ids) if hi is None else hi
    found = naive.groups(source.ids, source.offsets, source.window, kept_by(source))
    return [(centre, positives) for position, centre, positives in found if lo <= position < hi]


def test_windows_by_hand():
    source = source_of(*text([5, 1, 3]), window=2)
    assert walk(source) == [
        (0, [1, 2]),
        (1, [0, 2, 3]),
        (2, [1, 0, 3, 4]),
        (3, [2, 1, 4]),
        (4, [3, 2]),  # 5 stands alone
        (6, [7, 8]),
        (7, [6, 8]),
        (8, [7, 6]),
    ]


def test_a_dropped_token_lets_its_neighbours_meet():
    ids, offsets = np.array([0, 1, 2, 1, 3], np.int32), np.array([0, 5])
    source = source_of(ids, offsets, 1, keep=[ALL, 0, ALL, ALL])
    assert walk(source) == [(0, [2]), (2, [0, 3]), (3, [2])]


def test_what_enters_is_the_last_positive_of_the_next_centre():
    source = source_of(*text([9, 1, 4]), 2)
    tokens = np.full(20, -1, np.int32)
    first, _ = fill(source, 0, 14, np.uint64(1), tokens)
    positives = np.empty(4, np.int32)
    for position in range(first, first + 6):
        m = group(source, tokens, position + 1, np.ones(1, np.uint64), positives)
        assert prefetch_hint(source, tokens, position) == positives[m - 1]
    assert prefetch_hint(source, tokens, first + 6) == SEPARATOR
    assert prefetch_hint(source, tokens, 19) == -1  # nothing is looked at beyond the scratch


texts = st.builds(
    lambda lengths, vocabulary, seed: text(lengths, vocabulary, seed),
    st.lists(st.integers(1, 9), min_size=1, max_size=14),
    st.integers(1, 6),
    st.integers(0, 50),
)
keeps = st.lists(st.sampled_from([0, ALL // 10, ALL // 2, ALL // 10 * 9, ALL]), min_size=6, max_size=6)


@given(texts, st.integers(1, 5), keeps)
@settings(deadline=None, max_examples=EXAMPLES)
def test_groups_equal_the_oracles(text, window, keep):
    source = source_of(*text, window, keep)
    assert walk(source) == expected(source)


@given(texts, st.integers(1, 5), keeps, st.data())
@settings(deadline=None, max_examples=EXAMPLES)
def test_blocks_together_give_the_groups_of_one_block(text, window, keep, data):
    source = source_of(*text, window, keep)
    n = len(source.ids)
    cuts = sorted(data.draw(st.sets(st.integers(1, n - 1), max_size=6))) if n > 1 else []
    edges = [0, *cuts, n]
    parts = [walk(source, lo, hi) for lo, hi in pairwise(edges)]
    assert parts == [expected(source, lo, hi) for lo, hi in pairwise(edges)]
    assert list(chain(*parts)) == walk(source)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 50])
def test_an_endless_line_in_blocks(size):
    source = source_of(*text([200], 20), 4, keep=[ALL // 2] * 20)
    parts = [walk(source, lo, min(lo + size, 200)) for lo in range(0, 200, size)]
    assert list(chain(*parts)) == walk(source) == expected(source)


@given(st.integers(1, 120), st.integers(1, 3), st.integers(1, 6), st.data())
@settings(deadline=None, max_examples=EXAMPLES)
def test_scratch_holds_any_block_of_tiny_sentences(count, length, window, data):
    source = source_of(*text([length] * count), window)
    lo = data.draw(st.integers(0, len(source.ids) - 1))
    hi = data.draw(st.integers(lo + 1, len(source.ids)))
    assert walk(source, lo, hi) == expected(source, lo, hi)


@given(st.lists(st.integers(1, 5), min_size=1, max_size=30))
@settings(deadline=None, max_examples=EXAMPLES // 3)
def test_sentence_at(lengths):
    _, offsets = text(lengths)
    owner = np.repeat(np.arange(len(lengths)), lengths)
    assert [sentence_at(offsets, p) for p in range(len(owner))] == owner.tolist()


def test_a_separator_ends_what_fill_wrote():
    source = source_of(*text([4, 3]), 2)
    tokens = np.full(scratch(3, 2), GUARD, np.int32)
    first, last = fill(source, 1, 4, KEY, tokens)
    assert tokens[first - 1 : last + 1].tolist() == [0, 1, 2, 3, SEPARATOR, SEPARATOR]


def test_dynamic_widths_are_uniform_and_symmetric():
    n, window = 3_000 if SLOW else 60_000, 5
    ids, offsets = text([n])
    source = source_of(ids, offsets, window, dynamic=True)
    widths = np.zeros(window + 1, np.int64)
    for centre, positives in walk(source):
        width = len(positives) // 2
        if window <= centre < n - window:
            left, right = positives[:width], positives[width:]
            assert left == [centre - d for d in range(1, width + 1)]
            assert right == [centre + d for d in range(1, width + 1)]
            widths[width] += 1
    assert widths[0] == 0
    assert stats.chisquare(widths[1:]).pvalue > 1e-6


def test_dynamic_widths_of_neighbours_are_independent():
    n, window = 3_000 if SLOW else 60_000, 3
    source = source_of(*text([n]), window, dynamic=True)
    widths = np.array([len(positives) // 2 for centre, positives in walk(source) if window <= centre < n - window])
    table = np.zeros((3, 3))
    np.add.at(table, (widths[:-1] - 1, widths[1:] - 1), 1)
    assert stats.chi2_contingency(table).pvalue > 1e-6


def test_dynamic_windows_of_one_are_fixed_windows_of_one():
    ids, offsets = text([7, 2, 5], 4)
    assert walk(source_of(ids, offsets, 1, dynamic=True)) == walk(source_of(ids, offsets, 1))


def test_dynamic_windows_never_cross_a_sentence():
    lengths = [3, 1, 6, 2] * 20
    ids, offsets = text(lengths)
    owner = np.repeat(np.arange(len(lengths)), lengths)
    for centre, positives in walk(source_of(ids, offsets, 4, dynamic=True)):
        assert (owner[positives] == owner[centre]).all()


@pytest.mark.parametrize("threshold", [0, 1e-5, 1e-4, 1e-2, 0.5])
def test_keep_thresholds_follow_the_formula(threshold):
    counts = np.array([500_000, 30_000, 2_000, 50, 5, 1])
    chances = [naive.keep_probability(c / counts.sum(), threshold) for c in counts]
    got = keep_thresholds(counts, threshold)
    assert got.dtype == np.uint64
    np.testing.assert_allclose(got / 2**32, chances, rtol=1e-6, atol=2**-32)


def test_subsampling_by_hand():
    # f = 0.8, t = 0.05: √(1/16) + 1/16 = 0.3125; f = 0.2: √¼ + ¼ = 0.75; a share below t is kept whole
    assert (keep_thresholds(np.array([80, 20]), 0.05) / 2**32).tolist() == [0.3125, 0.75]
    assert keep_thresholds(np.array([99, 1]), 0.05)[1] == 2**32


def test_words_are_kept_at_their_rates():
    n = 6_000 if SLOW else 300_000
    shares = np.array([0.5, 0.3, 0.15, 0.04, 0.01])
    ids = np.random.default_rng(7).choice(5, n, p=shares).astype(np.int32)
    counts = np.bincount(ids)
    threshold = 0.01
    source = source_of(ids, np.array([0, n]), 1, keep_thresholds(counts, threshold))
    tokens = np.empty(scratch(n, 1), np.int32)
    for key in (KEY, np.uint64(17)):
        first, last = fill(source, 0, n, key, tokens)
        kept = np.bincount(tokens[first : last - 1], minlength=5)  # the last is the sentence's separator
        for word in range(5):
            chance = naive.keep_probability(counts[word] / n, threshold)
            assert stats.binomtest(int(kept[word]), int(counts[word]), chance).pvalue > 1e-6


def test_another_epoch_keeps_others():
    source = source_of(*text([400]), 1, keep=[ALL // 2] * 400)
    one, two = (np.full(scratch(400, 1), GUARD, np.int32) for _ in range(2))
    ranges = [fill(source, 0, 400, np.uint64(key), tokens) for key, tokens in ((1, one), (2, two))]
    kept = [set(tokens[first : last - 1].tolist()) for (first, last), tokens in zip(ranges, (one, two), strict=True)]
    both = len(kept[0] & kept[1])
    assert stats.binomtest(both, 400, 0.25).pvalue > 1e-6
