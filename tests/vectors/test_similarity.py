"""Word similarity against scipy, gensim and closed forms; files of every shape; the named sets."""

import json
import math
from contextlib import nullcontext

import numpy as np
import pytest
from scipy import stats

from w2vneg.ground.errors import ConfigError, FileNote, InputError
from w2vneg.vectors import Vectors
from w2vneg.vectors.evaluation import evaluate_similarity, read_pairs

CITIES = [("Paris", "london", 8.5), ("dog", "cat", 7.0), ("dog", "paris", 1.25), ("cat", "london", 0.5)]


@pytest.fixture
def vectors():
    rng = np.random.default_rng(5)
    return Vectors([f"w{i}" for i in range(60)], rng.normal(size=(60, 8)))


@pytest.fixture
def pairs(vectors):
    """Sixty pairs, ten of them with an unknown word, whose scores follow the cosines with noise."""
    rng = np.random.default_rng(6)
    rows = []
    for i in range(60):
        a, b = rng.choice(60, 2, replace=False)
        score = 5 + 5 * vectors.similarity(f"w{a}", f"w{b}") + rng.normal()
        rows.append((f"W{a}", f"w{b}" if i % 6 else f"unknown{i}", round(score, 2)))
    return rows


def write(path, rows, separator="\t", header=None, end="\n"):
    lines = [separator.join(map(str, row)) for row in rows]
    text = end.join(([header] if header else []) + lines) + end
    path.write_bytes(text.encode("utf-8"))
    return path


def test_equals_scipy_on_cosines_computed_apart(vectors, pairs, tmp_path):
    result = evaluate_similarity(vectors, write(tmp_path / "set.tsv", pairs))
    cosines, scores = [], []
    for a, b, score in pairs:
        if not b.startswith("unknown"):
            x, y = (vectors[word.lower()].astype(np.float64) for word in (a, b))
            cosines.append(x @ y / np.sqrt((x @ x) * (y @ y)))
            scores.append(score)
    assert result.spearman == pytest.approx(stats.spearmanr(cosines, scores)[0], abs=1e-12)
    assert result.pearson == pytest.approx(stats.pearsonr(cosines, scores)[0], abs=1e-12)
    half = 1.959963984540054 / math.sqrt(50 - 3)
    for kind in ("pearson", "spearman"):  # Fisher's z
        z = math.atanh(getattr(result, kind))
        expected = math.tanh(z - half), math.tanh(z + half)
        assert getattr(result, f"{kind}_interval") == pytest.approx(expected, abs=1e-12)
    assert (result.name, result.scored, result.total, result.unknown) == ("set.tsv", 50, 60, 10)
    assert result.lowered == len({a for a, _, _ in pairs})
    assert json.loads(json.dumps(result.as_dict()))["scored"] == 50


def test_equals_gensim(vectors, pairs, tmp_path):
    pytest.importorskip("gensim")
    path = write(tmp_path / "set.tsv", pairs)
    pearson, spearman, _ = vectors.to_gensim().evaluate_word_pairs(str(path))
    result = evaluate_similarity(vectors, path)
    assert result.pearson == pytest.approx(pearson[0], abs=1e-6)
    assert result.spearman == pytest.approx(spearman[0], abs=1e-6)


def test_intervals_of_three_pairs_and_of_perfect_order(vectors, pairs, tmp_path):
    known = [pair for pair in pairs if not pair[1].startswith("unknown")]
    three = evaluate_similarity(vectors, write(tmp_path / "three.tsv", known[:3]))
    assert three.pearson_interval == three.spearman_interval == (-1.0, 1.0)
    cosine = [float(vectors.cosines(*([vectors.id(w.lower())] for w in pair[:2]))[0]) for pair in known]
    ordered = [(a, b, f"{score:.9f}") for (a, b, _), score in zip(known, cosine, strict=True)]
    perfect = evaluate_similarity(vectors, write(tmp_path / "perfect.tsv", ordered))
    assert perfect.spearman == pytest.approx(1.0)
    assert perfect.spearman_interval == pytest.approx((1.0, 1.0), abs=1e-6)


@pytest.mark.parametrize("separator", ["\t", ",", ";", " ", "   ", ", "])
@pytest.mark.parametrize("header", [False, True])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_any_separation_with_and_without_header(tmp_path, separator, header, end):
    header = separator.join(["first", "second", "score"]) if header else None
    path = write(tmp_path / "set", CITIES, separator, header, end)
    assert read_pairs(path) == CITIES


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Word 1\tWord 2\tHuman (mean)\r\nlove\tsex\t6.77\r\n", [("love", "sex", 6.77)]),
        (
            "word1\tword2\tPOS\tSimLex999\tconc(w1)\told\nold\tnew\tA\t1.58\t2.72\t1\nhard\teasy\tA\t.5\t3\t2\n",
            [("old", "new", 1.58), ("hard", "easy", 0.5)],
        ),
        (
            "squishing\tsquirt\t5.88\t6\t7\n a \tb\t1e1\t6\n",
            [("squishing", "squirt", 5.88), ("a", "b", 10.0)],
        ),
        ("# a comment\n\nsun sunlight 50.000000\n\n", [("sun", "sunlight", 50.0)]),
        ('"new york","los angeles",7\n"a, b",c,3', [("new york", "los angeles", 7.0), ("a, b", "c", 3.0)]),
        ("\ufeffWort;Wort;Wert\nStraße;Weg;8\n", [("Straße", "Weg", 8.0)]),
        ("one,two,score,n\na,b,9,10\n", [("a", "b", 9.0)]),
        ("a,b,9,10\nc,d,8.5,12\n", [("a", "b", 9.0), ("c", "d", 8.5)]),
        ("nan inf 3\n", [("nan", "inf", 3.0)]),
        ("a b inf 3\nc d nan 4\n", [("a", "b", 3.0), ("c", "d", 4.0)]),
        ("word1,word2,freq,score\na,b,5,.9\nc,d,3,.8\n", [("a", "b", 0.9), ("c", "d", 0.8)]),
        ("ID,Word1,Word2,Human (mean)\n1,a,b,.9\n2,c,d,.8\n", [("a", "b", 0.9), ("c", "d", 0.8)]),
        (",w1,w2,n,sim\n0,a,b,5,.9\n1,c,d,3,.8\n", [("a", "b", 0.9), ("c", "d", 0.8)]),
        ("id other sim\n1 one 9\n2 two 8\n", [("1", "one", 9.0), ("2", "two", 8.0)]),
        ("rank w1 w2 sim\n1 a b 9\n2 c d 8\n", [("a", "b", 9.0), ("c", "d", 8.0)]),
        ('"tiger"\t"cat"\t7.35\n"\t"a"b\t2\n', [("tiger", "cat", 7.35), ('"', '"a"b', 2.0)]),
        ("language,word1,word2,score\nde,a,b,9\nde,c,d,8\n", [("a", "b", 9.0), ("c", "d", 8.0)]),
        ("word1\tPOS1\tword2\tPOS2\tscore\na\tn\tb\tv\t9\nc\tn\td\tn\t8\n", [("a", "b", 9.0), ("c", "d", 8.0)]),
        ("id;Term 2;kind;Term_1;sim\n1;b;x;a;9\n2;d;x;c;8\n", [("a", "b", 9.0), ("c", "d", 8.0)]),
        ("one,two,w1,w2,score\na,b,1,2,9\nc,d,3,4,8\n", [("a", "b", 9.0), ("c", "d", 8.0)]),
        ("word1,tag,word2,score\n1,x,2,9\nc,x,d,8\n", [("1", "2", 9.0), ("c", "d", 8.0)]),
        ("a,b,n,9\na,c,n,8\na,d,v,7\n", [("a", "b", 9.0), ("a", "c", 8.0), ("a", "d", 7.0)]),
    ],
)
@pytest.mark.filterwarnings("ignore::w2vneg.ground.errors.FileNote")
def test_shapes_of_files(tmp_path, text, expected):
    (tmp_path / "set").write_text(text, encoding="utf-8", newline="")
    assert read_pairs(tmp_path / "set") == expected


@pytest.mark.parametrize(
    ("heads", "numbers", "noted"),
    [
        ("rating1,rating2,mean", "1,2,9", "of 3 columns of numbers, 'mean' is"),
        ("SD(SimLex),SimLex999", "1,9", None),
        ("human_count,similarity", "1,9", None),
        ("mean_freq,score", "1,9", None),
        ("annotator_1,annotator_2,gold", "1,2,9", "of 3 columns of numbers, 'gold' is"),
        ("human,cosine_sim", "9,1", "'human' is"),
        ("similarity,mean_length", "9,1", "'similarity' is"),
        ("score,MeanAoA", "9,1", "'score' is"),
        ("rating,Human (mean)", "1,9", "'Human .mean.' is"),
        ("x,AVG_SCORE", "1,9", "'AVG_SCORE' is"),
        ("std,n", "9,1", "'std' is"),
        ("x,y", "9,1", "'x' is"),
    ],
)
def test_a_mean_is_taken_before_what_it_is_of_and_named(tmp_path, heads, numbers, noted):
    (tmp_path / "set").write_text(f"word1,word2,{heads}\na,b,{numbers}\nc,d,{numbers}\n")
    with pytest.warns(FileNote, match=noted) if noted else nullcontext():
        assert [score for *_, score in read_pairs(tmp_path / "set")] == [9.0, 9.0]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"\n \n", "is empty"),
        (b"# only\n", "comments only"),
        (b"a\tb\t1\nc\td\n", r":2: expected word, word, score separated by tabs, found 2 columns \(c \| d\)"),
        (b"1,a,b,.9\n2,c,d,.8\n", r":1: '1' and 'a' would be the words, but the first column has only numbers; remove"),
        (b"a,b,1\n\nc,d,high\n", r":3: expected a number in column 3, found 'high'"),
        (b"a,b,1\nc,d,1e999\n", r":2: expected a number in column 3, found '1e999'"),
        (b"a,b,1\n,d,2\n", r":2: a word is missing"),
        (b"a b 1\nc 2\n", r":2: expected word, word, score separated by spaces, found 2 columns"),
        (b"a\tb\t9,5\nc\td\t5,0\n", r":1: '9,5' has a decimal comma"),
        (b"a,b,8\nc,d,9,56\n", r":2: '9,56' would be two columns, but looks like a decimal comma; write"),
        (b"one,two,score\na,b,7,5\nc,d,9,56\n", r":2: '7,5' would be two columns"),
        (b"a\tb\tnan\nc\td\t5\n", r":1: expected a number in column 3, found 'nan'"),
        (b"just a headline\n", r":1: expected word, word, score"),
        (b"two lines of\nprose without numbers\n", r":2: expected word, word, score"),
        (b"a b 1\n\xe9t\xe9 c 2\n", r":2: not UTF-8"),
    ],
)
def test_bad_files(tmp_path, vectors, content, message):
    path = tmp_path / "set.txt"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message) as caught:
        evaluate_similarity(vectors, path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("row", ["{tag},{i}a,{i}b,{i}", "{i}a,{tag},{i}b,n,{i}"])
def test_a_column_of_few_values_is_not_of_words(tmp_path, row):
    rows = [[row.format(i=i, tag="xy"[i % 2])] for i in range(10)]
    named = row.replace("{i}a", "word1").replace("{i}b", "word2").format(i="score", tag="tag")
    for header, tag in ((None, row.split(",").index("{tag}") + 1), (named.replace("word", "spelt"), "'tag'")):
        with pytest.raises(
            InputError, match=f"column {tag} would hold words, but has 2 values, column .* has 10; call"
        ):
            read_pairs(write(tmp_path / "set", rows, header=header))
    assert read_pairs(write(tmp_path / "set", rows, header=named)) == [(f"{i}a", f"{i}b", i) for i in range(10)]
    tags_behind = [[f"{i}a,{i}b,{'xy'[i % 2]},{i}"] for i in range(10)]  # as SimLex-999 has them
    assert read_pairs(write(tmp_path / "set", tags_behind)) == [(f"{i}a", f"{i}b", i) for i in range(10)]
    phrases = [["xy"[i % 2], f"{i}a", f"New {i}" if i < 5 else f"{i}b", i] for i in range(10)]
    with pytest.raises(InputError, match="column 1 would hold words, but has 2 values"):
        read_pairs(write(tmp_path / "set", phrases))


@pytest.mark.parametrize("header", [None, "cue\ttarget\tcomment\tscore"])
def test_comments_beside_few_cues_are_no_words(tmp_path, header):
    rows = [(f"cue{i % 5}", f"target{i}", f"a comment on row {i}", i) for i in range(60)]
    assert read_pairs(write(tmp_path / "set", rows, header=header)) == [(one, other, i) for one, other, _, i in rows]


def test_missing_file(tmp_path, vectors):
    with pytest.raises(InputError, match="no such file"):
        evaluate_similarity(vectors, tmp_path / "none.tsv")
    with pytest.raises(InputError, match="is a folder; name a file in it"):
        evaluate_similarity(vectors, tmp_path)


def test_where_no_word_is_known_the_first_are_shown(tmp_path, vectors):
    (tmp_path / "set").write_text("n\tcat\tdog\t9\n" * 4)
    with pytest.raises(InputError, match="for a correlation; its first words are read as 'n' and 'cat'; train on more"):
        evaluate_similarity(vectors, tmp_path / "set")


def test_too_few_pairs_are_no_score(tmp_path, vectors):
    path = write(tmp_path / "set", [("w1", "w2", 1), ("w3", "w4", 2), ("x", "w5", 3)])
    with pytest.raises(InputError, match="only 2 of 3 pairs"):
        evaluate_similarity(vectors, path)


def test_no_correlation_without_differences(tmp_path):
    vectors = Vectors(list("abcd"), np.ones((4, 5)))
    path = write(tmp_path / "set", [("a", "b", 1), ("b", "c", 2), ("c", "d", 3)])
    with pytest.raises(InputError, match="all cosines of the 3 scored pairs are equal"):
        evaluate_similarity(vectors, path)
    vectors = Vectors(list("abcd"), np.eye(4) + np.arange(4))
    path = write(tmp_path / "set", [("a", "b", 2), ("b", "c", 2), ("c", "d", 2)])
    with pytest.raises(InputError, match="all human scores of the 3 scored pairs are equal"):
        evaluate_similarity(vectors, path)


def test_case(tmp_path):
    rng = np.random.default_rng(0)
    vectors = Vectors(["Paris", "paris", "london", "dog", "cat"], rng.normal(size=(5, 4)))
    path = write(tmp_path / "set", [*CITIES, ("LONDON", "dog", 3)])
    lower = evaluate_similarity(vectors, path)
    assert (lower.scored, lower.lowered) == (5, 1)
    exact = evaluate_similarity(vectors, path, case="exact")
    assert (exact.scored, exact.lowered, exact.unknown) == (4, 0, 1)
    with pytest.raises(ConfigError, match="case must be lower or exact"):
        evaluate_similarity(vectors, path, case="upper")


def test_lemma_tags(tmp_path):
    rng = np.random.default_rng(0)
    vectors = Vectors(["sun", "run", "red", "x-n"], rng.normal(size=(4, 4)))
    rows = [("sun-n", "run-v", 5), ("red-j", "sun-n", 3), ("red-j", "run-v", 4)]
    path = write(tmp_path / "set", rows, " ")
    assert evaluate_similarity(vectors, path).tags_stripped
    assert evaluate_similarity(vectors, path, tags=True).scored == 3
    with pytest.raises(InputError, match="only 0 of 3"):
        evaluate_similarity(vectors, path, tags=False)
    mixed = write(tmp_path / "mixed", [*rows, ("x-n", "sun", 1), ("run", "sun", 1), ("run", "red", 2)], " ")
    result = evaluate_similarity(vectors, mixed)
    assert not result.tags_stripped
    assert result.scored == 3


def test_the_method_of_vectors(tmp_path, vectors, pairs):
    path = write(tmp_path / "set.tsv", pairs)
    assert vectors.evaluate_similarity(path) == evaluate_similarity(vectors, path)


SIZES = {
    "ws353": (353, ("love", "sex", 6.77)),
    "ws353-sim": (203, ("tiger", "cat", 7.35)),
    "ws353-rel": (252, ("computer", "keyboard", 7.62)),
    "simlex999": (999, ("old", "new", 1.58)),
    "rw": (2034, ("squishing", "squirt", 5.88)),
    "men": (3000, ("sun", "sunlight", 50.0)),
    "men-dev": (2000, ("berry-n", "seed-n", 37.0)),
    "men-test": (1000, None),
    "mturk287": (287, ("episcopal", "russia", 2.75)),
}


@pytest.mark.realdata
@pytest.mark.parametrize("name", SIZES)
def test_named_sets(mirror, name):
    from w2vneg.data import catalog as datasets

    size, first = SIZES[name]
    rows = read_pairs(datasets.resolve(name, mirror=mirror))
    assert len(rows) == size
    assert first is None or rows[0] == first
    tags = datasets.info(name).tags
    words = sorted({word.lower() for pair in rows for word in pair[:2]})
    words = sorted({word[:-2] if tags else word for word in words})
    random = Vectors(words, np.random.default_rng(0).normal(size=(len(words), 20)))
    result = random.evaluate_similarity(name, mirror=mirror)
    assert (result.name, result.scored, result.total, result.tags_stripped) == (name, size, size, tags)
    assert abs(result.spearman) < 0.2
