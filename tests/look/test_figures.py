"""Charts, drawn: what is meant is what is there, in signs that differ without colour."""

import numpy as np
import pytest

from w2vneg.look.figures import COLOURS, DASHES, Chart, Series
from w2vneg.look.figures.still import as_bytes, draw, drawn

pytest.importorskip("matplotlib")


def luminance(colour):
    """Relative luminance of sRGB, as of WCAG."""
    shares = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


def test_dots_lie_on_their_side_with_intervals_and_seeds_behind_them():
    series = [
        Series("mean", ["a", "b"], np.array([2.0, 3.0]), None, np.array([1.0, np.nan]), np.array([4.0, np.nan])),
        Series("seeds", ["a", "a", "b"], np.array([1.5, 2.5, 3.0]), reference=True),
    ]
    (axes,) = drawn(Chart("key", "title", "", "loss", series, "dots", level=0.5)).axes
    means, seeds = (found for found in axes.collections if len(found.get_offsets()) in (2, 3))
    np.testing.assert_array_equal(means.get_offsets(), [[2, 0], [3, 1]])
    np.testing.assert_array_equal(seeds.get_offsets(), [[1.5, 0], [2.5, 0], [3, 1]])
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a", "b"] and axes.yaxis_inverted()
    assert axes.get_xlabel() == "loss" and axes.get_legend() is None
    assert list(axes.lines[0].get_xdata()) == [0.5, 0.5]


def test_lines_that_stand_beside_each_other_differ_in_grey():
    """Neighbours differ by dash and marker; the first four by dash alone."""
    x = np.arange(3)
    chart = Chart("key", "", "epoch", "loss, nats", [Series(str(i), x, x + i, like=i) for i in range(6)])
    (axes,) = drawn(chart).axes
    signs = [(line.get_linestyle(), line.get_marker()) for line in axes.lines]
    assert len(set(signs)) == 6 and len({dash for dash, _ in signs[:4]}) == len(DASHES)
    assert [line.get_color() for line in axes.lines] == list(COLOURS[:6])


def test_points_look_like_the_same_series_in_other_charts():
    markers = []
    for likes in ([0, 1, 2], [0, 2]):
        series = [Series(str(like), [1, 2], [1, 2], like=like) for like in likes]
        (axes,) = drawn(Chart("key", "", "x", "y", series, kind="points")).axes
        outlines = (len(points.get_paths()[0].vertices) for points in axes.collections)
        markers.append(dict(zip(likes, outlines, strict=True)))
    assert markers[0][2] == markers[1][2] != markers[0][1]


def test_what_others_draw_has_our_colours_and_no_frame():
    def sketch(figure):
        axes = figure.subplots()
        for i in range(3):
            axes.plot([0, 1], [0, i])

    (axes,) = drawn(sketch).axes
    assert [line.get_color() for line in axes.lines] == list(COLOURS[:3])
    assert len({line.get_linestyle() for line in axes.lines}) == 3 and not axes.spines["top"].get_visible()
    assert all(1.05 / (luminance(colour) + 0.05) > 2 for colour in COLOURS)  # on white paper


def test_pictures_are_files_of_their_kind():
    figure = drawn(Chart("key", "$x$ <b>", "x", "y", [Series("a", [1], [2])]))
    assert as_bytes(figure).startswith(b"\x89PNG") and b"$x$ &lt;b&gt;" in as_bytes(figure, "svg")


def test_charts_share_a_figure():
    def panels(figure):
        for axes in figure.subplots(1, 2):
            draw(Chart("key", "", "x", "y", [Series("a", [1, 2], [2, 3])]), axes)

    assert [len(axes.lines) for axes in drawn(panels).axes] == [1, 1]
