"""``python -m benchmarks io``: reading, writing, evaluation, starting."""

import click

from .common import keep, say


@click.command()
@click.option("--corpus", default="enwiki2015-head", show_default=True, metavar="PATH|NAME")
@click.option("--long", is_flag=True, help="Use 100 MB of text and a million vectors to write, read and search.")
@click.option("--repeats", type=click.IntRange(1), default=3, show_default=True)
@click.option("--mirror", metavar="DIR|URL", help="Location of named data; W2VNEG_MIRROR too.")
@click.option("--out", metavar="FILE", help="Also write every single run as JSON.")
def io(corpus, long, repeats, mirror, out):
    """Time reading text, vectors written and read against gensim, evaluation, start-up. Prints Markdown.

    The short form takes about two minutes: 20 MB of text, 20,000 vectors, 200,000 words to search.
    """
    from w2vneg.data.catalog import resolve
    from w2vneg.data.inputs import locate
    from w2vneg.ground.files.atomic import check_writable

    from .. import io as b
    from ..speed import machine

    if out:
        check_writable(out)
    sizes = b.Sizes.long() if long else b.Sizes.short()
    sets = resolve("google", mirror=mirror, kind="analogy"), resolve("men", mirror=mirror, kind="similarity")
    timings = b.measure(locate(corpus, mirror), *sets, sizes, repeats, say)
    keep(out, b.as_json(timings, sizes))
    click.echo(f"{machine()}\n{sizes}, {repeats} rounds\n")
    click.echo(b.table(timings))
