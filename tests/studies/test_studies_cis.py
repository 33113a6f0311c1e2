"""The study of shapes in the plane: its shapes, its draws, its measures, its source of pairs, and that it runs."""

import math

import numpy as np
import pytest
from scipy import stats

from studies import STUDIES
from studies.cis_shapes import (
    BLOBS,
    CURVES,
    GRID,
    MEASURES,
    Task,
    _interval,
    accuracies,
    log_softmax,
    sample,
    shape_of,
    train_on,
)
from w2vneg.config import TrainConfig
from w2vneg.run.model import Model


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


def test_intervals_are_students():
    mean, half = _interval([1.0, 2.0, 3.0])
    assert (mean, half) == (2.0, pytest.approx(4.302653 / math.sqrt(3), rel=1e-6))
    assert math.isnan(_interval([1.0])[1])


@pytest.mark.slow
def test_the_first_step_of_the_full_softmax_is_the_softmaxs():
    """With all logits 0 every target has 1/V; a fixed rate moves rows by (1[target] − 1/V) · alpha · x."""
    options = {"loss": "relaxed", "sampler": "uniform", "weigher": "none", "exclude": "target", "subsample": 0}
    config = TrainConfig(**options, alpha=0.1, min_alpha=0.1, epochs=1, dim=6, seed=7, share_negatives=False)
    centre, target, size = 3, 0, 8
    model = train_on(np.array([centre], np.int32), np.array([target], np.int32), config, True, size)
    start = Model.fresh(range(size), config.resolved())
    moved = -np.ones(size) / size
    moved[target] += 1
    expected = 0.1 * moved[:, None] * start.vectors_in[centre]
    np.testing.assert_allclose(model.vectors_out, expected, rtol=1e-4, atol=1e-9)
    np.testing.assert_array_equal(model.vectors_in, start.vectors_in)  # its gradient was 0


@pytest.fixture(scope="module")
def quick():
    told = []
    study = STUDIES["cis-shapes"](told.append, True, 1)
    assert len(told) == 3
    return study


@pytest.mark.slow
def test_quick_runs_and_learns_the_support(quick):
    table = quick.tables["accuracy"].set_index("method")
    assert list(table.index) == ["UniS", "Selfplay", "CIS"]
    conditional = Task.drawn("blobs r=0.60", 100, [1, 1]).conditional
    trivial = 100 * (conditional > 0)[conditional.any(axis=1)].mean()
    assert (table[list(MEASURES)] > trivial + 5).all(axis=None)
    assert list(quick.tables["differences"]["difference"]) == ["Selfplay − UniS", "CIS − Selfplay"]
    shown = quick.tables["differences"]["sizes known"]
    assert [one.difference for one in quick.verdicts] == pytest.approx(shown)
    assert {one.comparisons for one in quick.verdicts} == {2}
    assert "table 1" in quick.text
    assert len(quick.figures) == 1


@pytest.mark.slow
def test_heat_maps_draw_the_truth_and_each_method(quick):
    figure = pytest.importorskip("matplotlib.figure").Figure()
    next(iter(quick.figures.values()))(figure)
    titles = [axes.get_title() for axes in figure.axes if axes.get_title()]
    assert titles == ["truth", "UniS", "Selfplay", "CIS"]
