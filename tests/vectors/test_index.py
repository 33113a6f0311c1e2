"""Indices for serving: Faiss reads them, and finds what a full search finds."""

import numpy as np
import pandas as pd
import pytest

from w2vneg import Input, Vectors, Word2Vec
from w2vneg.ground.errors import ConfigError, OutputError
from w2vneg.vectors.evaluation import scores_of
from w2vneg.vectors.formats import save

faiss = pytest.importorskip("faiss")


def neighbours(folder, queries, k=10):
    """Return the names that an index lists for each query."""
    index = faiss.read_index(str(folder / "index.faiss"))
    words = (folder / "words.txt").read_text("utf-8").splitlines()
    return [[words[i] for i in row] for row in index.search(queries, k)[1]]


def recall(found, matrix, queries, words):
    best = np.argsort(-(queries @ matrix.T), axis=1)[:, : len(found[0])]
    return np.mean([len(set(own) & {words[i] for i in row}) / len(own) for own, row in zip(found, best, strict=True)])


@pytest.fixture(scope="module")
def vectors():
    """Rows in clusters, of lengths that differ as those of trained items do."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(50, 16))[rng.integers(0, 50, 3000)] + 0.7 * rng.normal(size=(3000, 16))
    rows *= rng.lognormal(0.0, 0.3, (3000, 1))
    return Vectors([f"w{i}" for i in range(3000)], rows.astype(np.float32))


def test_neighbours_by_cosine(tmp_path, vectors):
    save(tmp_path / "index", vectors, format="faiss")
    rows = vectors.matrix / np.linalg.norm(vectors.matrix, axis=1, keepdims=True)
    assert recall(neighbours(tmp_path / "index", rows[:300]), rows, rows[:300], vectors.words) >= 0.95


def test_targets_by_dot_product(tmp_path, vectors):
    save(tmp_path / "index", vectors, format="faiss-dot")
    queries = np.random.default_rng(1).normal(size=(300, 16)).astype(np.float32)
    assert recall(neighbours(tmp_path / "index", queries), vectors.matrix, queries, vectors.words) >= 0.95


@pytest.mark.parametrize("word", ["a\nb", "a\r", "\u2028"])
def test_a_word_that_would_shift_the_others_to_wrong_rows_is_refused(tmp_path, word):
    with pytest.raises(OutputError, match=r"has a line end, which words\.txt cannot hold"):
        save(tmp_path / "index", Vectors([word, "b", ""], np.eye(3, dtype=np.float32)), format="faiss")
    assert not (tmp_path / "index").exists()


def test_the_command(tmp_path, monkeypatch, run_cli, vectors):
    monkeypatch.chdir(tmp_path)
    small = Vectors(["naïve", "b", "c"], np.eye(3, dtype=np.float32))
    small.save("vectors.txt")
    result = run_cli("export", "vectors.txt", "index", "--format", "faiss")
    assert result.code == 0 and "index: 3 words" in result.err
    assert neighbours(tmp_path / "index", np.eye(3, dtype=np.float32)[:1], 1) == [["naïve"]]
    assert sorted(path.name for path in (tmp_path / "index").iterdir()) == ["index.faiss", "words.txt"]
    refused = run_cli("export", "index", "out.txt")
    assert refused.code == 1 and "index: a Faiss index cannot be read; load the vectors it was" in refused.err


@pytest.mark.parametrize("format", ["faiss", "faiss-dot"])
def test_other_files_of_the_folder_stay(tmp_path, format):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "mine").write_text("mine")
    Vectors(["a", "b"], np.eye(2, dtype=np.float32)).save(tmp_path, format=format)
    assert (tmp_path / "deep" / "mine").read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["deep", "index.faiss", "words.txt"]


@pytest.mark.parametrize("options", [{"loss": "ps"}, {"loss": "relaxed", "temp": 0.5}], ids=["popularity", "boltzmann"])
def test_one_index_serves_any_share_of_popularity(tmp_path, options):
    rng = np.random.default_rng(4)
    items = 5 * rng.integers(0, 40, 4000) + rng.zipf(1.6, 4000) % 5
    rows = pd.DataFrame({"user": items // 5 * 9 + rng.integers(0, 9, 4000), "item": items})
    word = Word2Vec(dim=8, epochs=2, min_count=1, rectangular=True, **options)
    word.fit(Input("pairs", rows))
    word.save(tmp_path / "model")
    found = Vectors.load(tmp_path / "model", readout="corrected")
    np.testing.assert_array_equal(found.matrix, word.read_out("corrected").matrix)
    assert list(found.words) == list(word.model.vocab_out.words) and found.dim == 9
    save(tmp_path / "index", found, format="faiss-dot")
    centres = np.arange(100)
    for share in (0, 0.5, 1, -1):
        queries = np.column_stack([word.model.vectors_in[centres], np.full(100, share, np.float32)])
        scores = scores_of(word.model, share)(centres)
        factor = 1.0 if share or options["loss"] == "ps" else 3.0  # raw scores are not stretched
        apart = queries @ found.matrix.T - factor * scores
        assert np.ptp(apart, axis=1).max() < 1e-4  # the same but for a constant
        assert recall(neighbours(tmp_path / "index", queries), found.matrix, queries, found.words) >= 0.95
    for loss in ("fs", "us"):
        other = Word2Vec(dim=8, epochs=1, min_count=1, loss=loss, rectangular=True)
        other.fit(Input("pairs", rows))
        with pytest.raises(ConfigError, match="dot products already include popularity"):
            other.read_out("corrected")
