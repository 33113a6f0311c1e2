"""A text that each rank reads a part of: the vocabulary and the sentences of one machine."""

import dataclasses
import gzip

import numpy as np
import pytest
from reading import encode_baskets

from w2vneg import Input, Vocabulary
from w2vneg.data.encoded import encode_corpus
from w2vneg.data.encoded.ranked import FileSpan, Reading, encode_ranked, files_of, split_among
from w2vneg.ground.errors import ConfigError, InputError


def even(n_ranks):
    return [k / n_ranks for k in range(n_ranks + 1)]


SHAPING = {"min_count": 2, "max_vocab": None, "encoding": "utf-8", "lowercase": False}


def lines_of(stretch):
    with stretch.open() as source:
        return b"".join(source.pieces())


@pytest.mark.parametrize(
    "text", [b"", b"a b\nc\n\nd e f\n" * 9 + b"end", b"\n\n\n", b"one line without an end", b"a\n" * 50]
)
@pytest.mark.parametrize("n", [1, 2, 3, 7])
@pytest.mark.parametrize("piece", [1, 3, 1 << 20])
def test_stretches_of_a_file_are_its_lines_each_once(tmp_path, monkeypatch, text, n, piece):
    monkeypatch.setattr("w2vneg.data.readers.sources.PIECE", piece)
    path = tmp_path / "text"
    path.write_bytes(text)
    parts = [b"".join(map(lines_of, own)) for own in split_among([str(path)], even(n))]
    assert b"".join(parts) == text
    assert all(part.endswith(b"\n") for part in parts[:-1] if part and part != text[-len(part) :])


def test_files_are_dealt_out_by_bytes_and_packed_ones_whole(tmp_path):
    for name, size in (("a", 100), ("b", 300)):
        (tmp_path / name).write_bytes(b"x\n" * (size // 2))
    packed = tmp_path / "c.gz"
    packed.write_bytes(gzip.compress(b"y\n" * 100))
    files = [str(tmp_path / "a"), str(tmp_path / "b"), str(packed)]
    parts = split_among(files, even(2))
    border = (400 + packed.stat().st_size) // 2 - 100
    assert parts[0] == [FileSpan(files[0]), FileSpan(files[1], 0, border)]
    assert parts[1] == [FileSpan(files[1], border), FileSpan(files[2])]
    assert split_among(files, even(2), "utf-16")[0] == [
        FileSpan(files[0]),
        FileSpan(files[1]),
    ]  # a byte 10 is no line end there
    assert split_among(files, even(1)) == [[FileSpan(path) for path in files]]


@pytest.fixture
def folder(tmp_path):
    """Files of one text, with ties among the counts, and words that only one rank sees."""
    rng = np.random.default_rng(3)
    words = np.array([f"w{k}é" for k in range(60)])
    for k in range(3):
        lines = [" ".join(rng.choice(words[10 * k : 10 * k + 40], rng.integers(1, 9))) for _ in range(40 + 20 * k)]
        (tmp_path / f"part{k}").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


def ranked(names, n_ranks, **options):
    return encode_ranked(Reading.of(Input("corpus", [str(name) for name in names]), even(n_ranks), **SHAPING | options))


@pytest.mark.parametrize("n_ranks", [1, 2, 3, 5])
@pytest.mark.parametrize("options", [{}, {"min_count": 1, "max_vocab": 17}, {"lowercase": True}])
def test_vocabulary_ids_and_report_are_those_of_one_machine(folder, n_ranks, options):
    names = sorted(folder.iterdir())
    one = encode_corpus(names, use_cache=False, **SHAPING | options)
    many = ranked(names, n_ranks, **options)
    assert many.vocab == one.vocab and many.vocab.words == one.vocab.words
    assert np.concatenate([share.ids for share in many.shares]).tolist() == one.ids.tolist()
    lengths = [np.diff(share.offsets) for share in many.shares]
    assert np.concatenate(lengths).tolist() == np.diff(one.offsets).tolist()
    assert len(many) == len(one) and many.sizes.sum() == len(one)
    for name in ("tokens", "types", "lines", "kept_tokens", "kept_types", "discarded", "sentences", "bytes"):
        assert getattr(many.report, name) == getattr(one.report, name), name


@pytest.mark.parametrize("delimiter", [None, "comma"])
def test_baskets_are_read_as_on_one_machine(folder, delimiter):
    files = [str(path) for path in sorted(folder.iterdir())]
    if delimiter:
        for path in folder.iterdir():
            path.write_text(path.read_text(encoding="utf-8").replace(" ", ",").replace("w1", "w 1"), encoding="utf-8")
    one = encode_baskets(files, delimiter=delimiter, min_count=2)
    given = Input("baskets", files, **({"delimiter": delimiter} if delimiter else {}))
    told = []
    many = encode_ranked(Reading.of(given, even(3), **SHAPING), lambda *read: told.append(read))
    assert told[-1] == (sum(path.stat().st_size for path in folder.iterdir()), None)
    assert many.vocab == one.vocab and many.source == one.source == "baskets"
    assert np.concatenate([share.ids for share in many.shares]).tolist() == one.ids.tolist()
    assert {share.source for share in many.shares} == {"baskets"}
    assert dataclasses.replace(many.report, seconds=0, files=3) == dataclasses.replace(one.report, seconds=0)


def test_each_rank_reads_files_of_its_own_where_the_path_says_so(folder):
    one = encode_corpus(sorted(folder.iterdir()), use_cache=False, **SHAPING)
    many = ranked([folder / "part{rank}"], 3)
    assert many.vocab == one.vocab
    assert [len(share.ids) for share in many.shares] == many.sizes.tolist()
    assert files_of([str(folder / "part{rank}")], 1, even(3), "utf-8") == [FileSpan(str(folder / "part1"))]
    with pytest.raises(InputError, match="part3: no such file"):
        ranked([folder / "part{rank}"], 4)


def test_a_fixed_vocabulary_is_kept(folder):
    vocab = Vocabulary(["w25é", "w24é"], [9, 8])
    many = ranked([folder / "part{rank}"], 2, vocab=vocab)
    assert many.vocab is vocab and set(np.concatenate([share.ids for share in many.shares]).tolist()) == {0, 1}


def test_a_share_without_words_is_refused(tmp_path):
    (tmp_path / "text").write_text("a b a b a b a b a b a b a b a b\n")
    with pytest.raises((ConfigError, InputError), match=r"two known words|no token"):
        ranked([tmp_path / "text"], 3)
