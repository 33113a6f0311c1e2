"""Baskets and weighted pairs as groups: against plain Python, in distribution, and in training."""

import itertools
import os
from collections import Counter

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from walking import groups, wrapping_integers  # noqa: F401, a fixture of every test here

from w2vneg.config import TrainConfig
from w2vneg.data.encoded import EncodedCorpus, EncodedPairs
from w2vneg.data.vocab import Vocabulary
from w2vneg.ground.errors import ConfigError, InputError
from w2vneg.ground.events import EpochDone
from w2vneg.kernels.walk import _HEAD, _basket_around
from w2vneg.run.model import Model
from w2vneg.run.trainer import Trainer

SLOW = os.environ.get("NUMBA_DISABLE_JIT") == "1"


def groups_of(walk, lo=0, hi=None, seed=1):
    """Return [(centre, positives)] of the block [lo, hi)."""
    hi = walk.n_positions if hi is None else hi
    return groups(walk.source, lo, hi, walk.room(hi - lo), walk.largest_group, seed)


def vocabulary(n, counts=None):
    counts = np.arange(n, 0, -1) if counts is None else counts
    return Vocabulary([f"item{k:05}" for k in range(n)], counts)


def baskets(lists, n_vocab=None):
    ids = np.concatenate([np.asarray(items, np.int32) for items in lists])
    offsets = np.cumsum([0, *map(len, lists)]).astype(np.int64)
    n_vocab = n_vocab or int(ids.max()) + 1
    order = np.argsort(-np.bincount(ids, minlength=n_vocab), kind="stable")
    ids = np.argsort(order)[ids].astype(np.int32)
    ids.flags.writeable = offsets.flags.writeable = False  # as data on disk are, so that nothing is compiled for it
    return EncodedCorpus(ids, offsets, vocabulary(n_vocab, np.bincount(ids, minlength=n_vocab)), source="baskets")


def config(source="baskets", **options):
    return TrainConfig(**({"source": source, "workers": 1, "dim": 8, "epochs": 2} | options)).resolved()


many = st.lists(st.lists(st.integers(0, 30), min_size=1, max_size=9), min_size=1, max_size=12).filter(
    lambda lists: max(map(len, lists)) > 1
)


@settings(max_examples=30 if SLOW else 150, deadline=None)
@given(many, st.booleans(), st.integers(0, 10**6))
def test_every_item_of_a_basket_is_the_centre_of_all_others(lists, ordered, cut):
    corpus = baskets(lists)
    walk = corpus.walk(config(ordered=ordered))
    bounds = list(zip(corpus.offsets[:-1], corpus.offsets[1:], strict=True))
    expected = []
    for begin, end in bounds:
        items = corpus.ids[begin:end].tolist()
        for k, centre in enumerate(items):
            others = items[k + 1 :] if ordered else items[:k] + items[k + 1 :]
            expected.append((centre, [i for i in others if i != centre]))
    border = cut % (len(corpus) + 1)  # wherever an epoch is cut into blocks
    found = groups_of(walk, 0, border) + groups_of(walk, border) if 0 < border < len(corpus) else groups_of(walk)
    assert found == [pair for pair in expected if pair[1]]


def test_of_a_long_basket_every_other_item_is_as_likely_and_none_comes_twice():
    corpus = baskets([list(range(40))])
    walk = corpus.walk(config(pairs_per_item=7))
    assert walk.largest_group == 7
    seen = Counter()
    for seed in range(200 if SLOW else 3000):
        ((centre, others),) = groups_of(walk, 11, 12, seed)
        assert centre == 11
        assert len(others) == 7
        assert 11 not in others
        assert sum(count - 1 for count in Counter(others).values()) <= 6  # only neighbours of a border may coincide
        seen.update(others)
    counts = [seen[i] for i in range(40) if i != 11]
    assert stats.chisquare(counts).pvalue > 1e-4


def test_a_basket_is_sought_once_for_all_of_its_items():
    class Counted(list):
        reads = 0

        def __getitem__(self, place):
            self.reads += 1
            return super().__getitem__(place)

    around = getattr(_basket_around, "py_func", _basket_around)
    tokens = Counted([0, 0, *range(500), -1, *range(300), -1, -1])
    found = [around(tokens, position) for position in range(_HEAD, len(tokens) - 2) if position != _HEAD + 500]
    assert found == [(_HEAD, _HEAD + 500)] * 500 + [(_HEAD + 501, _HEAD + 801)] * 300
    assert tokens.reads < 8 * len(tokens)


def test_order_is_kept_in_long_histories_too():
    walk = baskets([list(range(30))]).walk(config(pairs_per_item=4, ordered=True))
    for centre, others in groups_of(walk):
        assert len(others) == min(4, 29 - centre)
        assert all(other > centre for other in others)
        assert others == sorted(others)


def test_subsampling_thins_frequent_items():
    corpus = baskets([[0, k] for k in range(1, 400)])
    thinned = corpus.walk(config(subsample=1e-3))
    assert len(groups_of(thinned)) < 0.3 * len(groups_of(corpus.walk(config())))
    assert thinned.centre_weights[0] < 0.2 * corpus.vocab.counts[0]


def test_baskets_of_one_are_no_data():
    with pytest.raises(InputError, match="every basket has only one known item"):
        baskets([[0], [1], [0]]).walk(config())


def pairs(seed=0, n_in=12, n_out=9, fractions=False, one_kind=False):
    rng = np.random.default_rng(seed)
    n_out = n_in if one_kind else n_out
    matrix = scipy.sparse.random(n_in, n_out, 0.4, random_state=np.random.RandomState(seed), dtype=np.float32).tocsr()
    matrix.data[:] = rng.integers(1, 30, matrix.nnz) + (rng.random(matrix.nnz) if fractions else 0)
    matrix.sort_indices()
    names = vocabulary(n_in)
    return EncodedPairs(matrix, names, names if one_kind else vocabulary(n_out))


@pytest.mark.parametrize("seed", range(4))
def test_enumerated_weights_are_counts(seed):
    data = pairs(seed)
    walk = data.walk(config("pairs", seed=seed))
    found = np.zeros(data.matrix.shape, np.int64)
    cuts = sorted({0, 3, walk.n_positions // 2, walk.n_positions})
    for lo, hi in itertools.pairwise(cuts):
        for centre, targets in groups_of(walk, lo, hi):
            assert len(targets) <= walk.largest_group
            for target in targets:
                found[centre, target] += 1
    assert np.array_equal(found, data.matrix.toarray().astype(int))
    assert walk.mean_group == pytest.approx(found.sum() / walk.n_positions)


def test_visits_are_shuffled():
    data = pairs(1, n_in=40, n_out=30)
    centres = [centre for centre, _ in groups_of(data.walk(config("pairs")))]
    assert centres != sorted(centres)
    again = [centre for centre, _ in groups_of(data.walk(config("pairs")))]
    assert centres == again


@pytest.mark.parametrize("fractions", [False, True])
def test_sampled_weights_are_proportions(fractions):
    data = pairs(2, fractions=fractions)
    n_pairs = 2_000 if SLOW else 50_000
    walk = data.walk(config("pairs", pair_weights="sample", pairs_per_epoch=n_pairs))
    found = np.zeros(data.matrix.shape)
    for centre, targets in groups_of(walk):
        np.add.at(found[centre], targets, 1)
    assert found.sum() == pytest.approx(n_pairs, rel=0.01)
    weights = data.matrix.toarray().astype(float)
    share = weights / weights.sum()
    there = share > 0
    assert (found[~there] == 0).all()
    assert stats.chisquare(found[there], share[there] * found.sum()).pvalue > 1e-4


def test_a_rare_row_is_visited_now_and_then():
    matrix = scipy.sparse.csr_matrix(np.array([[1e6, 1e6], [1, 0]], np.float32))
    data = EncodedPairs(matrix, vocabulary(2), vocabulary(2))
    walk = data.walk(config("pairs", pair_weights="sample", pairs_per_epoch=1000))
    rare = sum(centre == 1 for seed in range(50) for centre, _ in groups_of(walk, seed=seed))
    assert rare < 5


def test_weights_that_are_no_counts_cannot_be_enumerated():
    with pytest.raises(ConfigError, match="use --pair-weights sample"):
        pairs(3, fractions=True).walk(config("pairs", pair_weights="enumerate"))
    with pytest.raises(ConfigError, match="--pairs-per-epoch has no effect"):
        pairs(3).walk(config("pairs", pair_weights="enumerate", pairs_per_epoch=10))


def test_weights_too_large_for_an_epoch_are_told_before_memory_is_asked_for():
    huge = pairs(3)
    huge.matrix.data[:] = 2.0**60
    with pytest.raises(ConfigError, match="too many to list"):
        huge.walk(config("pairs", pair_weights="enumerate"))
    with pytest.raises(ConfigError, match="choose with --pairs-per-epoch"):
        huge.walk(config("pairs"))
    assert huge.walk(config("pairs", pairs_per_epoch=64)).n_positions >= 8


def test_weights_that_are_shares_of_one_draw_as_many_pairs_as_there_are():
    shares = pairs(20, fractions=True)
    shares.matrix.data /= shares.matrix.data.sum()
    walk = shares.walk(config("pairs"))
    drawn = sum(len(targets) for _, targets in groups_of(walk))
    assert 0.5 * shares.matrix.nnz < drawn < 2 * shares.matrix.nnz


def community(n_in=60, n_out=40, seed=5, heavy=20):
    """Two communities: row i goes with columns of its own half; the matrix is bipartite."""
    rng = np.random.default_rng(seed)
    dense = np.zeros((n_in, n_out), np.float32)
    for i in range(n_in):
        own = np.flatnonzero(np.arange(n_out) % 2 == i % 2)
        dense[i, rng.choice(own, 12, replace=False)] = rng.integers(1, heavy, 12)
    matrix = scipy.sparse.csr_matrix(dense)
    return EncodedPairs(matrix, vocabulary(n_in), vocabulary(n_out))


RUNS = {
    "cis": {"loss": "cis"},
    "exact": {"loss": "relaxed", "method": "exact"},
    "nce": {"loss": "nce", "log_z": "learned"},
    "known": {"loss": "bpr", "exclude": "known"},
    "mle": {"loss": "mle"},
}
COMPILED_FOR_OTHERS = ("mle",)


@pytest.mark.skipif(SLOW, reason="trains")
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in COMPILED_FOR_OTHERS else [pytest.mark.slow]) for name in RUNS]
)
@pytest.mark.parametrize("workers", [1, 2])
def test_every_objective_finds_the_communities_of_rectangular_data(name, workers):
    data = community()
    options = {"rectangular": True, "workers": workers, "epochs": 40, "alpha": 0.1, "dim": 16} | RUNS[name]
    trainer = Trainer(data, config("pairs", **options))
    model = trainer.train()
    assert model.vectors_in.shape == (60, 16)
    assert model.vectors_out.shape == (40, 16)
    scores = model.vectors_in @ model.vectors_out.T
    if trainer.config.absolute_softmax:
        scores = np.abs(scores)
    own = (np.arange(60)[:, None] - np.arange(40)) % 2 == 0
    assert scores[own].mean() > scores[~own].mean() + 0.3
    assert len(trainer.model.extra) == {"cis": 2, "nce": 1}.get(name, 0)


@pytest.mark.skipif(SLOW, reason="trains")
@pytest.mark.parametrize("loss", ["ns", pytest.param("cis", marks=pytest.mark.slow)])
def test_two_vocabularies_survive_saving_and_resuming_bitwise(tmp_path, loss):
    data = community()
    options = config("pairs", rectangular=True, loss=loss, epochs=4)
    whole = Trainer(data, options).train()
    trainer = Trainer(data, options)
    trainer.listeners.append(
        lambda event: trainer.stop() if isinstance(event, EpochDone) and event.epoch == 2 else None
    )
    trainer.train().save(tmp_path / "model")
    half = Model.load(tmp_path / "model")
    assert half.vocab == data.vocab
    assert half.vocab_out == data.vocab_out
    assert half.vocab_out is not half.vocab
    rest = Trainer(data, half.config, model=half).train()
    for name, matrix in whole.matrices().items():
        assert np.array_equal(matrix, rest.matrices()[name]), name


@pytest.mark.skipif(SLOW, reason="trains")
@pytest.mark.parametrize("options", [{}, {"ordered": True}, {"pairs_per_item": 3}])
@pytest.mark.parametrize("loss", ["us", pytest.param("relaxed", marks=pytest.mark.slow)])
def test_baskets_train(loss, options):
    rng = np.random.default_rng(3)
    lists = [rng.choice(np.arange(half, 40, 2), rng.integers(2, 8), replace=False).tolist() for half in (0, 1) * 300]
    data = baskets(lists, 40)
    trainer = Trainer(data, config(loss=loss, epochs=10, dim=16, **options), diagnose=loss == "relaxed")
    model = trainer.train()
    unit = model.vectors_in / np.linalg.norm(model.vectors_in, axis=1, keepdims=True)
    similar = unit @ unit.T
    known = data.traversal.counts(data, trainer.config).toarray() > 0
    np.fill_diagonal(known, True)
    assert similar[known].mean() > similar[~known].mean() + 0.5
    assert sum(event["event"] == "Diagnosis" for event in model.history) == (10 if loss == "relaxed" else 0)


def test_counts_of_baskets_against_a_double_loop():
    rng = np.random.default_rng(8)
    lists = [rng.integers(0, 20, rng.integers(1, 9)).tolist() for _ in range(60)]
    data = baskets(lists, 20)
    expected = np.zeros((20, 20), int)
    for begin, end in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        items = data.ids[begin:end].tolist()
        for i, j in itertools.permutations(items, 2):
            expected[i, j] += i != j
    assert np.array_equal(data.traversal.counts(data, config()).toarray(), expected)


def test_next_words_only():
    ids = np.array([0, 1, 2, 3], np.int32)
    corpus = EncodedCorpus(ids, np.array([0, 4], np.int64), vocabulary(4, [1] * 4))
    walk = corpus.walk(config("text", window=2, dynamic_window=False, ordered=True, subsample=0, min_count=1))
    assert groups_of(walk) == [(0, [1, 2]), (1, [2, 3]), (2, [3])]
    assert walk.largest_group == 2


def test_ordered_words_around_predict_what_comes_next():
    """The words of a group are those before the one in the middle."""
    ids, offsets = np.array([0, 1, 2, 3, 0, 2], np.int32), np.array([0, 4, 6], np.int64)
    options = {"inputs": "window", "ordered": True, "subsample": 0}
    text = EncodedCorpus(ids, offsets, vocabulary(4, [1] * 4)).walk(
        config("text", window=2, dynamic_window=False, min_count=1, **options)
    )
    assert groups_of(text) == [(2, [0]), (3, [2, 1]), (2, [1, 0]), (1, [0])]
    walk = baskets([[0, 1, 2, 3], [0, 1]]).walk(config(**options))
    assert groups_of(walk) == [(1, [0]), (3, [2, 1, 0]), (2, [1, 0]), (1, [0])]


@pytest.mark.slow
def test_cbow_finds_the_successor_as_skip_gram_does():
    rng = np.random.default_rng(1)
    lines = (rng.integers(0, 26, 1000)[:, None] + np.arange(12)).astype(np.int32) % 26
    data = EncodedCorpus(lines.ravel(), np.arange(0, lines.size + 1, 12), vocabulary(26, [1] * 26))
    options = {"loss": "sampled-softmax", "window": 1, "dynamic_window": False, "ordered": True, "subsample": 0}
    for inputs in ("row", "window"):
        model = Trainer(data, config("text", dim=16, epochs=6, min_count=1, inputs=inputs, **options)).train()
        best = (model.vectors_in @ model.vectors_out.T).argmax(axis=1)
        assert best.tolist() == [*range(1, 26), 0], inputs
