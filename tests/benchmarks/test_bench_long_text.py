"""The made-up long text follows Zipf's law, and every step from file to vectors is measured."""

import json
from collections import Counter

import numpy as np
import pytest

from benchmarks import long_text
from w2vneg.ground.errors import W2vnegError


def test_words_follow_zipfs_law_and_are_spelled_apart(tmp_path, monkeypatch):
    monkeypatch.setattr(long_text, "_BLOCK", 30_000)
    long_text.write_text(tmp_path / "text", 50, 100_000, 2)
    text = (tmp_path / "text").read_text()
    words = Counter(text.split())
    assert sum(words.values()) == 100_000 and len(words) == 50
    expected = 100_000 * np.log1p(1.0 / np.arange(1, 51)) / np.log(51)
    found = np.array([words[long_text._spelling(k).decode()] for k in range(50)])
    assert (np.abs(found - expected) < 5 * np.sqrt(expected)).all()
    assert max(len(line.split()) for line in text.splitlines()) == 20


def test_a_step_that_fails_says_what_went_wrong():
    with pytest.raises(W2vnegError, match=r"(?s)ended with 2:.*No such option '--los'"):
        long_text.run_step("trained", ["train", "--los", "ns"])


@pytest.mark.slow
def test_every_step_is_measured(run_bench, tmp_path):
    out = tmp_path / "steps.json"
    options = ["--tokens", 20_000, "--types", 200, "--dim", 8, "--in", tmp_path, "--out", out]
    result = run_bench("long-text", *options)
    assert result.code == 0, result.err
    steps = json.loads(out.read_text())["steps"]
    assert [step["name"] for step in steps] == [
        "text written", "compiled", "trained", *(f"read out: {one}" for one in long_text.READOUTS), "nearest",
        "exported as text",
    ]  # fmt: skip
    assert all(step["cpu"] > 0 and step["memory"] > 10**7 for step in steps[1:]) and "loss" in steps[2]["note"]
    assert list(tmp_path.iterdir()) == [out]
