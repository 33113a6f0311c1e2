"""Options that say what is read: one source, and where in its files to look; and reading it. For train, split, tune."""

import os
from contextlib import nullcontext

import click

from ..data.inputs import FIELDS, Input
from .options import ConfigOption

_SOURCES = {  # kind -> (metavar, help)
    "corpus": (
        "PATH|NAME",
        "Text: a file, folder, glob, - for standard input, or a name of 'w2vneg data list'.",
    ),
    "pairs": ("PATH", "Pairs of items, a pair a row: item, target and perhaps a weight. Delimited text or Parquet."),
    "cooccurrence": ("PATH", "How often items were seen together: a scipy.sparse .npz, or a table of pairs."),
    "baskets": ("PATH", "Baskets of items, one a line."),
    "ratings": ("PATH", "Who rated, bought or saw what, a row an event; read as histories by user."),
}
_HEADING = "Columns and rows of items"
_OPTIONS = {  # field of Input -> (flag, help, what holds when it is left out, click's attributes)
    "delimiter": (
        "--delimiter",
        "tab, comma, semicolon, pipe, blank, :: or any sign.",
        "found out",
        {"metavar": "SIGN"},
    ),
    "header": ("--header/--no-header", "Whether the first line names the columns.", "found out", {}),
    "user_col": ("--user-col", "Column of the users, by name or number.", "1", {}),
    "item_col": ("--item-col", "Column of the items, by name or number.", "1, in --ratings 2", {}),
    "target_col": ("--target-col", "Column of what was seen with the item.", "2", {}),
    "weight_col": ("--weight-col", "Column of how often a pair was seen.", "3, if there is a number in it", {}),
    "rating_col": ("--rating-col", "Column of the ratings.", "3", {}),
    "min_rating": ("--min-rating", "Leave out rows with a lower rating.", None, {"type": float}),
    "time_col": ("--time-col", "Column of times, numbers or dates, that order a history.", "file order", {}),
    "max_history": ("--max-history", "Keep only so many of a user's latest items.", "all", {"type": click.IntRange(2)}),
    "names": (
        "--names",
        "Names of a matrix's items, one a line; give it twice if rectangular.",
        "0, 1, 2, ...",
        {"multiple": True, "metavar": "FILE"},
    ),
    "rectangular": (
        "--rectangular",
        "Centres and targets are two kinds of things, as users and items.",
        None,
        {"is_flag": True},
    ),
}


def input_options(command):
    """Decorate `command` with the options that `input_of` understands."""
    for name, (flag, text, default, attributes) in reversed(_OPTIONS.items()):
        readers = ", ".join(f"--{kind}" for kind, fields in FIELDS.items() if name in fields)
        text += f"  [for {readers}{f'; default: {default}' if default else ''}]"
        if name.endswith("_col"):
            attributes = {"metavar": "COLUMN"}
        option = click.option(flag, name, cls=ConfigOption, heading=_HEADING, default=None, help=text, **attributes)
        command = option(command)
    for kind, (metavar, text) in reversed(_SOURCES.items()):
        text += " May be repeated." if kind != "cooccurrence" else ""
        command = click.option(f"--{kind}", kind, multiple=True, metavar=metavar, help=text)(command)
    return command


def input_of(values, needed=True):
    """Take the options of `input_options` out of a command's values.

    Parameters
    ----------
    values : dict
        Name -> value of all options; those of the input are removed, so that what is left is the command's own.
    needed : bool
        False: there may be none.

    Returns
    -------
    Input or None

    Raises
    ------
    click.UsageError
        Unless exactly one source is named, and only options that it reads.
    """
    sources = {kind: values.pop(kind, ()) for kind in FIELDS}
    options = {name: values.pop(name, None) for name in _OPTIONS}
    named = [kind for kind, files in sources.items() if files]
    if not named and not needed and not any(options.values()):
        return None
    if len(named) != 1:
        which = f"{' and '.join('--' + kind for kind in named)} exclude each other" if named else "no source is named"
        raise click.UsageError(f"{which}; give one of {', '.join('--' + kind for kind in FIELDS)}")
    kind = named[0]
    foreign = Input.foreign(kind, options)
    if foreign:
        readers = " and ".join(f"--{other}" for other, fields in FIELDS.items() if foreign[0] in fields)
        raise click.UsageError(f"{_OPTIONS[foreign[0]][0]} belongs to {readers}; --{kind} does not read it")
    return Input(kind, sources[kind], **{name: options[name] for name in FIELDS[kind] if options[name] is not None})


def encode(source, config, quiet, **vocabularies):
    """Read a located `Input` with the options of `config`, with progress unless `quiet`.

    Parameters
    ----------
    source : Input
    config : TrainConfig
    quiet : bool
    **vocabularies
        vocab, vocab_out: see `data.inputs.encode_input`.

    Returns
    -------
    EncodedCorpus or EncodedPairs
    """
    from ..data.inputs import encode_input
    from .progress import byte_progress

    with nullcontext() if quiet else byte_progress("reading") as progress:
        return encode_input(source, **config.shaping, **vocabularies, progress=progress)


def refuse_overwriting(flag, place, files):
    """Raise click.UsageError if writing to `place`, a file or folder, would overwrite one of the `files` read."""
    written = os.path.realpath(place)
    for file in map(str, files):
        read = os.path.realpath(file)
        if read == written or read.startswith(written + os.sep):
            raise click.UsageError(f"{flag} {place} would overwrite {file}, which is read; name another place")
