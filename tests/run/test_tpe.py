"""Optuna as what proposes combinations: it learns from what it is told, and gives up what does badly."""

import csv
import shlex
from pathlib import Path

import numpy as np
import pytest
from planted import as_text, two_topics

from w2vneg.cli.validation_options import warn_of_raw
from w2vneg.config import TrainConfig
from w2vneg.data.inputs import Input, encode_input
from w2vneg.ground.errors import MissingExtraError
from w2vneg.ground.events import Validated
from w2vneg.run.search.space import Planned, Range
from w2vneg.run.search.trials import Trial, rows_of
from w2vneg.run.validation import Metric, Validation

pytest.importorskip("optuna", reason="the extra optuna is not installed")
from w2vneg.run.search.space import Tpe

RANGES = {"alpha": Range(0.001, 1.0, log=True), "window": Range(1, 10, whole=True)}
GRID = {"loss": ["ns", "us"]}


def loss_of(options):
    """Least, 0, at alpha 0.1, window 4 and us."""
    return abs(np.log10(options["alpha"]) + 1) + abs(options["window"] - 4) / 10 + (options["loss"] == "ns")


def searched(tpe, metric, trials=(), curve=None):
    """Return the combinations that are proposed, and for each whether it was given up."""
    tpe.begin(list(trials), metric)
    found = []
    for options in tpe:
        value = metric.sign * -loss_of(options)
        gone = any(tpe.should_prune(event, True) for event in (curve or (lambda value: ()))(value))
        reason = "given up" if gone else None
        tpe.tell([Trial(options, 1, {} if gone else {metric.name: value}, None if gone else 1.0, 0.1, reason)], metric)
        found.append((options, gone))
    return found


@pytest.mark.parametrize("metric", ["mpr", "nll"])
def test_what_it_proposes_gets_better_and_lies_in_its_ranges(metric):
    found = [options for options, _ in searched(Tpe(GRID, RANGES, 40, 7), Metric.parse(metric))]
    assert len(found) == 40
    for options in found:
        assert options["loss"] in GRID["loss"] and type(options["window"]) is int and 1 <= options["window"] <= 10
        assert 0.001 <= options["alpha"] <= 1 and options["alpha"] == float(f"{options['alpha']:.4g}")
    losses = [loss_of(options) for options in found]
    assert np.mean(losses[20:]) < 0.7 * np.mean(losses[:10])  # those are at random
    assert found == [options for options, _ in searched(Tpe(GRID, RANGES, 40, 7), Metric.parse(metric))]


@pytest.mark.parametrize(
    ("grid", "ranges", "warned"),
    [(GRID, {}, True), ({}, {"temp": RANGES["alpha"]}, True), ({}, RANGES, False)],
)
def test_raw_scores_of_different_laws_are_warned_of(grid, ranges, warned):
    corpus = encode_input(Input("pairs", [("a", "x"), ("b", "x"), ("b", "y"), ("b", "z")]), min_count=1)
    config, notes = TrainConfig(source="pairs", loss="relaxed", dim=4), []
    warn_of_raw(Validation(None), config, Tpe(grid, ranges, 9, 1), corpus, notes.append)
    assert len(notes) == warned


def curve(value):
    """Three evaluations of a run that ends with `value`."""
    for epoch in (1.0, 2.0, 3.0):
        yield Validated(epoch, "nll", {"nll": value}, value, value, epoch, True, 0, 0.0)


def test_runs_worse_than_the_median_are_given_up_and_good_ones_never():
    found = searched(Tpe(GRID, RANGES, 30, 3), Metric.parse("nll"), curve=curve)
    gone = [loss_of(options) for options, given_up in found if given_up]
    stayed = [loss_of(options) for options, given_up in found if not given_up]
    assert not any(given_up for _, given_up in found[:5])
    assert gone and stayed and min(gone) > np.median(stayed) > min(stayed)


def test_a_folder_counts_and_is_learnt_from():
    metric = Metric.parse("nll")
    rng = np.random.default_rng(0)
    former = []
    for _ in range(15):
        options = {"loss": str(rng.choice(GRID["loss"])), **{name: span.draw(rng) for name, span in RANGES.items()}}
        former.append(Trial(options, 1, {"nll": loss_of(options)}, 1.0, 0.1))
    former.append(Trial({"alpha": 0.1}, 1, {"nll": 0.0}, 1.0, 0.1))  # of another grid
    found = [options for options, _ in searched(Tpe(GRID, RANGES, 25, 7), metric, former)]
    assert found[:15] == [trial.options for trial in former[:15]] and len(found) == 25
    assert np.mean([loss_of(options) for options in found[15:]]) < np.mean([loss_of(options) for options in found[:15]])
    assert len(searched(Tpe(GRID, RANGES, 10, 7), metric, former)) == 10


def test_planned_combinations_are_never_given_up():
    planned = Planned([{"alpha": 0.1}])
    planned.begin([], None)
    assert list(planned) == [{"alpha": 0.1}] and len(planned) == 1
    assert not any(planned.should_prune(event, True) for event in curve(1e9))


def test_the_command_searches_gives_up_and_goes_on(tmp_path, monkeypatch, run_cli):
    monkeypatch.chdir(tmp_path)
    Path("corpus.txt").write_text(as_text(two_topics()))
    Path("valid.tsv").write_text("".join(f"a{i}\ta{i + 1}\t1\nb{i}\tb{i + 2}\t1\n" for i in range(12)))
    small = "--dim 8 --window 3 --subsample 0 --min-count 1 --epochs 3 --workers 1 --loss ns --metric nll"
    tune = ["tune", "--corpus=corpus.txt", "--valid=valid.tsv", "--out=out", *shlex.split(small)]
    tune += ["--range=alpha=0.00001..0.2:log", "--search=tpe"]
    result = run_cli(*tune)
    assert result.code == 2 and "--random N" in result.err
    result = run_cli(*tune, "--random=12")
    assert result.code == 0, result.err
    with open("out/trials.csv", encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    given_up = [row for row in rows if row["reason"]]
    assert len(rows) == 12 and all("given up at epoch" in row["reason"] for row in given_up)
    assert 0 < len(given_up) < 8 and rows[-1] in given_up
    before = Path("out/trials.jsonl").read_text()
    result = run_cli(*tune, "--random=13")
    assert result.code == 0, result.err
    assert Path("out/trials.jsonl").read_text().startswith(before) and result.err.count("trial ") == 1


def test_a_row_of_a_run_that_was_given_up_has_no_value():
    trial = Trial({"alpha": 0.1}, 1, {}, None, 0.1, "given up at epoch 1 with nll 3.0000")
    assert trial.given_up and rows_of([trial], Metric.parse("nll"))[0].value is None
    assert not Trial({"alpha": 0.1}, 1, {}, None, 0.1, "diverged").given_up


def test_without_optuna_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "optuna", None)
    with pytest.raises(MissingExtraError, match=r"w2vneg\[optuna\]"):
        Tpe(GRID, RANGES, 3, 1)
