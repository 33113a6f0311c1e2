"""Reading text: which files, how packed, how encoded; what is refused and in which words."""

import bz2
import errno
import gzip
import io
import lzma
import os
import sys
import warnings
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from w2vneg import Input
from w2vneg.data.encoded import count
from w2vneg.data.encoded.count import TokenCounter, TokenStream
from w2vneg.data.inputs import encode_input
from w2vneg.data.readers import READERS, sources
from w2vneg.data.readers.sources import STDIN, ByteStream, find_files, is_paths
from w2vneg.data.readers.text import codec_name, read_sentences
from w2vneg.ground.errors import ConfigError, FileNote, InputError, MissingExtraError, UnknownNameError

TEXT = "the cat sat\non the mat\n" * 500


def zstd(data):
    return pytest.importorskip("zstandard").ZstdCompressor().compress(data)


PACKERS = {"gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress, "zstd": zstd}


def read(path, **options):
    with ByteStream(str(path)) as source:
        return b"".join(READERS["text"](source, **options)).decode()


def unpack(path):
    with ByteStream(str(path)) as source:
        return b"".join(source.pieces())


def tokenise(pieces):
    """Return (sentences, counter, Counter of words), as the compiled tokeniser sees the pieces."""
    with TokenStream(None) as stream:
        counter = TokenCounter(stream)
        for _ in counter.count(pieces, "here"):
            pass
        words = counter.types.words(np.arange(len(counter.types)))
        assert len(set(words)) == len(words)
        counts = Counter(dict(zip(words, counter.types.counts().tolist(), strict=True)))
        sentences = [[]]
        for numbers in stream.pieces():
            for number in numbers.tolist():
                if number < 0:
                    sentences.append([])
                else:
                    sentences[-1].append(words[number])
    assert sentences.pop() == []
    return sentences, counter, counts


def naive(text):
    lines = text.split("\n")
    return [line.split() for line in (lines if lines[-1] else lines[:-1])]


SPACES = " \t\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2000\u2005\u200a\u2028\u2029\u202f\u205f\u3000"
NEAR_SPACES = "\xa1\u0084\u1681\u200b\u2010\u202a\u205e\u3001\u4e00é😀ΣσςİAb"
ANYTHING = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
TEXTS = st.text(st.one_of(st.sampled_from(SPACES + "\n  ab" + NEAR_SPACES), ANYTHING))


@settings(deadline=None)  # the first call may compile
@given(TEXTS, st.integers(1, 9), st.booleans())
def test_any_text_in_any_pieces_splits_as_str_split_does(text, size, lowercase):
    class Cut:
        name = "cut"

        def pieces(self):
            data = text.encode()
            return (data[i : i + size] for i in range(0, len(data), size))

    expected = text.removeprefix("\ufeff")
    expected = naive(expected.lower() if lowercase else expected)
    sentences, counter, counts = tokenise(READERS["text"](Cut(), lowercase=lowercase))
    assert sentences == expected
    assert counter.n_lines == len(expected)
    assert counter.n_empty_lines == sum(not tokens for tokens in expected)
    assert counter.n_tokens == sum(map(len, expected))
    assert counts == Counter(token for tokens in expected for token in tokens)
    assert len(counter.types) == len(counts)


@settings(deadline=None)
@given(TEXTS, st.integers(1, 9), st.sampled_from(["utf-16", "utf-32-be", "gb18030"]))
def test_any_encoding_in_any_pieces(text, size, encoding):
    class Cut:
        name = "cut"

        def pieces(self):
            data = text.encode(encoding)
            return (data[i : i + size] for i in range(0, len(data), size))

    pieces = READERS["text"](Cut(), encoding=encoding)
    assert b"".join(pieces).decode() == text.removeprefix("\ufeff")


def test_tables_grow_and_long_tokens_are_told_apart(monkeypatch):
    monkeypatch.setattr(count, "_FIRST_SLOTS", 4)
    monkeypatch.setattr(count, "_FIRST_ARENA", 4)
    tokens = [f"{i}{'x' * length}{i % 3}" for i in range(100) for length in (0, 6, 7, 8, 14, 15, 16, 40)]
    tokens += [t[::-1] for t in tokens] + ["a" * length for length in range(1, 60)] + tokens[::3]
    text = " ".join(tokens).encode()
    for size in (7, 64, 1 << 20):
        sentences, _, counts = tokenise(text[i : i + size] for i in range(0, len(text), size))
        assert sentences == [tokens]
        assert counts == Counter(tokens)


def test_many_types_are_counted_over_many_pieces():
    rng = np.random.default_rng(1)
    ranks = (rng.pareto(0.6, 6000) * 3).astype(np.int64) % 5000
    tokens = [f"{'long' * (rank % 6)}{rank}é" for rank in ranks.tolist()]
    lines = [tokens[i : i + 60] for i in range(0, len(tokens), 60)]
    text = "\n".join(map(" ".join, lines)).encode()
    sentences, counter, counts = tokenise(text[i : i + 1000] for i in range(0, len(text), 1000))
    assert sentences == lines
    assert counts == Counter(tokens)
    assert len(counter.types) == len(counts) > 500


def test_equal_hashes_are_told_apart_by_their_bytes(monkeypatch):
    long = ["a" * 17, "b" * 17, "a" * 18, "a" * 16]
    from w2vneg.kernels.text import tokens

    monkeypatch.setattr(tokens, "_hash", lambda *args: np.uint64(5))
    monkeypatch.setattr(tokens, "_mix", lambda key: np.uint64(0))
    for module in (count, tokens):  # in plain Python, where what was replaced is looked up
        for name, value in list(vars(module).items()):
            monkeypatch.setattr(module, name, getattr(value, "py_func", value))
    monkeypatch.setattr(tokens, "octet", lambda block, p: np.uint64(int.from_bytes(block[int(p) :][:8], "big")))
    monkeypatch.setattr(
        tokens,
        "breaks",
        lambda block, p: np.uint64(sum((b <= 32) << i for i, b in enumerate(block[int(p) :][:64].tolist()))),
    )
    monkeypatch.setattr(tokens, "trailing_zeros", lambda n: np.uint64((int(n) & -int(n)).bit_length() - 1))
    sentences, _, _ = tokenise([" ".join(long * 2).encode()])
    assert sentences == [long * 2]


def test_an_endless_line_is_one_sentence():
    text = b"anarchism originated as a term of abuse " * 15_000
    size = 1 << 15
    with TokenStream(None) as stream:
        counter = TokenCounter(stream)
        for _ in counter.count((text[i : i + size] for i in range(0, len(text), size)), "text8"):
            pass
        numbers = np.concatenate(list(stream.pieces()))
    assert numbers.tolist() == [*list(range(7)) * 15_000, -1]
    assert (counter.n_lines, counter.n_tokens) == (1, 105_000)


def test_a_text_without_white_space_is_refused(monkeypatch):
    monkeypatch.setattr(count, "LONGEST_TOKEN", 100)
    with pytest.raises(InputError, match=r"here:2: no white space in 1\d\d bytes"):
        tokenise([b"one line\n", *[b"x" * 40] * 4])


@pytest.mark.parametrize("name", PACKERS)
@pytest.mark.parametrize("size", [5, 64, 1 << 20])
def test_packed_files_are_known_by_content(tmp_path, monkeypatch, name, size):
    monkeypatch.setattr(sources, "PIECE", size)
    path = tmp_path / "corpus.txt"
    path.write_bytes(PACKERS[name](TEXT.encode()))
    assert read(path) == TEXT
    path.write_bytes(PACKERS[name](TEXT.encode()) + PACKERS[name](b"") + PACKERS[name](b"more"))
    assert read(path) == TEXT + "more"


@pytest.mark.parametrize("name", ["gzip", "bzip2", "xz"])
def test_highly_packed_files_come_in_bounded_pieces(tmp_path, monkeypatch, name):
    monkeypatch.setattr(sources, "PIECE", 1 << 12)
    path = tmp_path / "zeros"
    path.write_bytes(PACKERS[name](b"a " * 500_000))
    with ByteStream(str(path)) as source:
        sizes = [len(piece) for piece in source.pieces()]
    assert sum(sizes) == source.unpacked == 1_000_000
    assert max(sizes) <= 1 << 12


@pytest.mark.parametrize("name", PACKERS)
def test_truncated_packed_files(tmp_path, name):
    packed = PACKERS[name](os.urandom(3000))
    for kept in (len(packed) - 1, len(packed) // 2, 18):
        path = tmp_path / "cut.txt"
        path.write_bytes(packed[:kept])
        with pytest.raises(InputError, match=rf"cut.txt: the {name} data end too early.*truncated"):
            unpack(path)


@pytest.mark.parametrize("name", PACKERS)
def test_corrupt_packed_files(tmp_path, name):
    packed = bytearray(PACKERS[name](os.urandom(3000)))
    path = tmp_path / "bad.txt"
    path.write_bytes(bytes(packed) + b"trailing rubbish here")
    with pytest.raises(InputError, match=rf"bad.txt: corrupt {name} data near byte"):
        unpack(path)
    for i in range(60, 90):
        packed[i] ^= 0x5A
    path.write_bytes(packed)
    if name != "zstd":  # whose frames need not carry a checksum
        with pytest.raises(InputError, match=rf"bad.txt: (corrupt {name}|the {name} data end)"):
            unpack(path)


def test_padding_between_members_is_no_rubbish(tmp_path):
    path = tmp_path / "padded"
    path.write_bytes(gzip.compress(b"one ") + b"\0" * 512 + gzip.compress(b"two") + b"\0" * 100)
    assert read(path) == "one two"


def test_zstd_without_its_package_names_the_extra(tmp_path, monkeypatch):
    path = tmp_path / "corpus.zst"
    path.write_bytes(zstd(b"some text"))
    monkeypatch.setitem(__import__("sys").modules, "zstandard", None)
    with pytest.raises(MissingExtraError, match=r"w2vneg\[zstd\]"):
        read(path)


def test_text_that_begins_like_a_packed_file(tmp_path):
    for data in (b"BZh9 is not packed\n", b"BZ", b"(", b"P*M is text\n"):
        path = tmp_path / "text"
        path.write_bytes(data)
        assert read(path).encode() == data


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-16-le", "cp1252", "shift_jis", "utf-8-sig", "utf8"])
def test_encodings(tmp_path, encoding):
    text = "Ein Wort\nÄhnlich 10\n" if encoding != "shift_jis" else "日本 語\n"
    path = tmp_path / "text"
    path.write_bytes(text.encode(encoding))
    assert read(path, encoding=encoding) == text
    assert read(path, encoding=encoding, lowercase=True) == text.lower()


def test_marks_at_the_start_and_line_ends(tmp_path):
    path = tmp_path / "text"
    path.write_bytes(b"\xef\xbb\xbfone\r\ntwo\rthree\r\n")
    assert tokenise([read(path).encode()])[0] == [["one"], ["two", "three"]]
    path.write_bytes("\ufeffone".encode("utf-16-le"))
    assert read(path, encoding="utf-16-le") == "one"


@pytest.mark.parametrize("size", [1, 3, 1 << 20])
@pytest.mark.parametrize("lowercase", [False, True])
def test_wrong_bytes_are_placed(tmp_path, monkeypatch, size, lowercase):
    monkeypatch.setattr(sources, "PIECE", size)
    path = tmp_path / "text"
    path.write_bytes("ä\n€ ok\nthen ".encode() + b"caf\xe9 au lait\n")
    with pytest.raises(InputError, match=r"text:3: not utf-8: .* at byte 18 \(0xe9\).*--encoding"):
        read(path, lowercase=lowercase)
    path.write_bytes("one\ntw€".encode()[:-1])
    with pytest.raises(InputError, match=r"text:2: not utf-8: unexpected end of data at byte 6 \(0xe282\)"):
        read(path, lowercase=lowercase)
    path.write_bytes("ä\nab".encode("utf-16-le") + b"\0")
    with pytest.raises(InputError, match=r"text:2: not utf-16-le: .* at byte 8"):
        read(path, encoding="utf-16-le", lowercase=lowercase)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
@pytest.mark.parametrize("text", ["one two\n", "\u00d8\u00d8 x\n", "три дня\n"])
def test_a_missing_byte_order_mark_is_named(tmp_path, encoding, text):
    path = tmp_path / "text"
    for order in ("le", "be"):
        path.write_bytes(text.encode(f"{encoding}-{order}"))
        with pytest.raises(InputError, match=f"no byte-order mark.*--encoding {encoding}-le or {encoding}-be"):
            read(path, encoding=encoding)
        assert read(path, encoding=f"{encoding}-{order}") == text


@pytest.mark.parametrize(
    ("text", "encoding", "named"),
    [
        ("дом стоит на горе и ждёт нас, PDF\n", "cp1251", "cp1251"),
        ("ο λόγος και ο θεός\n", "iso8859-7", "iso8859-7"),
        ("これ は 日本語 の 文 です 。\n", "shift_jis", "shift_jis"),
        ("这 是 中文\n", "gb18030", "gb18030"),
        ("ça va bien\n", "latin-1", "latin-1"),
    ],
)
def test_likely_encodings_are_those_of_the_script(tmp_path, text, encoding, named):
    path = tmp_path / "text"
    path.write_bytes(text.encode(encoding))
    with pytest.raises(InputError, match=r"--encoding \(") as error:
        read(path)
    assert named in str(error.value) and ("latin-1" in str(error.value)) == (named == "latin-1")


def test_windows_quotes_are_noticed(tmp_path):
    path = tmp_path / "text"
    path.write_bytes("eins\n„die Straße“\n€ “x”\n".encode("cp1252"))
    with pytest.raises(InputError, match=r"text:2: not utf-8: .* --encoding \(cp1252, latin-1"):
        read(path)
    for encoding in ("latin-1", "iso-8859-15"):
        with pytest.warns(FileNote, match=r"text:2: byte 0x84 is a control .* --encoding cp1252") as notes:
            read(path, encoding=encoding)
        assert len(notes) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "„die Straße“" in read(path, encoding="cp1252")
        path.write_bytes("die Straße\n".encode("latin-1"))
        read(path, encoding="latin-1")


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "cp1251", "gb18030"])
def test_utf_8_read_as_something_else_is_noticed(tmp_path, encoding):
    path = tmp_path / "text"
    path.write_text("eins\ndie größte Straße\n" * 9, encoding="utf-8")
    with pytest.warns(FileNote, match=r"text:2: .*valid UTF-8; it looks like utf-8: give --encoding utf-8") as notes:
        read(path, encoding=encoding)
    assert len(notes) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for text in ("eins\nzwei\n", "die Straße, ça và\n" if encoding != "cp1251" else "дом на горе\n"):
            path.write_bytes(text.encode(encoding))
            assert read(path, encoding=encoding) == text


def test_binary_files(tmp_path):
    path = tmp_path / "picture"
    path.write_bytes(b"one\ntwo\n\x01\x02\0\x03")
    with pytest.raises(InputError, match=r"picture:3: a NUL byte \(byte 10\).*binary.*--encoding"):
        read(path)
    with pytest.raises(InputError, match=r"picture:3: a NUL byte, which"):
        read(path, encoding="latin-1")
    for text in ("one", "äone"):
        for encoding in ("utf-16", "utf-32"):
            path.write_bytes(text.encode(encoding))
            with pytest.raises(InputError, match=f"looks like {encoding.upper()}: give --encoding {encoding}"):
                read(path)
    with pytest.raises(InputError, match=r"looks like UTF-32: give --encoding utf-32"):
        read(path, encoding="utf-16")


def test_lone_surrogates_are_no_text(tmp_path):
    path = tmp_path / "text"
    path.write_bytes(b"one\n\\ud800")
    with pytest.raises(InputError, match=r"text: near line 1: .* lone surrogate"):
        read(path, encoding="unicode_escape")


def test_codec_names():
    assert codec_name("UTF8") == codec_name("utf-8-sig") == "utf-8"
    with pytest.raises(ConfigError, match="unknown encoding 'uft-8'; did you mean"):
        codec_name("uft-8")
    with pytest.raises(ConfigError, match="does not turn bytes into text"):
        codec_name("base64")
    with pytest.raises(ConfigError, match="unknown encoding None"):
        codec_name(None)


def test_final_sigma_at_any_cut(tmp_path, monkeypatch):
    path = tmp_path / "text"
    text = "ΟΔΥΣΣΕΥΣ ΚΑΙ\u3000ΤΕΛΟΣ"
    path.write_bytes(text.encode())
    for size in range(1, 20):
        monkeypatch.setattr(sources, "PIECE", size)
        assert read(path, lowercase=True) == text.lower()


def test_folders_globs_and_lists(tmp_path, monkeypatch):
    for name in (
        "b.txt",
        "a/z.txt",
        "a/b/y.txt",
        ".hidden",
        ".git/config",
        "a-c/x.txt",
        "_SUCCESS",
        "_delta_log/x",
    ):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("text")
    (tmp_path / "a" / "loop").symlink_to(tmp_path / "a")

    def short(source):
        return [os.path.relpath(path, tmp_path) for path in find_files(source)]

    assert short(tmp_path) == ["a/b/y.txt", "a/z.txt", "a-c/x.txt", "b.txt"]
    assert short(str(tmp_path / "*.txt")) == ["b.txt"]
    assert short(str(tmp_path / "?")) == ["a/b/y.txt", "a/z.txt"]
    assert short([tmp_path / "b.txt", tmp_path / "a-c"]) == ["b.txt", "a-c/x.txt"]
    monkeypatch.chdir(tmp_path)
    assert find_files(["b.txt", STDIN]) == ["b.txt", STDIN]
    assert find_files("a-c/**") == [os.path.join("a-c", "x.txt")]


def test_what_is_named_twice_is_there_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a.txt", "b.txt", "c/a.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("text")
    (tmp_path / "c" / "link").symlink_to("../b.txt")
    (tmp_path / "d").symlink_to("c")
    for names, said in {
        ("a.txt", "a.txt"): "a.txt is named more than once, but read only once",
        ("a.txt", STDIN, str(tmp_path / "*.txt")): f"{tmp_path}/a.txt is named",
        ("a.txt", "c", "./b.txt", "d/../a.txt"): r"2 files, such as ./b.txt, are named",
        ("c/a.txt", "d/a.txt"): "d/a.txt is named",
    }.items():
        with pytest.warns(FileNote, match=said):
            found = find_files(names)
        assert len(set(map(os.path.realpath, found))) == len(found)
        assert found[0] == names[0]
    assert find_files(["a.txt", "c/a.txt"]) == ["a.txt", "c/a.txt"]


def test_a_file_named_like_a_glob(tmp_path):
    path = tmp_path / "a[1].txt"
    path.write_text("text")
    assert find_files(str(path)) == [str(path)]


def test_missing_things_are_named_with_a_remedy(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "corpus.txt").write_text("text")
    (tmp_path / "empty.txt").touch()
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / ".hidden").write_text("text")
    (tmp_path / "broken").symlink_to("nowhere")
    for source, message in {
        "corpus.tx": "corpus.tx: no such file or folder; did you mean 'corpus.txt'",
        "zzz": r"zzz: no such file or folder \(relative to .*\); check the path",
        "no/where.txt": "no/where.txt: no such file or folder; the folder no does not exist either",
        "empty.txt": "empty.txt: the file is empty; name a file",
        "folder": r"folder: this folder holds no file \(hidden ones do not count",
        "*.csv": r"\*.csv: no file matches this pattern",
        "broken": "broken: no such file",
    }.items():
        with pytest.raises(InputError, match=message):
            find_files(source)
    with pytest.raises(InputError, match="the list is empty"):
        find_files([])
    with pytest.raises(InputError, match="read only once"):
        find_files(["-", "-"])


def test_a_folder_that_cannot_be_listed(tmp_path, monkeypatch):
    def refused(path):
        raise PermissionError(errno.EACCES, "Permission denied", path)

    monkeypatch.setattr(os, "scandir", refused)
    with pytest.raises(InputError, match=r"this folder cannot be listed \(Permission denied\)"):
        find_files(str(tmp_path))


def test_standard_input_that_is_closed(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(InputError, match="standard input is closed"):
        ByteStream("-")


def test_unreadable_files(tmp_path):
    with pytest.raises(InputError, match="cannot be opened"):
        ByteStream(str(tmp_path))
    with pytest.raises(InputError, match="cannot be found"):
        sources.file_stamp(str(tmp_path / "none"))


def test_a_file_that_changes_while_it_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "PIECE", 20)
    path = tmp_path / "log"
    path.write_text(TEXT)
    with ByteStream(str(path)) as source, pytest.raises(InputError, match="log: the file changed while"):
        for _ in source.pieces():
            with open(path, "a") as log:
                log.write("x" if source.position < 100 else "")


def test_paths_or_sentences():
    assert is_paths("a") and is_paths(["a", "b"]) and is_paths(io.__file__)
    assert not is_paths([["a"], ["b"]]) and not is_paths(iter(["a"])) and not is_paths(3)


def test_sentences():
    assert b"".join(read_sentences([["The", "cat"], [], ("ΣΑΣ",)])) == "The cat\n\nΣΑΣ\n".encode()
    assert b"".join(read_sentences(iter([["The"], ["ΣΑΣ"]]), lowercase=True)) == "the\nσας\n".encode()


@pytest.mark.parametrize(
    ("sentences", "message"),
    [
        (["the cat"], "sentence 1 is a str; give a list of tokens"),
        ([["a"], ["new york"]], "sentence 2: the token 'new york' is empty or contains white space"),
        ([["a"], ["b", ""]], "sentence 2: the token '' is empty"),
        ([["a", "b\0"]], "NUL"),
        ([["a"], [1, 2]], "sentence 2 is not a list of strings"),
        ([["a"], 3], "sentence 2 is not a list of strings"),
        (7, "a corpus is a path, paths or an iterable of token lists, not 7"),
        ([["\ud800"]], "lone surrogate"),
    ],
)
def test_bad_sentences(sentences, message):
    with pytest.raises(InputError, match=message):
        list(read_sentences(sentences))


def test_readers_are_registered_by_name():
    assert "text" in READERS
    with pytest.raises(UnknownNameError, match="unknown reader 'txet'; did you mean 'text'"):
        READERS["txet"]


def test_a_file_named_twice_is_read_once_and_that_is_said_once(run_cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text("new york is big\nnew york is old\n")
    (tmp_path / "a.tsv").write_text("a\tb\nb\tc\n")
    run = run_cli("phrases", "a.txt", "*.txt", "--min-count=3", "--threshold=.001", "--out=found")
    assert run.code == 0 and run.err.startswith(
        "Note: a.txt is named more than once, but read only once.\nWrote 0 phrases to found: "
    )
    with pytest.warns(FileNote, match="a.tsv is named more than once"):
        assert encode_input(Input("pairs", ["a.tsv", "./a.tsv"], rectangular=False)).matrix.sum() == 2
