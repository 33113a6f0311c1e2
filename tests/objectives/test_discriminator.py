"""The co-trained discriminator in the loop: its gradient, its weights, its turns, its place in a model, what it learns.

CIS paper, eqs. 8–10 and algorithm 1.
"""

import itertools
import math

import naive
import numpy as np
import pytest
from scripted import Scripted

from w2vneg import Word2Vec
from w2vneg.config import TrainConfig
from w2vneg.data.encoded import encode_corpus
from w2vneg.ground.errors import ConfigError
from w2vneg.ground.events import RolledBack, RoundDone
from w2vneg.ground.registry import RunContext
from w2vneg.kernels.groups import LoopSpec, Plugs
from w2vneg.kernels.linalg import Rows
from w2vneg.kernels.shard import run_shard
from w2vneg.kernels.walk import TextWindows
from w2vneg.objectives.samplers.exclusions import ExcludeNone
from w2vneg.run.model import Model

N, DIM, N_VOCAB, ALPHA = 3, 4, 12, 2.0**-8
TOKENS = np.array([1, 4, 7, -1], np.int32)  # with a window of 1: the centre 4 has the positives 1 and 7
CENTRE, POSITIVES = 4, [1, 7]
DRAWN = {True: [2, 9, 0], False: [2, 9, 0, 8, 3, 10]}  # shared or not
SETTING = RunContext(np.ones(N_VOCAB), DIM)


@pytest.fixture(autouse=True)
def _wrapping_integers():
    """Plain Python warns where uint64 wraps round, which random streams do on purpose."""
    with np.errstate(over="ignore"):
        yield


def random_matrices(seed, scale=1.0):
    return (scale * np.random.default_rng(seed).normal(size=(2, N_VOCAB, DIM))).astype(np.float32)


def run(drawn, own, first=1, last=2, gaps=False, alpha=ALPHA, bounded=False, **options):
    """Train on the groups of ``TOKENS[first:last]``, all with the same draws.

    own : float32, (2, n_vocab, dim), the discriminator's matrices
    Returns (the model's matrices before, after, the discriminator's after, loss, pairs).
    """
    shared = len(drawn) == N
    options |= {"alpha": alpha, "bounded_steps": bounded, "share_negatives": shared, "weigher": "discriminator"}
    config = TrainConfig(loss="relaxed", **options).resolved()
    weigher = config.make("weigher", SETTING)
    weigher = weigher._replace(discriminator_in=own[0].copy(), discriminator_out=own[1].copy())
    source = TextWindows(TOKENS, np.array([0, 3]), np.zeros(N_VOCAB, np.uint64), 1, False)
    script = np.tile(np.array(drawn, np.int32), (3, 1))
    sampler = Scripted(script, np.zeros(script.shape, np.float32), False)
    before = random_matrices(1)
    after = before.copy()
    loss, pairs = run_shard(
        Plugs(source, sampler, weigher, config.make("loss", SETTING), ExcludeNone()),
        LoopSpec(2, N, int(shared), False, bounded, gaps=gaps),
        Rows(after[0], 0, N_VOCAB, 0),
        Rows(after[1], 0, N_VOCAB, 0),
        TOKENS,
        first,
        last,
        (alpha, alpha),
        np.zeros(1, np.uint64),
    )
    return before, after, np.stack([weigher.discriminator_in, weigher.discriminator_out]), loss, pairs


def slopes_of(value_at, matrices):
    """Central differences of a function of two stacked matrices, in float64."""
    flat = matrices.astype(np.float64).ravel()
    slopes = np.empty_like(flat)
    for k in range(len(flat)):
        at = [flat.copy(), flat.copy()]
        at[0][k] += 1e-5
        at[1][k] -= 1e-5
        slopes[k] = (value_at(at[0].reshape(matrices.shape)) - value_at(at[1].reshape(matrices.shape))) / 2e-5
    return slopes.reshape(matrices.shape)


@pytest.mark.parametrize("shared", [True, False], ids=["shared", "per pair"])
@pytest.mark.parametrize("rate", [None, 4 * ALPHA], ids=["alpha", "its own rate"])
def test_the_discriminator_moves_down_the_slope_of_its_cross_entropy(shared, rate):
    own, drawn = random_matrices(2), DRAWN[shared]
    trained = run(drawn, own, discriminator_alpha=rate)[2]

    def cross_entropy(matrices):
        return naive.discriminator_loss(matrices[0][CENTRE], matrices[1], POSITIVES, drawn, N, shared)

    slopes = slopes_of(cross_entropy, own)
    moved = (own.astype(np.float64) - trained) / (rate or ALPHA)
    np.testing.assert_allclose(moved, slopes, rtol=1e-3, atol=2e-4)
    assert np.count_nonzero(np.abs(slopes) > 1e-3) >= DIM * (1 + 2 + N)


@pytest.mark.parametrize("weigh_positive", [False, True], ids=["eq. 8", "eq. 10"])
@pytest.mark.parametrize("shared", [True, False], ids=["shared", "per pair"])
def test_the_model_moves_down_the_slope_of_the_weighted_softmax(shared, weigh_positive):
    own, drawn = random_matrices(2), DRAWN[shared]
    before, after, _, loss, pairs = run(drawn, own, weigh_positive=weigh_positive)
    weight = {i: naive.sigmoid(-(own[0][CENTRE] @ own[1][i])) for i in range(N_VOCAB)}

    def weighted_softmax(matrices):
        value, x, out = 0.0, matrices[0][CENTRE], matrices[1]
        for k, positive in enumerate(POSITIVES):
            z = (weight[positive] if weigh_positive else 1.0) * math.exp(out[positive] @ x)
            z += sum(weight[drawn[p]] * math.exp(out[drawn[p]] @ x) for p in naive.negatives_of(k, N, drawn, shared))
            value += math.log(z) - out[positive] @ x
        return value

    slopes = slopes_of(weighted_softmax, before)
    np.testing.assert_allclose((before.astype(np.float64) - after) / ALPHA, slopes, rtol=1e-3, atol=2e-4)
    assert loss == pytest.approx(weighted_softmax(before.astype(np.float64)), rel=1e-4)
    assert pairs == 2


def test_an_empty_slot_is_no_draw_for_the_discriminator():
    own = random_matrices(2)
    trained = run([2, -1, 9], own, gaps=True)[2]

    def cross_entropy(matrices):
        return naive.discriminator_loss(matrices[0][CENTRE], matrices[1], POSITIVES, [2, 9], 2, True)

    moved = (own.astype(np.float64) - trained) / ALPHA
    np.testing.assert_allclose(moved, slopes_of(cross_entropy, own), rtol=1e-3, atol=2e-4)
    assert np.array_equal(trained[1][0], own[1][0])  # row 0 stands in for the empty slot


@pytest.mark.parametrize("shared", [True, False], ids=["shared", "per pair"])
def test_bounded_steps_hold_for_the_discriminator_too(shared):
    own = random_matrices(2, scale=2.0)
    trained = run(DRAWN[shared], own, alpha=50.0, bounded=True)[2]
    moved = np.abs((trained[1] - own[1]) @ own[0][CENTRE])
    assert max(moved[POSITIVES].sum(), moved[DRAWN[shared]].max()) == pytest.approx(1, rel=1e-3)


def changed(before, after):
    return set(np.flatnonzero((before != after).any(axis=1)))


def test_both_trains_both_on_every_group():
    own = random_matrices(2)
    before, after, trained, _, pairs = run(DRAWN[True], own, first=0, last=3)
    assert changed(before[0], after[0]) == changed(own[0], trained[0]) == {1, 4, 7}
    assert pairs == 4


def test_alternate_takes_turns_beginning_with_the_model():
    own = random_matrices(2)
    options = {"discriminator_steps": "alternate"}
    before, after, trained, _, pairs = run(DRAWN[True], own, first=0, last=3, **options)
    assert changed(before[0], after[0]) == {1, 7}
    assert changed(own[0], trained[0]) == {4}
    assert pairs == 2  # those of the d-step are not counted


@pytest.mark.parametrize(("steps", "of_vectors", "of_discriminator"), [("2:1", {1, 4}, {7}), ("1:2", {1}, {4, 7})])
def test_so_many_steps_of_one_and_then_of_the_other(steps, of_vectors, of_discriminator):
    own = random_matrices(2)
    before, after, trained, _, _ = run(DRAWN[True], own, first=0, last=3, discriminator_steps=steps)
    assert changed(before[0], after[0]) == of_vectors
    assert changed(own[0], trained[0]) == of_discriminator


@pytest.mark.parametrize("text", ["", "twice", "0:1", "1:", "1:2:3", "1.5:1", "20000:1"])
def test_turns_that_are_none_are_refused(text):
    with pytest.raises(ConfigError, match="such as 5:1"):
        TrainConfig(loss="relaxed", weigher="discriminator", discriminator_steps=text).resolved()


def test_it_starts_undecided_and_apart_from_the_model():
    config = TrainConfig(loss="relaxed", weigher="discriminator", seed=5, dim=DIM).resolved()
    first, again = (config.make("weigher", SETTING) for _ in range(2))
    model = Model.fresh(range(N_VOCAB), config)
    assert first.discriminator_in.shape == first.discriminator_out.shape == (N_VOCAB, DIM)
    assert first.discriminator_in.dtype == first.discriminator_out.dtype == np.float32
    assert np.array_equal(first.discriminator_in, again.discriminator_in)
    assert not np.isclose(first.discriminator_in, model.vectors_in).any()
    assert 0.8 / (2 * DIM) < np.abs(first.discriminator_in).max() <= 1 / (2 * DIM)
    assert not first.discriminator_out.any()  # every weight is ½


CIS = {"loss": "relaxed", "sampler": "boltzmann", "degeneracy": "uniform", "weigher": "discriminator"}
SMALL = {"dim": 16, "window": 3, "subsample": 0, "min_count": 1, "epochs": 3, "workers": 1}


def apart(topics=20, words=10, length=4, n_sentences=3000):
    """Return sentences of 20 topics in which the words 2k and 2k + 1 of a topic never meet, though they might."""
    rng = np.random.default_rng(0)
    twins = [rng.permutation(words // 2)[:length] for _ in range(n_sentences)]
    return [[f"{s % topics}-{2 * k + rng.integers(2)}" for k in twins[s]] for s in range(n_sentences)]


@pytest.fixture(scope="module")
def planted():
    return encode_corpus(apart(), min_count=1)


def topic_of(word):
    return word.split("-")[0]


def twins(one, other):
    return [int(word.split("-")[1]) // 2 for word in (one, other)]


def mean_weights(model):
    """Mean σ(−D) over the pairs of words that met, that might have, and that belong to different topics."""
    words, found = model.vocab.words, {"met": [], "might have": [], "apart": []}
    weights = 1 / (1 + np.exp(model.extra["discriminator_in"] @ model.extra["discriminator_out"].T))
    for (i, one), (j, other) in itertools.permutations(enumerate(words), 2):
        kind = "apart"
        if topic_of(one) == topic_of(other):
            numbers = twins(one, other)
            kind = "might have" if numbers[0] == numbers[1] else "met"
        found[kind].append(weights[i, j])
    return {kind: float(np.mean(values)) for kind, values in found.items()}


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"discriminator_steps": "alternate"}, {"workers": 2}])
def test_targets_that_might_have_been_seen_weigh_little(planted, options):
    """Of 8 words that may stand beside a word, each has p = 1/8; n = 2 draws hit each of 200 words with q = 1/200.

    The best discriminator weighs them n q / (p + n q) = 0.074, and words of other topics 1.
    """
    word2vec = Word2Vec(**SMALL | CIS | {"temp": 1e6, "negatives": 2, "epochs": 10, "alpha": 0.2} | options)
    word2vec.fit(planted)
    weights = mean_weights(word2vec.model)
    assert weights["met"] == pytest.approx(0.074, abs=0.03)
    assert weights["might have"] < 0.35  # never seen together, and told from true negatives all the same
    assert weights["apart"] > 0.98


def stop_after(word2vec, corpus, n_rounds):
    rounds = []

    def stop(event):
        rounds.append(isinstance(event, RoundDone))
        if sum(rounds) == n_rounds:
            trainer.stop()

    trainer = word2vec.trainer(corpus, [stop])
    return trainer.train()


@pytest.mark.parametrize("steps", ["both", "alternate"])
def test_resumed_from_its_folder_it_equals_the_uninterrupted_to_the_bit(planted, tmp_path, steps):
    word2vec = Word2Vec(**SMALL | CIS | {"discriminator_steps": steps})
    word2vec.fit(planted)
    stop_after(word2vec, planted, 25).save(tmp_path / "model")
    assert (tmp_path / "model" / "discriminator_in.npy").exists()
    assert (tmp_path / "model" / "discriminator_out.npy").exists()
    model = Model.load(tmp_path / "model")
    assert model.position.round > 0
    resumed = Word2Vec(model.config).trainer(planted, model=model).train()
    whole = word2vec.model.matrices()
    assert sorted(whole) == ["discriminator_in", "discriminator_out", "vectors_in", "vectors_out"]
    for name, matrix in resumed.matrices().items():
        assert matrix.tobytes() == whole[name].tobytes(), name
    assert np.abs(whole["discriminator_out"]).max() > 0.1


def test_a_rollback_takes_the_discriminator_back_as_well(planted):
    events = []

    def spoil(event):
        events.append(event)
        if sum(isinstance(one, RoundDone) for one in events) == 1 and len(events) == 1:
            trainer.model.extra["discriminator_out"][:] = np.nan  # as if the round had ended like this

    trainer = Word2Vec(**SMALL | CIS | {"epochs": 1}).trainer(planted, [spoil])
    model = trainer.train()
    assert any(isinstance(event, RolledBack) for event in events)
    assert all(np.isfinite(matrix).all() for matrix in model.matrices().values())
