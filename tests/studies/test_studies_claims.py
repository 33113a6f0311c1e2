"""The study of claims: what is measured, what is judged, and that it runs in small."""

import math

import numpy as np
import pandas as pd
import pytest

from studies import STUDIES, claims, kernel_task
from studies.memo import Memo
from studies.verdicts import Claim, judged
from w2vneg.config import TrainConfig


def test_a_claim_is_judged_by_differences_paired_by_seed():
    rows = [
        {"method": name, "seed": seed, **dict.fromkeys(claims._UNITS, value), "nll": value}
        for name, values in (("a", (2.0, 4.0, 6.0)), ("b", (1.0, 2.0, 3.0)))
        for seed, value in enumerate(values)
    ]
    asked = [Claim("", "", "a", "b", figure) for figure in ("spread of log Z", "loss, %")]
    spread, loss = judged(asked, claims.by_row(pd.DataFrame(rows)), claims._UNITS)
    assert (spread.difference, spread.verdict, spread.seeds) == (2.0, "inconclusive", 3)
    assert (loss.verdict, loss.unit) == ("holds", "%")
    assert loss.difference == pytest.approx(100 * math.log(2))  # twice as high, whatever the seed


def test_seeds_that_diverge_are_left_out():
    rows = [
        {"method": name, "seed": seed, **dict.fromkeys(claims._UNITS, 1.0), "nll": 1.0}
        for name, seeds in (("a", (1, 2, 3)), ("b", (2, 3)))
        for seed in seeds
    ]
    runs = claims.by_row(pd.DataFrame(rows))
    (found,) = judged([Claim("", "", "a", "b", "P@15, %", 0.5)], runs, claims._UNITS)
    assert (found.seeds, found.verdict) == (2, "holds")
    never = {row: [math.nan] * 3 if row[0] == "b" else values for row, values in runs.items()}
    assert judged([Claim("", "", "a", "b", "P@15, %")], never, claims._UNITS) == []


def test_figures_by_hand():
    pairs = np.array([0, 0, 1]), np.array([0, 1, 1]), np.array([1, 1, 2])
    task = kernel_task.Task(None, {"test": pairs}, None)
    scores = np.log([[2.0, 6.0], [1.0, 3.0]])
    figures = claims.figures_of(task, "test", scores, 1.0, None)
    assert figures["nll"] == pytest.approx(-(math.log(0.25) + 3 * math.log(0.75)) / 4)
    assert figures["mean log Z"] == pytest.approx((math.log(8) + math.log(4)) / 2)
    assert figures["spread of log Z"] == pytest.approx(math.log(2) / 2)
    corrected = claims.figures_of(task, "test", scores, 1.0, np.log([3.0, 1.0]))
    assert corrected["nll"] == pytest.approx(math.log(2))
    assert corrected["mean log Z"] == figures["mean log Z"]


def test_precision_counts_what_is_among_the_first_fifteen():
    scores = -np.arange(40.0)[None].repeat(2, axis=0)
    pairs = np.array([0, 1, 1]), np.array([14, 15, 0]), np.array([2, 1, 1])
    task = kernel_task.Task(None, {"test": pairs}, None)
    assert claims.figures_of(task, "test", scores, 1.0, None)["P@15, %"] == pytest.approx(75)
    turned = claims.figures_of(task, "test", scores, 1.0, 2 * np.arange(40.0))
    assert turned["corrected P@15, %"] == 0


@pytest.mark.parametrize("name", claims.METHODS)
def test_the_options_of_all_methods_go_together(name):
    TrainConfig(ordered=True, min_count=1, **claims.METHODS[name]).resolved(cores=1)


def test_claims_speak_of_methods_and_figures_that_there_are():
    figures = {"loss, %", "log perplexity, %", "P@15, %", "corrected P@15, %", "spread of log Z"}
    figures |= {"of the fall after 1 epoch, %"}
    for claim in claims.CLAIMS:
        assert {claim.better, claim.worse} <= set(claims.METHODS)
        assert claim.figure in figures == set(claims._UNITS)


@pytest.mark.slow
def test_the_study_runs_in_small():
    told = []
    memo = Memo()
    study = STUDIES["claims"](told.append, True, 1, memo)
    assert len(told) == 2 and len(memo) >= 6  # two alphas at least and another seed for either method
    assert ["BCE" in found.claim for found in study.verdicts] == [True, True]
    assert study.tables["means"]["nll"].max() < math.log(100)
    figure = pytest.importorskip("matplotlib.figure").Figure()
    study.figures["methods"](figure)
    assert len(figure.axes[0].lines) == 2
