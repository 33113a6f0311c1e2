"""``python -m benchmarks items`` and ``items-speed``: models of items compared with common alternatives."""

import dataclasses
import json

import click

from .common import keep, say

DATA = ("belgian", "uk", "ml-100k", "ml-1m")


@click.command()
@click.option("--data", type=click.Choice(DATA), required=True, help="Data set of baskets or histories.")
@click.option("--metric", default="prec@15", show_default=True, help="Criterion of choices; see w2vneg tune.")
@click.option("--seeds", type=click.IntRange(1), default=3, show_default=True, help="Rounds of training the winners.")
@click.option("--only", "names", multiple=True, metavar="NAME", help="Run only this contender; repeatable.")
@click.option("--split-seed", type=click.IntRange(0), default=1, show_default=True, help="Which users are held out.")
@click.option(
    "--pairs",
    type=click.IntRange(1),
    default=100_000_000,
    show_default=True,
    help="Pairs per training, for trainers on pairs.",
)
@click.option("--dim", type=click.IntRange(1), default=100, show_default=True)
@click.option("--most", type=click.IntRange(1), help="Try only this many settings of each contender, the first.")
@click.option("--quick", is_flag=True, help="Two settings each, tiny models: to check that it runs, not its quality.")
@click.option("--out", metavar="FILE", required=True, help="All trials and runs as JSON; an existing file is resumed.")
def items(data, metric, seeds, names, split_seed, pairs, dim, most, quick, out):
    """Compare next-item ranking with implicit, item2vec and plain counts; prints Markdown.

    Users are split 70 : 10 : 20. Every contender's settings, and the way its scores are read, are chosen on the
    validation users; the winners are trained again, interleaved, and reported on the test users.
    """
    from studies.item_tasks import load_task
    from w2vneg.ground.files.atomic import check_writable

    from .. import items as b
    from ..item_rivals import Effort
    from ..speed import machine

    contenders, metric = b.find_contenders(names), b.find_metric(metric)
    effort = b.QUICK if quick else Effort(pairs, dim)
    check_writable(out)
    what = {"data": data, "split_seed": split_seed, "metric": metric.name, "effort": dataclasses.asdict(effort)}
    record = b.Record.at(out, what)
    parts = b.Parts.of(load_task(data, "user", split_seed))
    say(parts.line())
    held = b.sampled(parts.valid)
    b.tune(contenders, parts.histories, held, metric, effort, record, most=2 if quick else most, tell=say)
    b.report(contenders, parts, metric, effort, seeds, record, tell=say)
    click.echo(f"{machine()}\n{data}: {parts.line()}\n{effort}")
    click.echo(f"Chosen by {metric.name} on {len(held):,} pairs; figures in per cent, mean and range over seeds.\n")
    click.echo(b.table([run for run in record.runs if run.contender in contenders and run.seed <= seeds]))
    click.echo(f"\n{b.choices_table(record, contenders, metric)}")


@click.command("items-speed")
@click.option("--data", type=click.Choice(DATA), default="ml-1m", show_default=True)
@click.option("--repeats", type=click.IntRange(1), default=3, show_default=True)
@click.option("--dim", type=click.IntRange(1), default=100, show_default=True)
@click.option("--out", metavar="FILE", help="Also write every single run as JSON.")
def items_speed(data, repeats, dim, out):
    """Compare training pairs per second on items with gensim's item2vec and implicit's BPR; prints Markdown.

    A pair is one positive with its negatives; BPR's has a user as its centre, and one negative.
    """
    from studies.item_tasks import load_task
    from w2vneg.ground.files.atomic import check_writable

    from .. import items as b
    from .. import items_speed as s
    from ..speed import machine

    if out:
        check_writable(out)
    parts = b.Parts.of(load_task(data))
    timings = s.measure(parts.histories, dim, repeats, tell=say)
    keep(out, json.dumps({"machine": machine(), "timings": [dataclasses.asdict(t) for t in timings]}, indent=1))
    click.echo(f"{machine()}\n{data}: {parts.line()}; dim {dim}, {repeats} rounds\n")
    click.echo(s.table(timings))
