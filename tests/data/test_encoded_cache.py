"""Entries of the cache that are not what was written: dropped, made again, and said; never trained on."""

import json
import os
import random
import shutil
import sys

import numpy as np
import pytest
from reading import encode_baskets

from w2vneg.data.encoded import count, encode, encode_corpus
from w2vneg.data.readers.sources import ByteStream
from w2vneg.ground.errors import InputError
from w2vneg.ground.files.caches import cache_dir

TEXT = "the cat sat on the mat\n\nthe dog\nzebra\nthe cat\nthe dog sat\n"
LONG_AGO = 1_000_000_000
MUTATIONS = 60


@pytest.fixture(autouse=True)
def fresh_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("W2VNEG_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def corpus_file(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text(TEXT)
    os.utime(path, (LONG_AGO, LONG_AGO))  # settled, so that it is remembered by its times
    return path


@pytest.fixture
def bytes_read(monkeypatch):
    """A list that grows by the size of each piece of stored bytes that is read."""
    sizes = []
    stored = ByteStream.stored

    def watched(self):
        for piece in stored(self):
            sizes.append(len(piece))
            yield piece

    monkeypatch.setattr(ByteStream, "stored", watched)
    return sizes


def the_entry():
    (entry,) = (path for path in cache_dir("corpora").glob("*-*") if path.is_dir())
    return entry


def the_memo():
    (memo,) = cache_dir("corpora", "memo").iterdir()
    return memo


def change(path, edit):
    """Let `edit` make other bytes of a file's, in place."""
    path.chmod(0o644)
    path.write_bytes(edit(path.read_bytes()))


def numbers(dtype, edit):
    """Return an edit of bytes that lets `edit` change an array of them in place."""

    def edited(data):
        array = np.frombuffer(data, dtype).copy()
        edit(array)
        return array.tobytes()

    return edited


def put(place, value):
    return lambda array: array.__setitem__(place, value)


def same(one, two):
    return np.array_equal(one.ids, two.ids) and np.array_equal(one.offsets, two.offsets) and one.vocab == two.vocab


ZEROED = numbers(np.int32, lambda ids: ids.fill(0))
DAMAGES = {
    "zeroed ids": ("ids.i32", ZEROED, "ids.i32 differs from its checksum"),
    "an id past the vocabulary": ("ids.i32", numbers(np.int32, put(3, 7)), "ids.i32 differs from its checksum"),
    "a negative id": ("ids.i32", numbers(np.int32, put(0, -1)), "ids.i32 differs from its checksum"),
    "ids cut short": ("ids.i32", lambda data: data[:-4], "ids.i32 has 52 bytes, not 56"),
    "no ids": ("ids.i32", lambda data: b"", "ids.i32 has 0 bytes"),
    "more ids": ("ids.i32", lambda data: data + data, "ids.i32 has 112 bytes"),
    "another offset": ("offsets.i64", numbers(np.int64, put(1, 5)), "offsets.i64 differs from its checksum"),
    "a falling offset": ("offsets.i64", numbers(np.int64, put(1, 99)), "offsets.i64 differs from its checksum"),
    "a negative offset": ("offsets.i64", numbers(np.int64, put(0, -9)), "offsets.i64 differs from its checksum"),
    "words that are none": ("vocab.tsv", lambda data: b"x" * len(data), "vocab.tsv differs from its checksum"),
    "another word": ("vocab.tsv", lambda data: data.replace(b"dog", b"cow"), "vocab.tsv differs from its checksum"),
    "another count": ("vocab.tsv", lambda data: data.replace(b"5", b"6"), "vocab.tsv differs from its checksum"),
    "half of the report": ("corpus.json", lambda data: data[: len(data) // 2], "corpus.json cannot be read"),
    "another report": ("corpus.json", lambda data: data.replace(b'"lines": 6', b'"lines": 7'), "corpus.json differs"),
    "no report": ("corpus.json", lambda data: b"[]", "corpus.json cannot be read"),
    "a deep report": ("corpus.json", lambda data: b"[" * 100_000, "corpus.json cannot be read"),
    "zeros": ("corpus.json", lambda data: bytes(len(data)), "corpus.json cannot be read"),
}


@pytest.mark.parametrize(("name", "edit", "found"), DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_entry_is_made_again_and_the_report_says_so(corpus_file, name, edit, found):
    first = encode_corpus(corpus_file, min_count=1)
    assert first.report.damage == ""
    change(the_entry() / name, edit)
    second = encode_corpus(corpus_file, min_count=1)
    assert same(first, second) and not second.report.cached
    assert second.report.damage.startswith(found)
    assert f"; the copy in the cache was damaged ({found}" in second.report.line()
    third = encode_corpus(corpus_file, min_count=1)
    assert same(first, third) and third.report.cached and third.report.damage == ""
    assert third.report.line().endswith("from the cache")


def test_a_file_that_is_gone_or_a_folder(corpus_file):
    first = encode_corpus(corpus_file, min_count=1)
    (the_entry() / "offsets.i64").unlink()
    second = encode_corpus(corpus_file, min_count=1)
    assert same(first, second) and second.report.damage == "offsets.i64: No such file or directory"
    (the_entry() / "ids.i32").unlink()
    (the_entry() / "ids.i32").mkdir()
    second = encode_corpus(corpus_file, min_count=1)
    assert same(first, second) and second.report.damage == "ids.i32: Is a directory"
    assert encode_corpus(corpus_file, min_count=1).report.cached


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_may_not_be_read(corpus_file):
    first = encode_corpus(corpus_file, min_count=1)
    (the_entry() / "vocab.tsv").chmod(0)
    second = encode_corpus(corpus_file, min_count=1)
    assert same(first, second) and second.report.damage == "vocab.tsv: Permission denied"


@pytest.mark.parametrize("in_memory", [0, 1 << 28])
def test_in_memory_or_mapped(corpus_file, monkeypatch, in_memory):
    expected = encode_corpus(corpus_file, min_count=1, use_cache=False)
    monkeypatch.setattr(encode, "_PIECE", 2)
    monkeypatch.setattr(encode, "_IN_MEMORY", in_memory)
    for _ in range(2):
        corpus = encode_corpus(corpus_file, min_count=1)
        assert same(expected, corpus)
        assert not corpus.ids.flags.writeable and not corpus.offsets.flags.writeable
        assert corpus.stored == 14 * 4 + 6 * 8 + len("the\t5\ncat\t2\ndog\t2\nsat\t2\nmat\t1\non\t1\nzebra\t1\n")
    change(the_entry() / "offsets.i64", numbers(np.int64, put(2, 1)))
    assert "differs from its checksum" in encode_corpus(corpus_file, min_count=1).report.damage


def test_other_formats_are_replaced_without_a_word(corpus_file, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("w2vneg.data.encoded.encode.FORMAT", count.FORMAT + 1)
        encode_corpus(corpus_file, min_count=1)
    second = encode_corpus(corpus_file, min_count=1)
    assert not second.report.cached and second.report.damage == "" and the_entry()


def test_baskets_tell_of_damage(corpus_file):
    encode_baskets(corpus_file)
    change(the_entry() / "ids.i32", ZEROED)
    line = encode_baskets(corpus_file).report.line()
    assert line.endswith("; the copy in the cache was damaged (ids.i32 differs from its checksum) and was made again")


def test_a_damaged_memo_only_costs_time(corpus_file, bytes_read):
    encode_corpus(corpus_file, min_count=1)
    memo = the_memo()
    [[path, stamp, digest]] = json.loads(memo.read_text())
    damaged = ["", "[3]", "{}", '[["a"]]', "[" * 100_000, json.dumps([[path, stamp, 7]])]
    damaged += [json.dumps([[path, stamp, digest[:-1] + "\ud800"]]), json.dumps([[path, stamp, [digest]]])]
    for content in damaged:
        memo.write_text(content)
        assert encode_corpus(corpus_file, min_count=1).report.cached
    assert sum(bytes_read) == (1 + len(damaged)) * len(TEXT)
    memo.write_text(json.dumps([[path, stamp, "0" * 64]]))  # as if it were another text
    again = encode_corpus(corpus_file, min_count=1)
    assert not again.report.cached and again.report.damage == "" and the_entry()
    assert encode_corpus(corpus_file, min_count=1).report.cached


def mutated(data, rng):
    """Return `data` with a few bits, bytes or a stretch of them changed, or cut short."""
    kind = rng.choice(["bit", "byte", "stretch", "zeros", "cut", "grow", "swap", "random"])
    data, at = bytearray(data), rng.randrange(max(1, len(data)))
    if kind == "cut" or not data:
        return bytes(data[:at])
    if kind == "grow":
        return bytes(data) + rng.randbytes(rng.randint(1, 9))
    if kind == "random":
        return rng.randbytes(rng.choice([len(data), rng.randrange(100)]))
    if kind == "bit":
        data[at] ^= 1 << rng.randrange(8)
    elif kind == "byte":
        data[at] = rng.randrange(256)
    elif kind == "swap":
        other = rng.randrange(len(data))
        data[at], data[other] = data[other], data[at]
    else:
        size = min(rng.randint(1, 20), len(data) - at)
        data[at : at + size] = bytes(size) if kind == "zeros" else rng.randbytes(size)
    return bytes(data)


def test_whatever_happens_to_an_entry_the_ids_are_the_same(corpus_file, tmp_path):
    clean = encode_corpus(corpus_file, min_count=1)
    shutil.copytree(cache_dir("corpora"), tmp_path / "kept")
    files = sorted(path.relative_to(tmp_path / "kept") for path in (tmp_path / "kept").rglob("*") if path.is_file())
    assert len(files) == 5
    for seed in range(MUTATIONS):
        rng = random.Random(seed)
        shutil.rmtree(cache_dir("corpora"))
        shutil.copytree(tmp_path / "kept", cache_dir("corpora"))
        chosen = files[seed % len(files)]
        change(cache_dir("corpora") / chosen, lambda data, rng=rng: mutated(data, rng))
        found = encode_corpus(corpus_file, min_count=1)
        assert same(found, clean), f"{chosen}, seed {seed}"
        assert found.report.tokens == clean.report.tokens, f"{chosen}, seed {seed}"


def test_entries_are_read_only(corpus_file):
    encode_corpus(corpus_file, min_count=1)
    assert {path.stat().st_mode & 0o333 for path in the_entry().iterdir()} == {0}


def test_what_is_small_outlives_its_file(corpus_file):
    corpus = encode_corpus(corpus_file, min_count=1)
    expected = corpus.ids.tolist(), corpus.offsets.tolist()
    for name in ("ids.i32", "offsets.i64"):
        change(the_entry() / name, lambda data: b"")
    corpus.check()
    assert (corpus.ids.tolist(), corpus.offsets.tolist()) == expected


@pytest.mark.skipif(sys.platform == "win32", reason="a mapped file cannot be cut short there")
@pytest.mark.parametrize("name", ["ids.i32", "offsets.i64"])
def test_a_mapped_file_that_was_cut_short_is_told_between_rounds(corpus_file, monkeypatch, name):
    monkeypatch.setattr(encode, "_IN_MEMORY", 0)
    corpus = encode_corpus(corpus_file, min_count=1)
    corpus.check()
    change(the_entry() / name, lambda data: data[:4])
    with pytest.raises(InputError, match="the encoded corpus was truncated by another program while in use"):
        corpus.check()
