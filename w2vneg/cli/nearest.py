"""`w2vneg nearest`: the words whose vectors point the same way."""

import json
import os

import click

from ..ground.errors import UnknownNameError
from .flags import reads_vectors, titles_of, titles_options
from .options import json_option, mirror_option, option


@click.command()
@click.argument("words", nargs=-1, required=True, metavar="WORD...")
@option("--vectors", metavar="FILE", default="vectors.txt", help="Vectors or model folder.")
@option("-k", "--count", "k", type=click.IntRange(min=1), default=10, help="Number of results.")
@reads_vectors
@option("--why", is_flag=True, help="Also list kin: words joined by the read-out paradigms, and their rules.")
@titles_options
@mirror_option
@json_option
def nearest(words, vectors, k, readout, oov, why, titles, titles_cols, mirror, as_json):
    """List the words nearest to each WORD, by cosine.

    In a model of users and items these are users near a user; with --readout out, items near an item.
    """
    from ..vectors import Vectors

    if titles and readout != "out" and _of_two_kinds(vectors):
        raise click.UsageError("--titles is of items, and these are users; give --readout out")
    names = titles_of(titles, titles_cols, mirror)
    loaded = Vectors.load(vectors, readout=readout, oov=oov)
    try:
        answers = {word: loaded.most_similar(word, k=k) for word in words}
        kin = {word: loaded.kin(word)[:k] for word in words} if why else {}
    except UnknownNameError as error:
        raise UnknownNameError(f"{error}{_other_side(vectors, words, loaded)}") from None
    if as_json:
        document = {
            "vectors": vectors,
            "nearest": {
                word: [{"word": other, "cosine": cosine} | _title(other, names) for other, cosine in found]
                for word, found in answers.items()
            },
        }
        if why:
            document["kin"] = {word: [one._asdict() for one in found] for word, found in kin.items()}
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
        return
    blocks = []
    for word, found in answers.items():
        width = max((len(other) for other, _ in found), default=0)
        lines = [f"  {other.ljust(width)}  {cosine:.3f}  {names.get(other, '')}".rstrip() for other, cosine in found]
        if why:
            lines += [f"  {word} → {one.word}, {one.rule}, {one.pairs:,} pairs" for one in kin[word]]
            lines += [] if kin[word] else ["  no kin: no rule of spelling joins it with another word"]
        blocks.append("\n".join([f"{word} ({names[word]})" if word in names else word, *lines]))
    click.echo("\n\n".join(blocks))


def _title(word, names):
    return {"name": names[word]} if word in names else {}


def _of_two_kinds(path):
    """Tell whether a path is the folder of a model of users and items."""
    return os.path.isfile(os.path.join(path, "vocab_out.tsv"))


def _other_side(path, words, loaded):
    """Return a hint for names of the other kind of things in a model of users and items (str); empty for others."""
    if not _of_two_kinds(path):
        return ""
    from ..data.vocab import Vocabulary

    kinds = {"in": ("user", "vocab.tsv"), "out": ("item", "vocab_out.tsv")}
    unknown = next(word for word in words if word not in loaded)
    for side, (kind, file) in kinds.items():
        vocab = Vocabulary.load(os.path.join(path, file))
        if unknown in vocab:
            return f" It is the name of {'an' if kind == 'item' else 'a'} {kind}: give --readout {side}."
    return ""
