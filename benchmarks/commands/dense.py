"""``python -m benchmarks dense``: the dense path compared with plain matrix products."""

import click

from .common import keep


@click.command()
@click.option("--vocab-size", type=click.IntRange(2), default=15000, show_default=True)
@click.option("--dim", type=click.IntRange(1), default=100, show_default=True)
@click.option("--batch", type=click.IntRange(1), default=256, show_default=True, help="Distinct centres per batch.")
@click.option("--draws", type=click.IntRange(1), multiple=True, default=(10, 60), show_default=True)
@click.option("--workers", type=click.IntRange(1), default=2, show_default=True)
@click.option("--repeats", type=click.IntRange(1), default=25, show_default=True)
@click.option("--out", metavar="FILE", help="Also write every single run as JSON.")
def dense(vocab_size, dim, batch, draws, workers, repeats, out):
    """Compare the full softmax and exact Boltzmann draws with the plain matrix product; prints Markdown.

    Only operations of products are counted: three products for a whole step of the softmax, one for the draws.
    """
    from w2vneg.ground.files.atomic import check_writable

    from .. import dense as d
    from ..speed import machine

    if out:
        check_writable(out)
    timings = d.measure(vocab_size, dim, batch, draws, workers, repeats)
    keep(out, d.as_json(timings))
    click.echo(f"{machine()}\n{vocab_size:,} words, dim {dim}, {batch} centres, {workers} workers, {repeats} rounds\n")
    click.echo(d.table(timings))
