"""``w2vneg bench``: the measurements that README and docs quote."""

import dataclasses
import json
import tempfile
from pathlib import Path

import click

from ..errors import ConfigError
from .bench_items import items, items_speed
from .options import parse_toml

_COMMON = [
    click.option("--corpus", default="enwiki2015-head", show_default=True, metavar="PATH|NAME"),
    click.option("--max-vocab", type=int, help="Keep the most frequent words only."),
    click.option("--min-count", type=int, default=5, show_default=True),
    click.option("--dim", type=int, default=100, show_default=True),
    click.option("--workers", type=int, default=2, show_default=True),
    click.option("--mirror", metavar="DIR|URL", help="Where named data are kept; W2VNEG_MIRROR too."),
    click.option("--out", metavar="FILE", help="Write every single run as JSON, too."),
]


def _common(command):
    for one in reversed(_COMMON):
        command = one(command)
    return command


@click.group(short_help="Measure speed and quality beside other trainers.")
def bench():
    """Measure speed and quality; every figure in README and docs names one of these commands."""


bench.add_command(items)
bench.add_command(items_speed)


def _encode(options):
    from ..atomic import check_writable
    from ..word2vec import Word2Vec

    if options["out"]:
        check_writable(options["out"])
    word2vec = Word2Vec(min_count=options["min_count"], max_vocab=options["max_vocab"])
    return word2vec.encode(options["corpus"], mirror=options["mirror"])


def _keep(out, text):
    from ..atomic import atomic_file

    if out:
        with atomic_file(out, "w", encoding="utf-8") as stream:
            stream.write(text + "\n")


def _pinned(text):
    """Read ``objective=alpha``."""
    name, _, alpha = text.partition("=")
    try:
        return name, float(alpha)
    except ValueError:
        raise ConfigError(f"--at takes OBJECTIVE=ALPHA, such as ns=0.05, not {text!r}") from None


@bench.command()
@click.option(
    "--objective",
    "objectives",
    multiple=True,
    help="A preset or a name of w2vneg/bench/quality.py; gensim too. Repeatable.",
)
@click.option("--alpha", "alphas", type=float, multiple=True, help="Learning rates to try; repeatable.")
@click.option("--at", "pinned", multiple=True, metavar="OBJECTIVE=ALPHA", help="An objective at its own alpha.")
@click.option("--option", "overrides", multiple=True, metavar="NAME=VALUE", help="An option for all runs, as in TOML.")
@click.option("--seed", "seeds", type=int, multiple=True, default=(1,), show_default=True)
@click.option("--part", type=click.Choice(["dev", "test"]), default="dev", show_default=True)
@click.option(
    "--correlation",
    type=click.Choice(["spearman", "pearson"]),
    default="spearman",
    show_default=True,
    help="Which of the two the table shows; the JSON has both.",
)
@click.option("--window", type=int, default=3, show_default=True)
@click.option("--epochs", type=int, default=3, show_default=True)
@_common
def quality(objectives, alphas, pinned, overrides, seeds, part, correlation, window, epochs, **options):
    """Train objectives and score them on development or test data; prints Markdown.

    Development data (MEN's dev part, the dev half of the Google analogies, likelihood of the last 1 % of the corpus)
    are for choosing; test data for reporting what was chosen.
    """
    from ..bench import quality as q

    wanted = [(name, alpha) for name in objectives for alpha in (alphas or (None,))] + [_pinned(pin) for pin in pinned]
    if not wanted:
        raise ConfigError("name objectives with --objective or --at: gensim, or what 'w2vneg objectives' lists")
    for name, _ in wanted:
        if name != "gensim":
            q.objective_options(name)
    common = {"dim": options["dim"], "window": window, "epochs": epochs, "workers": options["workers"]}
    common |= parse_toml("\n".join(overrides), "--option")
    judge = q.Judge(_encode(options), common, part, options["mirror"])
    runs = []
    with tempfile.TemporaryDirectory() as folder:
        for seed in seeds:
            for name, alpha in wanted:
                runs.append(judge.measure(name, alpha, seed, Path(folder)))
                click.echo(f"{name} alpha {runs[-1].alpha:g} seed {seed}: {runs[-1].seconds:.1f} s", err=True)
                _keep(options["out"], json.dumps([dataclasses.asdict(run) for run in runs], indent=1))
    click.echo(q.table(runs, q.DEV if part == "dev" else q.TEST[correlation]))


@bench.command()
@click.option("--repeats", type=int, default=3, show_default=True, help="Rounds; every trainer runs once in each.")
@click.option("--window", type=int, default=5, show_default=True)
@click.option("--epochs", type=int, default=1, show_default=True)
@click.option("--without", multiple=True, metavar="NAME", help="Leave a trainer out; repeatable.")
@_common
def speed(repeats, window, epochs, without, **options):
    """Words and pairs per second beside gensim and fastText, interleaved; prints Markdown.

    All train on the same kept tokens at alpha 0.05. Time is training alone; fastText reads its file within it.
    """
    from ..bench import speed as s

    encoded = _encode(options)
    common = {"dim": options["dim"], "window": window, "epochs": epochs, "workers": options["workers"]}
    names = [name for name in s.CONTENDERS if name not in without]
    timings = s.interleaved(encoded, common, repeats, names, lambda text: click.echo(text, err=True))
    _keep(options["out"], s.as_json(timings))
    click.echo(f"{s.machine()}\n{len(encoded):,} tokens, {len(encoded.vocab):,} words, {common}, {repeats} rounds\n")
    click.echo(s.speed_table(timings))


@bench.command()
@click.argument("text", type=click.Path(exists=True, dir_okay=False))
@click.option("--repeats", type=int, default=3, show_default=True)
@click.option("--window", type=int, default=3, show_default=True)
@click.option("--epochs", type=int, default=3, show_default=True)
@click.option("--max-vocab", type=int, default=15000, show_default=True)
@click.option("--dim", type=int, default=100, show_default=True)
@click.option("--workers", type=int, default=2, show_default=True)
def process(text, repeats, **options):
    """Whole processes beside gensim: from the plain file TEXT to written vectors, nothing but compiled code cached."""
    import statistics

    from ..bench import speed as s

    s.seconds_to_first_round(text, options | {"loss": "ns"})  # compiles what a first run ever would
    s.seconds_to_first_round(text, options | {"loss": "relaxed"})
    seconds = s.whole_processes(text, options, repeats, lambda line: click.echo(line, err=True))
    click.echo("| whole process | seconds, median (range) | share of gensim's |\n|---|---|---|")
    for name, own in seconds.items():
        share = statistics.median(a / b for a, b in zip(own, seconds["gensim"], strict=True))
        click.echo(f"| {name} | {statistics.median(own):.1f} ({min(own):.1f}–{max(own):.1f}) | {share:.2f} |")


@bench.command()
@click.option("--repeats", type=int, default=5, show_default=True)
@click.option("--loss", default="relaxed", show_default=True)
@_common
def startup(repeats, loss, **options):
    """Seconds of a fresh process until its first round is trained, with corpus and compiled code in their caches."""
    import statistics

    from ..bench import speed as s
    from ..inputs import locate

    _encode(options)
    run = {"loss": loss} | {name: options[name] for name in ("max_vocab", "min_count", "dim", "workers")}
    place = locate(options["corpus"], options["mirror"])
    first = s.seconds_to_first_round(place, run)
    again = [s.seconds_to_first_round(place, run) for _ in range(repeats)]
    _keep(options["out"], json.dumps({"first": first, "again": again}))
    click.echo(
        f"first process {first:.2f} s; then median {statistics.median(again):.2f} s "
        f"({min(again):.2f}–{max(again):.2f}) over {repeats}"
    )


@bench.command()
@click.option("--vocab-size", type=click.IntRange(2), default=15000, show_default=True)
@click.option("--dim", type=click.IntRange(1), default=100, show_default=True)
@click.option("--batch", type=click.IntRange(1), default=256, show_default=True, help="Distinct centres at a time.")
@click.option("--draws", type=click.IntRange(1), multiple=True, default=(10, 60), show_default=True)
@click.option("--workers", type=click.IntRange(1), default=2, show_default=True)
@click.option("--repeats", type=click.IntRange(1), default=25, show_default=True)
@click.option("--out", metavar="FILE", help="Write every single run as JSON, too.")
def dense(vocab_size, dim, batch, draws, workers, repeats, out):
    """Rate of the full softmax and of exact Boltzmann draws beside the plain matrix product; prints Markdown.

    Only the operations of the products are counted: three for a whole step of the softmax, one for the draws.
    """
    from ..atomic import check_writable
    from ..bench import dense as d
    from ..bench.speed import machine

    if out:
        check_writable(out)
    timings = d.measure(vocab_size, dim, batch, draws, workers, repeats)
    _keep(out, d.as_json(timings))
    click.echo(f"{machine()}\n{vocab_size:,} words, dim {dim}, {batch} centres, {workers} workers, {repeats} rounds\n")
    click.echo(d.table(timings))


@bench.command()
@click.option("--corpus", default="enwiki2015-head", show_default=True, metavar="PATH|NAME")
@click.option("--long", is_flag=True, help="Whole sizes: 100 MB of text, a million vectors. Some ten minutes.")
@click.option("--repeats", type=click.IntRange(1), default=3, show_default=True)
@click.option("--mirror", metavar="DIR|URL", help="Where named data are kept; W2VNEG_MIRROR too.")
@click.option("--out", metavar="FILE", help="Write every single run as JSON, too.")
def io(corpus, long, repeats, mirror, out):
    """Reading text, writing and reading vectors beside gensim, judging, starting; interleaved. Prints Markdown.

    The short form takes about two minutes: 20 MB of text, 20,000 vectors, 200,000 words to search.
    """
    from ..atomic import check_writable
    from ..bench import io as b
    from ..bench.speed import machine
    from ..datasets import resolve
    from ..inputs import locate

    if out:
        check_writable(out)
    sizes = b.Sizes.long() if long else b.Sizes.short()
    sets = resolve("google", mirror=mirror, kind="analogy"), resolve("men", mirror=mirror, kind="similarity")
    timings = b.measure(locate(corpus, mirror), *sets, sizes, repeats, lambda text: click.echo(text, err=True))
    _keep(out, b.as_json(timings, sizes))
    click.echo(f"{machine()}\n{sizes}, {repeats} rounds\n")
    click.echo(b.table(timings))
