"""Charts for papers: matplotlib figures, readable in grey."""

import numpy as np

from ..errors import require
from .charts import colour_of, dash_of

_STYLES = {"solid": "-", "dash": "--", "dot": ":", "dashdot": "-."}
_MARKERS = "o^sDvPX"


def draw(chart, figure):
    """Draw a chart on an empty matplotlib Figure."""
    axes = figure.subplots()
    _DRAW[chart.kind](chart, axes)
    axes.set(xlabel=plain(chart.x), ylabel=plain(chart.y), title=plain(chart.title))
    if chart.whole_x:
        axes.xaxis.get_major_locator().set_params(integer=True)
    if chart.log_x:
        axes.set_xscale("log")
    if chart.log_y:
        axes.set_yscale("log")
    if len(chart.series) > 1:
        axes.legend(frameon=False, fontsize="small")
    axes.spines[["top", "right"]].set_visible(False)


def plain(text):
    """Return a text that matplotlib does not read as mathematics."""
    return text.replace("$", r"\$")


def write_figures(charts, folder, suffixes=("png", "svg")):
    """Write each chart under its key, once for each suffix; returns the names (list of str).

    Raises
    ------
    MissingExtraError
        Without matplotlib. OutputError if a file cannot be written.
    """
    from io import BytesIO
    from pathlib import Path

    from ..files.atomic import atomic_file

    made = require("matplotlib.figure", "plot", "--figures").Figure
    names = []
    for chart in charts:
        figure = made(figsize=(6.4, 4.2), layout="constrained")
        draw(chart, figure)
        for suffix in suffixes:
            stream = BytesIO()
            figure.savefig(stream, format=suffix, dpi=200)
            name = f"{chart.key.replace('/', '-')}.{suffix}"
            with atomic_file(Path(folder, name)) as file:
                file.write(stream.getvalue())
            names.append(name)
    return names


def _lines(chart, axes):
    for number, series in enumerate(chart.series):
        marker = "" if series.reference or len(series.x) > 40 else _MARKERS[(series.like or 0) % len(_MARKERS)]
        style = _STYLES[dash_of(series, number)]
        width = 1 if series.reference else 1.8
        colour = colour_of(series, number)
        axes.plot(series.x, series.y, style, color=colour, marker=marker, linewidth=width, label=plain(series.name))


def _points(chart, axes):
    for number, series in enumerate(chart.series):
        marker = _MARKERS[number % len(_MARKERS)]
        colour = colour_of(series, number)
        axes.scatter(
            series.x, series.y, s=8, color=colour, marker=marker, alpha=0.5, label=plain(series.name), rasterized=True
        )


def _bars(chart, axes):
    names = list(dict.fromkeys(name for series in chart.series for name in series.x))
    width = 0.8 / len(chart.series)
    for number, series in enumerate(chart.series):
        at = np.array([names.index(name) for name in series.x]) + (number - (len(chart.series) - 1) / 2) * width
        error = None if series.low is None else np.maximum([series.y - series.low, series.high - series.y], 0)
        axes.bar(
            at,
            series.y,
            width,
            color=colour_of(series, number),
            yerr=error,
            ecolor="0.3",
            hatch=("", "//", "..", "xx")[number % 4],
            edgecolor="white",
            label=plain(series.name),
        )
    axes.set_xticks(range(len(names)), [plain(name) for name in names], rotation=45, ha="right", fontsize="small")


def _map(chart, axes):
    series = chart.series[0]
    found = axes.scatter(series.x, series.y, s=2, c=chart.colour, cmap="cividis", alpha=0.7, rasterized=True)
    axes.figure.colorbar(found, ax=axes, label=chart.colour_label)


_DRAW = {"lines": _lines, "points": _points, "bars": _bars, "map": _map}
