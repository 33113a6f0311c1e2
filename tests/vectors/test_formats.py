"""Vector files: exact round trips, gensim on the other side, and every way a file can be wrong."""

import gzip
import io
import os
import pickle
import shutil
import subprocess
import sys
import tracemalloc
import zipfile
from contextlib import nullcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from w2vneg.data.readers.sources import ByteStream
from w2vneg.data.words import PackedStrings
from w2vneg.ground.errors import ConfigError, FileNote, InputError, MissingExtraError, OutputError
from w2vneg.ground.files import bounded
from w2vneg.vectors import Vectors, formats
from w2vneg.vectors.formats import common

FINITE = st.floats(width=32, allow_nan=False, allow_infinity=False)
WORD = st.text(st.characters(exclude_categories=["Cs"], exclude_characters=" \t\n\r\v\f"), min_size=1, max_size=8)
DIGITS = st.text("0123456789", min_size=1, max_size=25)
DECIMAL = st.one_of(
    st.builds(
        "{}{}.{}{}".format,
        st.sampled_from(["", "-", "+"]),
        DIGITS,
        DIGITS,
        st.one_of(st.just(""), st.integers(-50, 45).map("e{}".format), st.integers(-60, 40).map("E{:+d}".format)),
    ),
    st.floats(allow_nan=False, allow_infinity=False, width=32).map(lambda value: repr(np.float64(value).item())),
    st.integers(0, 2**32 - 1).map(  # halfway between two neighbours, and a little beside
        lambda bits: f"{(2 * (bits % 2**24) + 1) / 2**24 * (1 + (bits >> 31) * 2**-40):.40f}"
    ),
)
SPECIAL = [0.0, -0.0, 1e-45, -1e-45, 1.1754942e-38, 3.4028235e38, -3.4028235e38]
SPECIAL += [0.1, 1 / 3, 100.0, 99.99999, 1e-4, 16777216]


def same_bits(a, b):
    assert a.dtype == b.dtype == np.float32
    np.testing.assert_array_equal(a.view(np.int32), b.view(np.int32))


def sample(n=50, dim=7, seed=0):
    rng = np.random.default_rng(seed)
    matrix = (rng.normal(size=(n, dim)) * 10.0 ** rng.integers(-6, 5, (n, 1))).astype(np.float32)
    return [f"wört{i}" for i in range(n)], matrix


def save(path, words, matrix, counts=None, **how):
    formats.save(path, Vectors(words, matrix, counts), **how)


def load(path):
    """Return words, matrix and counts of a file."""
    found = formats.read(path)
    return found.words, found.matrix, found.counts


FILES = [name for name in formats.saved() if formats.FORMATS[name].suffixes and formats.FORMATS[name].read]


@pytest.mark.parametrize("format", FILES)
def test_round_trip_to_the_bit(tmp_path, format):
    words, matrix = sample()
    matrix[0, : len(SPECIAL)] = SPECIAL[:7]
    matrix[1, :6] = SPECIAL[7:]
    save(tmp_path / "v", words, matrix, format=format)
    assert formats.detect(tmp_path / "v") == format
    again, values, _ = load(tmp_path / "v")
    assert again == words
    same_bits(values, matrix)
    assert values.flags.c_contiguous


@pytest.mark.parametrize("number", [b"-\n\x9fL", b"E\n\x1bL", b"5\n\x9fL", b"5\n6L"])
def test_a_number_whose_bytes_look_like_a_row_of_text(tmp_path, number):
    matrix = np.frombuffer(number, "<f4").reshape(1, 1)
    save(tmp_path / "v", ["0"], matrix, format="word2vec-binary")
    words, values, _ = load(tmp_path / "v")
    assert words == ["0"]
    same_bits(values, matrix)


@settings(max_examples=150, deadline=None)
@given(
    data=st.data(),
    matrix=arrays(np.float32, array_shapes(min_dims=2, max_dims=2, max_side=5), elements=FINITE),
)
@pytest.mark.parametrize("format", ["word2vec", "word2vec-binary", "npz", "safetensors"])
def test_any_finite_numbers_and_words_round_trip(tmp_path_factory, format, data, matrix):
    words = data.draw(st.lists(WORD, min_size=len(matrix), max_size=len(matrix), unique=True))
    path = tmp_path_factory.mktemp("v") / "v"
    save(path, words, matrix, format=format)
    again, values, _ = load(path)
    assert again == words
    same_bits(values, matrix)


def mantissa_digits(text):
    """Return how many significant digits a decimal has; its exponent, if any, does not count."""
    return len(text.lower().split("e")[0].replace(".", "").strip("-0"))


def test_decimals_are_the_shortest_that_read_back():
    rng = np.random.default_rng(3)
    bits = rng.integers(0, 2**32, 20000, dtype=np.uint64).astype(np.uint32).view(np.float32)
    powers = (2.0 ** np.arange(-149, 128)).astype(np.float32)
    usual = np.exp(rng.uniform(np.log(5e-5), np.log(200), 20000)).astype(np.float32)
    edges = np.array([1e-4, 1e-3, 1e-2, 0.1, 1, 10, 100], dtype=np.float32).view(np.int32)
    edges = (edges[:, None] + np.arange(-20, 20, dtype=np.int32)).reshape(-1).view(np.float32)
    values = np.concatenate([bits[np.isfinite(bits)], powers, usual, -usual, edges, SPECIAL]).astype(np.float32)
    tokens = b"".join(common.format_rows(values[:, None])).decode().split("\n")[:-1]
    assert len(tokens) == len(values)
    same_bits(np.array([float(token) for token in tokens]).astype(np.float32), values)
    digits = [mantissa_digits(token) for token in tokens]
    fewest = [mantissa_digits(np.format_float_scientific(value, unique=True, trim="-")) for value in values]
    longer = [a for a, b in zip(digits, fewest, strict=True) if a > b]
    assert len(longer) < len(values) / 10000


def test_text_looks_as_people_expect(tmp_path):
    save(tmp_path / "v.txt", ["a", "b"], np.array([[0.1, -2, 0], [1e-7, 12.5, 1234.5]], dtype=np.float32))
    assert (tmp_path / "v.txt").read_text() == "2 3\na 0.1 -2.0 0.0\nb 1e-07 12.5 1234.5\n"


@settings(max_examples=60, deadline=None)
@given(st.lists(DECIMAL, min_size=1, max_size=8), st.integers(0, 3))
def test_any_decimal_is_read_as_python_reads_it(tmp_path_factory, tokens, blanks):
    path = tmp_path_factory.mktemp("v") / "v"
    path.write_text(f"1 {len(tokens)}\nword {' '.join(tokens)}{' ' * blanks}\n")
    with np.errstate(over="ignore"):
        expected = np.array([[np.float32(float(token)) for token in tokens]], np.float32)
    if np.isfinite(expected).all():
        same_bits(load(path)[1], expected)
    else:
        with pytest.raises(InputError, match=":2: expected a finite number"):
            load(path)


def test_precision(tmp_path):
    matrix = np.array([[1 / 3, -2 / 3e5]], dtype=np.float32)
    save(tmp_path / "v.txt", ["a"], matrix, precision=3)
    assert (tmp_path / "v.txt").read_text() == "1 2\na 0.333 -6.67e-06\n"
    save(tmp_path / "v.txt", ["a"], matrix, precision=9)
    same_bits(load(tmp_path / "v.txt")[1], matrix)
    for precision in (0, 10):
        with pytest.raises(ConfigError, match="between 1 and 9"):
            save(tmp_path / "v.txt", ["a"], matrix, precision=precision)
    with pytest.raises(ConfigError, match="text format"):
        save(tmp_path / "v.bin", ["a"], matrix, precision=3)


@pytest.mark.parametrize("is_binary", [False, True])
def test_gensim_reads_ours_and_we_read_gensims(tmp_path, is_binary):
    KeyedVectors = pytest.importorskip("gensim.models").KeyedVectors
    words, matrix = sample(300, 11)
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    save(ours, words, matrix, format="word2vec-binary" if is_binary else "word2vec")
    keyed = KeyedVectors.load_word2vec_format(str(ours), binary=is_binary)
    assert keyed.index_to_key == words
    same_bits(keyed.vectors, matrix)
    keyed.save_word2vec_format(str(theirs), binary=is_binary)
    again, values, _ = load(theirs)
    assert again == words
    same_bits(values, matrix)


def test_text_of_glove_and_of_word2vec_c(tmp_path):
    path = tmp_path / "v"
    expected = np.array([[0.5, -1], [2, 3e-5]], dtype=np.float32)
    for content in (
        "the 0.5 -1\nof 2 3e-5\n",
        "the 0.5 -1\nof 2 3e-5",
        "2 2\nthe 0.500000 -1.000000 \nof 2.0 0.00003 \n",
        "2 2\r\nthe 0.5 -1\r\nof 2 3e-5\r\n",
        "2 2\nthe 0.5 -1\nof +2 .3e-4\n\n\n",
    ):
        path.write_text(content, newline="")
        words, matrix, counts = load(path)
        assert words == ["the", "of"]
        same_bits(matrix, expected)
        assert counts is None


def test_text_longer_than_one_block(tmp_path, monkeypatch):
    for module in (formats.text, formats.common):
        monkeypatch.setattr(module, "NUMBERS_AT_ONCE", 64)
    words, matrix = sample(100, 9)
    save(tmp_path / "v.txt", words, matrix)
    same_bits(load(tmp_path / "v.txt")[1], matrix)
    lines = (tmp_path / "v.txt").read_text().splitlines()
    lines[60] = lines[60].rsplit(" ", 1)[0]
    (tmp_path / "v.txt").write_text("\n".join(lines))
    with pytest.raises(InputError, match=r"v\.txt:61: expected 9 numbers, found 8"):
        load(tmp_path / "v.txt")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"3 2\na 1 2\nb 1\nc 1 2\n", r":3: expected 2 numbers, found 1"),
        (b"3 2\na 1 2\nb 1 2 3\nc 1 2\n", r":3: expected 2 numbers, found 3"),
        (b"2 2\na 1 2 3\nb 1\n", r":2: expected 2 numbers, found 3"),
        (b"2 2\na 1 2\nb\n", r":3: expected 2 numbers, found 0"),
        (b"2 2\na 1 2\nb 1 x\n", r":3: expected a number, found 'x'"),
        (b"2 2\na 1 two\nb 1 2\n", r":2: expected a number, found 'two'"),
        (b"2 2\na 1 2\nb 1 nan\n", r":3: expected a finite number, found 'nan'"),
        (b"2 2\na 1 2\nb -inf 1\n", r":3: expected a finite number, found '-inf'"),
        (b"2 2\na 1 2\nb 1e39 1\n", r":3: expected a finite number, found '1e39'"),
        (b"3 2\na 1 2\nb 1 2\na 3 4\n", r":4: the word 'a' is on line 2 already"),
        (b"a 1 2\nb 1 2\na 3 4\n", r":3: the word 'a' is on line 1 already"),
        (b"3 2\na 1.5 2\nb 1 2\n", r"promises 3 rows, but there are 2"),
        (b"3 2\na 1 2\nb 1 2\n", r":1: the header promises 3 words of 2 numbers, which take more than its 16 bytes"),
        (b"3 2\na 1 2\nb 1 2\nc 1", r":4: expected 2 numbers, found 1"),
        (b"1 2\na 1 2\nb 1 2\n", r":3: the header promises 1 rows, but there are more"),
        (b"2 2\na 1 1_0\nb 1 2\n", r":2: expected a number, found '1_0'"),
        (b"99999999999 100\na 1 2\n", r"take more than its 22 bytes; the file is cut short or damaged: write it again"),
        (b"1 99999999999999\na 1 2\n", r":1: the header promises 1 words of 99999999999999 numbers, which take more"),
        (b"9" * 6000 + b" 2\na 1 2\n", r":1: the header promises 999999… \(6,000 digits\) words of 2 numbers, which"),
        (b"2 " + b"9" * 6000 + b"\na 1 2\n", r":1: the header promises 2 words of 999999… \(6,000 digits\) numbers"),
        (b"0 100\n", r":1: the header promises 0 words"),
        (b"2 0\na\nb\n", r":1: the header promises 2 words of 0 numbers"),
        (b"2 2\n\xe9t\xe9 1 2\nb 1 2\n", r":2: the word .* is not UTF-8"),
        (b"2 2\na 1 2\n\nb 1 2\n", r":3: expected a word and its numbers"),
        (b"2 2\n 1 2\nb 1 2\n", r":2: expected a word and its numbers"),
        (b"hello\n", r":1: expected a header"),
        (b"this is just some text\nof two lines\n", r":1: expected a number, found 'is'"),
        (gzip.compress(gzip.compress(b"2 2\na 1 2\nb 1 2\n", mtime=0), mtime=0), r"compressed twice"),
        (gzip.compress(b"2 2\na 1 2\nb 1 x\n", mtime=0), r":3: expected a number, found 'x'"),
        (gzip.compress(b"2 2\na 1 2\nb 1 2\n", mtime=0)[:-9], r"truncated"),
        (pickle.dumps({"a": 1}), r"is a pickle, like gensim's .kv .*save_word2vec_format"),
        (b"\x93NUMPY\x01\x00 and more", r"is an array without its words"),
    ],
)
def test_bad_text(tmp_path, content, message):
    path = tmp_path / "v.txt"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message) as caught:
        Vectors.load(path)
    assert str(path) in str(caught.value)


def binary_bytes(words=("a", "b"), header=b"2 3\n", line_feed=b"\n"):
    rows = np.arange(1, 7, dtype="<f4").reshape(2, 3) / 7
    return header + b"".join(
        word.encode() + b" " + row.tobytes() + line_feed for word, row in zip(words, rows, strict=True)
    )


def test_binary_with_and_without_line_feeds(tmp_path):
    for line_feed in (b"", b"\n"):
        (tmp_path / "v").write_bytes(binary_bytes(line_feed=line_feed))
        words, matrix, _ = load(tmp_path / "v")
        assert words == ["a", "b"]
        np.testing.assert_array_equal(matrix, np.arange(1, 7, dtype=np.float32).reshape(2, 3) / np.float32(7))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (binary_bytes()[:-6], "expected 2 words, found 1 complete"),
        (binary_bytes() + b"c ", "but more follows"),
        (binary_bytes(header=b"999999999 3\n"), "take more than its"),
        (binary_bytes(header=b"0 3\n"), "promises 0 words"),
        (binary_bytes(words=("a", "a")), "row 1: the word 'a' occurs twice"),
        (binary_bytes(words=("", "a")), "word 0 is empty"),
        (binary_bytes().replace(b"\na ", b"\n\xff "), "not UTF-8"),
        (
            b"1 2\na " + np.array([1, np.nan], dtype="<f4").tobytes(),
            "'a' \\(row 0\\) has a number that is NaN",
        ),
    ],
)
def test_bad_binary(tmp_path, content, message):
    (tmp_path / "v.bin").write_bytes(content)
    with pytest.raises(InputError, match=message):
        load(tmp_path / "v.bin")


def test_npz_keeps_counts_and_any_words(tmp_path):
    words, counts = ["a b", "", "line\nfeed", "wört"], np.array([4, 3, 2, 1])
    matrix = np.arange(8, dtype=np.float32).reshape(4, 2)
    save(tmp_path / "v.npz", words, matrix, counts)
    again, values, found = load(tmp_path / "v.npz")
    assert again == words
    same_bits(values, matrix)
    np.testing.assert_array_equal(found, counts)


def test_npz_is_mapped_unless_it_is_compressed(tmp_path):
    words, matrix = sample()
    save(tmp_path / "v.npz", words, matrix)
    mapped = Vectors.load(tmp_path / "v.npz").matrix
    assert isinstance(mapped.base, np.memmap) and mapped.flags.aligned and not mapped.flags.writeable
    same_bits(mapped, matrix)
    with np.load(tmp_path / "v.npz") as archive:
        np.savez_compressed(tmp_path / "small.npz", **archive)
        np.savez(tmp_path / "turned.npz", **dict(archive) | {"matrix": np.asfortranarray(matrix)})
    for name in ("small.npz", "turned.npz"):
        same_bits(load(tmp_path / name)[1], matrix)


def damaged(path, name, data):
    """Write an npz in which the bytes of one array are other ones, with the right checksum; return its path."""
    save(path, ["a", "b"], np.ones((2, 3), np.float32))
    with zipfile.ZipFile(path) as archive:
        members = {one: archive.read(one) for one in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for one, content in members.items():
            archive.writestr(one, data(content) if one == f"{name}.npy" else content)
    return path


@pytest.mark.parametrize("name", ["matrix", "word_bytes", "word_offsets"])
@pytest.mark.parametrize(
    "data",
    [
        lambda content: content.replace(b"'shape': (", b"'shape': (9999999999"),
        lambda content: content.replace(b"'shape': (", b"'shape': (-"),
        lambda content: content.replace(b"'shape'", b"'sh\0pe'"),
        lambda content: content.replace(b"True", b"T(ue").replace(b"False", b"F[lse"),
        lambda content: content.replace(b"'descr': '", b"'descr': 1_0if'"),
        lambda content: content[:40],
        lambda content: content[:-1],
        lambda content: content + b"\0",
        lambda content: b"",
    ],
)
def test_an_array_that_is_not_what_its_header_says_is_refused(tmp_path, name, data):
    """NumPy fails on these in a different way each: SyntaxError, TokenError, MemoryError, ValueError, …"""
    with pytest.raises(InputError, match=r"v\.npz: ") as caught:
        load(damaged(tmp_path / "v.npz", name, data))
    assert "write it again" in str(caught.value)


def test_an_array_that_would_unpack_without_end_is_refused(tmp_path):
    """A member that claims more than deflating can make small is not unpacked."""
    path = tmp_path / "v.npz"
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "|u1", "fortran_order": False, "shape": (10**12,)})
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("matrix", "word_bytes", "word_offsets"):
            archive.writestr(f"{name}.npy", header.getvalue())
    raw = path.read_bytes()
    size, grown = len(header.getvalue()), len(header.getvalue()) + 10**9
    path.write_bytes(raw.replace(size.to_bytes(4, "little"), grown.to_bytes(4, "little")))
    with pytest.raises(InputError, match=r"does not hold the promised|Overlapped entries"):  # newer zipfiles look first
        load(path)


def test_what_would_unpack_to_far_more_than_it_is_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(formats.npz, "_LITTLE", 1 << 16)
    monkeypatch.setattr(formats, "_LITTLE", 1 << 16)
    words, matrix = ["a", "b"], np.zeros((2, 1 << 20), np.float32)
    save(tmp_path / "v.npz", words, matrix)
    with np.load(tmp_path / "v.npz") as archive:
        np.savez_compressed(tmp_path / "bomb.npz", **archive)
    with pytest.raises(InputError, match=r"matrix.npy would unpack to [\d,]+ times its size"):
        load(tmp_path / "bomb.npz")
    (tmp_path / "bomb.txt.gz").write_bytes(gzip.compress(b"2 3\n" + bytes(1 << 23)))
    with pytest.raises(InputError, match=r"bomb.txt.gz: unpacks to more than 100 times its size"):
        load(tmp_path / "bomb.txt.gz")


def test_a_parquet_file_of_more_rows_than_it_could_have_words_is_refused(tmp_path):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    n = 200_000
    words = arrow.array(["a"] * n)
    vectors = arrow.FixedSizeListArray.from_arrays(arrow.array(np.zeros(n, np.float32)), 1)
    parquet.write_table(arrow.table({"word": words, "vector": vectors}), tmp_path / "v.parquet")
    with pytest.raises(InputError, match="200,000 rows, more words than its"):
        load(tmp_path / "v.parquet")


def test_vectors_from_a_device_or_a_pipe_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in ("/dev/zero", "/dev/urandom", tmp_path / "pipe"):
        with pytest.raises(InputError, match=f"{path}: a device or a pipe, which cannot be read twice"):
            Vectors.load(path)


@pytest.mark.parametrize("begin", [b"", b"2 2\na 1 2\n", b"a 1 2\nb"])
def test_a_line_without_end_is_refused(tmp_path, monkeypatch, begin):
    monkeypatch.setattr(bounded, "LONGEST_LINE", 1 << 10)
    (tmp_path / "v").write_bytes(begin + b" 1" * (1 << 10))
    with pytest.raises(InputError, match=rf"v:{begin.count(10) + 1}: no line end within"):
        Vectors.load(tmp_path / "v")


class Trap:
    """Unpickling this would set a mark."""

    sprung = False

    def __reduce__(self):
        return (setattr, (Trap, "sprung", True))


def test_npz_with_a_pickle_is_refused(tmp_path):
    path = tmp_path / "v.npz"
    arrays_ = {"matrix": np.array([[Trap()]], dtype=object), "word_bytes": np.zeros(1, np.uint8)}
    np.savez(path, word_offsets=np.array([0, 1]), **arrays_)
    with pytest.raises(InputError, match="without executing"):
        load(path)
    bare = tmp_path / "bare.npz"
    bare.write_bytes(pickle.dumps(Trap()))
    with pytest.raises(InputError):
        load(bare)
    assert not Trap.sprung


def good_npz():
    return {
        "matrix": np.ones((2, 3), np.float32),
        "word_bytes": np.frombuffer(b"abc", np.uint8),
        "word_offsets": np.array([0, 1, 3]),
        "counts": np.array([2, 1]),
    }


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"matrix": None}, "expected an array 'matrix'"),
        ({"matrix": np.ones((2, 3))}, "found float64"),
        ({"matrix": np.ones((3, 3), np.float32)}, "2 words do not match a matrix"),
        ({"matrix": np.full((2, 3), np.inf, np.float32)}, "NaN or infinite"),
        ({"word_offsets": np.array([0, 5, 3])}, "do not match"),
        ({"word_offsets": np.array([0, 1, 2])}, "do not match"),
        (
            {"word_bytes": np.frombuffer(b"aaa", np.uint8), "word_offsets": np.array([0, 1, 2, 3])},
            "3 words do not match a matrix",
        ),
        ({"word_bytes": np.frombuffer(b"aa", np.uint8), "word_offsets": np.array([0, 1, 2])}, "occurs twice"),
        ({"word_bytes": np.frombuffer(b"a\xff\xff", np.uint8)}, "not UTF-8"),
        ({"word_bytes": np.frombuffer(b"ab\xff", np.uint8)}, "not UTF-8"),
        ({"word_bytes": np.frombuffer("éa".encode(), np.uint8)}, "not UTF-8"),
        ({"counts": np.array([1])}, "counts of shape"),
    ],
)
def test_bad_npz(tmp_path, change, message):
    contents = {name: value for name, value in {**good_npz(), **change}.items() if value is not None}
    np.savez(tmp_path / "v.npz", **contents)
    with pytest.raises(InputError, match=message):
        load(tmp_path / "v.npz")


def test_cut_npz(tmp_path):
    np.savez(tmp_path / "whole.npz", **good_npz())
    data = (tmp_path / "whole.npz").read_bytes()
    (tmp_path / "v.npz").write_bytes(data[: len(data) // 2])
    with pytest.raises(InputError, match="cannot be read as npz"):
        load(tmp_path / "v.npz")


@pytest.fixture
def model_folder(tmp_path):
    pytest.importorskip("w2vneg.data.vocab")
    from w2vneg.data.vocab import Vocabulary

    folder = tmp_path / "model"
    folder.mkdir()
    Vocabulary(["the", "of", "and"], [30, 20, 10]).save(folder / "vocab.tsv")
    np.save(folder / "vectors_in.npy", np.arange(6, dtype=np.float32).reshape(3, 2))
    np.save(folder / "vectors_out.npy", np.full((3, 2), 0.5, dtype=np.float32))
    return folder


def test_model_folder(model_folder):
    vectors = Vectors.load(model_folder)
    assert vectors.words == ["the", "of", "and"]
    assert vectors.counts.tolist() == [30, 20, 10]
    assert vectors.matrix.tolist() == [[0, 1], [2, 3], [4, 5]]
    assert Vectors.load(model_folder, readout="out").matrix.tolist() == [[0.5, 0.5]] * 3
    assert Vectors.load(model_folder, readout="sum").matrix.tolist() == [[0.5, 1.5], [2.5, 3.5], [4.5, 5.5]]


def test_bad_model_folders(model_folder):
    with pytest.raises(ConfigError, match="unknown read-out 'inn'; did you mean 'in'"):
        Vectors.load(model_folder, readout="inn")
    np.save(model_folder / "vectors_out.npy", np.ones((2, 2), np.float32))
    with pytest.raises(InputError, match=r"vectors_out\.npy: expected .* in 3 rows, found float32 \(2, 2\)"):
        Vectors.load(model_folder, readout="sum")
    np.save(model_folder / "vectors_out.npy", np.array([[Trap()]], dtype=object), allow_pickle=True)
    with pytest.raises(InputError, match="not a NumPy matrix"):
        Vectors.load(model_folder, readout="out")
    assert not Trap.sprung
    (model_folder / "vectors_out.npy").unlink()
    with pytest.raises(InputError, match=r"vectors_out\.npy: no such file"):
        Vectors.load(model_folder, readout="out")
    np.save(model_folder / "vectors_in.npy", np.full((3, 2), np.nan, np.float32))
    with pytest.raises(InputError, match=r"'the' .* NaN"):
        Vectors.load(model_folder)
    (model_folder / "vocab.tsv").unlink()
    with pytest.raises(InputError, match=r"expected a model folder with vocab\.tsv"):
        Vectors.load(model_folder)


def test_missing_file_says_train_first(tmp_path):
    with pytest.raises(InputError, match="no such file; train vectors first"):
        Vectors.load(tmp_path / "vectors.txt")


def test_files_of_vectors_have_one_matrix(tmp_path):
    words, matrix = sample(3, 2)
    save(tmp_path / "v.txt", words, matrix)
    with pytest.raises(ConfigError, match="'sum' needs a model folder"):
        Vectors.load(tmp_path / "v.txt", readout="sum")


@pytest.mark.parametrize("format", ["word2vec", "word2vec-binary"])
@pytest.mark.parametrize("word", ["", "a b", "a\nb", "a\tb", "\ud800"])
def test_words_that_word2vec_files_cannot_hold(tmp_path, format, word):
    with pytest.raises(OutputError, match=r"cannot write .*word 1 \("):
        save(tmp_path / "v", ["good", word], np.ones((2, 2), np.float32), format=format)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["v.txt", "v.bin", "v.npz"])
def test_writing_takes_little_memory_whatever_the_size(tmp_path, name):
    words = PackedStrings((f"word{i:06}" for i in range(60_000)), distinct=True)
    matrix = np.random.default_rng(1).normal(0, 0.3, (60_000, 50)).astype(np.float32)
    save(tmp_path / name, words[:2], matrix[:2])  # the first one compiles or loads the kernel
    tracemalloc.start()
    try:
        save(tmp_path / name, words, matrix)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < (20 if name == "v.npz" else 8) * 2**20  # NumPy writes arrays 16 MB at a time
    again, read, _ = load(tmp_path / name)
    assert again == words and read.tobytes() == matrix.tobytes()


def test_npz_keeps_that_words_are_of_lower_cased_text(tmp_path):
    for lowercase in (True, False):  # without it a file is as it always was
        Vectors(["king"], np.ones((1, 2)), lowercase=lowercase).save(tmp_path / "v.npz")
        with np.load(tmp_path / "v.npz") as found:
            assert ("lowercase" in found) == lowercase
        assert ("KING" in Vectors.load(tmp_path / "v.npz")) == lowercase


@pytest.mark.parametrize("suffix", [".txt", ".vec", ".bin"])
@pytest.mark.parametrize("ending", [".gz", ".bz2", ".xz", ".zst", ".GZ"])
def test_what_is_called_as_packed_is_packed(tmp_path, suffix, ending):
    plain, packed = tmp_path / f"v{suffix}", tmp_path / f"v{suffix}{ending}"
    for path in (plain, packed):
        save(path, ["a", "b"], np.eye(2, dtype=np.float32))
    with ByteStream(str(packed)) as source:
        assert b"".join(source.pieces()) == plain.read_bytes() and source.codec is not None
    assert Vectors.load(packed).words == ["a", "b"]
    before = packed.read_bytes()
    save(packed, ["a", "b"], np.eye(2, dtype=np.float32))
    assert packed.read_bytes() == before  # no time of writing in it
    with pytest.raises(OutputError, match="contains whitespace"):
        save(packed, ["a b"], np.ones((1, 2), np.float32))
    assert packed.read_bytes() == before and len(list(tmp_path.iterdir())) == 2


def test_words_too_long_to_be_read_back_are_not_written(tmp_path):
    path, matrix = tmp_path / "v.bin", np.ones((3, 4), np.float32)
    words = ["first", "é" * 32767, "last"]
    save(path, words, matrix)
    assert Vectors.load(path).words == words
    with pytest.raises(OutputError, match=r"word 1 \('éé.*65,535 bytes, but .* 65,534; use the format npz"):
        save(path, [words[0], words[1] + "a", words[2]], matrix)


def test_what_is_not_packed_has_no_such_name(tmp_path, monkeypatch):
    one = ["a"], np.ones((1, 2), np.float32)
    for name, format in (("v.npz.gz", None), ("v.npz.xz", "npz"), ("v.kv.gz", None)):
        with pytest.raises(ConfigError, match=rf"is not written compressed; name the file {tmp_path}/{name[:-3]}"):
            save(tmp_path / name, *one, format=format)
    with pytest.raises(ConfigError, match="cannot infer a format from the name"):
        save(tmp_path / "v.gz", *one)
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(MissingExtraError, match=r'pip install "w2vneg\[zstd\]"'):
        save(tmp_path / "v.txt.zst", *one)
    assert list(tmp_path.iterdir()) == []


def test_an_archive_of_files_is_no_npz(tmp_path):
    with zipfile.ZipFile(tmp_path / "glove.zip", "w") as archive:
        archive.writestr("glove.50d.txt", "a 1 2\n")
    with pytest.raises(InputError, match=r"an archive of files \(glove\.50d\.txt\); unpack it, and name the one"):
        Vectors.load(tmp_path / "glove.zip")


def test_refusals_of_saving(tmp_path):
    one = np.ones((1, 2), np.float32)
    with pytest.raises(ConfigError, match=r"cannot infer a format from the name"):
        save(tmp_path / "v.xyz", ["a"], one)
    with pytest.raises(ConfigError, match="unknown format 'word2vex'; did you mean 'word2vec'"):
        save(tmp_path / "v", ["a"], one, format="word2vex")
    changed = Vectors(["a"], one.copy())
    changed.matrix[:] = np.inf
    with pytest.raises(OutputError, match="NaN or infinite"):
        formats.save(tmp_path / "v.bin", changed)
    with pytest.raises(OutputError, match="cannot write"):
        save(tmp_path / "no" / "v.txt", ["a"], one)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("header", [b"", b"2 3\n"])
@pytest.mark.parametrize("packed", [False, True])
def test_a_byte_order_mark_before_text_is_no_letter(tmp_path, header, packed):
    content = b"\xef\xbb\xbf" + header + b"the 1 0 0.5\nking 0 1 0.25\n"
    (tmp_path / "v.txt").write_bytes(gzip.compress(content) if packed else content)
    with pytest.warns(FileNote, match=rf"^{tmp_path}/v.txt: the byte-order mark at its beginning is ignored$"):
        words, matrix, _ = load(tmp_path / "v.txt")
    assert list(words) == ["the", "king"] and matrix.tolist() == [[1, 0, 0.5], [0, 1, 0.25]]


THREE = [[1, 0, 0.5], [0, 1, 0.25], [0, 0.5, 1]]


@pytest.mark.parametrize(
    ("content", "words", "told"),
    [
        ("the 1 0 0.5\n. . . 0 1 0.25\nqueen 0 0.5 1\n", ["the", ". . .", "queen"], r"spaces: 1, such as '\. \. \.'"),
        ("at a@b.org 1 0 0.5\nb 0 1 0.25\nc 0 0.5 1\n", ["at a@b.org", "b", "c"], "spaces: 1, such as 'at a@b.org'"),
        ("3 3\nnew york 1 0 0.5\nb c 0 1 0.25\nc d 0 0.5 1\n", ["new york", "b c", "c d"], "spaces: 3, such as 'new"),
        ("a 1 0 0.5\nwindows 95 0 1 0.25\nc 0 0.5 1\n", ["a", "windows 95", "c"], "spaces: 1, such as 'windows 95'"),
        ("a 1 0 0.5\nversion 2.0\t0 1 0.25\nc 0 0.5 1\n", ["a", "version 2.0", "c"], "such as 'version 2.0'"),
        ("a\t1\t0\t0.5\nb\t0\t1\t0.25\nc\t0\t0.5\t1\n", ["a", "b", "c"], None),
        ("3\t3\na\t1\t0\t0.5\nb\t0\t1\t0.25\nc\t0\t0.5\t1\t\n", ["a", "b", "c"], None),
        ("3  3\na  1  0 0.5\nb\t0 1 0.25 \r\nc 0 0.5 1 \n", ["a", "b", "c"], None),
        ("3 3\nnew york\t1 0 0.5\nb 0 1 0.25\nc 0 0.5 1\n", ["new york", "b", "c"], "spaces: 1"),
        ("2007 1 0 0.5\n1 0 1 0.25\n3.5 0 0.5 1\n", ["2007", "1", "3.5"], None),
        ("nan 1 0 0.5\ninf 0 1 0.25\n1,000 0 0.5 1", ["nan", "inf", "1,000"], None),
        (
            "3 3 900\na 1 0 0.5\nb 0 1 0.25\nB64:YyBk 0 0.5 1\n",
            ["a", "b", "c d"],
            "DL4J's header, 3 words of 3 numbers",
        ),
        ("3 3\na 1 0 0.5\n\ufeffb 0 1 0.25\nc 0 0.5 1\n", ["a", "\ufeffb", "c"], None),
        ("word\t0\t1\t2\na\t1\t0\t0.5\nb\t0\t1\t0.25\nc\t0\t0.5\t1\n", ["a", "b", "c"], "which numbers the"),
        (" 0 1 2\na 1 0 0.5\nb 0 1 0.25\nc 0 0.5 1\n", ["a", "b", "c"], "which numbers the columns, is left out"),
        ('"a" 1 0 0.5\n"b" 0 1 0.25\n"c" 0 0.5 1\n', ["a", "b", "c"], "the quotes around all words are removed"),
        ('"a" 1 0 0.5\n" 0 1 0.25\nc 0 0.5 1\n', ['"a"', '"', "c"], None),
        ('3 3\n"a" 1 0 0.5\n"b" 0 1 0.25\n"c" 0 0.5 1\n', ['"a"', '"b"', '"c"'], None),
        ("1.5 1 0 0.5\n-0.31 0 1 0.25\n2019 0 0.5 1\n", ["1.5", "-0.31", "2019"], None),
    ],
)
def test_rows_of_others(tmp_path, content, words, told):
    """Blanks in words, tabs, numbers as words, DL4J's header; a mark behind the beginning is a letter."""
    path = tmp_path / "v.txt"
    path.write_bytes(content.encode())
    with pytest.warns(FileNote, match=told) if told else nullcontext():
        found, matrix, _ = load(path)
    assert list(found) == words and matrix.tolist() == THREE


def test_rows_that_count_are_vectors(tmp_path):
    for text in ("a 0 1\nb 1 0.5\n", "a 0 1 2\nb 1 0 2\n"):
        (tmp_path / "v.txt").write_text(text)
        assert load(tmp_path / "v.txt")[0] == ["a", "b"]


@pytest.mark.skipif(not shutil.which("paste"), reason="paste is not here")
@pytest.mark.parametrize("counts", [None, [3, 2]])
def test_the_remedy_for_the_projectors_rows_has_its_words(tmp_path, counts):
    matrix = np.array([[-0.5, -1.5], [2.25, 0.125]], np.float32)
    formats.save(tmp_path / "p", Vectors(["word", "b c"], matrix, counts and np.array(counts)), format="projector")
    with pytest.raises(InputError, match=r"vectors.tsv:1: rows of numbers without words; .* metadata\.tsv") as error:
        load(tmp_path / "p" / "vectors.tsv")
    command = "sed" + str(error.value).partition(": sed")[2].replace("FILE", "vectors.tsv")
    subprocess.run(command, shell=True, cwd=tmp_path / "p", check=True)
    with pytest.warns(FileNote, match="words with spaces: 1"):
        words, found, _ = load(tmp_path / "p" / "vectors.txt")
    assert list(words) == ["word", "b c"] and found.tolist() == matrix.tolist()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"SQLite format 3\0abc", "is an SQLite database, not a file of vectors; write its rows as text"),
        (b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
        (b"<!DOCTYPE html>\n<html>", "is XML or HTML, not a file of vectors"),
        (b"\n<HTML lang=en>", "XML or HTML"),
        (
            b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
            "a Git LFS pointer, not a file of vectors; fetch its file: git lfs pull",
        ),
        (b'{"the": [0.5, 1]}', "is JSON; write each word"),
        (b'[{"word": "the"}]', "is JSON"),
        (b"a.txt".ljust(257, b"\0") + b"ustar", r"a tar, 7-Zip, .* archive, .*; unpack it .tar -xf FILE"),
        (b"Rar!\x1a\x07\x01\0", "a tar, 7-Zip, RAR, .* archive"),
    ],
)
def test_what_other_programs_write_is_refused_by_name(tmp_path, content, message):
    for data in (content, gzip.compress(content)):
        (tmp_path / "v.txt").write_bytes(data)
        with pytest.raises(InputError, match=message):
            load(tmp_path / "v.txt")


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_columns_of_a_table_are_taken_by_their_names(tmp_path, ending):
    arrow, path = pytest.importorskip("pyarrow"), tmp_path / f"v.{ending}"
    rows = {"id": ["7"], "token": ["a"], "other": [[9.0]], "embedding": [[0.5, 1.0]]}
    for names in ({}, {"id": "word", "other": "vector"}):
        table = arrow.table({names.get(name, name): cells for name, cells in rows.items()})
        if ending == "parquet":
            pytest.importorskip("pyarrow.parquet").write_table(table, path)
        else:
            pytest.importorskip("pyarrow.feather").write_feather(table, path, "uncompressed")
        words, matrix, _ = load(path)
        assert (list(words), matrix.tolist()) == ((["7"], [[9]]) if names else (["a"], [[0.5, 1]]))


def test_a_row_of_three_whole_numbers_is_not_taken_for_a_header(tmp_path):
    (tmp_path / "v.txt").write_text("3 2 100\na 5 7\n")
    assert load(tmp_path / "v.txt")[0] == ["3", "a"]


CUT = "日本".encode()[:-1]  # within a letter, as word2vec.c leaves it


@pytest.mark.parametrize("is_binary", [False, True])
@pytest.mark.parametrize("cut", [CUT, b"\xc3", b"a" * 97 + b"\xe3\x81", b"a" * 98 + b"\x81"])
def test_words_cut_within_a_letter(tmp_path, is_binary, cut):
    other = cut.decode(errors="ignore").encode() + b"\xf0\x9f"  # the same word once both are mended
    words, rows = [b"the", cut, other, b"king"], np.arange(8, dtype="<f4").reshape(4, 2) + 0.5
    both = zip(words, rows, strict=True)
    lines = (b"%s %s\n" % (word, row.tobytes() if is_binary else b"%g %g" % tuple(row)) for word, row in both)
    (tmp_path / "v").write_bytes(b"4 2\n" + b"".join(lines))
    again = {word.decode(errors="replace"): row.tolist() for word, row in zip(words[::-1], rows[::-1], strict=True)}
    told = rf"invalid UTF-8, .*: 2, such as {cut.decode(errors='replace')[:40]!r}"
    with pytest.warns(FileNote, match=told + (".* 1 that became equal" if len(again) < 4 else "")):
        found, matrix, _ = load(tmp_path / "v")
    assert dict(zip(found, matrix.tolist(), strict=True)) == again and len(found) == len(matrix) == len(again)


def test_one_odd_word_of_hundreds_is_mended_and_many_are_refused(tmp_path):
    words = [b"w%d" % i for i in range(300)]
    words[7] = b"caf\xe9 au lait".replace(b" ", b"_")
    (tmp_path / "v").write_bytes(b"".join(b"%s 1 2\n" % word for word in words))
    with pytest.warns(FileNote, match="invalid UTF-8.*: 1, such as 'caf\ufffd_au_lait'"):
        assert load(tmp_path / "v")[0][7] == "caf\ufffd_au_lait"
    words = [b"\xe9t\xe9%d" % i for i in range(300)]
    (tmp_path / "v").write_bytes(b"".join(b"%s 1 2\n" % word for word in words))
    with pytest.raises(InputError, match=r"v:4: the word .* is not UTF-8; convert the file"):
        load(tmp_path / "v")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"1 2\na 1 2\nb 1 2\nc 1 2\n", r":3: .* promises 1 rows, but there are more: 3; correct .* \('3 2'\)"),
        (b"3 2\na 1.5 2\nb 1 2\n", r"promises 3 rows, but there are 2.*\('2 2'\)"),
        (b"30 2\na 1.5 2\nb 1 2\n", r"take more than its .* \(rows below it: 2\)"),
        (b"2 2\na 1 2\n2 2\nb 1 2\n", r":3: another header"),
        (b"a 1 2\nb 1 2\nc 1", r":3: expected 2 numbers, found 1; the file ends within this row"),
        (b"a 1 2\nb 1\nc 1 2\n", r":2: expected 2 numbers, found 1; the file is damaged"),
        (b"a 0,1 0,2\nb 1 2\n", r":1: expected a number, found '0,1', which has a decimal comma"),
        (b"2 2\na 0,1 0,2\nb 1 2\n", r":2: expected a number, found '0,1', which has a decimal comma"),
        (b"the\t90\nof\t50\n", r":1: one number per word, as in a list of counts"),
        (b"the 90\nof 50\n", r":1: one number per word, as in a list of counts"),
        (b"a,0.1,0.2\nb,1,2\n", r":1: commas separate the numbers"),
        (b"a;0.1;0.2\nb;1;2\n", r":1: semicolons separate the numbers"),
        (b"2 2\ra 1 2\rb 1 2\r", r"only a carriage return"),
        ("2 2\na 1 2\nb 1 2\n".encode("utf-16"), r"UTF-16; convert it"),
        (b"2 2\na b 2.5 1 2\nb 1 2\n", r":2: expected 2 numbers, found 4; .* if 'a b 2.5' is a word with spaces"),
        (b"a 1 0.5 b 1 2.5\nb 1 2.5\nc 1 2.5\n", r":1: expected 2 numbers, found 5"),
        (b"2 2\n1\ta\t1\t2\n2\tb\t1\t2\n", r":2: expected 2 numbers, found a tab in the word"),
        (b"u1 i1 5 9\nu2 i2 4 9\nu3 i3 4 9\n", r":1: expected a number, found 'i1'"),
        (b"1 2 9\nB64:Y 0.5 1\n", r":2: the word .* is not base64"),
    ],
)
def test_what_is_wrong_with_rows_of_others_is_said(tmp_path, content, message):
    (tmp_path / "v.txt").write_bytes(content)
    with pytest.raises(InputError, match=message):
        load(tmp_path / "v.txt")


def test_the_command_line_says_on_one_line_how_a_file_was_read(tmp_path, run_cli):
    (tmp_path / "v.txt").write_bytes(b"\xef\xbb\xbfthe 1 0\n. . 0 1.5\nking 0 1\n")
    result = run_cli("nearest", "the", "--vectors", tmp_path / "v.txt")
    said = "the byte-order mark at its beginning is ignored; words with spaces: 1, such as '. .'."
    assert result.code == 0 and result.err == f"Note: {tmp_path}/v.txt: {said}\n"


def test_words_in_base64_under_a_header_of_two_numbers_are_read(tmp_path):
    (tmp_path / "v").write_text("2 2\nB64:a2luZw== 1 0\nB64:cXVlZW4= 0 1\n")
    with pytest.warns(FileNote, match="in base64"):
        assert list(Vectors.load(tmp_path / "v").words) == ["king", "queen"]
