"""``w2vneg phrases``: pairs of words that stand together more often than their counts have it."""

import click

from ..data.sources import SOURCES
from ..data.sources.corpus import Corpus
from ..ground.option import options_of
from .inputs import refuse_overwriting
from .progress import byte_progress, noter

_READING = ("tokenizer", "strip", "numbers")
_OPTIONS = options_of(Corpus)


def _reading_options(command):
    for name in reversed(_READING):
        item = _OPTIONS[name].metadata
        kind = click.Choice(item["choices"]) if item["choices"] else str
        command = click.option(f"--{name}", type=kind, metavar=item["metavar"], help=item["help"])(command)
    return command


@click.command(short_help="Find phrases, as new_york, in a text.")
@click.argument("corpus", nargs=-1, required=True, metavar="CORPUS...")
@click.option("--out", required=True, metavar="FILE", help="Where the phrases are written, with their scores.")
@click.option("--min-count", default=5, show_default=True, help="How often two words must stand together.")
@click.option(
    "--scoring",
    type=click.Choice(["word2vec", "npmi"]),
    default="word2vec",
    show_default=True,
    help="How pairs are scored: as word2vec's and gensim's phrases, or between -1 and 1.",
)
@click.option("--threshold", type=float, help="A phrase scores higher than this.  [default: 10; for npmi 0.5]")
@click.option("--passes", default=1, show_default=True, help="2 finds phrases of up to four words, and so on.")
@_reading_options
@click.option("--lowercase", is_flag=True, help="Lower-case the corpus.")
@click.option("--encoding", default="utf-8", show_default=True, help="Encoding of the corpus.")
@click.option("--mirror", metavar="DIR|URL", help="Where named corpora are kept; W2VNEG_MIRROR too.")
@click.option("--quiet", is_flag=True, help="No progress, no report.")
def phrases(corpus, out, min_count, scoring, threshold, passes, lowercase, encoding, mirror, quiet, **reading):
    """Find pairs of words that stand together more often than their counts have it, and write them.

    'w2vneg train --phrases FILE' joins them: new york becomes new_york. The file has a phrase a line, with score, count
    and pass behind tabs; leave out lines, or write your own: two words are enough.
    """
    from ..data.inputs import Input
    from ..data.phrases import find_phrases, write_phrases
    from ..data.readers.sources import find_files
    from ..ground.files.atomic import check_writable

    options = {name: value for name, value in reading.items() if value is not None}
    given = Input("corpus", corpus, **options).located(mirror)
    check_writable(out)
    refuse_overwriting("--out", out, find_files([*given.files]))
    with byte_progress("reading") as progress:
        found = find_phrases(
            list(given.files),
            min_count=min_count,
            threshold=threshold,
            scoring=scoring,
            passes=passes,
            encoding=encoding,
            lowercase=lowercase,
            progress=None if quiet else progress,
            **SOURCES["corpus"].reading(given),
        )
    write_phrases(out, found)
    best = ", ".join(f"{phrase.first} {phrase.second}" for phrase in sorted(found, key=lambda one: -one.count)[:5])
    noter(quiet)(f"Wrote {len(found):,} phrases to {out}{f'; the most frequent: {best}' if found else ''}.")
