"""Kernel based draws against enumeration: both trees, the quartic kernel, the sums, and what the options refuse."""

import math
import os
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest
from planted import same_topic, two_topics
from scipy import stats

from w2vneg import Word2Vec
from w2vneg.config import TrainConfig
from w2vneg.data.encoded import encode_corpus
from w2vneg.ground.errors import ConfigError
from w2vneg.ground.jit import njit
from w2vneg.ground.registry import RunContext
from w2vneg.kernels import tree
from w2vneg.kernels.contracts import draw, log_prob, open_sampler
from w2vneg.kernels.dense import draws
from w2vneg.kernels.linalg import Rows
from w2vneg.objectives.samplers.kernel import KernelTree

SLOW = os.environ.get("NUMBA_DISABLE_JIT") == "1"
V, DIM = 203, 7


@pytest.fixture(autouse=True)
def _wrapping_integers():
    """Plain Python warns where uint64 wraps round, which random streams do on purpose, and where a sum is none."""
    with np.errstate(over="ignore", invalid="ignore"):
        yield


class Drawn(NamedTuple):
    """What groups of draws gave, each (groups, n), and the noise of every id as `log_prob` has it, (n_vocab,)."""

    ids: np.ndarray
    log_q: np.ndarray
    noise: np.ndarray


@njit
def _draw_often(sampler, centre, out, rng, ids, log_q, everyone, noise):
    state = open_sampler(sampler, ids.shape[1])
    logits = np.zeros(max(ids.shape[1], everyone.shape[0]), np.float32)
    for group in range(ids.shape[0]):
        draw(sampler, state, group, 0, centre, out, rng, ids.shape[1], ids[group], log_q[group], logits)
    for j in range(everyone.shape[0]):
        logits[j] = np.float32(0.0)
        for i in range(centre.shape[0]):
            logits[j] += out.matrix[j, i] * centre[i]
    log_prob(sampler, state, ids.shape[0] - 1, 0, everyone.shape[0], everyone, logits, noise)


def make(n_vocab=V, dim=DIM, workers=1, max_draws=20, **options):
    config = TrainConfig(loss="relaxed", sampler="kernel", workers=workers, **options).resolved()
    counts = np.arange(n_vocab, 0, -1).astype(np.int64)
    return config.make("sampler", RunContext(counts, dim, workers, max_draws))


def matrices(n_vocab=V, dim=DIM, scale=0.5, seed=1):
    rng = np.random.default_rng(seed)
    return rng.normal(0, 1, dim).astype(np.float32), rng.normal(0, scale, (n_vocab, dim)).astype(np.float32)


def rows(matrix):
    return Rows(matrix, 0, len(matrix), 0)


def enumerated(centre, matrix, kernel="quadratic", alpha=100.0):
    """Return q(j) ∝ α s² + 1 or s⁴ + 1 over all classes."""
    s = matrix.astype(np.float64) @ centre.astype(np.float64)
    weights = alpha * s**2 + 1 if kernel == "quadratic" else s**4 + 1
    return weights / weights.sum()


def drawn(sampler, centre, matrix, groups=None, n=7, seed=1):
    groups = groups or (200 if SLOW else 8_000)
    ids, log_q = np.full((groups, n), -1, np.int32), np.full((groups, n), np.nan, np.float32)
    noise = np.full(len(matrix), np.nan, np.float32)
    everyone = np.arange(len(matrix), dtype=np.int32)
    _draw_often(sampler, centre, rows(matrix), np.array([seed], np.uint64), ids, log_q, everyone, noise)
    return Drawn(ids, log_q, noise)


def seen(ids, n_vocab):
    return np.bincount(ids.ravel(), minlength=n_vocab).astype(float)


def p_value(ids, q):
    """Chi-square of draws against q; classes expected less than five times are taken together."""
    count, expected = seen(ids, len(q)), q * ids.size
    often = expected >= 5
    count, expected = (np.append(a[often], a[~often].sum()) for a in (count, expected))
    if expected[-1] < 5:
        count, expected = count[:-1], expected[:-1]
    return stats.chisquare(count, expected * count.sum() / expected.sum()).pvalue


def leaf_of(i, n_leaves, n_vocab):
    return ((i + 1) * n_leaves - 1) // n_vocab


@pytest.mark.parametrize(("n_vocab", "dim"), [(V, DIM), (1, 3), (2, 1), (5, 1), (3, 50), (64, 3), (65, 3), (1000, 12)])
def test_every_id_lies_in_one_leaf_and_the_nodes_count_their_classes(n_vocab, dim):
    n_leaves = tree.count_leaves(n_vocab, dim)
    starts = [int(tree.leaf_start(leaf, n_leaves, n_vocab)) for leaf in range(n_leaves + 1)]
    assert (starts[0], starts[-1]) == (0, n_vocab)
    sizes = np.diff(starts)
    assert sizes.min() >= 1
    assert sizes.max() <= math.ceil((dim + 1) / 2)
    for leaf, (begin, end) in enumerate(pairwise(starts)):
        assert all(leaf_of(i, n_leaves, n_vocab) == leaf for i in range(begin, end))
    counts = tree.node_counts(n_vocab, n_leaves)
    assert counts[1] == n_vocab
    assert np.array_equal(counts[n_leaves:], sizes)
    assert all(counts[i] == counts[2 * i] + counts[2 * i + 1] for i in range(1, n_leaves))


def test_the_tree_takes_two_numbers_and_the_copy_one_for_each_of_the_matrix():
    sampler = make(15_000, 100)
    assert sampler.sums.size <= 2.05 * 15_000 * 100
    assert sampler.rows.size == 15_000 * 100
    assert len(sampler.counts) == 2 * 300 - 10  # 295 leaves of at most 51 classes
    deep = make(4_000, 4)
    assert deep.sums.size <= 2.2 * 4_000 * 4


@pytest.mark.parametrize(("n_vocab", "dim"), [(V, DIM), (1, 3), (3, 5), (40, 1), (50, 16)])
def test_rebuilt_sums_are_those_of_the_squares(n_vocab, dim):
    _, matrix = matrices(n_vocab, dim)
    sampler = make(n_vocab, dim)
    sampler.refresh(None, matrix, None, 0)
    n_leaves = len(sampler.counts) // 2
    upper = np.triu_indices(dim)
    for node in range(1, 2 * n_leaves):
        inside = []
        for i in range(n_vocab):
            at = n_leaves + leaf_of(i, n_leaves, n_vocab)
            while at > node:
                at //= 2
            inside += [i] if at == node else []
        part = matrix[inside].astype(float)
        assert len(inside) == sampler.counts[node]
        np.testing.assert_allclose(sampler.sums[node], (part.T @ part)[upper], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("alpha", [0.01, 1.0, 100.0])
def test_draws_follow_the_enumerated_kernel_and_log_q_is_its_own(alpha):
    centre, matrix = matrices()
    sampler = make(kernel_alpha=alpha)
    sampler.refresh(None, matrix, None, 0)
    q = enumerated(centre, matrix, alpha=alpha)
    got = drawn(sampler, centre, matrix)
    assert p_value(got.ids, q) > 1e-6
    np.testing.assert_allclose(got.log_q, np.log(q)[got.ids], atol=1e-3)
    np.testing.assert_allclose(got.noise, np.log(q), atol=1e-3)
    assert np.exp(got.noise.astype(float)).sum() == pytest.approx(1, abs=1e-3)


def test_bulk_draws_come_from_the_rows_of_the_rebuild_until_the_next():
    centre, matrix = matrices()
    sampler = make()
    sampler.refresh(None, matrix, None, 0)
    moved = matrix + np.float32(1)
    q = enumerated(centre, matrix)
    got = drawn(sampler, centre, moved)
    assert p_value(got.ids, q) > 1e-6
    np.testing.assert_allclose(got.noise, np.log(q), atol=1e-3)  # the very distribution drawn from, not that of now
    sampler.refresh(None, moved, None, 0)
    np.testing.assert_allclose(drawn(sampler, centre, moved).noise, np.log(enumerated(centre, moved)), atol=1e-3)


def test_more_draws_for_a_group_change_no_probability():
    centre, matrix = matrices()
    sampler = make()
    sampler.refresh(None, matrix, None, 0)
    groups, n = (3, 50) if SLOW else (40, 1_000)
    got = drawn(sampler, centre, matrix, groups, n)
    assert p_value(got.ids, enumerated(centre, matrix)) > 1e-6


@pytest.mark.parametrize("case", ["zero centre", "zero rows", "orthogonal", "huge", "cancelled", "nan", "infinite"])
def test_draws_stay_valid_whatever_the_numbers(case):
    centre, matrix = matrices()
    if case == "zero centre":
        centre[:] = 0
    elif case == "zero rows":
        matrix[:] = 0
    elif case == "orthogonal":  # forms of huge terms that cancel to nothing
        matrix -= np.outer(matrix @ centre, centre) / (centre @ centre)
        matrix, centre = 1e3 * matrix, 10 * centre
    elif case == "huge":
        matrix, centre = 1e4 * matrix, 1e4 * centre
    sampler = make()
    sampler.refresh(None, matrix, None, 0)
    if case == "cancelled":
        sampler.sums[:] *= -1
    if case in ("nan", "infinite"):
        centre[0] = np.nan if case == "nan" else np.inf
    got = drawn(sampler, centre, matrix, 300)
    assert got.ids.min() >= 0
    assert got.ids.max() < V
    if case in ("zero centre", "zero rows"):
        assert p_value(got.ids, np.full(V, 1 / V)) > 1e-6
    if case not in ("nan", "infinite"):
        assert np.isfinite(got.log_q).all()
        assert got.log_q.max() < 1e-3


def test_one_class_and_few_classes_can_be_drawn():
    for n_vocab in (1, 2, 3):
        centre, matrix = matrices(n_vocab)
        sampler = make(n_vocab)
        sampler.refresh(None, matrix, None, 0)
        got = drawn(sampler, centre, matrix, 300)
        assert p_value(got.ids, enumerated(centre, matrix)) > 1e-6 or n_vocab == 1
        np.testing.assert_allclose(got.noise, np.log(enumerated(centre, matrix)), atol=1e-4)


AHEAD = [({"kernel": "quartic"}, "quartic"), ({"tree": "none"}, "quadratic")]


@pytest.mark.parametrize("kernel", ["quadratic", "quartic"])
def test_a_logit_and_its_opposite_are_drawn_alike(kernel):
    """So that an absolute softmax changes nothing: the sampler sees s, its kernels are even."""
    centre, matrix = matrices()
    sampler = make(kernel=kernel)
    noise = []
    for sign in (1, -1):
        sampler.refresh((sign * centre)[None], matrix, np.zeros((1, sampler.batch_groups), np.int32), 3)
        noise.append(drawn(sampler, sign * centre, matrix, 1).noise)
    assert np.array_equal(*noise)


@pytest.mark.parametrize(("options", "kernel"), AHEAD)
def test_draws_made_ahead_follow_the_enumerated_kernel(options, kernel):
    centre, matrix = matrices()
    n = 400 if SLOW else 40_000
    sampler = make(**options, max_draws=n, workers=2)
    centres = np.full((2, sampler.batch_groups), -1, np.int32)
    centres[0, :2], centres[1, 1] = [0, 1], 0
    inputs = np.stack([centre, 2 * centre])
    sampler.refresh(inputs, matrix, centres, 5)
    for worker, group, i in [(0, 0, 0), (0, 1, 1), (1, 1, 0)]:
        q = enumerated(inputs[i], matrix, kernel)
        ids, log_q = sampler.ids[worker, group], sampler.log_q[worker, group]
        assert p_value(ids, q) > 1e-6
        np.testing.assert_allclose(log_q, np.log(q)[ids], atol=1e-3)
    assert not np.array_equal(sampler.ids[0, 0], sampler.ids[1, 1])
    handed = drawn(sampler, 3 * centre, 2 * matrix, 1, 9)  # rows have moved on since
    assert np.array_equal(handed.ids[0], sampler.ids[0, 0, :9])
    assert np.array_equal(handed.log_q[0], sampler.log_q[0, 0, :9])
    np.testing.assert_allclose(handed.noise, np.log(enumerated(centre, matrix, kernel)), atol=1e-3)


@pytest.mark.parametrize("scores", [1, 203, 1_000])
def test_the_size_of_chunks_changes_no_quartic_draw(scores, monkeypatch):
    centre, matrix = matrices()
    inputs, centres = np.outer([1, 2, -3], centre).astype(np.float32), np.arange(128, dtype=np.int32)[None] % 3
    sampler = make(kernel="quartic")
    sampler.refresh(inputs, matrix, centres, 5)
    whole = sampler.ids.copy()
    monkeypatch.setattr(draws, "_SCORES", scores)
    sampler.refresh(inputs, matrix, centres, 5)
    assert np.array_equal(sampler.ids, whole)


def test_kernel_and_tree_choose_the_class():
    assert type(make()) is KernelTree
    assert make(tree="none")[:2] == (2, 100)
    assert make(kernel="quartic")[:2] == (4, 1)
    assert make().alpha == 100
    assert make(kernel_alpha=3).alpha == 3
    assert make(32_000, 2).batch_groups == 2_000


def test_what_cannot_be_is_refused_in_words():
    with pytest.raises(ConfigError, match="--kernel-alpha has no effect with --kernel quartic"):
        make(kernel="quartic", kernel_alpha=3)
    with pytest.raises(ConfigError, match="--tree has no effect with --kernel quartic"):
        make(kernel="quartic", tree="bulk")


def trained(corpus, **options):
    word2vec = Word2Vec(
        loss="relaxed", sampler="kernel", dim=8, window=3, subsample=0, min_count=1, workers=1, **options
    )
    word2vec.fit(corpus)
    return word2vec


@pytest.mark.slow
@pytest.mark.skipif(SLOW, reason="too many groups for plain Python")
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"tree": "none"},
        {"kernel": "quartic"},
    ],
    ids=lambda given: "-".join(given.values()),
)
def test_planted_topics_are_recovered_and_a_seed_repeats_to_the_bit(options):
    corpus = encode_corpus(two_topics(), min_count=1)
    one, again = (trained(corpus, epochs=4, **options) for _ in range(2))
    assert one.vectors.matrix.tobytes() == again.vectors.matrix.tobytes()
    assert same_topic(one.vectors) >= 0.95
