"""``w2vneg cache``: what it lists is there, and what it clears is gone; what is no cache stays."""

import json
from pathlib import Path

import pytest


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("W2VNEG_CACHE", str(tmp_path))
    monkeypatch.delenv("W2VNEG_JIT_CACHE", raising=False)
    for name, size in (("corpora/one/ids", 5), ("corpora/two", 7), ("jit/code", 11), ("data/text8", 13), ("mine", 1)):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"x" * size)
    return tmp_path


def test_list_counts_files_and_bytes_of_each_kind(folder, run_cli):
    rows = {row["kind"]: row for row in json.loads(run_cli("cache", "list", "--json").out)}
    figures = {kind: (row["files"], row["bytes"]) for kind, row in rows.items()}
    assert figures == {"corpora": (2, 12), "phrases": (0, 0), "jit": (1, 11), "data": (1, 13)}
    assert Path(rows["jit"]["path"]) == folder / "jit"
    assert "encoded data" in run_cli("cache", "list").out


def test_clear_leaves_downloads_unless_they_are_named(folder, run_cli):
    result = run_cli("cache", "clear")
    assert result.code == 0 and "Removed 0.0 MB." in result.out
    assert sorted(entry.name for entry in folder.iterdir()) == ["data", "mine"]
    assert json.loads(run_cli("cache", "clear", "data", "--json").out)[0]["bytes"] == 13
    assert [entry.name for entry in folder.iterdir()] == ["mine"]
    assert run_cli("cache", "clear", "corpora").code == 0  # nothing there is no mistake


def test_path_is_where_things_are(folder, run_cli, monkeypatch):
    assert run_cli("cache", "path").out == f"{folder}\n"
    assert run_cli("cache", "path", "corpora").out == f"{folder / 'corpora'}\n"
    monkeypatch.setenv("W2VNEG_JIT_CACHE", "/elsewhere")
    assert run_cli("cache", "path", "jit").out == "/elsewhere\n"
    result = run_cli("cache", "path", "corpra")
    assert result.code == 1 and "did you mean 'corpora'?" in result.err
