"""Rows that do not move: which they are, in which runs, and that they are kept from run to run."""

import numpy as np
import pytest
from planted import two_topics

from w2vneg import Input, Vectors, Word2Vec
from w2vneg.ground.errors import ConfigError, FileNote, InputError
from w2vneg.run.model import Model
from w2vneg.run.prior import Prior

OPTIONS = {"dim": 6, "epochs": 1, "min_count": 1, "workers": 1, "subsample": 0, "loss": "ns", "readout": "in"}
FIRST = [["a", "b", "c"], ["b", "c", "d"]] * 20
SECOND = [["new", "c", "d", "c"], ["e", "d", "c"], ["new", "e"]] * 20


@pytest.fixture(scope="module")
def first():
    word2vec = Word2Vec(**OPTIONS)
    word2vec.fit(FIRST)
    return word2vec


def still(before, after, matrix, words):
    """Tell of each word whether its row is the same to the bit."""
    rows = [(before.matrices()[matrix][before.vocab.id(w)], after.matrices()[matrix][after.vocab.id(w)]) for w in words]
    return [np.array_equal(*pair) for pair in rows]


def moved(model, matrix, word):
    start = Model.fresh(model.vocab, model.config).matrices()[matrix]
    row = model.vocab.id(word)
    return not np.array_equal(start[row], model.matrices()[matrix][row])


@pytest.mark.parametrize(
    "options", [{}, {"workers": 3}, {"workers": 3, "private_rows": 2}, {"workers": 2, "private_rows": 0}]
)
def test_what_begins_with_a_model_stays_in_both_matrices(first, options):
    word2vec = Word2Vec(**OPTIONS | {"epochs": 3} | options)
    word2vec.fit(SECOND, init=first.model, freeze=True)
    for matrix in ("vectors_in", "vectors_out"):
        assert still(first.model, word2vec.model, matrix, "cd") == [True, True]
        assert all(moved(word2vec.model, matrix, word) for word in ("new", "e"))


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["ns", "relaxed"])
def test_of_vectors_the_input_matrix_stays_alone(first, loss):
    word2vec = Word2Vec(**OPTIONS | {"loss": loss})
    vectors = word2vec.fit(SECOND, init=first.vectors, freeze=True)
    assert all(np.array_equal(vectors[word], first.vectors[word]) for word in "cd")
    assert all(moved(word2vec.model, "vectors_out", word) for word in ("c", "d", "new", "e"))
    assert list(word2vec.model.frozen) == ["vectors_in"]


def test_frozen_vectors_are_written_as_they_are(run_cli, tmp_path, monkeypatch, first):
    """Of vectors the read-out is `in` unless one is given; a model folder says so to whoever goes on."""
    monkeypatch.chdir(tmp_path)
    first.vectors.save("v.txt")
    (tmp_path / "text").write_text("\n".join(" ".join(line) for line in SECOND))
    flags = [f"--{n.replace('_', '-')}={value}" for n, value in OPTIONS.items() if n not in ("readout", "loss")]
    flags += ["--corpus=text", "--init=v.txt", "--freeze", "--force", "--save-model=m", "--output=n.txt"]
    said = "2 of 4 words start from their vectors in v.txt and keep them"
    for more, as_they_are in (["--loss=ns"], True), (["--loss=ns", "--readout=both"], False):
        run = run_cli("train", *flags, *more)
        assert run.code == 0 and said + "; --readout in returns them unchanged." * as_they_are in run.err, run.err
        assert (said + "." in run.err) != as_they_are
        assert run_cli("export", "m", "o.txt", "--force").code == 0
        written, exported = Vectors.load("n.txt"), Vectors.load("o.txt")
        assert np.array_equal(written.matrix, exported.matrix)
        assert [np.array_equal(written[word], first.vectors[word]) for word in "cd"] == [as_they_are] * 2
        if as_they_are:
            assert run_cli("train", "--resume=m", "--epochs=2").code == 0
            assert all(np.array_equal(Vectors.load("n.txt")[word], first.vectors[word]) for word in "cd")


def test_the_read_out_of_frozen_vectors_is_of_that_fit_alone(first):
    word2vec = Word2Vec(**OPTIONS | {"readout": None})
    vectors = word2vec.fit(SECOND, init=first.vectors, freeze=True)
    assert all(np.array_equal(vectors[word], first.vectors[word]) for word in "cd")
    for begin in ({"init": first.model, "freeze": True}, {"init": first.vectors}, {}):
        word2vec.fit(SECOND, **begin)
        assert word2vec.model.config.readout == "both"


@pytest.mark.slow
@pytest.mark.parametrize("inputs", ["window", "subwords", "window+subwords"])
def test_other_inputs_freeze_too(inputs):
    options = OPTIONS | {"inputs": inputs} | ({"buckets": 900} if "sub" in inputs else {})
    word2vec, corpus = Word2Vec(**options), two_topics(50)
    word2vec.fit(corpus)
    before, renamed = word2vec.model, {word: word + "x" for word in corpus[0]}
    newer = [[renamed.get(word, word) for word in line] for line in corpus]
    word2vec.fit(newer, update=True, freeze=True)
    known, new = before.vocab.words, sorted(set(renamed.values()))
    assert all(still(before, word2vec.model, "vectors_in", known)) and all(
        moved(word2vec.model, "vectors_in", w) for w in new
    )
    assert all(still(before, word2vec.model, "vectors_out", known))


def test_a_model_folder_keeps_what_is_frozen(run_cli, tmp_path, monkeypatch, first):
    """2 + 3 epochs of a frozen run are 5, to the bit."""
    monkeypatch.chdir(tmp_path)
    first.save("first")
    (tmp_path / "text").write_text("\n".join(" ".join(line) for line in SECOND))
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in OPTIONS.items() if name != "epochs"]
    flags += ["--alpha=0.03", "--min-alpha=0.03", "--init=first", "--freeze"]
    for folder, epochs in (("whole", 5), ("parts", 2)):
        run = run_cli("train", "--corpus=text", *flags, f"--epochs={epochs}", f"--save-model={folder}")
        assert run.code == 0, run.err
        assert "2 of 4 words start from their vectors in first and keep them." in run.err
    assert run_cli("train", "--resume", "parts", "--epochs", 5, "--quiet").code == 0
    whole, parts = Model.load("whole"), Model.load("parts")
    for name, matrix in whole.matrices().items():
        assert np.array_equal(matrix, parts.matrices()[name])
        assert still(first.model, parts, name, "cd") == [True, True]
        assert np.array_equal(parts.frozen[name], [word in ("c", "d") for word in parts.vocab.words])


def test_damaged_masks_are_refused(first, tmp_path):
    model = Word2Vec(**OPTIONS).trainer(Word2Vec(**OPTIONS).encode(SECOND), prior=Prior.init(first.model, True)).model
    model.save(tmp_path / "m")
    path = tmp_path / "m" / "frozen_vectors_in.npy"
    whole = path.read_bytes()
    for damaged, said in (
        (whole[:-1], "cut short"),
        (whole[:-1] + b"\x07", "values other than true and false"),
        (whole.replace(b"|b1", b"|i1"), "expected an array of bool"),
    ):
        path.write_bytes(damaged)
        with pytest.raises(InputError, match=f"frozen_vectors_in.npy: .*{said}"):
            Model.load(tmp_path / "m")
    np.save(path, np.ones(7, bool))
    with pytest.raises(InputError, match="expected 4 numbers, found 7"):
        Model.load(tmp_path / "m")


@pytest.mark.parametrize(
    ("corpus", "options", "begin", "said"),
    [
        (SECOND, {}, {}, "give init or update=True with it"),
        (FIRST, {}, {"init": True}, "nothing would be trained"),
        (SECOND, {"loss": "softmax"}, {"init": True}, "moves every row at every step"),
    ],
)
def test_what_cannot_be_frozen_is_refused(first, corpus, options, begin, said):
    begin = {"init": first.model} if begin else {}
    with pytest.raises(ConfigError, match=said):
        Word2Vec(**OPTIONS | options).fit(corpus, freeze=True, **begin)


def test_the_command_line_says_what_freezing_is_for(run_cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "give --init or --update with it" in run_cli("train", "--freeze").err
    result = run_cli("train", "--resume", "m", "--freeze")
    assert result.code == 2 and "keeps what it has frozen" in result.err


def test_a_second_topic_moves_its_words_and_keeps_the_frozen_ones():
    """New words find their places among old ones that do not move."""
    corpus = two_topics(300)
    old = sorted({word for line in corpus for word in line})
    topic = {word: word[0] for word in old}
    word2vec = Word2Vec(**OPTIONS | {"epochs": 8, "alpha": 0.05})
    word2vec.fit(corpus)
    before = word2vec.model
    rng = np.random.default_rng(3)
    newer = [
        [f"{topic[word]}new{rng.integers(4)}" if rng.random() < 0.4 else word for word in line] for line in corpus[:150]
    ]
    vectors = word2vec.fit(newer, update=True, freeze=True)
    assert all(still(before, word2vec.model, "vectors_in", old)) and all(
        still(before, word2vec.model, "vectors_out", old)
    )
    new = [word for word in vectors.words if word not in topic]
    nearest = {word: [other for other, _ in vectors.most_similar(word, k=5)] for word in new}
    assert len(new) == 8
    right = sum(other[0] == word[0] for word, others in nearest.items() for other in others)
    assert right >= 36, nearest  # of 40


@pytest.mark.slow
def test_inner_nodes_of_a_tree_are_nobodys_rows(first):
    options = OPTIONS | {"loss": "hierarchical"}
    word2vec = Word2Vec(**options)
    with pytest.warns(FileNote, match="the inner nodes start fresh"):
        word2vec.fit(SECOND, init=first.model, freeze=True)
    assert still(first.model, word2vec.model, "vectors_in", "cd") == [True, True]
    assert list(word2vec.model.frozen) == ["vectors_in"]
    again = Word2Vec(**options)
    with pytest.warns(FileNote, match="the inner nodes start fresh"):
        trainer = again.trainer(again.encode(FIRST), prior=Prior.init(word2vec.model))
    assert trainer.started == 2 and not trainer.model.vectors_out.any()


@pytest.mark.slow
def test_inner_nodes_of_the_same_tree_stay_where_other_users_have_the_same_items():
    items = [["a", "b", "c"], ["b", "c", "d"], ["a", "d"]] * 4
    pairs = [[(f"{name}{k}", item) for k, some in enumerate(items) for item in some] for name in ("old", "new")]
    pairs[1][0] = ("old0", "a")  # one is known
    options = {"dim": 6, "epochs": 1, "workers": 1, "loss": "hierarchical"}
    word2vec, other = Word2Vec(**options), Word2Vec(**options)
    before, after = (Input("pairs", [*map(list, part)], rectangular=True) for part in pairs)
    word2vec.fit(before)
    other.fit(after, init=word2vec.model, freeze=True)
    assert other.model.frozen["vectors_out"].all() and not other.model.frozen["vectors_in"].all()
    assert np.array_equal(other.model.vectors_out, word2vec.model.vectors_out)
