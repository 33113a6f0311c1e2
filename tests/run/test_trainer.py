"""Training as a whole: repeats, finds what is planted, survives absurd settings, stops and goes on."""

import contextlib
import dataclasses
import math
import signal
import threading

import numpy as np
import pytest
from planted import random_words, same_topic, two_topics

from w2vneg import Vocabulary, Word2Vec
from w2vneg.data.encoded import encode_corpus
from w2vneg.ground.errors import ConfigError, DivergenceError, W2vnegError
from w2vneg.ground.events import Compiled, EpochDone, Interrupted, RolledBack, RoundDone
from w2vneg.kernels.schedule import rounds_of
from w2vneg.run.model import Model
from w2vneg.run.trainer import _Clock

SMALL = {"dim": 8, "window": 3, "subsample": 0, "min_count": 1, "epochs": 2, "workers": 1}
SAMPLERS = {
    "uniform": {"sampler": "uniform"},
    "popularity": {"sampler": "popularity"},
    "rolling": {"sampler": "boltzmann", "method": "rolling"},
    "sir": {"sampler": "boltzmann", "method": "sir"},
    "exact": {"sampler": "boltzmann", "method": "exact"},
    "pool": {"sampler": "boltzmann", "method": "pool"},
}
OBJECTIVES = {
    "ns": {"loss": "ns"},
    "relaxed": {"loss": "relaxed"},
    "relaxed exact": {"loss": "relaxed", "method": "exact"},
    "relaxed pool": {"loss": "relaxed", "method": "pool", "visits": 2.0},
}


@pytest.fixture(scope="module")
def planted():
    return encode_corpus(two_topics(), min_count=1)


@pytest.fixture(scope="module")
def noise():
    return encode_corpus(random_words(), min_count=1)


def trained(corpus, events=None, **options):
    word2vec = Word2Vec(**SMALL | options)
    word2vec.fit(corpus, listeners=[] if events is None else [events.append])
    return word2vec


def matrices(word2vec):
    model = getattr(word2vec, "model", word2vec)
    return np.array(model.vectors_in), np.array(model.vectors_out)


def losses(word2vec):
    return [record["loss"] for record in word2vec.model.history if record["event"] == "EpochDone"]


@pytest.mark.parametrize("objective", OBJECTIVES.values(), ids=OBJECTIVES)
def test_one_worker_and_a_seed_repeat_to_the_bit(planted, objective):
    first, second = trained(planted, **objective), trained(planted, **objective)
    for a, b in zip(matrices(first), matrices(second), strict=True):
        assert a.tobytes() == b.tobytes()
    assert losses(first) == losses(second)
    other = trained(planted, seed=2, **objective)
    assert not np.array_equal(matrices(first)[0], matrices(other)[0])


@pytest.mark.parametrize("loss", ["ns", "relaxed"])
def test_several_workers_with_all_rows_private_repeat_too(planted, loss):
    """They share nothing within a round, and the merge adds in the workers' order."""
    first, second = (trained(planted, loss=loss, workers=3) for _ in range(2))
    for a, b in zip(matrices(first), matrices(second), strict=True):
        assert a.tobytes() == b.tobytes()


def test_each_epoch_goes_through_every_block_once_in_an_order_of_its_own():
    first, second = (rounds_of(1050, 100, 3, key) for key in (1, 2))
    for rounds in (first, second):
        assert rounds.shape == (4, 3, 2)
        blocks = sorted((int(lo), int(hi)) for lo, hi in rounds.reshape(-1, 2) if hi > lo)
        assert blocks == [(lo, min(lo + 100, 1050)) for lo in range(0, 1050, 100)]
    assert not np.array_equal(first, second)
    assert np.array_equal(first, rounds_of(1050, 100, 3, 1))


FOR_OTHERS = {("ns", "popularity")} | {("relaxed", name) for name in ("uniform", "rolling", "sir", "exact")}
PAIRS = [(loss, name) for loss in ("ns", "relaxed") for name in SAMPLERS]  # what no other test compiles is slow


@pytest.mark.parametrize("shared", [True, False], ids=["shared", "per pair"])
@pytest.mark.parametrize(
    ("loss", "sampler"),
    [
        pytest.param(
            loss, SAMPLERS[name], id=f"{loss}-{name}", marks=[] if (loss, name) in FOR_OTHERS else [pytest.mark.slow]
        )
        for loss, name in PAIRS
    ],
)
def test_planted_topics_are_recovered(planted, loss, sampler, shared):
    word2vec = trained(planted, loss=loss, share_negatives=shared, epochs=3, **sampler)
    assert same_topic(word2vec.vectors) >= 0.95
    assert losses(word2vec)[-1] < word2vec.model.history[-1]["untrained"]


@pytest.mark.parametrize("private_rows", [None, 0, 3])
@pytest.mark.parametrize("workers", [2, 4])
@pytest.mark.parametrize("objective", OBJECTIVES.values(), ids=OBJECTIVES)
def test_several_workers_reach_what_one_reaches(planted, objective, workers, private_rows):
    if private_rows and objective.get("method") in ("exact", "pool"):
        with pytest.raises(ConfigError, match="draws made ahead"):
            trained(planted, workers=workers, private_rows=private_rows, **objective)
        return
    word2vec = trained(planted, workers=workers, private_rows=private_rows, epochs=4, **objective)
    assert same_topic(word2vec.vectors) >= 0.95
    one = trained(planted, epochs=4, **objective)
    if workers == 2:  # in so short a corpus four are merged after each epoch only
        assert losses(word2vec)[-1] == pytest.approx(losses(one)[-1], rel=0.15)
    pairs = [sum(r.get("pairs", 0) for r in each.model.history) for each in (word2vec, one)]
    assert pairs[0] == pytest.approx(pairs[1], rel=0.02)  # dynamic windows differ, nothing is lost or doubled


@pytest.mark.parametrize("private_rows", [None, 3])
def test_private_copies_equal_the_shared_rows_after_each_round(planted, private_rows):
    config = Word2Vec(**SMALL | {"workers": 3, "private_rows": private_rows, "loss": "ns"}).config
    checked = []

    def check(event):
        engine = trainer.engine
        for name, replicated in engine.replicated.items():
            n_private = engine.n_private[name]
            for worker in range(3):
                start = len(planted.vocab) + worker * n_private
                np.testing.assert_array_equal(replicated[start : start + n_private], replicated[:n_private])
            checked.append(n_private)

    trainer = Word2Vec(config).trainer(planted, [check])
    assert np.shares_memory(trainer.model.vectors_in, trainer.engine.replicated["vectors_in"])
    trainer.train()
    assert len(checked) > 4
    assert set(checked) == {private_rows or len(planted.vocab)}


@pytest.mark.filterwarnings("ignore:the loss has hardly fallen")
@pytest.mark.parametrize(
    ("options", "chance"),
    [
        # every logit at log(p / nq) = −log n: nothing better can be had without a signal
        pytest.param(
            {"loss": "ns", "sampler": "uniform", "negatives": 5, "exclude": "none"},
            math.log(6) + 5 * math.log(6 / 5),
            marks=pytest.mark.slow,
        ),
        ({"loss": "relaxed", "sampler": "uniform", "negatives": 10}, math.log(11)),
        ({"loss": "relaxed", "method": "exact", "negatives": 10}, math.log(11)),
    ],
    ids=["ns", "relaxed", "relaxed exact"],
)
def test_no_signal_gives_chance_level(noise, options, chance):
    word2vec = trained(noise, epochs=3, **options)
    assert 0.35 < same_topic(word2vec.vectors) < 0.65
    assert losses(word2vec)[-1] > 0.985 * chance
    assert losses(word2vec)[-1] < 1.2 * chance


@pytest.mark.filterwarnings("ignore:the loss has hardly fallen")
@pytest.mark.parametrize("shared", [True, False], ids=["shared", "per pair"])
@pytest.mark.parametrize(
    "objective",
    [pytest.param(OBJECTIVES[name], id=name, marks=[pytest.mark.slow] if name == "ns" else []) for name in OBJECTIVES],
)
def test_the_loss_of_an_untrained_model_is_the_reference(planted, objective, shared):
    word2vec = trained(planted, alpha=1e-12, epochs=1, share_negatives=shared, exclude="none", **objective)
    record = word2vec.model.history[-1]
    assert record["loss"] == pytest.approx(record["untrained"], rel=1e-5)
    n = word2vec.model.config.negatives
    reference = (n + 1) * math.log(2) if objective["loss"] == "ns" else math.log(n + 1)
    assert record["untrained"] == pytest.approx(reference, rel=1e-12)


def test_events_tell_a_linear_alpha_and_a_growing_fraction(planted):
    events = []
    trained(planted, events, loss="ns", alpha=0.08, min_alpha=0.02, epochs=3)
    rounds = [event for event in events if isinstance(event, RoundDone)]
    epochs = [event for event in events if isinstance(event, EpochDone)]
    assert len(rounds) >= 15
    for event in rounds:
        assert event.alpha == pytest.approx(0.08 - 0.06 * event.fraction)
    fractions = [event.fraction for event in rounds]
    assert fractions == sorted(fractions)
    assert 0 < fractions[0] < fractions[-1] == 1.0
    assert [event.alpha for event in epochs] == pytest.approx([0.06, 0.04, 0.02])
    assert [(event.epoch, event.epochs) for event in epochs] == [(1, 3), (2, 3), (3, 3)]
    assert [event.tokens for event in epochs] == [len(planted), 2 * len(planted), 3 * len(planted)]
    assert rounds[-1].pairs == sum(event.pairs for event in epochs)
    assert rounds[-1].tokens == 3 * len(planted)


def test_history_keeps_all_but_the_rounds(planted):
    events = []
    model = trained(planted, events, loss="ns").model
    assert model.history == [event.as_dict() for event in events if not isinstance(event, RoundDone)]
    assert [record["event"] for record in model.history] == ["EpochDone", "EpochDone"]


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("objective", OBJECTIVES.values(), ids=OBJECTIVES)
def test_absurd_alpha_with_unbounded_steps_ends_in_divergence(planted, objective, workers):
    events = []
    word2vec = Word2Vec(**SMALL | objective | {"workers": workers, "alpha": 1e6, "bounded_steps": False})
    with pytest.raises(DivergenceError, match=r"^training diverged 6 times, last at alpha 31250; .* --bounded-steps$"):
        word2vec.fit(planted, listeners=[events.append])
    assert [event.alpha_factor for event in events] == [0.5, 0.25, 0.125, 0.0625, 0.03125]
    assert all(isinstance(event, RolledBack) for event in events)
    assert [record["event"] for record in word2vec.model.history] == ["RolledBack"] * 5
    fresh = Model.fresh(planted.vocab, word2vec.model.config)
    for left, start in zip(matrices(word2vec), matrices(fresh), strict=True):
        assert np.array_equal(left, start)  # the last good state is that of the start
    word2vec.vectors.most_similar("a0")


@pytest.mark.filterwarnings("ignore:training diverged")
@pytest.mark.parametrize("method", ["rolling", "sir", "exact"])
def test_alpha_too_high_is_brought_back_or_given_up(planted, method):
    """Just beyond stability the vectors grow by powers of ten from round to round, without warnings from NumPy."""
    events = []
    word2vec = Word2Vec(**SMALL | {"loss": "relaxed", "method": method, "alpha": 10.0, "bounded_steps": False})
    with contextlib.suppress(DivergenceError):
        word2vec.fit(planted, listeners=[events.append])
    assert any(isinstance(event, RolledBack) for event in events)
    assert all(np.isfinite(matrix).all() for matrix in matrices(word2vec))


@pytest.mark.filterwarnings("ignore:training diverged")
@pytest.mark.parametrize("alpha", [1e2, 1e6, 1e30, 1e300])
@pytest.mark.parametrize("objective", OBJECTIVES.values(), ids=OBJECTIVES)
def test_absurd_alpha_with_bounded_steps_never_leaves_the_finite_numbers(planted, objective, alpha):
    word2vec = Word2Vec(**SMALL | objective | {"alpha": alpha})
    try:
        word2vec.fit(planted)
    except DivergenceError as error:
        assert "bounded-steps" not in str(error)
    for matrix in matrices(word2vec):
        assert np.abs(matrix).max() < 1e4


@pytest.mark.parametrize("objective", OBJECTIVES.values(), ids=OBJECTIVES)
def test_absurd_alpha_ends_in_divergence_though_bounded_steps_keep_it_finite(planted, objective):
    """Bounded, the vectors stay finite at any alpha, but the loss is ten times that of an untrained model."""
    word2vec = Word2Vec(**SMALL | objective | {"alpha": 1e6})
    with pytest.raises(DivergenceError, match=r"lower --alpha$"):
        word2vec.fit(planted)
    assert np.abs(word2vec.vectors.matrix).max() < 1


def test_an_alpha_that_is_halved_once_or_twice_still_trains(planted):
    events = []
    word2vec = trained(planted, events, loss="ns", alpha=1.0, bounded_steps=False, epochs=4)
    factors = [event.alpha_factor for event in events if isinstance(event, RolledBack)]
    assert factors and factors == [0.5**k for k in range(1, len(factors) + 1)]
    assert word2vec.model.position.alpha_factor == factors[-1]
    assert [event.alpha for event in events if isinstance(event, EpochDone)][-1] == pytest.approx(factors[-1] * 1e-4)
    assert same_topic(word2vec.vectors) >= 0.95
    assert losses(word2vec)[-1] < 0.8 * word2vec.model.history[-1]["untrained"]


def stop_after(word2vec, corpus, n_rounds, model=None):
    """Train until the given number of rounds is done; return the trainer."""
    seen = []

    def stop(event):
        seen.append(event)
        if sum(isinstance(one, RoundDone) for one in seen) == n_rounds:
            trainer.stop()

    trainer = word2vec.trainer(corpus, [stop], model)
    trainer.train()
    trainer.seen = seen
    return trainer


@pytest.mark.parametrize("n_rounds", [1, 4, 7, 9], ids=lambda n: f"{n} rounds")
@pytest.mark.parametrize(
    "options",
    [*OBJECTIVES.values(), {"loss": "ns", "subsample": 0.02}, {"loss": "ns", "alpha": 1.0, "bounded_steps": False}],
    ids=[*OBJECTIVES, "subsampled", "with rollbacks"],
)
def test_resumed_equals_uninterrupted_to_the_bit(planted, tmp_path, options, n_rounds):
    whole = trained(planted, epochs=3, **options)
    word2vec = Word2Vec(**SMALL | {"epochs": 3} | options)
    first = stop_after(word2vec, planted, n_rounds)
    assert isinstance(first.seen[-1], Interrupted)
    assert 0 < first.seen[-1].fraction < 1
    first.model.save(tmp_path / "model")
    model = Model.load(tmp_path / "model")
    resumed = Word2Vec(model.config).trainer(planted, model=model)
    resumed.train()
    for a, b in zip(matrices(whole), matrices(resumed.model), strict=True):
        assert a.tobytes() == b.tobytes()
    kept = [
        [(r["loss"], r["pairs"], r["alpha"]) for r in each.history if r["event"] == "EpochDone"]
        for each in (whole.model, resumed.model)
    ]
    assert kept[0] == kept[1]


@pytest.mark.parametrize("stops", [(7,), (6, 7), (5,), (2, 8), (13,)], ids=str)
@pytest.mark.parametrize("to_disk", [False, True], ids=["snapshot in memory", "snapshot in a file"])
def test_a_rollback_after_resuming_goes_back_as_far_as_without(tmp_path, monkeypatch, stops, to_disk):
    """States are kept every fifth round here; what diverges in the ninth goes back to the fifth, wherever resumed."""
    longer = encode_corpus(two_topics(n_sentences=2500), min_count=1)
    word2vec = Word2Vec(**SMALL | {"loss": "ns"})
    monkeypatch.setattr("w2vneg.engines.engine._IN_MEMORY", 0 if to_disk else 2**30)

    def diverging(model=None, stop=None):
        """Train; the ninth round diverges unless alpha was halved. Stop when `stop` rounds of the epoch are done."""

        def listen(event):
            told.append(event)
            if isinstance(event, RoundDone) and trainer.model.position.round == stop:
                trainer.stop()

        def run(*arguments):
            loss, pairs = real(*arguments)
            position = trainer.model.position
            bad = (position.epoch, position.round, position.alpha_factor) == (0, 8, 1.0)
            return (math.nan if bad else loss), pairs

        trainer, told = word2vec.trainer(longer, [listen], model), []
        assert trainer.engine.n_rounds == 20
        real, trainer.engine.run = trainer.engine.run, run
        trainer.train()
        return trainer.model, sum(isinstance(event, RolledBack) for event in told)

    whole, n_rollbacks = diverging()
    assert n_rollbacks == 1
    model, n_rollbacks = None, 0
    for stop in stops:
        model, n = diverging(model, stop)
        n_rollbacks += n
        assert (model.position.epoch, model.position.round) == (0, stop)
        model.save(tmp_path / "model")
        kept = {path.name for path in (tmp_path / "model").glob("good_*.npy")}
        assert kept == (set() if stop == 5 else {"good_vectors_in.npy", "good_vectors_out.npy"})
        model = Model.load(tmp_path / "model")
    resumed, n = diverging(model)
    assert n_rollbacks + n == 1
    for a, b in zip(matrices(whole), matrices(resumed), strict=True):
        assert a.tobytes() == b.tobytes()
    resumed.save(tmp_path / "model")
    assert resumed.good is None and not list((tmp_path / "model").glob("good_*.npy"))


@pytest.mark.parametrize(("n_words", "times"), [(40, 4), (2000, 1)], ids=["many tokens", "many numbers"])
def test_states_are_kept_where_copying_them_is_cheap(n_words, times):
    words = [f"w{k % n_words}" for k in range(20_000)]
    corpus = encode_corpus([words[k : k + 10] for k in range(0, 20_000, 10)], min_count=1)
    trainer = Word2Vec(**SMALL | {"loss": "ns", "epochs": 1}).trainer(corpus)
    kept, keep = [], trainer.engine.keep
    trainer.engine.keep = lambda state: (kept.append(trainer.model.position.round), keep(state))
    trainer.train()
    assert trainer.engine.n_rounds == 20
    assert kept == [20 // times * k for k in range(times)]


def test_a_state_that_nobody_has_checked_is_checked_before_it_is_kept(tmp_path):
    """In longer epochs only every second round is checked; a stop must not hand over what exploded since."""
    longer = encode_corpus(two_topics(n_sentences=3000), min_count=1)
    word2vec = Word2Vec(**SMALL | {"loss": "ns"})

    def spoil(event):
        if isinstance(event, RoundDone):
            trainer.model.vectors_out[-1] = np.nan  # as if the round had ended like this
            trainer.stop()

    trainer = word2vec.trainer(longer, [spoil])
    trainer.train()
    assert np.isfinite(trainer.model.vectors_out).all()


def test_resuming_twice_and_a_finished_model(planted, tmp_path):
    whole = trained(planted, loss="ns")
    word2vec = Word2Vec(**SMALL | {"loss": "ns"})
    model = stop_after(word2vec, planted, 2).model
    model = stop_after(word2vec, planted, 3, model).model
    assert model.position.epoch in (0, 1)
    trainer = word2vec.trainer(planted, model=model)
    trainer.train()
    assert np.array_equal(matrices(whole)[0], matrices(trainer.model)[0])
    before = len(model.history)
    word2vec.trainer(planted, model=model).train()
    assert np.array_equal(matrices(whole)[0], matrices(model)[0])
    assert len(model.history) == before


def test_a_model_of_another_vocabulary_or_dim_is_refused(planted):
    model = trained(planted, loss="ns").model
    other = encode_corpus(two_topics(words=19), min_count=1)
    with pytest.raises(ConfigError, match="trained on other data"):
        Word2Vec(**SMALL | {"loss": "ns"}).trainer(other, model=model)
    renamed = Vocabulary([f"{word}'" for word in planted.vocab.words], planted.vocab.counts)
    with pytest.raises(ConfigError, match="another vocabulary or dim"):
        Word2Vec(**SMALL | {"loss": "ns"}).trainer(dataclasses.replace(planted, vocab=renamed), model=model)
    with pytest.raises(ConfigError, match="another vocabulary or dim"):
        Word2Vec(**SMALL | {"loss": "ns", "dim": 9}).trainer(planted, model=model)


@pytest.mark.parametrize("change", [{"workers": 2}, {"window": 1}, {"loss": "relaxed"}, {"seed": 5}])
def test_a_run_in_mid_epoch_does_not_go_on_with_other_options(planted, change):
    model = stop_after(Word2Vec(**SMALL | {"loss": "ns"}), planted, 2).model
    assert model.position.round
    with pytest.raises(ConfigError, match="option"):
        Word2Vec(**SMALL | {"loss": "ns"} | change).trainer(planted, model=model)


def test_stopping_before_the_first_round_trains_nothing(planted):
    trainer = Word2Vec(**SMALL | {"loss": "ns"}).trainer(planted)
    trainer.stop()
    model = trainer.train()
    assert model.history == [{"event": "Interrupted", "epoch": 1, "fraction": 0.0}]
    assert not model.vectors_out.any()


def test_a_stop_in_the_very_last_round_is_no_interruption(planted):
    word2vec = Word2Vec(**SMALL | {"loss": "ns", "epochs": 1})
    rounds = []
    word2vec.fit(planted, listeners=[lambda event: isinstance(event, RoundDone) and rounds.append(event)])
    trainer = stop_after(word2vec, planted, len(rounds))
    assert [record["event"] for record in trainer.model.history] == ["EpochDone"]


def test_ctrl_c_ends_the_round_and_gives_the_handler_back(planted):
    before = signal.getsignal(signal.SIGINT)
    events = []

    def press(event):
        events.append(event)
        if len(events) == 2:
            signal.raise_signal(signal.SIGINT)

    word2vec = Word2Vec(**SMALL | {"loss": "ns", "epochs": 50})
    with pytest.warns(UserWarning, match="interrupted"):
        vectors = word2vec.fit(planted, listeners=[press])
    assert [type(event) for event in events] == [RoundDone, RoundDone, Interrupted]
    assert np.isfinite(vectors.matrix).all() and not word2vec.complete
    assert signal.getsignal(signal.SIGINT) is before


def test_a_second_ctrl_c_interrupts_at_once(planted):
    before = signal.getsignal(signal.SIGINT)
    events = []

    def press(event):
        events.append(event)
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    word2vec = Word2Vec(**SMALL | {"loss": "ns"})
    with pytest.raises(KeyboardInterrupt):
        word2vec.fit(planted, listeners=[press])
    assert len(events) == 1
    assert np.isfinite(word2vec.vectors.matrix).all()
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"])
def test_handlers_of_a_program_that_calls_fit_go_on(planted, name):
    number, heard = getattr(signal, name), []
    before = signal.signal(number, lambda *_: heard.append(name))
    try:
        word2vec = Word2Vec(**SMALL | {"loss": "ns"})
        word2vec.fit(planted, listeners=[lambda event: signal.raise_signal(number)])
    finally:
        signal.signal(number, before)
    assert heard and word2vec.complete


def test_an_ignored_ctrl_c_stays_ignored(planted):
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # as under nohup, or in the background of a script
    try:
        word2vec = Word2Vec(**SMALL | {"loss": "ns"})
        word2vec.fit(planted, listeners=[lambda event: signal.raise_signal(signal.SIGINT)])
    finally:
        signal.signal(signal.SIGINT, before)
    assert [record["event"] for record in word2vec.model.history] == ["EpochDone", "EpochDone"]


def test_training_works_outside_the_main_thread(planted):
    done = []
    thread = threading.Thread(target=lambda: done.append(trained(planted, loss="ns")))
    thread.start()
    thread.join()
    assert np.array_equal(matrices(done[0])[0], matrices(trained(planted, loss="ns"))[0])


def test_a_corpus_without_a_single_pair_is_told():
    isolated = encode_corpus([["a"], ["b"]] * 50, min_count=1)
    with pytest.raises(W2vnegError, match="pair"):
        trained(isolated, loss="ns")


def test_subsampling_that_leaves_no_pair_is_told():
    tiny = encode_corpus([["a", "b", "c"]], min_count=1)
    with pytest.raises(W2vnegError, match="subsampling left no two words together; give --subsample 0"):
        trained(tiny, loss="ns", subsample=1e-9)


def test_baskets_of_equal_items_alone_have_no_pair():
    alike = dataclasses.replace(encode_corpus([["a", "a"], ["b", "b"]], min_count=1), source="baskets")
    with pytest.raises(W2vnegError, match="epoch 1: no two different items occur together; give more data"):
        Word2Vec(source="baskets", dim=4, epochs=1, workers=1).trainer(alike).train()


def test_two_words_train():
    word2vec = trained(encode_corpus([["a", "b", "a", "b"]], min_count=1), loss="relaxed")
    assert len(word2vec.vectors) == 2
    assert np.isfinite(word2vec.vectors.matrix).all()


def test_weights_need_a_sampler_that_gives_probabilities(planted, monkeypatch):
    from w2vneg.objectives.samplers.uniform import Uniform

    monkeypatch.setattr(Uniform, "gives_log_q", False)
    with pytest.raises(ConfigError, match="weigher 'importance' needs the probabilities of its draws"):
        trained(planted, loss="relaxed", sampler="uniform", weigher="importance")


@pytest.mark.slow
@pytest.mark.parametrize("sampler", [SAMPLERS["popularity"], SAMPLERS["rolling"], SAMPLERS["exact"]])
def test_importance_weights_train_too(planted, sampler):
    word2vec = trained(planted, loss="relaxed", weigher="importance", epochs=3, **sampler)
    assert same_topic(word2vec.vectors) >= 0.95


@pytest.mark.filterwarnings("ignore:the loss has hardly fallen")  # with the hardest negatives alone
def test_extremes_of_temperature(planted):
    for temp in (1e-6, 1e6):
        word2vec = trained(planted, loss="relaxed", temp=temp)
        assert np.isfinite(word2vec.vectors.matrix).all()


@pytest.mark.slow
def test_a_loss_that_diverges_by_nature_says_so(planted):
    word2vec = Word2Vec(**SMALL | {"loss": "is", "alpha": 30.0, "bounded_steps": False, "epochs": 40})
    with pytest.raises(DivergenceError, match="diverges by nature: use --loss css"):
        word2vec.trainer(planted).train()


def test_compiling_while_the_clock_stands_is_left_out_once():
    clock = _Clock()
    with clock.stopped():
        clock.leave_out(Compiled("observe", 1000.0))
    assert clock.seconds() >= 0
    clock.leave_out(Compiled("train_centres", 1000.0))
    assert clock.seconds() < 0
