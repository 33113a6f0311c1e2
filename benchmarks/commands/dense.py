"""``python -m benchmarks dense``: the dense path beside plain matrix products."""

import click

from .common import keep


@click.command()
@click.option("--vocab-size", type=click.IntRange(2), default=15000, show_default=True)
@click.option("--dim", type=click.IntRange(1), default=100, show_default=True)
@click.option("--batch", type=click.IntRange(1), default=256, show_default=True, help="Distinct centres at a time.")
@click.option("--draws", type=click.IntRange(1), multiple=True, default=(10, 60), show_default=True)
@click.option("--workers", type=click.IntRange(1), default=2, show_default=True)
@click.option("--repeats", type=click.IntRange(1), default=25, show_default=True)
@click.option("--out", metavar="FILE", help="Write every single run as JSON, too.")
def dense(vocab_size, dim, batch, draws, workers, repeats, out):
    """Rate of the full softmax and of exact Boltzmann draws beside the plain matrix product; prints Markdown.

    Only the operations of the products are counted: three for a whole step of the softmax, one for the draws.
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
