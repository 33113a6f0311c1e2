"""Several ranks in one process: one is as good as none, many learn the same, and none depends on who does what."""

import dataclasses

import numpy as np
import pytest
from planted import same_topic, two_topics

from w2vneg import Input, TrainConfig, Word2Vec
from w2vneg.data.encoded import encode_corpus
from w2vneg.engines.ranks import Task
from w2vneg.ground.errors import ConfigError
from w2vneg.ground.events import EpochDone, RolledBack, RoundDone
from w2vneg.objectives.losses import LOSSES
from w2vneg.objectives.samplers import SAMPLERS
from w2vneg.run.assembly import plan_exchanges, rank_alpha
from w2vneg.run.model import Model

SMALL = {"dim": 8, "window": 3, "subsample": 0, "min_count": 1, "epochs": 2, "workers": 1, "loss": "ns"}


@pytest.fixture(scope="module")
def planted():
    return encode_corpus(two_topics(), min_count=1)


def trained(corpus, events=None, **options):
    word2vec = Word2Vec(**SMALL | options)
    word2vec.fit(corpus, listeners=[] if events is None else [events.append])
    return word2vec


def bits(word2vec):
    model = getattr(word2vec, "model", word2vec)
    return {name: np.array(matrix).tobytes() for name, matrix in model.matrices().items()}


@pytest.mark.parametrize("options", [{}, {"workers": 3}, {"loss": "relaxed"}], ids=["ns", "3 workers", "relaxed"])
def test_one_rank_is_this_machine_alone_to_the_bit(planted, options):
    alone, events = [], []
    local = trained(planted, alone, **options)
    virtual = trained(planted, events, engine="virtual", ranks=1, **options)
    assert bits(virtual) == bits(local)
    losses = [[event.loss for event in told if isinstance(event, EpochDone)] for told in (alone, events)]
    assert losses[0] == losses[1] and [type(event) for event in events] == [type(event) for event in alone]


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_several_ranks_learn_what_one_does_and_repeat_to_the_bit(planted, dtype):
    options = {"engine": "virtual", "ranks": 4, "epochs": 6, "exchange_dtype": dtype}
    events = []
    first = trained(planted, events, **options)
    assert bits(first) == bits(trained(planted, **options))
    assert bits(first) != bits(trained(planted, seed=2, **options))
    assert same_topic(first.vectors) > 0.9
    last = [event for event in events if isinstance(event, EpochDone)][-1]
    assert last.tokens == 6 * len(planted)
    assert last.pairs == pytest.approx(20_200, rel=0.02)  # cut at three places, windows lose next to nothing


def test_between_exchanges_ranks_differ_and_after_them_they_do_not(planted):
    word2vec = Word2Vec(**SMALL, engine="virtual", ranks=3)
    engine = word2vec.trainer(planted).engine
    task = Task(0, 0, 0, engine.n_rounds, (0.05, 0.05))
    works = [rank.train(task) for rank in engine.crew.ranks]
    assert len({rank.rows()["vectors_in"].tobytes() for rank in engine.crew.ranks}) == 3
    assert engine.crew.ranks[1].train(task)[:2] == works[1][:2]  # again: from the version it began with
    engine.run(engine.plan(0)[0], (0.05, 0.05))
    for name in ("vectors_in", "vectors_out"):
        assert len({rank.rows()[name].tobytes() for rank in engine.crew.ranks}) == 1
    assert {rank.version for rank in engine.crew.ranks} == {engine.version} == {1}


def test_two_ranks_add_up_what_they_changed(planted):
    """k ≤ 2: the sum, to the bit where numbers are sent whole and one of the two has not touched a row."""
    word2vec = Word2Vec(**SMALL, engine="virtual", ranks=2, exchange_dtype="float32")
    engine = word2vec.trainer(planted).engine
    task = Task(0, 0, 0, engine.n_rounds, (0.05, 0.05))
    before = {name: rows.copy() for name, rows in engine.crew.ranks[0].rows().items()}
    for rank in engine.crew.ranks:
        rank.train(task)
    after = [{name: rows.copy() for name, rows in rank.rows().items()} for rank in engine.crew.ranks]
    engine.run(engine.plan(0)[0], (0.05, 0.05))
    for name, rows in engine.crew.ranks[1].rows().items():
        expected = after[0][name] + after[1][name] - before[name]
        np.testing.assert_allclose(rows, expected, atol=1e-7)


def bytes_of(packed):
    return sum(array.nbytes for array in packed if array is not None)


@pytest.mark.parametrize("ranks", [2, 5])
def test_an_exchange_of_all_rows_takes_the_bytes_that_it_must(planted, ranks):
    """2 (N − 1) / N · V · d · 2 of each rank for each matrix, out and in; sent to oneself nothing goes anywhere."""
    engine = Word2Vec(**SMALL | {"dim": 64}, engine="virtual", ranks=ranks).trainer(planted).engine
    task = Task(0, 0, 0, engine.n_rounds, (0.05, 0.05))
    works = [rank.train(task) for rank in engine.crew.ranks]
    parts = [rank.changes(made_up=0.5) for rank in engine.crew.ranks]
    merged = [rank.merge(task, works, [part[rank.slot] for part in parts]) for rank in engine.crew.ranks]
    for slot in range(ranks):
        for name in ("vectors_in", "vectors_out"):
            sent = sum(bytes_of(part[name]) for owner, part in enumerate(parts[slot]) if owner != slot)
            got = sum(bytes_of(part[name]) for owner, part in enumerate(merged) if owner != slot)
            assert sent + got == pytest.approx(2 * (ranks - 1) / ranks * len(planted.vocab) * 64 * 2, rel=0.05)


def test_a_rank_that_takes_anothers_place_goes_on_as_it_would_have(planted):
    """All that it needs is the rows of a version."""
    runs = []
    for lost in (False, True):
        engine = Word2Vec(**SMALL, engine="virtual", ranks=3).trainer(planted).engine
        for now in engine.plan(0)[:4]:
            engine.run(now, (0.05, 0.04))
        if lost:
            version, state = engine.version, {k: v.copy() for k, v in engine.crew.ranks[0].state().items()}
            engine = Word2Vec(**SMALL, engine="virtual", ranks=3).trainer(planted).engine
            for rank in engine.crew.ranks:
                rank.load(version, state)
            engine.version = version
        for now in engine.plan(0)[4:8]:
            engine.run(now, (0.04, 0.03))
        runs.append(engine.replica.vectors_in.tobytes() + engine.replica.vectors_out.tobytes())
    assert runs[0] == runs[1]


def test_frozen_rows_move_on_no_rank(planted):
    first = Word2Vec(**SMALL)
    first.fit(encode_corpus(two_topics()[:100], min_count=20))
    words = first.model.vocab.words
    model = Word2Vec(**SMALL, engine="virtual", ranks=3)
    model.fit(planted, init=first.model, freeze=True)
    rows = [model.model.vocab.id(word) for word in words]
    assert 2 < len(words) < len(planted.vocab)
    for name in ("vectors_in", "vectors_out"):
        matrix = model.model.matrices()[name]
        assert matrix[rows].tobytes() == first.model.matrices()[name].tobytes()
        assert np.abs(np.delete(matrix, rows, axis=0)).max() > 0.1


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        {"inputs": "subwords"},
        {"loss": "relaxed", "weigher": "discriminator"},
        {"loss": "relaxed", "method": "exact"},
        {"loss": "cis", "method": "pool"},
    ],
    ids=["subwords", "discriminator", "drawn ahead", "pools"],
)
def test_whatever_is_trained_is_exchanged(planted, options):
    trainer = Word2Vec(**SMALL | options, engine="virtual", ranks=3, exchange_every=300).trainer(planted)
    model = trainer.train()
    for name in trainer.engine.replica.trained:
        assert len({rank.rows()[name].tobytes() for rank in trainer.engine.crew.ranks}) == 1, name
        assert np.isfinite(model.matrices()[name]).all() and np.abs(model.matrices()[name]).max() > 0.01
    assert {"grams_in", "discriminator_in", "vectors_out"} & set(trainer.engine.replica.trained)


@pytest.mark.parametrize("kind", ["pairs", pytest.param("baskets", marks=pytest.mark.slow)])
def test_items_are_shared_out_too(tmp_path, kind):
    rng = np.random.default_rng(1)
    rows = (50 * rng.random((400, 2)) ** 2).astype(int)
    text = (
        "".join(f"u{a},u{b}\n" for a, b in rows)
        if kind == "pairs"
        else "".join(f"u{a} u{b} u{a + 1}\n" for a, b in rows)
    )
    (tmp_path / "items").write_text(text)
    read, options = Input(kind, tmp_path / "items"), {"dim": 8, "epochs": 2, "workers": 1, "loss": "ns"}
    found, of_ranks = [], {"engine": "virtual", "ranks": 3, "exchange_every": 40}
    for more in ({}, of_ranks):
        word2vec = Word2Vec(**options, **more)
        word2vec.fit(read)
        found.append([event["pairs"] for event in word2vec.model.history if event["event"] == "EpochDone"])
    assert found[1] == pytest.approx(found[0], rel=0.05)


@pytest.mark.parametrize(
    "drawn",
    [{}, pytest.param({"loss": "relaxed", "method": "pool"}, marks=pytest.mark.slow)],
    ids=["ns", "pools of their own"],
)
def test_an_interrupted_run_goes_on_to_the_same_bits(planted, tmp_path, drawn):
    options = SMALL | {"engine": "virtual", "ranks": 3} | drawn
    whole = trained(planted, **options)
    word2vec = Word2Vec(**options)
    trainer = word2vec.trainer(planted)
    trainer.listeners.append(lambda event: isinstance(event, RoundDone) and event.fraction > 0.3 and trainer.stop())
    trainer.train()
    assert trainer.model.position.round > 0
    trainer.model.save(tmp_path / "model")
    resumed = word2vec.trainer(planted, model=Model.load(tmp_path / "model")).train()
    assert bits(resumed) == bits(whole)
    assert resumed.config.exchange_every == whole.model.config.exchange_every == "35"


def test_a_run_that_diverges_goes_back_on_every_rank(planted):
    trainer = Word2Vec(**SMALL, engine="virtual", ranks=3).trainer(planted)
    engine, told = trainer.engine, []

    def spoil(event):
        if isinstance(event, RoundDone) and event.fraction > 0.3 and RolledBack not in map(type, told):
            engine.crew.ranks[1].state()["vectors_out"][0] = np.nan  # its next change, and so everybody's
            engine.crew.ranks[1].load(engine.version, engine.crew.ranks[1].state())
        told.append(event)

    trainer.listeners.append(spoil)
    model = trainer.train()
    assert RolledBack in map(type, told) and trainer.complete
    assert model.position.alpha_factor == 0.5 and np.isfinite(model.vectors_out).all()
    assert len({rank.rows()["vectors_out"].tobytes() for rank in engine.crew.ranks}) == 1


def test_exchanges_are_planned_by_their_number():
    def plan(n_positions, cost=None, **options):
        options = {"engine": "virtual", "ranks": 8, "epochs": 3, "loss": "ns"} | options
        return plan_exchanges(TrainConfig(**options).resolved(), n_positions, cost)

    given = plan(17_000_000, exchange_every=50_000)
    assert (given.every, given.an_epoch, given.exchanges) == (50_000, 43, 129)
    auto = plan(17_000_000)
    assert (auto.exchanges, auto.an_epoch, auto.alpha_scale) == (504, 168, 1.0)
    assert plan(800_000).exchanges == 300  # not below a thousand tokens of a rank
    assert plan(80_000).exchanges == 120  # never fewer, even where rounds get short
    assert plan(80).an_epoch == 10  # but at least a token of each rank
    few = plan(17_000_000, exchange_every=200_000)
    assert few.exchanges == 33 and few.fewest == 120 and few.alpha_scale == 2.0
    # an exchange of 1 s, an epoch of 600 s: nine tenths of the time are training with 200 exchanges
    by_cost = plan(17_000_000, (1.0, 600.0))
    assert by_cost.exchanges == 204 and by_cost.efficiency == pytest.approx(0.9, abs=0.01)
    assert plan(17_000_000, (10.0, 600.0)).exchanges == 120
    assert plan(17_000_000, (0.001, 600.0)).exchanges == 504


@pytest.mark.parametrize("n_positions", [1_001, 80_000, 777_777, 17_000_000])
def test_what_auto_has_chosen_means_the_same_when_it_is_given(n_positions):
    """As a model folder gives it to the run that goes on."""
    options = {"engine": "virtual", "ranks": 7, "epochs": 3, "loss": "ns"}
    auto = plan_exchanges(TrainConfig(**options).resolved(), n_positions)
    assert plan_exchanges(TrainConfig(**options, exchange_every=auto.every).resolved(), n_positions) == auto


def test_alpha_is_raised_for_many_ranks_that_seldom_exchange():
    assert [rank_alpha(LOSSES["ns"], ranks, 120) for ranks in (1, 2, 4, 8, 32)] == pytest.approx([1, 1, 2**0.5, 2, 2])
    assert [rank_alpha(LOSSES["ns"], 8, exchanges) for exchanges in (30, 500, 5000)] == [2, 1, 1]
    assert 1.3 < rank_alpha(LOSSES["ns"], 8, 250) < 1.5
    assert rank_alpha(LOSSES["relaxed"], 8, 120) == 1


def test_alpha_of_ranks_is_what_the_rule_or_the_user_says(planted):
    def first_alpha(**options):
        return Word2Vec(**SMALL, engine="virtual", ranks=8, exchange_every=800, **options).trainer(planted).alpha

    assert first_alpha() == pytest.approx(0.1)
    assert first_alpha(rank_alpha=1.5) == pytest.approx(0.075)
    assert Word2Vec(**SMALL).trainer(planted).alpha == 0.05


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ranks": 2}, "--ranks has no effect with --engine local"),
        ({"exchange_every": "auto"}, "--exchange-every has no effect"),
        ({"rank_alpha": 2.0}, "--rank-alpha has no effect"),
        ({"engine": "virtual"}, "add --ranks N"),
        ({"engine": "virtual", "ranks": 2, "loss": "softmax"}, "changes every row at each step"),
        ({"engine": "virtual", "ranks": 2, "sampler": "bigram"}, "--sampler bigram counts neighbours in all data"),
        ({"engine": "virtual", "ranks": 2, "exclude": "known"}, "pairs up in all data, and each rank has only a share"),
        ({"engine": "virtual", "ranks": 2, "exchange_every": "often"}, "a number of tokens or auto"),
        ({"engine": "virtual", "ranks": 2, "exchange_every": 1.5}, "a number of tokens or auto"),
        ({"engine": "virtual", "ranks": 2, "exchange_every": 0}, "a number of tokens or auto"),
        ({"engine": "vrtual", "ranks": 2}, "did you mean 'virtual'"),
    ],
)
def test_what_ranks_cannot_do_is_refused_before_any_work(options, message):
    with pytest.raises(ConfigError, match=message):
        TrainConfig(**options).resolved()


def test_what_counts_in_the_whole_data_without_saying_so_is_refused(planted, monkeypatch):
    monkeypatch.setattr(SAMPLERS["bigram"], "needs_neighbours", False)
    with pytest.raises(ConfigError, match="counts over the whole data"):
        Word2Vec(**SMALL, sampler="bigram", engine="virtual", ranks=2).trainer(planted)


def test_options_of_ranks_last_in_a_model_folder(planted, tmp_path):
    model = Word2Vec(**SMALL, engine="virtual", ranks=2, exchange_every=500).trainer(planted).model
    model.save(tmp_path / "model")
    config = Model.load(tmp_path / "model").config
    assert (config.engine, config.ranks, config.exchange_every, config.exchange_dtype) == (
        *("virtual", 2, "500", "float16"),
    )
    assert config.resolved() == config


def test_a_model_folder_connects_to_no_cluster(planted, tmp_path):
    model = Word2Vec(**SMALL, engine="virtual", ranks=2).trainer(planted).model
    model.config = dataclasses.replace(model.config, engine="ray", ray_address="10.6.6.6:6379")
    model.save(tmp_path / "model")
    found = Model.load(tmp_path / "model")
    with pytest.raises(ConfigError, match=r"continuing from model connects to a cluster at 10.6.6.6:6379; .*--ray-ad"):
        found.config_to_run("model")
    assert found.config_to_run("model", ray_address="auto").ray_address == "auto"
