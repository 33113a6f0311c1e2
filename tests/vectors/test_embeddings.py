"""Vectors: lookups, cosines, nearest words, spellings."""

import tracemalloc

import numpy as np
import pytest

from w2vneg.ground.errors import ConfigError, UnknownNameError
from w2vneg.vectors import Vectors, top_rows

WORDS = ["king", "queen", "man", "woman", "zero"]
MATRIX = np.array([[3, 1, 0], [3, 0, 2], [1, 1, 0], [1, 0, 2], [0, 0, 0]], dtype=np.float32)


@pytest.fixture
def vectors():
    return Vectors(WORDS, MATRIX, counts=[50, 40, 30, 20, 10])


def cosine(a, b):
    return a @ b / np.sqrt((a @ a) * (b @ b))


def test_basic_access(vectors):
    assert len(vectors) == 5
    assert vectors.dim == 3
    assert "king" in vectors
    assert "kong" not in vectors
    assert vectors.id("man") == 2
    assert vectors.matrix.dtype == np.float32
    assert vectors.matrix.flags.c_contiguous
    assert vectors.counts.dtype == np.int64
    np.testing.assert_array_equal(vectors["queen"], MATRIX[1])
    np.testing.assert_array_equal(vectors[["man", "king"]], MATRIX[[2, 0]])
    assert repr(vectors) == "Vectors(5 words, dim=3)"


def test_float32_rows_are_not_copied():
    vectors = Vectors(WORDS, MATRIX)
    assert np.shares_memory(vectors.matrix, MATRIX)
    turned = Vectors(WORDS, np.asfortranarray(MATRIX, dtype=np.float64))
    assert turned.matrix.flags.c_contiguous
    np.testing.assert_array_equal(turned.matrix, MATRIX)


@pytest.mark.parametrize(
    ("words", "matrix", "counts", "message"),
    [
        (["a"], np.ones((2, 3)), None, "1 words do not match a matrix of shape \\(2, 3\\)"),
        (["a"], np.ones(3), None, "shape"),
        ([], np.ones((0, 3)), None, "at least one word"),
        (["a", "a"], np.ones((2, 3)), None, "'a' occurs twice"),
        (["a", "b"], np.ones((2, 3)), [1], "counts of shape \\(1,\\)"),
        (["a", "b"], np.ones((2, 3)), [-1, 2], "of 0 or more, not -1; round them"),
        (["a", "b"], np.ones((2, 3)), [1, 2.9], "of 0 or more, not 2\\.9; round them"),
        (["a", "b"], np.ones((2, 3)), [1, np.nan], "of 0 or more, not nan"),
        (["a", "b"], np.ones((2, 3)), np.array([1, 2**63], np.uint64), "of 0 or more, not 9223372036854775808"),
        (["a", "b"], np.ones((2, 3)), ["one", None], "one for each word"),
    ],
)
def test_parts_that_do_not_fit_together(words, matrix, counts, message):
    with pytest.raises(ConfigError, match=message):
        Vectors(words, matrix, counts)


def test_unit_rows(vectors):
    lengths = np.linalg.norm(vectors.unit, axis=1)
    np.testing.assert_allclose(lengths[:4], 1, rtol=1e-6)
    assert not vectors.unit[4].any()
    assert vectors.unit is vectors.unit
    assert vectors.unit.dtype == np.float32


def test_unit_rows_of_huge_and_tiny_numbers():
    vectors = Vectors(["huge", "tiny"], [[3e38, 3e38], [1e-45, 0]])
    np.testing.assert_allclose(vectors.unit, [[0.5**0.5, 0.5**0.5], [1, 0]], rtol=1e-6)


def test_similarity_is_the_cosine(vectors):
    assert vectors.similarity("king", "woman") == pytest.approx(cosine(MATRIX[0], MATRIX[3]))
    assert vectors.similarity("king", "king") == pytest.approx(1)
    assert vectors.similarity("king", "zero") == 0


def test_most_similar_against_brute_force():
    rng = np.random.default_rng(1)
    matrix = rng.normal(size=(200, 7)).astype(np.float32)
    words = [f"w{i}" for i in range(200)]
    vectors = Vectors(words, matrix)
    unit = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
    query = unit[3] + unit[5] - unit[8]
    expected = sorted(
        ((cosine(query, row), word) for word, row in zip(words, unit, strict=True) if word not in ("w3", "w5", "w8")),
        reverse=True,
    )
    found = vectors.most_similar(["w3", "w5"], negative="w8", k=12)
    assert [word for word, _ in found] == [word for _, word in expected[:12]]
    np.testing.assert_allclose([value for _, value in found], [value for value, _ in expected[:12]], rtol=1e-4)
    assert vectors.analogy("w8", "w3", "w5", k=12) == found


@pytest.mark.parametrize("scale", [1.0, 1e-22, 1e-38, 1e17, 1e38])
def test_the_nearest_are_those_of_double_precision(scale):
    rng = np.random.default_rng(2)
    matrix = rng.normal(size=(1, 50)) + rng.normal(size=(3_000, 50)) * 1e-5  # cosines that float32 cannot tell apart
    matrix[5] = 0
    matrix *= np.where(np.arange(3_000) % 2, scale, 1.0)[:, None]
    matrix[[40, 1_500, 2_999]] = matrix[7] * 4.0 / (3.0 + scale)
    matrix = np.clip(matrix, -3e38, 3e38).astype(np.float32)
    vectors = Vectors([f"w{row}" for row in range(3_000)], matrix)
    exact = matrix.astype(np.float64)
    lengths = np.linalg.norm(exact, axis=1)
    exact /= np.where(lengths > 0, lengths, 1)[:, None]
    scores = exact @ exact[8]
    scores[8] = -2
    for k, n in ((1, None), (10, None), (10, 100), (2_999, None)):
        best = -np.sort(-scores[:n])[: min(k, (n or 3_000) - 1)]
        found = vectors.most_similar("w8", k=k, restrict_vocab=n)
        values = np.array([value for _, value in found])
        np.testing.assert_allclose(values, best, rtol=0, atol=1e-14)
        rows = [int(word[1:]) for word, _ in found]
        assert len(set(rows)) == len(rows) == len(best)
        np.testing.assert_allclose(scores[rows], values, rtol=0, atol=1e-14)


@pytest.mark.parametrize("spread", [1.0, 1e-5])
def test_two_words_are_compared_in_double_precision(spread):
    rng = np.random.default_rng(4)
    matrix = (rng.normal(size=50) + rng.normal(size=(1_000, 50)) * spread).astype(np.float32)
    matrix[9], matrix[10] = 0, matrix[11] * 3
    vectors = Vectors([f"w{row}" for row in range(1_000)], matrix)
    unit = matrix / np.maximum(np.linalg.norm(matrix.astype(np.float64), axis=1), 1e-30)[:, None]
    cosines = unit[[3, 700]].astype(np.float64) @ unit.T.astype(np.float64)
    cosine, places, near = vectors.compared("w3", "w700", k=20)
    others = np.delete(np.arange(1_000), [3, 700])
    assert places == tuple(1 + int((row[others] > cosine + 1e-12).sum()) for row in cosines)
    lower = cosines.min(axis=0)
    best = others[np.argsort(-lower[others], kind="stable")[:20]]
    assert sorted(word for word, _ in near) == sorted(f"w{row}" for row in best)
    np.testing.assert_allclose([value for _, value in near], lower[best], rtol=0, atol=1e-12)


def test_equally_near_words_keep_their_order():
    matrix = np.tile(np.array([[0.3, 0.7, 0.1]], np.float32), (3_000, 1))
    matrix[::3] = [0.1, 0.2, 0.3]
    vectors = Vectors([f"w{row}" for row in range(3_000)], matrix)
    assert [word for word, _ in vectors.most_similar("w1", k=4)] == ["w2", "w4", "w5", "w7"]
    assert vectors.most_similar("w1", k=1)[0][1] == pytest.approx(1, abs=1e-15)


def test_asking_for_the_nearest_keeps_no_second_matrix():
    vectors = Vectors([str(row) for row in range(20_000)], np.random.default_rng(3).normal(size=(20_000, 50)))
    vectors.most_similar("0")
    tracemalloc.start()
    try:
        vectors.__dict__.pop("_lengths")
        vectors.most_similar("0")
        held, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 20_000 * 5 and peak < vectors.matrix.nbytes / 4


def test_most_similar_of_a_raw_vector_leaves_nothing_out(vectors):
    assert vectors.most_similar(MATRIX[0] * 5, k=1)[0][0] == "king"
    assert [word for word, _ in vectors.most_similar([MATRIX[0], "queen"], k=9)] == [
        "king",
        "man",
        "woman",
        "zero",
    ]


def test_most_similar_limits(vectors):
    assert len(vectors.most_similar("king", k=100)) == 4
    assert [word for word, _ in vectors.most_similar("queen", restrict_vocab=1)] == ["king"]
    assert vectors.most_similar("king", restrict_vocab=1) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"positive": [("king", float("nan"))]}, "weight of 'king' must be a finite number, not nan"),
        ({"positive": ["king"], "negative": [("queen", float("inf"))]}, "weight of 'queen' must be a finite"),
        ({"positive": "king", "k": 0}, "k must be a whole number of at least 1, not 0"),
        ({"positive": "king", "k": "3"}, "k must be a whole number of at least 1, not '3'"),
        ({"positive": "king", "k": 2.0}, "k must be a whole number"),
        ({"positive": "king", "restrict_vocab": 0}, "restrict_vocab must be a whole number of at least 1"),
        ({}, "needs at least one word or vector"),
        ({"positive": None}, "needs at least one word or vector"),
        ({"positive": "zero"}, "zero vector"),
        ({"positive": "king", "negative": "king"}, "zero vector"),
        ({"positive": np.ones(4)}, "3 numbers"),
        ({"positive": np.array([1, np.nan, 0])}, "finite"),
    ],
)
def test_most_similar_refuses(vectors, arguments, message):
    with pytest.raises(ConfigError, match=message):
        vectors.most_similar(**arguments)


def test_a_row_that_is_handed_out_does_not_change_the_vectors(vectors):
    before = vectors.matrix.copy()
    row = vectors["king"]
    with pytest.raises(ValueError, match="read-only"):
        row -= vectors["man"]
    several = vectors[["king", "man"]]
    several -= 1
    assert (vectors.matrix == before).all()


def test_analogy_of_a_built_parallelogram(vectors):
    assert vectors.analogy("man", "woman", "king", k=1)[0][0] == "queen"


def test_unknown_word_has_near_spellings(vectors):
    with pytest.raises(UnknownNameError, match=r"no vector for the word 'kign' among 5; did you mean 'king'\?"):
        vectors["kign"]
    with pytest.raises(UnknownNameError, match="did you mean 'king'"):
        vectors.similarity("King", "queen")
    with pytest.raises(UnknownNameError, match=r"'xylophone' among 5\.$"):
        vectors.most_similar("xylophone")
    with pytest.raises(UnknownNameError):
        vectors.id("")


def test_top_rows_breaks_ties_by_row():
    scores = np.array([1, 3, 2, 3, 2, 2], dtype=np.float32)
    assert top_rows(scores, 4).tolist() == [1, 3, 2, 4]
    assert top_rows(scores, 6).tolist() == [1, 3, 2, 4, 5, 0]
    assert top_rows(scores, 0).tolist() == []


@pytest.mark.parametrize("counts", [[3.0, 0.0], np.array([3, 0], np.uint8), np.array([3, 0], object), (3, False)])
def test_counts_of_any_type_are_whole(counts):
    found = Vectors(["a", "b"], np.ones((2, 3)), counts).counts
    assert found.tolist() == [3, 0] and found.dtype == np.int64


def test_save_and_load(vectors, tmp_path):
    for name in ("v.txt", "v.vec", "v.bin", "v.npz"):
        vectors.save(tmp_path / name)
        again = Vectors.load(tmp_path / name)
        assert again.words == vectors.words
        np.testing.assert_array_equal(again.matrix, vectors.matrix)
    np.testing.assert_array_equal(Vectors.load(tmp_path / "v.npz").counts, vectors.counts)


@pytest.mark.usefixtures("gensim")
def test_to_gensim(vectors):
    keyed = vectors.to_gensim()
    assert keyed.index_to_key == WORDS
    np.testing.assert_array_equal(keyed.vectors, MATRIX)
    assert keyed.get_vecattr("queen", "count") == 40
    whole = Vectors(WORDS[:4], MATRIX[:4])  # gensim cannot divide by the length of a zero vector
    found = whole.to_gensim().most_similar("king", topn=3)
    assert [word for word, _ in found] == [word for word, _ in whole.most_similar("king", k=3)]
