"""What answers under the names of gensim's KeyedVectors, against gensim's own answers on the same vectors."""

import logging

import numpy as np
import pytest

from w2vneg.data import catalog
from w2vneg.ground.errors import ConfigError, InputError, UnknownNameError
from w2vneg.vectors import Vectors
from w2vneg.vectors.evaluation.similarity import evaluate_word_pairs, read_pairs

N, DIM = 300, 12


@pytest.fixture(scope="module")
def vectors():
    rng = np.random.default_rng(5)
    words = [f"w{row}" for row in range(N - 4)] + ["Paris", "PARIS", "berlin", "Berlin"]
    return Vectors(words, rng.normal(size=(N, DIM)).astype(np.float32) * 2, np.arange(N, 0, -1))


@pytest.fixture(scope="module")
def keyed(vectors, gensim):
    return vectors.to_gensim()


def same(ours, theirs):
    """Compare answers: words exactly, numbers to float32."""
    if isinstance(ours, str) or (isinstance(ours, list) and all(isinstance(one, str) for one in ours)):
        assert ours == theirs
    elif isinstance(ours, list):
        for mine, other in zip(ours, theirs, strict=True):
            for one, two in zip(mine, other, strict=True):
                assert one == two if isinstance(one, str) else one == pytest.approx(two, abs=2e-6)
    else:
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=2e-6)


RAW = np.linspace(-3, 4, DIM).astype(np.float32)
CALLS = [  # name, arguments, options
    ("most_similar", (["w3", "w5"], ["w8"]), {"topn": 7}),
    ("most_similar", ("w3", "w8"), {}),
    ("most_similar", (), {"negative": ["w8"]}),
    ("most_similar", ([("w3", 2.0), "w5"], [("w8", -0.5), ("w9", 0.25)]), {"topn": 4}),
    ("most_similar", ([3, ("w5", 0.5), RAW], None), {"topn": 6}),
    ("most_similar", ([(RAW, 0.1), "w5"],), {"topn": 6}),
    ("most_similar", (["w3"],), {"topn": None}),
    ("most_similar", (["w3", "w5"],), {"topn": None, "restrict_vocab": 50}),
    ("most_similar", (["w3"],), {"restrict_vocab": 50}),
    ("most_similar", (RAW,), {"topn": 3}),
    ("similar_by_word", ("w7",), {"topn": 5}),
    ("similar_by_word", ("w7", 5, 40), {}),
    ("similar_by_key", ("w7",), {"topn": None}),
    ("similar_by_vector", (RAW,), {"topn": 5}),
    ("most_similar_cosmul", (["w3", "w5"], ["w8"]), {"topn": 9}),
    ("most_similar_cosmul", ("w3", "w8"), {}),
    ("most_similar_cosmul", (["w3", "w5"], ["w8", "w9"]), {"topn": None}),
    ("most_similar_to_given", ("w3", ["w8", "w4", "w6"]), {}),
    ("doesnt_match", (["w1", "w2", "w3", "w4"],), {}),
    ("rank_by_centrality", (["w1", "w2", "w3", "w4", "nowhere"],), {}),
    ("rank_by_centrality", (["w1", "w2", "w3", "w4"],), {"use_norm": False}),
    ("n_similarity", (["w1", "w2", "nowhere"], ["w3", "w4"]), {}),
    ("similarity", ("w1", "w2"), {}),
    ("distance", ("w1", "w2"), {}),
    ("distances", ("w1",), {}),
    ("distances", (RAW, ["w4", "w2"]), {}),
    ("closer_than", ("w1", "w2"), {}),
    ("rank", ("w1", "w2"), {}),
    ("rank", ("w1", "w1"), {}),
    ("relative_cosine_similarity", ("w1", "w2"), {"topn": 5}),
    ("get_mean_vector", (["w1", 2, RAW, "nowhere"],), {}),
    ("get_mean_vector", (["w1", "w2"], [0.25, -2.0]), {"pre_normalize": False}),
    ("get_mean_vector", (["w1", "w2"],), {"weights": np.array([1.0, 3.0]), "post_normalize": True}),
    ("get_mean_vector", (["nowhere"],), {}),
    ("get_vector", ("w9",), {}),
    ("get_vector", ("w9",), {"norm": True}),
    ("get_normed_vectors", (), {}),
    ("get_index", ("w9",), {}),
    ("get_index", (9,), {}),
    ("get_index", ("nowhere", -7), {}),
    ("has_index_for", ("w9",), {}),
    ("has_index_for", ("nowhere",), {}),
    ("get_vecattr", ("w9", "count"), {}),
    ("__getitem__", ("w9",), {}),
    ("__getitem__", (9,), {}),
    ("__getitem__", (["w9", 4],), {}),
    ("__contains__", ("w9",), {}),
    ("__contains__", ("nowhere",), {}),
    ("__len__", (), {}),
]


@pytest.mark.filterwarnings("ignore:Call to deprecated `init_sims`:DeprecationWarning")  # of gensim by itself
@pytest.mark.parametrize(
    ("name", "arguments", "options"), CALLS, ids=lambda value: value if isinstance(value, str) else ""
)
def test_answers_are_those_of_gensim(vectors, keyed, name, arguments, options):
    same(getattr(vectors, name)(*arguments, **options), getattr(keyed, name)(*arguments, **options))


def test_properties_are_those_of_gensim(vectors, keyed):
    assert list(vectors.index_to_key) == keyed.index_to_key == list(vectors)
    assert dict(vectors.key_to_index) == keyed.key_to_index
    assert vectors.key_to_index["w9"] == 9 and not {"nowhere", 0, N - 1} & vectors.key_to_index.keys()
    assert 0 not in vectors.key_to_index and vectors.key_to_index.get(0) is None
    assert len(vectors.key_to_index) == N and vectors.key_to_index.get("nowhere") is None
    assert vectors.vector_size == keyed.vector_size
    assert vectors.vectors is vectors.matrix
    with pytest.raises(KeyError, match="nowhere"):
        vectors.key_to_index["nowhere"]


def test_nothing_to_choose_from_is_refused():
    one = Vectors(["a"], [[1.0, 0.0]])
    with pytest.raises(ConfigError, match="give at least one"):
        one.most_similar_to_given("a", [])
    with pytest.raises(ConfigError, match="its nearest words sum to 0"):
        one.relative_cosine_similarity("a", "a")


def test_topn_is_k(vectors):
    assert vectors.most_similar("w3", k=4) == vectors.most_similar("w3", topn=4) == vectors.most_similar("w3", (), 4)
    np.testing.assert_array_equal(vectors.most_similar("w3", k=None), vectors.most_similar("w3", topn=None))


def test_3cosmul_looks_at_the_first_words_only_if_asked_to(vectors):
    whole = dict(vectors.most_similar_cosmul(["w3", "w5"], ["w8"], topn=N))
    some = vectors.most_similar_cosmul(["w3", "w5"], ["w8"], topn=9, restrict_vocab=40)
    assert len(some) == 9 and all(vectors.id(word) < 40 and whole[word] == score for word, score in some)


def test_vectors_for_all(vectors, keyed):
    names = ["w5", "nowhere", "w3", "w5"]
    found, theirs = vectors.vectors_for_all(names), keyed.vectors_for_all(["w5", "nowhere", "w3"])
    assert list(found.words) == theirs.index_to_key == ["w5", "w3"]
    np.testing.assert_array_equal(found.matrix, theirs.vectors)
    assert found.counts.tolist() == [N - 5, N - 3]


def test_unknown_words_are_left_out_with_a_warning(vectors, caplog):
    with caplog.at_level(logging.WARNING, "w2vneg"):
        assert vectors.doesnt_match(["w1", "w2", "nowhere"]) in ("w1", "w2")
    assert "nowhere" in caplog.text


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda v: v[N], UnknownNameError, "no row 300 among 300; rows run from 0 to 299"),
        (lambda v: v[-1], UnknownNameError, "no row -1"),
        (lambda v: v[True], UnknownNameError, "the word True"),
        (lambda v: v.get_vecattr("w1", "sample_int"), UnknownNameError, "only 'count'"),
        (lambda v: Vectors(["a"], [[1.0]]).get_vecattr("a", "count"), UnknownNameError, "counts are unknown"),
        (lambda v: v.get_mean_vector([]), ConfigError, "at least one"),
        (lambda v: v.get_mean_vector(["w1"], [1.0, 2.0]), ConfigError, "weights of shape"),
        (lambda v: v.get_mean_vector(["nowhere"], ignore_missing=False), UnknownNameError, "'nowhere'"),
        (lambda v: v.doesnt_match(["nowhere"]), ConfigError, "none of"),
        (lambda v: v.vectors_for_all(["nowhere"]), ConfigError, "none of"),
        (lambda v: v.most_similar_cosmul([]), ConfigError, "a positive word"),
        (lambda v: v.most_similar_cosmul([("w1", 2.0)]), ConfigError, "no weights"),
        (lambda v: v.most_similar_cosmul("w1", topn=0), ConfigError, "k must be a whole number of at least 1"),
        (lambda v: v.most_similar([("w1", 2.0, 3.0)]), ConfigError, "12 numbers"),
        (lambda v: v.most_similar([("w1", "w2")]), ConfigError, r"got \('w1', 'w2'\)"),
    ],
)
def test_refusals(vectors, call, error, message):
    with pytest.raises(error, match=message):
        call(vectors)


@pytest.fixture(scope="module")
def word_pairs(tmp_path_factory):
    path = tmp_path_factory.mktemp("sets") / "pairs.tsv"
    rng = np.random.default_rng(6)
    rows = [
        f"W{a}\tw{b}\t{score:.2f}"
        for (a, b), score in zip(rng.integers(0, 150, (60, 2)), rng.random(60) * 9, strict=True)
    ]
    path.write_text("\n".join([*rows, "nowhere\tw3\t5.0", "pariS\tBerlin\t7.5"]) + "\n")
    return path


@pytest.mark.parametrize("options", [{}, {"dummy4unknown": True}, {"restrict_vocab": 100}, {"case_insensitive": False}])
def test_word_pairs_are_evaluated_as_by_gensim(vectors, keyed, word_pairs, options):
    if "case_insensitive" in options:
        word_pairs = word_pairs.with_name("small.tsv")
        word_pairs.write_text("w1\tw2\t3.0\nW3\tw4\t1.0\nw5\tw6\t2.0\nw7\tw9\t7.0\n")
    ours, theirs = (one.evaluate_word_pairs(str(word_pairs), **options) for one in (vectors, keyed))
    for mine, other in zip(ours[:2], theirs[:2], strict=True):
        assert tuple(mine) == pytest.approx(tuple(other), abs=1e-5)
    assert ours[2] == pytest.approx(theirs[2]) and ours[2] > 0


@pytest.mark.parametrize("options", [{}, {"dummy4unknown": True}, {"restrict_vocab": 200}, {"case_insensitive": False}])
@pytest.mark.usefixtures("gensim")
def test_analogies_are_evaluated_as_by_gensim(tmp_path, options):
    rng = np.random.default_rng(7)
    base = rng.normal(size=(60, DIM))
    offset = rng.normal(size=DIM)
    matrix = np.concatenate([base, base + offset + rng.normal(size=base.shape) * 0.6, rng.normal(size=(120, DIM))])
    vectors = Vectors(
        [*(f"a{i}" for i in range(60)), *(f"B{i}" for i in range(60)), *(f"n{i}" for i in range(120))], matrix
    )
    pairs = [f"{a}{i} {b}{i} {a}{i + 1} {b}{i + 1}" for i in range(0, 58, 2) for a, b in (("a", "B"), ("A", "b"))]
    path = tmp_path / "questions"
    path.write_text("\n".join([": one", *pairs[:20], ": two", *pairs[20:], "a1 B1 a2 nowhere", "a1 B1 a2 n110", ""]))
    ours, theirs = (one.evaluate_word_analogies(str(path), **options) for one in (vectors, vectors.to_gensim()))
    assert ours == theirs
    assert 0.1 < ours[0] < 0.9


@pytest.mark.usefixtures("gensim")
def test_evaluations_take_the_names_of_sets(tmp_path):
    """gensim brings ws353 and google; words of a set with lemma tags (sun-n) are looked up without them."""
    pairs, questions = catalog.resolve("ws353"), catalog.resolve("google")
    words = sorted({word for pair in read_pairs(pairs) for word in pair[:2]} | {"Athens", "Greece", "Baghdad", "Iraq"})
    vectors = Vectors(words, np.random.default_rng(3).normal(size=(len(words), 4)))
    assert vectors.evaluate_word_pairs("ws353") == vectors.evaluate_word_pairs(pairs)
    assert vectors.evaluate_word_analogies("google") == vectors.evaluate_word_analogies(questions)
    for evaluate in (vectors.evaluate_word_pairs, vectors.evaluate_word_analogies):
        with pytest.raises(UnknownNameError, match="neither a file nor a known name"):
            evaluate("ws354")
    (tmp_path / "tagged").write_text("Iraq-n\tAthens-n\t3\nIraq-n\tGreece-n\t1\n")
    assert evaluate_word_pairs(vectors, tmp_path / "tagged", tags=True)[2] == 0


def test_evaluations_without_enough_known_words_are_refused(vectors, tmp_path):
    (tmp_path / "pairs").write_text("no where 3\nw1 w2 4\n")
    (tmp_path / "questions").write_text("w1 w2 w3 nowhere\n")
    with pytest.raises(InputError, match="only 1 of 2 pairs"):
        vectors.evaluate_word_pairs(tmp_path / "pairs")
    with pytest.raises(InputError, match="no question has vectors"):
        vectors.evaluate_word_analogies(tmp_path / "questions")


class Spelt:
    """Gives a vector to words that begin with x."""

    def vector(self, word):
        return np.full(DIM, 0.5, np.float32) if word.startswith("x") else None


def test_words_with_the_vector_of_their_spelling_count_as_known(vectors):
    any_word = Vectors(vectors.words, vectors.matrix, vectors.counts, Spelt())
    found = any_word.vectors_for_all(["x1", "nowhere", "w3"])
    assert list(found.words) == ["x1", "w3"] and found.counts.tolist() == [0, N - 3]
    np.testing.assert_array_equal(found["x1"], np.full(DIM, 0.5))
    assert list(any_word.vectors_for_all(["x1", "w3"], allow_inference=False).words) == ["w3"]
    np.testing.assert_allclose(any_word.get_mean_vector(["x1", "nowhere"]), np.full(DIM, DIM**-0.5), rtol=1e-6)
    assert len(any_word.rank_by_centrality(["x1", "w3", "w4"])) == 3
    assert not any_word.has_index_for("x1") and any_word.get_index("x1", -1) == -1
    with pytest.raises(UnknownNameError, match="'x1'"):
        any_word.get_index("x1")


def test_a_word_and_its_row_are_equally_central():
    some = Vectors(["one", "two"], np.eye(2, dtype=np.float32))
    assert [key for _, key in some.rank_by_centrality(["one", 0, "two"])] == ["one", 0, "two"]
    assert some.doesnt_match(["one", 0]) == 0


def test_words_of_lower_cased_text_are_looked_up_before_they_are_spelt():
    words, matrix = ["king", "new_york", "oslo"], np.arange(3 * DIM, dtype=np.float32).reshape(3, DIM)
    some = Vectors(words, matrix, [3, 2, 1], Spelt(), "node", lowercase=True, rules="those")
    for inference in (True, False):
        found = some.vectors_for_all(["New York", "King", "king", "nobody"], inference)
        assert list(found.words) == ["new_york", "king"] and found.counts.tolist() == [2, 3]
        assert (found.noun, found.lowercase, found.rules) == ("node", True, "those")
        np.testing.assert_array_equal(found["KING"], matrix[0])
    more = some.with_words(["King", "new york", "Xenon", "XENON", "nobody"])
    assert list(more.words) == [*words, "xenon"] and "XENON" in more
    np.testing.assert_array_equal(more["Xenon"], some["Xenon"])
    assert some.with_words(["OSLO"]) is some


class Zeros:
    def vector(self, word):
        return np.zeros(DIM, np.float32)


def test_a_spelling_whose_vector_is_zero_is_unknown(vectors, tmp_path):
    some = Vectors(vectors.words, vectors.matrix, spellings=Zeros())
    assert some.with_words(["nowhere"]) is some
    for ask in (some.most_similar, some.get_vector, lambda word: some.similarity("w1", word)):
        with pytest.raises(UnknownNameError, match="no vector for the word 'nowhere'"):
            ask("nowhere")
    (tmp_path / "set.tsv").write_text("w1 w2 1\nw3 w4 2\nw5 w6 3\nw7 w8 2\nw7 nowhere 9\n")
    found = some.evaluate_similarity(tmp_path / "set.tsv")
    assert (found.scored, found.total, found.unknown) == (4, 5, 1)


@pytest.mark.parametrize("given", [[("a", "b", 3)], None, 3])
def test_what_is_no_name_of_a_set_and_no_file_is_refused(vectors, given):
    for evaluate in (vectors.evaluate_similarity, vectors.evaluate_word_pairs):
        with pytest.raises(ConfigError, match="or a file with word, word, score on each line"):
            evaluate(given)
    for evaluate in (vectors.evaluate_analogy, vectors.evaluate_word_analogies):
        with pytest.raises(ConfigError, match="or a file with four words on each line"):
            evaluate(given)


@pytest.mark.parametrize("kind", [int, np.int32, np.int64])
def test_a_whole_number_is_a_name_if_there_is_one_else_a_row(kind):
    numbered = Vectors(["3", "one", "0", "two"], np.eye(4, dtype=np.float32) + 0.1 * np.arange(4, dtype=np.float32))
    for number, row in ((0, 2), (1, 1), (2, 2), (3, 0)):
        key = kind(number)
        assert key in numbered and numbered.has_index_for(key)
        assert numbered.id(key) == numbered.get_index(key) == row
        assert numbered.key_to_index.get(key) == (row if str(number) in numbered.words else None)
        np.testing.assert_array_equal(numbered[key], numbered.matrix[row])
        np.testing.assert_array_equal(numbered.get_vector(key), numbered.matrix[row])
        assert numbered.most_similar(key) == numbered.most_similar(numbered.words[row])
    assert kind(4) not in numbered and kind(4) not in numbered.key_to_index
    with pytest.raises(UnknownNameError, match="no row 4"):
        numbered[kind(4)]


def test_among_names_that_are_whole_numbers_a_number_is_no_row():
    for names in (["0", "1", "7"], ["0", "1", "7", "guest"]):  # or most of them
        vectors = Vectors(names, np.eye(len(names), dtype=np.float32))
        assert 7 in vectors and 2 not in vectors
        with pytest.raises(UnknownNameError, match="'2'"):
            vectors[2]
