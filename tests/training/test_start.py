"""Runs that begin with the rows of another one."""

import numpy as np
import pytest

from w2vneg import Vectors, Word2Vec
from w2vneg.data.encoded import encode_corpus
from w2vneg.errors import ConfigError, InputError
from w2vneg.training.start import Start
from w2vneg.training.trainer import Trainer

OPTIONS = {"dim": 6, "epochs": 2, "min_count": 1, "workers": 1, "subsample": 0, "loss": "ns", "readout": "in"}
FIRST = [["a", "b", "c"], ["b", "c", "d"]] * 20
SECOND = [["new", "c", "d", "c"], ["e", "d", "c"]] * 20


@pytest.fixture(scope="module")
def first():
    word2vec = Word2Vec(**OPTIONS)
    word2vec.fit(FIRST)
    return word2vec


def begun(source, workers=1):
    config = Word2Vec(**OPTIONS | {"workers": workers}).config
    return Trainer(encode_corpus(SECOND, min_count=1), config, start=Start.of(source))


@pytest.mark.parametrize("workers", [1, 2])
def test_rows_of_words_that_both_know_begin_there(first, tmp_path, workers):
    first.save(tmp_path / "model")
    first.vectors.save(tmp_path / "vectors.txt")
    plain = Trainer(encode_corpus(SECOND, min_count=1), first.config).model
    for source in (tmp_path / "model", str(tmp_path / "vectors.txt"), first.model, first.vectors):
        trainer = begun(source, workers)
        assert trainer.started == 2
        both = source in (tmp_path / "model", first.model) if not isinstance(source, Vectors) else False
        for word in ("c", "d", "new", "e"):
            row = trainer.model.vocab.id(word)
            known = word in first.model.vocab
            old = first.model.vocab.id(word) if known else None
            expected = first.model.vectors_in[old] if known else plain.vectors_in[row]
            assert (trainer.model.vectors_in[row] == expected).all()
            expected = first.model.vectors_out[old] if known and both else 0
            assert (trainer.model.vectors_out[row] == expected).all()
    assert np.isfinite(begun(first.model, workers).train().vectors_in).all()


def test_fit_begins_with_what_it_is_given(first, tmp_path):
    first.save(tmp_path / "model")
    loaded = Word2Vec.load(tmp_path / "model")
    with pytest.warns(UserWarning, match="fit starts over .* give init=word2vec.model, to go on"):
        started_over = loaded.fit(FIRST)
    assert (started_over.matrix == first.vectors.matrix).all()
    again = Word2Vec.load(tmp_path / "model")
    vectors = again.fit(FIRST, init=again.model)
    assert not (vectors.matrix == started_over.matrix).all()
    again.fit(FIRST)  # a fit after a fit is a new run, as everybody expects


def test_what_does_not_fit_is_refused(first, tmp_path):
    with pytest.raises(ConfigError, match="the model has vectors of 6 numbers, and this run has 4; take --dim 6"):
        Word2Vec(**OPTIONS | {"dim": 4}).fit(SECOND, init=first.model)
    with pytest.raises(ConfigError, match=r"none of the 2 words .* has a vector in the vectors; .*--lowercase"):
        Word2Vec(**OPTIONS).fit([["X", "Y"]] * 9, init=first.vectors)
    with pytest.raises(InputError, match="no such file"):
        Word2Vec(**OPTIONS).fit(SECOND, init=tmp_path / "none.txt")


def test_the_command_line(first, tmp_path, monkeypatch, run_cli):
    monkeypatch.chdir(tmp_path)
    first.save("model")
    (tmp_path / "text.txt").write_text("".join(" ".join(line) + "\n" for line in SECOND))
    small = ["--dim=6", "--epochs=1", "--min-count=1", "--workers=1", "--subsample=0"]
    result = run_cli("train", "--corpus", "text.txt", "--init", "model", "--save-model", "model", *small)
    assert result.code == 0 and "2 of 4 words begin with their vectors of model." in result.err
    result = run_cli("train", "--resume", "model", "--init", "model")
    assert result.code == 2 and "--resume goes on with the model folder's own vectors" in result.err
    result = run_cli("train", "--corpus", "text.txt", "--init", "none", *small)
    assert result.code == 1 and "none: no such file" in result.err


def test_users_and_items_begin_each_on_its_side(tmp_path):
    from w2vneg import Input

    (tmp_path / "pairs.tsv").write_text("user\titem\nu1\ti1\nu1\ti2\nu2\ti1\nu3\ti2\n" * 3)
    options = {"dim": 4, "epochs": 1, "workers": 1}
    data = Input("pairs", str(tmp_path / "pairs.tsv"), rectangular=True)
    word2vec = Word2Vec(**options)
    word2vec.fit(data)
    again = Word2Vec(**options)
    trainer = again.trainer(again.encode(data) if again.reads(data) is None else None, start=Start.of(word2vec.model))
    assert (trainer.model.vectors_in == word2vec.model.vectors_in).all()
    assert (trainer.model.vectors_out == word2vec.model.vectors_out).all()
