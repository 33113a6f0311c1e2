"""Options for vocabularies that are fixed instead of chosen from the data; train and tune share them."""

import click

from ..data.sources import options_of
from .options import option

_NAMES = {"vocab": ("--vocab", "rows"), "vocab_out": ("--vocab-out", "columns")}  # name -> flag, of what

_OPTIONS = (
    option(
        "--vocab",
        metavar="FILE",
        section="data",
        part="vocabulary",
        common=False,
        help="Use this vocabulary, such as vocab.tsv of a model folder; of rectangular data for the rows.",
    ),
    option(
        "--vocab-out",
        metavar="FILE",
        section="data",
        part="vocabulary",
        common=False,
        kinds=("items",),
        help="Use this vocabulary for the columns of rectangular data, such as vocab_out.tsv.",
    ),
)


def vocabulary_options(command):
    """Decorate `command` with the options; they reach it in its ``**given``, from which `fixed_of` takes them."""
    for decorate in reversed(_OPTIONS):
        command = decorate(command)
    return command


def fixed_of(given):
    """Take the options out of `given`; return the files named by them (dict of name -> path)."""
    fixed = {name: given.pop(name) for name in _NAMES}
    return {name: path for name, path in fixed.items() if path}


def check_fixed(fixed, read, way=None):
    """Raise click.UsageError where the files of `fixed` would mean nothing to the `Input` `read`.

    way : str, optional, the flag of a model that goes on
    """
    if way and fixed:
        flag = _NAMES[next(iter(fixed))][0]
        raise click.UsageError(f"{way} takes its vocabulary from the model folder; leave {flag} out")
    if "vocab_out" in fixed and not read.rectangular:
        what = f"--{read.kind} has one vocabulary, which --vocab names"
        hint = (
            "" if "rectangular" not in options_of(read.kind) else "; give --rectangular if they are two kinds of things"
        )
        raise click.UsageError(f"--vocab-out is of columns that are another kind of thing than rows; {what}{hint}")


def vocabularies(fixed):
    """Load the files of `fixed`: dict of name -> Vocabulary, as `data.inputs.encode` takes them; InputError."""
    from ..data.vocab import Vocabulary

    return {name: Vocabulary.load(path) for name, path in fixed.items()}


def tell_what_was_chosen(fixed, given, config, rectangular, note):
    """Tell what --min-count and --max-vocab did beside the files of `fixed`, if any of both was given.

    given : dict, options of the command line; config : TrainConfig; rectangular : bool; note : callable(str)
    """
    if not fixed or (config.max_vocab is None and given["min_count"] is None):
        return
    flags = " and ".join(_NAMES[name][0] for name in fixed)
    if not rectangular or len(fixed) == len(_NAMES):
        return note(f"The words are those of {flags}; --min-count and --max-vocab did not choose any.")
    (own,) = (_NAMES[name][1] for name in fixed)
    (other,) = (side for name, (_, side) in _NAMES.items() if name not in fixed)
    note(f"The {own} are those of {flags}; --min-count and --max-vocab chose the {other} only.")
