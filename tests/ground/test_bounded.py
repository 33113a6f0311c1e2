"""Whatever a user may name is read within bounds: devices, pipes, lines without end, JSON and TOML beyond measure."""

import os
import shutil
import subprocess
import threading
from contextlib import suppress

import pytest
from reading import encode_cooccurrence, encode_pairs

from w2vneg.cli.options import read_config
from w2vneg.data import vocab
from w2vneg.data.catalog.places import read_manifest
from w2vneg.data.encoded import encode_corpus, matrices, read_pairs_file
from w2vneg.data.encoded.matrices import read_names
from w2vneg.data.readers import frames
from w2vneg.data.readers.sources import find_files
from w2vneg.data.readers.tables import read_titles
from w2vneg.data.vocab import Vocabulary
from w2vneg.ground.errors import DataError, InputError
from w2vneg.ground.files import bounded
from w2vneg.vectors.evaluation.analogy import read_questions
from w2vneg.vectors.evaluation.similarity import read_pairs

AB = Vocabulary(["a", "b"], [2, 1])
READ = {  # what is read -> (function of a path, content that is right)
    "vocabulary": (Vocabulary.load, "a\t2\nb\t1\n"),
    "similarity": (read_pairs, "a\tb\t1.5\n"),
    "analogies": (read_questions, "a b c d\n"),
    "options": (lambda path: read_config(path, {}), "dim = 5\n"),
    "names": (read_names, "a\nb\n"),
    "titles": (read_titles, "1\tone\n2\ttwo\n"),
    "pairs": (encode_pairs, "a\tb\t1\n"),
    "co-occurrence": (encode_cooccurrence, "a\tb\t1\n"),
    "held-out pairs": (lambda path: read_pairs_file(path, AB, AB), "a\tb\t1\n"),
    "corpus": (lambda path: encode_corpus(path, min_count=1, use_cache=False), "a b\n"),
    "manifest": (read_manifest, ""),
    "json": (bounded.read_json, "[1]"),
}


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(bounded, "LARGEST", 1 << 16)
    for module in (bounded, vocab, matrices):
        monkeypatch.setattr(module, "LONGEST_LINE", 1 << 16)


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom"])
@pytest.mark.parametrize("kind", READ)
def test_a_device_without_end_is_refused(small, kind, device):
    with pytest.raises((InputError, DataError), match=device):
        READ[kind][0](device)


@pytest.mark.parametrize("kind", [kind for kind in READ if kind != "options"])  # commands read these repeatedly
def test_a_pipe_is_read_once_and_to_its_end(tmp_path, kind):
    read, content = READ[kind]
    os.mkfifo(tmp_path / "pipe")

    def write():
        with suppress(BrokenPipeError), open(tmp_path / "pipe", "wb") as stream:
            stream.write(content.encode())

    beside = threading.Thread(target=write)
    beside.start()
    read(str(tmp_path / "pipe"))
    beside.join()


@pytest.mark.parametrize("begin", [b"", b"a\t1\n"])
@pytest.mark.parametrize("kind", ["vocabulary", "names"])
def test_a_line_without_end_is_refused(small, tmp_path, kind, begin):
    (tmp_path / "file").write_bytes(begin + b"a" * (1 << 20))
    with pytest.raises(InputError, match=rf"file:{begin.count(10) + 1}: no line end within"):
        READ[kind][0](str(tmp_path / "file"))


@pytest.mark.parametrize("kind", ["similarity", "analogies", "options", "manifest", "json"])
def test_a_file_beyond_measure_is_refused(small, tmp_path, kind):
    (tmp_path / "file").write_text(READ[kind][1] * (1 << 16) or "\n" * (1 << 17))
    with pytest.raises((InputError, DataError), match="file: more than 0 MB, or without end"):
        READ[kind][0](str(tmp_path / "file"))


@pytest.mark.parametrize(
    "content", [b"dim = " + b"9" * 6000, b"dim = " + b"[" * 100_000, b"dim = nan", b"\xff", b"dim = '\x00'"]
)
def test_options_beyond_measure_are_refused(tmp_path, content, run_cli):
    (tmp_path / "o.toml").write_bytes(content + b"\n")
    result = run_cli("train", "--config", tmp_path / "o.toml")
    assert result.code == 1 and "o.toml" in result.err and "Traceback" not in result.err


def test_options_may_begin_with_a_mark_and_end_lines_as_windows_does(tmp_path):
    (tmp_path / "o.toml").write_bytes(b"\xef\xbb\xbfdim = 7\r\nepochs = 3\r\n")
    config = read_config(tmp_path / "o.toml", {})
    assert (config.dim, config.epochs) == (7, 3)


def test_a_cell_of_a_similarity_set_beyond_measure_is_refused(tmp_path):
    (tmp_path / "s.csv").write_text("a,b,1\na,b" + "b" * 200_000 + ",2\n")
    with pytest.raises(InputError, match=r"s\.csv:2: not a row of word, word, score"):
        read_pairs(tmp_path / "s.csv")


def test_a_folder_is_read_without_its_pipes(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "text").write_text("a b\n")
    assert find_files(tmp_path) == [str(tmp_path / "text")]


def test_packed_parquet_without_end_is_refused(monkeypatch):
    monkeypatch.setattr(frames, "memory_size", lambda: 400)
    with pytest.raises(InputError, match=r"t\.parquet\.gz: more than 0\.0 GB of packed or piped Parquet"):
        frames._joined("t.parquet.gz", iter(lambda: b"PAR1" * 10, None))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", ":1: the line is empty"),
        (b"a\n\nb\n", ":2: the line is empty"),
        (b"a\nb\n\n", ":3: the line is empty"),
        (b"a\nb\na", ":3: the name 'a' is also on line 1"),
    ],
)
def test_names_that_are_none(tmp_path, content, message):
    (tmp_path / "n").write_bytes(content)
    with pytest.raises(InputError, match=f"n{message}"):
        read_names(str(tmp_path / "n"))


@pytest.mark.parametrize(
    "arguments",
    [
        ("train", "--corpus=closed/in.txt"),
        ("train", "--baskets=closed/in.txt"),
        ("train", "--corpus=text", "--valid=closed/in.txt"),
        ("train", "--corpus=text", "--plugin=closed/in.py"),
        ("eval", "similarity", "text", "--set=closed/in.txt"),
    ],
)
def test_what_lies_in_a_folder_that_may_not_be_entered_is_not_said_to_be_missing(
    run_cli, tmp_path, monkeypatch, arguments
):
    real = os.stat

    def stat(path, *args, **options):
        if not isinstance(path, int) and "closed" in os.fsdecode(path):
            raise PermissionError(13, "Permission denied", path)
        return real(path, *args, **options)

    monkeypatch.chdir(tmp_path)
    (tmp_path / "text").write_text("2 2\na 1 2\nb 2 1\n")
    monkeypatch.setattr(os, "stat", stat)
    result = run_cli(*arguments)
    assert result.code == 1 and "no such file" not in result.err
    assert "cannot be read (Permission denied); get permission to enter its folder" in result.err, result.err


def test_find_files_tells_of_a_closed_folder(monkeypatch):
    monkeypatch.setattr(bounded, "barred", lambda path: "cannot be read")
    with pytest.raises(InputError, match=r"closed/a: cannot be read"):
        find_files("closed/a")


@pytest.mark.skipif(not shutil.which("iconv"), reason="iconv is not here")
@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_the_remedy_for_another_encoding_makes_utf_8(tmp_path, encoding):
    (tmp_path / "FILE").write_text("für\n", encoding=encoding)
    with pytest.raises(InputError, match=r"FILE:1: not UTF-8 text; .*: iconv ") as error:
        bounded.read_text(tmp_path / "FILE")
    subprocess.run(str(error.value).rpartition(": ")[2], shell=True, cwd=tmp_path, check=True)
    assert bounded.read_text(tmp_path / "OUT") == "für\n"
