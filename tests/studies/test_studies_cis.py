"""The study of shapes in the plane: its shapes, its draws, its measures, and that it runs."""

import numpy as np
import pytest
from scipy import stats

from studies import STUDIES
from studies.cis_shapes import (
    BLOBS,
    CURVES,
    GRID,
    MEASURES,
    METHODS,
    accuracies,
    claims,
    log_softmax,
    sample,
    shape_of,
    trained,
)
from studies.memo import Memo


@pytest.mark.parametrize("name", [*BLOBS, *CURVES])
def test_shapes_are_conditional_distributions_that_cover_what_they_should(name):
    conditional = shape_of(name, np.random.default_rng(3))
    sums = conditional.sum(axis=1)
    np.testing.assert_allclose(sums[sums > 0], 1)
    assert (conditional > 0).mean() == pytest.approx(BLOBS.get(name, 0.37), abs=0.02)
    assert (sums > 0).mean() > 0.5
    if name in BLOBS:
        assert not np.array_equal(conditional, shape_of(name, np.random.default_rng(4)))


def test_the_swiss_roll_winds_and_the_s_curve_does_not():
    """A column through the middle crosses the roll's windings, each as wide as the noise."""
    runs = {}
    for name in CURVES:
        inside = shape_of(name, np.random.default_rng(0)) > 0
        starts = inside[:, 1:] & ~inside[:, :-1]
        runs[name] = starts.sum(axis=1).max()
    assert runs["swiss roll"] >= 3
    assert runs["s curve"] == 3


def test_pairs_follow_the_shape():
    conditional = shape_of("blobs r=0.25", np.random.default_rng(1))
    centres, rows = sample(conditional, 200_000, np.random.default_rng(2))
    assert (conditional[centres, rows] > 0).all()
    met = conditional.any(axis=1)
    assert stats.chisquare(np.bincount(centres, minlength=GRID)[met]).pvalue > 1e-6
    column = np.flatnonzero(met)[met.sum() // 2]
    seen, share = np.bincount(rows[centres == column], minlength=GRID), conditional[column]
    likely = share > 1e-3
    assert stats.chisquare(seen[likely], seen[likely].sum() * share[likely] / share[likely].sum()).pvalue > 1e-6


def test_accuracies_by_hand():
    support = np.array([[True, True, False, False], [True, False, False, False]])
    # each column in order, but the second lies above the first: no one cut of s gets more than 6 of 8
    scores = np.array([[1.0, 0.9, 0.1, 0.0], [9.0, 5.0, 5.0, 5.0]])
    by_size, cut_of_s, _ = accuracies(scores, support)
    assert (by_size, cut_of_s) == (1.0, 6 / 8)
    # one swapped in the first column: two cells wrong
    assert accuracies(np.array([[1.0, 0.0, 0.9, 0.1], [9.0, 5.0, 5.0, 5.0]]), support)[0] == 6 / 8
    # the same scores all over: everything is in or nothing, and 5 of 8 cells belong outside
    assert accuracies(np.zeros((2, 4)), support)[1:] == (5 / 8, 5 / 8)
    # g has no heed of what is added to a column
    shifted = scores + np.array([[7.0], [-2.0]])
    assert accuracies(shifted, support)[2] == accuracies(scores, support)[2]
    np.testing.assert_allclose(np.exp(log_softmax(scores)).sum(axis=1), 1)


def test_claims_speak_of_rows_that_there_are():
    rows = {f"blob, n = 1, {name}" for name in METHODS}
    found = claims(("blob",), (1,))
    assert {row for claim in found for row in (claim.better, claim.worse)} <= rows
    assert [claim.draws for claim in found] == ["exact", "exact", "rolling", "rolling"]


@pytest.mark.slow
def test_scores_stand_at_their_cells():
    """A column with one row: its cell scores best, and log Q moves log-uniform noise alone."""
    conditional = np.eye(12)[::-1].copy()
    options = {"loss": "unis", "negatives": 3, "epochs": 60, "seed": 1}
    scores = trained(conditional, 400, np.random.default_rng(1), options)
    np.testing.assert_array_equal(scores[0.0].argmax(axis=1), np.arange(12)[::-1])
    assert np.ptp(scores[0.0] - scores[1.0]) < 1e-5
    scores = trained(conditional, 400, np.random.default_rng(1), options | {"loss": "pops", "epochs": 2})
    assert np.ptp(scores[0.0] - scores[1.0]) > 0.1


@pytest.fixture(scope="module")
def quick():
    told = []
    study = STUDIES["cis-shapes"](told.append, True, 1, Memo())
    assert len(told) == 3
    return study


@pytest.mark.slow
def test_quick_runs_and_learns_the_support(quick):
    table = quick.tables["accuracy"].set_index("method")
    assert list(table.index) == ["UniS", "Selfplay", "CIS"]
    conditional = shape_of("blobs r=0.60", np.random.default_rng([1, 1]))
    trivial = 100 * (conditional > 0)[conditional.any(axis=1)].mean()
    means = table[list(MEASURES)].map(lambda cell: float(cell.split()[0]))
    assert (means > trivial + 5).all(axis=None)
    assert {one.comparisons for one in quick.verdicts} == {2}
    assert "table 1" in quick.text
