"""The report: a page that shows runs and their vectors side by side.

>>> from w2vneg.look.report import make_report
>>> make_report(["model", "other"]).write("report.html")
"""

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import numpy as np

from ... import __version__
from ...ground.errors import ConfigError, require
from ...ground.files.atomic import atomic_file
from ...run.search.comparing import SAVED
from ..figures import Chart, Series
from ..figures.interactive import bundle, figure_json, figure_of, page_script
from ..figures.still import draw, drawn, write_figures
from ..searches import section_of_comparison
from . import maps, sections
from .subjects import Subject, load_subjects

_HEAD = 200  # bytes of a page that include its generator


@dataclass
class Report:
    """title : str; sections : list of figures.Section, the first one the verdict"""

    title: str
    sections: list

    @property
    def charts(self):
        """All charts, in order."""
        return [chart for section in self.sections for chart in section.charts]

    def html(self):
        """Return the page, which is self-contained (str); MissingExtraError without Plotly or Jinja."""
        environment = require("jinja2", "report", "a report").Environment(autoescape=True, trim_blocks=True)
        template = environment.from_string(files(__package__).joinpath("page.html").read_text("utf-8"))
        environment.globals["figure"] = figure_json
        return template.render(report=self, plotly=bundle(), script=page_script(), version=__version__)

    def write(self, path):
        """Write the page, atomically; OutputError if it cannot be written."""
        page = self.html().encode("utf-8", "surrogatepass")
        with atomic_file(path) as stream:
            stream.write(page)

    def write_figures(self, folder):
        """Write each chart as PNG and SVG; returns the names of the files (list of str)."""
        return write_figures(self.charts, folder)


def is_page(path):
    """Return whether a file was written by `Report.write`."""
    try:
        with open(path, "rb") as stream:
            return b'<meta name="generator" content="w2vneg report">' in stream.read(_HEAD)
    except OSError:
        return False


def make_report(paths, readout=None, words=(), way="pca", mirror=None, titles=None, test=None):
    """Make a `Report` on model folders, files of vectors and folders of comparisons.

    paths : sequence of str or Path, at least one; readout : str, optional, the read-out of model folders
    words : sequence of str, words whose neighbours to show; some are chosen if it is empty
    way : {"pca", "umap", "none"}, how to make the map
    mirror : str, optional, another folder to search for named evaluation sets; nothing is downloaded
    titles : dict of str -> str, optional, titles of items
    test : str or Path, optional, held-out pairs to rank with models of items and with baselines; by default those that
        a run was validated on
    """
    maps.check_way(way)
    if not paths:
        raise ConfigError("a report needs a model folder or a file of vectors")
    for module in ("plotly.graph_objects", "jinja2"):
        require(module, "report", "a report")
    compared = [path for path in paths if Path(path, SAVED).is_file()]
    found = [section_of_comparison(path) for path in compared]
    others = [path for path in paths if path not in compared]
    if searched := next((path for path in others if Path(path, "search.json").is_file()), None):
        raise ConfigError(f"{searched} holds a search, not vectors; its table is {Path(searched, 'trials.md')}")
    subjects = load_subjects(others, readout, titles) if others else []
    if subjects:
        sections.check_known(subjects, words)
        measured = sections.measured(subjects, mirror)
        found.append(sections.verdict(subjects, measured, sections.ranked(subjects, test)))
        made = (
            maps.section_of(subjects, way),
            sections.neighbours(subjects, words),
            sections.kin(subjects, words),
            sections.lists(subjects),
            sections.similarity(subjects, measured),
            sections.analogies(subjects, measured),
            sections.learning(subjects),
            maps.shape(subjects),
            sections.draws(subjects),
            sections.runs(subjects),
        )
        found += filter(None, made)
    return Report(", ".join([*map(str, compared), *(one.name for one in subjects)]), found)


def map_figure(vectors, way="pca", titles=None):
    """Return a map of all vectors as a Plotly figure; see `Vectors.map`."""
    maps.check_way(way)
    titles = {} if titles is None else titles  # of a pandas Series, too
    names = [titles.get(word, word) for word in vectors.words]
    return figure_of(maps.map_of(vectors, way, f"{len(vectors):,} vectors", names))


def neighbours_figure(vectors, word, k=10):
    """Return the nearest neighbours of a word as a matplotlib Figure; see `Vectors.plot_neighbours`."""
    near = [] if k is None else vectors.most_similar(word, k=k)
    if not near:
        raise ConfigError("no neighbours to plot: there must be another word, and a k of at least 1")
    names, cosines = zip(*near, strict=True)
    series = [Series("", list(names), np.array(cosines))]
    chart = Chart("neighbours", f"Nearest to {word}", "", "cosine", series, "dots")
    return drawn(chart, figsize=(6.4, 1.2 + 0.26 * len(names)))


def history_figure(model):
    """Return the history of a run by epoch as a matplotlib Figure; see `Word2Vec.plot_history`."""
    subjects = [Subject("run", "", None, model)]
    charts = sections.learning(subjects).charts + sections.draws(subjects).charts
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
