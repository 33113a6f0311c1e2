"""When a running model is saved, what it costs, and what happens if it cannot be."""

import os

import pytest
from planted import two_topics

from w2vneg import Vectors, Word2Vec
from w2vneg.data.encoded import EncodedCorpus
from w2vneg.ground.errors import ConfigError, InputError, OutputError
from w2vneg.ground.files.locks import owned
from w2vneg.run.checkpoints import Checkpoints
from w2vneg.run.model import Model
from w2vneg.run.trainer import _Clock


class Clock:
    """Seconds that pass when they are told to."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


class SlowModel:
    """A model whose saving takes a while, or fails."""

    def __init__(self, clock, seconds, error=None):
        self.clock, self.seconds, self.error = clock, seconds, error

    def save(self, folder):
        self.clock.now += self.seconds
        if self.error is not None:
            raise self.error


def test_a_save_is_due_by_the_clock_or_after_an_epoch():
    clock = Clock()
    checkpoints = Checkpoints("model", 10, clock=clock)
    assert not checkpoints.due() and checkpoints.due(epoch_done=True)
    clock.now += 599
    assert not checkpoints.due()
    clock.now += 1
    assert checkpoints.due()
    assert checkpoints.save(SlowModel(clock, 0.0))
    assert not checkpoints.due() and checkpoints.due(epoch_done=True)


@pytest.mark.parametrize("epoch_done", [False, True])
def test_saving_takes_a_hundredth_of_the_time_at_most(epoch_done):
    clock = Clock()
    checkpoints = Checkpoints("model", 1, clock=clock)
    checkpoints.save(SlowModel(clock, 7.0))
    clock.now += 699
    assert not checkpoints.due(epoch_done)
    clock.now += 1
    assert checkpoints.due(epoch_done)


def test_a_failure_is_reported_once_and_forgotten_when_it_is_over():
    clock, said = Clock(), []
    checkpoints = Checkpoints("model", 1, said.append, clock)
    failing = SlowModel(clock, 1.0, OutputError("cannot write model: full"))
    assert not checkpoints.save(failing) and not checkpoints.save(failing)
    assert said == ["Warning: cannot write model: full; training continues."]
    assert str(checkpoints.failure) == "cannot write model: full"
    assert checkpoints.save(SlowModel(clock, 1.0)) and checkpoints.failure is None
    assert not checkpoints.save(failing, final=True) and len(said) == 1


@pytest.mark.parametrize("minutes", [0, -1, float("nan"), float("inf"), "10", True, None])
def test_minutes_out_of_range(minutes):
    with pytest.raises(ConfigError, match="checkpoint_every must be a number of minutes above 0"):
        Checkpoints("model", minutes)


def test_owning_refuses_what_is_no_model_and_leaves_nothing(tmp_path):
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "a.jpg").touch()
    with pytest.raises(OutputError, match=r"not a w2vneg model"), Checkpoints(tmp_path / "photos").owning():
        pass
    assert os.listdir(tmp_path) == ["photos"]


OPTIONS = {"loss": "ns", "dim": 8, "window": 3, "subsample": 0, "min_count": 1, "workers": 1}


def test_fit_keeps_a_model_folder_and_owns_it_meanwhile(tmp_path):
    refused = []

    def another(event):
        with pytest.raises(OutputError) as caught, owned(tmp_path / "model"):
            pass
        refused.append(str(caught.value))

    word2vec = Word2Vec(epochs=2, **OPTIONS)
    vectors = word2vec.fit(two_topics(), listeners=[another], checkpoints=tmp_path / "model")
    assert f"process {os.getpid()} on " in refused[0]
    kept = Model.load(tmp_path / "model")
    assert kept.position.epoch == 2
    assert (kept.vectors_in == word2vec.model.vectors_in).all()
    assert (Vectors.load(tmp_path / "model").matrix == vectors.matrix).all()
    assert os.listdir(tmp_path) == ["model"]


def test_checkpoints_change_nothing_of_the_training(tmp_path):
    whole = Word2Vec(epochs=2, **OPTIONS).fit(two_topics())
    clock = Clock()
    checkpoints = Checkpoints(tmp_path / "model", 1, clock=clock)

    def minute(event):
        clock.now += 60

    kept = Word2Vec(epochs=2, **OPTIONS).fit(two_topics(), listeners=[minute], checkpoints=checkpoints)
    assert whole.matrix.tobytes() == kept.matrix.tobytes()


def test_a_state_that_is_not_healthy_is_not_saved(tmp_path):
    """It is left to the next check, so that the clock has no say in when a run goes back."""
    clock = Clock()
    checkpoints = Checkpoints(tmp_path / "model", 1, clock=clock)
    word2vec = Word2Vec(epochs=1, **OPTIONS)
    trainer = word2vec.trainer(word2vec.encode(two_topics()), checkpoints=checkpoints)
    trainer.engine.healthy = lambda: False
    trainer._clock = _Clock()
    trainer._keep()
    for known in (False, True):
        clock.now += 60
        trainer._checkpoint(known)
        assert (tmp_path / "model").exists() == known


def test_data_that_can_no_longer_be_read_end_the_run_with_what_was_trained_kept(tmp_path, monkeypatch):
    rounds = []

    def cut_short(self):
        if len(rounds) == 3:
            raise InputError("the data were cut short")

    monkeypatch.setattr(EncodedCorpus, "check", cut_short)
    with pytest.raises(InputError, match="cut short"):
        Word2Vec(epochs=2, **OPTIONS).fit(two_topics(), listeners=[rounds.append], checkpoints=tmp_path / "model")
    kept = Model.load(tmp_path / "model")
    assert (kept.position.epoch, kept.position.round) == (0, 3)
