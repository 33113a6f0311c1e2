"""A search as charts: the best of each value of an option, apart for each method."""

from itertools import product

import pytest

from w2vneg.config import TrainConfig
from w2vneg.look.figures.still import drawn
from w2vneg.look.searches import charts_of_search
from w2vneg.run.search.trials import Row


class Less:
    name, sign = "nll", -1


def row(value, **options):
    reason = None if value is not None else "diverged"
    return Row(options, 1, value, value, value, 1.0, {} if value is None else {"nll": value}, 1.0, reason)


def rows():
    value = lambda loss, alpha, window: alpha * 10 + (loss == "ns") + abs(window - 5)  # noqa: E731
    grid = product(("ns", "relaxed"), (0.01, 0.1, 1.0), (3, 5))
    found = [row(value(*options), **dict(zip(("loss", "alpha", "window"), options, strict=True))) for options in grid]
    return [*found, row(None, loss="ns", alpha=9.0, window=3)]


def test_numbers_have_a_line_for_each_method_of_the_best_at_each_value():
    loss, alpha, window = charts_of_search(rows(), Less)
    assert (alpha.kind, alpha.log_x, window.log_x) == ("lines", True, False)
    assert [series.name for series in alpha.series] == ["best of loss ns", "best of loss relaxed"]
    for series, more in zip(alpha.series, (1, 0), strict=True):
        assert list(series.x) == [0.01, 0.1, 1.0]  # what diverged is left out
        assert list(series.y) == pytest.approx([0.1 + more, 1 + more, 10 + more])
    assert list(window.series[1].y) == pytest.approx([2.1, 0.1])
    best, every = loss.series
    assert (loss.kind, best.x, list(best.y)) == ("dots", ["relaxed", "ns"], pytest.approx([0.1, 1.1]))
    assert every.reference and len(every.x) == 12


def test_one_line_without_a_method_and_no_chart_of_what_is_fixed():
    found = [row(float(n), negatives=n, epochs=5) for n in (2, 4)] + [row(3.0, epochs=5)]
    (chart,) = charts_of_search(found, Less)
    assert chart.key == "negatives" and [series.name for series in chart.series] == ["best of the combinations"]
    assert charts_of_search([row(None, alpha=1.0), row(None, alpha=2.0)], Less) == []


def test_charts_are_drawn():
    pytest.importorskip("matplotlib")
    for chart in charts_of_search(rows(), Less):
        axes = drawn(chart).axes[0]
        labels = {axes.get_xlabel(), axes.get_ylabel()}
        assert labels == {"nll", chart.x} if chart.kind != "dots" else "nll" in labels
        assert set(chart.x.split()) <= set(TrainConfig().as_dict())
