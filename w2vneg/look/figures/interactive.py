"""Charts for pages: Plotly figures as JSON that is safe within HTML."""

from html import escape
from importlib.resources import files

import numpy as np

from ...ground.errors import require
from . import GROUPS

_EXTRA = "report", "a report"
_SYMBOLS = ("circle", "diamond", "square", "triangle-up")  # of points, for greyscale print
_MARGINS = {"bars": {"l": 130, "r": 16, "b": 120}, "dots": {"l": 130, "r": 16, "b": 50}}  # pixels: names are long


def bundle():
    """Return Plotly's JavaScript, which the page embeds (str)."""
    return require("plotly.offline", *_EXTRA).get_plotlyjs()


def page_script():
    """Return the JavaScript that draws figures on a page (str)."""
    return files(__package__).joinpath("page.js").read_text("utf-8")


def figure_json(chart):
    """Return a chart as a Plotly figure in JSON (str), for a script element."""
    return safe_json(figure_of(chart).to_json())


def figure_of(chart):
    """Return a chart as a plotly.graph_objects.Figure."""
    objects = require("plotly.graph_objects", *_EXTRA)
    figure, named, is_map = objects.Figure(), len(chart.series) > 1, chart.kind == "map"
    for number, series in enumerate(chart.series):
        figure.add_trace(_TRACES[chart.kind](objects, chart, series, number))
    labelled = {"showgrid": True, "gridcolor": "#e6e6e6", "zeroline": False, "linecolor": "#999"}
    place = {"x": 0.01, "xanchor": "left", "y": 1, "yanchor": "top", "pad": {"t": 12}}
    margin = _MARGINS.get(chart.kind, {"l": 60, "r": 16, "b": 50})
    figure.update_layout(
        template="none",
        title={"text": escape(chart.title), "font": {"size": 15}, **place},
        font={"family": "system-ui, sans-serif", "size": 12},
        margin=margin | {"t": 64 if named else 40 if chart.title else 12},
        height=640 if is_map else 380,
        hovermode="closest",
        barmode="group",
        dragmode="pan" if is_map else "zoom",
        showlegend=named,
        legend={"orientation": "h", "y": 1.01, "yanchor": "bottom", "x": 0, "xanchor": "left"},
        xaxis={"title": {"text": escape(chart.x)}, "type": "log" if chart.log_x else "linear", **labelled},
        yaxis={"title": {"text": escape(chart.y)}, "type": "linear", "automargin": True, **labelled},
    )
    if chart.kind == "points":
        figure.update_layout(legend={"itemsizing": "constant"})  # small points are hard to distinguish
    if chart.kind == "bars":
        figure.update_xaxes(tickangle=-40, type="category")
    if chart.kind == "dots":
        figure.update_xaxes(title=escape(chart.y))
        figure.update_yaxes(title=escape(chart.x), autorange="reversed", type="category")
        if chart.level is not None:
            figure.add_vline(chart.level, line={"color": "#888", "width": 1})
    if chart.whole_x:
        figure.update_xaxes(dtick=1)
    return figure


def safe_json(text):
    """Escape JSON so that it neither ends a script element nor begins a comment in one."""
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _texts(series):
    """Return the labels of points, escaped, as Plotly interprets some tags."""
    return None if series.text is None else [escape(word) for word in series.text]


def _lines(objects, chart, series, number):
    line = {"color": series.colour(number), "dash": series.dash(number), "width": 1 if series.reference else 2}
    mode = "lines" if series.reference or len(series.x) > 40 else "lines+markers"
    return objects.Scatter(x=series.x, y=series.y, name=escape(series.name), mode=mode, line=line)


def _points(objects, chart, series, number):
    look = {"color": series.colour(number), "symbol": series.one_of(_SYMBOLS, number)}
    marker = look | {"size": 5, "opacity": 0.5}
    hover = "%{text}<br>%{x:.4g}, %{y:.3f}<extra></extra>"
    named = {"text": _texts(series), "name": escape(series.name), "hovertemplate": hover}
    return objects.Scattergl(x=series.x, y=series.y, mode="markers", marker=marker, **named)


def _error(series):
    """Return the intervals in Plotly's form, or None."""
    if series.low is None:
        return None
    return {"type": "data", "array": series.high - series.y, "arrayminus": series.y - series.low, "thickness": 1}


def _bars(objects, chart, series, number):
    names, marker = [escape(name) for name in series.x], {"color": series.colour(number)}
    return objects.Bar(x=names, y=series.y, name=escape(series.name), error_y=_error(series), marker=marker)


def _dots(objects, chart, series, number):
    marker = {"color": "#888888", "size": 5} if series.reference else {"color": series.colour(number), "size": 10}
    names, look = [escape(name) for name in series.x], {"mode": "markers", "marker": marker}
    return objects.Scatter(x=series.y, y=names, name=escape(series.name), error_x=_error(series), **look)


def _map(objects, chart, series, number):
    looks, n = chart.looks, len(chart.looks.called)
    steps = [[edge / n, GROUPS[i % len(GROUPS)]] for i in range(n) for edge in (i, i + 1)]  # a colour for each group
    bar = {"thickness": 12, "tickvals": list(range(n)), "ticktext": [escape(name) for name in looks.called]}
    marker = {"color": looks.groups, "colorscale": steps, "cmin": -0.5, "cmax": n - 0.5, "colorbar": bar}
    marker |= {"size": looks.sizes, "opacity": 0.6, "line": {"width": 0}}
    at = {"x": np.asarray(series.x, np.float32), "y": np.asarray(series.y, np.float32), "text": _texts(series)}
    return objects.Scattergl(**at, mode="markers", marker=marker, hovertemplate="%{text}<extra></extra>")


_TRACES = {"lines": _lines, "points": _points, "bars": _bars, "dots": _dots, "map": _map}
