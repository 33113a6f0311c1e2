"""Shared options and helpers of the commands of ``python -m benchmarks``."""

import click

_WORKERS = click.option("--workers", type=int, default=2, show_default=True)
_COMMON = [
    click.option("--corpus", default="enwiki2015-head", show_default=True, metavar="PATH|NAME"),
    click.option("--max-vocab", type=int, help="Keep only the most frequent words."),
    click.option("--min-count", type=int, default=5, show_default=True),
    click.option("--dim", type=int, default=100, show_default=True),
    click.option("--mirror", metavar="DIR|URL", help="Location of named data; W2VNEG_MIRROR too."),
    click.option("--out", metavar="FILE", help="Also write every single run as JSON."),
]


def without_workers(command):
    """Give a command the common options except --workers."""
    for one in reversed(_COMMON):
        command = one(command)
    return command


def common(command):
    """Give a command the common options."""
    return without_workers(_WORKERS(command))


def encode(options):
    """Return the corpus of the common options, encoded, after checking that --out is writable."""
    from w2vneg.ground.files.atomic import check_writable
    from w2vneg.run.word2vec import Word2Vec

    if options["out"]:
        check_writable(options["out"])
    word2vec = Word2Vec(min_count=options["min_count"], max_vocab=options["max_vocab"])
    return word2vec.encode(options["corpus"], mirror=options["mirror"])


def keep(out, text):
    """Write `text` to the file `out` atomically, if it is given."""
    from w2vneg.ground.files.atomic import atomic_file

    if out:
        with atomic_file(out, "w", encoding="utf-8") as stream:
            stream.write(text + "\n")


def say(text):
    """Show a line of progress."""
    click.echo(text, err=True)
