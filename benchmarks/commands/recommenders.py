"""``python -m benchmarks recommenders``: items for users, compared with implicit."""

import click

from .common import keep, say

DATA = ("ml-1m", "belgian-retail", "ml-100k", "online-retail")
TIMED = ("ml-100k", "online-retail")
SYNTHETIC, LARGE = "synthetic", ("popularity", "top-n", "slim", "als-plain", "als-15")


@click.command()
@click.option("--data", type=click.Choice((*DATA, SYNTHETIC)), multiple=True, help="[default: all real ones]")
@click.option("--users", type=click.IntRange(100), default=1_000_000, show_default=True, help="For --data synthetic.")
@click.option("--items", type=click.IntRange(100), default=100_000, show_default=True, help="For --data synthetic.")
@click.option(
    "--protocol",
    type=click.Choice(["weak", "time", "strong"]),
    default="weak",
    show_default=True,
    help="Hold out some of each user's items, the latest rows, or users.",
)
@click.option("--only", "names", multiple=True, metavar="NAME", help="Run only this method; repeatable.")
@click.option("--seeds", type=click.IntRange(1), default=3, show_default=True, help="Trainings of each winner.")
@click.option(
    "--choose", is_flag=True, help="Choose options by validation, into benchmarks/recommenders.json, and exit."
)
@click.option("--out", metavar="FILE", help="Also write all rows as JSON.")
def recommenders(data, users, items, protocol, names, seeds, choose, out):
    """Recommend items to users, compared with implicit and EASE; prints Markdown.

    Options come from --choose, which uses validation data and resumes from its file. --data synthetic measures time and
    memory: its options are first guesses.
    """
    from w2vneg.ground.errors import ConfigError
    from w2vneg.ground.files.atomic import check_writable
    from w2vneg.ground.files.bounded import read_json

    from .. import recommenders as b
    from ..recommenders_methods import METHODS, fitting
    from ..recommenders_tasks import load

    if out:
        check_writable(out)
    synthetic = data == (SYNTHETIC,)
    if SYNTHETIC in data and (choose or not synthetic):
        raise click.UsageError("--data synthetic takes no other --data and no --choose; run it alone")
    named, names = bool(names), names or (LARGE if synthetic else list(METHODS))
    unknown = [name for name in names if name not in METHODS]
    if unknown:
        raise click.UsageError(f"no method {unknown[0]!r}; known: {', '.join(METHODS)}")
    tasks = [load(name, protocol, (users, items)) for name in data or (TIMED if protocol == "time" else DATA)]
    for task in tasks:
        say(task.line())
    if choose:
        for task in tasks:
            b.choose([task], fitting(task, names), tell=say)
        return
    found = read_json(b.CHOICES)
    runs, rivals = [], {}
    for task in tasks:
        chosen = {name: _setting(found, task, name, METHODS) for name in fitting(task, names)}
        missing = [name for name, setting in chosen.items() if setting is None]
        if missing and named:
            raise ConfigError(f"no options were chosen for {missing[0]} on {task.name}; run this with --choose first")
        if missing:
            say(f"{task.name}: skipped, because --choose has not been run for them: {', '.join(missing)}")
            chosen = {name: setting for name, setting in chosen.items() if setting is not None}
        rivals[task.name] = b.best_rival(task, chosen, found["trials"])
        runs += b.measure(task, chosen, seeds, say)
    rows = b.rows_of(runs, rivals)
    keep(out, b.as_json(rows))
    click.echo(f"{b.machine()}\n" + "\n".join(task.line() for task in tasks) + "\n")
    click.echo(b.table(rows))


def _setting(found, task, name, methods):
    """Return the chosen setting, or the guess of a method without choices; None if not chosen yet."""
    if not methods[name].ratios or task.name.startswith(SYNTHETIC):
        return methods[name].guess
    return found["chosen"].get(task.name, {}).get(name)
