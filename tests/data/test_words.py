"""Words in one buffer: a sequence like a list of str, with rows found by hash."""

import copy
import os
import pickle
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from w2vneg.data import words as module
from w2vneg.data.words import PackedStrings
from w2vneg.ground.errors import ConfigError

ANY = st.text(st.characters(), max_size=6)  # empty ones, blanks, lone surrogates and NULs among them


@given(st.lists(ANY), ANY, st.slices(12))
def test_like_a_list(given, other, part):
    words = PackedStrings(given)
    assert words == given and list(words) == given and len(words) == len(given)
    assert [words[i] for i in range(-len(given), len(given))] == given * 2
    assert words[part] == given[part]
    assert (words == [*given, other]) is False
    for word in [*given, other]:
        row = given.index(word) if word in given else -1
        assert words.find(word) == row
        assert (word in words) == (row >= 0)
    sought = [*reversed(given), other, "absent"]
    assert words.find_all(iter(sought)).tolist() == [given.index(w) if w in given else -1 for w in sought]
    again = [(given.index(word), row) for row, word in enumerate(given) if given.index(word) != row]
    assert words.repeated() == (again[0] if again else None)


@given(st.lists(ANY, max_size=20))
def test_words_with_equal_hashes_are_told_apart(given):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "hash", len, raising=False)
        words = PackedStrings(given)
        rows = [given.index(word) for word in given]
        assert [words.find(word) for word in given] == words.find_all(given).tolist() == rows
        again = [(first, row) for row, first in enumerate(rows) if first != row]
        assert words.repeated() == (again[0] if again else None)
        assert words.find("absent") == (given.index("absent") if "absent" in given else -1)


def test_more_words_than_are_decoded_together(monkeypatch):
    monkeypatch.setattr(module, "_BLOCK", 7)
    given = [f"wört{i}" for i in range(50)]
    words = PackedStrings(iter(given))
    assert list(words) == words[:] == words[-50:99] == given
    assert words.find_all(given).tolist() == list(range(50))
    assert words.encoded(3, 5) == [b"w\xc3\xb6rt3", b"w\xc3\xb6rt4"]
    assert words.offsets.dtype == np.int64 and words.offsets[-1] == len(words.data)
    assert PackedStrings.of_data(words.data) == words


def test_as_a_list_would():
    words = PackedStrings(["a", "b", "a"])
    assert words.index("b") == 1 and words.index("a", 1) == 2 and words.count("a") == 2
    assert words == ("a", "b", "a") and words == ["a", "b", "a"] and words != "aba" and words != 3
    assert words == PackedStrings(["a", "b", "a"]) and words != PackedStrings(["ab", "a", ""])
    assert repr(words) == "PackedStrings(['a', 'b', 'a'], 3 in all)"
    assert repr(PackedStrings("abcd")) == "PackedStrings(['a', 'b', 'c', …], 4 in all)"
    assert PackedStrings.of(words) is words
    with pytest.raises(ValueError, match="'c' is not among the words"):
        words.index("c")
    with pytest.raises(IndexError):
        words[3]
    assert words.find(3) == -1 and None not in words
    with pytest.raises(ConfigError, match="the word 3 is not a string"):
        PackedStrings(["a", 3])
    with pytest.raises(TypeError):
        hash(words)


def test_another_process_hashes_otherwise():
    words = PackedStrings(["one", "two", "three"])
    assert words.find("three") == 2
    code = "import pickle, sys; w = pickle.load(sys.stdin.buffer); print([w.find(x) for x in ('one', 'two', 'three')])"
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", code],
            input=pickle.dumps(words),
            capture_output=True,
            env=os.environ | {"PYTHONHASHSEED": seed},
            check=True,
        )
        assert done.stdout.split() == [b"[0,", b"1,", b"2]"]
    assert copy.deepcopy(words) == words


def test_they_take_little_memory():
    n = 200_000
    tracemalloc.start()
    try:
        words = PackedStrings((f"word{i:06}" for i in range(n)), distinct=True)
        held = tracemalloc.get_traced_memory()[0]
        words.find("word000001")
        with_table = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert held < n * (11 + 8 + 1)
    assert with_table < n * (11 + 8 + 12 + 1)


def test_the_table_for_looking_up_is_made_again_once_it_was_let_go():
    words = PackedStrings(["a", "b", "c"])
    assert words.find("c") == 2
    words.forget_table()
    assert "_table" not in vars(words)
    assert words.find("b") == 1
