"""Analogies against gensim, brute force and hand-counted ranks; files; halves; the named sets."""

import json

import numpy as np
import pytest

from w2vneg.ground.errors import ConfigError, InputError
from w2vneg.kernels.evaluation.ranking import count_better
from w2vneg.vectors import Vectors
from w2vneg.vectors.evaluation import analogy as module
from w2vneg.vectors.evaluation import evaluate_analogy, read_questions


@pytest.fixture
def vectors():
    """Forty countries and their capitals, singulars and plurals: the offsets are alike, with noise."""
    rng = np.random.default_rng(2)
    words, rows = [], []
    for kind in ("country", "noun"):
        offset = 1.5 * rng.normal(size=12)
        for i in range(20):
            base = rng.normal(size=12)
            words += [f"{kind}{i}", f"{kind}{i}s"]
            rows += [base, base + offset + 0.6 * rng.normal(size=12)]
    order = rng.permutation(len(words))
    return Vectors([words[i] for i in order], np.array(rows)[order])


@pytest.fixture
def questions(tmp_path):
    path = tmp_path / "questions.txt"
    lines = []
    for title, kind in (("capital-world", "Country"), ("gram8-plural", "noun")):
        lines.append(f": {title}")
        lines += [f"{kind}{i} {kind}{i}s {kind}{j} {kind}{j}s" for i in range(22) for j in range(22) if i != j]
    lines += [": gram9-unknown", "x y z w"]
    path.write_text("\n".join(lines) + "\n")
    return path


def brute_force_ranks(unit, questions):
    ranks = []
    for a, b, c, d in questions:
        scores = unit @ (unit[b] - unit[a] + unit[c])
        order = [row for row in np.argsort(-scores, kind="stable") if row not in (a, b, c)]
        ranks.append(order.index(d) if d in order else module.NEVER)
    return ranks


def test_ranks_against_brute_force(vectors):
    asked = np.random.default_rng(0).integers(0, len(vectors), (300, 4))
    expected = brute_force_ranks(vectors.unit.astype(np.float64), asked)
    assert module.answer_ranks(vectors.unit, asked).tolist() == expected
    again = count_better(vectors.unit, asked, products_at_once=700)
    known = np.array(expected) != module.NEVER
    assert again[known].tolist() == np.array(expected)[known].tolist()


def test_ranks_are_exact_where_float32_products_are_not():
    """Words so close to each other that their order is a matter of the last bits, and many that are equal."""
    rng = np.random.default_rng(5)
    centre = rng.normal(size=30)
    near = centre + 3e-7 * rng.normal(size=(400, 30))
    near[200:300] = near[100:200]
    unit = Vectors([str(i) for i in range(420)], np.concatenate([near, rng.normal(size=(20, 30))])).unit
    unit = unit[rng.permutation(420)]
    asked = rng.integers(0, 420, (200, 4))
    expected = []
    for a, b, c, d in asked:
        query = (unit[b] - unit[a] + unit[c]).astype(np.float64)
        scores = [sum(x * y for x, y in zip(query.tolist(), row.tolist(), strict=True)) for row in unit]
        order = [row for row in np.argsort(-np.array(scores), kind="stable") if row not in (a, b, c)]
        expected.append(order.index(d) if d in order else module.NEVER)
    assert module.answer_ranks(unit, asked).tolist() == expected


def test_equal_answers_go_to_the_lower_row():
    unit = np.eye(6, dtype=np.float32)[[0, 1, 2, 3, 3, 3]]
    asked = np.array([[0, 1, 2, 3], [0, 1, 2, 4], [0, 1, 2, 5]])
    assert module.answer_ranks(unit, asked).tolist() == [0, 1, 2]
    zero = np.zeros((20, 3), dtype=np.float32)
    assert module.answer_ranks(zero, np.array([[0, 1, 2, 19]])).tolist() == [16]


@pytest.mark.parametrize("restrict_vocab", [None, 60])
def test_equals_gensim_in_each_section(vectors, questions, restrict_vocab):
    pytest.importorskip("gensim")
    _, theirs = vectors.to_gensim().evaluate_word_analogies(
        str(questions), restrict_vocab=restrict_vocab or 300000, case_insensitive=True, dummy4unknown=False
    )
    ours = evaluate_analogy(vectors, questions, restrict_vocab=restrict_vocab)
    for section, expected in zip([*ours.sections, ours.overall], theirs, strict=True):
        right, wrong = len(expected["correct"]), len(expected["incorrect"])
        assert section.scored == right + wrong
        if section.scored:
            assert section.precision[1] == pytest.approx(right / (right + wrong))
    assert 0.1 < ours.overall.precision[1] < 0.95
    assert ours.overall.precision[1] < ours.overall.precision[5] < ours.overall.precision[15]


def test_counts_totals_and_case(vectors, questions):
    result = evaluate_analogy(vectors, questions)
    assert [section.name for section in result.sections] == ["capital-world", "gram8-plural", "gram9-unknown"]
    assert [section.kind for section in result.sections] == ["semantic", "syntactic", "syntactic"]
    assert [section.total for section in result.sections] == [462, 462, 1]
    assert [section.scored for section in result.sections] == [380, 380, 0]
    assert result.sections[2].precision is None
    assert (result.semantic.scored, result.syntactic.scored, result.overall.scored) == (380, 380, 760)
    assert (result.semantic.total, result.syntactic.total, result.overall.total) == (462, 463, 925)
    assert result.semantic.precision == result.sections[0].precision
    assert result.lowered == 40
    assert result.unknown == 12
    assert json.loads(json.dumps(result.as_dict()))["overall"]["precision"]["5"] == result.overall.precision[5]
    exact = evaluate_analogy(vectors, questions, case="exact")
    assert [section.scored for section in exact.sections] == [0, 380, 0]
    assert exact.semantic.precision is None


def test_precision_counted_by_hand(tmp_path):
    """b − a + c is about (0, 1, 0.01): nearest is "near", then "middle", then "far"."""
    words = ["a", "b", "c", "near", "middle", "far"]
    matrix = [[1, 0, 0], [0, 1, 0], [1, 0, 0.01], [0, 1, 0.02], [0.3, 1, 0], [1, 1, 0]]
    path = tmp_path / "questions"
    path.write_text(": s\na b c near\na b c far\n: gram\na b c b\n")
    result = evaluate_analogy(Vectors(words, matrix), path)
    assert result.sections[0].precision == {1: 0.5, 5: 1.0, 15: 1.0}
    assert result.sections[1].precision == {1: 0.0, 5: 0.0, 15: 0.0}  # the answer is a word of the question
    assert result.overall.precision == pytest.approx({1: 1 / 3, 5: 2 / 3, 15: 2 / 3})


def test_halves_are_fixed_and_share_nothing(vectors, questions):
    whole = evaluate_analogy(vectors, questions)
    dev = evaluate_analogy(vectors, questions, half="dev")
    test = evaluate_analogy(vectors, questions, half="test")
    assert (dev.half, test.half, whole.half) == ("dev", "test", None)
    for all_, first, second in zip(whole.sections, dev.sections, test.sections, strict=True):
        assert first.total == (all_.total + 1) // 2
        assert first.total + second.total == all_.total
        assert first.scored + second.scored == all_.scored
        if all_.scored:
            right = first.precision[1] * first.scored + second.precision[1] * second.scored
            assert right == pytest.approx(all_.precision[1] * all_.scored)


def test_semantic_or_syntactic_only(tmp_path, vectors):
    path = tmp_path / "questions"
    path.write_text(": family\nnoun1 noun1s noun2 noun2s\n")
    result = vectors.evaluate_analogy(path)
    assert result.syntactic is None and result.semantic.scored == 1


def test_sections_of_others_are_neither_semantic_nor_syntactic(tmp_path, vectors):
    path = tmp_path / "questions"
    for title in ("", ": I01 [noun - plural_reg]\n"):
        path.write_text(title + "noun1 noun1s noun2 noun2s\n")
        result = vectors.evaluate_analogy(path)
        assert (result.semantic, result.syntactic, result.overall.scored) == (None, None, 1)
    assert result.sections[0].name == "I01 [noun - plural_reg]"
    others = [": family\n", ": gram6-nationality-adjective\n", ": colours\n", ": grammatik\n"]
    path.write_text("".join(title + "noun1 noun1s noun2 noun2s\n" for title in others))
    result = vectors.evaluate_analogy(path)
    assert [section.kind for section in result.sections] == ["semantic", "syntactic", "", ""]
    assert (result.semantic.scored, result.syntactic.scored, result.overall.scored) == (1, 1, 4)


def test_reading(tmp_path):
    path = tmp_path / "questions"
    path.write_bytes("// a comment\r\n: one\r\na b c d\r\n\r\n:  two words \r\né f g h\r\n".encode())
    assert read_questions(path) == [("one", [("a", "b", "c", "d")]), ("two words", [("é", "f", "g", "h")])]


@pytest.mark.parametrize(("first", "n"), [("word1 word2 word3 target", 2), ("a b c d", 3), ("word1 b c d", 3)])
def test_a_first_line_of_names_is_no_question(tmp_path, first, n):
    (tmp_path / "q").write_text(f"{first}\nking queen man woman\nword_a word_b word_c word_d\n")
    assert len(read_questions(tmp_path / "q")[0][1]) == n
    (tmp_path / "q").write_text(f"// made by hand\n{first}\nking queen man woman\nword_a word_b word_c word_d\n")
    assert len(read_questions(tmp_path / "q")[0][1]) == n


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b": a\n: b\n", "holds no analogy question"),
        (b": a\na b c d\n\na b c\n", r":4: expected four words or ': section', found 3 words \('a b c'\)"),
        (b"year\tyears\n", r":1: .*found 2 words .*, as in BATS: join two such pairs of a relation into one line"),
        (b": a\na b c d e\n", r":2: expected four words or ': section', found 5 words"),
        (b": a\na b c d\n:\n", r":3: expected the name of a section"),
        (b": a\na b c \xff\n", r":2: not UTF-8"),
        (b": a\nx y z w\n", "none of the 1 questions has vectors for all four words"),
    ],
)
def test_bad_files(tmp_path, vectors, content, message):
    path = tmp_path / "questions.txt"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message) as caught:
        evaluate_analogy(vectors, path)
    assert str(path) in str(caught.value)


def test_bad_options(vectors, questions):
    with pytest.raises(ConfigError, match="restrict_vocab must be a whole number of at least 1"):
        evaluate_analogy(vectors, questions, restrict_vocab=0)
    with pytest.raises(ConfigError, match="half must be dev or test"):
        evaluate_analogy(vectors, questions, half="first")


@pytest.mark.realdata
def test_google_questions(mirror):
    from w2vneg.data import catalog as datasets

    sections = read_questions(datasets.resolve("google", mirror=mirror))
    assert sum(len(questions) for _, questions in sections) == 19544
    words = sorted({word.lower() for _, questions in sections for question in questions for word in question})
    random = Vectors(words, np.random.default_rng(0).normal(size=(len(words), 10)))
    result = random.evaluate_analogy("google", mirror=mirror)
    kinds = [section.kind for section in result.sections]
    assert (kinds.count("semantic"), kinds.count("syntactic")) == (5, 9)
    assert (result.semantic.scored, result.syntactic.scored) == (8869, 10675)
    assert result.overall.precision[1] < 0.05


@pytest.mark.realdata
def test_google_phrases(mirror):
    from w2vneg.data import catalog as datasets

    sections = read_questions(datasets.resolve("google-phrases", mirror=mirror))
    assert sorted(len(questions) for _, questions in sections) == [140, 462, 600, 756, 1260]
