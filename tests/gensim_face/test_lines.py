"""Everyday lines of code for gensim, run with the face; what cannot work says what to do."""

import copy
import inspect
import pickle
import subprocess
import sys
import warnings
from contextlib import contextmanager, nullcontext

import numpy as np
import pytest

import w2vneg.gensim as face
from w2vneg.gensim.refused import MODULE
from w2vneg.ground.errors import ConfigError, W2vnegError

gensim = pytest.importorskip("gensim")
pytest.importorskip("gensim.models")

pytestmark = pytest.mark.filterwarnings("ignore:a text of")  # so short that it is not subsampled
WORDS = ["king", "queen", "man", "woman", "cheese", "bread"]
SENTENCES = [[WORDS[(i * step) % 6] for i in range(8)] for step in range(1, 40)]
SMALL = {"vector_size": 8, "min_count": 1, "workers": 1, "epochs": 1}


class Said(face.CallbackAny2Vec):
    """Keeps what was called, and the loss after each epoch."""

    def __init__(self):
        self.said = []

    def on_train_begin(self, model):
        self.said.append("train")

    def on_epoch_end(self, model):
        self.said.append(model.get_latest_training_loss())

    def on_train_end(self, model):
        self.said.append("end")


@pytest.fixture(scope="module")
def room(tmp_path_factory):
    folder = tmp_path_factory.mktemp("face")
    (folder / "text.txt").write_text("".join(" ".join(line) + "\n" for line in SENTENCES))
    (folder / "pairs.tsv").write_text("king\tqueen\t9\nking\tcheese\t1\nman\twoman\t8\nbread\tman\t2\n")
    (folder / "questions.txt").write_text(": family\nman king woman queen\n")
    (folder / "glove.txt").write_text("king 1 2\nqueen 2 1\n")
    theirs = gensim.models.Word2Vec(SENTENCES, **SMALL)
    theirs.wv.save(str(folder / "theirs.kv"))
    theirs.save(str(folder / "theirs.model"))
    gensim.models.Phrases(SENTENCES).save(str(folder / "theirs.phrases"))
    return folder


@pytest.fixture(scope="module")
def names(room):
    model = face.Word2Vec(SENTENCES, **SMALL)
    model.wv.save_word2vec_format(str(room / "w.bin"), binary=True)
    model.wv.save_word2vec_format(str(room / "w.txt"), fvocab=str(room / "w.vocab"))
    model.wv.save(str(room / "w.kv"))
    model.save(str(room / "w.model"))
    fasttext = face.FastText(SENTENCES, bucket=1000, **SMALL)
    phrases = face.Phrases(SENTENCES, min_count=1, threshold=0.1)
    return {name: getattr(face, name) for name in face.__all__} | {
        "model": model,
        "wv": model.wv,
        "ft": fasttext,
        "phrases": phrases,
        "sentences": SENTENCES,
        "small": SMALL,
        "room": str(room),
        "np": np,
        "Said": Said,
    }


CONSTRUCTORS = """\
Word2Vec(sentences, **small)
Word2Vec(sentences=sentences, vector_size=8, window=2, min_count=1, workers=2)
Word2Vec(sentences, None, 8, 0.05, 3, 1)
Word2Vec(corpus_file=room + "/text.txt", **small)
Word2Vec(LineSentence(room + "/text.txt"), **small)
Word2Vec(LineSentence(room + "/text.txt", limit=9), **small)
Word2Vec(LineSentence(room + "/text.txt", max_sentence_length=5), **small)
Word2Vec((line for line in sentences), **small)
Word2Vec([tuple(line[:2]) for line in sentences], **small)
Word2Vec(sentences, sg=1, negative=10, ns_exponent=0.5, sample=0, **small)
Word2Vec(sentences, sg=1, hs=1, negative=0, **small)
Word2Vec(sentences, seed=42, alpha=0.03, min_alpha=0.0007, cbow_mean=1, compute_loss=True, **small)
Word2Vec(sentences, max_final_vocab=4, shrink_windows=False, batch_words=500, comment="mine", **small)
Word2Vec(sentences, callbacks=[Said()], **small)
Word2Vec(phrases[sentences], **small)
Word2Vec(sentences, loss="relaxed", readout="both", **small)
Word2Vec(sentences, **small | {"min_count": 0})
FastText(sentences, sg=1, bucket=1000, min_n=2, max_n=4, **small)
FastText(corpus_file=room + "/text.txt", bucket=1000, **small)
Word2Vec.load(room + "/w.model")
KeyedVectors.load(room + "/w.kv", mmap="r")
KeyedVectors.load_word2vec_format(room + "/w.bin", binary=True)
KeyedVectors.load_word2vec_format(room + "/w.txt", fvocab=room + "/w.vocab", limit=3, unicode_errors="ignore")
KeyedVectors.load_word2vec_format(room + "/glove.txt", binary=False, no_header=True)
KeyedVectors(vector_size=4)""".splitlines()

ALIKE = """\
wv["king"]
wv[["king", "queen"]]
wv[0]
wv.get_vector("king", norm=True)
wv.word_vec("king")
"king" in wv
len(wv)
wv.vectors.shape
wv.vector_size
wv.key_to_index["king"]
wv.index_to_key[:3]
wv.get_index("king")
wv.get_index("nobody", default=-1)
wv.has_index_for("nobody")
wv.get_vecattr("king", "count")
wv.get_mean_vector(["king", "queen"])
wv.get_normed_vectors()
wv.norms
wv.most_similar("king")
wv.most_similar("king", topn=2)
wv.most_similar(positive=["king", "woman"], negative=["man"], topn=1)
wv.most_similar([("king", 1.0), ("man", -0.5)], restrict_vocab=4)
wv.most_similar(positive=[wv["king"]], topn=3)
wv.most_similar("king", None, 3)
wv.most_similar("king", topn=0)
wv.most_similar("king", topn=None)
wv.most_similar_cosmul(positive=["king", "woman"], negative=["man"])
wv.similar_by_word("king", 3)
wv.similar_by_key("king", topn=0)
wv.similar_by_vector(wv["king"], topn=3)
wv.similarity("king", "queen")
wv.n_similarity(["king", "man"], ["queen", "woman"])
wv.distance("king", "queen")
wv.distances("king", ["queen", "man"])
wv.doesnt_match(["king", "queen", "cheese"])
wv.doesnt_match("king queen cheese".split())
wv.rank("king", "queen")
set(wv.closer_than("king", "queen")) < set(wv.index_to_key)
set(wv.words_closer_than("king", "queen")) < set(wv.index_to_key)
wv.most_similar_to_given("king", ["queen", "bread"])
wv.relative_cosine_similarity("king", "queen", 3)
wv.rank_by_centrality(["king", "queen", "cheese"])
wv.cosine_similarities(wv["king"], wv.vectors)
wv.vectors_for_all(["king", "nobody"]).index_to_key
wv.evaluate_word_pairs(room + "/pairs.tsv")
wv.evaluate_word_pairs(room + "/pairs.tsv", "\\t", "utf8", 5000)
wv.evaluate_word_analogies(room + "/questions.txt")
wv.evaluate_word_analogies(room + "/questions.txt", restrict_vocab=5000, dummy4unknown=True)
wv.add_vector("new", np.ones(8))
wv.add_vectors(["one", "two"], np.eye(2, 8))
wv.add_vectors(["one"], np.ones((1, 8)), replace=True)
wv["two"].sum()
wv.most_similar("one", topn=1)
wv.set_vecattr("king", "count", 70)
wv.set_vecattr("king", "tag", "noun")
wv.sort_by_descending_frequency()
wv.index_to_key[0]
wv.unit_normalize_all()
model.wv.similarity("king", "queen")
model.vector_size
model.epochs
model.corpus_count
model.corpus_total_words
model.min_count
model.sg, model.hs, model.negative, model.window, model.seed, model.cbow_mean
model.syn1neg.shape
model.layer1_size
model.get_latest_training_loss()
model.predict_output_word(["king", "man"], topn=3)
model.predict_output_word(["nobody"])
model.build_vocab(sentences)
model.wv["king"]
model.train(sentences, total_examples=model.corpus_count, epochs=2)
model.train(corpus_iterable=sentences, total_words=312, epochs=1, start_alpha=0.02, end_alpha=0.01)
model.train(sentences[:9], total_examples=9, epochs=1)
model.train([["king", "man"]], total_examples=1, epochs=1)
model.build_vocab([["king", "prince"]] * 3, update=True)
model.train([["king", "prince"]] * 3, total_examples=3, epochs=model.epochs)
model.wv["prince"]
model.build_vocab_from_freq({"king": 5, "man": 3})
model.train(sentences, total_examples=39, epochs=1)
ft.wv["kinglike"]
ft.wv["zzz"]
"zzz" in ft.wv
"kinglike" in ft.wv
ft.wv.similarity("king", "kings")
ft.wv.most_similar("kingly", topn=2)
ft.wv.get_sentence_vector(["king", "kings"])
ft.wv.min_n, ft.wv.max_n, ft.wv.bucket
ft.word_ngrams
model.hashfxn, model.max_vocab_size, model.null_word, model.sorted_vocab, model.shrink_windows
phrases["king", "queen", "man"]
list(phrases[sentences])[0]
phrases.export_phrases()
phrases.find_phrases(sentences)
phrases.connector_words
phrases.freeze()[["king", "queen"]]
Phraser(phrases)[["king", "queen"]]
Phrases(phrases[sentences], min_count=1, threshold=1)[["king", "queen"]]""".splitlines()

REFUSED = {
    'Word2Vec("text.txt")': "corpus_file='text.txt'",
    "Word2Vec(sentences, hs=1)": "give hs=1, negative=0",
    "Word2Vec(sentences, negative=0)": "give negative=5",
    "Word2Vec(sentences, cbow_mean=0)": "leave it out",
    "Word2Vec(sentences, max_vocab_size=1000)": "max_final_vocab limits",
    "Word2Vec(sentences, trim_rule=lambda word, count, least: 0)": "build_vocab_from_freq",
    "Word2Vec(sentences, hashfxn=len)": "leave it out",
    "Word2Vec(sentences, size=100, **small)": "use vector_size",
    "Word2Vec(**small).train(sentences)": "call build_vocab",
    "Word2Vec(**small).build_vocab(sentences, update=True)": "leave update=True out",
    "Word2Vec(sentences, hs=1, negative=0, **small).predict_output_word(['king'])": "hs=0 and negative=5",
    "model.most_similar": "use its vectors: .wv.most_similar",
    'model["king"]': ".wv[word]",
    'setattr(model, "vector_size", 9)': "Word2Vec(vector_size=9, …)",
    'setattr(model, "hs", 1)': "make another",
    'setattr(model, "random", 1)': "set seed=",
    'setattr(model, "running_training_loss", 0)': "loss of each epoch",
    'setattr(model, "wv", wv)': "wv.vectors[:] = rows",
    'setattr(ft, "bucket", 9)': "FastText(bucket=9, …)",
    'setattr(wv, "vectors_lockf", np.ones(6))': "freeze=True",
    'setattr(wv, "index_to_key", ["king"])': "vectors_for_all",
    'wv.save_word2vec_format("x", total_vec=9)': "leave it out",
    "model.score": "w2vneg eval likelihood",
    "model.estimate_memory": "--dry-run",
    "wv.vocab": "key_to_index",
    "wv.index2word": "index_to_key",
    "wv.intersect_word2vec_format": "init=path",
    'wv["nobody"]': "no vector for the word 'nobody'",
    'wv.most_similar("king", indexer=object())': "all words are searched",
    'wv.most_similar("king", clip_start=2)': "vectors_for_all",
    'wv.save_word2vec_format("x", append=True)': "write all words at once",
    'KeyedVectors.load_word2vec_format(room + "/w.txt", encoding="latin1")': "convert it",
    'KeyedVectors.load(room + "/theirs.kv")': "save_word2vec_format",
    'Word2Vec.load(room + "/theirs.model")': "KeyedVectors.load_word2vec_format",
    'FastText.load(room + "/theirs.model")': "KeyedVectors.load_word2vec_format",
    'Phrases.load(room + "/theirs.phrases")': "Phrases(sentences)",
    'ft.wv.save("ft.kv")': "FastText.load(path).wv",
    "FastText(sentences, word_ngrams=2)": "leave it out",
    'load_facebook_model("model.bin")': "load_facebook_vectors",
    'Phrases(sentences, connector_words=["man"]).save("p")': "write the sentences",
    'Phrases(sentences, delimiter=" ")': "underscore",
    'Phrases(sentences, scoring="npmi")': "0.5 is usual",
}


@pytest.mark.parametrize("line", CONSTRUCTORS)
def test_what_is_made(names, line):
    made = eval(line, dict(names))
    assert type(made).__module__.startswith("w2vneg.gensim.")
    if isinstance(made, face.Word2Vec):
        assert made.vector_size == 8 and np.isfinite(made.wv.vectors).all()


def like(value):
    """Return what kind of thing an answer is, down to its parts."""
    if isinstance(value, np.ndarray):
        return "array", value.shape, value.dtype.kind
    if isinstance(value, bool | np.bool_):
        return "bool", bool(value)
    if isinstance(value, int | np.integer):
        return "int"
    if isinstance(value, float | np.floating):
        return "float"
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        return type(value).__name__, *map(like, value)
    return "dict" if isinstance(value, dict) else type(value).__name__


@contextmanager
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # gensim's own of what is deprecated
        yield


def run_all(lines, names):
    answers = {}
    for line in lines:
        try:
            answers[line] = eval(line, names)
        except Exception as error:
            answers[line] = error
    return answers


def test_answers_are_of_gensim_s_kind(room):
    """Line after line with both, on models of their own; a few lines fail in gensim after vectors were added."""
    answers = []
    for package, phrases in ((face, face.Phrases), (gensim.models, gensim.models.Phrases)):
        model = package.Word2Vec(SENTENCES, **SMALL)
        names = {"model": model, "wv": package.Word2Vec(SENTENCES, **SMALL).wv, "sentences": SENTENCES}
        names |= {"ft": package.FastText(SENTENCES, bucket=1000, **SMALL), "np": np, "room": str(room)}
        names |= {"Phrases": phrases, "phrases": phrases(SENTENCES, min_count=1, threshold=0.1)}
        names["Phraser"] = getattr(package, "Phraser", None) or gensim.models.phrases.Phraser
        with quiet() if package is gensim.models else nullcontext():
            answers.append(run_all(ALIKE, names))
    ours, theirs = answers
    assert not [(line, ours[line]) for line in ALIKE if isinstance(ours[line], Exception)]
    compared = [line for line in ALIKE if not isinstance(theirs[line], Exception)]
    assert len(compared) >= len(ALIKE) - 3
    different = [(line, ours[line], theirs[line]) for line in compared if like(ours[line]) != like(theirs[line])]
    assert not different, different


@pytest.mark.parametrize("line", REFUSED)
def test_what_is_refused_says_what_to_do(names, line):
    with pytest.raises((W2vnegError, AttributeError)) as caught:
        eval(line, dict(names))
    assert REFUSED[line] in str(caught.value)


@pytest.mark.parametrize("name", MODULE)
def test_names_of_gensim_s_that_are_not_there_say_what_to_do(name):
    with pytest.raises(ImportError, match=f"no {name}; ") as caught:
        exec(f"from w2vneg.gensim import {name}")
    assert MODULE[name] in str(caught.value)
    assert not hasattr(face, "Word3Vec")


def test_what_they_say_works(room, tmp_path):
    (tmp_path / "texts").mkdir()
    for name in ("one", "two"):
        (tmp_path / "texts" / name).write_text("".join(f"{name} {' '.join(line)}\n" for line in SENTENCES))
    words = set(face.Word2Vec(corpus_file=tmp_path / "texts", **SMALL).wv.index_to_key)
    assert words == {"one", "two", *WORDS}
    (tmp_path / "text8").write_text(" ".join(word for line in SENTENCES for word in line))
    ours, theirs = (
        face.LineSentence(tmp_path / "text8", 100),
        gensim.models.word2vec.Text8Corpus(tmp_path / "text8", 100),
    )
    assert [*ours] == [*theirs]


@pytest.mark.parametrize("length", [7, 10000])
def test_a_long_text_is_cut_as_gensim_cuts_it(tmp_path, length):
    """Wherever the pieces end in which it is read. gensim joins two words if a line ends there."""
    (tmp_path / "text8").write_text("a  bé c d " * 60000 + "e")
    ours, theirs = (make(tmp_path / "text8", length) for make in (face.Text8Corpus, gensim.models.word2vec.Text8Corpus))
    assert [*ours] == [*theirs] == [*ours]
    (tmp_path / "text8").write_text("a  bé\nc d " * 60000 + "e")
    assert [word for words in ours for word in words] == (tmp_path / "text8").read_text().split()


def everything(package, phrases, frozen):
    model, fasttext = (make(SENTENCES, **SMALL) for make in (package.Word2Vec, package.FastText))
    found = phrases(SENTENCES, min_count=1, threshold=0.1)
    return {
        "model": model,
        "wv": model.wv,
        "ft": fasttext,
        "ft.wv": fasttext.wv,
        "found": found,
        "frozen": frozen(found),
    }


def test_all_that_gensim_has_is_here_or_says_what_to_do():
    ours = everything(face, face.Phrases, face.FrozenPhrases)
    theirs = everything(gensim.models, gensim.models.Phrases, gensim.models.phrases.FrozenPhrases)
    silent = []
    for thing, known in theirs.items():
        for name in (name for name in dir(known) if not name.startswith("_")):
            try:
                getattr(ours[thing], name)
            except AttributeError as error:
                silent += [] if f"attribute {name!r}; " in str(error) else [(thing, name)]
    assert not silent


def test_vectors_of_n_grams(tmp_path):
    """The same as gensim's on the same vectors; a spelling of which no n-gram was trained has zeros."""
    model = face.FastText(SENTENCES, **SMALL, min_n=3, max_n=4)
    assert (model.min_n, model.max_n, model.bucket) == (3, 4, 2000000)
    model.save(tmp_path / "ft")
    assert face.FastText.load(tmp_path / "ft").wv.bucket == 2000000
    model.wv.save_word2vec_format(tmp_path / "w.txt")
    theirs = gensim.models.KeyedVectors.load_word2vec_format(tmp_path / "w.txt")
    words = ["king", "bread", 2]
    assert model.wv.get_sentence_vector(words) == pytest.approx(theirs.get_mean_vector(words), abs=1e-6)
    face.save_facebook_model(model, tmp_path / "ft.bin")
    theirs = gensim.models.fasttext.load_facebook_vectors(tmp_path / "ft.bin")
    assert theirs["kingly"] == pytest.approx(model.wv["kingly"], abs=1e-6)
    with pytest.warns(UserWarning, match="no n-gram of 'qxzjwv' was trained"):
        assert model.wv.most_similar("qxzjwv", topn=2) == [(word, 0.0) for word in model.wv.index_to_key[:2]]


def test_questions_of_unknown_words_score_nothing(names, tmp_path):
    (tmp_path / "unknown").write_text(": one\nhe she him her\n: two\nking queen man nobody\n")
    theirs = gensim.models.Word2Vec(SENTENCES, **SMALL).wv.evaluate_word_analogies(tmp_path / "unknown")
    with pytest.warns(UserWarning, match="no question has vectors"):
        assert names["wv"].evaluate_word_analogies(tmp_path / "unknown") == theirs


def arguments(function):
    named = inspect.signature(function).parameters.values()
    return [(item.name, item.default) for item in named if item.kind != item.VAR_KEYWORD]


WORD2VEC = ("__init__", "build_vocab", "train", "build_vocab_from_freq", "predict_output_word")
OTHERS = {"__repr__", "__contains__", "save", "words_closer_than", "word_vec"}  # gensim shows (*args) of its own
KEYED = sorted(
    name
    for name in vars(face.KeyedVectors).keys() & vars(gensim.models.KeyedVectors).keys() - OTHERS
    if inspect.isfunction(getattr(gensim.models.KeyedVectors, name))
)


@pytest.mark.parametrize(
    ("name", "method"),
    [
        *(("Word2Vec", method) for method in WORD2VEC),
        *(("KeyedVectors", method) for method in KEYED),
        *((name, "__init__") for name in ("FastText", "Phrases")),
    ],
)
def test_arguments_and_defaults_are_gensim_s(name, method):
    ours, theirs = (getattr(getattr(package, name), method) for package in (face, gensim.models))
    assert arguments(ours) == arguments(theirs)


def test_gensim_s_first_line_trains_and_says_how():
    from gensim.test.utils import common_texts

    with pytest.warns(UserWarning, match="a text of 29 words is too short for subsampling, which is off"):
        model = face.Word2Vec(sentences=common_texts, vector_size=100, window=5, min_count=1, workers=4)
    assert len(model.wv.most_similar("computer", topn=10)) == 10 and model.get_latest_training_loss() > 0
    assert model.sample == 1e-3


def test_callbacks_hear_of_every_epoch():
    said = Said()
    face.Word2Vec(SENTENCES, callbacks=[said], **SMALL | {"epochs": 3})
    assert said.said[0] == "train" and said.said[-1] == "end" and len(said.said) == 5
    assert 0 < said.said[1] < said.said[2] < said.said[3]


def test_training_goes_on_from_what_was_trained():
    model = face.Word2Vec(SENTENCES, **SMALL | {"sg": 1, "sample": 0})
    before = model.wv["king"].copy()
    model.train(SENTENCES, total_examples=model.corpus_count, epochs=1, start_alpha=1e-6, end_alpha=1e-6)
    assert 0 < np.abs(model.wv["king"] - before).max() < 1e-4
    model.build_vocab([["king", "prince"]] * 9, update=True)
    model.train([["king", "prince"]] * 9, total_examples=9, epochs=1)
    assert "prince" in model.wv and len(model.wv) == 7


@pytest.mark.filterwarnings("ignore:100 of 103 words occur once")
@pytest.mark.filterwarnings("ignore:subsampling left")
def test_words_are_counted_as_gensim_counts_them(tmp_path):
    """All of them, those that `min_count` drops too; trained are those that subsampling leaves."""
    corpus = [["a", "b", "c", f"rare{k}"] for k in range(2000)]
    small = {"vector_size": 8, "min_count": 5, "epochs": 1, "workers": 1}
    ours, theirs = face.Word2Vec(corpus, **small), gensim.models.Word2Vec(corpus, **small)
    assert ours.corpus_total_words == theirs.corpus_total_words == 8000
    (trained, words), (theirs_trained, theirs_words) = (
        model.train(corpus, total_examples=2000, epochs=2) for model in (ours, theirs)
    )
    assert words == theirs_words == 16000 and trained == pytest.approx(theirs_trained, rel=0.2)
    with pytest.raises(ConfigError, match="epochs must be at least 1"):
        ours.train(corpus, epochs=0)
    (tmp_path / "rows.csv").write_text("id,text\n" + "".join(f"{k},the king is good\n" for k in range(99)))
    assert len(face.Word2Vec(corpus_file=tmp_path / "rows.csv", min_count=1).wv) == 103  # as gensim reads it


@pytest.mark.parametrize("corpus", [[["nobody", "else"]], [["king"], ["nobody", "queen"]], [[]], []])
def test_a_corpus_without_pairs_trains_nothing_and_the_code_goes_on(corpus):
    model = face.Word2Vec(SENTENCES, **SMALL)
    before, said = model.wv.vectors.copy(), Said()
    with pytest.warns(UserWarning, match="nothing was trained: "):
        answer = model.train(corpus, total_examples=1, epochs=2, callbacks=[said])
    theirs = gensim.models.Word2Vec(SENTENCES, **SMALL).train(corpus, total_examples=1, epochs=2)
    assert answer == (0, theirs[1])
    assert said.said == ["train", "end"] and np.array_equal(model.wv.vectors, before)
    with pytest.raises(W2vnegError):  # there would be no model at all
        face.Word2Vec([["king"], ["queen"]], **SMALL)


def test_a_model_and_vectors_come_back(tmp_path):
    model = face.FastText(SENTENCES, bucket=1000, **SMALL)
    model.save(str(tmp_path / "ft.model"))
    assert np.array_equal(face.FastText.load(str(tmp_path / "ft.model")).wv["kings"], model.wv["kings"])
    model = face.Word2Vec(SENTENCES, **SMALL)
    model.wv.save(str(tmp_path / "w.kv"))
    model.save(str(tmp_path / "w.model"))
    for wv in (face.Word2Vec.load(str(tmp_path / "w.model")).wv, face.KeyedVectors.load(str(tmp_path / "w.kv"))):
        assert np.array_equal(wv.vectors, model.wv.vectors)
        assert wv.get_vecattr("king", "count") == model.wv.get_vecattr("king", "count")
    loaded = face.Word2Vec.load(str(tmp_path / "w.model"))
    assert all(
        getattr(loaded, name) == getattr(model, name)
        for name in ("vector_size", "sg", "hs", "negative", "alpha", "corpus_count", "corpus_total_words")
    )
    assert loaded.corpus_count == len(SENTENCES)
    loaded.train(SENTENCES, total_examples=39, epochs=1)
    model.wv.save_word2vec_format(tmp_path / "w.bin", binary=True)
    theirs = gensim.models.KeyedVectors.load_word2vec_format(tmp_path / "w.bin", binary=True)
    assert np.array_equal(theirs["king"], model.wv["king"])
    phrases = face.Phrases(SENTENCES, min_count=1, threshold=0.1)
    phrases.save(tmp_path / "phrases")
    assert face.Phrases.load(tmp_path / "phrases")[SENTENCES[0]] == phrases[SENTENCES[0]]


@pytest.mark.parametrize("scoring", ["default", "npmi"])
@pytest.mark.parametrize("connectors", [(), ["man"], gensim.models.phrases.ENGLISH_CONNECTOR_WORDS])
def test_phrases_are_gensim_s(scoring, connectors):
    sentences = [
        *SENTENCES,
        *[line.split() for line in ("the bank of the west and a bank of", "of bread and cheese") * 3],
    ]
    options = {"min_count": 2, "threshold": 0.1, "scoring": scoring, "connector_words": frozenset(connectors)}
    ours, theirs = face.Phrases(sentences, **options), gensim.models.Phrases(sentences, **options)
    assert ours.export_phrases() == pytest.approx(theirs.export_phrases())
    assert ("bank_of_the_west" in ours.phrasegrams) == ("of" in connectors)
    assert [*ours[sentences]] == [*theirs[sentences]]
    assert face.ENGLISH_CONNECTOR_WORDS == gensim.models.phrases.ENGLISH_CONNECTOR_WORDS


def test_lines_of_a_file(room):
    ours, theirs = (
        make(str(room / "text.txt"), 5, 7) for make in (face.LineSentence, gensim.models.word2vec.LineSentence)
    )
    assert [*ours] == [*theirs] == [*ours]


def test_gensim_is_not_imported():
    code = "import sys, w2vneg.gensim; assert 'gensim' not in sys.modules; import gensim.models as m; m.KeyedVectors"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_file_is_split_at_blanks_alone(tmp_path):
    """As gensim's LineSentence does it, whatever the text looks like."""
    (tmp_path / "raw").write_text("the king, the queen.\n" * 20)
    for model in (
        face.Word2Vec(corpus_file=str(tmp_path / "raw"), min_count=1, vector_size=4, sample=0),
        face.Word2Vec(face.LineSentence(str(tmp_path / "raw")), min_count=1, vector_size=4, sample=0),
    ):
        assert set(model.wv.index_to_key) == {"the", "king,", "queen."}


def test_callbacks_see_the_model_as_it_is_trained():
    """As gensim's do, to keep or look at the best epoch."""
    seen = []

    class Look:
        def on_epoch_end(self, model):
            seen.append(model.wv["king"].copy())

    model = face.Word2Vec(SENTENCES, callbacks=[Look()], **SMALL | {"epochs": 3})
    assert len({vector.tobytes() for vector in seen}) == 3 and np.array_equal(seen[-1], model.wv["king"])


SLOWLY = {"total_examples": 1, "epochs": 1, "start_alpha": 1e-7, "end_alpha": 1e-7}
ROW = np.linspace(-1, 1, 8, dtype=np.float32)


def test_options_that_are_set_are_those_of_the_run():
    given = {"window": 1, "negative": 1, "ns_exponent": 0.5, "sample": 0, "seed": 7, "max_final_vocab": 5}
    given |= {"min_count": 20, "shrink_windows": False, "workers": 1, "epochs": 2, "alpha": 0.05}
    at_once, later = face.Word2Vec(SENTENCES, **SMALL | given), face.Word2Vec(**SMALL)
    for name, value in given.items():
        setattr(later, name, value)
    later.build_vocab(SENTENCES)
    later.train(SENTENCES)
    assert later.wv.index_to_key == at_once.wv.index_to_key and np.array_equal(later.wv.vectors, at_once.wv.vectors)
    later.window, later.min_count = 3, 1
    later.train(SENTENCES)
    assert later.ours.model.config.source.window == 3
    later.negative = 0
    with pytest.raises(ConfigError, match="give negative=5"):
        later.train(SENTENCES)


def test_training_begins_with_rows_that_are_set_in_wv(tmp_path):
    model = face.Word2Vec(**SMALL)
    held = model.wv
    model.build_vocab(SENTENCES)
    model.wv.vectors[0], model.wv["queen"] = ROW, 2 * ROW
    first = held.index_to_key[0]
    model.train(SENTENCES, **SLOWLY)
    assert model.wv is held and first != "queen"
    assert held[first] == pytest.approx(ROW, abs=1e-4) and held["queen"] == pytest.approx(2 * ROW, abs=1e-4)
    held["queen"] = 3 * ROW
    model.save(tmp_path / "model")
    loaded = face.Word2Vec.load(tmp_path / "model")
    assert loaded.wv["queen"] == pytest.approx(3 * ROW)
    loaded.wv.unit_normalize_all()
    loaded.build_vocab([["king", "prince"]] * 3, update=True)
    loaded.train(SENTENCES, **SLOWLY)
    assert loaded.wv["queen"] == pytest.approx(ROW / np.linalg.norm(ROW), abs=1e-4) and "prince" in loaded.wv
    before = loaded.wv["king"].copy()
    loaded.train(SENTENCES, total_examples=1, epochs=1, start_alpha=0.05)
    assert not np.array_equal(before, loaded.wv["king"])


def test_training_is_the_same_whether_its_beginning_is_looked_at_or_saved(tmp_path):
    vectors, kept = [], []

    class Keep:
        def on_epoch_end(self, model):
            model.save(tmp_path / "model")
            kept.append(face.Word2Vec.load(tmp_path / "model").wv["king"])

    for look, callbacks in ((False, []), (True, [Keep()])):
        model = face.Word2Vec(**SMALL | {"epochs": 2})
        model.build_vocab(SENTENCES)
        if look:
            model.wv.most_similar("king")
        model.train(SENTENCES, callbacks=callbacks)
        vectors.append(model.wv.vectors)
    assert np.array_equal(*vectors)
    assert not np.array_equal(*kept) and np.array_equal(kept[1], model.wv["king"])


def test_what_a_model_cannot_take_is_refused(tmp_path):
    model, fasttext = face.Word2Vec(SENTENCES, **SMALL), face.FastText(SENTENCES, bucket=1000, **SMALL)
    with pytest.raises(ValueError, match="read-only"):
        fasttext.wv.vectors[0] = ROW
    fasttext.wv["king"] = ROW
    model.wv.add_vector("prince", ROW)
    for one, remedy in ((fasttext, "save_word2vec_format"), (model, "update=True")):
        for call in (lambda one=one: one.train(SENTENCES), lambda one=one: one.save(tmp_path / "model")):
            with pytest.raises(ConfigError, match=remedy):
                call()
    tagged = face.Word2Vec(SENTENCES, **SMALL)
    tagged.wv.set_vecattr("king", "tag", "noun")
    with pytest.raises(ConfigError, match="keep tag elsewhere"):
        tagged.save(tmp_path / "model")


def test_a_stream_is_counted_as_a_list_is(tmp_path):
    """For subsampling it is itself that is long or short, and not what the vocabulary was counted in."""

    class Stream:
        def __iter__(self):
            return iter(SENTENCES * 5)

    (tmp_path / "text").write_text("\n".join(" ".join(line) for line in SENTENCES * 5))
    answers = []
    for corpus in (SENTENCES * 5, Stream(), face.LineSentence(tmp_path / "text")):
        model = face.Word2Vec(**SMALL)
        model.build_vocab(SENTENCES)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", "subsampling left")
            answers.append(model.train(corpus, total_examples=1, epochs=1))
    assert answers[0] == answers[1] == answers[2] and answers[0][1] == 39 * 8 * 5
    assert answers[0][0] < 39 * 8 * 5 / 2
    (tmp_path / "unknown").write_text("nobody else\nnor you")
    with pytest.warns(UserWarning, match="nothing was trained"):
        assert model.train(corpus_file=str(tmp_path / "unknown"), total_words=1, epochs=2) == (0, 8)


def test_sentences_without_known_words_are_counted_and_come_back(tmp_path):
    corpus = [*SENTENCES, [], ["rare"], ["words", "alone"]]
    (tmp_path / "text").write_text("".join(" ".join(line) + "\n" for line in corpus))
    for given in ({"sentences": corpus}, {"corpus_file": str(tmp_path / "text")}):
        ours, theirs = (make(**given, **SMALL | {"min_count": 5}) for make in (face.Word2Vec, gensim.models.Word2Vec))
        ours.save(tmp_path / "model")
        for model in (ours, face.Word2Vec.load(tmp_path / "model")):
            assert model.corpus_count == theirs.corpus_count and model.corpus_total_words == theirs.corpus_total_words
            assert model.sample == 1e-3


@pytest.mark.parametrize("trained", [False, True])
def test_words_join_when_they_are_counted_whatever_is_trained_on(trained):
    more = [["king", "prince"]] * 9
    for corpus in (SENTENCES + more, SENTENCES[:9], more):
        ours, theirs = face.Word2Vec(**SMALL), gensim.models.Word2Vec(**SMALL)
        for model in (ours, theirs):
            model.build_vocab(SENTENCES)
            if trained:
                model.train(SENTENCES, total_examples=39, epochs=1)
            model.build_vocab(iter(more), update=True)
            model.train([*corpus, ["bread", "stranger"]], total_examples=1, epochs=1)
            assert model.corpus_count == 9
        assert set(ours.wv.index_to_key) == set(theirs.wv.index_to_key) == {*WORDS, "prince"}
        assert all(
            ours.wv.get_vecattr(word, "count") == theirs.wv.get_vecattr(word, "count") for word in ours.wv.index_to_key
        )


@pytest.mark.parametrize("suffix", ["gz", "bz2", "xz"])
@pytest.mark.parametrize("binary", [False, True])
def test_files_are_packed_as_their_names_end(names, tmp_path, suffix, binary):
    path, counts = str(tmp_path / f"w.{suffix}"), str(tmp_path / f"counts.{suffix}")
    names["model"].wv.save_word2vec_format(path, fvocab=counts, binary=binary)
    for package in (face, gensim.models):
        found = package.KeyedVectors.load_word2vec_format(path, fvocab=counts, binary=binary)
        assert found["king"] == pytest.approx(names["model"].wv["king"])
        assert found.get_vecattr("king", "count") == names["model"].wv.get_vecattr("king", "count")
    wv = face.KeyedVectors(2)
    wv.add_vector("new york", [1, 2])
    with pytest.raises(W2vnegError, match=f"w.{suffix}: word 0"):
        wv.save_word2vec_format(path)
    assert len(face.KeyedVectors.load_word2vec_format(path)) == len(WORDS)


@pytest.mark.filterwarnings("ignore::w2vneg.ground.errors.FileNote")
def test_counts_and_letters_of_files(tmp_path):
    (tmp_path / "w.txt").write_bytes(b"4 2\nnew york 1 2\nb\xe9 3 4\nb 5 6\nx 7 8\n")
    (tmp_path / "counts").write_text("new york 3\nx\t4\n")
    read = face.KeyedVectors.load_word2vec_format
    found = read(tmp_path / "w.txt", fvocab=tmp_path / "counts", unicode_errors="ignore")
    assert found.index_to_key == ["new york", "b", "x"] and found["b"].tolist() == [3, 4]
    assert [found.get_vecattr(word, "count") for word in found.index_to_key] == [3, 0, 4]
    for line in ("x three", "x", "x -1"):
        (tmp_path / "counts").write_text(f"new york 3\n{line}\n")
        with pytest.raises(W2vnegError, match="counts:2: expected a word and its count"):
            read(tmp_path / "w.txt", fvocab=tmp_path / "counts")


def test_a_file_of_phrases_does_not_say_how_they_were_found(names, tmp_path):
    names["phrases"].save(tmp_path / "phrases")
    loaded = face.Phrases.load(tmp_path / "phrases")
    assert str(loaded) == f"Phrases<{len(loaded)} phrases>"
    for name in ("min_count", "threshold", "scoring"):
        with pytest.raises(AttributeError, match=f"{name!r}; a file keeps only phrases and their scores"):
            getattr(loaded, name)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_rows_set_in_a_copy_are_its_own(tmp_path, copied):
    model = copied(face.Word2Vec([["a", "b", "c"]] * 9, vector_size=4, min_count=1, workers=1, epochs=1))
    model.wv.vectors[:] = 7
    model.save(str(tmp_path / "model"))
    assert (face.Word2Vec.load(str(tmp_path / "model")).wv.vectors == 7).all()


def test_vectors_that_do_not_fit_their_words_are_refused():
    some = face.KeyedVectors(vector_size=3)
    some.add_vectors([], [])
    for shape in ((3, 3), (2, 2)):
        with pytest.raises(ConfigError, match="2 words need as many vectors of 3 numbers"):
            some.add_vectors(["one", "two"], np.ones(shape))
    assert not len(some)


def test_vectors_of_unknown_spellings_are_added_to_those_of_fasttext(tmp_path):
    wv = face.FastText(SENTENCES, bucket=1000, **SMALL).wv
    more = wv.with_words(["kinglike"])
    assert isinstance(more, face.KeyedVectors) and more.index_to_key == [*wv.index_to_key, "kinglike"]
    assert (more["kinglike"] == wv["kinglike"]).all() and (more["kings"] == wv["kings"]).all()
    assert wv.vectors_for_all(["kinglike", "king"]).index_to_key == ["kinglike", "king"]
    (tmp_path / "pairs.tsv").write_text("king\tkinglike\t9\nking\tman\t5\nman\tking\t4\n")
    assert wv.evaluate_similarity(tmp_path / "pairs.tsv").scored == 3


def test_words_of_given_counts_are_limited():
    model = face.Word2Vec(max_final_vocab=2, **SMALL)
    model.build_vocab_from_freq({"man": 3, "king": 5, "queen": 4})
    model.train(SENTENCES, total_examples=39, epochs=1)
    assert model.wv.index_to_key == ["king", "queen"]
