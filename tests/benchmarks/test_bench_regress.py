"""``benchmarks regress``: two trees in turn, ratios within a round, exit code 1 for what is slower in most."""

import itertools

import pytest

from benchmarks import regress
from benchmarks.regress import Timing


def timings(run, *pairs):
    """Return timings of rounds, each (seconds of this tree, of the commit)."""
    return [
        Timing(run, former, number, seconds, seconds * 2)
        for number, pair in enumerate(pairs, 1)
        for former, seconds in zip((False, True), pair, strict=True)
    ]


def test_ratios_are_taken_within_a_round():
    found = timings("ns", (2, 1), (3, 3), (8, 4))
    assert regress.ratios(found, "ns", "wall") == [2, 1, 2]
    assert regress.table(found).splitlines()[-1] == "| ns | 3.00 | 3.00 | 2.000 (1.000–2.000) | 2.000 (1.000–2.000) |"


@pytest.mark.parametrize(
    "pairs, found",
    [
        ([(1.1, 1), (1.1, 1), (1.1, 1), (1.1, 1)], ["ns"]),
        ([(1.01, 1), (1.01, 1), (1.01, 1), (1.01, 1)], []),  # within the limit
        ([(1.5, 1), (1.5, 1), (0.9, 1), (0.9, 1)], []),  # as often faster
    ],
)
def test_slower_is_what_is_slower_in_most_rounds_by_more_than_the_limit(pairs, found):
    assert regress.slower(timings("ns", *pairs), 0.02) == found


def test_cpu_seconds_count_too():
    found = [
        timing._replace(user=timing.wall * (1.1 if not timing.former else 1.0)) for timing in timings("ns", (1, 1))
    ]
    assert regress.slower(found, 0.02) == ["ns"]


@pytest.mark.parametrize(("ratio", "code"), [(1.5, 1), (1.0, 0)])
def test_the_command_ends_with_1_if_this_tree_is_slower(run_bench, monkeypatch, tmp_path, ratio, code):
    def seconds(tree, folder, text, options):
        own = ratio if (tree / "benchmarks").is_dir() else 1.0  # the commit's folder stays empty
        return own, own

    monkeypatch.setattr(regress, "_seconds", seconds)
    monkeypatch.setattr(regress, "unpack_commit", lambda commit, folder: None)
    (tmp_path / "text").write_text("a b\n")
    result = run_bench("regress", "HEAD", "--corpus", tmp_path / "text", "--only", "ns", "--rounds", 4)
    assert result.code == code
    assert ("Slower: ns" in result.out) == bool(code)
    assert "| ns | " in result.out


def test_both_trees_take_turns_and_the_first_round_is_not_counted(tmp_path, monkeypatch):
    trees, order, clock = (tmp_path / "here", tmp_path / "commit"), [], itertools.count(1)

    def seconds(tree, folder, text, options):
        order.append(tree.name)
        return next(clock), 0.0

    monkeypatch.setattr(regress, "_seconds", seconds)
    found = regress.measure(trees, "text", ["ns"], (), 2)
    assert order == ["commit", "here", "here", "commit", "commit", "here"]
    assert [(t.round, t.former, t.wall) for t in found] == [(1, False, 3), (1, True, 4), (2, True, 5), (2, False, 6)]


def test_a_commit_that_is_not_there_is_refused(run_bench, tmp_path):
    (tmp_path / "text").write_text("a b\n")
    result = run_bench("regress", "no-such-commit", "--corpus", tmp_path / "text")
    assert result.code == 1
    assert "no-such-commit cannot be taken from git here" in result.err


def test_a_run_that_is_not_there_is_named(run_bench, tmp_path):
    (tmp_path / "text").write_text("a b\n")
    result = run_bench("regress", "HEAD", "--corpus", tmp_path / "text", "--only", "cos")
    assert result.code == 1
    assert "unknown run 'cos'" in result.err
