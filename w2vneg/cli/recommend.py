"""`w2vneg recommend`: what comes next after one or several items."""

import click

from ..ground.errors import InputError, UnknownNameError
from ..ground.files.atomic import check_writable
from .flags import fold_in_option, refuse_existing, refuse_overwriting, score_option, titles_of, titles_options
from .options import COUNT, json_option, mirror_option, option
from .progress import byte_progress, note
from .tables import echo, echo_json


@click.command()
@click.argument("model", type=click.Path())
@click.argument("items", nargs=-1, metavar="[ITEM...]")
@option("--all", "One list for every user or item of the model.", name="everybody", readers="with --out")
@option("--queries FILE", "One list for each name in this file, one per line.", readers="with --out")
@option("--out FILE", "Write the lists to FILE.csv, FILE.jsonl or FILE.parquet.")
@option("--force", "Replace the file of --out.", readers="with --out")
@option("-k --k --count", "Length of a list.", name="k", type=COUNT, default=10)
@titles_options
@option(
    "--exclude-known FILE",
    "Leave out what is paired with any ITEM in this file. May be repeated.",
    multiple=True,
    default_text="what users had in training",
)
@option("--include-known", "List what users had in training, too.")
@option("--only FILE", "List only the names in this file, one per line, such as items in stock.")
@option(
    "--unknown",
    "For a name that the model does not know: stop, give no list, or give the most popular targets.",
    type=click.Choice(["error", "skip", "popular"]),
    default_text="error; skip with --queries or --fold-in",
)
@fold_in_option
@option("--new-user", "Treat ITEMs as the history of a new user, for models of users.")
@score_option
@mirror_option
@json_option
def recommend(model, items, k, exclude_known, include_known, only, score, fold_in, **given):
    """Recommend items for a user, or what goes with all ITEMs together.

    MODEL is a folder written with --save-model. The score is the mean of the ITEMs' logits, dot products rather than
    cosines; the ITEMs themselves are left out. In a model of users and items an ITEM is a user, or with --new-user an
    item of a new user. --all and --queries write many lists; with --fold-in, --all means the users of that file.
    """
    names = "everybody", "queries", "out", "unknown", "force"
    everybody, queries, out, unknown, force = (given.pop(name) for name in names)
    titles = given.pop("titles"), given.pop("titles_cols"), given.pop("mirror")
    if include_known and exclude_known:
        raise click.UsageError("--include-known leaves nothing out, but --exclude-known does; give one of them")
    exclude_known = () if include_known else exclude_known or None
    if bool(items) + everybody + (queries is not None) != 1:
        raise click.UsageError("name ITEMs, or give --all or --queries FILE, one of the three")
    if given["new_user"] and (fold_in is not None or exclude_known):
        raise click.UsageError("--new-user takes the history from ITEMs; leave --fold-in and --exclude-known out")
    if items:
        if out is not None:
            raise click.UsageError("--out is for the lists of --all or --queries; ITEMs give one list, see --json")
        return _list_one(model, items, k, exclude_known, only, score, fold_in, unknown, titles, **given)
    idle = [f"--{name.removeprefix('as_').replace('_', '-')}" for name in ("as_json", "new_user") if given[name]]
    if idle or out is None:
        flag = "--all" if everybody else "--queries"
        why = f"does not go with {idle[0]}" if idle else "writes a file; name it with --out"
        raise click.UsageError(f"{flag} {why}")
    _write_many(model, queries, out, force, k, exclude_known, only, score, fold_in, unknown, titles)


def _write_many(model, queries, out, force, k, exclude_known, only, score, fold_in, unknown, titles):
    import numpy as np

    from ..data.words import several_hint
    from ..run.slim import load_recommender
    from ..vectors.evaluation.baselines import read_known_of
    from ..vectors.evaluation.folding import ids_of, with_users
    from ..vectors.evaluation.recommend import absent_of, popular, read_queries, recommend_blocks
    from ..vectors.formats.recommendations import form_of, write_recommendations

    form_of(out)
    check_writable(out)
    read = [*(exclude_known or ()), *(path for path in (queries, fold_in, only, titles[0]) if path is not None)]
    refuse_overwriting("--out", out, read)
    refuse_existing(out, force)
    loaded, users, own, without, _ = with_users(load_recommender(model), fold_in, note)
    names = titles_of(*titles, loaded.config.lowercase, loaded.vocab_out)
    absent = absent_of(loaded, _names_in(only, loaded))
    folded = queries is None and users is not None
    centres, strange = (users, without) if folded else read_queries(loaded, queries)
    known, had = read_known_of(strange if unknown == "popular" else (), exclude_known, loaded, own, note)
    if strange and unknown == "error":
        if folded:
            raise InputError(f"{fold_in}: {strange[0]!r:.60} has no item that the model knows; see --unknown")
        ids_of(loaded, strange)  # which raises an error about the first
    if strange:
        what = "the most popular targets" if unknown == "popular" else "no list"
        which = "users have no known item" if folded else "names are unknown to the model"
        file, n = fold_in if folded else queries, len(strange)
        several = "" if folded else several_hint(strange, loaded.vocab.words)
        note(f"{file}: {n:,} of {n + len(centres):,} {which}: {what}{several}.")
    if unknown != "popular":
        strange = []
    with byte_progress("recommending", unit="lists") as progress:

        def blocks():
            done = 0
            for block in recommend_blocks(loaded, centres, k, known, score, absent):
                yield block
                done += len(block[0])
                progress(done, len(centres))
            if strange:
                yield np.arange(len(strange)) + len(loaded.vocab), *popular(loaded, k, had(strange), absent)

        words = [*loaded.vocab.words, *strange] if strange else loaded.vocab.words
        write_recommendations(out, blocks(), words, loaded.vocab_out.words, names if titles[0] else None)
    n = len(centres) + len(strange)
    note(f"Wrote {n:,} list{'s' * (n != 1)} to {out}.")


def _names_in(only, model):
    """Return the names in the file of --only, including those unknown to the model; None without a file."""
    if only is None:
        return None
    from ..data.words import as_word
    from ..vectors.evaluation.lookup import read_lines

    names = [as_word(line, model.config.lowercase) for _, line in read_lines(only, of_names=True)]
    strange = sum(name not in model.vocab_out for name in names)
    if strange == len(names):
        raise InputError(f"{only}: none of its {len(names):,} names is known to the model, such as {names[0]!r:.60}")
    if strange:
        note(f"{only}: {strange:,} of {len(names):,} names are unknown to the model and appear in no list.")
    return names


def _list_one(model, items, k, exclude_known, only, score, fold_in, unknown, titles, new_user, as_json):
    import scipy.sparse

    from ..data.words import as_word
    from ..run.slim import load_recommender
    from ..vectors.evaluation import recommend as lists
    from ..vectors.evaluation.baselines import read_known_of
    from ..vectors.evaluation.folding import with_users

    loaded, _, own, *_ = with_users(load_recommender(model), fold_in, note)
    names = titles_of(*titles, loaded.config.lowercase, loaded.vocab_out)
    of_items = new_user or loaded.vocab_out is loaded.vocab
    seeds_named = names if of_items else {}  # else seeds are users: titles are of items
    words = [as_word(item, loaded.config.lowercase) for item in items]
    known, had, only = None, None, _names_in(only, loaded)
    if not new_user:
        known, had = read_known_of(words if unknown == "popular" else (), exclude_known, loaded, own, note)
    try:
        if new_user:
            found = lists.recommend_new(loaded, items, k, score, only)
        else:
            found = lists.recommend(loaded, items, k, known, score, only)
    except UnknownNameError as error:
        vocab = loaded.vocab_out if of_items else loaded.vocab
        if all(word in vocab for word in words):
            raise  # what is unknown is another name, such as the loss of a plug-in
        if unknown == "skip":
            note(f"Warning: {error} There is no list.")
            return
        if unknown == "popular":
            note(f"Warning: {error} These are the most popular.")
            together = scipy.sparse.csr_matrix(had(words).sum(axis=0))  # with any of them
            ids, scores = (part[0] for part in lists.popular(loaded, k, together, lists.absent_of(loaded, only)))
            found = [(loaded.vocab_out.words[i], float(x)) for i, x in zip(ids, scores, strict=True) if i >= 0]
        else:
            raise _with_titles(error, zip(items, words, strict=True), vocab, seeds_named) from None
    if as_json:
        found = [_entry(item, names) | {"score": score} for item, score in found]
        about = {"model": model, "items": [_entry(word, seeds_named) for word in words]}
        return echo_json(about | {"known_left_out": known is not None or new_user, "recommended": found})
    echo(", ".join(f"{word} ({seeds_named[word]})" if word in seeds_named else word for word in words))
    width = max((len(item) for item, _ in found), default=0)
    for item, score in found:
        echo(f"  {item.ljust(width)}  {score:8.3f}  {names.get(item, '')}".rstrip())


def _entry(item, names):
    return {"item": item} | ({"name": names[item]} if item in names else {})


def _with_titles(error, items, vocab, names):
    wanted = next(item for item, word in items if word not in vocab).lower()
    called = [f"{item!r} ({title})" for item, title in names.items() if wanted in title.lower() and item in vocab][:3]
    return UnknownNameError(f"{error} Items are named by id; titles match: {', '.join(called)}.") if called else error
