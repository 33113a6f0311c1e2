"""Charts as files beside tables, where what draws them is installed."""


def images_of(charts, begun, note):
    """Return the charts as PNG, a dict of str -> bytes, by names that begin with `begun`; a note without matplotlib."""
    from ..ground.errors import MissingExtraError
    from ..look.figures.still import as_bytes, drawn

    try:
        return {f"{begun}-{chart.key}.png": as_bytes(drawn(chart)) for chart in charts}
    except MissingExtraError as error:
        note(f"No plots: {error}")
        return {}
