"""Counts of pairs against going through the text pair by pair."""

from itertools import pairwise

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from w2vneg.ground.errors import ConfigError
from w2vneg.kernels import cooccurrence
from w2vneg.kernels.cooccurrence import pair_counts

texts = st.lists(st.lists(st.integers(0, 8), min_size=1, max_size=12), min_size=1, max_size=8)


def encoded(sentences):
    offsets = np.r_[0, np.cumsum([len(sentence) for sentence in sentences])].astype(np.int64)
    return np.array([i for sentence in sentences for i in sentence], np.int32), offsets


def enumerated(ids, offsets, n_vocab, window):
    counts = np.zeros((n_vocab, n_vocab), np.int64)
    for _, centre, positives in naive.groups(ids, offsets, window):
        for j in positives:
            counts[centre, j] += 1
    return counts


@given(texts, st.integers(1, 14), st.sampled_from([1, 3, 7, 1 << 22]))
@settings(deadline=None, max_examples=200)
def test_counts_are_those_of_every_pair_within_the_window(sentences, window, pairs):
    ids, offsets = encoded(sentences)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cooccurrence, "_PAIRS", pairs)
        counts = pair_counts(ids, offsets, 10, window)
    assert np.array_equal(counts.toarray(), enumerated(ids, offsets, 10, window))
    assert all((np.diff(counts.indices[a:b]) > 0).all() for a, b in pairwise(counts.indptr))
    assert (counts.data > 0).all()


def test_a_memory_mapped_text_in_many_pieces(tmp_path, monkeypatch):
    rng = np.random.default_rng(1)
    ids, offsets = encoded([list(rng.integers(0, 50, n)) for n in rng.integers(1, 40, 300)])
    ids.tofile(tmp_path / "ids")
    monkeypatch.setattr(cooccurrence, "_PAIRS", 500)
    counts = pair_counts(np.memmap(tmp_path / "ids", np.int32, "r"), offsets, 60, 4)
    assert np.array_equal(counts.toarray(), enumerated(ids, offsets, 60, 4))
    assert counts.dtype == np.int32
    assert not counts[50:].nnz


def test_pairs_that_do_not_fit_are_refused_as_soon_as_that_is_seen(monkeypatch):
    rng = np.random.default_rng(1)
    ids, offsets = encoded([list(rng.integers(0, 1000, 100)) for _ in range(100)])
    monkeypatch.setattr(cooccurrence, "_PAIRS", 2_000)
    needed = 32 * np.triu(enumerated(ids, offsets, 1000, 2) > 0).sum()
    with pytest.raises(ConfigError, match=r"do not fit: \d\d% of it .* lower --window") as refused:
        pair_counts(ids, offsets, 1000, 2, memory=needed // 2)
    assert "100%" not in str(refused.value)
    assert pair_counts(ids, offsets, 1000, 2, memory=3 * needed).nnz


def test_one_basket_far_longer_than_a_piece(monkeypatch):
    monkeypatch.setattr(cooccurrence, "_PAIRS", 50)
    ids = np.random.default_rng(3).integers(0, 7, 60).astype(np.int32)
    found = pair_counts(ids, np.array([0, 60]), 7, None, ordered=True).toarray()
    expected = np.zeros((7, 7), int)
    for i in range(60):
        for j in range(i + 1, 60):
            expected[ids[i], ids[j]] += 1
    assert np.array_equal(found, expected)
