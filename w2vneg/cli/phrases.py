"""``w2vneg phrases``: pairs of words that occur together more often than their counts predict."""

import click

from ..data.inputs import settled
from ..data.sources import SOURCES
from ..ground.files.atomic import check_writable
from .flags import files_of, refuse_existing, refuse_overwriting, text_of, text_options
from .options import mirror_option, option, quiet_option
from .progress import byte_progress, noter


@click.command(short_help="Find phrases in a text, such as new_york.")
@click.argument("corpus", nargs=-1, required=True, metavar="CORPUS...")
@option("--out FILE", "File of phrases to write, with their scores.", required=True)
@option("--min-count", "Minimum count of a pair of words.", type=int, default=5)
@option(
    "--scoring",
    "Score of a pair: word2vec's, which is gensim's default too, or npmi, from -1 to 1.",
    type=click.Choice(["word2vec", "npmi"]),
    default="word2vec",
)
@option("--threshold", "Minimum score of a phrase.", type=float, default_text="10; npmi: 0.5")
@option("--passes", "Passes over the text: 2 finds phrases of up to four words, and so on.", type=int, default=1)
@text_options
@option("--lowercase", "Lower-case the text.")
@option("--encoding NAME", "Text encoding.", default="utf-8")
@mirror_option
@option("--force", "Replace what is at --out.")
@quiet_option
def phrases(corpus, out, force, encoding, mirror, quiet, **given):
    """Find pairs of words that occur together more often than their counts predict, and write them to a file.

    'w2vneg train --phrases FILE' joins them: new york becomes new_york. The file has a phrase per line, followed by
    score, count and pass after tabs. Delete lines or write your own; two words are enough.
    """
    from ..data.phrases import find_phrases, none_found, write_phrases

    text = settled(text_of(corpus, given), encoding, mirror).located(mirror)
    check_writable(out)
    refuse_overwriting("--out", out, files_of(text))
    refuse_existing(out, force)
    with byte_progress("reading") as progress:
        how = given | SOURCES["corpus"].reading(text, encoding)
        found = find_phrases(list(text.files), encoding=encoding, progress=None if quiet else progress, **how)
    write_phrases(out, found)
    best = ", ".join(f"{phrase.first} {phrase.second}" for phrase in sorted(found, key=lambda one: -one.count)[:5])
    more = f"; the most frequent: {best}" if found else f": {none_found(given['scoring'], given['threshold'])}"
    noter(quiet)(f"Wrote {len(found):,} phrases to {out}{more}.")
