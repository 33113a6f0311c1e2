"""``python -m benchmarks time-to-quality``: seconds until each trainer is as good as gensim."""

import tempfile
from pathlib import Path

import click

from w2vneg.ground.errors import ConfigError

from .common import common, encode, keep, say
from .quality import pinned


def _budget(text):
    """Return (objective or None, epochs) from ``OBJECTIVE=EPOCHS`` or ``EPOCHS``."""
    name, _, epochs = text.rpartition("=")
    if not epochs.isdecimal() or int(epochs) == 0:
        raise ConfigError(f"--budget takes EPOCHS or OBJECTIVE=EPOCHS, such as 3 or ns=3, not {text!r}")
    return name or None, int(epochs)


@click.command("time-to-quality")
@click.option("--objective", "objectives", multiple=True, help="As for benchmarks quality, instead of the usual six.")
@click.option("--gensim-alpha", type=click.FloatRange(0, min_open=True), default=0.05, show_default=True)
@click.option("--at", "at", multiple=True, metavar="OBJECTIVE=ALPHA", help="A trainer at another alpha; repeatable.")
@click.option(
    "--budget",
    "budgets",
    multiple=True,
    metavar="[OBJECTIVE=]EPOCHS",
    default=("1", "2", "3", "5"),
    show_default=True,
    help="Epochs to try for all trainers, or for one instead; repeatable.",
)
@click.option("--target-epochs", type=click.IntRange(1), default=5, show_default=True, help="gensim's target epochs.")
@click.option(
    "--tolerance", type=click.FloatRange(0), default=0.005, show_default=True, help="Allowed shortfall of a score."
)
@click.option("--seed", "seeds", type=click.IntRange(0), multiple=True, default=(1,), show_default=True)
@click.option("--part", type=click.Choice(["dev", "test"]), default="dev", show_default=True)
@click.option("--window", type=click.IntRange(1), default=5, show_default=True)
@click.option("--plot", metavar="FILE", help="Draw quality against seconds (PNG); needs the extra 'plot'.")
@common
def time_to_quality(
    objectives, gensim_alpha, at, budgets, target_epochs, tolerance, seeds, part, window, plot, **options
):
    """Measure seconds of training until analogies and MEN are as good as gensim's after 5 epochs; prints Markdown.

    Each budget of epochs is a separate run, whose learning rate falls to its end. Target and scores are both from the
    development part, or both from the test part.
    """
    from w2vneg.ground.errors import require
    from w2vneg.ground.files.atomic import atomic_file, check_writable

    from .. import quality as q
    from .. import time_to_quality as t
    from ..rivals import require_rival
    from ..speed import machine

    alphas = {"gensim": gensim_alpha} | dict(pinned(text) for text in at)
    plan = t.Plan.checked(objectives, alphas, [_budget(text) for text in budgets], target_epochs, seeds)
    for name in q.RIVALS:
        if name in plan.contenders:
            require_rival(name)
    if plot:
        check_writable(plot)
        require("matplotlib.figure", "plot", "a figure")
    shared = {"dim": options["dim"], "window": window, "workers": options["workers"]}
    evaluator = q.Evaluator(encode(options), shared, part, options["mirror"])
    with tempfile.TemporaryDirectory() as folder:
        runs = t.measure(
            evaluator, plan, Path(folder), say, lambda r: keep(options["out"], t.as_json(r, plan, part, tolerance))
        )
    points = t.points_of(runs, part)
    click.echo(
        f"{machine()}\n{len(evaluator.corpus):,} tokens, {len(evaluator.corpus.vocab):,} words, {shared}, {part} part\n"
    )
    click.echo(f"{t.table(points)}\n")
    click.echo(t.reached_table(t.reached(points, target_epochs, tolerance), target_epochs))
    if plot:
        from w2vneg.look.figures.still import as_bytes, drawn

        with atomic_file(plot) as stream:
            stream.write(as_bytes(drawn(t.picture(points, target_epochs))))
