"""``python -m benchmarks workers``: quality with more workers than there are cores."""

import tempfile
from pathlib import Path

import click

from .common import encode, keep, say, without_workers


@click.command()
@click.option(
    "--objective", "objectives", multiple=True, default=("ns", "relaxed"), show_default=True, help="Repeatable."
)
@click.option(
    "--workers", "counts", type=click.IntRange(1, 1024), multiple=True, default=(1, 2, 4, 8, 16, 32), show_default=True
)
@click.option("--seed", "seeds", type=click.IntRange(0), multiple=True, default=(1, 2, 3), show_default=True)
@click.option("--window", type=click.IntRange(1), default=5, show_default=True)
@click.option("--epochs", type=click.IntRange(1), default=3, show_default=True)
@without_workers
def workers(objectives, counts, seeds, window, epochs, **options):
    """Score 1 to 32 workers on development data, time-sliced on the available cores; prints Markdown.

    ns-shared and relaxed-shared are the objectives with shared negatives. This tests how private rows are merged, not
    speed: each thread runs the shares of several workers one after another.
    """
    from .. import many_workers as m
    from .. import quality as q
    from ..speed import machine

    objectives, counts, seeds = (tuple(dict.fromkeys(given)) for given in (objectives, counts, seeds))
    m.check(objectives, counts)
    shared = {"dim": options["dim"], "window": window, "epochs": epochs}
    evaluator = q.Evaluator(encode(options), shared, "dev", options["mirror"])
    with tempfile.TemporaryDirectory() as folder:
        runs = m.measure(
            evaluator, objectives, counts, seeds, Path(folder), say, lambda r: keep(options["out"], m.as_json(r))
        )
    click.echo(f"{machine()}\n{len(evaluator.corpus):,} tokens, {len(evaluator.corpus.vocab):,} words, {shared}\n")
    click.echo(m.table(runs))
