"""`w2vneg analogy`: A is to B as C is to which word?"""

import json

import click

from .flags import reads_vectors
from .options import json_option, option


@click.command()
@click.argument("a")
@click.argument("b")
@click.argument("c")
@option("--vectors", metavar="FILE", default="vectors.txt", help="Vectors or model folder.")
@option("-k", "--count", "k", type=click.IntRange(min=1), default=10, help="Number of results.")
@reads_vectors
@json_option
def analogy(a, b, c, vectors, k, readout, oov, as_json):
    """Answer "A is to B as C is to …?" by 3CosAdd, best first."""
    from ..vectors import Vectors

    answers = Vectors.load(vectors, readout=readout, oov=oov).analogy(a, b, c, k=k)
    if as_json:
        document = {
            "vectors": vectors,
            "question": [a, b, c],
            "answers": [{"word": word, "cosine": cosine} for word, cosine in answers],
        }
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
        return
    width = max((len(word) for word, _ in answers), default=0)
    click.echo(f"{a} is to {b} as {c} is to")
    for word, cosine in answers:
        click.echo(f"  {word.ljust(width)}  {cosine:.3f}")
