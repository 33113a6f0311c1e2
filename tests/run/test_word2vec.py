"""The notebook's door."""

import copy
import inspect
import io
import os
import pickle
from itertools import pairwise

import numpy as np
import pytest
from planted import as_text, same_topic, two_topics

import w2vneg
from w2vneg import Input, Slim, TrainConfig, Validate, Vectors, Vocabulary, Word2Vec
from w2vneg.data.inputs import locate
from w2vneg.ground.errors import ConfigError, InputError, UnknownNameError
from w2vneg.ground.events import EpochDone
from w2vneg.run import conductor

SMALL = {"loss": "ns", "dim": 8, "window": 3, "subsample": 0, "min_count": 1, "epochs": 3, "workers": 1}


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text(as_text(two_topics()))
    return path


def test_a_path_and_an_iterable_of_token_lists_give_the_same_vectors(text):
    from_path = Word2Vec(**SMALL).fit(text)
    from_name = Word2Vec(**SMALL).fit(str(text))
    from_lists = Word2Vec(**SMALL).fit(two_topics())
    from_generator = Word2Vec(**SMALL).fit(tuple(s) for s in two_topics())
    for other in (from_name, from_lists, from_generator):
        assert other.words == from_path.words
        assert np.array_equal(other.matrix, from_path.matrix)
    assert same_topic(from_path) >= 0.95


def test_either_place_says_that_pairs_have_two_kinds(tmp_path):
    (tmp_path / "pairs.tsv").write_text("a\tb\n" * 3 + "b\ta\n" * 3)
    data, options = w2vneg.Input("pairs", str(tmp_path / "pairs.tsv")), SMALL | {"window": None, "subsample": None}
    options = {name: value for name, value in options.items() if value is not None}
    for own, given in ((True, data), (False, data.replace(rectangular=True))):
        word2vec = Word2Vec(rectangular=own, **options)
        word2vec.fit(given)
        assert word2vec.model.vocab_out is not word2vec.model.vocab and word2vec.model.known is not None


def test_several_files(text, tmp_path):
    more = tmp_path / "more.txt"
    more.write_text(as_text(two_topics(seed=1)))
    encoded = Word2Vec(**SMALL).encode([text, more])
    assert encoded.report.files == 2
    assert len(encoded) == 2 * 800 * 8


def test_what_a_notebook_user_asks_for(text, tmp_path):
    model = Word2Vec(**SMALL)
    vectors = model.fit(text)
    assert isinstance(vectors, Vectors)
    assert vectors["a0"].shape == (8,)
    assert vectors.counts.sum() == 800 * 8
    assert vectors.similarity("a0", "a1") > vectors.similarity("a0", "b1")
    assert len(vectors.most_similar("a0", k=3)) == 3
    model.save(tmp_path / "model")
    for loaded in (Word2Vec.load(tmp_path / "model").vectors, Vectors.load(tmp_path / "model")):
        assert loaded.words == vectors.words
        assert np.array_equal(loaded.matrix, vectors.matrix)
    assert Word2Vec.load(tmp_path / "model").config.resolved() == model.model.config
    keyed = pytest.importorskip("gensim") and vectors.to_gensim()
    assert keyed.most_similar("a0", topn=1)[0][0][0] == "a"


def test_vectors_whose_cosines_mean_nothing_are_told(text):
    options = SMALL | {"loss": "relaxed", "epochs": 1}
    with pytest.warns(UserWarning, match=r"their cosines mean nothing; .*--signed-softmax"):
        Word2Vec(**options, absolute_softmax=True).fit(text)
    Word2Vec(**options).fit(text)  # no warning


def test_a_config_or_options_but_not_both():
    assert Word2Vec(TrainConfig(dim=7)).config.dim == 7
    with pytest.raises(ConfigError, match="either a TrainConfig or options by name"):
        Word2Vec(TrainConfig(), dim=7)
    with pytest.raises(ConfigError, match=r"Word2Vec: unknown option 'embedding_dim'; it is called dim"):
        Word2Vec(embedding_dim=100)
    with pytest.raises(ConfigError, match=r"Word2Vec: window must be at least 1, got 0"):
        Word2Vec(window=0)


def test_nothing_trained_yet(tmp_path):
    with pytest.raises(ConfigError, match="nothing is trained yet; call fit first"):
        _ = Word2Vec().vectors
    with pytest.raises(ConfigError, match="nothing is trained yet"):
        Word2Vec().save(tmp_path / "model")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"loss": "relaxd"}, UnknownNameError, "unknown loss 'relaxd'; did you mean 'relaxed'?"),
        ({"loss": "relaxd", "temp": 2}, UnknownNameError, "unknown loss 'relaxd'"),
        ({"loss": "hs"}, UnknownNameError, "unknown loss 'hs'; here it is called hierarchical. 'w2vneg objectives'"),
        ({"loss": "negative_sampling"}, UnknownNameError, "here it is called ns."),
        ({"sampler": "boltzman", "temp": 2}, UnknownNameError, "unknown sampler 'boltzman'; did you mean 'boltzmann'?"),
        ({"weigher": "importnce"}, UnknownNameError, "unknown weigher 'importnce'; did you mean 'importance'?"),
        ({"loss": "ns", "temp": 1.0}, ConfigError, "--temp has no effect with sampler 'popularity'"),
        ({"degeneracy": "popularty"}, ConfigError, "unknown degeneracy 'popularty'; did you mean 'popularity'?"),
        ({"alpha": 0.1, "min_alpha": 0.2}, ConfigError, r"min_alpha \(0.2\) is above alpha"),
    ],
)
def test_mistakes_are_told_before_the_corpus_is_read(monkeypatch, options, error, message):
    def refuse(*arguments, **options):
        raise AssertionError("the corpus was read")

    monkeypatch.setattr(conductor, "encode_corpus", refuse)
    with pytest.raises(error, match=message):
        Word2Vec(**options).fit([["a", "b"]])


def test_a_vocabulary_of_one_s_own(text):
    vocab = Vocabulary.from_counts({"a1": 7, "b1": 5, "a2": 5, "unseen": 1})
    vectors = Word2Vec(**SMALL).fit(text, vocab=vocab)
    assert vectors.words == vocab.words
    assert np.isfinite(vectors.matrix).all()


def test_a_text_in_the_place_of_its_path_is_no_traceback():
    for wrong in ("the quick brown fox " * 500, "a\0b", ""):
        with pytest.raises(w2vneg.W2vnegError):
            Word2Vec(**SMALL).fit(wrong)


def test_locate(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert locate("-") == "-"
    assert locate("*.txt") == "*.txt"
    assert locate(text) == text
    assert locate(tmp_path) == tmp_path
    with pytest.raises(UnknownNameError, match="did you mean 'text8'"):
        locate("text9")
    with pytest.raises(InputError, match=r"no such file or folder: none\.txt"):
        locate("none.txt")


def test_fitting_again_starts_afresh(text):
    model = Word2Vec(**SMALL)
    first = model.fit(text).matrix.copy()
    assert np.array_equal(model.fit(text).matrix, first)


def test_what_fails_within_a_property_is_seen(text):
    word2vec = Word2Vec(**SMALL)
    word2vec.fit(text)
    word2vec.read_out = lambda *names: None.missing
    with pytest.raises(AttributeError, match="'NoneType' object has no attribute 'missing'"):
        word2vec.wv  # noqa: B018


def test_options_set_on_a_copy_are_its_own():
    word2vec = Word2Vec(**SMALL)
    word2vec.fit(two_topics())
    other, twin = copy.copy(word2vec), copy.deepcopy(word2vec)
    other.set_params(alpha=0.5, epochs=1)
    newer = [["new", "a0", "b0"]] * 40
    expected = twin.fit(newer, update=True).matrix
    assert np.array_equal(word2vec.fit(newer, update=True).matrix, expected)
    assert other.fit(newer, update=True) and other.model.config.alpha == 0.5


def failing(event):
    raise OSError("a disk is gone")


def state(word2vec):
    return {name: matrix.tobytes() for name, matrix in word2vec.model.matrices().items()}


@pytest.mark.parametrize("update", [False, True])
def test_the_former_model_answers_while_fit_runs_and_stays_if_it_fails(update):
    word2vec, seen = Word2Vec(**SMALL), []
    word2vec.fit(two_topics())
    model, before, words = word2vec.model, state(word2vec), word2vec.wv.words
    newer = [["new", "a0", "b0"]] * 40

    def look(event):
        seen.append(word2vec.model is model and state(word2vec) == before and word2vec.wv.words == words)

    with pytest.raises(OSError, match="a disk is gone"):
        word2vec.fit(newer, listeners=[look, failing], update=update)
    assert seen == [True] and word2vec.model is model and state(word2vec) == before and word2vec.complete
    word2vec.fit(newer, listeners=[look], update=update)
    assert all(seen) and word2vec.model is not model and "new" in word2vec.wv and ("a1" in word2vec.wv) == update


def test_a_first_fit_that_fails_leaves_what_there_is():
    word2vec = Word2Vec(**SMALL)
    with pytest.raises(ConfigError, match="nothing is trained yet"):
        word2vec.model  # noqa: B018
    with pytest.raises(OSError):
        word2vec.fit(two_topics(), listeners=[failing])
    assert "a0" in word2vec.wv and not word2vec.complete


def test_options_of_a_fit_that_failed_hold_in_the_next(tmp_path):
    word2vec = Word2Vec(**SMALL)
    word2vec.fit(two_topics())
    word2vec.save(tmp_path / "model")
    word2vec = Word2Vec.load(tmp_path / "model", alpha=0.5)
    with pytest.raises(InputError):
        word2vec.fit([["a0", "two words"]], update=True)
    word2vec.fit(two_topics(), update=True)
    assert word2vec.model.config.alpha == 0.5 and word2vec.model.origin.begun["update"].endswith("model")


def test_one_object_is_trained_once_at_a_time():
    word2vec, refused = Word2Vec(**SMALL), []
    word2vec.fit(two_topics())

    def again(event):
        try:
            word2vec.fit(two_topics(), update=True)
        except ConfigError as error:
            refused.append(str(error))

    word2vec.fit(two_topics(), update=True, listeners=[again])
    assert refused and all("is already running on this Word2Vec" in text for text in refused)
    pickle.loads(pickle.dumps(word2vec)).fit(two_topics(), update=True)
    word2vec.fit(two_topics(), update=True)


@pytest.mark.parametrize("place", [None, b"model", 5, io.BytesIO(), "a\ud800", "a\0"])
def test_what_is_no_path_is_refused(place):
    word2vec = Word2Vec(**SMALL)
    vectors = word2vec.fit(two_topics())
    for call in (Word2Vec.load, Vectors.load, Vocabulary.load, Slim.load, word2vec.save, vectors.save):
        with pytest.raises(ConfigError, match="a path is a str or a Path"):
            call(place)
    with pytest.raises(ConfigError, match="a path is a str or a Path"):
        word2vec.model.vocab.save(place)
    if place is not None:
        with pytest.raises(ConfigError, match=r"create one from words with Vocabulary\(words, counts\)"):
            word2vec.fit(two_topics(), vocab=place)


def test_what_is_not_trained_can_be_looked_at_by_tools():
    for one in (Word2Vec(), Slim()):
        assert not hasattr(one, "vectors") and dict(inspect.getmembers(one))["get_params"]
    assert not hasattr(Word2Vec(), "model") and getattr(Word2Vec(), "model", None) is None


@pytest.mark.parametrize("readout", ["in", "out", "both"])
def test_vectors_do_not_change_the_model(readout):
    word2vec = Word2Vec(**SMALL, readout=readout)
    word2vec.fit(two_topics())
    before, vectors = state(word2vec), word2vec.wv
    for array in (vectors.matrix, vectors.counts):
        if array.flags.writeable:
            array[:] = 1
    assert state(word2vec) == before and word2vec.model.vocab.counts.sum() == 800 * 8
    assert np.may_share_memory(vectors.matrix, word2vec.model.vectors_in) == (readout == "in")  # no copy


def test_training_that_goes_on_leaves_former_vectors_as_they_are():
    word2vec = Word2Vec(**SMALL, readout="in")
    with pytest.raises(OSError):
        word2vec.fit(two_topics(), listeners=[lambda event: isinstance(event, EpochDone) and failing(event)])
    vectors = word2vec.wv
    before = vectors.matrix.copy()
    assert word2vec.trainer(word2vec.encode(two_topics()), model=word2vec.model).train() is word2vec.model
    assert np.array_equal(vectors.matrix, before) and not np.array_equal(word2vec.wv.matrix, before)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"listeners": None}, "listeners must be a list of callables"),
        ({"listeners": print}, "listeners must be a list of callables"),
        ({"listeners": [None]}, "listeners must be a list of callables"),
        ({"checkpoints": 3}, "checkpoints must be the folder to save to, not 3"),
    ],
)
def test_arguments_are_looked_at_before_the_corpus_is_read(options, message):
    word2vec = Word2Vec(**SMALL)
    with pytest.raises(ConfigError, match=message):
        word2vec.fit("no such file", **options)
    with pytest.raises(ConfigError, match=message):
        word2vec.trainer(word2vec.encode(two_topics()), **options)


def test_a_trainer_takes_what_fit_takes(tmp_path):
    pairs = Input("pairs", [pair for words in two_topics()[:100] for pair in pairwise(words)])
    word2vec, heard = Word2Vec(loss="ns", dim=8, epochs=2, workers=1), []
    encoded = word2vec.encode(pairs)
    valid = Validate([("a0", "a1"), ("b0", "b1")], metric="ndcg@5")
    listeners = (each for each in [heard.append])
    trainer = word2vec.trainer(encoded, listeners, validation=valid, checkpoints=tmp_path / "model")
    word2vec.model = trainer.train()
    assert heard and word2vec.model.best.settings["metric"] == "ndcg@5" and (tmp_path / "model").is_dir()
    plain = Word2Vec(loss="ns", dim=8, epochs=2, workers=1)
    plain.fit(pairs)
    assert plain.set_params(epochs=3).trainer(encoded, model=plain).train() is plain.model
    assert plain.model.position.epoch == 3
    for wrong, message in (
        ({"encoded": two_topics()}, r"not list; give encode\(corpus\)"),
        ({"model": "model"}, r"not str and NoneType; give Model\.load\(folder\)"),
        ({"prior": plain.model}, "not NoneType and Model; give"),
    ):
        with pytest.raises(ConfigError, match=message):
            word2vec.trainer(**{"encoded": encoded} | wrong)


class Own(Word2Vec):
    def __init__(self, extra=1, **options):
        super().__init__(**options)
        self.extra = extra


class Needing(Own):
    def __init__(self, extra, **options):
        super().__init__(extra, **options)


class Closed(Word2Vec):
    def __init__(self):
        super().__init__(**SMALL)


def test_a_subclass_with_arguments_of_its_own_is_loaded(tmp_path):
    word2vec = Own(extra=3, **SMALL)
    word2vec.fit(two_topics())
    word2vec.save(tmp_path / "model")
    loaded = Own.load(tmp_path / "model", epochs=2)
    assert (loaded.extra, loaded.config.dim, loaded.config.epochs) == (1, 8, 2)
    assert Needing.load(tmp_path / "model", extra=5).extra == 5
    with pytest.raises(ConfigError, match=r"Needing\(config=…\): missing a required .*'extra'; .* to load by name"):
        Needing.load(tmp_path / "model")
    with pytest.raises(ConfigError, match=r"unexpected keyword argument 'config'; let its __init__ pass config on"):
        Closed.load(tmp_path / "model")
    with pytest.raises(ConfigError, match="unknown option 'extra'"):
        Word2Vec.load(tmp_path / "model", extra=5)
