"""``benchmarks speed``, ``process`` and ``startup``: training alone, whole processes, start-up time."""

import json

import click

from .common import common, encode, keep, say


@click.command()
@click.option("--repeats", type=int, default=3, show_default=True, help="Rounds; every trainer runs once in each.")
@click.option("--window", type=int, default=5, show_default=True)
@click.option("--epochs", type=int, default=1, show_default=True)
@click.option("--without", multiple=True, metavar="NAME", help="Skip a trainer; repeatable.")
@common
def speed(repeats, window, epochs, without, **options):
    """Compare words and pairs per second with gensim and fastText, interleaved; prints Markdown.

    All train on the same kept tokens at alpha 0.05. Time is training only, but fastText's includes reading its file.
    """
    from .. import speed as s
    from ..contenders import CONTENDERS, installed, interleaved

    contenders = [CONTENDERS[name] for name in s.CONTENDERS if name not in without]
    contenders = installed(contenders, say)
    encoded = encode(options)
    common = {"dim": options["dim"], "window": window, "epochs": epochs, "workers": options["workers"]}
    timings = interleaved(contenders, encoded, common, repeats, tell=say)
    keep(options["out"], s.as_json(timings))
    click.echo(f"{s.machine()}\n{len(encoded):,} tokens, {len(encoded.vocab):,} words, {common}, {repeats} rounds\n")
    click.echo(s.speed_table(timings))


@click.command()
@click.argument("text", type=click.Path(exists=True, dir_okay=False))
@click.option("--repeats", type=int, default=3, show_default=True)
@click.option("--window", type=int, default=3, show_default=True)
@click.option("--epochs", type=int, default=3, show_default=True)
@click.option("--max-vocab", type=int, default=15000, show_default=True)
@click.option("--dim", type=int, default=100, show_default=True)
@click.option("--workers", type=int, default=2, show_default=True)
def process(text, repeats, **options):
    """Time whole processes against gensim: from the plain file TEXT to written vectors, only compiled code cached."""
    import statistics

    from .. import speed as s

    s.seconds_to_train(text, options | {"loss": "ns"})  # compiles everything in advance
    s.seconds_to_train(text, options | {"loss": "relaxed"})
    seconds = s.whole_processes(text, options, repeats, say)
    click.echo("| whole process | seconds, median (range) | share of gensim's |\n|---|---|---|")
    for name, own in seconds.items():
        share = statistics.median(a / b for a, b in zip(own, seconds["gensim"], strict=True))
        click.echo(f"| {name} | {statistics.median(own):.1f} ({min(own):.1f}–{max(own):.1f}) | {share:.2f} |")


@click.command()
@click.option("--repeats", type=click.IntRange(1), default=5, show_default=True)
@click.option("--loss", default="relaxed", show_default=True)
@common
def startup(repeats, loss, **options):
    """Time a fresh process until it trains and until its first round is done, data and compiled code cached."""
    from w2vneg.data.inputs import locate

    from .. import speed as s
    from ..contenders import spread

    encode(options)
    run = {"loss": loss} | {name: options[name] for name in ("max_vocab", "min_count", "dim", "workers")}
    place = locate(options["corpus"], options["mirror"])
    first = s.seconds_to_train(place, run)
    again = [s.seconds_to_train(place, run) for _ in range(repeats)]
    keep(options["out"], json.dumps({"first": first, "again": again}))
    click.echo("| seconds until | first process | then, median (range) |\n|---|---|---|")
    rows = zip(("training begins", "its first round is done"), first, zip(*again, strict=True), strict=True)
    for name, before, after in rows:
        if before is not None:
            click.echo(f"| {name} | {before:.2f} | {spread(after, '.2f')} |")
