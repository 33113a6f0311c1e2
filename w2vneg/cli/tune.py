"""``w2vneg tune``: options chosen on held-out pairs, from training data and those pairs alone."""

import dataclasses
import math
import os
import sys

import click

from ..ground.errors import ConfigError
from ..ground.files.locks import owned
from . import flags
from .options import COUNT, command, option, quiet_or_json, read_config, refuse_beginning
from .progress import noter, report_compiling, search_progress
from .results import warn_without_locks, write_images
from .tables import echo_json
from .validation_options import check_valid, run_options, validation_of, warn_of_raw


@command("Search for the best options on held-out pairs.")
@option("--grid NAME=V,V…", "Values to try, such as alpha=0.025,0.05. May be repeated.", multiple=True)
@option(
    "--range NAME=A..B",
    "Range to draw an option from, with --random. NAME=A..B:log draws on a log scale; may be repeated.",
    name="ranges",
    multiple=True,
)
@option(
    "--random N",
    "Draw N combinations from --grid and --range.",
    name="n_random",
    type=COUNT,
    default_text="every combination of --grid",
)
@option(
    "--search",
    "How --random draws. tpe is Optuna's, which also stops poor runs early.",
    name="way",
    type=click.Choice(["random", "tpe"]),
    default="random",
)
@option(
    "--seeds",
    "Runs of each combination. Seeds count up from --seed; the table has mean and range.",
    type=COUNT,
    default=1,
)
@run_options
@option("--config FILE.toml", "Read options from a file. The command line wins.", name="config_path")
@option("--out DIR", "Folder of trials and tables. An existing search resumes.", required=True)
@quiet_or_json
def tune(out, grid, ranges, n_random, way, seeds, config_path, mirror, quiet, as_json, **given):
    """Train combinations of options and rank them by held-out pairs.

    Trials run one after another on data encoded once; --valid, or a word set given to --metric, decides. A failed
    trial is a row with its reason. Run the same command again to resume, or with more values or seeds to add to it.

    Writes trials.csv and trials.md, best first, plots, and best.toml for 'train --config'.
    """
    note = noter(quiet)
    if config_path:
        refuse_beginning(config_path, "tune")
    held_out, fixed = check_valid(given), flags.fixed_of(given)
    if not held_out.there:
        remedy = "name them with --valid, or a word set with --metric"
        raise click.UsageError(f"a search evaluates its trials on held-out pairs; {remedy}")
    named = flags.input_of(given, needed=False)
    config = read_config(config_path, given)
    from ..look.searches import charts_of_search
    from ..run.conductor import reading
    from ..run.search import trials, tuning

    flags.refuse_dash("--out", out)
    combinations = _combinations(grid, ranges, n_random, way, config.seed, given)
    trials.check_folder(out)
    with owned(out):
        warn_without_locks(out, note)
    run = tuning.run_to_read(config, combinations, named or flags.builtin(), mirror=mirror, **fixed)
    config = reading(config, run.data)
    flags.check_fixed(fixed, run.data)
    if named is None:
        note(flags.NO_CORPUS)
    report_compiling(quiet)
    encoded = flags.encode_run(run, fixed, given, quiet, note)
    validation = validation_of(held_out, run, encoded, None, note, mirror)
    warn_of_raw(validation, config, combinations, encoded, note)
    with search_progress(quiet, config.source) as listeners:
        how = {"seeds": seeds, "folder": out, "listeners": listeners, "read": run.located, "fixed": fixed}
        found = tuning.tune(encoded, config, combinations, validation, of_command=True, **how)
    write_images(charts_of_search(found.rows, validation.metric), out, "tune", note)
    _report(found, validation.metric.name, out, note, as_json)
    _report_edges(found, grid, note)
    if not found.complete:
        note("Interrupted: finished trials are kept; run the same command to resume.")
        sys.exit(130)


def _combinations(grid, ranges, n_random, way, seed, given):
    """Return the combinations to try; all errors in them are reported before data are read."""
    from ..run.search.space import Tpe, combinations, draws, parse_grid, parse_ranges

    if not grid and not ranges:
        raise click.UsageError("nothing to try; name options with --grid, or with --random and --range")
    if ranges and n_random is None:
        raise click.UsageError("--range is to draw from; give the number of draws with --random N")
    if way == "tpe" and n_random is None:
        raise click.UsageError("--search tpe needs the number of combinations; give --random N")
    grid = parse_grid(grid)
    ranges = parse_ranges(ranges, grid)
    for name in [*grid, *ranges]:
        if given.get(name) is not None:
            flag = name.replace("_", "-")
            raise click.UsageError(f"{name} is searched, so --{flag} has no effect; leave one of them out")
    if way == "tpe":
        return Tpe(grid, ranges, n_random, seed)
    return combinations(grid) if n_random is None else draws(grid, ranges, n_random, seed)


def _report_edges(found, grid, note):
    """Report numbers of the best combination that are the smallest or largest tried in the folder."""
    from ..run.search.space import parse_grid

    if found.best is None:
        return
    edges = []
    for name in parse_grid(grid):
        values = {row.options[name] for row in found.rows if name in row.options}
        values = {math.inf if value == "inf" else value for value in values}
        numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
        best = found.best.options.get(name)
        if len(numbers) > 1 and best in (min(numbers), max(numbers)) and not math.isinf(best):
            edges.append(f"{name} {best}")
    if edges:
        note(f"At the edge of the grid: {', '.join(edges)}; values beyond may be better.")


def _report(found, metric, out, note, as_json):
    if as_json:
        rows = [dataclasses.asdict(row) for row in found.rows]
        best = None if found.best is None else found.best.options
        echo_json({"metric": metric, "complete": found.complete, "best": best, "rows": rows}, allow_nan=False)
    if found.best is None:
        if found.rows:
            raise ConfigError(f"no combination could be trained; the first reason: {found.rows[0].reason}")
        return
    options = ", ".join(f"{name} {value}" for name, value in found.best.options.items())
    note(f"Best of {len(found.rows)} combinations: {options}: {metric} {found.best.value:.4f}.")
    best = os.path.join(out, "best.toml")
    note(f"Tables in {os.path.join(out, 'trials.md')} and trials.csv; best run: w2vneg train --config {best}.")
