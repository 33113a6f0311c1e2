"""``python -m benchmarks quality``: scores of objectives, on development or test data."""

import dataclasses
import json
import tempfile
from pathlib import Path

import click

from w2vneg.cli.options import parse_toml
from w2vneg.ground.errors import ConfigError

from .common import common, encode, keep


def pinned(text):
    """Read ``objective=alpha``."""
    name, _, alpha = text.partition("=")
    try:
        return name, float(alpha)
    except ValueError:
        raise ConfigError(f"--at takes OBJECTIVE=ALPHA, such as ns=0.05, not {text!r}") from None


@click.command()
@click.option(
    "--objective",
    "objectives",
    multiple=True,
    help="A preset or a name of benchmarks/quality.py; gensim and fasttext too. Repeatable.",
)
@click.option("--alpha", "alphas", type=float, multiple=True, help="Learning rates to try; repeatable.")
@click.option("--at", "places", multiple=True, metavar="OBJECTIVE=ALPHA", help="An objective at its own alpha.")
@click.option("--option", "overrides", multiple=True, metavar="NAME=VALUE", help="An option for all runs, as TOML.")
@click.option("--seed", "seeds", type=int, multiple=True, default=(1,), show_default=True)
@click.option(
    "--readout", "readouts", multiple=True, default=("in",), show_default=True, help="Read-out to score; repeatable."
)
@click.option("--part", type=click.Choice(["dev", "test"]), default="dev", show_default=True)
@click.option(
    "--correlation",
    type=click.Choice(["spearman", "pearson"]),
    default="spearman",
    show_default=True,
    help="Correlation in the table; the JSON has both.",
)
@click.option("--window", type=int, default=3, show_default=True)
@click.option("--epochs", type=int, help="[default: 3; best: 6]")
@common
def quality(objectives, alphas, places, overrides, seeds, readouts, part, correlation, window, epochs, **options):
    """Train objectives and score them on development or test data; prints Markdown.

    Development data (MEN's dev part, the dev half of the Google analogies, likelihood of the last 1 % of the corpus)
    are for choices; test data for reporting the chosen runs.
    """
    from .. import quality as q

    wanted = [(name, alpha) for name in objectives for alpha in (alphas or (None,))] + [
        pinned(place) for place in places
    ]
    if not wanted:
        raise ConfigError("name objectives with --objective or --at: gensim, or one that 'w2vneg objectives' lists")
    for name, _ in wanted:
        q.check_objective(name)
    common = {"dim": options["dim"], "window": window, "workers": options["workers"]}
    common |= {} if epochs is None else {"epochs": epochs}
    common |= parse_toml("\n".join(overrides), "--option")
    evaluator = q.Evaluator(encode(options), common, part, options["mirror"])
    runs = []
    with tempfile.TemporaryDirectory() as folder:
        for seed in seeds:
            for name, alpha in wanted:
                runs += evaluator.measure_all(name, alpha, seed, Path(folder), readouts)
                click.echo(f"{name} alpha {runs[-1].alpha:g} seed {seed}: {runs[-1].seconds:.1f} s", err=True)
                keep(options["out"], json.dumps([dataclasses.asdict(run) for run in runs], indent=1))
    click.echo(q.table(runs, q.DEV if part == "dev" else q.TEST[correlation]))
