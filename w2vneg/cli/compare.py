"""``w2vneg compare``: runs side by side over the same seeds."""

import dataclasses
import filecmp
import json
import os
import re
import sys
from functools import partial
from pathlib import Path

import click

from ..data.sources import SOURCES, options_of
from ..ground.errors import ConfigError
from ..ground.files.atomic import atomic_file, check_folder_writable
from ..ground.option import flag_of
from . import flags, options
from .options import COUNT, command, option, quiet_or_json
from .progress import noter, report_compiling, search_progress
from .results import as_typed, write_images
from .tables import echo, table
from .validation_options import HELD_OUT, check_each, is_set, run_options, validation_of, warn_of_raw

_AT_THE_END = 1e9  # epochs between evaluations: nothing is chosen within a run
_COMMON = ("seed", "plugin")
_FILES = ("md", "csv", "tex", "png", "pdf", "svg")


def _suffixes(text):
    found = [one.strip().removeprefix(".") for one in text.split(",")]
    if unknown := [one for one in found if one not in _FILES]:
        raise click.BadParameter(f"{unknown[0]!r} is not a suffix that can be written; known: {', '.join(_FILES)}")
    return found


@command("Compare runs over several seeds.")
@click.argument("runs", nargs=-1, metavar="[RUN.toml|MODEL]…")
@option("--grid NAME=V,V…", "Values to compare, instead of RUNs. May be repeated.", multiple=True)
@option("--seeds", "Seeds of each run.", type=COUNT, default=5)
@run_options
@option(
    "--on DATA,DATA…",
    "Data to compare on, instead of one source. Corpora, or held-out parts of splits, such as split/test.tsv; "
    "the folder of a split means its valid.tsv.",
)
@option("--keep DIR", "Keep the model of each run and seed. An existing model is evaluated, not retrained.")
@option(
    "--files SUFFIX,…", "Tables and plots to write: md, csv, tex, png, pdf, svg.", type=_suffixes, default="md,csv,png"
)
@option("--out DIR", "Folder of runs and tables. An existing comparison resumes.", required=True)
@quiet_or_json
def compare(runs, out, grid, seeds, on, keep, files, mirror, quiet, as_json, **given):
    """Train several runs under the same seeds and print one table.

    A RUN is a file of options, as for 'train --config', or a model folder, on the same data. Held-out pairs come from
    the first; options of the command line apply to all. Each --metric is measured at the end. Differences from the
    first RUN are paired by seed, and tested with Holm's correction.

    'w2vneg report DIR' shows the results. Run the same command again to resume, or with more runs or seeds to add
    them.
    """
    note = noter(quiet)
    if bool(runs) == bool(grid):
        raise click.UsageError("name either runs, or values of options with --grid")
    flags.refuse_dash("--out", out)
    flags.refuse_dash("--keep", keep)
    tasks, fixed = _tasks(on, given), flags.fixed_of(given)
    given = {name: value for name, value in given.items() if value is not None}
    names, combinations, base = _of_runs(runs, given) if runs else _of_grid(grid, given)
    from ..run.conductor import reading
    from ..run.search import comparing, trials, tuning

    if keep:
        check_folder_writable(keep)
    for task in tasks:
        trials.check_folder(Path(out, _as_name(task.name)))
        task.run = tuning.run_to_read(base, combinations, task.read or flags.builtin(), mirror=mirror, **fixed)
        flags.check_fixed(fixed, task.run.data)
    if tasks[0].read is None:
        note(flags.NO_CORPUS)
    report_compiling(quiet)
    first = options.options_in(options.file_of_run(runs[0])) if runs else {}
    found, whole = [], first.get("epochs", _AT_THE_END)
    for task in tasks:
        config, encoded = reading(base, task.run.data), flags.encode_run(task.run, fixed, given, quiet, note)
        validation = _validation_of(task, encoded, note, mirror, whole)
        warn_of_raw(validation, config, combinations, encoded, note)
        kept_at = keep and partial(_place, Path(keep, _as_name(task.name)), combinations, names)
        how = {"seeds": seeds, "folder": Path(out, _as_name(task.name)), "kept_at": kept_at, "fixed": fixed}
        with search_progress(quiet, config.source) as listeners:
            how |= {"read": task.run.data, "listeners": listeners, "of_command": True}
            search = tuning.tune(encoded, config, combinations, validation, **how)
        for metric in dict.fromkeys(held.chosen.get("metric", "mpr") for held in task.held_out):
            found += comparing.compared(search.trials, combinations, names, metric.strip().lower(), task.name)
        if not search.complete:
            break
    if any(len(run.values) > seeds for run in found):
        note(f"{out} has more than {seeds} seeds from an earlier comparison; all count.")
    _write(comparing.corrected(found), Path(out), files, note, as_json)
    if not search.complete:
        note("Interrupted: finished runs are kept; run the same command to resume.")
        sys.exit(130)
    if not any(run.values for run in found):
        raise ConfigError(f"no run could be trained; the first reason: {found[0].reason}")


@dataclasses.dataclass
class _Task:
    """name : str, empty for only one; read : Input or None; held_out : list of HeldOutFlags, by metric; run : Run"""

    name: str
    read: object
    held_out: list
    run: object = None


def _tasks(on, given):
    """Take data and held-out pairs out of `given`; return the `_Task` of each data set."""
    from ..data.splitfiles import held_out_in, input_beside, known_beside
    from ..look.report.subjects import short_names

    data = {name: given.pop(name) for name in [*given] if options.of_data(name)}
    held_out = {name: given.pop(name) for name in HELD_OUT}
    if not on:
        tasks = [_Task("", flags.input_of(data, needed=False), check_each(held_out))]
    else:
        places = [held_out_in(place) for place in on.split(",") if place]
        splits = [input_beside(place) for place in places]
        idle = [f"--{name}" for name in SOURCES if data[name]] + ["--valid"] * bool(held_out["valid"])
        if any(splits):
            items = [item for kind in SOURCES for item in options_of(kind).values()]
            idle += [flag_of(item) for item in items if data[item.name] not in (None, ())]
        if idle:
            how = "; splits define how they are read and" if any(splits) else " and"
            raise click.UsageError(f"--on names the data{how} their held-out pairs; leave {idle[0]} out")
        if None in splits and not (held_out["metric"] and all(map(is_set, held_out["metric"]))):
            remedy = "to compare on a text, name a word set, such as --metric men-dev"
            other = f"{places[splits.index(None)]} is not a held-out part of a split, such as split/test.tsv"
            raise click.UsageError(f"{other}; {remedy}")
        named = [place if read is None else Path(place).parent for place, read in zip(places, splits, strict=True)]
        tasks = []
        for name, place, read in zip(short_names(named), places, splits, strict=True):
            of_pairs = {} if read is None else {"valid": place, "valid_exclude_known": known_beside(place)}
            read = read or flags.input_of(data | {"corpus": (place,)})
            tasks.append(_Task(name, read, check_each(held_out | of_pairs)))
    if not all(held.there for task in tasks for held in task.held_out):
        raise click.UsageError("runs are compared on held-out pairs, --valid, or on a word set, --metric")
    return tasks


def _validation_of(task, encoded, note, mirror, whole):
    """Return the `Validation` of runs, by all metrics; only at the end of each run, unless options say otherwise.

    whole : epochs of the first run; with no earlier evaluation, runs are evaluated at their ends
    """
    from ..run.search.comparing import Measures

    first = task.held_out[0].chosen
    chooses = first.get("every", whole) < whole or "patience" in first
    parts = []
    for one in task.held_out:
        own = one if chooses else dataclasses.replace(one, chosen=one.chosen | {"every": _AT_THE_END})
        parts.append(validation_of(own, task.run, encoded, None, noter(True) if parts else note, mirror, chooses))
    return parts[0] if len(parts) == 1 else Measures(parts)


def _as_name(text):
    return re.sub(r"[^\w.=+-]+", "-", text)


def _place(folder, combinations, names, chosen, seed):
    return folder / _as_name(names[combinations.index(chosen)]) / f"seed-{seed}"


def _of_grid(grid, given):
    """Return the names and options of the runs, and the TrainConfig that they have in common."""
    from ..config import TrainConfig
    from ..run.search.space import combinations, parse_grid

    found = combinations(parse_grid(grid))
    names = [", ".join(f"{name} {value}" for name, value in chosen.items()) for chosen in found]
    return names, found, TrainConfig.from_mapping(given)


def _of_runs(runs, given):
    """Do as `_of_grid` does, for files of options and model folders."""
    from ..config import TrainConfig
    from ..config.table import table
    from ..objectives.plugins import absolute_plugins, are_loaded, how_to_load
    from ..run.search.space import Planned

    files = [options.options_in(options.file_of_run(place)) for place in runs]
    common, combinations = None, Planned()
    for place, chosen in zip(runs, files, strict=True):
        options.refuse_beginning(place, "compare")
        if not are_loaded(plugin := chosen.get("plugin")):  # a model folder must not run code
            raise ConfigError(f"{place} needs the plug-in {plugin}, which is not loaded; {how_to_load(plugin)}")
        TrainConfig.from_mapping(chosen, options.file_of_run(place))
        own = {name: value for name, value in chosen.items() if name not in given}
        shared = {name: value for name, value in own.items() if table()[name].metadata["group"] == "corpus"}
        common = shared if common is None else common
        _check_same(common, shared, runs[0], place)
        combinations.append({n: v for n, v in own.items() if n not in shared and n not in _COMMON})
    plugins = dict.fromkeys(plugin for chosen in files if (plugin := absolute_plugins(chosen.get("plugin"))))
    config = TrainConfig.from_mapping({**common, "plugin": ",".join(plugins) or None, **given})
    _check_data(runs, config.encoding)
    bare = [os.path.normpath(place).removesuffix(f"{os.sep}run.toml") for place in runs]
    names = [os.path.basename(place).removesuffix(".toml") for place in bare]
    names = names if len(set(names)) == len(names) else list(runs)
    if len({json.dumps(chosen, sort_keys=True) for chosen in combinations}) < len(combinations):
        raise ConfigError("two of the runs have the same options; for several seeds use --seeds")
    return names, combinations, config


def _check_same(first, other, run, place):
    """Raise ConfigError if the data options of `run`, the first, and of the run at `place` differ; both are dicts."""
    differing = next((name for name in {**first, **other} if first.get(name) != other.get(name)), None)
    if differing is not None:
        what = f"{differing} differs between {run} and {place}, and data are encoded once"
        raise ConfigError(f"{what}; give --{differing.replace('_', '-')} for all")


def _check_data(runs, encoding):
    """Raise ConfigError if a run names other data than the first, or reads them in another way.

    A run that names no source has that of the first, with its options. The command line applies to all.
    """
    from ..data.inputs import settled

    context = click.get_current_context()
    given, mirror = options.on_the_command_line(context), context.params["mirror"]
    first, *others = [options.options_of_run(context, options.file_of_run(place)) for place in runs]
    for place, own in zip(runs[1:], others, strict=True):
        source = next((kind for kind in SOURCES if kind in own), None)
        both = [given | first, given | (own if source else first | own)]
        fixed = [flags.fixed_of(values) for values in both]
        data = [{n: v for n, v in values.items() if options.of_data(n) and "on" not in given} for values in both]
        read = [(flags.input_of(values, needed=False) or flags.builtin()).absolute() for values in data]
        sources = [{one.kind: one.files} for one in read]
        if sources[0] != sources[1] and not any(kind in both[0] for kind in SOURCES):
            files = " ".join(f"--{source} {as_typed(file)}" for file in own[source])
            raise ConfigError(f"{runs[0]} names no data; give {files} for all, or {place} first")
        _check_same(*sources, runs[0], place)
        if read[0] != read[1]:  # one may leave open what the other says
            read = [settled(one, encoding, mirror) for one in read]
        _check_same(*(one.values() for one in read), runs[0], place)
        _check_same(*_contents(*fixed), runs[0], place)


def _contents(one, other):
    """Return two dicts of name -> path, with the path of the first in both if the files are the same."""
    there = [name for name in one.keys() & other.keys() if all(map(os.path.isfile, (one[name], other[name])))]
    same = [name for name in there if filecmp.cmp(one[name], other[name], shallow=False)]
    return one, other | {name: one[name] for name in same}


def _write(runs, out, suffixes, note, as_json):
    from ..look.searches import charts_of_comparison
    from ..run.search import comparing, trials

    rows = comparing.as_rows(runs)
    document = json.dumps({"runs": [dataclasses.asdict(run) for run in runs]}, indent=2)
    below = comparing.said_below(runs)
    markdown = f"{trials.as_markdown(rows)}\n{below}\n"
    tables = {"md": markdown, "csv": comparing.as_csv(runs), "tex": comparing.as_latex(rows)}
    content = {f"compare.{suffix}": text for suffix, text in tables.items() if suffix in suffixes}
    for name, text in ({comparing.SAVED: document} | content).items():
        with atomic_file(out / name, "w", encoding="utf-8") as stream:
            stream.write(text)
    images = [suffix for suffix in suffixes if suffix not in tables]
    plots = write_images(charts_of_comparison(runs), out, "compare", note, images) if images else []
    echo(document if as_json else table(rows))
    if any(run.p is not None or run.l2 for run in runs) or comparing.replaced(runs):
        note(below)
    note(f"Wrote {', '.join(content)}{f' and {len(plots)} images' if plots else ''} in {out}.")
