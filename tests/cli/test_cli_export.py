"""`w2vneg export`: from every source to every format, and nothing half-written."""

import bz2

import numpy as np
import pytest

from w2vneg.data.vocab import Vocabulary
from w2vneg.vectors import Vectors
from w2vneg.vectors.formats import FORMATS, detect, suffixes

WORDS = ["the", "of", "and"]
IN = np.array([[0.1, -2], [1 / 3, 4], [1e-20, 6]], dtype=np.float32)
OUT = np.array([[1, 1], [2, 2], [3, 3]], dtype=np.float32)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """The current folder, with vectors.txt and a model folder in it."""
    monkeypatch.chdir(tmp_path)
    Vectors(WORDS, IN).save("vectors.txt")
    (tmp_path / "model").mkdir()
    Vocabulary(WORDS, [30, 20, 10]).save(tmp_path / "model" / "vocab.tsv")
    np.save("model/vectors_in.npy", IN)
    np.save("model/vectors_out.npy", OUT)
    return tmp_path


@pytest.mark.parametrize("source", ["vectors.txt", "model"])
@pytest.mark.parametrize(
    ("out", "options", "format"),
    [
        ("new.txt", (), "word2vec"),
        ("new.vec", (), "word2vec"),
        ("new.bin", (), "word2vec-binary"),
        ("new.npz", (), "npz"),
        ("new.safetensors", (), "safetensors"),
        ("new.parquet", (), "parquet"),
        ("new.arrow", (), "arrow"),
        ("new", ("--format", "word2vec-binary"), "word2vec-binary"),
        ("new.txt", ("--format", "npz"), "npz"),
    ],
)
def test_formats(run_cli, source, out, options, format):
    result = run_cli("export", source, out, *options)
    assert (result.code, result.out) == (0, "")
    assert f"{out}: 3 words, 2 dimensions, {format}" in result.err
    assert detect(out) == format
    again = Vectors.load(out)
    assert again.words == WORDS
    np.testing.assert_array_equal(again.matrix, IN)
    if source == "model" and format in ("npz", "safetensors", "parquet", "arrow"):
        assert again.counts.tolist() == [30, 20, 10]


@pytest.mark.parametrize(("matrix", "expected"), [("in", IN), ("out", OUT), ("sum", IN + OUT)])
def test_matrices(run_cli, matrix, expected):
    assert run_cli("export", "model", "new.bin", "--readout", matrix).code == 0
    np.testing.assert_array_equal(Vectors.load("new.bin").matrix, expected)


@pytest.mark.parametrize("format", [name for name in FORMATS if FORMATS[name].folder and FORMATS[name].write])
def test_folders(run_cli, folder, format):
    result = run_cli("export", "model", "new", "--format", format)
    assert (result.code, result.out) == (0, "") and f"new: 3 words, 2 dimensions, {format}" in result.err
    assert (folder / "new").is_dir()
    assert run_cli("export", "model", "vectors.txt", "--format", format).code == 1


def test_the_command_offers_every_format(run_cli):
    offered = run_cli("export", "model", "out", "--format", "none").err.split("not one of ")[1].strip(" .\n")
    assert [name.strip("'") for name in offered.split(", ")] == sorted(n for n in FORMATS if FORMATS[n].write)
    assert suffixes()[".vec"] == "word2vec" and set(suffixes().values()) < set(FORMATS)


def test_words_are_added_by_their_spelling(run_cli, folder):
    names = ["walking", "walked", "walks", "talking", "talked", "talks"] * 4
    words = [f"{name}{i // 6 or ''}" for i, name in enumerate(names)]
    matrix = np.random.default_rng(1).normal(size=(len(words), 4)).astype(np.float32)
    (folder / "walks").mkdir()
    Vocabulary(words, range(100, 100 - len(words), -1)).save(folder / "walks" / "vocab.tsv")
    np.save("walks/vectors_in.npy", matrix)
    np.save("walks/vectors_out.npy", matrix)
    (folder / "asked.txt").write_text("walker\nwalks\nxyz\n\nwalker\n")
    options = ("--readout", "in+letters", "--oov", "letters")
    result = run_cli("export", "walks", "new.txt", *options, "--words", "asked.txt")
    assert result.code == 0 and "asked.txt: 1 word added, 1 without a known n-gram" in result.err
    found = Vectors.load("new.txt")
    assert found.words == [*words, "walker"]
    expected = Vectors.load("walks", readout="in+letters", oov="letters")["walker"]
    np.testing.assert_array_equal(found["walker"], expected)


def test_packed(run_cli, folder):
    assert run_cli("export", "model", "new.vec.bz2", "--precision", 3).code == 0
    assert bz2.decompress((folder / "new.vec.bz2").read_bytes()) == b"3 2\nthe 0.1 -2\nof 0.333 4\nand 1e-20 6\n"


def test_precision(run_cli, folder):
    assert run_cli("export", "model", "new.txt", "--precision", 3).code == 0
    assert (folder / "new.txt").read_text() == "3 2\nthe 0.1 -2\nof 0.333 4\nand 1e-20 6\n"


def test_what_is_read_is_never_written_over(run_cli, folder):
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    for source, out in (("vectors.txt", "vectors.txt"), ("model", "model/vectors_in.npy"), ("model", "model/new.txt")):
        for more in ((), ("--force",)):
            result = run_cli("export", source, out, "--format", "npz", *more)
            assert result.code == 2 and "choose another place" in result.err
    assert run_cli("export", "vectors.txt", ".", "--format", "projector", "--force").code == 2
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_what_is_there_is_replaced_by_force_only(run_cli, folder):
    (folder / "other.txt").write_text("mine")
    (folder / "index").mkdir()
    for out, more in (("other.txt", ()), ("index", ("--format", "projector"))):
        first = run_cli("export", "vectors.txt", out, *more)
        assert first.code == (out == "other.txt")
        refused = run_cli("export", "vectors.txt", out, *more)
        assert refused.code == 1 and f"{out} exists; replace it with --force" in refused.err
        assert run_cli("export", "vectors.txt", out, *more, "--force").code == 0
    np.testing.assert_array_equal(Vectors.load("other.txt").matrix, IN)
    assert run_cli("export", "vectors.txt", "/dev/null", "--format", "word2vec").code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("none.txt", "new.txt"), "none.txt: no such file; train vectors first"),
        (("vectors.txt", "new"), "cannot infer a format from the name 'new'"),
        (("vectors.txt", "new.xyz"), "cannot infer a format"),
        (("vectors.txt", "new.txt", "--readout", "out"), "'out' needs a model folder"),
        (("vectors.txt", "new.bin", "--readout", "sum"), "'sum' needs a model folder"),
        (("vectors.txt", "new.txt", "--oov", "letters"), "word2vec holds known words only"),
        (("vectors.txt", "new.txt", "--words", "bad.txt"), "give --oov letters with it"),
        (
            ("vectors.txt", "model", "--format", "model2vec", "--force"),
            "it is a w2vneg model folder; name another folder",
        ),
        (("vectors.txt", "bad.txt", "--format", "projector"), "cannot write bad.txt: it is a file; name a folder"),
        (("vectors.txt", "new.npz", "--oov", "letters"), "vectors of any spelling need a read-out with letters"),
        (("vectors.txt", "new.npz.gz"), "new.npz.gz: npz is not written compressed; name the file new.npz"),
        (("vectors.txt", "new.bin", "--precision", "3"), "precision applies only to the text format"),
        (("vectors.txt", "no/new.bin"), "cannot write no"),
        (("vectors.txt", "model", "--format", "npz"), "cannot write model: it is a folder"),
        (("bad.txt", "new.bin"), "bad.txt:3: expected 2 numbers, found 1"),
        (("spaces.npz", "new.txt"), "word 1 ('a b') contains whitespace"),
    ],
)
def test_mistakes_leave_nothing_behind(run_cli, folder, arguments, message):
    (folder / "bad.txt").write_text("2 2\na 1 2\nb 1\n")
    Vectors(["a", "a b"], np.ones((2, 2))).save("spaces.npz")
    before = sorted(path.name for path in folder.rglob("*"))
    result = run_cli("export", *arguments)
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("Error: ")
    assert message in result.err
    assert sorted(path.name for path in folder.rglob("*")) == before


def test_a_dash_is_standard_output_or_input_which_are_neither_written_nor_read(run_cli, folder):
    result = run_cli("export", "vectors.txt", "-", "--format", "word2vec")
    assert result.code == 2 and "OUT takes a path, not -; use /dev/stdout for standard output" in result.err
    assert not (folder / "-").exists()
    assert run_cli("export", "vectors.txt", "./-", "--format", "word2vec").code == 0
    assert run_cli("export", "./-", "again.txt").code == 0
    for arguments in (("export", "-", "new.txt"), ("nearest", "of", "--vectors", "-"), ("train", "--config", "-")):
        result = run_cli(*arguments)
        assert result.code == 1 and "-: standard input, which cannot be read twice" in result.err
    assert not (folder / "new.txt").exists()


def test_usage_mistakes(run_cli):
    assert run_cli("export", "vectors.txt").code == 2
    assert run_cli("export", "vectors.txt", "new.txt", "--precision", 10).code == 2
    assert run_cli("export", "vectors.txt", "new.txt", "--format", "hdf5").code == 2
    assert "Usage: w2vneg export" in run_cli("export", "--help").out
