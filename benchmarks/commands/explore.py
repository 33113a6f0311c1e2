"""``python -m benchmarks explore``: response times of the explorer."""

import json

import click

from .common import keep, say


@click.command()
@click.option("--words", "n", type=click.IntRange(min=100), default=1_000_000, show_default=True)
@click.option("--dim", type=click.IntRange(min=2), default=300, show_default=True)
@click.option("--asked", type=click.IntRange(min=1), default=200, show_default=True, help="Questions of each kind.")
@click.option("--at-once", type=click.IntRange(1, 10_000), help="Then this many of each kind at the same time.")
@click.option("--out", metavar="FILE", help="Also write every single wait as JSON.")
def explore(n, dim, asked, at_once, out):
    """Measure response times of the explorer over synthetic vectors: whole HTTP requests. Prints Markdown.

    A separate process serves. Questions follow one another, like those of one reader; --at-once adds concurrent ones.
    """
    from w2vneg.ground.files.atomic import check_writable

    from .. import explore as b
    from ..speed import machine

    if out:
        check_writable(out)
    with b.served(n, dim, say) as (port, words):
        waits = b.measure(port, words, asked, say)
        crowd = b.crowd(port, words, at_once, say) if at_once else []
    keep(out, json.dumps({name: dict(found) for name, found in (("waits", waits), ("crowd", crowd))}))
    click.echo(f"{machine()}\n{n:,} vectors in {dim} dimensions, {asked} questions of each kind\n")
    click.echo(b.table(waits))
    if crowd:
        click.echo(f"\n{at_once:,} of a kind at once\n\n{b.table(crowd)}")
