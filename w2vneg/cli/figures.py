"""Figures that others know how to draw, as files."""


def drawn(figures):
    """Return each figure as the bytes of a PNG.

    Parameters
    ----------
    figures : dict of str -> function that draws it on a matplotlib Figure

    Raises
    ------
    MissingExtraError
        Without matplotlib, if there are any.
    """
    from io import BytesIO

    from ..errors import require

    images = {}
    for title, draw in figures.items():
        figure = require("matplotlib.figure", "plot", "a figure").Figure(layout="constrained")
        draw(figure)
        stream = BytesIO()
        figure.savefig(stream, format="png", dpi=150)
        images[title] = stream.getvalue()
    return images
