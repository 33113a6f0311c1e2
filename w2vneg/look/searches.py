"""Results of searches and comparisons, as charts and as a section of a report."""

import numpy as np

from ..run.search.comparing import as_rows, groups, read_compared, said_below
from .figures import COLOURS, Chart, Section, Series, Table

_METHODS = ("loss", "sampler", "weigher", "inputs")  # options that define a method; the first one searched is used
_WIDE = 20  # ratio of high to low from which an axis is logarithmic


def charts_of_search(rows, metric):
    """Return a chart for each option that was tried with several values (list of Chart).

    Numeric options get a numeric axis, with a line for each method. Other options list their values: the best result
    of each stands out from all combinations with it.

    rows : list of trials.Row, failed ones are left out; metric : Metric
    """
    rows = [row for row in rows if row.value is not None]
    names = list(dict.fromkeys(name for row in rows for name in row.options))
    values = {name: list(dict.fromkeys(row.options[name] for row in rows if name in row.options)) for name in names}
    searched = [name for name in names if len(values[name]) > 1]
    method = next((name for name in _METHODS if name in searched and len(values[name]) <= len(COLOURS)), None)
    charts = []
    for name in searched:
        own = [row for row in rows if name in row.options]
        are_numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values[name])
        charts.append(_by_number(own, name, method, metric) if are_numbers else _by_name(own, name, metric))
    return charts


def _by_number(rows, name, method, metric):
    series = []
    for number, of in enumerate(dict.fromkeys(row.options.get(method) for row in rows)):
        best = _best([row for row in rows if row.options.get(method) == of], name, metric)
        x = np.array(sorted(best), np.float64)
        called = "best of the combinations" if of is None else f"best of {method} {of}"
        series.append(Series(called, x, np.array([best[value] for value in sorted(best)]), like=number))
    tried = np.array([row.options[name] for row in rows], np.float64)
    low, high = tried.min(), tried.max()
    called = name.replace("_", " ")
    log_x = bool(low > 0 and high >= _WIDE * low)
    return Chart(name, f"{metric.name} by {called}", called, metric.name, series, log_x=log_x)


def _by_name(rows, name, metric):
    best = _best(rows, name, metric)
    order = sorted(best, key=lambda value: -metric.sign * best[value])
    tried = [str(row.options[name]) for row in rows]
    shown = [
        Series("best", [str(value) for value in order], np.array([best[value] for value in order])),
        Series("all combinations", tried, np.array([row.value for row in rows]), reference=True),
    ]
    called = name.replace("_", " ")
    title = f"{metric.name} by {called}: the best of each, and all combinations"
    return Chart(name, title, called, metric.name, shown, "dots")


def _best(rows, name, metric):
    """Return the best figure of each value of an option (dict)."""
    rising = sorted(rows, key=lambda row: metric.sign * row.value)
    return {row.options[name]: row.value for row in rising}  # the last row of a value, its best, stays


def section_of_comparison(folder):
    """Return the `Section` of a report for the folder of a comparison."""
    runs = read_compared(folder)
    head, *rows = as_rows(runs)
    return Section(f"Comparison {folder}", said_below(runs), charts_of_comparison(runs), [Table("", head, rows)])


def charts_of_comparison(runs):
    """Return charts of means with the seeds of each, and of differences from the first run (list of Chart).

    runs : list of comparing.Compared; each combination of data and metric has its own charts
    """
    charts = []
    for group in groups(runs):
        metric, called = group[0].metric, " ".join(filter(None, (group[0].data, group[0].metric)))
        key = "" if len(groups(runs)) == 1 else f"-{called}".replace(" ", "-")
        shown = [run for run in group if run.mean is not None]
        others = [run for run in shown if run.difference is not None]
        if shown:
            seeds = [(run.name, value) for run in shown for value in run.values.values()]
            names, values = zip(*seeds, strict=True)
            means = [_dots(shown, "mean", "low", "high"), Series("seeds", names, np.array(values), reference=True)]
            charts.append(Chart(f"means{key}", f"{called}: means and seeds", "", metric, means, "dots"))
        if others:
            label = f"{metric}, difference from {shown[0].name}"
            dots = [_dots(others, "difference", "difference_low", "difference_high")]
            title = f"{called}: differences, seed by seed"
            charts.append(Chart(f"differences{key}", title, "", label, dots, "dots", level=0.0))
    return charts


def _dots(runs, middle, low, high):
    """Return a `Series` of figures with their intervals, which are NaN for a single seed."""
    columns = np.array([[getattr(run, name) for name in (middle, low, high)] for run in runs], np.float64)
    return Series("mean", [run.name for run in runs], columns[:, 0], None, columns[:, 1], columns[:, 2])
