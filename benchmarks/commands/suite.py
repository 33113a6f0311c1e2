"""``python -m benchmarks suite``: training throughput over a grid, with rivals and the machine's own rates."""

import click

from .common import keep, say


@click.command()
@click.option("--corpus", default="enwiki2015-head", show_default=True, metavar="PATH|NAME")
@click.option("--long", is_flag=True, help="Run the whole grid, eight million tokens per timing; takes hours.")
@click.option("--repeats", type=click.IntRange(1), help="Rounds of each cell.  [default: 2, --long: 3]")
@click.option("--tokens", type=click.IntRange(1), help="Tokens per timing.  [default: 800,000, --long: 8 million]")
@click.option("--vocab", "vocabularies", type=click.Choice(["15k", "whole", "1M"]), multiple=True, help="Repeatable.")
@click.option("--dim", "dims", type=click.IntRange(1), multiple=True, help="Length of the vectors; repeatable.")
@click.option("--workers", type=click.IntRange(1, 1024), multiple=True, help="Repeatable.")
@click.option("--only", "names", metavar="NAME", multiple=True, help="Run only this trainer; repeatable.")
@click.option("--mirror", metavar="DIR|URL", help="Location of named data; W2VNEG_MIRROR too.")
@click.option("--out", metavar="FILE", help="Also write every single run as JSON, after each cell.")
def suite(corpus, long, repeats, tokens, vocabularies, dims, workers, names, mirror, out):
    """Compare training throughput with gensim, fastText, itembed and the machine's own rates; prints Markdown.

    Runs five cells of the grid, or all with --long; --vocab, --dim and --workers choose cells. The short form takes
    under two minutes on two idle cores once everything is compiled and the corpus is encoded.
    """
    from w2vneg.ground.files.atomic import check_writable

    from .. import suite as s
    from ..contenders import CONTENDERS, installed
    from ..speed import machine

    cells = s.grid(long, vocabularies, dims, workers, names)
    if out:
        check_writable(out)
    wanted = dict.fromkeys(name for cell in cells for name in cell.contenders)
    there = [contender.name for contender in installed([CONTENDERS[name] for name in wanted], say)]
    tokens, repeats = (given or usual for given, usual in zip((tokens, repeats), s.usual_amount(long), strict=True))
    click.echo(f"{machine()}\nwindow {s.WINDOW}, {tokens:,} tokens per timing, {repeats} rounds")
    done = []
    for vocabulary in dict.fromkeys(cell.vocabulary for cell in cells):
        encoded = _text(vocabulary, corpus, mirror)
        for cell in (cell for cell in cells if cell.vocabulary == vocabulary):
            say(f"{vocabulary} words, {cell.dim} numbers, {cell.workers} workers")
            done.append(s.measure_cell(cell, encoded, tokens, repeats, there, say))
            keep(out, s.as_json(done, tokens))
            click.echo(f"\n{s.table(done[-1])}")


def _text(vocabulary, corpus, mirror):
    """Return the text of a vocabulary, encoded."""
    from w2vneg.run.word2vec import Word2Vec

    from ..suite import zipf_million

    if vocabulary == "1M":
        return zipf_million()
    return Word2Vec(max_vocab=15_000 if vocabulary == "15k" else None).encode(corpus, mirror=mirror)
