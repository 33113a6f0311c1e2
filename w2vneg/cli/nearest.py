"""`w2vneg nearest`: the words whose vectors point the same way."""

import json

import click

from .readout import reads_vectors


@click.command()
@click.argument("words", nargs=-1, required=True, metavar="WORD...")
@click.option("--vectors", metavar="FILE", default="vectors.txt", show_default=True, help="File or model folder.")
@click.option("-k", "--count", "k", type=click.IntRange(min=1), default=10, show_default=True, help="How many.")
@reads_vectors
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of a table.")
def nearest(words, vectors, k, readout, oov, as_json):
    """List the words nearest to each WORD, by cosine."""
    from ..embeddings import Vectors

    loaded = Vectors.load(vectors, readout=readout, oov=oov)
    answers = {word: loaded.most_similar(word, k=k) for word in words}
    if as_json:
        document = {
            "vectors": vectors,
            "nearest": {
                word: [{"word": other, "cosine": cosine} for other, cosine in found] for word, found in answers.items()
            },
        }
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
        return
    blocks = []
    for word, found in answers.items():
        width = max((len(other) for other, _ in found), default=0)
        lines = [f"  {other.ljust(width)}  {cosine:.3f}" for other, cosine in found]
        blocks.append("\n".join([word, *lines]))
    click.echo("\n\n".join(blocks))
