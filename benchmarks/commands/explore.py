"""``python -m benchmarks explore``: how soon the explorer answers."""

import json

import click

from .common import keep, say


@click.command()
@click.option("--words", "n", type=click.IntRange(min=100), default=1_000_000, show_default=True)
@click.option("--dim", type=click.IntRange(min=2), default=300, show_default=True)
@click.option("--asked", type=click.IntRange(min=1), default=200, show_default=True, help="Questions of each kind.")
@click.option("--out", metavar="FILE", help="Write every single wait as JSON, too.")
def explore(n, dim, asked, out):
    """How soon the explorer answers over made-up vectors: whole requests by HTTP. Prints Markdown.

    A process of its own serves; questions follow one another, as those of one reader do.
    """
    from w2vneg.files.atomic import check_writable

    from .. import explore as b
    from ..speed import machine

    if out:
        check_writable(out)
    waits = b.measure(n, dim, asked, say)
    keep(out, json.dumps({wait.kind: wait.seconds for wait in waits}))
    click.echo(f"{machine()}\n{n:,} vectors in {dim} dimensions, {asked} questions of each kind\n")
    click.echo(b.table(waits))
