"""The made-up log has its tastes, no held-out pair is known, and every step from file to lists is measured."""

import json

import numpy as np
import pytest

from benchmarks import long_log


def test_users_take_items_of_their_tastes_and_what_is_held_out_is_new(tmp_path):
    log, test = tmp_path / "log.csv", tmp_path / "test.csv"
    long_log.write_log(log, test, 2_000, 5_000, 40_000)
    known = [line.split(",") for line in log.read_text().splitlines()[1:]]
    held_out = [line.split(",") for line in test.read_text().splitlines()[1:]]
    assert 36_000 < len(known) < 41_000 and len({user for user, _ in known}) == 2_000
    assert 1_000 < len(held_out) <= 2_000 and not {tuple(pair) for pair in held_out} & {tuple(pair) for pair in known}
    users, items = long_log.drawn(0, 2_000, 5_000, 20.0)
    share = [np.sort(np.bincount(items[users == user] % 500))[-2:].sum() / (users == user).sum() for user in range(200)]
    assert 0.7 < np.mean(share) < 0.95


@pytest.mark.slow
def test_every_step_is_measured(run_bench, tmp_path):
    pytest.importorskip("implicit", reason="the extra bench is not installed")
    out = tmp_path / "steps.json"
    options = ["--users", 3_000, "--items", 1_000, "--pairs", 40_000, "--dim", 8, "--in", tmp_path, "--out", out]
    result = run_bench("long-log", *options)
    assert result.code == 0, result.err
    steps = {step["name"]: step for step in json.loads(out.read_text())["steps"]}
    assert len(steps) == 8 and "pairs/s" in steps["trained"]["note"] and "fitted in" in steps["ALS, all of it"]["note"]
    assert all("NDCG@10 0." in steps[name]["note"] for name in ("evaluated", "slim evaluated", "ALS, all of it"))
    assert list(tmp_path.iterdir()) == [out]
