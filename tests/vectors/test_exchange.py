"""Formats of other programs: each read back by its own library, and foreign files read, or refused with the remedy."""

import bz2
import csv
import gzip
import json
import lzma
import pickle
import sys
from itertools import pairwise

import numpy as np
import pytest

from w2vneg.ground.errors import ConfigError, InputError, MissingExtraError, OutputError
from w2vneg.vectors import Vectors, formats

WORDS = ["the", "of", "zürich", "new_york", "sun"]


@pytest.fixture
def vectors():
    return Vectors(WORDS, np.random.default_rng(3).normal(size=(5, 6)), [50, 40, 30, 20, 10])


def same(read, vectors, counts=True):
    assert read.words == vectors.words
    np.testing.assert_array_equal(read.matrix, vectors.matrix)
    assert (read.counts is None) if not counts else (read.counts == vectors.counts).all()


def test_safetensors_are_read_by_their_library(vectors, tmp_path):
    load_file = pytest.importorskip("safetensors.numpy").load_file
    vectors.save(tmp_path / "v.safetensors")
    found = load_file(tmp_path / "v.safetensors")
    np.testing.assert_array_equal(found["matrix"], vectors.matrix)
    offsets = found["word_offsets"]
    words = [found["word_bytes"][a:b].tobytes().decode() for a, b in pairwise(offsets)]
    assert words == WORDS
    same(Vectors.load(tmp_path / "v.safetensors"), vectors)


@pytest.mark.parametrize(
    ("tensors", "message"),
    [
        ({"weight": np.ones((2, 3), np.float32)}, "the tensors weight come without words; put tokenizer.json"),
        ({"word_bytes": np.zeros(1, np.uint8)}, "expected a tensor 'matrix', found word_bytes"),
        (
            {
                "matrix": np.ones((3, 2), np.float32),
                "word_bytes": np.frombuffer(b"ab", np.uint8),
                "word_offsets": np.arange(3),
            },
            "2 words do not match a matrix",
        ),
    ],
)
def test_other_safetensors_are_refused(tmp_path, tensors, message):
    library = pytest.importorskip("safetensors.numpy")
    (tmp_path / "v").write_bytes(library.save(tensors))
    with pytest.raises(InputError, match=message):
        Vectors.load(tmp_path / "v")


@pytest.mark.parametrize("format", ["model2vec", "sentence-transformers"])
def test_static_folders_have_a_token_a_word(vectors, tmp_path, format):
    tokenizers = pytest.importorskip("tokenizers")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("stays")
    vectors.save(tmp_path / "out", format=format)
    tokenizer = tokenizers.Tokenizer.from_file(str(tmp_path / "out" / "tokenizer.json"))
    assert [tokenizer.encode(word).ids for word in WORDS] == [[row] for row in range(5)]
    assert tokenizer.encode("The sun, OF Zürich!").ids == [0, 4, 5, 1, 2, 5]
    assert json.loads((tmp_path / "out" / "modules.json").read_text())[0]["type"].endswith(".StaticEmbedding")
    assert (tmp_path / "out" / "mine.txt").read_text() == "stays"
    assert formats.detect(tmp_path / "out") == "static"
    same(Vectors.load(tmp_path / "out"), vectors, counts=False)
    same(Vectors.load(tmp_path / "out" / "model.safetensors"), vectors, counts=False)


def test_the_tokenizer_splits_no_word_and_lowers_none(tmp_path):
    tokenizers = pytest.importorskip("tokenizers")
    words = ["The", "well-known", "[UNK]", "...", "m²"]
    Vectors(words, np.eye(5)).save(tmp_path / "out", format="model2vec")
    tokenizer = tokenizers.Tokenizer.from_file(str(tmp_path / "out" / "tokenizer.json"))
    assert tokenizer.encode("The well-known [UNK] ... m² the").ids == [0, 1, 2, 3, 4, 5]
    assert Vectors.load(tmp_path / "out").words == words


@pytest.mark.parametrize("format", ["model2vec", "sentence-transformers"])
def test_model2vec_reads_both_folders(vectors, tmp_path, format):
    model2vec = pytest.importorskip("model2vec")
    vectors.save(tmp_path / "out", format=format)
    model = model2vec.StaticModel.from_pretrained(str(tmp_path / "out"))
    np.testing.assert_allclose(model.encode(WORDS), vectors.matrix, rtol=1e-6)
    first, second = model.encode(["the sun", "nowhere in new_york"])
    cosine = first @ second / np.linalg.norm(first) / np.linalg.norm(second)
    assert cosine == pytest.approx(vectors.n_similarity(["the", "sun"], ["new_york"]), abs=1e-5)


def test_a_folder_of_model2vec_is_read(vectors, tmp_path):
    """With rows that tokens share, weights, and numbers of half the width."""
    model2vec = pytest.importorskip("model2vec")
    vectors.save(tmp_path / "out", format="model2vec")
    model = model2vec.StaticModel.from_pretrained(str(tmp_path / "out"))
    mapping, weights = np.array([0, 1, 1, 0, 2, 2]), np.linspace(0.5, 1.5, 6).astype(np.float32)
    rows = vectors.matrix[:3].astype(np.float16)
    packed = model2vec.StaticModel(rows, model.tokenizer, token_mapping=mapping, weights=weights)
    packed.save_pretrained(tmp_path / "packed")
    found = Vectors.load(tmp_path / "packed")
    assert found.words == [*WORDS, "[UNK]"]
    np.testing.assert_allclose(found.matrix[:5], packed.encode(WORDS), rtol=1e-3)


def test_static_folders_that_do_not_fit_are_refused(vectors, tmp_path):
    library = pytest.importorskip("safetensors.numpy")
    vectors.save(tmp_path / "out", format="model2vec")
    matrix = tmp_path / "out" / "model.safetensors"
    for tensors, message in (
        ({"embeddings": np.ones((2, 3), np.float32)}, "6 tokens do not match 2 rows"),
        ({"others": np.ones((2, 3), np.float32)}, "expected a matrix embeddings or embedding.weight"),
        ({"embeddings": np.ones((6, 2), np.float32), "mapping": np.array([9])}, "do not fit the matrix"),
    ):
        matrix.write_bytes(library.save(tensors))
        with pytest.raises(InputError, match=message):
            Vectors.load(tmp_path / "out")
    (tmp_path / "out" / "tokenizer.json").write_text("{}")
    with pytest.raises(InputError, match=r"tokenizer\.json: cannot be read"):
        Vectors.load(tmp_path / "out")


def test_a_model_folder_is_not_mixed_with_another(vectors, tmp_path):
    pytest.importorskip("tokenizers")
    (tmp_path / "vocab.tsv").write_text("the\t5\n")
    with pytest.raises(OutputError, match="a w2vneg model folder; name another"):
        vectors.save(tmp_path, format="model2vec")
    with pytest.raises(OutputError, match="contains whitespace"):
        Vectors(["new york"], [[1.0]]).save(tmp_path / "out", format="model2vec")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "feather"])
def test_tables_are_read_by_pandas(vectors, tmp_path, suffix):
    pytest.importorskip("pyarrow")
    import pandas

    vectors.save(tmp_path / f"v.{suffix}")
    read = pandas.read_parquet if suffix == "parquet" else pandas.read_feather
    table = read(tmp_path / f"v.{suffix}")
    assert list(table.columns) == ["word", "count", "vector"] and list(table["word"]) == WORDS
    np.testing.assert_array_equal(np.stack(table["vector"].to_list()), vectors.matrix)
    same(Vectors.load(tmp_path / f"v.{suffix}"), vectors)


def test_tables_of_others_are_read(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    kept = {"id": [7, 8], "token": ["a", "b"], "embedding": [[1.0, 2.0], [3.0, 4.5]]}
    parquet.write_table(arrow.table(kept), tmp_path / "v")
    found = Vectors.load(tmp_path / "v")
    assert found.words == ["a", "b"] and found.matrix.tolist() == [[1.0, 2.0], [3.0, 4.5]]
    for change, message in (
        ({"embedding": [[1.0, 2.0], [3.0]]}, "cannot be read"),
        ({"embedding": [[1.0], [3.0, 4.0, 5.0]]}, "different lengths"),
        ({"embedding": [[1.0, 2.0], None]}, "perhaps with empty cells"),
        ({"token": ["a", "a"]}, "occurs twice"),
        ({"embedding": [1.0, 2.0]}, "columns id, token, embedding"),
        ({"embedding": [[1.0, 2.0], [3.0, float("nan")]]}, "NaN"),
    ):
        parquet.write_table(arrow.table(kept | change), tmp_path / "w")
        with pytest.raises(InputError, match=message):
            Vectors.load(tmp_path / "w")


@pytest.mark.parametrize("counted", [True, False])
def test_the_projectors_tables(vectors, tmp_path, counted):
    vectors.counts = vectors.counts if counted else None
    vectors.save(tmp_path / "out", format="projector")
    with open(tmp_path / "out" / "metadata.tsv", encoding="utf-8", newline="") as stream:
        rows = list(csv.reader(stream, delimiter="\t"))
    if counted:  # TensorBoard: a header if there are several columns, none if there is one
        assert rows.pop(0) == ["word", "count"]
        assert [int(row[1]) for row in rows] == vectors.counts.tolist()
    assert [row[0] for row in rows] == WORDS
    values = np.loadtxt(tmp_path / "out" / "vectors.tsv", delimiter="\t", dtype=np.float32)
    np.testing.assert_array_equal(values, vectors.matrix)
    assert 'tensor_path: "vectors.tsv"' in (tmp_path / "out" / "projector_config.pbtxt").read_text()
    with pytest.raises(InputError, match="out: a folder for TensorBoard's projector cannot be read; load the vectors"):
        Vectors.load(tmp_path / "out")
    with pytest.raises(OutputError, match="a tab or line end"):
        Vectors(["a\tb"], [[1.0]]).save(tmp_path / "other", format="projector")
    assert not (tmp_path / "other").exists()


PACKERS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}


@pytest.mark.parametrize("suffix", [*PACKERS, "zst"])
@pytest.mark.parametrize("format", ["word2vec", "word2vec-binary", "npz"])
def test_packed_files_are_read(vectors, tmp_path, suffix, format):
    vectors.save(tmp_path / "v", format=format)
    pack = PACKERS.get(suffix) or pytest.importorskip("zstandard").compress
    (tmp_path / f"v.{suffix}").write_bytes(pack((tmp_path / "v").read_bytes()))
    same(Vectors.load(tmp_path / f"v.{suffix}"), vectors, counts=format == "npz")


def test_glove_and_its_packed_text_are_read(vectors, tmp_path):
    vectors.save(tmp_path / "v.txt")
    text = (tmp_path / "v.txt").read_bytes().partition(b"\n")[2]
    (tmp_path / "glove.txt.gz").write_bytes(gzip.compress(text))
    same(Vectors.load(tmp_path / "glove.txt.gz"), vectors, counts=False)


def test_what_gensim_saves_is_named_and_never_unpickled(vectors, tmp_path, monkeypatch):
    keyed_vectors = pytest.importorskip("gensim.models", reason="the extra gensim is not installed").KeyedVectors
    vectors.save(tmp_path / "v.kv")
    theirs = keyed_vectors.load(str(tmp_path / "v.kv"))
    assert theirs.index_to_key == list(vectors.words) and theirs.expandos["count"].tolist() == vectors.counts.tolist()
    np.testing.assert_array_equal(theirs.vectors, vectors.matrix)
    monkeypatch.setattr(pickle, "Unpickler", None)
    monkeypatch.setattr(pickle, "load", None)
    with pytest.raises(InputError, match=r"v\.kv is a pickle.*save_word2vec_format") as caught:
        Vectors.load(tmp_path / "v.kv")
    assert str(caught.value).count("v.kv") == 1


@pytest.mark.parametrize(
    ("missing", "format", "extra"),
    [
        ("safetensors.numpy", "safetensors", "safetensors"),
        ("tokenizers", "model2vec", "tokenizers"),
        ("pyarrow", "arrow", "parquet"),
        ("pyarrow.parquet", "parquet", "parquet"),
    ],
)
def test_a_missing_library_is_named_with_its_extra(vectors, tmp_path, monkeypatch, missing, format, extra):
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(MissingExtraError, match=rf"w2vneg\[{extra}\]"):
        vectors.save(tmp_path / "out", format=format)
    assert list(tmp_path.iterdir()) == []


def test_spellings_are_of_npz_only(vectors, tmp_path):
    pytest.importorskip("tokenizers")
    vectors.save(tmp_path / "out", format="model2vec")
    with pytest.raises(ConfigError, match="known words only"):
        Vectors.load(tmp_path / "out", oov="letters")
