"""Pictures for notebooks, of the charts that reports are made of."""

import numpy as np

from ...ground.errors import ConfigError
from ..figures.charts import Chart, Series
from ..figures.interactive import figure_of
from ..figures.still import draw, drawn
from .maps import check_way, map_of
from .sections import draws, learning
from .subjects import Subject


def map_figure(vectors, way="pca", titles=None):
    """Return a map of all vectors as a Plotly figure; see `Vectors.map`."""
    check_way(way)
    if way == "none":
        raise ConfigError("a map is drawn by pca or umap, not 'none'")
    names = [(titles or {}).get(word, word) for word in vectors.words]
    return figure_of(map_of(vectors, way, f"{len(vectors):,} vectors", names))


def neighbours_figure(vectors, word, k=10):
    """Return the nearest of a word by cosine as a matplotlib Figure; see `Vectors.plot_neighbours`."""
    names, cosines = zip(*vectors.most_similar(word, k=k), strict=True)
    series = [Series("", list(names), np.array(cosines))]
    chart = Chart("neighbours", f"Nearest to {word}", "", "cosine", series, "dots")
    return drawn(chart, figsize=(6.4, 1.2 + 0.26 * len(names)))


def history_figure(model):
    """Return what a run told by epoch as a matplotlib Figure; see `Word2Vec.plot_history`."""
    told = [Subject("run", "", None, model)]
    charts = learning(told).charts + draws(told).charts
    if not charts:
        raise ConfigError("there is no history to plot: no epoch was trained")
    columns = min(len(charts), 3)
    rows = -(-len(charts) // columns)

    def panels(figure):
        places = figure.subplots(rows, columns, squeeze=False).ravel()
        for chart, axes in zip(charts, places, strict=False):
            draw(chart, axes)
        for axes in places[len(charts) :]:
            axes.set_axis_off()

    return drawn(panels, figsize=(3.8 * columns, 3.2 * rows))
