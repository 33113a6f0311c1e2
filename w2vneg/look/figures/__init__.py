"""Charts in one style, independent of what draws them: `still` for papers, `interactive` for pages."""

from dataclasses import dataclass, field

import numpy as np

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")  # Okabe and Ito 2008
DASHES = ("solid", "dash", "dot", "dashdot")  # to distinguish lines in greyscale
GROUPS = (*COLOURS[:6], "#888888", "#7A4B2A")  # of points on a map, on light and dark pages


@dataclass(frozen=True)
class Looks:
    """How points of a map look. groups : uint8 (n,), index of each point's group; called : list of str, group names
    sizes : float32 (n,), diameters in pixels
    """

    groups: np.ndarray
    called: list
    sizes: np.ndarray


@dataclass(frozen=True)
class Series:
    """name : str; x, y : array-like, (n,); text : sequence of str (n,), or None, the label of each point
    low, high : array-like, (n,), or None, ends of intervals; reference : bool, drawn thinly behind the others
    like : int, or None, the number of the series whose colour it shares
    """

    name: str
    x: np.ndarray
    y: np.ndarray
    text: list | None = None
    low: np.ndarray | None = None
    high: np.ndarray | None = None
    reference: bool = False
    like: int | None = None

    def one_of(self, looks, number):
        """Return its look, of a sequence, as series `number` of a chart."""
        return looks[(number if self.like is None else self.like) % len(looks)]

    def colour(self, number):
        """Return its colour as series `number` of a chart."""
        return self.one_of(COLOURS, number)

    def dash(self, number):
        """Return the style of its line, one of `DASHES`."""
        return "dot" if self.reference else self.one_of(DASHES, number)


@dataclass(frozen=True)
class Chart:
    """key : str, its file name; x, y : str, labels of the axes with units
    kind : {"lines", "points", "bars", "dots", "map"}; bars and dots have names as x, and dots are horizontal
    level : float or None, reference value of y; looks : Looks of the points of a map
    """

    key: str
    title: str
    x: str
    y: str
    series: list
    kind: str = "lines"
    log_x: bool = False
    level: float | None = None
    looks: Looks | None = None

    @property
    def whole_x(self):
        """Whether x are few whole numbers, so that each gets a tick."""
        return self.x == "epoch" and max(np.ptp(series.x) for series in self.series) <= 12

    @property
    def names(self):
        """The names on the axis of bars and dots, list of str."""
        return list(dict.fromkeys(name for series in self.series for name in series.x))


@dataclass(frozen=True)
class Table:
    """title : str; head : list of str; rows : list of lists of str, whose first cell names the row"""

    title: str
    head: list
    rows: list
    folded: bool = False


@dataclass
class Section:
    """A part of a report: title, text : str; charts : list of Chart; tables : list of Table"""

    title: str
    text: str
    charts: list = field(default_factory=list)
    tables: list = field(default_factory=list)

    def __bool__(self):
        return bool(self.charts or self.tables)
