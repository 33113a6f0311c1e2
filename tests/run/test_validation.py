"""Held-out pairs to evaluate a run on: the best state comes back to the bit, patience counts, resumed runs agree."""

import json
import math
import os
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse
from planted import as_text, two_topics

from w2vneg import Input, Vocabulary, Word2Vec
from w2vneg.config import TrainConfig
from w2vneg.data.encoded import encode_corpus
from w2vneg.data.encoded.pairs import HeldOut
from w2vneg.ground.errors import ConfigError, FileNote, InputError
from w2vneg.ground.events import BestRestored, EpochDone, Interrupted, RolledBack, RoundDone, Validated
from w2vneg.run.model import Model
from w2vneg.run.validation import Metric, Validate, Validation

SMALL = {
    "readout": "in",
    "dim": 8,
    "window": 3,
    "subsample": 0,
    "min_count": 1,
    "epochs": 4,
    "workers": 1,
    "loss": "ns",
}


@pytest.fixture(scope="module")
def planted():
    return encode_corpus(two_topics(), min_count=1)


@pytest.fixture(scope="module")
def held(planted):
    """Pairs of words of one topic, some weighing more, as ids."""
    rng = np.random.default_rng(5)
    words = planted.vocab.words
    topics = [[i for i, word in enumerate(words) if word[0] == topic] for topic in "ab"]
    pairs = np.array([rng.choice(topics[n % 2], 2, replace=False) for n in range(60)])
    return HeldOut(pairs[:, 0], pairs[:, 1], 1.0 + rng.random(60), 0, 60)


class Scripted(Validation):
    """A validation whose figures a test wrote down, one after the other."""

    def __init__(self, held, values, **options):
        super().__init__(held, **options)
        self.values, self.evaluated = list(values), 0

    def figures(self, model):
        self.evaluated += 1
        return {self.metric.name: float(self.values[self.evaluated - 1])}


def run(corpus, validation, listeners=(), model=None, **options):
    trainer = Word2Vec(**SMALL | options).trainer(corpus, list(listeners), model=model, validation=validation)
    trainer.train()
    return trainer


def state(model):
    return {name: np.array(matrix) for name, matrix in model.matrices().items()}


def same(left, right):
    assert left.keys() == right.keys()
    return all(left[name].tobytes() == right[name].tobytes() for name in left)


def snapshots(corpus, validation, listeners=(), **options):
    """Train; return (trainer, state at each evaluation by its epoch, events)."""
    states, events = {}, []

    def look(event):
        events.append(event)
        if isinstance(event, Validated):
            states[event.epoch] = state(trainer.model)

    trainer = Word2Vec(**SMALL | options).trainer(corpus, [look, *listeners], validation=validation)
    trainer.train()
    return trainer, states, events


def of_kind(events, kind):
    return [event for event in events if isinstance(event, kind)]


# --- what a evaluation is ---------------------------------------------------------------------------------------------


def test_figures_equal_the_obvious(planted, held):
    model = Word2Vec(**SMALL)
    model.fit(planted)
    model = model.model
    figures = Validation(held, metric="prec@3").figures(model)
    scores = model.vectors_in @ model.vectors_out.T
    mpr = nll = likelihood = precision = 0.0
    for i, j, weight in zip(held.centres, held.targets, held.weights, strict=True):
        rank = (scores[i] > scores[i, j]).sum() + 0.5 * ((scores[i] == scores[i, j]).sum() - 1)
        p = np.exp(scores[i].astype(float))[j] / np.exp(scores[i].astype(float)).sum()
        mpr += weight * (1 - rank / (len(scores) - 1))
        nll -= weight * math.log(p)
        likelihood += weight * p
        precision += weight * (rank < 3)
    total = held.weights.sum()
    assert figures["mpr"] == pytest.approx(mpr / total)
    assert figures["nll"] == pytest.approx(nll / total, rel=1e-5)
    assert figures["likelihood"] == pytest.approx(likelihood / total, rel=1e-5)
    assert figures["prec@3"] == pytest.approx(precision / total)
    assert set(figures) >= {"mpr", "nll", "likelihood", "prec@3", "recall@3", "ndcg@3"}


def test_centres_and_targets_of_two_kinds(tmp_path):
    vocab, vocab_out = Vocabulary(["u1", "u2"], [5, 4]), Vocabulary(["x", "y", "z"], [4, 3, 2])
    config = TrainConfig(dim=2, source="pairs", rectangular=True).resolved()
    model = Model.fresh(vocab, config, vocab_out)
    model.vectors_in[:] = np.eye(2)
    model.vectors_out[:] = [[3, 0], [2, 5], [1, 4]]
    (tmp_path / "valid.tsv").write_text("item\ttarget\tweight\nu1\ty\t1\nu2\tz\t3\nx\tu1\t1\n")
    data = SimpleNamespace(vocab=vocab, vocab_out=vocab_out, matrix=scipy.sparse.csr_matrix((2, 3)))
    validation = Validate(tmp_path / "valid.tsv", metric="prec@1").of(data)
    assert validation.held.n_unknown == 1
    figures = validation.figures(model)
    assert (figures["mpr"], figures["prec@1"]) == (0.5, 0.0)  # both stand second of three
    validation.begin(model)
    (event,) = validation.evaluate(model, 1.0, False)
    assert event.improved and event.value == 0.0
    model.save(tmp_path / "model")
    best = Model.load(tmp_path / "model").best
    assert {name: matrix.shape for name, matrix in best.matrices.items()} == {
        "vectors_in": (2, 2),
        "vectors_out": (3, 2),
    }
    known = HeldOut(np.array([0, 1]), np.array([0, 1]), np.ones(2), 0, 2)
    better = Validation(validation.held, metric="prec@1", known=known).figures(model)
    assert (better["mpr"], better["prec@1"]) == (1.0, 1.0)


def test_known_pairs_are_left_out_and_an_absolute_softmax_is_evaluated_by_its_logit(planted, held):
    model = run(planted, None, epochs=1).model
    everything = np.array([(i, j) for i in set(held.centres.tolist()) for j in range(len(planted.vocab))])
    known = HeldOut(everything[:, 0], everything[:, 1], np.ones(len(everything)), 0, len(everything))
    figures = Validation(held, metric="recall@60", known=known).figures(model)
    assert figures["recall@60"] == 1.0  # only held-out ones are left to be ranked
    negated = run(planted, None, epochs=1, loss="us", absolute_softmax=True).model
    before = Validation(held).figures(negated)
    negated.vectors_out *= -1
    assert Validation(held).figures(negated) == before


@pytest.mark.parametrize(
    "text, name, k, sign", [("MPR", "mpr", 15, 1), ("nll", "nll", 15, -1), ("ndcg@5", "ndcg@5", 5, 1)]
)
def test_metrics_are_read_also_beside_files_of_their_names(tmp_path, monkeypatch, text, name, k, sign):
    monkeypatch.chdir(tmp_path)
    (tmp_path / text).touch()
    metric = Metric.parse(text)
    assert (metric.name, metric.k, metric.sign) == (name, k, sign)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"metric": "mrp"}, "unknown metric 'mrp'; did you mean 'mpr'"),
        ({"metric": "prec"}, "unknown metric 'prec'; write prec@15"),
        ({"metric": "prec@0"}, "unknown metric 'prec@0'"),
        ({"patience": 0}, "patience must be a whole number of at least 1, not 0"),
        ({"patience": True}, "patience must be a whole number"),
        ({"every": 0}, "eval_every must be a number of epochs above 0, not 0"),
        ({"every": math.nan}, "eval_every must be a number of epochs above 0, not nan"),
    ],
)
def test_options_out_of_range(held, options, message):
    with pytest.raises(ConfigError, match=message):
        Validation(held, **options)


# --- the best state --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("loss", ["ns", pytest.param("cis", marks=pytest.mark.slow), "mle"])
def test_the_best_state_comes_back_to_the_bit_with_all_that_plugs_train(planted, held, loss, workers):
    trainer, states, events = snapshots(planted, Scripted(held, [1, 3, 2, 2]), loss=loss, workers=workers)
    assert list(states) == [1.0, 2.0, 3.0, 4.0]
    assert same(state(trainer.model), states[2.0])
    assert not same(states[2.0], states[4.0])
    assert (loss == "cis") == (len(states[2.0]) > 2)
    last = events[-1]
    assert last == BestRestored(4.0, 2.0, "mpr", {"mpr": 3.0}, {"mpr": 2.0}, False)
    assert trainer.complete and trainer.model.position.epoch == 4
    assert trainer.model.best.matrices == {}


def test_evaluation_changes_nothing_about_the_training(planted, held):
    plain = run(planted, None, epochs=2)
    evaluated = run(planted, Scripted(held, range(99)), epochs=2)  # always better: the last is the best
    assert same(state(plain.model), state(evaluated.model))
    often = run(planted, Scripted(held, range(99), every=0.15), epochs=2)
    assert same(state(plain.model), state(often.model))


def test_real_figures_choose_the_best_of_what_was_seen(planted, held):
    trainer, states, events = snapshots(planted, Validation(held, metric="nll", every=0.5), alpha=0.4)
    values = {event.epoch: event.value for event in of_kind(events, Validated)}
    assert len(values) == 8
    best = min(values, key=values.get)
    assert same(state(trainer.model), states[best])
    restored = events[-1]
    assert (restored.best_epoch, restored.best["nll"], restored.last["nll"]) == (best, values[best], values[4.0])
    assert Validation(held, metric="nll").figures(trainer.model)["nll"] == values[best]


# --- patience and the points -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "values, patience, metric, evaluated, best",
    [
        ([1, 2, 3, 4, 5, 6], 1, "mpr", 6, 6.0),
        ([5, 4, 3, 2, 1, 0], 1, "mpr", 2, 1.0),
        ([5, 4, 6, 5, 4, 7], 2, "mpr", 5, 3.0),
        ([5, 4, 3, 6, 1, 0], 3, "mpr", 6, 4.0),
        ([5, 5, 5, 9, 9, 9], 2, "mpr", 3, 1.0),  # as good is not better
        ([5, 4, 3, 3, 3, 9], 2, "nll", 5, 3.0),
        ([5, 6, 7, 8, 9, 9], None, "nll", 6, 1.0),
    ],
)
def test_patience_is_counted_right(planted, held, values, patience, metric, evaluated, best):
    validation = Scripted(held, values, patience=patience, metric=metric)
    trainer, states, events = snapshots(planted, validation, epochs=6)
    assert validation.evaluated == evaluated
    assert trainer.model.position.epoch == evaluated
    assert trainer.complete and not trainer.stopped
    assert same(state(trainer.model), states[best])
    restored = events[-1]
    assert (restored.best_epoch, restored.epoch, restored.early) == (best, evaluated, evaluated < 6)
    assert not of_kind(events, Interrupted)
    seen = of_kind(events, Validated)
    assert [event.value for event in seen] == values[:evaluated]
    running = [max(values[: n + 1]) if metric == "mpr" else min(values[: n + 1]) for n in range(evaluated)]
    assert [event.best for event in seen] == running
    assert [event.improved for event in seen] == [event.epoch == event.best_epoch for event in seen]
    assert [event.stale == 0 for event in seen] == [event.improved for event in seen]


@pytest.mark.parametrize(
    "every, expected",
    [(2, [2, 4, 5]), (0.5, [k / 2 for k in range(1, 11)]), (9, [5]), (1.5, [1.5, 3, 4.5, 5])],
)
def test_evaluations_come_at_the_points_asked_for_and_at_the_end(planted, held, every, expected):
    _, states, _ = snapshots(planted, Scripted(held, range(99), every=every), epochs=5)
    assert list(states) == pytest.approx([math.ceil(7 * point) / 7 for point in expected])  # an epoch has seven rounds


def test_points_closer_than_rounds_are_evaluated_once_a_round(planted, held):
    rounds = []
    _, states, _ = snapshots(
        planted, Scripted(held, range(999), every=1e-6), [lambda e: isinstance(e, RoundDone) and rounds.append(e)]
    )
    assert len(states) == len(rounds)


def test_an_early_end_in_the_middle_of_an_epoch(planted, held):
    trainer, states, events = snapshots(planted, Scripted(held, [9, 8, 7], every=0.4, patience=2))
    assert list(states) == pytest.approx([3 / 7, 6 / 7, 9 / 7])
    assert [event.epoch for event in of_kind(events, EpochDone)] == [1]
    assert isinstance(events[-1], BestRestored) and events[-1].early
    assert trainer.complete
    before = state(trainer.model)
    trainer.train()  # nothing is left
    assert same(before, state(trainer.model))


def test_history_holds_the_evaluations_and_they_are_json(planted, held):
    trainer, _, events = snapshots(planted, Validation(held), epochs=2)
    records = [record["event"] for record in trainer.model.history]
    assert records == ["EpochDone", "Validated", "EpochDone", "Validated", "BestRestored"]
    assert trainer.model.history == [event.as_dict() for event in events if not isinstance(event, RoundDone)]
    json.dumps(trainer.model.history, allow_nan=False)


# --- interruption, rollback, resuming --------------------------------------------------------------------------------


def stopping(corpus, validation, when, folder, model=None, **options):
    """Train until `when` says of an event that it is time to stop; keep the model in `folder` as the command does."""

    def listen(event):
        if isinstance(event, EpochDone):
            trainer.model.save(folder)
        if when(event):
            trainer.stop()

    trainer = Word2Vec(**SMALL | options).trainer(corpus, [listen], model=model, validation=validation)
    trainer.train()
    trainer.model.save(folder)
    return trainer


def nth(kind, number):
    seen = []

    def when(event):
        seen.extend([event] if isinstance(event, kind) else [])
        return isinstance(event, kind) and len(seen) == number

    return when


class Crash(Exception):
    pass


def told(model):
    """What history says, without seconds and interruptions."""
    kept = [record for record in model.history if record["event"] != "Interrupted"]
    return [{name: value for name, value in record.items() if name not in ("seconds", "tokens")} for record in kept]


@pytest.mark.parametrize(
    "stop", [(RoundDone, 1), (RoundDone, 20), (Validated, 1), (Validated, 4), (EpochDone, 2)], ids=str
)
@pytest.mark.parametrize("patience", [None, 3])
def test_resumed_equals_uninterrupted_to_the_bit(planted, held, tmp_path, stop, patience):
    options = {"metric": "nll", "every": 0.5, "patience": patience}
    whole = run(planted, Validation(held, **options), alpha=0.4)
    first = stopping(planted, Validation(held, **options), nth(*stop), tmp_path / "model", alpha=0.4)
    assert not first.complete and first.model.history[-1]["event"] == "Interrupted"
    model = Model.load(tmp_path / "model")
    assert same(model.best.matrices, first.model.best.matrices)
    resumed = run(planted, Validation(held, **options), model=model, alpha=0.4)
    assert same(state(whole.model), state(resumed.model))
    assert whole.model.best.as_dict() == resumed.model.best.as_dict()
    assert told(whole.model) == told(resumed.model)


def test_a_crash_after_an_epoch_was_kept_and_before_it_was_evaluated(planted, held, tmp_path):
    """The folder then holds a state that is due: the resumed run evaluates it first."""
    values = [1, 9, 2, 3]
    whole = run(planted, Scripted(held, values))

    def crash(event):
        if isinstance(event, EpochDone):
            trainer.model.save(tmp_path / "model")
            if event.epoch == crash_at:
                raise Crash

    for crash_at in (2, 4):
        trainer = Word2Vec(**SMALL).trainer(planted, [crash], validation=Scripted(held, values))
        with pytest.raises(Crash):
            trainer.train()
        model = Model.load(tmp_path / "model")
        assert model.best.last_epoch == crash_at - 1
        resumed = run(planted, Scripted(held, values[crash_at - 1 :]), model=model)
        assert same(state(whole.model), state(resumed.model))
        assert whole.model.best.as_dict() == resumed.model.best.as_dict()


def test_a_crash_between_the_last_evaluation_and_the_end(planted, held, tmp_path):
    def crash(event):
        if isinstance(event, Validated):
            trainer.model.save(tmp_path / "model")
            if event.stale:
                raise Crash

    trainer = Word2Vec(**SMALL).trainer(planted, [crash], validation=Scripted(held, [5, 4], patience=1))
    with pytest.raises(Crash):
        trainer.train()
    model = Model.load(tmp_path / "model")
    best = model.best.matrices
    assert not model.best.finished and model.best.stale == 1
    again = Scripted(held, [], patience=1)
    resumed = run(planted, again, model=model)
    assert again.evaluated == 0 and resumed.complete
    assert same(state(resumed.model), best)


def test_an_interrupted_run_hands_over_the_best_and_keeps_the_last(planted, held, tmp_path):
    trainer = stopping(planted, Scripted(held, [9, 1]), nth(Validated, 2), tmp_path / "model")
    word2vec = Word2Vec.load(tmp_path / "model")
    assert word2vec.vectors.matrix.tobytes() == trainer.model.best.matrices["vectors_in"].tobytes()
    assert word2vec.model.vectors_in.tobytes() == trainer.model.vectors_in.tobytes()
    assert not np.array_equal(word2vec.vectors.matrix, word2vec.model.vectors_in)


def test_a_stop_in_the_very_last_round_still_restores_the_best(planted, held, tmp_path):
    rounds = []
    whole = run(planted, Scripted(held, [9, 1]), [lambda e: isinstance(e, RoundDone) and rounds.append(e)], epochs=2)
    trainer = stopping(planted, Scripted(held, [9, 1]), nth(RoundDone, len(rounds)), tmp_path / "model", epochs=2)
    assert trainer.complete
    assert same(state(whole.model), state(trainer.model))


def test_a_rollback_never_goes_behind_a_state_that_was_evaluated(planted, held):
    trainer, states, events = snapshots(planted, Scripted(held, range(999), every=0.1), alpha=1.0, bounded_steps=False)
    assert of_kind(events, RolledBack)
    epochs = [event.epoch for event in of_kind(events, Validated)]
    assert epochs == sorted(set(epochs))
    assert all(np.isfinite(matrix).all() for kept in states.values() for matrix in kept.values())
    assert same(state(trainer.model), states[4.0])


def test_the_folder_of_a_finished_run(planted, held, tmp_path):
    folder = tmp_path / "model"
    stopping(planted, Scripted(held, [9, 1]), nth(Validated, 2), folder)
    assert {"best_vectors_in.npy", "best_vectors_out.npy"} < set(os.listdir(folder))
    (folder / "mine.txt").write_text("stays")
    trainer = run(planted, Scripted(held, [0, 0]), model=Model.load(folder))
    trainer.model.save(folder)
    assert not [name for name in os.listdir(folder) if name.startswith("best_")]
    assert (folder / "mine.txt").exists()
    model = Model.load(folder)
    assert model.best.finished and same(state(model), state(trainer.model))
    again = Scripted(held, [])
    assert run(planted, again, model=model).complete and again.evaluated == 0
    run(planted, None, epochs=1).model.save(folder)  # another run, not evaluated, in its place
    assert Model.load(folder).best is None


def test_a_run_goes_on_only_as_it_was_evaluated(planted, held, tmp_path):
    folder = tmp_path / "model"
    stopping(planted, Validation(held, patience=2), nth(Validated, 1), folder)
    with pytest.raises(ConfigError, match="was evaluated on held-out pairs while it trained; give them again"):
        run(planted, None, model=Model.load(folder))
    other = HeldOut(held.centres[1:], held.targets[1:], held.weights[1:], 0, 59)
    for validation, message in (
        (Validation(other, patience=2), "was evaluated with other held-out pairs"),
        (Validation(held, patience=2, known=other), "was evaluated with other known pairs"),
        (Validation(held, patience=2, metric="nll"), "was evaluated with metric mpr, now nll"),
        (Validation(held), "was evaluated with patience 2, now not given"),
    ):
        with pytest.raises(ConfigError, match=message):
            run(planted, validation, model=Model.load(folder))


@pytest.mark.parametrize(
    "name, content, message",
    [
        ("validation.json", "{}", "not the validation of a run"),
        ("validation.json", "[1]", "not the validation of a run"),
        ("best_vectors_out.npy", "damaged", "not a NumPy matrix"),
        ("best_vectors_out.npy", None, "missing; the folder is not a complete model"),
    ],
)
def test_a_damaged_folder_is_told(planted, held, tmp_path, name, content, message):
    folder = tmp_path / "model"
    stopping(planted, Scripted(held, [9, 1]), nth(Validated, 1), folder)
    if content is None:
        (folder / name).unlink()
    else:
        (folder / name).write_text(content)
    with pytest.raises(InputError, match=message):
        Model.load(folder)


# --- the notebook's door and the command -----------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path, monkeypatch, planted, held):
    """The current folder, with corpus.txt and valid.tsv in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "corpus.txt").write_text(as_text(two_topics()))
    words = planted.vocab.words
    rows = zip(held.centres, held.targets, held.weights, strict=True)
    lines = [f"{words[i]}\t{words[j]}\t{weight:.3f}\n" for i, j, weight in rows]
    (tmp_path / "valid.tsv").write_text("item\ttarget\tweight\n" + "".join(lines) + "nowhere\ta1\t1\n")
    return tmp_path


COMMAND = ["train", "--corpus=corpus.txt", "--output=vectors.txt", "--force"] + [
    f"--{name.replace('_', '-')}={value}" for name, value in SMALL.items() if name != "subsample"
]
COMMAND += ["--subsample=0", "--alpha=0.4"]


def test_fit_stops_early(folder, planted, held):
    word2vec = Word2Vec(**SMALL | {"epochs": 30, "alpha": 0.4})
    vectors = word2vec.fit("corpus.txt", valid=Validate("valid.tsv", metric="nll", patience=2, every=0.5))
    restored = word2vec.model.history[-1]
    assert restored["event"] == "BestRestored" and restored["early"]
    assert word2vec.model.best.settings["files"] == {"valid": str(folder / "valid.tsv")}
    assert np.shares_memory(vectors.matrix, word2vec.model.vectors_in)
    same_run = Word2Vec(**SMALL | {"epochs": 30, "alpha": 0.4})
    rounded = HeldOut(held.centres, held.targets, np.round(held.weights, 3), 0, 60)
    same_run.fit(planted, valid=Validate(rounded, metric="nll", patience=2, every=0.5))
    assert same_run.vectors.matrix.tobytes() == vectors.matrix.tobytes()
    with pytest.raises(InputError, match="none of the 1 held-out pairs has both items"):
        Validate(HeldOut(*(np.zeros(0, int),) * 3, 1, 1)).of(planted)


def test_arguments_of_fit_that_are_none(planted, held):
    word2vec = Word2Vec(**SMALL)
    with pytest.raises(TypeError, match="unexpected keyword argument 'patients'"):
        word2vec.fit(planted, valid=held, patients=2)
    with pytest.raises(ConfigError, match="patience must be a whole number of at least 1, not 0"):
        Validate(held, patience=0)


def test_the_command_reports_both(folder, run_cli):
    result = run_cli(*COMMAND, "--valid=valid.tsv", "--metric=nll", "--json", "--save-model=model", "--patience=1")
    assert result.code == 0, result.err
    assert "valid.tsv: 60 held-out pairs to evaluate the model on, 1 more have an item unknown" in result.err
    assert "epoch 1 evaluated: nll " in result.err
    report = json.loads(result.out)
    best = report["validation"]
    assert best["finished"] and best["figures"]["nll"] <= best["last_figures"]["nll"]
    assert report["history"][-1]["best"] == best["figures"]
    assert report["history"][-1]["last"] == best["last_figures"]
    assert f"kept the best, epoch {best['epoch']:.0f} with {best['figures']['nll']:.4f}" in result.err
    again = run_cli("train", "--resume=model", "--output=again.txt")
    assert again.code == 0 and "nothing is left to train" in again.err
    assert (folder / "again.txt").read_bytes() == (folder / "vectors.txt").read_bytes()


def test_the_command_resumes_to_the_same_bytes(folder, run_cli, monkeypatch):
    from w2vneg.cli import progress

    options = ["--valid=valid.tsv", "--metric=nll", "--eval-every=0.5", "--valid-exclude-known=known.tsv"]
    (folder / "known.tsv").write_text("item\ttarget\tweight\na1\ta2\t1\n")
    assert run_cli(*COMMAND, *options, "--output=whole.txt").code == 0
    real = progress.TrainingProgress.__call__
    when = nth(Validated, 3)

    def listen(self, event):
        real(self, event)
        if when(event):
            import signal

            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(progress.TrainingProgress, "__call__", listen)
    result = run_cli(*COMMAND, *options, "--save-model=model")
    assert result.code == 130
    assert result.err.splitlines()[-1] == ("Interrupted: kept the best vectors so far; continue with --resume model.")
    (folder / "valid.tsv").rename(folder / "moved.tsv")
    assert "no such file" in run_cli("train", "--resume=model").err.lower()
    resumed = run_cli("train", "--resume=model", "--valid=moved.tsv")
    assert resumed.code == 0, resumed.err
    assert (folder / "vectors.txt").read_bytes() == (folder / "whole.txt").read_bytes()


@pytest.mark.parametrize(
    "arguments, code, message",
    [
        ("--patience 2", 2, "--patience needs held-out pairs; name them with --valid"),
        ("--valid-exclude-known valid.tsv", 2, "name them with --valid"),
        ("--valid valid.tsv --patience 0", 2, "--patience"),
        ("--valid valid.tsv --metric mprr", 1, "unknown metric 'mprr'; did you mean 'mpr'?"),
        (
            "--valid valid.tsv --metric valid.tsv",
            1,
            "valid.tsv is a file; keep models with 'w2vneg compare --keep DIR'",
        ),
        ("--valid valid.tsv --eval-every 0", 1, "eval_every must be a number of epochs above 0"),
        ("--valid none.tsv", 1, "none.tsv: no such file"),
        ("--resume model --metric nll", 2, "leave --metric out"),
    ],
)
def test_mistakes_are_told_before_the_corpus_is_read(folder, run_cli, monkeypatch, arguments, code, message):
    def refuse(*arguments, **options):
        raise AssertionError("the corpus was read")

    monkeypatch.setattr("w2vneg.data.inputs.encode_input", refuse)
    command = ["train"] if "--resume" in arguments else COMMAND
    result = run_cli(*command, *arguments.split())
    assert (result.code, result.out) == (code, "")
    assert message in result.err and "Traceback" not in result.err
    assert not (folder / "vectors.txt").exists()


def test_resuming_a_run_that_nothing_evaluated_with_valid_is_refused(folder, run_cli):
    assert run_cli(*COMMAND, "--save-model=model", "--epochs=1").code == 0
    result = run_cli("train", "--resume=model", "--valid=valid.tsv")
    assert result.code == 2 and "was not evaluated on held-out pairs; leave --valid out" in result.err


def test_held_out_pairs_of_unknown_items_only(folder, run_cli):
    (folder / "valid.tsv").write_text("item\ttarget\tweight\nx\ty\t1\n")
    result = run_cli(*COMMAND, "--valid=valid.tsv")
    assert result.code == 1 and "none of its 1 pairs has a weight above 0 and two known items" in result.err


@pytest.mark.parametrize("rectangular", [True, False])
def test_held_out_pairs_that_are_trained_on_are_warned_of(tmp_path, monkeypatch, run_cli, rectangular):
    monkeypatch.chdir(tmp_path)
    rows = [f"a{k % 7}\tb{k % 11}\t1" for k in range(60)]
    (tmp_path / "all.tsv").write_text("\n".join(rows) + "\n")
    of_users = ["--rectangular"] * rectangular
    assert run_cli("split", "--pairs", "all.tsv", *of_users, "--out", "parts").code == 0
    n = len((tmp_path / "parts/valid.tsv").read_text().splitlines()) - 1
    told = f"the model is trained on {f'{n} of' if rectangular else 'all.tsv, which has'} these pairs"
    small = "--dim=4", "--epochs=1", "--workers=1"
    for data, leak in (("all.tsv", True), ("parts/train.tsv", False)):
        options = "--pairs", data, *of_users, "--valid=parts/valid.tsv", *small
        for command in (["train", "--output=v.txt", "--force"], ["tune", "--grid=alpha=.1", "--out", f"tried-{leak}"]):
            found = run_cli(*command, *options)
            assert found.code == 0 and (told in found.err) == leak, found.err
        given = Input("pairs", data, rectangular=rectangular)
        with pytest.warns(FileNote, match=told) if leak else nullcontext():
            Word2Vec(dim=4, epochs=1, workers=1).fit(given, valid="parts/valid.tsv")
