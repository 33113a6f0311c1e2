"""``w2vneg cache``: what it lists is there, and what it clears is gone; what is no cache stays."""

import json
import os
from pathlib import Path

import pytest

from w2vneg.data.catalog import cache_place
from w2vneg.data.encoded.encode import encode_corpus
from w2vneg.data.phrases import phrases_in
from w2vneg.ground import jit

ENTRY = f"{'0' * 16}-5-{'1' * 32}"  # of encoded data


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("W2VNEG_CACHE", str(tmp_path))
    monkeypatch.delenv("W2VNEG_JIT_CACHE", raising=False)
    memo, code = f"corpora/memo/{'2' * 32}.json", f"jit/{'3' * 20}/code"
    for name, size in ((f"corpora/{ENTRY}/ids", 5), (memo, 7), (code, 11), ("data/text8", 13), ("mine", 1)):
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
    assert files_in(folder) == ["data/text8", "mine"]
    assert json.loads(run_cli("cache", "clear", "data", "--json").out)[0]["bytes"] == 13
    assert files_in(folder) == ["mine"]
    assert run_cli("cache", "clear", "corpora").code == 0  # nothing there is no mistake


def files_in(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir())


def test_what_others_have_put_there_stays_and_is_named(folder, run_cli):
    names = ["corpora/memo/notes.json", "corpora/thesis/one.txt", "data/mine.txt", "jit/a", "jit/b", "jit/c", "jit/d"]
    for name in names:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("mine")
    rows = {row["kind"]: row for row in json.loads(run_cli("cache", "list", "--json").out)}
    assert (rows["corpora"]["files"], rows["corpora"]["others"]) == (2, ["thesis", "notes.json"])
    result = run_cli("cache", "clear", "corpora", "phrases", "jit", "data")
    assert result.code == 0 and f"Kept in {folder / 'jit'}, for w2vneg did not write them: a, b, c, …." in result.out
    assert files_in(folder) == sorted([*names, "mine"])


def test_a_folder_of_compiled_code_that_the_environment_names_keeps_what_others_put_there(folder, run_cli, monkeypatch):
    monkeypatch.setenv("W2VNEG_JIT_CACHE", str(folder / "corpora"))
    (folder / "corpora" / "mine").touch()
    assert run_cli("cache", "clear", "jit").code == 0
    assert (folder / "corpora" / "mine").exists() and (folder / "corpora" / ENTRY / "ids").exists()


def test_all_that_is_written_there_is_cleared(tmp_path, run_cli, monkeypatch):
    monkeypatch.setenv("W2VNEG_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("W2VNEG_JIT_CACHE", raising=False)
    (tmp_path / "text").write_text("a b c\n" * 20)
    os.utime(tmp_path / "text", (0, 0))  # of long ago, so that it is remembered
    encode_corpus(tmp_path / "text", min_count=1)
    phrases_in(tmp_path / "text")
    folder = tmp_path / "cache" / "jit"
    (folder / jit._package_digest(folder)).mkdir()
    (tmp_path / "cache" / "data").mkdir()
    for name in ("builtin", "builtin-baskets", "ws353"):
        cache_place(name).touch()
        cache_place(name).with_name(f".{cache_place(name).name}.abcd_123.part").touch()  # of a killed writer
    rows = json.loads(run_cli("cache", "list", "--json").out)
    assert all(row["files"] and not row["others"] for row in rows if row["kind"] != "jit")
    assert run_cli("cache", "clear", "corpora", "phrases", "jit", "data").code == 0
    assert files_in(tmp_path / "cache") == [] and not any(folder.iterdir())


def test_a_part_that_is_a_link_is_followed(folder, run_cli):
    (folder / "corpora").rename(folder / "elsewhere")
    (folder / "corpora").symlink_to("elsewhere")
    assert json.loads(run_cli("cache", "clear", "corpora", "--json").out)[0]["bytes"] == 12
    assert (folder / "corpora").is_symlink() and files_in(folder / "elsewhere") == []
    (folder / "phrases").touch()
    assert run_cli("cache", "clear").err == f"Error: cannot remove {folder / 'phrases'}: Not a directory\n"


def test_path_is_where_things_are(folder, run_cli, monkeypatch):
    assert run_cli("cache", "path").out == f"{folder}\n"
    assert run_cli("cache", "path", "corpora").out == f"{folder / 'corpora'}\n"
    monkeypatch.setenv("W2VNEG_JIT_CACHE", "/elsewhere")
    assert run_cli("cache", "path", "jit").out == "/elsewhere\n"
    result = run_cli("cache", "path", "corpra")
    assert result.code == 1 and "did you mean 'corpora'?" in result.err
