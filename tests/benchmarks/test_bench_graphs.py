"""The comparison on graphs: no edge in two parts, null models beside, what is not installed is said."""

import numpy as np
import pytest

from benchmarks import graphs
from benchmarks.__main__ import run
from benchmarks.graphs import blocks, measure, rows_of
from w2vneg import Vectors
from w2vneg.ground.errors import MissingExtraError


def by_block(edges, seed, threads):
    """Vectors that know the blocks of `SMALL`."""
    rng = np.random.default_rng(seed)
    places = {label: rng.normal(size=8) for label in {label for _, label in SMALL.labels}}
    return Vectors(
        [node for node, _ in SMALL.labels], np.array([places[b] + rng.normal(0, 0.3, 8) for _, b in SMALL.labels])
    )


SMALL = blocks(n=80, k=3, inside=0.3, between=0.02)


def test_parts_have_each_edge_once():
    parts = SMALL.parts()
    pairs = [frozenset(edge[:2]) for part in parts.values() for edge in part]
    assert len(pairs) == len(set(pairs)) == len(SMALL.edges) and parts.keys() == {"train", "valid", "test"}
    assert set(pairs) == {frozenset(edge[:2]) for edge in SMALL.edges}


def test_a_table_has_contenders_beside_null_models(monkeypatch):
    monkeypatch.setattr(graphs, "CONTENDERS", {"knows": by_block})
    runs = measure(SMALL, ["knows"], 2)
    rows = rows_of(runs, seconds=True)
    assert [row[1] for row in rows[1:]] == ["degree product", "common neighbours", "most frequent labels", "knows"]
    assert len([run for run in runs if run.contender == "knows"]) == 2
    assert float(rows[4][rows[0].index("micro F1")]) > 0.95 > float(rows[3][rows[0].index("micro F1")])
    assert rows[1][2] == "–" and rows[0][-1] == "seconds"


def test_the_command_says_who_is_not_there(monkeypatch, capsys):
    def missing(*given):
        raise MissingExtraError("pecanpy cannot be imported: pip install --no-deps pecanpy")

    monkeypatch.setattr(graphs, "CONTENDERS", {"knows": by_block, "PecanPy": missing})
    monkeypatch.setattr(graphs, "GRAPHS", {"blocks": lambda: SMALL})
    with pytest.raises(SystemExit) as ended:
        run(["graphs", "--data", "blocks", "--seeds", "1"])
    told = capsys.readouterr()
    assert ended.value.code == 0 and "PecanPy is left out: pecanpy cannot be imported" in told.err
    assert "blocks: 80 nodes" in told.out and "| blocks | knows |" in told.out
