"""``python -m benchmarks long-text``: a synthetic text by Zipf's law, from file to vectors."""

import click

from .common import keep, say


@click.command("long-text")
@click.option("--tokens", type=click.IntRange(1000), default=1_000_000_000, show_default=True)
@click.option("--types", type=click.IntRange(100), default=1_000_000, show_default=True)
@click.option("--dim", type=click.IntRange(1), default=300, show_default=True)
@click.option("--workers", type=click.IntRange(1), default=2, show_default=True)
@click.option("--loss", default="ns", show_default=True)
@click.option("--epochs", type=click.IntRange(1), default=1, show_default=True)
@click.option("--in", "folder", type=click.Path(exists=True, file_okay=False), help="Folder for text and model.")
@click.option("--out", metavar="FILE", help="Also write all steps as JSON.")
def long_text(tokens, types, dim, workers, loss, epochs, folder, out):
    """Train on a long synthetic text by Zipf's law, read out, export, search; prints Markdown.

    A billion tokens take 9 GB of disk, and as much again for the model and its vectors. Synthetic words share more
    stems and endings than those of a language, so the read-out with paradigms takes longer than on real text.
    """
    from .. import long_text as bench

    steps, options = [], ("--share-negatives", "--subsample", "1e-4")
    for step in bench.measure(tokens, types, dim, workers, loss, options, epochs, folder):
        steps.append(step)
        say(bench.table([step]).rsplit("\n", 1)[1])
        keep(out, bench.as_json(steps))
    click.echo(bench.table(steps))
