"""`w2vneg report`: a page to look at, of one run or several."""

import click

from .flags import readout_option, titles_of, titles_options
from .options import option
from .progress import note
from .tables import table


@click.command()
@click.argument("runs", nargs=-1, required=True, metavar="MODEL|VECTORS|COMPARISON...")
@option("--out", metavar="FILE", default="report.html", help="The page to write.")
@option("--figures", metavar="DIR", help="Write each chart as PNG and SVG, too.")
@option("--map", "way", metavar="NAME", default="pca", help="Map of all words: pca, umap or none.")
@option("--word", "words", metavar="WORD", multiple=True, help="Show its neighbours. May be repeated.")
@readout_option
@titles_options
@option("--test", metavar="FILE", help="Held-out pairs that models of items rank, beside baselines.")
@option("--mirror", metavar="DIR", help="Folder that has named evaluation sets; W2VNEG_MIRROR too.")
def report(runs, out, figures, way, words, readout, titles, titles_cols, test, mirror):
    """Compare runs and vectors on one HTML page, or show what 'w2vneg compare' has found.

    How good they are is printed, too. The page opens from disk and loads nothing. Evaluation sets that are not on this
    machine are skipped; 'w2vneg data fetch' brings them.
    """
    from ..ground.files.atomic import check_writable
    from ..look.report import make_report

    check_writable(out)
    if figures:
        _folder(figures)
    made = make_report(runs, readout, words, way, mirror, titles_of(titles, titles_cols, mirror), test)
    made.write(out)
    for shown in made.sections[0].tables:
        click.echo(table([shown.head, *shown.rows]))
    note(f"Wrote {out}; open it in a browser.")
    if figures:
        note(f"Wrote {len(made.write_figures(figures))} figures to {figures}.")


def _folder(path):
    """Make a folder for figures now; one clear error if it cannot be."""
    import os

    from ..ground.errors import OutputError

    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot write figures to {path}: {error.strerror}; name a folder") from error
