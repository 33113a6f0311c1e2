"""Charts as files beside tables, where what draws them is installed."""


def write_images(charts, folder, begun, note, suffixes=("png",)):
    """Write the charts under names that begin with `begun`; return the names (list of str), a note without matplotlib.

    suffixes : sequence of str, of png, pdf and svg
    """
    from ..ground.errors import MissingExtraError
    from ..look.figures.still import write_figures

    try:
        return write_figures(charts, folder, suffixes, f"{begun}-")
    except MissingExtraError as error:
        note(f"No plots: {error}")
        return []
