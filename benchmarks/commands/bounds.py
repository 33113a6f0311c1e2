"""``python -m benchmarks bounds``: what bounds the time of a pair."""

import click

from .common import encode, keep, say, without_workers
from .scaling import chosen_of, only


@click.command()
@only
@click.option("--tokens", type=click.IntRange(1), default=400_000, show_default=True, help="Tokens per timing.")
@click.option("--repeats", type=click.IntRange(1), default=5, show_default=True)
@without_workers
def bounds(names, tokens, repeats, **options):
    """Take away parts of a pair's work, one at a time, and show what is saved; one worker; prints Markdown."""
    from .. import bounds as b
    from ..speed import machine

    chosen, encoded = chosen_of(names), encode(options)
    found = b.measure(chosen, encoded, options["dim"], tokens, repeats, say)
    keep(options["out"], b.as_json(found))
    click.echo(f"{machine()}\n{len(encoded.vocab):,} words, {tokens:,} tokens per timing, {repeats} rounds\n")
    click.echo(b.table(found))
