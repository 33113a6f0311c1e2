"""`w2vneg report`: an HTML page about one run or several."""

import os

import click

from ..ground.errors import OutputError
from ..ground.files.atomic import check_writable, passes_on
from .flags import readout_option, refuse_overwriting, titles_of, titles_options
from .options import option
from .progress import note
from .tables import table


@click.command()
@click.argument("runs", nargs=-1, required=True, metavar="MODEL|VECTORS|COMPARISON...")
@option("--out FILE", "The page to write.", default="report.html")
@option("--figures DIR", "Also write each chart as PNG and SVG.")
@option("--map NAME", "Map of all words: pca, umap or none.", name="way", default="pca")
@option("--word WORD", "Show the neighbours of WORD. May be repeated.", name="words", multiple=True)
@readout_option
@titles_options
@option("--test FILE", "Held-out pairs that models of items rank, next to baselines.")
@option("--mirror DIR", "Folder with named evaluation sets; or set W2VNEG_MIRROR.")
def report(runs, out, figures, way, words, readout, titles, titles_cols, test, mirror):
    """Compare runs and vectors on one HTML page, or show the results of 'w2vneg compare'.

    The scores are also printed. The page opens from disk and loads nothing. Evaluation sets that are not on this
    machine are skipped; 'w2vneg data fetch' downloads them.
    """
    from ..look.report import is_page, make_report

    kept = [file for run in runs if os.path.isdir(run) for file in os.scandir(run) if not file.name.endswith(".html")]
    refuse_overwriting("--out", out, filter(None, (*runs, titles, test, *(file.path for file in kept))))
    check_writable(out)
    if os.path.lexists(out) and not (passes_on(out) or is_page(out)):
        raise OutputError(f"{out} exists and is not a page of 'w2vneg report'; name another file with --out")
    if figures:
        try:
            os.makedirs(figures, exist_ok=True)
        except OSError as error:
            raise OutputError(f"cannot write figures to {figures}: {error.strerror}; name a folder") from error
    made = make_report(runs, readout, words, way, mirror, titles_of(titles, titles_cols, mirror), test)
    made.write(out)
    for shown in made.sections[0].tables:
        click.echo(table([shown.head, *shown.rows]))
    note(f"Wrote {out}; open it in a browser.")
    if figures:
        note(f"Wrote {len(made.write_figures(figures))} figures to {figures}.")
