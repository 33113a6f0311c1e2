"""``python -m benchmarks recommenders``: items for users, beside implicit."""

import click

from .common import keep, say

DATA = ("ml-1m", "belgian-retail", "ml-100k", "online-retail")


@click.command()
@click.option("--data", type=click.Choice(DATA), multiple=True, help="All if left out.")
@click.option("--only", "names", multiple=True, metavar="NAME", help="Methods that take part; repeatable.")
@click.option("--seeds", type=click.IntRange(1), default=3, show_default=True, help="Rounds of the winners.")
@click.option(
    "--choose", is_flag=True, help="Choose options by validation, into benchmarks/recommenders.json, and end."
)
@click.option("--out", metavar="FILE", help="Write every single run as JSON, too.")
def recommenders(data, names, seeds, choose, out):
    """Recommend items to users, beside implicit's ALS and BPR; prints Markdown.

    Options are those that --choose has found on validation data; it goes on with what is there.
    """
    from w2vneg.ground.files.atomic import check_writable
    from w2vneg.ground.files.bounded import read_json

    from .. import recommenders as b

    if out:
        check_writable(out)
    names = names or list(b.METHODS)
    unknown = [name for name in names if name not in b.METHODS]
    if unknown:
        raise click.UsageError(f"no method {unknown[0]!r}; known: {', '.join(b.METHODS)}")
    tasks = [b.load(name) for name in data or DATA]
    for task in tasks:
        say(task.line())
    if choose:
        for task in tasks:
            b.choose([task], b.fitting(task, names), tell=say)
        return
    chosen = read_json(b.CHOICES)["chosen"]
    runs = []
    for task in tasks:
        runs += b.measure(task, {name: chosen[task.name][name] for name in b.fitting(task, names)}, seeds, say)
    keep(out, b.as_json(runs))
    click.echo(f"{b.machine()}\n" + "\n".join(task.line() for task in tasks) + "\n")
    click.echo(b.table(runs, {task.name: b.popularity(task) for task in tasks}))
