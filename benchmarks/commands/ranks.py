"""``python -m benchmarks ranks``: quality with several ranks that exchange periodically."""

import tempfile
from pathlib import Path

import click

from w2vneg.cli.options import parse_toml

from .common import common, encode, keep, say


@click.command()
@click.option(
    "--objective", "objectives", multiple=True, default=("ns", "relaxed"), show_default=True, help="Repeatable."
)
@click.option(
    "--ranks", "counts", type=click.IntRange(1, 1024), multiple=True, default=(1, 2, 4, 8, 16, 32), show_default=True
)
@click.option(
    "--exchanges",
    "often",
    type=click.IntRange(1),
    multiple=True,
    default=(30, 60, 120, 250, 600),
    show_default=True,
    help="Exchanges per run; repeatable.",
)
@click.option("--seed", "seeds", type=click.IntRange(0), multiple=True, default=(1, 2, 3), show_default=True)
@click.option("--readout", "readouts", multiple=True, default=("in",), show_default=True, help="Repeatable.")
@click.option("--part", type=click.Choice(["dev", "test"]), default="dev", show_default=True)
@click.option("--option", "overrides", multiple=True, metavar="NAME=VALUE", help="An option of the ranks, as TOML.")
@click.option("--tokens", type=click.IntRange(1000), help="Use only this many tokens, the first.  [default: all]")
@click.option("--window", type=click.IntRange(1), default=3, show_default=True)
@click.option("--epochs", type=click.IntRange(1), default=3, show_default=True)
@common
def ranks(objectives, counts, often, seeds, readouts, part, overrides, tokens, window, epochs, **options):
    """Score 1 to 32 ranks by number of exchanges, all in turn on this machine; prints Markdown.

    Each rank has --workers workers. Choices are made on development data.
    """
    from .. import quality as q
    from .. import ranks as r
    from ..contenders import head
    from ..speed import machine

    objectives, counts, often, seeds = (tuple(dict.fromkeys(given)) for given in (objectives, counts, often, seeds))
    r.check(objectives)
    shared = {"dim": options["dim"], "window": window, "epochs": epochs, "workers": options["workers"]}
    corpus = encode(options)
    evaluator = q.Evaluator(corpus if tokens is None else head(corpus, tokens), shared, part, options["mirror"])
    n_tokens = len(evaluator.corpus)
    grid = r.settings(n_tokens, epochs, counts, often, parse_toml("\n".join(overrides), "--option"))
    with tempfile.TemporaryDirectory() as folder:
        runs = r.measure(
            evaluator,
            objectives,
            grid,
            seeds,
            readouts,
            Path(folder),
            say,
            lambda runs: keep(options["out"], r.as_json(runs)),
        )
    click.echo(f"{machine()}\n{n_tokens:,} tokens, {len(evaluator.corpus.vocab):,} words, {shared}\n")
    click.echo(r.table(runs, n_tokens, epochs, part))
