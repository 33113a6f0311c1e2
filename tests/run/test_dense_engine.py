"""The exact softmax: gradients against float64, training, repeats, refusals."""

import contextlib
import math
import os
from itertools import pairwise

import naive
import numpy as np
import pytest
from planted import random_words, same_topic, two_topics
from scipy import special

from w2vneg import Input, Word2Vec
from w2vneg.cli.progress import TrainingProgress
from w2vneg.config import TrainConfig
from w2vneg.data.encoded import encode_corpus
from w2vneg.data.inputs import encode_input
from w2vneg.ground.errors import ConfigError, DivergenceError
from w2vneg.ground.events import CostEstimated, EpochDone, RolledBack, RoundDone
from w2vneg.ground.jit import threads
from w2vneg.ground.registry import RunContext
from w2vneg.kernels.dense import blas
from w2vneg.kernels.dense.blas import one_blas_thread
from w2vneg.kernels.dense.softmax import Groups, Manner, Workspace, batch_of, collect_groups, softmax_step
from w2vneg.kernels.walk import TextWindows
from w2vneg.run.model import Model
from w2vneg.run.trainer import Trainer

N_VOCAB, DIM = 1_100, 6  # three tiles, the last one short
SMALL = {"loss": "softmax", "dim": 8, "window": 3, "subsample": 0, "min_count": 1, "epochs": 2, "workers": 1}
compiled = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too much for plain Python")


@pytest.fixture(autouse=True)
def _wrapping_integers():
    """Plain Python warns where uint64 wraps round, which random streams do on purpose."""
    with np.errstate(over="ignore"):
        yield


@pytest.fixture(scope="module")
def planted():
    return encode_corpus(two_topics(), min_count=1)


def some_groups(seed=1):
    """Return (vectors_in, vectors_out, groups): centres that come twice, positives that come twice."""
    rng = np.random.default_rng(seed)
    vectors_in, vectors_out = rng.normal(0, 0.8, (2, N_VOCAB, DIM)).astype(np.float32)
    groups = [(4, [1, 7, 1]), (900, [7, 1_099]), (4, [512, 511]), (30, [4]), (1_099, [0, 1_099, 600])]
    return vectors_in, vectors_out, groups


def step(vectors_in, vectors_out, groups, alpha, bounded=False, absolute=False, penalty=0.0, penalised=1.0):
    """Do one step in place; return the loss."""
    centres = np.array([centre for centre, _ in groups], np.int32)
    ends = np.cumsum([len(positives) for _, positives in groups])
    positives = np.concatenate([np.array(p, np.int32) for _, p in groups])
    ids, batch = batch_of(vectors_in, Groups(centres, ends, positives, np.full(len(positives), penalised, np.float32)))
    work = Workspace.of(len(groups) + 2, *vectors_out.shape)
    with one_blas_thread():
        loss = softmax_step(batch, work, vectors_out, Manner(np.float32(alpha), bounded, absolute, np.float32(penalty)))
    vectors_in[ids] = batch.rows
    return loss


def full_softmax(vectors_in, vectors_out, groups, absolute=False, penalty=0.0):
    """The oracle, in float64: (loss, gradient of vectors_in, gradient of vectors_out), pair by pair."""
    inputs, outputs = vectors_in.astype(float), vectors_out.astype(float)
    loss, d_in, d_out = 0.0, np.zeros_like(inputs), np.zeros_like(outputs)
    for centre, positives in groups:
        products = outputs @ inputs[centre]
        signs = np.where(products < 0, -1.0, 1.0) if absolute else np.ones(len(products))
        log_p, log_z = special.log_softmax(signs * products), special.logsumexp(signs * products)
        for j in positives:
            loss += -log_p[j] + penalty * log_z**2
            gradient = np.exp(log_p) * (1 + 2 * penalty * log_z)
            gradient[j] -= 1
            gradient *= signs
            d_in[centre] += gradient @ outputs
            d_out += np.outer(gradient, inputs[centre])
    return loss, d_in, d_out


@pytest.mark.parametrize("absolute", [False, True])
@pytest.mark.parametrize("penalty", [0.0, 0.05])
def test_one_batch_moves_both_matrices_down_the_exact_slope(absolute, penalty):
    vectors_in, vectors_out, groups = some_groups()
    loss, d_in, d_out = full_softmax(vectors_in, vectors_out, groups, absolute, penalty)
    trained_in, trained_out = vectors_in.copy(), vectors_out.copy()
    alpha = 2.0**-6
    got = step(trained_in, trained_out, groups, alpha, absolute=absolute, penalty=penalty)
    assert got == pytest.approx(loss, rel=1e-6)
    np.testing.assert_allclose((vectors_in - trained_in) / alpha, d_in, atol=3e-5)
    np.testing.assert_allclose((vectors_out - trained_out) / alpha, d_out, atol=3e-5)
    untouched = np.setdiff1d(np.arange(N_VOCAB), [centre for centre, _ in groups])
    assert np.array_equal(trained_in[untouched], vectors_in[untouched])


def test_loss_is_scipys_log_softmax_even_for_huge_scores():
    vectors_in, vectors_out, groups = some_groups()
    for scale in (0.01, 1, 30):
        scaled = vectors_in * np.float32(scale)
        expected = sum(
            -special.log_softmax(vectors_out.astype(float) @ scaled[centre])[positives].sum()
            for centre, positives in groups
        )
        assert step(scaled, vectors_out.copy(), groups, 0.0) == pytest.approx(expected, rel=1e-5)


def test_bounded_steps_move_no_logit_of_the_batch_by_more_than_one_through_an_output_row():
    vectors_in, vectors_out, groups = some_groups()
    centres = [centre for centre, _ in groups]
    trained = vectors_out.copy()
    step(vectors_in.copy(), trained, groups * 20, 1.0, bounded=True)
    moved = np.abs((trained - vectors_out) @ vectors_in[centres].T)
    assert 0.3 < moved.max() <= 1.0001
    assert np.isfinite(trained).all()


PAIRS = [(f"u{k % 12}", f"i{k * k % 19}") for k in range(90)]
L2_OPTIONS = {"loss": "softmax", "l2": "1.5,0.9", "l2_power": 0.4, "bounded_steps": False, "workers": 1, "dim": DIM}


def penalised(alphas, **options):
    """Train random rows on `PAIRS` for one round with L2; return what the oracle needs.

    Returns (matrices before, after, groups of the round in order, pairs of each row in an epoch).
    """
    data = encode_input(Input("pairs", PAIRS, rectangular=True), min_count=1)
    config = TrainConfig(source="pairs", rectangular=True, **L2_OPTIONS | options)
    engine, rng = Trainer(data, config).engine, np.random.default_rng(3)
    for matrix in (engine.vectors_in, engine.vectors_out):
        matrix[:] = rng.normal(0, 0.8, matrix.shape)
    before = [matrix.copy() for matrix in (engine.vectors_in, engine.vectors_out)]
    (now,) = engine.plan(0)
    assert engine.run(now, alphas)[1] == len(PAIRS)
    groups = engine._groups
    n = int(np.flatnonzero(groups.ends == len(PAIRS))[0]) + 1
    positives = np.split(groups.positives[: len(PAIRS)], groups.ends[: n - 1])
    groups = [(int(c), p.tolist()) for c, p in zip(groups.centres[:n], positives, strict=True)]
    names = data.vocab.words, data.vocab_out.words
    assert sorted((names[0][c], names[1][j]) for c, p in groups for j in p) == sorted(PAIRS)
    pairs = [np.bincount(ids) for ids in zip(*((c, j) for c, p in groups for j in p), strict=True)]
    return before, [engine.vectors_in, engine.vectors_out], groups, pairs


@compiled
@pytest.mark.parametrize("held", [0.0, 0.7])
@pytest.mark.parametrize("batch", [1, 5, 512])
def test_l2_does_what_the_oracle_does(batch, held):
    """Batch by batch: a step of the exact softmax, then each pair shrinks its two rows."""
    before, after, groups, pairs = penalised((0.05, 0.01), batch=batch, bias=held)
    rates = [strength * n**-0.6 for strength, n in zip((1.5, 0.9), pairs, strict=True)]
    inputs, outputs = (matrix.astype(float) for matrix in before)
    n_batches = -(-len(groups) // batch)
    borders = [len(groups) * k // n_batches for k in range(n_batches + 1)]
    for first, last in pairwise(borders):
        alpha = 0.05 - 0.04 * (first + last) / (2 * len(groups))
        own = groups[first:last]
        _, d_in, d_out = full_softmax(inputs, outputs, own)
        inputs, outputs = inputs - alpha * d_in, outputs - alpha * d_out
        naive.shrink(inputs, [centre for centre, positives in own for _ in positives], rates[0], alpha, held)
        naive.shrink(outputs, [j for _, positives in own for j in positives], rates[1], alpha)
    np.testing.assert_allclose(after[0], inputs, rtol=2e-4, atol=2e-5)
    np.testing.assert_allclose(after[1], outputs, rtol=2e-4, atol=2e-5)
    assert all(np.abs(one - other).max() > 0.05 for one, other in zip(before, after, strict=True))


@compiled
def test_an_epoch_goes_down_the_regularised_loss():
    """To first order in alpha it is the slope of Σ loss + ½ Σ λ c^ν ‖row‖², by central differences."""
    alpha = 2.0**-13
    before, after, groups, pairs = penalised((alpha, alpha))
    wide = [matrix.astype(float) for matrix in before]

    def regularised_loss(matrices):
        of_rows = zip((1.5, 0.9), pairs, matrices, strict=True)
        return full_softmax(*matrices, groups)[0] + sum(s / 2 * n**0.4 @ (m**2).sum(axis=1) for s, n, m in of_rows)

    for side, row, column in ((0, 0, 0), (0, 7, 2), (1, 0, 0), (1, 5, 1), (1, 9, 5)):
        values = []
        for by in (1e-4, -1e-4):
            moved = [matrix.copy() for matrix in wide]
            moved[side][row, column] += by
            values.append(regularised_loss(moved))
        found = (wide[side] - after[side])[row, column] / alpha
        assert found == pytest.approx((values[0] - values[1]) / 2e-4, abs=0.01, rel=0.01)


def test_largest_is_numpys_max():
    rng = np.random.default_rng(0)
    for values in (rng.normal(size=77), -np.ones(3) - rng.random(3), np.array([-np.inf, -3.0]), np.array([0.0, -0.0])):
        values = values.astype(np.float32)
        assert blas.largest(values) == values.max()
    assert np.isnan(blas.largest(np.array([1, np.nan, 2], np.float32)))


def test_groups_are_those_of_the_text():
    ids = np.array([3, 1, 4, 1, 5, 9, 2, 6], np.int32)
    offsets = np.array([0, 5, 6, 8])
    source = TextWindows(ids, offsets, np.full(10, 2**32, np.uint64), 2, False)
    tokens = np.array([[3, 1, 4, 1, 5, -1, 9, -1, 2, 6, -1, -1]], np.int32)
    centres, ends, positives, chosen = groups = Groups.room(12, 99)
    rngs = np.zeros((1, 8), np.uint64)
    n = collect_groups(source, tokens, np.array([[0, 10]]), rngs, 0.4, groups)
    expected = naive.groups(ids, offsets, 2)
    assert [(int(c), p.tolist()) for c, p in zip(centres[:n], np.split(positives, ends[:n]), strict=False)] == [
        (centre, found) for _, centre, found in expected
    ]
    assert set(chosen[: ends[n - 1]]) == {0, 1}


def trained(corpus, events=None, **options):
    word2vec = Word2Vec(**SMALL | options)
    word2vec.fit(corpus, listeners=[] if events is None else [events.append])
    return word2vec


def bits(word2vec):
    model = getattr(word2vec, "model", word2vec)
    return model.vectors_in.tobytes(), model.vectors_out.tobytes()


def losses(word2vec):
    return [record["loss"] for record in word2vec.model.history if record["event"] == "EpochDone"]


@compiled
@pytest.mark.filterwarnings("ignore:these vectors were trained on")
@pytest.mark.parametrize(
    "options",
    [{}, {"batch": 7}, {"workers": 2}, {"absolute_softmax": True, "epochs": 5}, {"self_normalise": "0.1,0.5"}],
    ids=str,
)
def test_planted_topics_are_recovered(planted, options):
    word2vec = trained(planted, **{"epochs": 3} | options)
    assert same_topic(word2vec.vectors) >= 0.95
    assert losses(word2vec)[-1] < word2vec.model.history[-1]["untrained"]
    if not options:  # knowing the topic: one of 20 words
        assert losses(word2vec)[-1] == pytest.approx(math.log(20), abs=0.05)


@compiled
def test_no_signal_gives_chance_level():
    with pytest.warns(UserWarning, match="the loss has hardly fallen"):
        word2vec = trained(encode_corpus(random_words(), min_count=1), epochs=3)
    assert 0.35 < same_topic(word2vec.vectors) < 0.65
    assert losses(word2vec)[-1] == pytest.approx(math.log(40), rel=0.015)


@compiled
def test_self_normalising_brings_z_to_one(planted):
    def mean_log_z(word2vec):
        scores = word2vec.model.vectors_in @ word2vec.model.vectors_out.T
        return np.abs(special.logsumexp(scores, axis=1)).mean()

    assert mean_log_z(trained(planted, epochs=5, self_normalise="1")) < 0.2
    assert mean_log_z(trained(planted, epochs=5)) > 2


@compiled
@pytest.mark.parametrize("options", [{}, {"self_normalise": "0.1,0.5"}], ids=str)
def test_the_loss_of_an_untrained_model_is_the_reference(planted, options):
    with pytest.warns(UserWarning, match="the loss has hardly fallen"):
        record = trained(planted, alpha=1e-12, epochs=1, **options).model.history[-1]
    assert record["loss"] == pytest.approx(record["untrained"], rel=1e-3 if options else 1e-6)
    if not options:
        assert record["untrained"] == pytest.approx(math.log(40))


@compiled
def test_a_seed_repeats_to_the_bit_whatever_the_threads(planted):
    first, second = trained(planted), trained(planted)
    assert bits(first) == bits(second)
    assert losses(first) == losses(second)
    assert bits(first) != bits(trained(planted, seed=2))
    assert bits(trained(planted, workers=3)) == bits(trained(planted, workers=3))
    vectors_in, vectors_out, groups = some_groups()
    results = []
    for count in (1, 2):
        copies = vectors_in.copy(), vectors_out.copy()
        with threads(count):
            loss = step(*copies, groups, 0.1, bounded=True)
        results.append((loss, *(copy.tobytes() for copy in copies)))
    assert results[0] == results[1]


@compiled
@pytest.mark.parametrize("n_rounds", [1, 5, 9])
def test_resumed_equals_uninterrupted_to_the_bit(planted, tmp_path, n_rounds):
    whole = trained(planted, epochs=2)
    seen = []

    def stop(event):
        seen.append(event)
        if sum(isinstance(one, RoundDone) for one in seen) == n_rounds:
            trainer.stop()

    trainer = Word2Vec(**SMALL).trainer(planted, [stop])
    trainer.train().save(tmp_path / "model")
    model = Model.load(tmp_path / "model")
    resumed = Word2Vec(model.config).trainer(planted, model=model)
    resumed.train()
    assert bits(resumed.model) == bits(whole)
    assert [r["loss"] for r in model.history if r["event"] == "EpochDone"] == losses(whole)


@compiled
def test_absurd_alpha_with_unbounded_steps_ends_in_divergence(planted):
    events = []
    word2vec = Word2Vec(**SMALL | {"alpha": 1e6, "bounded_steps": False})
    with pytest.raises(DivergenceError, match=r"^training diverged 6 times, last at alpha 31250; lower --alpha"):
        word2vec.fit(planted, listeners=[events.append])
    assert [event.alpha_factor for event in events] == [0.5, 0.25, 0.125, 0.0625, 0.03125]
    assert all(isinstance(event, RolledBack) for event in events)
    assert bits(word2vec) == bits(Model.fresh(planted.vocab, word2vec.model.config))


@compiled
@pytest.mark.parametrize("alpha", [0.5, 5.0, 1e2, 1e6, 1e30])
def test_bounded_steps_keep_any_alpha_finite(planted, alpha):
    word2vec = Word2Vec(**SMALL | {"alpha": alpha})
    with contextlib.suppress(DivergenceError):
        word2vec.fit(planted)
    for matrix in (word2vec.model.vectors_in, word2vec.model.vectors_out):
        assert np.abs(matrix).max() < 1e4
    if alpha <= 5:
        assert losses(word2vec)[-1] < 3.3


@pytest.mark.parametrize(
    "options",
    [
        {"sampler": "uniform"},
        {"negatives": 3},
        {"share_negatives": True},
        {"weigher": "importance"},
        {"exclude": "target"},
        {"private_rows": 5},
    ],
)
def test_what_belongs_to_samples_is_refused(planted, options):
    flag = "--" + next(iter(options)).replace("_", "-")
    words = f"^{flag} has no effect with loss 'softmax', which scores every word and draws no negatives"
    with pytest.raises(ConfigError, match=words) as told:
        Word2Vec(**SMALL | options).check()
    assert "--loss sampled-softmax" in str(told.value)
    with pytest.raises(ConfigError, match=words):
        Word2Vec(**SMALL | options).trainer(planted)


@pytest.mark.parametrize("text", ["x", "", "-1", "0.1,0", "0.1,2", "1,2,3", "nan", "inf"])
def test_self_normalise_is_checked(text):
    with pytest.raises(ConfigError, match="LAMBDA or LAMBDA,FRACTION"):
        TrainConfig(loss="softmax", self_normalise=text)
    config = TrainConfig(loss="softmax", self_normalise="0.5,0.25").resolved()
    assert config.make("loss", RunContext(np.ones(5)))[1:] == (2.0, 0.25)


def estimate(n_vocab=15_000, batch=256, centres=1e6):
    return blas.dense_cost("the full softmax", n_vocab, 100, batch, 3, centres, 1, "choose --loss relaxed")


def test_too_much_memory_is_refused_in_words(monkeypatch):
    monkeypatch.setattr(blas, "memory_size", lambda: 2**30)
    with pytest.raises(ConfigError, match=r"over 1,000,000 words needs 1.0 GB .*\(1.0 GB\); choose --loss relaxed"):
        estimate(n_vocab=1_000_000)


def test_too_much_time_is_refused_in_words(monkeypatch):
    monkeypatch.setattr(blas, "product_rate", lambda dim, batch: 1e11)
    with pytest.raises(ConfigError, match=r"about 1\.0 days here: 3 matrix products .* 100 GFLOP/s; choose --loss rel"):
        estimate(centres=1e9)


def test_small_runs_are_not_worth_a_word_and_longer_ones_are(planted, monkeypatch):
    assert estimate(centres=1000) is None
    monkeypatch.setattr(blas, "product_rate", lambda dim, batch: 1e11)
    told = estimate(centres=1e7)
    assert (told.bytes, told.seconds) == (4 * 256 * 15_000, pytest.approx(900))


def test_exact_draws_over_too_long_a_corpus_are_refused_too(planted, monkeypatch):
    monkeypatch.setattr(blas, "_WORTH_A_WORD", (0.0, 0))
    monkeypatch.setattr(blas, "product_rate", lambda dim, batch: 1.0)
    with pytest.raises(ConfigError, match=r"sampling over 40 words would take .*--method rolling"):
        Word2Vec(**SMALL | {"loss": "relaxed", "method": "exact"}).trainer(planted)


@compiled
def test_the_estimate_is_told_before_the_first_round(planted, monkeypatch):
    monkeypatch.setattr(blas, "_WORTH_A_WORD", (0.0, 0))
    events = []
    trained(planted, events)
    assert [type(event) for event in events[:2]] == [CostEstimated, RoundDone]
    assert sum(isinstance(event, EpochDone) for event in events) == 2
    told = events[0]
    assert (told.n_vocab, told.bytes) == (40, 4 * 40 * 40)
    assert told.seconds > 0 and told.rate > 1e6


def test_progress_shows_the_estimate():
    from io import StringIO

    stream = StringIO()
    with TrainingProgress(stream) as progress:
        progress(CostEstimated("the full softmax", 15_000, 15_360_000, 5_000.0, 1.5e11))
    assert stream.getvalue() == (
        "compiling or loading the kernels\n"
        "the full softmax over 15,000 targets: 15 MB for a batch's scores, about 83 minutes at 150 GFLOP/s\n"
    )
