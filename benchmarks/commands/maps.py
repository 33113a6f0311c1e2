"""``python -m benchmarks map``: frame rate of the map."""

import click

from .common import say


@click.command("map")
@click.option("--words", "sizes", type=click.IntRange(min=100), multiple=True, help="[default: 70,000 and 1,000,000]")
@click.option("--dim", type=click.IntRange(min=2), default=100, show_default=True)
@click.option(
    "--seconds", type=click.FloatRange(min=0.5), default=6, show_default=True, help="How long to drag each map."
)
@click.option("--tensorboard", metavar="COMMAND", help="TensorBoard's command, to compare with its projector.")
def map_(sizes, dim, seconds, tensorboard):
    """Measure the map of a report in headless Chromium, with synthetic vectors: seconds, size, frames. Prints Markdown.

    It needs Chromium and the extra browser. Chromium renders in software.
    """
    import tempfile

    from .. import maps as b
    from ..speed import machine

    looks = []
    with b.browser() as opened, tempfile.TemporaryDirectory() as folder:
        for n in sizes or (70_000, 1_000_000):
            say(f"{n:,} points")
            looks.append(b.look_at_map(opened, n, dim, seconds, folder))
            if tensorboard:
                say("TensorBoard's projector")
                looks.append(b.look_at_projector(opened, n, dim, seconds, folder, tensorboard))
    click.echo(f"{machine()}; Chromium {opened.version}, software rendering; {dim} dimensions\n")
    click.echo(b.table(looks))
