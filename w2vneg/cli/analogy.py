"""`w2vneg analogy`: A is to B as C is to which word?"""

import click

from .flags import asks_vectors, load_vectors, naming_sides
from .options import json_option
from .tables import echo, echo_json


@click.command()
@click.argument("a")
@click.argument("b")
@click.argument("c")
@asks_vectors
@json_option
def analogy(a, b, c, vectors, k, readout, oov, as_json):
    """Answer "A is to B as C is to …?" by 3CosAdd, best first."""
    loaded = load_vectors(vectors, readout=readout, oov=oov)
    with naming_sides(vectors, (a, b, c), loaded):
        answers = loaded.analogy(a, b, c, k=k)
    if as_json:
        found = [{"word": word, "cosine": cosine} for word, cosine in answers]
        return echo_json({"vectors": vectors, "question": [a, b, c], "answers": found})
    width = max((len(word) for word, _ in answers), default=0)
    echo(f"{a} is to {b} as {c} is to")
    for word, cosine in answers:
        echo(f"  {word.ljust(width)}  {cosine:.3f}")
