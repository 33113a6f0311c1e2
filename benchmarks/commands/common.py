"""What the commands of ``python -m benchmarks`` share."""

import click

_WORKERS = click.option("--workers", type=int, default=2, show_default=True)
_COMMON = [
    click.option("--corpus", default="enwiki2015-head", show_default=True, metavar="PATH|NAME"),
    click.option("--max-vocab", type=int, help="Keep the most frequent words only."),
    click.option("--min-count", type=int, default=5, show_default=True),
    click.option("--dim", type=int, default=100, show_default=True),
    click.option("--mirror", metavar="DIR|URL", help="Where named data are kept; W2VNEG_MIRROR too."),
    click.option("--out", metavar="FILE", help="Write every single run as JSON, too."),
]


def without_workers(command):
    """Give a command the options that most share, but for --workers."""
    for one in reversed(_COMMON):
        command = one(command)
    return command


def common(command):
    """Give a command the options that most share."""
    return without_workers(_WORKERS(command))


def encode(options):
    """Return the corpus that the common options name, encoded; what could not be written is refused before."""
    from w2vneg.ground.files.atomic import check_writable
    from w2vneg.run.word2vec import Word2Vec

    if options["out"]:
        check_writable(options["out"])
    word2vec = Word2Vec(min_count=options["min_count"], max_vocab=options["max_vocab"])
    return word2vec.encode(options["corpus"], mirror=options["mirror"])


def keep(out, text):
    """Write `text` to the file `out`, whole or not at all; nothing if there is none."""
    from w2vneg.ground.files.atomic import atomic_file

    if out:
        with atomic_file(out, "w", encoding="utf-8") as stream:
            stream.write(text + "\n")


def say(text):
    """Show a line of progress."""
    click.echo(text, err=True)
