"""Ranking of held-out pairs: by hand, by the naive double loop, and by scikit-learn."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.metrics import ndcg_score

from w2vneg.errors import ConfigError, InputError
from w2vneg.evaluators import cooccurrence_scores, evaluate_ranking, logits_of, popularity_scores
from w2vneg.evaluators import ranking as module

LN2 = np.log(2)


def fixed(table):
    table = np.asarray(table, np.float32)
    return lambda centres: table[centres].copy()


def test_a_catalogue_ranked_by_hand():
    # four targets; for centre 0 target 2 is above 1 = 3 above 0; for centre 1 all are equal
    scores = fixed([[0, LN2, 2 * LN2, LN2], [1, 1, 1, 1]])
    result = evaluate_ranking(scores, ([0, 0, 1], [2, 1, 0], [1.0, 2.0, 1.0]), 4, ks=(1, 2), bootstrap=0)
    # ranks: (0, 2) 0; (0, 1) 1 above and one equal: 1.5; (1, 0) three equal: 1.5
    assert result.mpr == pytest.approx((1 * 1 + 2 * 0.5 + 1 * 0.5) / 4)
    assert result.precision == {1: 0.25, 2: 1.0}
    assert result.list_precision == {1: pytest.approx((1 + 0) / 2), 2: pytest.approx((2 / 2 + 1 / 2) / 2)}
    assert result.recall == {1: pytest.approx((0.5 + 0) / 2), 2: 1.0}
    assert result.hit_rate == {1: 0.5, 2: 1.0}
    # g_0 = (1, 2, 4, 2) / 9, g_1 = ¼ each
    assert result.likelihood == pytest.approx((4 / 9 + 2 * 2 / 9 + 1 / 4) / 4, rel=1e-6)
    assert result.nll == pytest.approx(-(np.log(4 / 9) + 2 * np.log(2 / 9) + np.log(1 / 4)) / 4, rel=1e-6)
    assert result.perplexity == pytest.approx(np.exp(result.nll))
    gain = 1 / np.log2(3.5)
    assert result.ndcg[2] == pytest.approx(((1 + gain) / (1 + 1 / np.log2(3)) + gain / 1) / 2)
    assert (result.pairs, result.centres, result.targets, result.intervals) == (4.0, 2, 4, {})


def test_known_targets_leave_the_catalogue_but_held_out_ones_stay():
    scores = fixed([[5, 4, 3, 2, 1]])
    known = scipy.sparse.csr_matrix(([1, 7, 2], ([0, 0, 0], [0, 1, 3])), (1, 5))
    plain = evaluate_ranking(scores, ([0, 0], [2, 1], [1, 1]), 5, ks=(1,), bootstrap=0)
    assert plain.mpr == pytest.approx((2 / 4 + 3 / 4) / 2)
    left = evaluate_ranking(scores, ([0, 0], [2, 1], [1, 1]), 5, ks=(1,), known=known, bootstrap=0)
    assert left.mpr == pytest.approx((1 / 2 + 1) / 2)  # 0 and 3 are gone: 1, 2, 4 remain
    shares = np.exp([4, 3, 1]) / np.exp([4, 3, 1]).sum()
    assert left.likelihood == pytest.approx(shares[:2].mean(), rel=1e-6)
    assert left.known_left_out and not plain.known_left_out


def example(seed, n_centres=40, n_targets=30, n_pairs=150):
    rng = np.random.default_rng(seed)
    scores = rng.integers(-4, 5, (n_centres, n_targets)).astype(np.float32)  # with many ties
    pairs = rng.integers(0, n_centres, n_pairs), rng.integers(0, n_targets, n_pairs), rng.integers(1, 4, n_pairs)
    known = scipy.sparse.random(n_centres, n_targets, 0.2, random_state=seed, format="csr")
    return scores, pairs, known


def naive(scores, pairs, known, ks):
    """The double loop."""
    weights = {}
    for i, j, w in zip(*pairs, strict=True):
        weights[i, j] = weights.get((i, j), 0) + w
    mpr, hits, lists = [], {k: [] for k in ks}, {}
    for (i, j), w in weights.items():
        others = [
            t
            for t in range(scores.shape[1])
            if t != j and not (known is not None and known[i, t] and (i, t) not in weights)
        ]
        rank = sum(1.0 if scores[i, t] > scores[i, j] else 0.5 if scores[i, t] == scores[i, j] else 0.0 for t in others)
        mpr += [1 - rank / len(others)] * w
        lists.setdefault(i, []).append(rank)
        for k in ks:
            hits[k] += [rank < k] * w
    recall = {k: np.mean([np.mean([r < k for r in ranks]) for ranks in lists.values()]) for k in ks}
    return np.mean(mpr), {k: np.mean(hits[k]) for k in ks}, recall


@pytest.mark.parametrize("leave_out", [False, True])
@pytest.mark.parametrize("held", [60, 10_000])
def test_blocks_of_any_size_equal_the_double_loop(monkeypatch, leave_out, held):
    monkeypatch.setattr(module, "_SCORES", held)  # two centres at a time, or all
    scores, pairs, known = example(seed=3)
    known = known if leave_out else None
    result = evaluate_ranking(fixed(scores), pairs, scores.shape[1], ks=(1, 5), known=known, bootstrap=0)
    mpr, precision, recall = naive(scores, pairs, known, (1, 5))
    assert result.mpr == pytest.approx(mpr)
    assert result.precision == pytest.approx(precision)
    assert result.recall == pytest.approx(recall)


@pytest.mark.parametrize("k", [1, 5, 20])
def test_ndcg_is_scikit_learns(k):
    rng = np.random.default_rng(5)
    scores = rng.normal(size=(25, 40)).astype(np.float32)
    relevant = rng.random((25, 40)) < 0.1
    relevant[:, 0] |= ~relevant.any(axis=1)
    pairs = (*np.nonzero(relevant), np.ones(relevant.sum()))
    result = evaluate_ranking(fixed(scores), pairs, 40, ks=(k,), bootstrap=0)
    assert result.ndcg[k] == pytest.approx(ndcg_score(relevant, scores, k=k), rel=1e-6)


def test_sampled_mpr_converges_to_the_exact_one():
    rng = np.random.default_rng(7)
    scores = rng.normal(size=(50, 200)).astype(np.float32)
    pairs = rng.integers(0, 50, 400), rng.integers(0, 200, 400), np.ones(400)
    exact = evaluate_ranking(fixed(scores), pairs, 200, bootstrap=0, samples=1)
    sampled = evaluate_ranking(fixed(scores), pairs, 200, bootstrap=0, samples=20_000)
    assert sampled.mpr_sampled == pytest.approx(exact.mpr * 199 / 200, abs=1e-3)  # j' may be j itself: no win


def test_intervals_hold_the_figure_and_narrow_with_more_centres():
    widths = []
    for n in (50, 800):
        scores, pairs, _ = example(seed=9, n_centres=n, n_pairs=4 * n)
        result = evaluate_ranking(fixed(scores), pairs, scores.shape[1], ks=(5,), bootstrap=200)
        low, high = result.intervals["mpr"]
        assert low < result.mpr < high
        assert set(result.intervals) >= {"precision@5", "ndcg@5", "nll", "likelihood", "recall@5", "hit_rate@5"}
        widths.append(high - low)
    assert widths[1] < widths[0] / 2


def test_a_model_and_both_baselines_are_scored_alike():
    rng = np.random.default_rng(11)
    vectors_in, vectors_out = rng.normal(size=(2, 6, 3)).astype(np.float32)
    np.testing.assert_allclose(logits_of(vectors_in, vectors_out)(np.array([4, 1])), vectors_in[[4, 1]] @ vectors_out.T)
    counts = np.array([10, 3, 7, 7, 1, 0])
    by_popularity = evaluate_ranking(popularity_scores(counts), ([2, 5], [0, 4], [1, 1]), 6, logits=False, bootstrap=0)
    assert by_popularity.mpr == pytest.approx((1 + 1 / 5) / 2)
    assert by_popularity.nll is None and by_popularity.likelihood is None
    known = scipy.sparse.csr_matrix(([5, 5, 1], ([0, 0, 0], [1, 3, 4])), (6, 6))
    seen = evaluate_ranking(cooccurrence_scores(known, counts), ([0], [1], [1]), 6, logits=False, bootstrap=0)
    assert seen.mpr == pytest.approx(1 - 1 / 5)  # as often as 3, which is more popular


def test_nothing_to_rank_and_bad_ks_are_told():
    with pytest.raises(InputError, match="no held-out pair"):
        evaluate_ranking(fixed([[1, 2]]), ([], [], []), 2)
    with pytest.raises(ConfigError, match="at least 1"):
        evaluate_ranking(fixed([[1, 2]]), ([0], [1], [1]), 2, ks=(0, 5))
    with pytest.raises(ConfigError, match="use one vocabulary"):
        evaluate_ranking(fixed([[1, 2]]), ([0], [1], [1]), 2, known=scipy.sparse.csr_matrix((1, 3)))
