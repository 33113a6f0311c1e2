"""Whatever goes wrong at a checkpoint: one warning, training goes on, and the next save is tried."""

import pytest
from planted import two_topics

from w2vneg import Word2Vec
from w2vneg.ground.errors import OutputError
from w2vneg.run import trainer
from w2vneg.run.checkpoints import Checkpoints


@pytest.mark.parametrize("error", [MemoryError(), ValueError("odd"), UnicodeEncodeError("utf-8", "a", 0, 1, "no")])
def test_any_error_at_a_save_is_warned_of_and_the_next_is_tried(tmp_path, error):
    errors = [error, error]

    class Model:
        def save(self, folder):
            if errors:
                raise errors.pop()

    said = []
    checkpoints = Checkpoints(tmp_path / "model", warn=said.append)
    assert not checkpoints.save(model := Model())
    assert not checkpoints.save(model)
    assert isinstance(checkpoints.failure, OutputError) and type(error).__name__ in str(checkpoints.failure)
    assert len(said) == 1 and "training continues" in said[0]
    assert checkpoints.save(model) and checkpoints.failure is None


SMALL = {"loss": "ns", "dim": 4, "epochs": 2, "min_count": 1, "workers": 1, "subsample": 0}


def test_an_error_while_a_save_is_prepared_is_one_of_the_save(tmp_path):
    said = []
    word2vec = Word2Vec(**SMALL)
    checkpoints = Checkpoints(tmp_path / "model", warn=said.append)
    run = word2vec.trainer(word2vec.encode(two_topics()), checkpoints=checkpoints)
    compose, errors = run.engine.compose, [MemoryError()]
    run.engine.compose = lambda: compose() if not errors else (_ for _ in ()).throw(errors.pop())
    assert run.train().position.epoch == 2
    assert len(said) == 1 and "MemoryError" in said[0] and "training continues" in said[0]


def test_contexts_that_cannot_be_looked_at_lose_nothing(monkeypatch):
    def fail(model, corpus):
        raise MemoryError

    monkeypatch.setattr(trainer, "look_at_contexts", fail)
    word2vec = Word2Vec(**SMALL)
    run = word2vec.trainer(word2vec.encode(two_topics()))
    with pytest.warns(UserWarning, match="the contexts of words could not be computed"):
        assert run.train().position.epoch == 2
