"""Flags of the commands that read vectors: how they are made of a model folder, and of words that it does not know."""

import click

from ..data.sources import options_of
from .options import option

readout_option = option(
    "--readout",
    metavar="NAME",
    default_text="as trained",
    help="Read-out of a model folder: in, out, sum, both or context, perhaps +letters.",
)
_OOV = option(
    "--oov",
    type=click.Choice(["letters"]),
    metavar="letters",
    help="Make vectors for unknown words from spelling: of a read-out with letters or paradigms, or of n-grams with "
    "--readout in.",
)


def reads_vectors(command):
    """Give a command the flags ``--readout`` and ``--oov``, parameters of these names."""
    return readout_option(_OOV(command))


class _Score(click.ParamType):
    """raw, corrected or a number."""

    name = "raw|corrected|LAMBDA"

    def convert(self, value, param, ctx):
        if value == "raw":  # the default: nothing heavy is imported for it
            return value
        from ..ground.errors import ConfigError
        from ..vectors.evaluation.correction import share_of

        try:
            share_of(value)
        except ConfigError as error:
            self.fail(str(error), param, ctx)
        return value


score_option = option(
    "--score",
    type=_Score(),
    metavar="raw|corrected|LAMBDA",
    default="raw",
    common=False,
    help="Rank by raw dot products, or corrected for the popularity that negatives took out; LAMBDA is a share of it.",
)

fold_in_option = option(
    "--fold-in",
    metavar="FILE",
    help="Pairs of users and items. These users, new or known, get vectors made of these items, which are left out of "
    "their lists.",
)


_TITLES = option(
    "--titles",
    metavar="FILE|NAME",
    help="Table of item titles, UTF-8 or Latin-1, or a name of 'w2vneg data list'.",
)
_COLUMNS = option(
    "--titles-cols",
    metavar="ID,NAME",
    default_text="1,2",
    help="Columns of --titles, by number from 1 or by name.",
)


def titles_options(command):
    """Give a command the flags ``--titles`` and ``--titles-cols``, parameters of these names."""
    return _TITLES(_COLUMNS(command))


def titles_of(titles, asked, mirror, lowercase=False):
    """Return what items are called, dict of str -> str; empty without ``--titles``."""
    columns = _columns(titles, asked)
    if not titles:
        return {}
    from ..data.inputs import locate
    from ..data.readers.names import read_titles

    return read_titles(locate(titles, mirror, "items"), columns, lowercase)


def _columns(titles, asked):
    if asked is None:
        return 1, 2
    if not titles:
        raise click.UsageError("--titles-cols says which columns of --titles to read; give --titles FILE too")
    columns = [int(one) if one.isdecimal() else one for one in asked.split(",")]
    if len(columns) != 2 or "" in columns:
        raise click.UsageError(f"--titles-cols takes two columns with a comma between, not {asked!r}")
    return columns


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
