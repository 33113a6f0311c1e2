"""Near spellings: those that trying all edits finds, whatever the letters, and soon enough to wait for."""

import time

import numpy as np
import pytest

from w2vneg.data import words as module
from w2vneg.data.words import PackedStrings, near_spellings


def edits_of(word, letters):
    """Return what one edit makes of `word` (set of str), each written out."""
    parts = [(word[:i], word[i:]) for i in range(len(word) + 1)]
    removed = {a + b[1:] for a, b in parts if b}
    swapped = {a + b[1] + b[0] + b[2:] for a, b in parts if len(b) > 1}
    replaced = {a + letter + b[1:] for a, b in parts if b for letter in letters}
    return removed | swapped | replaced | {a + letter + b for a, b in parts for letter in letters}


def by_trying(word, words, shown):
    """Return what `near_spellings` should, by trying all edits of `word`."""
    letters = set("".join(words)) | set(word)
    one = edits_of(word, letters)
    two = {other for edit in one for other in edits_of(edit, letters)} if 4 <= len(word) <= 12 else set()
    cased = [form for form in (word.lower(), word.capitalize(), word.upper(), word.title()) if form in words]
    found = cased + [other for other in words if other in one] + [other for other in words if other in two]
    return [other for other in dict.fromkeys(found) if other != word][:shown]


@pytest.mark.parametrize("letters", ["ab", "abcA", "aé漢😀\n\0@\ud800"])
def test_what_is_near_is_what_trying_all_edits_finds(monkeypatch, letters):
    monkeypatch.setattr(module, "_NEAR_BLOCK", 100)  # several of them
    rng = np.random.default_rng(1)
    known = ["".join(rng.choice(list(letters), length)) for length in rng.integers(0, 9, 250)]
    known = list(dict.fromkeys([*known, letters * 50]))
    words = PackedStrings(known)
    for length in (1, 2, 3, 4, 5, 6):
        word = "".join(rng.choice(list(letters), length))
        for shown in (3, 1000):
            assert near_spellings(word, words, shown) == by_trying(word, known, shown)


def test_case_comes_first_then_fewer_edits_then_frequency():
    words = PackedStrings(["stone", "paris", "store", "Paris", "shore"])
    assert near_spellings("PARIS", words)[:2] == ["paris", "Paris"]
    assert near_spellings("stoe", words) == ["stone", "store", "shore"]
    assert (
        near_spellings("", words) == near_spellings("x" * 1000, words) == near_spellings("x", PackedStrings([])) == []
    )
    long = "internationalisations"
    assert (
        near_spellings(long[1:], PackedStrings([long, "a"])) == [long]
        and near_spellings(long[2:], PackedStrings([long])) == []
    )


@pytest.mark.parametrize(
    ("n", "seconds"), [(20_000, 0.05), pytest.param(1_000_000, 0.5, marks=pytest.mark.slow)], ids=["20,000", "1 M"]
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
