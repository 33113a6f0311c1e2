"""`python -m studies`: lists studies, runs one, writes what came out atomically."""

import importlib
import os
import sys
from pathlib import Path

import pandas as pd
import pytest

from studies import STUDIES, Study
from studies.results import markdown_table


@pytest.fixture
def study(tmp_path, monkeypatch):
    """Register a study for one test; return what it was called with."""
    monkeypatch.chdir(tmp_path)
    calls = []

    @STUDIES.register("toy-study")
    def toy(tell, quick, seed, memo):
        """Figure 0: two numbers and a line.

        At length.
        """
        calls.append((quick, seed))
        tell("half way")
        tables = {
            "scores": pd.DataFrame({"method": ["a|b", "c"], "error": [0.123456, float("nan")], "n": [10, 20]}),
            "by p/q": pd.DataFrame({"x": [1.0]}, index=pd.Index([3], name="p")),
        }

        def draw(figure):
            figure.subplots().plot([1, 2], [3, 4])

        return Study(tables, "What it *shows*.", {"line": draw})

    yield calls
    STUDIES.unregister("toy-study")


def test_the_list_has_every_study_with_its_first_line(run_studies, study):
    result = run_studies()
    assert result.code == 0
    lines = {line.split()[0]: line.split(None, 1)[1] for line in result.out.splitlines() if line.startswith("  ")}
    assert lines["toy-study"].endswith("  Figure 0: two numbers and a line")
    assert set(lines) == set(STUDIES)
    assert all(len(line) > 10 for line in lines.values())
    heads = [line.split(":")[0] for line in result.out.splitlines() if not line.startswith("  ")]
    assert heads == ["RS", "CIS", "CSS", "kernel", "ours"]
    folder = os.path.dirname(importlib.import_module("studies").__file__)
    modules = {name.removesuffix(".py") for name in os.listdir(folder) if name.endswith(".py") and name[0] != "_"}
    assert all(f"studies.{name}" in sys.modules for name in modules)


def test_a_study_is_printed(run_studies, study, tmp_path):
    result = run_studies("toy-study", "--quick", "--seed", 7)
    assert (result.code, result.err) == (0, "half way\n")
    assert study == [(True, 7)]
    assert result.out == (
        "# toy-study\n\nWhat it *shows*.\n\n"
        "## scores\n\n| method | error | n |\n| --- | ---: | ---: |\n| a\\|b | 0.1235 | 10 |\n| c | – | 20 |\n\n"
        "## by p/q\n\n| p | x |\n| ---: | ---: |\n| 3 | 1 |\n"
    )
    assert os.listdir(tmp_path) == []


def test_files_are_written(run_studies, study):
    pytest.importorskip("matplotlib")
    result = run_studies("toy-study", "--out", "deep/out")
    assert result.code == 0 and study == [(False, 1)]
    names = [
        "README.md",
        "parts",
        "toy-study-by-p-q.csv",
        "toy-study-line.png",
        "toy-study-scores.csv",
        "toy-study.json",
        "toy-study.md",
        "verdicts.md",
    ]
    assert sorted(os.listdir("deep/out")) == names
    assert sorted(line for line in result.err.splitlines() if line.startswith("Wrote ")) == [
        f"Wrote {os.path.join('deep/out', name)}." for name in names[2:-1]
    ]
    text = Path("deep/out/toy-study.md").read_text(encoding="utf-8")
    assert text.startswith(result.out.rstrip("\n")) and text.endswith("\n\n![line](toy-study-line.png)\n")
    assert "Written by `python -m studies toy-study`: commit " in text
    scores = pd.read_csv("deep/out/toy-study-scores.csv")
    assert list(scores.columns) == ["method", "error", "n"] and scores["error"][0] == 0.123456
    assert list(pd.read_csv("deep/out/toy-study-by-p-q.csv").columns) == ["p", "x"]
    assert Path("deep/out/toy-study-line.png").read_bytes()[:4] == b"\x89PNG"


def test_without_matplotlib_there_are_the_tables_and_a_word_about_it(run_studies, study, monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = run_studies("toy-study", "--out", "out")
    assert result.code == 0
    assert sorted(os.listdir("out")) == [
        "README.md",
        "parts",
        "toy-study-by-p-q.csv",
        "toy-study-scores.csv",
        "toy-study.json",
        "toy-study.md",
        "verdicts.md",
    ]
    (line,) = [line for line in result.err.splitlines() if "figures" in line]
    assert line.startswith("No figures, only tables: ") and 'pip install "w2vneg[plot]"' in line


def test_a_figure_that_fails_leaves_nothing(run_studies, study):
    pytest.importorskip("matplotlib")

    @STUDIES.register("toy-failing")
    def failing(tell, quick, seed, memo):
        """Fails while drawing."""

        def draw(figure):
            raise ZeroDivisionError

        return Study({"t": pd.DataFrame({"x": [1]})}, "text", {"f": draw})

    try:
        from studies.__main__ import run

        with pytest.raises(ZeroDivisionError):
            run(["toy-failing", "--out", "out"])
        assert os.listdir("out") == ["parts"]
    finally:
        STUDIES.unregister("toy-failing")


def test_mistakes_are_told_before_the_study_runs(run_studies, study, tmp_path):
    result = run_studies("toy-studi")
    assert result.code == 1 and "unknown study 'toy-studi'; did you mean 'toy-study'" in result.err
    assert "'python -m studies' lists all." in result.err
    (tmp_path / "file").write_text("text")
    for place in ("file", "file/inside"):
        result = run_studies("toy-study", "--out", place)
        assert result.code == 1 and f"cannot write {place}" in result.err
    assert run_studies("toy-study", "--seed", "-1").code == 2
    assert study == []


def test_a_table_with_levels_becomes_markdown():
    columns = pd.MultiIndex.from_tuples([("a", 1), ("a", 2)])
    table = pd.DataFrame([[1, 2.5]], columns=columns)
    assert markdown_table(table) == "| a 1 | a 2 |\n| ---: | ---: |\n| 1 | 2.5 |"
