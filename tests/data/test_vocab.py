"""The vocabulary: its order, its file, and what is refused."""

import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from w2vneg.data.vocab import Vocabulary
from w2vneg.ground.errors import ConfigError, InputError, UnknownNameError

WORDS = st.text(min_size=1).filter(lambda word: word.split() == [word] and word.isprintable())

needs_awk = pytest.mark.skipif(not shutil.which("awk"), reason="awk is not here")


def test_order_is_by_falling_count_then_bytes():
    vocab = Vocabulary.from_counts({"b": 2, "a": 2, "é": 2, "z": 9, "😀": 2, "B": 2, "\uffee": 2})
    assert vocab.words == ["z", "B", "a", "b", "é", "\uffee", "😀"]
    assert sorted(vocab.words[1:], key=str.encode) == vocab.words[1:]
    assert vocab.counts.dtype == np.int64
    assert vocab.counts.tolist() == [9] + [2] * 6


def test_looking_up():
    vocab = Vocabulary(["the", "Paris", "cat"], [5, 3, 2])
    assert len(vocab) == 3 and "cat" in vocab and "dog" not in vocab
    assert [vocab.id(word) for word in vocab.words] == [0, 1, 2]
    assert vocab.words.index("cat") == 2
    assert "3 words, 10 tokens" in repr(vocab)
    with pytest.raises(UnknownNameError, match=r"^the word 'cta' is not in .*; did you mean 'cat'"):
        vocab.id("cta")
    with pytest.raises(UnknownNameError, match=r"did you mean 'Paris'\?$"):
        vocab.id("paris")
    with pytest.raises(UnknownNameError, match=r"is not in the vocabulary\.$"):
        vocab.id("xylophone")


def test_equality():
    vocab = Vocabulary(["a", "b"], [2, 1])
    assert vocab == Vocabulary.from_counts({"b": 1, "a": 2})
    assert vocab != Vocabulary(["a", "b"], [2, 2])
    assert vocab != Vocabulary(["a", "c"], [2, 1])
    assert vocab != "a"
    assert vocab.digest() != Vocabulary(["a", "b"], [2, 2]).digest()


@pytest.mark.parametrize(
    ("words", "counts", "message"),
    [
        (["a", "b"], [1, 2], "'b' is out of order"),
        (["b", "a"], [1, 1], "'a' is out of order"),
        (["a", "a"], [1, 1], "'a' occurs twice"),
        (["a", "b c"], [1, 1], "'b c' is empty or contains white space"),
        (["a", ""], [1, 1], "'' is empty"),
        (["a", 3], [1, 1], "3 is not a string"),
        (["a"], [1, 1], "1 words but counts of shape"),
        (["a", "b"], [1, -1], "whole numbers of 0 or more, not -1"),
        (["a", "b"], [2.5, 1], r"whole numbers of 0 or more, not 2\.5; round them$"),
        (["a", "b"], [2, float("nan")], "whole numbers of 0 or more, not nan"),
        (["a", "b"], [2, None], "whole numbers, one for each word$"),
        (["a"], 5, "1 words but counts of shape"),
    ],
)
def test_unfit_words(words, counts, message):
    with pytest.raises(ConfigError, match=message):
        Vocabulary(words, counts)


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ({"a": 2.5, "b": 1}, r"not 2\.5; round them$"),
        ({"a": None, "b": 1}, "whole numbers, one for each word"),
        ({"a": 1, 3: 1}, "3 is not a string"),
        ([("a", 2), ("b", 1)], "takes a mapping from words to counts, not .*Counter"),
    ],
)
def test_unfit_counts(counts, message):
    with pytest.raises(ConfigError, match=message):
        Vocabulary.from_counts(counts)
    assert Vocabulary.from_counts({"a": 1.0, "b": np.int32(2)}) == Vocabulary(["b", "a"], [2, 1])
    assert Vocabulary.from_counts(pd.Series({"a": 1, "b": 2})) == Vocabulary(["b", "a"], [2, 1])


@given(st.dictionaries(WORDS, st.integers(0, 10**15)))
def test_file_round_trip(tmp_path_factory, counts):
    vocab = Vocabulary.from_counts(counts)
    path = tmp_path_factory.mktemp("vocab") / "vocab.tsv"
    vocab.save(path)
    assert Vocabulary.load(path) == vocab


def test_a_word_that_begins_with_a_byte_order_mark(tmp_path):
    vocab = Vocabulary(["\ufeffa", "b"], [2, 1])
    vocab.save(tmp_path / "v")
    assert Vocabulary.load(tmp_path / "v") == vocab
    (tmp_path / "edited").write_bytes(b"\xef\xbb\xbfa\t2\r\nb\t1\r\n")
    assert Vocabulary.load(tmp_path / "edited") == Vocabulary(["a", "b"], [2, 1])
    (tmp_path / "headed").write_bytes(b"\xef\xbb\xbfword\tcount\r\na\t2\r\nb\t1\r\n")
    (tmp_path / "blanks").write_bytes(b"word count\na 2\nb 1\n")
    for name in ("headed", "blanks"):
        assert Vocabulary.load(tmp_path / name) == Vocabulary(["a", "b"], [2, 1])


@needs_awk
@pytest.mark.parametrize(("head", "end"), [("", "\n"), ("\ufeff", "\r\n")])
def test_words_without_counts_are_refused_with_what_counts_them(tmp_path, monkeypatch, head, end):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my words").write_text(f"{head}the\nof\n\nand\nthe\n0\nunseen\n", "utf-8", newline=end)
    (tmp_path / "TEXT").write_text("the cat and the\n\tdog of 0 0 the\n")
    with pytest.raises(InputError, match="my words:1: expected word, tab, count; found 'the'; count the") as error:
        Vocabulary.load("my words")
    subprocess.run(str(error.value).partition("here TEXT: ")[2], shell=True, check=True)
    assert Vocabulary.load("counted.txt") == Vocabulary(["the", "0", "and", "of"], [3, 2, 1, 1])


@needs_awk
@pytest.mark.parametrize("head", ["", "word count\n", "\ufeff", "\ufeffword count\r\n"])
def test_words_in_another_order_are_refused_with_what_sorts_them(tmp_path, monkeypatch, head):
    """word2vec.c and GloVe have equally frequent words in any order."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my words").write_text(f"{head}the 10\nto 9\nof 9\né 9\nB 9\n", "utf-8", newline="")
    line = 3 + head.count("\n")
    with pytest.raises(InputError, match=f"my words:{line}: 'of' is out of order; sort by falling count, ") as error:
        Vocabulary.load("my words")
    subprocess.run(str(error.value).partition("by bytes: ")[2], shell=True, check=True)
    assert Vocabulary.load("counted.txt") == Vocabulary(["the", "B", "of", "to", "é"], [10, 9, 9, 9, 9])


@needs_awk
@pytest.mark.parametrize("blanks", ["", "   "])
def test_counts_before_the_words_are_refused_with_what_turns_them(tmp_path, monkeypatch, blanks):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my words").write_text("".join(f"{blanks}{row}\n" for row in ("19 책을", "19 책", "7 a", "102 the")))
    with pytest.raises(InputError, match=f"my words:1: expected word, tab, count; found '{blanks}19 책을'; ") as error:
        Vocabulary.load("my words")
    subprocess.run(str(error.value).partition("after the word: ")[2], shell=True, check=True)
    assert Vocabulary.load("counted.txt") == Vocabulary(["the", "책", "책을", "a"], [102, 19, 19, 7])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a\t2\nb 1\n", "v:2: expected word, tab, count; found 'b 1'$"),
        (b"word\tcount\na\t2\nb\t3\n", "v:3: 'b' is out of order"),
        (b"word\tcount\na\t2\nb\t\n", "v:3: expected"),
        (b"a\t2\nword\tcount\n", "v:2: expected"),
        (b"a\t2\nb\t1.5\n", "v:2: expected"),
        (b"a\t2\nb\t-1\n", "v:2: expected"),
        (b"a\t2\nb\t1\t1\n", "v:2: expected"),
        (b"1\n2\t3\t4\n", "v:1: expected"),
        (b"a\t2\nb\t\n", "v:2: expected"),
        (b"a\t2\nb\t1234567890123456789\n", "v:2: expected"),
        (b"a\t2\r\r\n", "v:1: expected"),
        ("a\t2\nb\t\u0661\n".encode(), "v:2: expected"),
        (b"a\t3\n" * 20_000 + b"b 1\n", "v:20001: expected"),
        (b"a\rb\t2\n", "v:1: the word 'a\\\\rb' is empty or contains white space"),
        (b"a\t2\n\t1\n", "v:2: the word '' is empty"),
        (b"a\t2\nb c\t1\n", "v:2: the word 'b c'"),
        (b"a\t2\nb\t1\na\t1\n", "v:3: the word 'a' occurs twice"),
        (b"a\t2\nb\t3\n", "v:2: 'b' is out of order"),
        (b"a\t2\nb\t1", "v:2: the last line has no newline"),
        (b"a\t2\n\xe9\t1\n", "v:2: not UTF-8"),
    ],
)
def test_bad_files(tmp_path, data, message):
    path = tmp_path / "v"
    path.write_bytes(data)
    with pytest.raises(InputError, match=message):
        Vocabulary.load(path)


def test_missing_file(tmp_path):
    with pytest.raises(InputError, match="none: cannot read the vocabulary"):
        Vocabulary.load(tmp_path / "none")
