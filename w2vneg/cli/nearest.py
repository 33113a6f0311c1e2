"""`w2vneg nearest`: the words whose vectors point in the same direction."""

import click

from .flags import asks_vectors, is_of_two_kinds, load_vectors, naming_sides, titles_of, titles_options
from .options import json_option, mirror_option, option
from .tables import echo, echo_json


@click.command()
@click.argument("words", nargs=-1, required=True, metavar="WORD...")
@asks_vectors
@option("--why", "Also list kin: words joined by the read-out paradigms, and their rules.")
@titles_options
@mirror_option
@json_option
def nearest(words, vectors, k, readout, oov, why, titles, titles_cols, mirror, as_json):
    """List the words nearest to each WORD, by cosine.

    In a model of users and items these are users near a user; with --readout out, items near an item.
    """
    from ..vectors.vectors import rule_text

    if titles and readout != "out" and is_of_two_kinds(vectors):
        raise click.UsageError("--titles is for items, and these are users; give --readout out")
    loaded = load_vectors(vectors, readout=readout, oov=oov)
    names = titles_of(titles, titles_cols, mirror, known=loaded)
    with naming_sides(vectors, words, loaded):
        answers = {word: loaded.most_similar(word, k=k) for word in words}
        kin = {word: loaded.kin(word)[:k] for word in words} if why else {}
    if as_json:
        title = {one: {"name": name} for one, name in names.items()}
        listed = lambda near: [{"word": one, "cosine": cosine} | title.get(one, {}) for one, cosine in near]  # noqa: E731
        document = {"vectors": vectors, "nearest": {word: listed(near) for word, near in answers.items()}}
        if why:
            document["kin"] = {word: [one._asdict() for one in found] for word, found in kin.items()}
        return echo_json(document)
    blocks = []
    for word, found in answers.items():
        width = max((len(other) for other, _ in found), default=0)
        lines = [f"  {other.ljust(width)}  {cosine:.3f}  {names.get(other, '')}".rstrip() for other, cosine in found]
        if why:
            lines += [f"  {word} → {one.word}, {rule_text(one)}" for one in kin[word]]
            lines += [] if kin[word] else ["  no kin: no rule of spelling joins it with another word"]
        blocks.append("\n".join([f"{word} ({names[word]})" if word in names else word, *lines]))
    echo("\n\n".join(blocks))
