"""The command line on graphs: a run and its second half, a dry run, a split, what is refused."""

import numpy as np
import pytest
from planted import two_blocks

from w2vneg import Vectors
from w2vneg.data.inputs import Input, encode_input

SMALL = ("--dim=8", "--loss=ns", "--window=4", "--walk-length=20", "--walks-per-node=5", "--workers=1")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = ["# two blocks\n", *(f"{one},{other}\n" for one, other in two_blocks())]
    (tmp_path / "graph.csv").write_text("".join(lines))
    return tmp_path


def test_a_run_goes_on_from_its_folder(folder, run_cli):
    assert run_cli("train", "--edges", "graph.csv", *SMALL, "--epochs=1", "--save-model=model").code == 0
    result = run_cli("train", "--resume", "model", "--epochs=2", "--output=more.txt")
    assert result.code == 0 and "epoch 2/2" in result.err, result.err
    assert "edges of 40 nodes; left out: 1 comment line;" in result.err
    assert np.isfinite(Vectors.load("more.txt").matrix).all()


def test_a_dry_run_counts_memory_and_writes_nothing(folder, run_cli):
    result = run_cli("train", "--edges", "graph.csv", *SMALL, "--epochs=1", "--dry-run")
    assert result.code == 0 and "pairs to train on, about" in result.out
    assert [path.name for path in folder.iterdir()] == ["graph.csv"]


def test_edges_are_split_both_ways_round(folder, run_cli):
    assert run_cli("split", "--edges", "graph.csv", "--out", "parts").code == 0
    parts = {
        name: (folder / "parts" / f"{name}.tsv").read_text().splitlines()[1:] for name in ("train", "valid", "test")
    }
    pairs = {name: {tuple(line.split("\t")[:2]) for line in lines} for name, lines in parts.items()}
    for own in pairs.values():
        assert own and {(other, one) for one, other in own} == own
    assert sum(map(len, pairs.values())) == len(set.union(*pairs.values())) == 2 * len(two_blocks())


def test_names_that_begin_as_comments_do_are_rows_of_a_split(folder, run_cli):
    edges = [(f"#{one}", f"%{other}") for one, other in two_blocks()]
    (folder / "graph.csv").write_text("source,target\n" + "".join(f'"{one}","{other}"\n' for one, other in edges))
    assert run_cli("split", "--edges", "graph.csv", "--out", "parts").code == 0
    rows = 0
    for name in ("train", "valid", "test"):
        report = encode_input(Input("edges", (f"parts/{name}.tsv",))).report
        assert report.left_out["comment lines"] == 0 and not report.hints
        rows += report.rows
    assert rows == 2 * len(edges)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--subwords", "names of nodes are not words; leave it out"),
        ("--readout in+letters", "is for words of a text, not for items"),
        ("--p 0", "p must be at least 0.001"),
        ("--gamma -1", "gamma must be at least 0"),
        ("--walk-length 1", "walk_length must be at least 2"),
        ("--tokenizer words", "--tokenizer belongs to --corpus; --edges does not read it"),
        ("--pairs-per-item 3", "it is for --baskets and --ratings"),
    ],
)
def test_what_makes_no_sense_on_a_graph_is_refused(folder, run_cli, options, message):
    result = run_cli("train", "--edges", "graph.csv", *options.split())
    assert result.code in (1, 2) and message in result.err and "Traceback" not in result.err


def test_what_is_for_graphs_is_refused_elsewhere(folder, run_cli):
    result = run_cli("train", "--corpus", "graph.csv", "--q", "0.5")
    assert result.code == 1 and "--q has no effect here: it is for graphs (--edges); leave it out" in result.err
    result = run_cli("train", "--pairs", "graph.csv", "--directed")
    assert result.code == 2 and "--directed belongs to --edges" in result.err
