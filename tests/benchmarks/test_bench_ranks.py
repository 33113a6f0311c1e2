"""The measurements of ranks: which runs make up the table, and what the model of cost says by hand."""

import pytest

from benchmarks import exchange, ranks
from benchmarks.quality import Run
from w2vneg.ground.errors import ConfigError


def test_the_grid_has_one_run_of_one_rank_and_all_others_by_exchanges():
    grid = ranks.settings(8_000_000, 3, (1, 4, 8), (120, 600), {"exchange_dtype": "float32"})
    assert grid[0] == {} and len(grid) == 5
    assert [(run["ranks"], run["exchange_every"]) for run in grid[1:]] == [
        *((4, 50_000), (4, 10_000), (8, 25_000), (8, 5_000)),
    ]
    assert all(run["engine"] == "virtual" and run["exchange_dtype"] == "float32" for run in grid[1:])
    with pytest.raises(ConfigError, match="gensim has no ranks"):
        ranks.check(["ns", "gensim"])


def test_the_table_has_a_row_for_each_setting():
    scores = dict.fromkeys(ranks.DEV, 0.5)
    setting = {"engine": "virtual", "ranks": 8, "exchange_every": 25_000}
    runs = [Run("ns", 0.05, seed, 3.0, scores, 1, own) for own in ({}, setting) for seed in (1, 2)]
    rows = [row.split("|")[3:7] for row in ranks.table(runs, 8_000_000, 3, "dev").splitlines()[2:]]
    assert [[cell.strip() for cell in row] for row in rows] == [["1", "–", "–", "2"], ["8", "25,000", "120", "2"]]


def test_the_model_of_cost_by_hand():
    # 2 machines: 2 · ½ · 2 · 1e6 · 100 numbers of 16 bits are .32 s at 10 Gbit/s; packing 1e-9 · 2e8 = .2 s
    # 1e9 tokens at 1e6 a second on two machines: 500 s, and 100 exchanges of .52 s
    found = exchange.efficiency(2, 1_000_000, 100, 1e9, 1e6, 10, 1e-9, exchanges=100)
    assert found == pytest.approx(500 / 552)
    parts = exchange.Parts([0.3, 0.2], 1e6, 2, 1000, 50, 1)
    assert parts.share == pytest.approx(0.2 / 0.6) and parts.per_number == pytest.approx(2e-6)
    table = exchange.predicted_table(parts, [(1000, 50)], 1e12, 1e6).splitlines()
    assert len(table) == 4 and table[2].startswith("| 1,000 | 50 | 10 | 1.00 |")
    assert "| 300, 200 |" in exchange.measured_table(parts)
