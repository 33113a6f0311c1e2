"""``w2vneg bench``: the measurements that README and docs quote."""

import json
import tempfile
from pathlib import Path

import click

from ..errors import ConfigError
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


def _encode(corpus, min_count, max_vocab, mirror):
    from ..word2vec import Word2Vec

    return Word2Vec(min_count=min_count, max_vocab=max_vocab).encode(corpus, mirror=mirror)


def _keep(out, runs):
    if out:
        import dataclasses

        Path(out).write_text(json.dumps([dataclasses.asdict(run) for run in runs], indent=1) + "\n", encoding="utf-8")


@bench.command()
@click.option("--objective", "objectives", multiple=True, help="See w2vneg/bench/quality.py; gensim too. Repeatable.")
@click.option("--alpha", "alphas", type=float, multiple=True, help="Learning rates to try; repeatable.")
@click.option("--at", "pinned", multiple=True, metavar="OBJECTIVE=ALPHA", help="An objective at its own alpha.")
@click.option("--option", "overrides", multiple=True, metavar="NAME=VALUE", help="An option for all runs, as in TOML.")
@click.option("--seed", "seeds", type=int, multiple=True, default=(1,), show_default=True)
@click.option("--part", type=click.Choice(["dev", "test"]), default="dev", show_default=True)
@click.option("--correlation", type=click.Choice(["spearman", "pearson"]), default="spearman", show_default=True)
@click.option("--window", type=int, default=3, show_default=True)
@click.option("--epochs", type=int, default=3, show_default=True)
@_common
def quality(
    objectives,
    alphas,
    pinned,
    overrides,
    seeds,
    part,
    correlation,
    window,
    epochs,
    corpus,
    max_vocab,
    min_count,
    dim,
    workers,
    mirror,
    out,
):
    """Train objectives and score them on development or test data; prints Markdown.

    Development data (MEN dev part, even half of the Google analogies, likelihood of the last 1 % of the corpus) are
    for choosing; test data for reporting what was chosen.
    """
    from ..bench import quality as q
    from ..bench.rivals import write_sentences

    wanted = [(name, alpha) for name in objectives for alpha in (alphas or (None,))]
    wanted += [(name, float(alpha)) for name, alpha in (pin.split("=") for pin in pinned)]
    unknown = [name for name, _ in wanted if name != "gensim" and name not in q.OBJECTIVES]
    if unknown or not wanted:
        raise ConfigError(f"name objectives with --objective or --at; known: gensim, {', '.join(q.OBJECTIVES)}")
    encoded = _encode(corpus, min_count, max_vocab, mirror)
    common = {"dim": dim, "window": window, "epochs": epochs, "workers": workers}
    common |= parse_toml("\n".join(overrides), "--option")
    runs = []
    with tempfile.TemporaryDirectory() as folder:
        text = None
        for seed in seeds:
            for name, alpha in wanted:
                if name == "gensim":
                    if text is None:
                        source = q.split(encoded)[0] if part == "dev" else encoded
                        text = write_sentences(source, Path(folder) / "corpus.txt")
                    run = q.measure_gensim(text, alpha or 0.025, seed, common, part, correlation, mirror)
                else:
                    run = q.measure(encoded, name, alpha, seed, common, part, correlation, mirror)
                runs.append(run)
                click.echo(f"{name} alpha {run.alpha:g} seed {seed}: {run.seconds:.1f} s", err=True)
                _keep(out, runs)
    click.echo(q.table(runs, q.DEV if part == "dev" else q.TEST))


@bench.command()
@click.option("--repeats", type=int, default=3, show_default=True, help="Rounds; every trainer runs once in each.")
@click.option("--window", type=int, default=5, show_default=True)
@click.option("--epochs", type=int, default=1, show_default=True)
@click.option("--without", multiple=True, metavar="NAME", help="Leave a trainer out; repeatable.")
@_common
def speed(repeats, window, epochs, without, corpus, max_vocab, min_count, dim, workers, mirror, out):
    """Words and pairs per second beside gensim and fastText, interleaved; prints Markdown.

    All train on the same kept tokens at alpha 0.05. Time is training alone; fastText reads its file within it.
    """
    from ..bench import speed as s

    encoded = _encode(corpus, min_count, max_vocab, mirror)
    common = {"dim": dim, "window": window, "epochs": epochs, "workers": workers}
    names = [name for name in s.CONTENDERS if name not in without]
    timings = s.interleaved(encoded, common, repeats, names, lambda text: click.echo(text, err=True))
    if out:
        Path(out).write_text(s.as_json(timings), encoding="utf-8")
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
def startup(repeats, loss, corpus, max_vocab, min_count, dim, workers, mirror, out):
    """Seconds of a fresh process until its first round is trained, with corpus and compiled code in their caches."""
    import statistics

    from ..bench import speed as s
    from ..word2vec import locate

    options = {"loss": loss, "max_vocab": max_vocab, "min_count": min_count, "dim": dim, "workers": workers}
    place = locate(corpus, mirror)
    first = s.seconds_to_first_round(place, options)
    again = [s.seconds_to_first_round(place, options) for _ in range(repeats)]
    if out:
        Path(out).write_text(json.dumps({"first": first, "again": again}) + "\n", encoding="utf-8")
    click.echo(
        f"first process {first:.2f} s; then median {statistics.median(again):.2f} s "
        f"({min(again):.2f}–{max(again):.2f}) over {repeats}"
    )
