"""``python -m benchmarks regress``: speed of this tree against a commit."""

import tempfile
from pathlib import Path

import click

from .common import say


@click.command()
@click.argument("commit")
@click.option("--corpus", default="enwiki2015-head", show_default=True, metavar="PATH|NAME")
@click.option("--mirror", metavar="DIR|URL", help="Location of named data; W2VNEG_MIRROR too.")
@click.option("--only", "runs", multiple=True, metavar="RUN", help="Time only this run; repeatable.")
@click.option("--rounds", type=click.IntRange(1), default=7, show_default=True)
@click.option("--epochs", type=click.IntRange(1), default=3, show_default=True)
@click.option("--workers", type=click.IntRange(1), default=2, show_default=True)
@click.option("--limit", type=click.FloatRange(0), default=0.02, show_default=True, help="Slowdown that fails.")
def regress(commit, corpus, mirror, runs, rounds, epochs, workers, limit):
    """Time whole processes of this tree and of COMMIT in turn; exit code 1 if this tree is slower.

    Prints Markdown. A run is slower if the median ratio of its wall or CPU seconds exceeds the limit and over 75 % of
    its rounds were slower.
    """
    from w2vneg.data.inputs import locate
    from w2vneg.ground.errors import UnknownNameError, did_you_mean

    from .. import regress as r
    from ..speed import machine

    for name in runs:
        if name not in r.RUNS:
            raise UnknownNameError(f"unknown run {name!r}{did_you_mean(name, r.RUNS, shown=len(r.RUNS))}")
    text = locate(corpus, mirror)
    options = ("--epochs", str(epochs), "--workers", str(workers), "--subsample", "1e-4")
    with tempfile.TemporaryDirectory() as folder:
        r.unpack_commit(commit, folder)
        trees = Path(__file__).resolve().parents[2], Path(folder)
        timings = r.measure(trees, Path(text).resolve(), runs or tuple(r.RUNS), options, rounds, say)
    click.echo(f"{machine()}\n{corpus}, {epochs} epochs, {workers} workers, {rounds} rounds, beside {commit}\n")
    click.echo(r.table(timings))
    found = r.slower(timings, limit)
    if found:
        click.echo(f"\nSlower: {', '.join(found)}")
        raise SystemExit(1)
