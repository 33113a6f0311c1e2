"""`w2vneg explore`: a local web page to query vectors as you type."""

import secrets

import click

from .flags import readout_option, titles_of, titles_options
from .options import mirror_option, option
from .progress import note


@click.command()
@click.argument("runs", nargs=-1, required=True, metavar="MODEL|VECTORS...")
@option("--port", "Port of 127.0.0.1.", type=click.IntRange(0, 65535), default=0, default_text="a free one")
@option("--open", "Open the page in a browser.", name="opened")
@readout_option
@option("--map NAME", "Map of all words: pca, umap or none.", name="way", default="pca")
@titles_options
@mirror_option
def explore(runs, port, opened, readout, way, titles, titles_cols, mirror):
    """Explore vectors in a browser, as you type.

    Neighbours, sums and analogies; for items, what comes next and why. Several models answer side by side. The page is
    served to this machine only, at an address that cannot be guessed, and loads nothing from elsewhere. Ctrl-C ends it.
    """
    from ..look.explore import Answers
    from ..look.explore.app import Server
    from ..look.figures.interactive import bundle
    from ..look.report.maps import check_way
    from ..look.report.subjects import load_subjects

    check_way(way)
    if way != "none":
        bundle()  # raises now if something is missing
    subjects = load_subjects(runs, readout, titles_of(titles, titles_cols, mirror), any_spelling=True)
    with Server(Answers(subjects, way), secrets.token_urlsafe(24), port) as server:
        click.echo(server.address)
        note("Open this address in a browser on this machine; Ctrl-C ends it.")
        if opened:
            click.launch(server.address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            server.reports.acquire()  # threads may still be working
            note("Ended.")
            server.leave()
