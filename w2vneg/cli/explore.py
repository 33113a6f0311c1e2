"""`w2vneg explore`: a page of this machine's own on which vectors answer as one types."""

import click

from .progress import note
from .titles import titles_of, titles_options


@click.command()
@click.argument("runs", nargs=-1, required=True, metavar="MODEL|VECTORS...")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Of 127.0.0.1.  [default: a free one]")
@click.option("--open", "opened", is_flag=True, help="Open the page in a browser.")
@click.option("--readout", metavar="NAME", help="How vectors are made of model folders.  [default: as trained]")
@click.option("--map", "way", metavar="NAME", default="pca", show_default=True, help="Of all words: pca, umap or none.")
@titles_options
@click.option("--mirror", metavar="DIR|URL", help="Where named data are kept; W2VNEG_MIRROR too.")
def explore(runs, port, opened, readout, way, titles, titles_cols, mirror):
    """Look things up in a browser: neighbours, sums and analogies as you type; of items, what comes next and why.

    The page is for this machine only: it is served at 127.0.0.1, at an address that nobody can guess, and loads
    nothing from elsewhere. Several models answer side by side. Ctrl-C ends it.
    """
    from ..look.explore import Answers, make_app
    from ..look.explore.app import leave, listen, new_token, serve
    from ..look.figures.interactive import bundle
    from ..look.report.maps import check_way
    from ..look.report.subjects import load_subjects

    check_way(way)
    if way != "none":
        bundle()  # a word on what is missing comes now
    token = new_token()
    subjects = load_subjects(runs, readout, titles_of(titles, titles_cols, mirror), any_spelling=True)
    app = make_app(Answers(subjects, way), token)
    with listen(port) as listening:
        address = f"http://127.0.0.1:{listening.getsockname()[1]}/{token}/"
        click.echo(address)
        note("Open this address in a browser of this machine; Ctrl-C ends it.")
        if opened:
            click.launch(address)
        try:
            serve(app, listening)
        except KeyboardInterrupt:
            note("Ended.")
            leave()
