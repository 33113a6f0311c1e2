"""``python -m benchmarks graphs``: node vectors compared with PecanPy and node2vec."""

import csv
import io
import warnings

import click

from .common import keep, say

DATA = ("blocks", "imports", "films")


@click.command()
@click.option("--data", type=click.Choice(DATA), multiple=True, help="[default: all]")
@click.option("--only", "names", multiple=True, metavar="NAME", help="Run only this contender; repeatable.")
@click.option("--seeds", type=click.IntRange(1), default=3, show_default=True, help="Trainings of each contender.")
@click.option("--threads", type=click.IntRange(1), default=2, show_default=True)
@click.option("--seconds", is_flag=True, help="Also print the least seconds of training; use an idle machine.")
@click.option("--out", metavar="FILE", help="Also write the table as CSV.")
def graphs(data, names, seeds, threads, seconds, out):
    """Predict held-out links and labels of nodes, compared with PecanPy and node2vec; prints Markdown.

    Contenders that are not installed are skipped with a note.
    """
    from w2vneg.ground.errors import MissingExtraError
    from w2vneg.ground.files.atomic import check_writable
    from w2vneg.run.search.trials import as_markdown

    from .. import graphs as b
    from ..speed import machine

    if out:
        check_writable(out)
    unknown = [name for name in names if name not in b.CONTENDERS]
    if unknown:
        raise click.UsageError(f"no contender {unknown[0]!r}; known: {', '.join(b.CONTENDERS)}")
    here = []
    for name in names or b.CONTENDERS:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                b.CONTENDERS[name]([("a", "b", 1.0), ("b", "c", 1.0)], 1, threads)  # compiled, too
            here.append(name)
        except MissingExtraError as error:
            say(f"{name} is left out: {error}")
    runs, lines = [], []
    for name in data or DATA:
        graph = b.GRAPHS[name]()
        lines.append(graph.line())
        runs += b.measure(graph, here, seeds, threads, say)
    rows = b.rows_of(runs, seconds)
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(rows)
    keep(out, stream.getvalue().rstrip("\n"))
    click.echo(f"{machine()}\n" + "\n".join(lines) + f"\n\n{as_markdown(rows)}")
