"""Rows that start from the leading singular vectors of the pairs."""

import json

import numpy as np
import pytest
import scipy.sparse

from w2vneg import Input, Word2Vec
from w2vneg.config import TrainConfig
from w2vneg.data.inputs import encode_input
from w2vneg.ground.errors import ConfigError
from w2vneg.run import spectral
from w2vneg.run.model import Model
from w2vneg.run.spectral import start_spectral
from w2vneg.run.trainer import Trainer

TASTES = 4


def liked(n_users=60, n_items=24, seed=0, scale=1):
    """Return counts, csr_matrix: a user of one of four tastes has mostly its items, those with a low number more."""
    rng = np.random.default_rng(seed)
    tastes, kinds = np.arange(n_users) % TASTES, np.arange(n_items) % TASTES
    means = (0.1 + 2.0 * (tastes[:, None] == kinds)) / (1 + np.arange(n_items) / n_items)
    return scipy.sparse.csr_matrix(scale * rng.poisson(means).astype(np.float32))


def started(matrix, **options):
    """Return (the `Model` that starts from a matrix of counts, the matrix in the order of its names)."""
    options = {"loss": "top-n", "dim": 8, "workers": 1} | options
    data = encode_input(Input("pairs", matrix, rectangular=True), min_count=1)
    config = TrainConfig(source="pairs", rectangular=True, **options).resolved()
    model = Model.fresh(data.vocab, config, data.vocab_out)
    start_spectral(model, data.matrix)
    return model, data.matrix


def expected(matrix, share, row, column):
    """Return the share of N (n_ij − d_i D_j / N) / ((d_i + row) (D_j + column)), which all axes make up."""
    counts = matrix.toarray().astype(np.float64)
    by_chance = np.outer(counts.sum(1), counts.sum(0)) / counts.sum()
    return share * counts.sum() * (counts - by_chance) / np.outer(counts.sum(1) + row, counts.sum(0) + column)


@pytest.mark.parametrize("tall", [True, False])
@pytest.mark.parametrize("scale", [1, 5])
def test_all_axes_give_the_scores_of_correspondence_analysis(scale, tall):
    matrix = liked(scale=scale) if tall else liked(20, 40, scale=scale)
    model, own = started(matrix, dim=25, bias=0.8)
    found = model.vectors_in[:, 1:] @ model.vectors_out[:, 1:].T
    unit = float(np.median(own.data))  # a pair that counts five times is one pair all the same
    right = expected(own, spectral._SHARE, spectral._ROW * unit, spectral._COLUMN * unit)
    np.testing.assert_allclose(found, right, rtol=0.02, atol=2e-3 * np.abs(right).max())


def test_without_a_constant_added_the_scores_are_the_ratios_of_shares(monkeypatch):
    """The defining equation: P(j|i) / P(j) − 1, for a matrix without a zero row or column."""
    monkeypatch.setattr(spectral, "_ROW", 0.0)
    monkeypatch.setattr(spectral, "_COLUMN", 0.0)
    monkeypatch.setattr(spectral, "_SHARE", 1.0)
    matrix = scipy.sparse.csr_matrix(np.random.default_rng(1).integers(1, 9, (12, 9)).astype(np.float32))
    model, own = started(matrix, dim=9)
    shares = own.toarray() / own.sum()
    right = shares / np.outer(shares.sum(1), shares.sum(0)) - 1
    np.testing.assert_allclose(model.vectors_in[:, 1:] @ model.vectors_out[:, 1:].T, right, atol=2e-3)


def test_the_first_numbers_are_popularity_less_the_noise():
    model, own = started(liked())
    counts = np.log(np.asarray(own.sum(axis=0)).ravel() + 1)
    first = model.vectors_in[:, :1] @ model.vectors_out[:, :1].T
    assert model.config.bias == 0.8 and (model.vectors_in[:, 0] == np.float32(0.8)).all()
    np.testing.assert_allclose(first, np.broadcast_to(counts - counts.mean(), first.shape), atol=0.05)
    popular, _ = started(liked(), loss="ns", sampler="popularity", noise_exponent=1.0)
    assert np.ptp(popular.vectors_out[:, 0]) < 0.2 * np.ptp(first)  # the noise has taken it away
    boltzmann, _ = started(liked(), loss="relaxed", sampler="selfplay")  # T = 1: scores are half as large
    np.testing.assert_allclose(boltzmann.vectors_in[:, :1] @ boltzmann.vectors_out[:, :1].T, first / 2, atol=0.05)
    both = [model.vectors_in[:, 1:] @ model.vectors_out[:, 1:].T for model in (model, boltzmann)]
    np.testing.assert_allclose(both[1], both[0] / 2, atol=1e-5)


def test_a_sample_of_the_rows_is_enough_for_many_pairs(monkeypatch):
    matrix = liked(2000, 40)
    scores = []
    for most in (matrix.nnz, matrix.nnz // 4):
        monkeypatch.setattr(spectral, "_MOST", most)
        monkeypatch.setattr(spectral, "_BLOCK", 300)
        model, _ = started(matrix, dim=4)
        scores.append(model.vectors_in[:, 1:] @ model.vectors_out[:, 1:].T)
    assert np.corrcoef(scores[0].ravel(), scores[1].ravel())[0, 1] > 0.97


def test_the_same_seed_gives_the_same_rows_and_centres_without_a_pair_stay():
    data = encode_input(Input("pairs", liked(), rectangular=True), min_count=1)
    matrix = data.matrix.copy()
    matrix.data[: matrix.indptr[1]] = 0
    matrix.eliminate_zeros()
    config = TrainConfig(source="pairs", rectangular=True, loss="top-n", dim=8).resolved()
    models = [Model.fresh(data.vocab, config, data.vocab_out) for _ in range(3)]
    for model in models[1:]:
        start_spectral(model, matrix)
    fresh, one, other = models
    assert np.array_equal(one.vectors_in, other.vectors_in) and np.array_equal(one.vectors_out, other.vectors_out)
    assert np.array_equal(one.vectors_in[0], fresh.vectors_in[0])
    assert (one.vectors_in[1:] != fresh.vectors_in[1:])[:, 1:].all()


@pytest.mark.parametrize("dim", [2, 40])
def test_any_dim_will_do(dim):
    model, _ = started(liked(), dim=dim)
    fresh = Model.fresh(model.vocab, model.config, model.vocab_out)
    rank = min(24, dim)
    assert np.isfinite(model.vectors_in).all() and np.isfinite(model.vectors_out).all()
    assert np.array_equal(model.vectors_in[:, rank:], fresh.vectors_in[:, rank:])
    assert not np.array_equal(model.vectors_in[:, 1:rank], fresh.vectors_in[:, 1:rank])


@pytest.mark.parametrize("blocks", [(20, 20), (30, 10), (8, 16, 4)])
def test_the_first_axis_parts_blocks_that_share_nothing(blocks):
    """Chance is what is taken away, not the first singular vector, which blocks are as large as."""
    kinds = np.repeat(np.arange(len(blocks)), blocks)
    matrix = scipy.sparse.csr_matrix((kinds[:, None] == kinds).astype(np.float32))
    model, own = started(matrix, dim=1 + len(blocks))
    found = np.sign(model.vectors_in[:, 1:] @ model.vectors_out[:, 1:].T)
    assert np.array_equal(found, np.sign(own.toarray() - 0.5))


def test_axes_beyond_the_rank_of_the_data_stay_as_they_are():
    matrix = scipy.sparse.csr_matrix(np.kron(np.eye(2), np.ones((15, 10))).astype(np.float32))  # one axis
    model, _ = started(matrix, dim=6)
    fresh = Model.fresh(model.vocab, model.config, model.vocab_out)
    assert np.array_equal(model.vectors_in[:, 2:], fresh.vectors_in[:, 2:]) and not model.vectors_out[:, 2:].any()
    assert not np.array_equal(model.vectors_in[:, 1], fresh.vectors_in[:, 1])
    alike, _ = started(scipy.sparse.csr_matrix(np.ones((9, 7), np.float32)), dim=4)
    fresh = Model.fresh(alike.vocab, alike.config, alike.vocab_out)
    assert np.array_equal(alike.vectors_in[:, 1:], fresh.vectors_in[:, 1:])


def test_a_sample_has_more_rows_than_axes(monkeypatch):
    monkeypatch.setattr(spectral, "_MOST", 100)
    model, _ = started(liked(200, 60), dim=30)
    fresh = Model.fresh(model.vocab, model.config, model.vocab_out)
    assert (np.abs(model.vectors_out[:, 1:]).max(axis=0) > 0).all()
    assert not (model.vectors_in == fresh.vectors_in)[:, 1:].all(axis=0).any()


@pytest.mark.parametrize("shape", [(2, 5), (5, 2), (2, 2), (3, 50)])
def test_any_shape_will_do(shape):
    model, _ = started(scipy.sparse.csr_matrix(np.ones(shape, np.float32)), dim=6)
    assert np.isfinite(model.vectors_in).all() and np.isfinite(model.vectors_out).all()


def test_pairs_of_one_kind_and_weights_below_1_start_likewise():
    weights = np.triu(np.random.default_rng(2).random((12, 12)), 1).astype(np.float32)
    data = encode_input(Input("pairs", scipy.sparse.csr_matrix(weights)), min_count=1)
    trained = Trainer(data, TrainConfig(source="pairs", loss="us", dim=5, start="spectral", epochs=1, workers=1))
    assert np.abs(trained.model.vectors_out).max() > 0.01
    plain = Trainer(data, TrainConfig(source="pairs", loss="us", dim=5, epochs=1, workers=1))
    assert not plain.model.vectors_out.any()


def test_training_is_ahead_from_its_first_epoch():
    data = encode_input(Input("pairs", liked(400, 40), rectangular=True), min_count=1)
    losses = {}
    for start in ("random", "spectral"):
        config = TrainConfig(source="pairs", rectangular=True, loss="top-n", dim=8, start=start, epochs=2, workers=1)
        losses[start] = [one["loss"] for one in Trainer(data, config).train().history if one["event"] == "EpochDone"]
    assert losses["spectral"][0] < losses["random"][1] < losses["random"][0]


def test_top_n_starts_so_and_has_half_the_epochs():
    data = encode_input(Input("pairs", liked(), rectangular=True), min_count=1)

    def of(**options):
        return Trainer(data, TrainConfig(source="pairs", rectangular=True, workers=1, **options)).config

    assert of().source.start == of(loss="top-n").source.start == "spectral"
    assert of().epochs == 50 and of(start="random").epochs == of(absolute_softmax=True).epochs == 100
    assert of(dim=1).epochs == 100
    assert of(loss="us").source.start is None and of(loss="us").epochs == 5


def test_rows_that_are_given_come_first(tmp_path):
    word2vec = Word2Vec(loss="top-n", dim=6, epochs=1, workers=1)
    given = word2vec.fit(Input("pairs", liked(), rectangular=True))
    half = Input("pairs", liked(30), rectangular=True)
    options = {"loss": "top-n", "dim": 6, "epochs": 1, "workers": 1, "alpha": 1e-9}
    later = Word2Vec(**options).fit(half, init=given)
    np.testing.assert_allclose(later["0"], given["0"], atol=1e-4)
    word2vec.save(tmp_path / "model")
    loaded = Word2Vec.load(tmp_path / "model")
    loaded.set_params(alpha=1e-9, min_alpha=0.0)
    again = loaded.fit(half, init=given)
    np.testing.assert_allclose(again["0"], given["0"], atol=1e-4)


def test_a_tree_has_no_rows_of_targets_and_an_absolute_softmax_no_signs():
    with pytest.raises(ConfigError, match="loss 'hierarchical' has inner nodes of a tree instead; leave it out"):
        TrainConfig(source="pairs", loss="hierarchical", start="spectral").resolved()
    with pytest.raises(ConfigError, match="an absolute softmax has no signs; leave one of the two out"):
        TrainConfig(source="pairs", loss="kernel-quadratic", start="spectral").resolved()
    data = encode_input(Input("pairs", liked(), rectangular=True), min_count=1)
    absolute = Trainer(data, TrainConfig(source="pairs", rectangular=True, absolute_softmax=True, workers=1))
    assert not absolute.model.vectors_out.any()


def test_the_command(run_cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = liked().tocoo()
    (tmp_path / "log.csv").write_text(
        "user,item\n" + "".join(f"u{a},i{b}\n" for a, b in zip(rows.row, rows.col, strict=True))
    )
    found = run_cli("train", "--pairs=log.csv", "--start=random", "--epochs=1", "--dim=4", "--save-model=model")
    assert found.code == 0
    assert json.loads((tmp_path / "model/config.json").read_text())["source"]["start"] == "random"
    (tmp_path / "text.txt").write_text("a b c d\n" * 20)
    refused = run_cli("train", "--corpus=text.txt", "--start=spectral", "--save-model=other")
    assert refused.code == 1 and "--start has no effect here: it is for --pairs" in refused.err
