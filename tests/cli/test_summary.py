"""What is said when a run is over, tables and lines within the width of a terminal, the page of a run."""

import io
import os
import re

import numpy as np
import pytest
from planted import as_text, two_topics

from w2vneg import Vectors
from w2vneg.cli import progress
from w2vneg.cli.progress import TrainingProgress
from w2vneg.cli.results import report_loss, report_quality, suggest_next
from w2vneg.cli.tables import hanging, table
from w2vneg.data.sources import TRAVERSALS
from w2vneg.ground.events import Diagnosis, RoundDone

HEADINGS = "variation (floor) effective size true positives |gradient| cosine error noise slopes"


def said(tell, *arguments):
    lines = []
    tell(*arguments, lines.append)
    return lines


@pytest.fixture
def pairs(tmp_path, monkeypatch):
    """The one set at hand: five pairs."""
    path = tmp_path / "pairs.tsv"
    path.write_text("a\tb\t5\na\tc\t4\na\td\t3\na\te\t2\na\tnobody\t1\n")
    monkeypatch.setattr("w2vneg.data.catalog.at_hand", lambda *_: path)


def test_how_good_vectors_are_is_told_where_a_set_knows_their_words(pairs):
    angles = np.radians([0, 5, 10, 20, 80])
    line = said(report_quality, Vectors("abcde", np.column_stack([np.cos(angles), np.sin(angles)])), None)[0]
    assert line.startswith("Quality: Spearman 1.00 with human scores of WordSim-353") and "4 of 5 pairs" in line
    assert said(report_quality, Vectors("xyz", np.eye(3)), None) == []
    assert said(report_quality, Vectors("abc", np.eye(3)), None) == []  # two of five


@pytest.mark.parametrize(
    ("words", "output", "folder", "source", "command", "looked_at"),
    [
        (["of", "paris"], "vectors.txt", None, "text", "nearest paris", "vectors.txt"),
        (["paris"], "a b.txt", "m", "text", "nearest paris --vectors 'a b.txt'", "m"),
        (["39", "48"], "vectors.txt", "m", "baskets", "recommend m 39", "m"),
        (["n1", "n2"], "vectors.txt", "m", "graph", "nearest n1", "m"),
        (["n1", "n2"], None, "m", "graph", "nearest n1 --vectors m", "m"),
        (["paris"], "-v.txt", "-m7", "text", "nearest paris --vectors ./-v.txt", "./-m7"),
        (["39", "48"], None, "-m7", "baskets", "recommend ./-m7 39", "./-m7"),
        (["n1", "n2"], "-a b", None, "graph", "nearest n1 --vectors './-a b'", "'./-a b'"),
        (["$(rm)", "\x1b[2J", "--help", "ok"], "v", None, "pairs", "nearest ok --vectors v", "v"),
    ],
)
def test_what_to_type_next(words, output, folder, source, command, looked_at):
    vectors = Vectors(words, np.eye(len(words)))
    found = said(suggest_next, vectors, output, folder, TRAVERSALS[source].recommends)
    assert found == [f"Next: w2vneg {command}, or in a browser w2vneg explore {looked_at}"]


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="no /dev/stdout on this system")
def test_what_went_to_a_pipe_or_a_device_is_not_there_to_be_read():
    vectors = Vectors(["paris"], np.eye(1))
    assert said(suggest_next, vectors, os.devnull, None, False) == []
    found = said(suggest_next, vectors, "/dev/stdout", "m", False)
    assert found == ["Next: w2vneg nearest paris --vectors m, or in a browser w2vneg explore m"]


def test_words_that_a_shell_would_not_take_are_not_shown():
    assert said(suggest_next, Vectors(["`rm`", "-x"], np.eye(2)), "v", None, False) == []


def test_a_table_that_is_too_wide_is_a_list():
    rows = [("set", "Spearman", "pairs"), ("ws353", "0.700", "3/4"), None, ("men", "0.6", "5/5")]
    assert len(table(rows).splitlines()) == 5 and table(rows, width=22) == table(rows)
    assert table(rows, width=21).splitlines() == [
        "ws353", "  Spearman  0.700", "  pairs     3/4", "men", "  Spearman  0.6", "  pairs     5/5",
    ]  # fmt: skip


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_the_line_of_progress_fits_the_terminal(monkeypatch, columns):
    monkeypatch.setattr(progress, "_columns", lambda stream: columns)
    monkeypatch.setenv("COLUMNS", str(columns))
    stream = io.StringIO()
    stream.isatty = lambda: True
    with TrainingProgress(stream) as listener:
        for k in range(1, 11):
            listener(RoundDone(1, k / 10, k * 100_000, k * 400_000, 0.02, 1.5, 4.1589, k / 2))
    lines = [line for line in re.split("[\r\n]", stream.getvalue()) if "loss" in line]
    assert lines and max(map(len, lines)) <= columns
    assert all("loss 1.5000 (at init 4.1589)" in line for line in lines)
    assert all(("alpha 0.02000" in line) == (columns == 120) for line in lines)


def test_a_run_has_its_page(tmp_path, monkeypatch, run_cli):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "corpus.txt").write_text(as_text(two_topics()))
    small = "--loss=ns --dim=8 --window=3 --subsample=0 --min-count=1 --epochs=2 --workers=1 --save-model=model"
    monkeypatch.setattr("w2vneg.look.report.bundle", lambda: "/* plotly */")
    assert run_cli("train", "--corpus", "corpus.txt", *small.split()).code == 0
    result = run_cli("report", "model", "--out", "page.html")
    assert result.code == 0 and result.err.splitlines()[-1] == "Wrote page.html; open it in a browser."
    page = (tmp_path / "page.html").read_text()
    assert "Loss" in page and ">Runs<" in page and page.count("application/json") >= 6


def test_the_loss_of_several_epochs_is_told_the_last_word_of_each():
    def record(epoch, loss):
        return {"event": "EpochDone", "epoch": epoch, "loss": loss, "untrained": 4.0}

    history = [{"event": "Diagnosis"}, record(1, 3.0), record(2, 9.0), record(2, 2.0), record(3, 1.0)]
    assert said(report_loss, history) == ["Loss: 3.000 … 1.000 (at init 4.000)"]
    assert said(report_loss, history[:2]) == []


def test_texts_hang_behind_their_heads_within_a_width():
    assert hanging("name  ", "some words that go on", None) == "name  some words that go on"
    assert hanging("name  ", "some words that go on", 18) == "name  some words\n      that go on"
    assert hanging("a long name  ", "words go on", 20) == "a long name\n     words go on"
    for width in range(20, 70):
        assert max(map(len, hanging("--flag  ", "word " * 40, width).splitlines())) <= width


@pytest.mark.parametrize("drift", [None, 0.01])
@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_a_diagnosis_fits(width, drift):
    diagnosis = Diagnosis(1, 1000, 20, 5, 0.01, 0.002, 4.5, 0.01, 0.3, 0.9, 0.1, 0.2, -0.1, 0.4, drift, 1.5)
    lines = diagnosis.line(width).splitlines()
    assert max(map(len, lines)) <= width and len(lines) % 2 == 0
    assert " ".join(lines[::2]).split() == HEADINGS.split() + ["drift"] * (drift is not None)
