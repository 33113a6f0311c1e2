"""``python -m benchmarks scaling``: how much faster several workers are than one."""

import click

from .common import common, encode, keep, say

_USUAL = ("ns shared", "ns per window", "relaxed shared", "relaxed per pair", "cis per pair")

only = click.option(
    "--only", "names", metavar="NAME", multiple=True, default=_USUAL, help="As for benchmarks suite; repeatable."
)


def chosen_of(names):
    """Return the contenders of ours with these names (list); UnknownNameError if there is none of a name."""
    from w2vneg.ground.errors import UnknownNameError, did_you_mean

    from ..contenders import CONTENDERS

    ours = {name: contender for name, contender in CONTENDERS.items() if contender.rival is None}
    for name in names:
        if name not in ours:
            raise UnknownNameError(f"no trainer of ours {name!r}{did_you_mean(name, ours, shown=len(ours))}")
    return [ours[name] for name in dict.fromkeys(names)]


@click.command()
@only
@click.option("--tokens", type=click.IntRange(1), default=2_000_000, show_default=True, help="Tokens per timing.")
@click.option("--repeats", type=click.IntRange(1), default=7, show_default=True)
@common
def scaling(names, tokens, repeats, workers, **options):
    """Compare several workers with one, and NumPy's product with as many threads; prints Markdown."""
    from w2vneg.ground.errors import ConfigError

    from .. import scaling as s
    from ..speed import machine

    if workers < 2:
        raise ConfigError("--workers is compared with one worker; give two or more")
    chosen, encoded = chosen_of(names), encode(options)
    measured = s.measure(chosen, encoded, options["dim"], workers, tokens, repeats, say)
    keep(options["out"], s.as_json(measured, tokens))
    click.echo(f"{machine()}\n{len(encoded.vocab):,} words, {tokens:,} tokens per timing, {repeats} rounds\n")
    click.echo(s.table(measured))
