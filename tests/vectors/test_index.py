"""Indices for serving: Faiss reads them, and finds what a full search finds."""

import numpy as np
import pytest

from w2vneg import Vectors
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
    save(tmp_path / "index", vectors.words, vectors.matrix, format="faiss")
    rows = vectors.matrix / np.linalg.norm(vectors.matrix, axis=1, keepdims=True)
    assert recall(neighbours(tmp_path / "index", rows[:300]), rows, rows[:300], vectors.words) >= 0.95


def test_targets_by_dot_product(tmp_path, vectors):
    save(tmp_path / "index", vectors.words, vectors.matrix, format="faiss-dot")
    queries = np.random.default_rng(1).normal(size=(300, 16)).astype(np.float32)
    assert recall(neighbours(tmp_path / "index", queries), vectors.matrix, queries, vectors.words) >= 0.95


def test_the_command(tmp_path, monkeypatch, run_cli, vectors):
    monkeypatch.chdir(tmp_path)
    small = Vectors(["naïve", "b", "c"], np.eye(3, dtype=np.float32))
    small.save("vectors.txt")
    result = run_cli("export", "vectors.txt", "index", "--format", "faiss")
    assert result.code == 0 and "index: 3 words" in result.err
    assert neighbours(tmp_path / "index", np.eye(3, dtype=np.float32)[:1], 1) == [["naïve"]]
    assert sorted(path.name for path in (tmp_path / "index").iterdir()) == ["index.faiss", "words.txt"]
