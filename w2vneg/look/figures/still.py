"""Charts for papers: matplotlib figures, readable in greyscale."""

from io import BytesIO
from pathlib import Path

import numpy as np

from ...ground.errors import require
from ...ground.files.atomic import atomic_file
from . import COLOURS, DASHES, GROUPS

_EXTRA = "plot", "a figure"
_DPI = 200
_STYLES = {"solid": "-", "dash": "--", "dot": ":", "dashdot": "-."}
_MARKERS = "o^sDvPX"
_RC = {
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": "medium",
    "image.cmap": "cividis",
    "legend.frameon": False,
    "legend.fontsize": "small",
    "svg.fonttype": "none",
}


def styled():
    """Return a context in which matplotlib draws in our style: colours and dashes of `figures`, no frame."""
    rc = require("matplotlib", *_EXTRA).rc_context
    cycler = require("cycler", *_EXTRA).cycler
    dashes = [_STYLES[name] for name in DASHES]
    signs = cycler(color=COLOURS * len(dashes)) + cycler(linestyle=dashes * len(COLOURS))  # all distinct
    return rc(_RC | {"axes.prop_cycle": signs})


def drawn(shown, **options):
    """Return a matplotlib Figure of a `Chart`, or one that a function draws on, in our style.

    It is 6.4 by 4.2 inches by default. MissingExtraError without matplotlib.
    """
    make = require("matplotlib.figure", *_EXTRA).Figure
    with styled():
        figure = make(**{"figsize": (6.4, 4.2), "layout": "constrained"} | options)
        if callable(shown):
            shown(figure)
        else:
            draw(shown, figure.subplots())
    figure._repr_png_ = lambda: as_bytes(figure)  # shown by notebooks
    return figure


def as_bytes(figure, suffix="png"):
    """Return a matplotlib Figure as the content of a file (bytes)."""
    stream = BytesIO()
    with styled():
        figure.savefig(stream, format=suffix, dpi=_DPI)
    return stream.getvalue()


def draw(chart, axes):
    """Draw a chart on empty matplotlib axes, within `styled`."""
    _DRAW[chart.kind](chart, axes)
    x, y = (chart.y, chart.x) if chart.kind == "dots" else (chart.x, chart.y)
    axes.set(xlabel=plain(x), ylabel=plain(y), title=plain(chart.title))
    if chart.level is not None:
        line = axes.axvline if chart.kind == "dots" else axes.axhline
        line(chart.level, color="0.5", linewidth=0.8, linestyle="-", zorder=0)
    if chart.whole_x:
        axes.xaxis.get_major_locator().set_params(integer=True)
    if chart.log_x:
        axes.set_xscale("log")
    if sum(not series.reference or chart.kind != "dots" for series in chart.series) > 1:
        axes.legend()


def plain(text):
    """Escape a text so that matplotlib does not read it as mathematics."""
    return text.replace("$", r"\$")


def write_figures(charts, folder, suffixes=("png", "svg"), begun=""):
    """Write each chart once per suffix, to a file named by `begun` and its key; returns the names (list)."""
    names = []
    for chart in charts:
        figure = drawn(chart)
        for suffix in suffixes:
            names.append(f"{begun}{chart.key.replace('/', '-')}.{suffix}")
            with atomic_file(Path(folder, names[-1])) as file:
                file.write(as_bytes(figure, suffix))
    return names


def _lines(chart, axes):
    for number, series in enumerate(chart.series):
        marker = "" if series.reference or len(series.x) > 40 else series.one_of(_MARKERS, 0)
        look = {"color": series.colour(number), "marker": marker, "linewidth": 1 if series.reference else 1.8}
        axes.plot(series.x, series.y, _STYLES[series.dash(number)], label=plain(series.name), **look)


def _points(chart, axes):
    for number, series in enumerate(chart.series):
        look = {"s": 8, "color": series.colour(number), "marker": series.one_of(_MARKERS, number), "alpha": 0.5}
        axes.scatter(series.x, series.y, label=plain(series.name), rasterized=True, **look)


def _bars(chart, axes):
    names, width = chart.names, 0.8 / len(chart.series)
    for number, series in enumerate(chart.series):
        at = np.array([names.index(name) for name in series.x]) + (number - (len(chart.series) - 1) / 2) * width
        error = None if series.low is None else np.maximum([series.y - series.low, series.high - series.y], 0)
        look = {"color": series.colour(number), "hatch": ("", "//", "..", "xx")[number % 4], "edgecolor": "white"}
        axes.bar(at, series.y, width, yerr=error, ecolor="0.3", label=plain(series.name), **look)
    axes.set_xticks(range(len(names)), [plain(name) for name in names], rotation=45, ha="right", fontsize="small")


def _dots(chart, axes):
    names = chart.names
    for number, series in enumerate(chart.series):
        at, colour = np.array([names.index(name) for name in series.x]), series.colour(number)
        if series.low is not None:
            axes.hlines(at, series.low, series.high, color=colour, linewidth=1.8)
        look = {"color": "0.5", "s": 9, "zorder": 1} if series.reference else {"color": colour, "s": 36, "zorder": 2}
        axes.scatter(series.y, at, marker=series.one_of(_MARKERS, 0), label=plain(series.name), **look)
    axes.set_yticks(range(len(names)), [plain(name) for name in names])
    axes.margins(y=0.5 / max(len(names), 1))
    axes.invert_yaxis()


def _map(chart, axes):
    (series,), looks = chart.series, chart.looks
    listed = require("matplotlib.colors", *_EXTRA).ListedColormap
    n = len(looks.called)
    look = {"cmap": listed([GROUPS[i % len(GROUPS)] for i in range(n)]), "vmin": -0.5, "vmax": n - 0.5}
    look |= {"alpha": 0.6, "linewidths": 0, "rasterized": True}
    points = axes.scatter(series.x, series.y, (looks.sizes / 3) ** 2, looks.groups, **look)
    bar = axes.figure.colorbar(points, ax=axes)
    bar.set_ticks(range(n), labels=[plain(name) for name in looks.called])


_DRAW = {"lines": _lines, "points": _points, "bars": _bars, "dots": _dots, "map": _map}
