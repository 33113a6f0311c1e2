"""`w2vneg recommend`: what comes next after one or several items."""

import json

import click

from ..errors import UnknownNameError
from .inputs import refuse_overwriting
from .progress import byte_progress, note
from .scores import score_option
from .titles import titles_of, titles_options


@click.command()
@click.argument("model", type=click.Path())
@click.argument("items", nargs=-1, metavar="[ITEM...]")
@click.option("--all", "everybody", is_flag=True, help="For each user, or item, of the model by itself; with --out.")
@click.option("--queries", metavar="FILE", help="For each name in this file, one a line, by itself; with --out.")
@click.option("--out", metavar="FILE", help="Write the lists to FILE.csv, FILE.jsonl or FILE.parquet.")
@click.option("-k", "--k", "--count", "k", type=click.IntRange(min=1), default=10, show_default=True, help="How many.")
@titles_options
@click.option(
    "--exclude-known",
    metavar="FILE",
    multiple=True,
    help="Leave out what stands with any ITEM in this file of pairs; may be repeated.",
)
@score_option
@click.option("--mirror", metavar="DIR|URL", help="Where named data are kept; W2VNEG_MIRROR too.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of a table.")
def recommend(model, items, k, exclude_known, score, **given):
    """List what comes next after all ITEMs together, or write lists for many, each by itself.

    MODEL is a folder written with --save-model. The score is the mean of the ITEMs' logits (dot products, not cosines);
    the ITEMs themselves are left out. Where rows and columns are of two kinds, users and items, an ITEM is a user.
    """
    everybody, queries, out = (given.pop(name) for name in ("everybody", "queries", "out"))
    if bool(items) + everybody + (queries is not None) != 1:
        raise click.UsageError("name ITEMs, or give --all or --queries FILE, one of the three")
    if items:
        if out is not None:
            raise click.UsageError("--out is where the lists of --all or --queries go; ITEMs give one list, see --json")
        _list_one(model, items, k, exclude_known, score, **given)
        return
    idle = [f"--{name.removeprefix('as_').replace('_', '-')}" for name, value in given.items() if value]
    if idle or out is None:
        flag = "--all" if everybody else "--queries"
        raise click.UsageError(
            f"{flag} goes without {idle[0]}" if idle else f"{flag} writes a file; name it with --out"
        )
    _write_many(model, queries, out, k, exclude_known, score)


def _write_many(model, queries, out, k, exclude_known, score):
    """Write the lists of all centres of a model, or of those named in a file."""
    from ..evaluation.baselines import read_known
    from ..evaluation.recommend import read_queries, recommend_blocks
    from ..files.atomic import check_writable
    from ..formats.recommendations import form_of, write_recommendations
    from ..training.model import Model

    form_of(out)
    check_writable(out)
    refuse_overwriting("--out", out, [*exclude_known, *([] if queries is None else [queries])])
    loaded = Model.load(model)
    centres, unknown = read_queries(loaded, queries)
    known = read_known(exclude_known, loaded)
    if unknown:
        note(f"{queries}: {unknown:,} of {unknown + len(centres):,} names are unknown to the model and get no list.")
    with byte_progress("recommending", unit="lists") as progress:

        def told():
            done = 0
            for block in recommend_blocks(loaded, centres, k, known, score):
                yield block
                done += len(block[0])
                progress(done, len(centres))

        write_recommendations(out, told(), loaded.vocab.words, loaded.vocab_out.words)
    note(f"Wrote {len(centres):,} lists to {out}.")


def _list_one(model, items, k, exclude_known, score, *, titles, titles_cols, mirror, as_json):
    """Print the list of some items together."""
    from ..data.readers.names import as_word
    from ..evaluation.baselines import read_known
    from ..evaluation.recommend import recommend as best
    from ..training.model import Model

    loaded = Model.load(model)
    names = titles_of(titles, titles_cols, mirror, loaded.config.lowercase)
    known = read_known(exclude_known, loaded)
    seeds_named = names if loaded.vocab_out is loaded.vocab else {}  # else seeds are users: titles are not theirs
    words = [as_word(item, loaded.config.lowercase) for item in items]
    try:
        found = best(loaded, items, k, known, score)
    except UnknownNameError as error:
        raise _with_titles(error, zip(items, words, strict=True), loaded.vocab, seeds_named) from None
    if as_json:
        document = {
            "model": model,
            "items": [_entry(word, seeds_named) for word in words],
            "known_left_out": bool(exclude_known),
            "recommended": [_entry(item, names) | {"score": score} for item, score in found],
        }
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
        return
    click.echo(", ".join(f"{word} ({seeds_named[word]})" if word in seeds_named else word for word in words))
    width = max((len(item) for item, _ in found), default=0)
    for item, score in found:
        click.echo(f"  {item.ljust(width)}  {score:8.3f}  {names.get(item, '')}".rstrip())


def _entry(item, names):
    return {"item": item} | ({"name": names[item]} if item in names else {})


def _with_titles(error, items, vocab, names):
    """Return the error, with items that are called what was asked for."""
    wanted = next(item for item, word in items if word not in vocab).lower()
    called = [f"{item!r} ({title})" for item, title in names.items() if wanted in title.lower() and item in vocab][:3]
    return UnknownNameError(f"{error} Items are named by id; so called: {', '.join(called)}.") if called else error
