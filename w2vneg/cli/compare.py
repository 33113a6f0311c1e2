"""``w2vneg compare``: runs side by side over the same seeds."""

import dataclasses
import json
import os
import sys
from contextlib import nullcontext
from pathlib import Path

import click

from ..ground.errors import ConfigError
from .images import images_of
from .inputs import encode, input_of, input_options, tell_of_reading
from .options import (
    GroupedCommand,
    config_options,
    json_option,
    mirror_option,
    option,
    options_in,
    quiet_option,
    read_config,
)
from .progress import SearchProgress, compiling_told, noter
from .runfile import file_of_run
from .validation_options import check_valid, valid_options, validation_of, warn_of_raw
from .vocabularies import check_fixed, fixed_of, vocabularies, vocabulary_options

_AT_THE_END = 1e9  # epochs from one evaluation to the next: nothing is chosen within a run
_COMMON = ("seed", "plugin")


@click.command(cls=GroupedCommand, short_help="Compare runs over several seeds.")
@click.argument("runs", nargs=-1, metavar="[RUN.toml|MODEL]…")
@input_options
@option(
    "--grid",
    multiple=True,
    metavar="NAME=V,V…",
    section="search",
    help="Values to compare, instead of RUNs. May be repeated.",
)
@option("--seeds", type=click.IntRange(min=1), default=5, section="search", help="Seeds of each run.")
@vocabulary_options
@mirror_option
@valid_options
@option(
    "--out",
    metavar="DIR",
    required=True,
    section="output",
    help="Folder of runs and tables. A comparison that is there goes on.",
)
@quiet_option
@json_option
@config_options
def compare(runs, out, grid, seeds, mirror, quiet, as_json, **given):
    """Train several runs under the same seeds and print one table.

    A RUN is a file of options, as for 'train --config', or a model folder. Data and held-out pairs come from the first
    RUN; options of the command line apply to all. --metric is measured at the end of each run, on held-out pairs or a
    word set. Differences are paired by seed, from the first RUN.

    Writes compare.md, compare.csv and, if matplotlib is installed, plots. Run the same command again to resume, or with
    more runs or seeds to add them.
    """
    note = noter(quiet)
    if bool(runs) == bool(grid):
        raise click.UsageError("name runs, or values of options with --grid; one of the two")
    held_out, read, fixed = check_valid(given), input_of(given), fixed_of(given)
    if not held_out.there:
        raise click.UsageError("runs are compared by held-out pairs, --valid, or by a set of words, --metric")
    chooses = "every" in held_out.chosen or "patience" in held_out.chosen
    if not chooses:
        held_out.chosen["every"] = _AT_THE_END
    names, combinations, base = _of_runs(runs, given) if runs else _of_grid(grid, given)
    from ..data.inputs import settled
    from ..run.conductor import reading

    read = settled(read, base.encoding, mirror)
    config = reading(base, read)
    from ..run.search.comparing import compared
    from ..run.search.trials import check_folder
    from ..run.search.tuning import check_combinations, tune

    check_folder(out)
    check_combinations(config, combinations)
    check_fixed(fixed, read)
    if not quiet:
        click.get_current_context().with_resource(compiling_told(note))
    encoded = encode(config, read.located(mirror), quiet, **vocabularies(fixed))
    tell_of_reading(encoded.report, quiet)
    validation = validation_of(held_out, encoded, config, None, note, mirror, chooses)
    warn_of_raw(validation, config, combinations, encoded, note)
    with nullcontext() if quiet else SearchProgress(source=config.source) as progress:
        listeners = [] if progress is None else [progress]
        found = tune(encoded, config, combinations, validation, seeds=seeds, folder=out, listeners=listeners)
    metric = validation.metric.name
    _write(compared(found.trials, combinations, names, metric), metric, Path(out), note, as_json)
    if not found.complete:
        note("Interrupted: what was done is kept; the same command goes on.")
        sys.exit(130)


def _of_grid(grid, given):
    """Return names, options of each run, and the TrainConfig of what all have in common."""
    from ..run.search.space import combinations, parse_grid

    found = combinations(parse_grid(grid))
    names = [", ".join(f"{name} {value}" for name, value in options.items()) for options in found]
    return names, found, read_config(None, given)


def _of_runs(runs, given):
    """As `_of_grid`, of files of options and model folders."""
    from ..config import TrainConfig
    from ..config.table import table

    files = [options_in(file_of_run(place)) for place in runs]
    common, combinations = {}, []
    for place, options in zip(runs, files, strict=True):
        TrainConfig.from_mapping(options, file_of_run(place))
        own = {name: value for name, value in options.items() if given.get(name) is None}
        shared = {name: value for name, value in own.items() if table()[name].metadata["group"] == "corpus"}
        shared |= {"plugin": own["plugin"]} if "plugin" in own else {}
        if common and shared != common[1]:
            differing = next(name for name in {**common[1], **shared} if common[1].get(name) != shared.get(name))
            raise ConfigError(
                f"{differing} differs between {common[0]} and {place}, and data are encoded once; give "
                f"--{differing.replace('_', '-')} for all"
            )
        common = common or (place, shared)
        combinations.append({n: v for n, v in own.items() if n not in shared and n not in _COMMON})
    bare = [os.path.normpath(place).removesuffix(f"{os.sep}run.toml") for place in runs]
    names = [os.path.basename(place).removesuffix(".toml") for place in bare]
    names = names if len(set(names)) == len(names) else list(runs)
    if len({json.dumps(options, sort_keys=True) for options in combinations}) < len(combinations):
        raise ConfigError("two of the runs have the same options; seeds are those of --seeds")
    given = {**common[1], **{name: value for name, value in given.items() if value is not None}}
    return names, combinations, read_config(None, given)


def _write(found, metric, out, note, as_json):
    from ..ground.files.atomic import atomic_file
    from ..look.searches import charts_of_comparison
    from ..run.search.comparing import as_csv, as_rows
    from ..run.search.trials import as_markdown
    from .tables import table

    rows = as_rows(found, metric)
    content = {"compare.md": as_markdown(rows).encode(), "compare.csv": as_csv(found, metric).encode()}
    content |= images_of(charts_of_comparison(found, metric), "compare", note)
    for name, data in content.items():
        with atomic_file(out / name) as stream:
            stream.write(data)
    if as_json:
        click.echo(json.dumps({"metric": metric, "runs": [dataclasses.asdict(run) for run in found]}, indent=2))
    else:
        click.echo(table(rows))
    note(f"Wrote {', '.join(content)} in {out}.")
    if not any(run.values for run in found):
        raise ConfigError(f"no run could be trained; the first reason: {found[0].reason}")
