"""Near spellings: the few that a slip of the fingers makes, the frequent first, and soon enough to wait for."""

import time

import numpy as np
import pytest

from w2vneg.data.words import PackedStrings, near_hint, near_spellings


@pytest.mark.parametrize("word", ["stoen", "stne", "stonee", "stpne", "sttone"])
def test_one_slip(word):
    assert near_spellings(word, PackedStrings(["tower", "stone", "x"])) == ["stone"]


@pytest.mark.parametrize("word", ["encyclopedai", "encylopdia", "encyklopetia", "enyclopaedia"])
def test_two_slips_in_a_long_word(word):
    assert near_spellings(word, PackedStrings(["tower", "encyclopedia", "x"])) == ["encyclopedia"]


def test_whatever_the_letters():
    words = PackedStrings(["日本語の本", "naïveté", "a\nbcde", "\ud800bcde"])
    for word in ("日本語本", "naivité", "a\nbcd", "\ud800bcd"):
        assert near_spellings(word, words)[0][:1] == word[:1]


def test_case_comes_first_then_fewer_edits_then_frequency():
    words = PackedStrings(["stone", "paris", "store", "Paris", "stove"])
    assert near_spellings("PARIS", words)[:2] == ["paris", "Paris"]
    assert near_spellings("stoe", words) == ["stone", "store", "stove"]
    assert near_spellings("stones", words, 2) == ["stone", "store"]
    assert near_spellings("", words) == near_spellings("x" * 1000, words) == near_spellings("xyz", words) == []
    assert near_spellings("x", PackedStrings([])) == []


def test_another_form_of_unicode_comes_first_and_is_named():
    words = PackedStrings(["cafe", "caf\u00e9", "cafes", "n\u0303", "fin"])
    assert near_spellings("cafe\u0301", words)[0] == "caf\u00e9"
    assert near_spellings("\u00f1", words) == ["n\u0303"] and near_spellings("\ufb01n", words)[0] == "fin"
    assert near_hint("cafe\u0301", words).startswith("; did you mean 'caf\u00e9', in Unicode 'caf\\xe9' or")
    assert near_hint("cafed", words) == "; did you mean 'cafe' or 'cafes'?"


@pytest.mark.parametrize(
    ("n", "seconds"), [(20_000, 0.1), pytest.param(1_000_000, 3.0, marks=pytest.mark.slow)], ids=["20,000", "1 M"]
)
def test_a_misspelt_word_is_told_at_once(n, seconds):
    rng = np.random.default_rng(2)
    letters = rng.choice(list("abcdefghijklmnopqrstuvwxyz"), (n, 12), p=(p := 1 / np.arange(3, 29)) / p.sum())
    words = PackedStrings("".join(row[:length]) for row, length in zip(letters, rng.integers(3, 12, n), strict=True))
    words.find("")  # makes the table
    for word in ("abcd", "qzxjv", words[n // 2] + "x", "encyclopedai"):
        took = []
        for _ in range(3):
            began = time.thread_time()
            near_spellings(word, words)
            took.append(time.thread_time() - began)
        assert min(took) < seconds, (word, took)


@pytest.mark.parametrize(("word", "near"), [("4", ["000004"]), ("0012", ["12"]), ("000004", []), ("00", ["0"])])
def test_numbers_with_and_without_zeros(word, near):
    assert near_spellings(word, PackedStrings(["000004", "12", "0", "x4"]))[:1] == near
