"""``python -m benchmarks long-log``: a made-up log of purchases, from file to lists."""

import click

from .common import keep, say


@click.command("long-log")
@click.option("--users", type=click.IntRange(100), default=1_000_000, show_default=True)
@click.option("--items", type=click.IntRange(1000), default=100_000, show_default=True)
@click.option("--pairs", type=click.IntRange(1000), default=20_000_000, show_default=True)
@click.option("--dim", type=click.IntRange(1), default=64, show_default=True)
@click.option("--workers", type=click.IntRange(1), default=2, show_default=True)
@click.option("--in", "folder", type=click.Path(exists=True, file_okay=False), help="Where log and models may lie.")
@click.option("--out", metavar="FILE", help="Write all steps as JSON, too.")
def long_log(users, items, pairs, dim, workers, folder, out):
    """Train top-n, slim and implicit's ALS on a made-up log, evaluate, and recommend to all; prints Markdown.

    All three as they come. The users' tastes are made up, too, and easier to find than those of people.
    """
    from .. import long_log as bench
    from ..long_text import as_json, table

    steps = []
    for step in bench.measure(users, items, pairs, dim, workers, folder):
        steps.append(step)
        say(table([step]).rsplit("\n", 1)[1])
        keep(out, as_json(steps))
    click.echo(table(steps))
