"""Phrases: scores as their formulas and as gensim has them, joining wherever the text is cut, files, commands."""

import random
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from w2vneg.data import phrases as phrases_room
from w2vneg.data.encoded import encode_corpus
from w2vneg.data.inputs import Input, encode_input
from w2vneg.data.phrases import Phrase, find_phrases, joined, read_phrases, write_phrases
from w2vneg.ground.errors import ConfigError, InputError
from w2vneg.run.model import Model


def made_up(n=900, seed=3):
    """Sentences in which half of all words are followed by one of their own."""
    rng = random.Random(seed)
    sentences = []
    for _ in range(n):
        sentence = []
        for _ in range(rng.randint(1, 8)):
            first = rng.randrange(40)
            sentence.append(f"w{first}")
            if rng.random() < 0.5:
                sentence.append(f"w{(first * 7 + 1) % 40}")
        sentences.append(sentence)
    return sentences


def naive(lines, pairs):
    """Join from left to right, pass after pass."""
    for level in sorted({pair.level for pair in pairs}):
        known = {pair[:2] for pair in pairs if pair.level == level}
        lines = [_joined(line, known) for line in lines]
    return lines


def _joined(line, known):
    out, waiting = [], None
    for word in line:
        if waiting is not None and (waiting, word) in known:
            out[-1], waiting = f"{waiting}_{word}", None
        else:
            out.append(word)
            waiting = word
    return out


def test_scores_by_their_formulas():
    text = [["a", "b", "c"], ["a", "b"], ["a", "b"], ["c", "a"]]  # a 4, b 3, c 2; ab 3, bc 1, ca 1
    (found,) = find_phrases(text, min_count=2, threshold=0.1)
    assert found == ("a", "b", pytest.approx((3 - 2) / 4 / 3 * (3 + 3)), 3, 1)
    (found,) = find_phrases(text, min_count=2, scoring="npmi", threshold=0.0)
    assert found.score == pytest.approx(np.log(3 / 9 / (4 / 9 * 3 / 9)) / -np.log(3 / 9))


@pytest.mark.slow
@pytest.mark.parametrize(("ours", "theirs", "threshold"), [("word2vec", "default", 2.0), ("npmi", "npmi", 0.3)])
def test_as_gensim_has_them(ours, theirs, threshold):
    phrases = pytest.importorskip("gensim.models.phrases")
    sentences = made_up()
    model = phrases.Phrases(sentences, min_count=5, threshold=threshold, scoring=theirs)
    found = find_phrases(sentences, min_count=5, threshold=threshold, scoring=ours)
    expected = model.export_phrases()
    assert len(found) >= 20
    assert {f"{one.first}_{one.second}": pytest.approx(one.score) for one in found} == expected
    text = "\n".join(map(" ".join, sentences)).encode()
    lines = b"".join(joined([text], found)).decode().split("\n")
    assert [line.split() for line in lines] == [list(model[sentence]) for sentence in sentences]


def test_a_second_pass_finds_longer_phrases():
    rng = random.Random(5)
    others = [f"w{k}" for k in range(30)]
    text = [[*rng.choices(others, k=3), "new", "york", "times", *rng.choices(others, k=3)] for _ in range(60)]
    text += [[*rng.choices(others, k=3), "new", "york", *rng.choices(others, k=3)] for _ in range(40)]
    found = find_phrases(text, threshold=0.7, scoring="npmi", passes=3)
    assert [(one[:2], one.count, one.level) for one in found] == [
        (("new", "york"), 100, 1),
        (("york", "times"), 60, 1),
        (("new_york", "times"), 60, 2),
    ]
    assert sum("new_york_times" in line for line in naive(text, found)) == 60


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.lists(st.sampled_from(["a", "b", "aé", "日本", "c_d", "longer-word-than-eight"]), max_size=9), max_size=5
    ),
    st.sets(st.tuples(*[st.sampled_from(["a", "b", "aé", "日本", "a_b"])] * 2, st.sampled_from([1, 2])), max_size=6),
    st.sampled_from([" ", "  ", "\t ", "\u00a0", "\u3000 ", "\u2028"]),
    st.data(),
)
def test_joining_does_not_depend_on_where_the_text_is_cut(lines, pairs, blank, data):
    known = [Phrase(first, second, 0.0, 0, level) for first, second, level in pairs]
    whole = "\n".join(map(blank.join, lines)).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=4)))
    pieces = [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    tally = Counter()
    found = b"".join(joined(pieces, known, tally)).decode()
    expected = naive(lines or [[]], known)
    assert [line.split() for line in found.split("\n")] == expected
    assert tally["joins"] == sum(map(len, lines)) - sum(map(len, expected))


def test_a_table_full_of_phrases():
    words = [f"w{k}" for k in range(300)]
    known = [Phrase(a, b, 0.0, 0) for a, b in zip(words[::2], words[1::2], strict=True)]
    assert b"".join(joined([" ".join(words).encode()], known)).decode().split() == [
        f"{one.first}_{one.second}" for one in known
    ]
    assert b"".join(joined([" ".join(reversed(words)).encode()], known)).count(b"_") == 0


def test_files_of_phrases(tmp_path):
    some = [Phrase("new", "york", 12.5, 40, 1), Phrase("new_york", "times", 3.25, 7, 2)]
    write_phrases(tmp_path / "found", some)
    assert read_phrases(tmp_path / "found") == some
    (tmp_path / "own").write_text("\nnew york\n \nunited states\n\n")
    assert read_phrases(tmp_path / "own") == [Phrase("new", "york", 0.0, 0), Phrase("united", "states", 0.0, 0)]
    for text, line in (("\nnew\n", 2), ("a b\nnew york\tmuch\t1\t1\n", 2), ("a b c\n", 1), ("a b\t1\t1\t0\n", 1)):
        (tmp_path / "own").write_text(text)
        with pytest.raises(InputError, match=f"own:{line}: expected two words"):
            read_phrases(tmp_path / "own")
    with pytest.raises(InputError, match="no such phrase file; 'w2vneg phrases' writes one"):
        read_phrases(tmp_path / "none")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"scoring": "pmi"}, "word2vec, npmi, not 'pmi'"),
        ({"min_count": 0}, "at least 1"),
        ({"passes": 0}, "at least 1"),
        ({"threshold": -1.0}, "scores are positive"),
        ({"threshold": float("nan")}, "scores are positive"),
        ({"threshold": 2.0, "scoring": "npmi"}, "npmi is between -1 and 1"),
    ],
)
def test_options_out_of_range(options, said):
    with pytest.raises(ConfigError, match=said):
        find_phrases([["a", "b"]], **options)


def test_a_text_that_can_be_read_once_has_one_pass():
    with pytest.raises(ConfigError, match="several passes read the text several times"):
        find_phrases(iter(made_up()), passes=2)
    assert find_phrases(iter(made_up()), scoring="npmi", threshold=0.3)


def test_found_joined_and_kept_by_the_command_line(run_cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text").write_text("\n".join(" ".join(line) for line in made_up()))
    result = run_cli("phrases", "text", "--out", "found.tsv", "--scoring", "npmi", "--threshold", 0.3)
    assert result.code == 0 and "phrases to found.tsv; the most frequent: w" in result.err
    kept = read_phrases("found.tsv")
    small = ["--loss=ns", "--dim=4", "--epochs=1", "--workers=1", "--subsample=0", "--save-model=m", "--quiet"]
    result = run_cli("train", "--corpus", "text", "--phrases", "found.tsv", *small)
    assert result.code == 0, result.err
    model = Model.load("m")
    expected = encode_corpus(naive(made_up(), kept)).vocab
    assert model.vocab == expected and any("_" in word for word in expected.words)
    assert model.origin.input["phrases"] == [str(tmp_path / "found.tsv")]
    assert run_cli("train", "--resume", "m", "--epochs", 2, "--quiet").code == 0
    result = run_cli("phrases", "text", "--out", "text")
    assert result.code == 2 and "text" in result.err
    Path("found.tsv").write_text("my own\n")
    result = run_cli("phrases", "text", "--out", "found.tsv")
    assert result.code == 1 and "found.tsv exists; replace it with --force" in result.err
    assert Path("found.tsv").read_text() == "my own\n"
    assert run_cli("phrases", "text", "--out", "found.tsv", "--force").code == 0
    assert Path("found.tsv").read_text() != "my own\n"
    result = run_cli("train", "--corpus", "text", "--phrases", "none")
    assert result.code == 1 and "none: no such phrase file" in result.err


def test_a_run_finds_phrases_for_itself(run_cli, tmp_path, monkeypatch):
    """Those of `w2vneg phrases`, looked for once; the model folder has them for whoever goes on."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    lines = [[f"w{k}" for k in rng.integers(0, 300, 9)] + ["new", "york"] for _ in range(60)]
    (tmp_path / "text").write_text("\n".join(map(" ".join, lines)))
    small = ["--loss=ns", "--dim=4", "--epochs=1", "--workers=1", "--subsample=0", "--min-count=1"]
    result = run_cli("train", "--corpus", "text", "--phrases", "auto", *small, "--save-model=m")
    assert (
        result.code == 0
        and "Phrases joined: 60 times; in the vocabulary: 1 of 1; the most frequent: new_york." in result.err
    )
    assert run_cli("phrases", "text", "--out", "found.tsv").code == 0
    assert read_phrases("m/phrases.tsv") == read_phrases("found.tsv")
    model = Model.load("m")
    assert model.vocab == encode_corpus(naive(lines, find_phrases(lines)), min_count=1).vocab
    assert model.origin.input["phrases"] == ["auto"]

    def not_again(*given, **options):
        raise AssertionError("phrases are looked for again")

    monkeypatch.setattr(phrases_room, "find_phrases", not_again)
    result = run_cli("train", "--corpus", "text", "--phrases", "auto", *small)
    assert result.code == 0 and "from the cache" in result.err, result.err
    result = run_cli("train", "--resume", "m", "--epochs", 2)
    assert result.code == 0 and "from the cache" in result.err, result.err
    assert Model.load("m").origin.input["phrases"] == ["auto"]
    result = run_cli("train", "--corpus", "-", "--phrases", "auto", "--force")
    assert result.code == 1 and "reads the text twice" in result.err
    result = run_cli("train", "--corpus", "text", "--phrases", "auto", "--phrases", "found.tsv", "--force")
    assert result.code == 1 and "--phrases auto cannot be combined with files" in result.err


def test_none_found_says_what_to_try(run_cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text").write_text("a b c d\n" * 9)
    hint = "no pair of words scores above 10; try --scoring npmi, a lower --threshold or --min-count"
    result = run_cli("phrases", "text", "--out", "found")
    assert result.code == 0 and f"Wrote 0 phrases to found: {hint}." in result.err
    result = run_cli("phrases", "text", "--out", "other", "--scoring", "npmi", "--threshold", 1)
    assert "scores above 1; try a lower --threshold or --min-count." in result.err
    result = run_cli("train", "--corpus", "text", "--phrases", "auto", "--min-count=1", "--subsample=0", "--dry-run")
    assert result.code == 0 and f"--phrases auto found no phrases to join: {hint}" in " ".join(result.err.split())


CASED = "\n".join(f"w{n % 7} New York w{n % 5}" if n % 2 else f"w{n % 3} w{n % 11} New new York" for n in range(60))


@pytest.mark.parametrize(
    ("phrases", "options", "said", "has"),
    [
        (
            "New York",
            ["--lowercase"],
            "joined: 60 times; in the vocabulary: 1 of 1; the most frequent: new_york.",
            1,
        ),
        ("New York\nnew York", ["--lowercase"], "joined: 60 times; in the vocabulary: 1 of 1;", 1),
        ("New York", [], "joined: 30 times; in the vocabulary: 1 of 1; the most frequent: New_York.", 1),
        ("New York\nw1 New", ["--min-count=9"], "joined: 33 times; in the vocabulary: 1 of 2", 1),
        (
            "new york",
            [],
            "none of the 1 phrases, such as 'new york', occurs in the text, so none was joined; .* capitalisation",
            0,
        ),
        ("new york", ["--lowercase"], "joined: 60 times", 1),
        ("York New", [], "none of the 1 phrases.*never side by side", 0),
        ("new, york,", [], r"none of the 1 phrases.*not in the vocabulary.*--tokenizer", 0),
    ],
)
def test_the_count_that_is_told_is_of_joins(run_cli, tmp_path, phrases, options, said, has):
    (tmp_path / "text").write_text(CASED)
    (tmp_path / "phrases").write_text(phrases)
    small = ["--loss=ns", "--dim=4", "--workers=1", "--subsample=0", "--dry-run"]
    files = ["--corpus", tmp_path / "text", "--phrases", tmp_path / "phrases"]
    for _ in range(2):  # the second time from the cache
        result = run_cli("train", *files, *small, *options)
        assert result.code == 0 and re.search(said, result.err), result.err
    encoded = Input("corpus", str(tmp_path / "text"), phrases=str(tmp_path / "phrases"))
    shaping = {"lowercase": "--lowercase" in options, "min_count": 9 if "--min-count=9" in options else 1}
    corpus = encode_input(encoded, **shaping)
    assert sum("_" in word for word in corpus.vocab.words) == has


def test_a_run_goes_on_with_the_phrases_that_it_joined(run_cli, tmp_path):
    (tmp_path / "text").write_text(CASED)
    (tmp_path / "phrases").write_text("New York")
    small = ["--loss=ns", "--dim=4", "--epochs=1", "--workers=1", "--subsample=0", "--lowercase"]
    files = ["--corpus", tmp_path / "text", "--phrases", tmp_path / "phrases", "--save-model", tmp_path / "m"]
    assert run_cli("train", *files, *small).code == 0
    assert [phrase[:2] for phrase in read_phrases(tmp_path / "m" / "phrases.tsv")] == [("new", "york")]
    result = run_cli("train", "--resume", tmp_path / "m", "--epochs", 2)
    assert result.code == 0 and "joined: 60 times" in result.err and "from the cache" in result.err, result.err
