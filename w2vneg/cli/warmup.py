"""``w2vneg warmup``: compile in advance, so that the first run does not wait for it."""

import dataclasses
from itertools import product

import click

from ..objectives.presets import PRESETS
from .options import command, option, quiet_or_json, read_config
from .tables import echo_json


@command("Compile the kernels of a run ahead of time.", reads=())
@option("--all", "Compile for every preset of 'w2vneg objectives'.", name="every")
@option(
    "--for KIND",
    "Data to train on: text, baskets, pairs or graph. Ratings are baskets, or pairs if rectangular. May be repeated.",
    name="sources",
    multiple=True,
    default=("text",),
    default_text="text",
)
@option("--config FILE.toml", "Read options from a file. The command line wins.", name="config_path")
@quiet_or_json
def warmup(every, sources, config_path, quiet, as_json, **given):
    """Compile the kernels that 'w2vneg train' needs with the same options, and cache them.

    Without this the first run compiles for about 20 seconds. Kernels depend on the objective, on --dim if it is a
    common one, and on whether one or several workers train.
    """
    config = read_config(config_path, given, trains=False)
    if every and (given["loss"] is not None or given["sampler"] is not None):
        raise click.UsageError("--all compiles for every preset; leave --loss and --sampler out")
    from ..run.warmup import check_cache, warm_up

    check_cache()
    wanted = list(product(PRESETS if every else [config.loss], sources))
    runs = []
    for number, (name, source) in enumerate(wanted, 1):
        name = name or dataclasses.replace(config, source=source).resolved().preset
        if not quiet:
            click.echo(f"{number}/{len(wanted)}: {name} on {source}: compiling or loading the kernels ...", err=True)
        found = warm_up(dataclasses.replace(config, loss=name), source)
        runs.append({"loss": name, "source": source, **dataclasses.asdict(found)})
        if not quiet and not as_json:
            what = f"{len(found.compiled)} functions compiled, {len(found.found)} found in the cache"
            click.echo(f"{name} on {source}: {what}, {found.seconds:.1f} s")
    if as_json:
        echo_json(runs)
