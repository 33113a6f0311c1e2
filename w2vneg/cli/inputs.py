"""Options that say what is read: one source, and where in its files to look; and reading it. For train, split, tune."""

import os
from contextlib import nullcontext

import click

from ..data.inputs import Input
from ..data.sources import SOURCES, options_of, readers_of
from .options import declared_flags
from .progress import byte_progress, note


def input_of(values, needed=True):
    """Take what is read (an `Input`) out of `values`, all options of a command that `reads`; what is left is its own.

    needed : bool, False: there may be none. UsageError unless exactly one source is named, and options that it reads.
    """
    sources = {kind: values.pop(kind) for kind in SOURCES if kind in values}
    items = {name: item for kind in sources for name, item in options_of(kind).items()}
    options = {name: values.pop(name, None) for name in items}
    named = [kind for kind, files in sources.items() if files]
    if not named and not needed and not any(options.values()):
        return None
    if len(named) != 1:
        which = f"{' and '.join('--' + kind for kind in named)} exclude each other" if named else "no source is named"
        raise click.UsageError(f"{which}; give one of {', '.join('--' + kind for kind in sources)}")
    kind = named[0]
    foreign = Input.foreign(kind, options)
    if foreign:
        readers = " and ".join(f"--{other}" for other in readers_of(foreign[0]))
        item = items[foreign[0]]
        raise click.UsageError(f"{declared_flags(item)} belongs to {readers}; --{kind} does not read it")
    return Input(kind, sources[kind], **{name: options[name] for name in options_of(kind) if options[name] is not None})


def taken(given, names):
    """Take options of `TrainConfig` out of `given`; return those that have a value (dict)."""
    return {name: value for name in names if (value := given.pop(name)) is not None}


def files_of(located):
    """Return the files that are read (list), but for those that each rank finds where it runs."""
    from ..data.encoded.ranked import RANK
    from ..data.readers.sources import find_files

    names = [name for name in (*located.files, *located.names) if RANK not in name]
    return find_files(names) if names else []


def reading_progress(quiet):
    """Return what opens a bar of the bytes that are read, as `Run.encode` takes it; of nothing if `quiet`."""
    return nullcontext if quiet else lambda: byte_progress("reading")


def encode(config, data, quiet, fixed=None):
    """Read a located `Input` for what is no run of its own, and tell of it; fixed : as `flags.fixed_of` returns it"""
    from ..data.vocab import Vocabulary
    from ..run import conductor

    vocabularies = {name: Vocabulary.load(path) for name, path in (fixed or {}).items()}
    with reading_progress(quiet)() as progress:
        encoded = conductor.encode(config, data, **vocabularies, progress=progress)
    tell_of_reading(encoded.report, quiet)
    return encoded


def tell_of_reading(report, quiet):
    """Say what was read, unless `quiet`, and warn of what may be wrong with it."""
    if not quiet:
        note(report.line())
    for hint in report.hints:
        note(f"Warning: {hint}.")


def refuse_overwriting(flag, place, files):
    """Raise click.UsageError if writing to `place`, a path or None, would overwrite one of the `files` read."""
    if place is None:
        return
    written = os.path.realpath(place)
    for file in map(str, files):
        read = os.path.realpath(file)
        if read == written or read.startswith(written + os.sep):
            raise click.UsageError(f"{flag} {place} would overwrite {file}, which is read; name another place")
