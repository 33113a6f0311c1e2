"""Draws for several launches: when a centre is drawn for anew, from which model, and how far that is behind."""

import math

import numpy as np
import pandas as pd
import pytest
from drawing import p_value
from scipy import special

from w2vneg import Input
from w2vneg.config import TrainConfig
from w2vneg.data.encoded import encode_corpus
from w2vneg.ground.jit import njit
from w2vneg.ground.registry import RunContext
from w2vneg.kernels.contracts import draw as draw_one
from w2vneg.kernels.contracts import log_prob, open_sampler
from w2vneg.kernels.linalg import Rows
from w2vneg.objectives.samplers._ahead import DrawnAhead, renewals
from w2vneg.objectives.samplers.boltzmann import BoltzmannFamily
from w2vneg.run.trainer import Trainer
from w2vneg.run.word2vec import Word2Vec
from w2vneg.vectors.evaluation import scores_of

V, DIM, DRAWS = 300, 4, 8


def due_by_hand(centre_ids, size, visits):
    """Go through the launches visit by visit: the one in which each is drawn for."""
    workers, groups = centre_ids.shape
    due, seen, latest = np.zeros_like(centre_ids), {}, {}
    begins = {math.floor(k * visits) for k in range(1000)}  # numbers of visits before which a centre is drawn for
    for launch in range(-(-groups // size)):
        here = [(w, g) for w in range(workers) for g in range(launch * size, min((launch + 1) * size, groups))]
        before = dict(seen)
        for place in here:
            centre = centre_ids[place]
            seen[centre] = seen.get(centre, 0) + 1
        for centre in {centre_ids[place] for place in here}:
            if begins & set(range(before.get(centre, 0), seen[centre])):
                latest[centre] = launch
        for place in here:
            due[place] = latest[centre_ids[place]]
    return due


@pytest.mark.parametrize("visits", [0.5, 1.0, 2.5, 4.0, 1e9])
@pytest.mark.parametrize("size", [1, 7, 50])
def test_a_centre_is_drawn_for_where_it_comes_first_and_after_so_many_visits(size, visits):
    rng = np.random.default_rng(4)
    centre_ids = np.minimum(rng.geometric(0.2, (2, 50)) - 2, 12).astype(np.int32)
    assert (centre_ids == -1).any()
    due = renewals(centre_ids, size, visits)
    there = centre_ids >= 0
    assert np.array_equal(due[there], due_by_hand(centre_ids, size, visits)[there])
    if visits <= 1:
        assert np.array_equal(due[there], np.broadcast_to(np.arange(50) // size, (2, 50))[there])
    if visits == 1e9:
        assert len(np.unique(np.stack([centre_ids[there], due[there]]), axis=1).T) == len(np.unique(centre_ids[there]))


def moving(seed=2):
    """Return matrices of a model."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(V, DIM)).astype(np.float32), rng.normal(size=(V, DIM)).astype(np.float32)


def pool(visits=4.0, workers=2, counts=None, **options):
    counts = np.sort(np.random.default_rng(2).integers(1, 1000, V))[::-1] if counts is None else counts
    context = RunContext(counts, dim=DIM, workers=workers, max_draws=DRAWS, n_centres=V)
    given = {"loss": "pbs", "temp": 2.0, "share_negatives": "centre"} | options
    config = TrainConfig(**given, method="pool", visits=visits).resolved()
    log_d = config.sampler.noise_exponent * np.log(counts)
    return config.make("sampler", context), lambda x, y: special.softmax(log_d + 0.5 * y.astype(float) @ x)


@njit
def _handed_out(sampler, worker, group, centre_id, ids, log_q, positives, of_positives):
    out = Rows(np.empty((1, 1), np.float32), 0, 1, worker)
    state, none = open_sampler(sampler, ids.shape[0]), np.zeros(positives.shape[0], np.float32)
    centre = np.zeros(1, np.float32)
    draw_one(sampler, state, group, centre_id, centre, out, np.zeros(1, np.uint64), len(ids), ids, log_q, none)
    log_prob(sampler, state, group, centre_id, len(positives), positives, none, of_positives)


def handed_out(sampler, worker, group, centre, positives):
    """Return what training gets for a group: ids, their log q, and that of positives."""
    ids, log_q = np.zeros(DRAWS, np.int32), np.zeros(DRAWS, np.float32)
    of_positives = np.zeros(len(positives), np.float32)
    _handed_out(sampler, worker, group, centre, ids, log_q, positives, of_positives)
    return ids, log_q, of_positives


def test_draws_are_those_of_the_model_at_the_launch_in_which_they_are_due():
    sampler, q = pool()
    size, groups = sampler.batch_groups, sampler.foreseen
    assert groups == 16 * size
    rng = np.random.default_rng(5)
    n = 3 * size + 40  # the last launch is short
    centre_ids = rng.choice([1, 4], (2, n)).astype(np.int32)
    centre_ids[0, [3, size + 5, 3 * size + 1]] = 9
    centre_ids[1, 5:9] = -1
    vectors_in, vectors_out = moving()
    sampler.foresee(centre_ids)
    due = renewals(centre_ids, size, 4.0)
    found, models = {}, []
    positives = np.array([0, 7, 299], np.int32)
    for launch in range(4):
        models.append((vectors_in.copy(), vectors_out.copy()))
        here = np.full((2, size), -1, np.int32)
        part = centre_ids[:, launch * size : (launch + 1) * size]
        here[:, : part.shape[1]] = part
        sampler.refresh(vectors_in, vectors_out, here, launch)
        vectors_in[1] *= 1.3  # as training goes on
        vectors_out += rng.normal(size=vectors_out.shape).astype(np.float32) / 4
        for (worker, group), centre in np.ndenumerate(part):
            if centre >= 0:
                then = due[worker, launch * size + group]
                x, y = models[then]
                ids, log_q, of_positives = handed_out(sampler, worker, group, centre, positives)
                found.setdefault((centre, then), []).append(ids)
                exact = np.log(q(x[centre], y))
                np.testing.assert_allclose(log_q, exact[ids], atol=1e-4)
                np.testing.assert_allclose(of_positives, exact[positives], atol=1e-4)
    assert {then for centre, then in found if centre == 1} == {0, 1, 2, 3}
    assert len([then for centre, then in found if centre == 9]) == 1
    for (centre, then), ids in found.items():
        x, y = models[then]
        if len(ids) > 100:
            assert p_value(np.concatenate(ids), q(x[centre], y)) > 1e-6
            assert len(np.unique(ids, axis=0)) > 0.99 * len(ids)  # visits share a row of the product, not their draws


def test_what_is_not_foreseen_is_drawn_for_at_once():
    sampler, q = pool()
    vectors_in, vectors_out = moving()
    for key in range(3):
        centres = np.full((2, sampler.batch_groups), key, np.int32)
        sampler.refresh(vectors_in, vectors_out, centres, key)
        ids, log_q, _ = handed_out(sampler, 1, 3, key, np.zeros(1, np.int32))
        np.testing.assert_allclose(log_q, np.log(q(vectors_in[key], vectors_out))[ids], atol=1e-4)
        assert sampler.drift(vectors_in, vectors_out) == pytest.approx(0, abs=1e-6)


def test_drift_is_the_total_variation_between_then_and_now():
    sampler, q = pool()
    vectors_in, vectors_out = moving()
    assert sampler.drift(vectors_in, vectors_out) is None
    sampler.refresh(vectors_in, vectors_out, np.full((2, sampler.batch_groups), 3, np.int32), 1)
    moved = vectors_out + np.random.default_rng(1).normal(size=vectors_out.shape).astype(np.float32)
    variation = np.abs(q(vectors_in[3], vectors_out) - q(2 * vectors_in[3], moved)).sum() / 2
    assert variation > 0.1
    assert sampler.drift(2 * vectors_in, moved) == pytest.approx(variation, rel=1e-3)


@pytest.mark.parametrize(("n_vocab", "dim", "max_draws"), [(100_000, 4, 100), (3_000_000, 100, 10), (50, 8, 5000)])
def test_a_pools_memory_is_bounded(n_vocab, dim, max_draws):
    numbers = {"dim": dim, "workers": 2, "max_draws": max_draws, "n_centres": n_vocab}
    options = TrainConfig(loss="relaxed", method="pool", visits=1e6).resolved().sampler
    batch, context, launches, _ = BoltzmannFamily._ahead(options, RunContext(np.ones(n_vocab), **numbers))
    assert launches == 1 or launches * n_vocab * dim * 4 <= 2**28
    assert batch == 128 or 2 * launches * batch * max_draws * 8 <= 2**28
    assert context.dim == dim


def chain(rng, n_words=60, n=6000):
    """Return sentences in which each word has a few followers of its own."""
    follow = rng.dirichlet(np.full(n_words, 0.1), n_words)
    lines, word = [], 0
    for _ in range(n // 10):
        line = []
        for _ in range(10):
            word = rng.choice(n_words, p=follow[word])
            line.append(f"w{word}")
        lines.append(line)
    return lines


@pytest.mark.slow
def test_training_with_a_pool_learns_what_it_learns_with_exact_draws():
    corpus = encode_corpus(chain(np.random.default_rng(6)), min_count=1)
    given = {"loss": "selfplay", "dim": 16, "window": 1, "epochs": 5, "workers": 1, "subsample": 0, "alpha": 0.2}

    def loss(**options):
        """Return the mean loss of the full softmax over the pairs of the text."""
        trainer = Word2Vec(**given, **options).trainer(corpus)
        trainer.train()
        scores = special.log_softmax(trainer.model.vectors_in @ trainer.model.vectors_out.T, axis=1)
        ids = corpus.ids.reshape(-1, 10)
        return -np.mean([scores[ids[:, :-1], ids[:, 1:]].mean(), scores[ids[:, 1:], ids[:, :-1]].mean()])

    assert loss(method="pool") < loss(method="exact") + 0.005


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        {"loss": "cis"},
        {"loss": "css", "sampler": "boltzmann", "temp": 2.0},
        {"loss": "sampled-softmax", "sampler": "boltzmann", "temp": 2.0},
    ],
)
def test_a_pool_serves_any_loss_and_pairs(options):
    """Rows and columns of the pairs are of two kinds, and each row has targets of its own."""
    rng = np.random.default_rng(3)
    p = rng.dirichlet(np.full(30, 0.1), 40)
    drawn = rng.choice(1200, 20_000, p=p.ravel() / 40)
    frame = pd.DataFrame({"user": drawn // 30, "item": drawn % 30})
    users, items = drawn // 30, drawn % 30
    given = {"dim": 16, "epochs": 10, "workers": 1, "alpha": 0.1, "rectangular": True} | options

    def loss(method):
        """Return the mean loss of the full softmax over the pairs, with scores corrected by the law."""
        word2vec = Word2Vec(**given, method=method)
        word2vec.fit(Input("pairs", frame))
        model = word2vec.model
        scores = special.log_softmax(scores_of(model, "corrected")(np.arange(40)), axis=1)
        rows, columns = model.vocab.words.find_all(map(str, users)), model.vocab_out.words.find_all(map(str, items))
        return -scores[rows, columns].mean()

    entropy = -(p * np.log(p + 1e-300)).sum(axis=1).mean()
    exact, pooled = loss("exact"), loss("pool")
    assert pooled == pytest.approx(exact, abs=0.03)
    assert pooled < 0.5 * (entropy + math.log(30))


@pytest.mark.slow
def test_diagnose_says_how_far_draws_are_behind():
    corpus = encode_corpus(chain(np.random.default_rng(6)), min_count=1)
    given = {"sampler": "boltzmann", "dim": 8, "window": 1, "epochs": 2, "workers": 1, "subsample": 0, "min_count": 1}
    found = {}
    for method in "rolling", "exact", "pool":
        events = []
        config = TrainConfig(loss="relaxed", method=method, **given)
        Trainer(corpus, config, [events.append], diagnose=True).train()
        found[method] = [event.drift for event in events if type(event).__name__ == "Diagnosis"]
    assert found["rolling"] == [None, None]
    assert all(0 < drift < 0.2 for drift in found["exact"] + found["pool"])


@pytest.mark.parametrize("subsample", [0, 0.01])
def test_the_engine_shows_all_launches_beforehand(monkeypatch, subsample):
    """Two workers with unlike shares, sentences of unlike length, and a last launch that is short."""
    rng = np.random.default_rng(6)
    corpus = encode_corpus([[f"w{i}" for i in rng.integers(0, 500, 1 + k % 17)] for k in range(2000)], min_count=1)
    seen, due = [], []
    foresee, refresh = DrawnAhead.foresee, DrawnAhead.refresh

    def shown(self, centre_ids):
        seen.append(centre_ids.shape[1])
        foresee(self, centre_ids)

    def refreshed(self, vectors_in, vectors_out, centre_ids, key):
        before = len(seen)
        refresh(self, vectors_in, vectors_out, centre_ids, key)
        assert len(seen) == before  # else the engine and the sampler disagree about what comes
        due.append(int(self.due.max()))

    monkeypatch.setattr(DrawnAhead, "foresee", shown)
    monkeypatch.setattr(DrawnAhead, "refresh", refreshed)
    given = {"loss": "selfplay", "method": "pool", "dim": 4, "window": 1, "subsample": subsample, "min_count": 1}
    trainer = Word2Vec(**given, epochs=2, workers=2).trainer(corpus)
    trainer.train()
    foreseen = trainer.engine.plugs.sampler.foreseen
    assert set(seen) == {foreseen} and 2 <= len(seen) < len(due)
    assert max(due) > 2
    rounds = -(-trainer.engine.walk.n_positions // (2 * trainer.engine.block))
    assert rounds * trainer.engine.block * 2 < trainer.engine.walk.n_positions + 2 * trainer.engine.block
    assert trainer.engine.block <= -(-trainer.engine.walk.n_positions // 2)  # no worker is idle


@pytest.mark.slow
def test_ranks_have_no_drift_to_tell():
    corpus = encode_corpus(chain(np.random.default_rng(6)), min_count=1)
    given = {"sampler": "boltzmann", "method": "pool", "dim": 8, "window": 1, "subsample": 0, "min_count": 1}
    config = TrainConfig(loss="relaxed", engine="virtual", ranks=2, epochs=2, workers=1, **given)
    events = []
    Trainer(corpus, config, [events.append], diagnose=True).train()
    assert [event.drift for event in events if type(event).__name__ == "Diagnosis"] == [None, None]


def test_what_a_pool_costs_is_counted_on_its_own_plan():
    sampler, _ = pool(visits=4.0)
    weights = 1 / np.arange(1, V + 1)
    centres = np.random.default_rng(1).choice(V, (2, sampler.foreseen), p=weights / weights.sum())
    due = due_by_hand(centres, sampler.batch_groups, 4.0)
    rows = len({*zip(centres.ravel().tolist(), due.ravel().tolist(), strict=True)})
    assert sampler.products(weights) == pytest.approx(rows / centres.size, rel=0.1)
    assert 0.1 < sampler.products(weights) < 0.4
