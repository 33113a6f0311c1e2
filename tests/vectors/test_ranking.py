"""Ranking of held-out pairs: by hand, by the naive double loop, and by scikit-learn."""

import inspect
import itertools
import re

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import (
    average_precision_score,
    ndcg_score,
    recall_score,
    roc_auc_score,
    top_k_accuracy_score,
)

from w2vneg.ground.errors import ConfigError, InputError
from w2vneg.vectors.evaluation import LogitScores, cooccurrence_scores, evaluate_ranking, popularity_scores
from w2vneg.vectors.evaluation import ranking as module

LN2 = np.log(2)


def fixed(table):
    table = np.asarray(table, np.float32)
    return lambda centres: table[centres].copy()


def test_a_catalogue_ranked_by_hand():
    # four targets; for centre 0 target 2 is above 1 = 3 above 0; for centre 1 all are equal
    scores = fixed([[0, LN2, 2 * LN2, LN2], [1, 1, 1, 1]])
    result = evaluate_ranking(scores, ([0, 0, 1], [2, 1, 0], [1.0, 2.0, 1.0]), 4, ks=(1, 2), bootstrap=0)
    # ranks: (0, 2) 0; (0, 1) 1 above and one equal: 1.5; (1, 0) three equal: 1.5
    # among the best two: (0, 2) surely, (0, 1) in one of its two orders, (1, 0) in two of its four places
    assert result.mpr == pytest.approx((1 * 1 + 2 * 0.5 + 1 * 0.5) / 4)
    assert result.precision == pytest.approx({1: (1 + 2 * 0 + 0.25) / 4, 2: (1 + 2 * 0.5 + 0.5) / 4})
    assert result.list_precision == pytest.approx({1: (1 + 0.25) / 2, 2: (1.5 / 2 + 0.5 / 2) / 2})
    assert result.recall == pytest.approx({1: (0.5 + 0.25) / 2, 2: (1.5 / 2 + 0.5) / 2})
    assert result.hit_rate == pytest.approx({1: (1 + 0.25) / 2, 2: (1 + 0.5) / 2})
    # g_0 = (1, 2, 4, 2) / 9, g_1 = ¼ each
    assert result.likelihood == pytest.approx((4 / 9 + 2 * 2 / 9 + 1 / 4) / 4, rel=1e-6)
    assert result.nll == pytest.approx(-(np.log(4 / 9) + 2 * np.log(2 / 9) + np.log(1 / 4)) / 4, rel=1e-6)
    assert result.perplexity == pytest.approx(np.exp(result.nll))
    # centre 0: 2 is first, and 1 second or third among three others; centre 1: any of four places
    assert result.map == pytest.approx({1: (1 + 0.25) / 2, 2: ((1 + 0.5) / 2 + (1 + 1 / 2) / 4) / 2})
    assert result.mrr == pytest.approx((1 + (1 + 1 / 2 + 1 / 3 + 1 / 4) / 4) / 2)
    assert result.auc == pytest.approx(((1 + 0.75) / 2 + 0.5) / 2)
    second = 1 / np.log2(3)
    assert result.ndcg[2] == pytest.approx(((1 + 0.5 * second) / (1 + second) + (1 + second) / 4) / 2)
    assert (result.pairs, result.distinct_pairs, result.centres, result.targets) == (4.0, 3, 2, 4)
    assert result.intervals == {}


def test_tenths_of_targets_and_figures_of_each_centre():
    rng = np.random.default_rng(4)
    table, counts = rng.normal(size=(30, 40)), rng.permutation(40) + 1
    pairs = rng.integers(0, 30, 200), rng.integers(0, 40, 200), np.ones(200)
    own = {}

    def each(centres, found):
        own.update(zip(centres.tolist(), found["ndcg@5"].tolist(), strict=True))

    result = evaluate_ranking(fixed(table), pairs, 40, ks=(5,), counts=counts, bootstrap=0, each=each)
    assert sorted(own) == np.unique(pairs[0]).tolist()
    assert np.mean(list(own.values())) == pytest.approx(result.ndcg[5])
    place = np.argsort(np.argsort(-table, axis=1), axis=1)[pairs[0], pairs[1]]
    tenth = (np.argsort(np.argsort(-counts)) // 4)[pairs[1]]
    for n, row in enumerate(result.tenths):
        assert row["pairs"] == pytest.approx(np.mean(tenth == n))
        assert row["precision"][5] == pytest.approx(np.mean(place[tenth == n] < 5))
    one = evaluate_ranking(fixed(table), ([0], [7], [1.0]), 40, ks=(5,), counts=counts, bootstrap=0)
    assert sum(row["precision"] is None for row in one.tenths) == 9
    assert evaluate_ranking(fixed(table), pairs, 40, ks=(5,), bootstrap=0).tenths == []


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
    """The double loop, over every order that equal scores can take: a dict of figures as `_figures` names them."""
    weights = {}
    for i, j, w in zip(*pairs, strict=True):
        weights[i, j] = weights.get((i, j), 0) + w
    held = {i: {j for a, j in weights if a == i} for i, _ in weights}
    of_pairs, of_centres = {}, {}
    for i, wanted in held.items():
        catalogue = [j for j in range(scores.shape[1]) if j in wanted or known is None or not known[i, j]]
        total = sum(np.exp(float(scores[i, j])) for j in catalogue)
        shares = {j: np.exp(float(scores[i, j])) / total for j in wanted}
        orders = [
            sorted(order, key=lambda j: -scores[i, j])  # stable: equal ones stay as shuffled
            for order in itertools.permutations(catalogue)
        ]
        for j in wanted:
            w, places = weights[i, j], [order.index(j) for order in orders]
            below = sum(scores[i, other] < scores[i, j] for other in catalogue)
            values = {"mpr": 1 - np.mean(places) / max(len(catalogue) - 1, 1), "mpr_sampled": below / len(catalogue)}
            values |= {"likelihood": shares[j], "nll": -np.log(shares[j])}
            values |= {f"precision@{k}": np.mean([place < k for place in places]) for k in ks}
            for name, value in values.items():
                of_pairs.setdefault(name, []).append((value, w))
        for k in ks:
            tops = [[j in wanted for j in order[:k]] for order in orders]
            ideal = sum(1 / np.log2(r + 2) for r in range(min(k, len(wanted))))
            values = {
                "list_precision": np.mean([sum(top) / k for top in tops]),
                "recall": np.mean([sum(top) / len(wanted) for top in tops]),
                "hit_rate": np.mean([any(top) for top in tops]),
                "map": np.mean([average_precision(top) for top in tops]) / min(k, len(wanted)),
                "ndcg": np.mean([sum(hit / np.log2(r + 2) for r, hit in enumerate(top)) for top in tops]) / ideal,
            }
            for name, value in values.items():
                of_centres.setdefault(f"{name}@{k}", []).append(value)
        firsts = [min(order.index(j) for j in wanted) + 1 for order in orders]
        of_centres.setdefault("mrr", []).append(np.mean([1 / first for first in firsts]))
        others = [scores[i, other] for other in catalogue if other not in wanted]
        wins = [(scores[i, j] > other) + (scores[i, j] == other) / 2 for j in wanted for other in others]
        of_centres.setdefault("auc", []).append(np.mean(wins) if wins else 0.5)
    figures = {name: sum(v * w for v, w in values) / sum(w for _, w in values) for name, values in of_pairs.items()}
    return figures | {name: np.mean(values) for name, values in of_centres.items()}


def average_precision(top):
    return sum(sum(top[: place + 1]) / (place + 1) for place, hit in enumerate(top) if hit)


def figures_of(result):
    lists = {
        f"{name}@{k}": value
        for name in ("precision", "list_precision", "recall", "hit_rate", "ndcg", "map")
        for k, value in getattr(result, name).items()
    }
    return lists | {name: getattr(result, name) for name in ("mpr", "mrr", "auc", "likelihood", "nll")}


@st.composite
def small_cases(draw):
    n_centres, n_targets = draw(st.integers(1, 4)), draw(st.integers(2, 5))  # rows and columns of two kinds
    cell = st.tuples(st.integers(0, n_centres - 1), st.integers(0, n_targets - 1))
    pairs = draw(st.lists(st.tuples(cell, st.integers(1, 3)), min_size=1, max_size=8))
    known = draw(st.none() | st.lists(cell, max_size=8))
    numbers = draw(st.lists(st.integers(-2, 2), min_size=n_centres * n_targets, max_size=n_centres * n_targets))
    scores = np.array(numbers, draw(st.sampled_from([np.float32, np.float64]))).reshape(n_centres, n_targets)
    if known is not None:
        rows, columns = np.array(known, int).reshape(-1, 2).T
        known = scipy.sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), (n_centres, n_targets))
    centres, targets = np.array([cell for cell, _ in pairs]).T
    return scores, (centres, targets, np.array([w for _, w in pairs])), known, draw(st.sampled_from([1, 9, 10_000]))


@settings(deadline=None, max_examples=60)
@given(small_cases())
def test_blocks_of_any_size_equal_the_double_loop_over_all_orders(case):
    scores, pairs, known, held = case
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_SCORES", held)
        result = evaluate_ranking(fixed(scores), pairs, scores.shape[1], ks=(1, 2, 4), known=known, bootstrap=0)
    expected = naive(scores, pairs, known, (1, 2, 4))
    expected.pop("mpr_sampled")
    assert figures_of(result) == pytest.approx(expected, rel=1e-5)


def test_sampled_mpr_is_equation_10_ties_lost():
    scores, pairs, known = example(seed=4, n_targets=6, n_centres=5, n_pairs=12)
    expected = naive(scores, pairs, known, (1,))["mpr_sampled"]
    result = evaluate_ranking(fixed(scores), pairs, 6, known=known, bootstrap=0, samples=100_000)
    assert result.mpr_sampled == pytest.approx(expected, abs=3e-3)
    assert evaluate_ranking(fixed(scores), pairs, 6, bootstrap=10, samples=0).mpr_sampled is None


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("k", [1, 5, 20])
def test_ndcg_is_scikit_learns(k, tied):
    rng = np.random.default_rng(5)
    scores = (rng.integers(0, 6, (25, 40)) if tied else rng.normal(size=(25, 40))).astype(np.float32)
    relevant = rng.random((25, 40)) < 0.1
    relevant[:, 0] |= ~relevant.any(axis=1)
    pairs = (*np.nonzero(relevant), np.ones(relevant.sum()))
    result = evaluate_ranking(fixed(scores), pairs, 40, ks=(k,), bootstrap=0)
    assert result.ndcg[k] == pytest.approx(ndcg_score(relevant, scores, k=k), rel=1e-6)


def test_average_precision_and_auc_are_scikit_learns():
    rng = np.random.default_rng(8)
    scores = rng.normal(size=(20, 30)).astype(np.float32)
    wanted = rng.random((20, 30)) < 0.2
    wanted[:, 0], wanted[:, 1] = True, False
    result = evaluate_ranking(fixed(scores), (*np.nonzero(wanted), np.ones(wanted.sum())), 30, ks=(30,), bootstrap=0)
    rows = list(zip(wanted, scores, strict=True))
    assert result.map[30] == pytest.approx(np.mean([average_precision_score(*row) for row in rows]))
    assert result.auc == pytest.approx(np.mean([roc_auc_score(*row) for row in rows]))


def test_map_and_ndcg_are_implicits():
    implicit_bpr = pytest.importorskip("implicit.cpu.bpr", exc_type=ImportError)
    from implicit.evaluation import ranking_metrics_at_k

    rng = np.random.default_rng(3)
    users, items = rng.normal(size=(25, 4)).astype(np.float32), rng.normal(size=(40, 4)).astype(np.float32)
    known = scipy.sparse.csr_matrix(rng.random((25, 40)) < 0.2, dtype=np.float32)
    held = scipy.sparse.csr_matrix((rng.random((25, 40)) < 0.2) & (known.toarray() == 0), dtype=np.float32)
    theirs = implicit_bpr.BayesianPersonalizedRanking(factors=4, num_threads=1)
    theirs.user_factors, theirs.item_factors = users, items
    expected = ranking_metrics_at_k(theirs, known, held, K=6, show_progress=False, num_threads=1)
    result = evaluate_ranking(
        LogitScores(users, items), (*held.nonzero(), held.data), 40, ks=(6,), known=known, bootstrap=0
    )
    assert result.map[6] == pytest.approx(expected["map"], rel=1e-6)
    assert result.ndcg[6] == pytest.approx(expected["ndcg"], rel=1e-6)


def test_coverage_and_novelty_by_hand():
    # lists of two: {0, 1}, {0, 2}; the known target 3 is in none
    scores = fixed([[4, 3, 2, 9], [4, 2, 3, 1]])
    known = scipy.sparse.csr_matrix(([1], ([0], [3])), (2, 4))
    given = ([0, 1], [1, 2], [1, 1])
    counts = [8, 4, 2, 2]
    result = evaluate_ranking(scores, given, 4, ks=(1, 2, 9), known=known, bootstrap=50, counts=counts)
    assert result.coverage == {1: 1 / 4, 2: 3 / 4, 9: 1.0}
    assert result.novelty == pytest.approx({1: 1.0, 2: ((1 + 2) / 2 + (1 + 3) / 2) / 2, 9: (6 / 3 + 9 / 4) / 2})
    assert {"novelty@2", "map@2", "mrr", "auc"} <= set(result.intervals)
    assert evaluate_ranking(scores, given, 4, ks=(1,), bootstrap=0).novelty == {}
    unseen = evaluate_ranking(scores, given, 4, ks=(1,), known=known, bootstrap=0, counts=[0, 4, 2, 2])
    assert unseen.novelty[1] == pytest.approx(3.0)  # as half of the least seen one


def test_recall_and_hit_rate_are_scikit_learns():
    rng = np.random.default_rng(6)
    scores, k = rng.normal(size=(30, 12)).astype(np.float32), 4
    relevant = rng.random((30, 12)) < 0.2
    relevant[:, 0] |= ~relevant.any(axis=1)
    chosen = scores >= np.sort(scores, axis=1)[:, [-k]]
    result = evaluate_ranking(fixed(scores), (*np.nonzero(relevant), np.ones(relevant.sum())), 12, ks=(k,), bootstrap=0)
    assert result.recall[k] == pytest.approx(recall_score(relevant, chosen, average="samples"))
    one = rng.integers(0, 12, 30)
    result = evaluate_ranking(fixed(scores), (np.arange(30), one, np.ones(30)), 12, ks=(k,), bootstrap=0)
    accuracy = top_k_accuracy_score(one, scores, k=k, labels=np.arange(12))
    assert result.hit_rate[k] == result.precision[k] == pytest.approx(accuracy)


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
    np.testing.assert_allclose(
        LogitScores(vectors_in, vectors_out)(np.array([4, 1])), vectors_in[[4, 1]] @ vectors_out.T
    )
    counts = np.array([10, 3, 7, 7, 1, 0])
    by_popularity = evaluate_ranking(popularity_scores(counts), ([2, 5], [0, 4], [1, 1]), 6, logits=False, bootstrap=0)
    assert by_popularity.mpr == pytest.approx((1 + 1 / 5) / 2)
    assert by_popularity.nll is None and by_popularity.likelihood is None
    known = scipy.sparse.csr_matrix(([5, 5, 1], ([0, 0, 0], [1, 3, 4])), (6, 6))
    seen = evaluate_ranking(cooccurrence_scores(known, counts), ([0], [1], [1]), 6, logits=False, bootstrap=0)
    assert seen.mpr == pytest.approx(1 - 1 / 5)  # as often as 3, which is more popular


def test_cooccurrence_ranks_by_weight_then_by_popularity_whatever_weights_are():
    known = np.array([[0, 2.0, 2.1, 1.0, 2.1], [0, 0, 0, 0, 0], [0, 9.0, 1.0, 0, 1e18]])
    scores = cooccurrence_scores(scipy.sparse.csr_matrix(known), known.sum(axis=0))(np.arange(3))
    assert np.argsort(-scores[0]).tolist() == [4, 2, 1, 3, 0]
    assert np.argsort(-scores[1]).tolist()[:3] == [4, 1, 2]
    assert np.argsort(-scores[2]).tolist()[:3] == [4, 1, 2]


def test_nothing_to_rank_and_bad_ks_are_told():
    with pytest.raises(InputError, match="no held-out pair"):
        evaluate_ranking(fixed([[1, 2]]), ([], [], []), 2)
    with pytest.raises(ConfigError, match="at least 1"):
        evaluate_ranking(fixed([[1, 2]]), ([0], [1], [1]), 2, ks=(0, 5))
    with pytest.raises(ConfigError, match="use one vocabulary"):
        evaluate_ranking(fixed([[1, 2]]), ([0], [1], [1]), 2, known=scipy.sparse.csr_matrix((1, 3)))


def test_checkers_of_types_see_every_figure():
    typed = re.findall(r"^        (\w+): ClassVar", inspect.getsource(module.RankingResult), re.MULTILINE)
    assert sorted(typed) == sorted(module.METRICS)
