"""``python -m benchmarks exchange``: the time of an exchange between ranks, and its predicted cost on a cluster."""

import click

from .common import keep, say


@click.command()
@click.option("--vocabulary", "n_vocab", type=click.IntRange(100), default=70_419, show_default=True, help="Rows.")
@click.option("--dim", type=click.IntRange(1), default=100, show_default=True)
@click.option("--ranks", type=click.IntRange(2), default=2, show_default=True, help="On this machine.")
@click.option("--workers", type=click.IntRange(1), default=1, show_default=True, help="Per rank.")
@click.option("--repeats", type=click.IntRange(1), default=5, show_default=True)
@click.option("--visits", type=float, default=5e10, show_default=True, help="Tokens of the predicted run, all epochs.")
@click.option(
    "--node-rate", type=float, default=30e6, show_default=True, help="Tokens per second of a predicted machine."
)
@click.option("--out", metavar="FILE", help="Also write the measurements as JSON.")
def exchange(n_vocab, dim, ranks, workers, repeats, visits, node_rate, out):
    """Exchange all rows between ranks on this machine, in float16; predict 2 to 64 machines from it. Prints Markdown.

    The prediction is a cost model, not a measurement: bytes over the link, plus this machine's time per number.
    """
    from .. import exchange as e
    from ..speed import machine

    parts = e.measure(n_vocab, dim, ranks, workers, repeats, say)
    keep(out, e.as_json(parts))
    click.echo(f"{machine()}\n\n{e.measured_table(parts)}\n")
    click.echo(f"Predicted share of time spent in training: {visits:.0e} tokens, 500 exchanges, by machines\n")
    shapes = [(rows, length) for rows in (n_vocab, 1_000_000, 10_000_000) for length in (100, 300)]
    click.echo(e.predicted_table(parts, shapes, visits, node_rate))
