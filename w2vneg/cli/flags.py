"""Flags that several commands share, and what they stand for: read-outs, scores, titles of items, vocabularies."""

import click

from ..data.inputs import locate
from ..data.sources import options_of
from ..ground.errors import ConfigError
from .options import option, together

readout_option = option(
    "--readout NAME",
    "Read-out of a model folder: in, out, sum, both or context; add +letters or +paradigms.",
    default_text="as trained",
)
reads_vectors = together(
    readout_option,
    option(
        "--oov",
        "Make vectors for unknown words from spelling: of a read-out with letters or paradigms, or of n-grams with "
        "--readout in.",
        type=click.Choice(["letters"]),
    ),
)
asks_vectors = together(
    option("--vectors FILE", "Vectors or model folder.", default="vectors.txt"),
    option("-k --count", "Number of results.", name="k", type=click.IntRange(min=1), default=10),
    reads_vectors,
)


def _score(text):
    if text != "raw":  # the default: nothing heavy is imported for it
        from ..vectors.evaluation.scores import fused_weight, share_of

        try:
            if fused_weight(text) is None:
                share_of(text)
        except ConfigError as error:
            raise click.BadParameter(str(error)) from None
    return text


score_option = option(
    "--score raw|corrected|LAMBDA|slim+W",
    "Rank by raw dot products, or corrected for the popularity that negatives took out; LAMBDA is a share of it. "
    "slim+W adds W times the raw ones to the scores of slim.",
    type=_score,
    default="raw",
    common=False,
)

fold_in_option = option(
    "--fold-in FILE",
    "Pairs of users and items. These users, new or known, get vectors made of these items, which are left out of "
    "their lists.",
)

titles_options = together(
    option("--titles FILE|NAME", "Table of item titles, UTF-8 or Latin-1, or a name of 'w2vneg data list'."),
    option("--titles-cols ID,NAME", "Columns of --titles, by number from 1 or by name.", default_text="1,2"),
)


def titles_of(titles, asked, mirror, lowercase=False):
    """Return what items are called, dict of str -> str; empty without ``--titles``."""
    if asked is not None and not titles:
        raise click.UsageError("--titles-cols says which columns of --titles to read; give --titles FILE too")
    columns = [int(one) if one.isdecimal() else one for one in ("1,2" if asked is None else asked).split(",")]
    if len(columns) != 2 or "" in columns:
        raise click.UsageError(f"--titles-cols takes two columns with a comma between, not {asked!r}")
    if not titles:
        return {}
    from ..data.readers.tables import read_titles

    return read_titles(locate(titles, mirror, "items"), columns, lowercase)


_NAMES = {"vocab": ("--vocab", "rows"), "vocab_out": ("--vocab-out", "columns")}  # name -> flag, of what
_PLACE = {"section": "data", "part": "vocabulary", "common": False}

vocabulary_options = together(  # in a command's ``**given``, from which `fixed_of` takes them
    option(
        "--vocab FILE",
        "Use this vocabulary, such as vocab.tsv of a model folder; of rectangular data for the rows.",
        **_PLACE,
    ),
    option(
        "--vocab-out FILE",
        "Use this vocabulary for the columns of rectangular data, such as vocab_out.tsv.",
        kinds=("items",),
        **_PLACE,
    ),
)


def fixed_of(given):
    """Take the options out of `given`; return the files named by them (dict of name -> path)."""
    fixed = {name: given.pop(name) for name in _NAMES}
    return {name: path for name, path in fixed.items() if path}


def check_fixed(fixed, read, way=None):
    """Raise UsageError where the files of `fixed` mean nothing to the `Input` `read`; way : how a model goes on."""
    if way and fixed:
        flag = _NAMES[next(iter(fixed))][0]
        raise click.UsageError(f"{way} takes its vocabulary from the model folder; leave {flag} out")
    if "vocab_out" in fixed and not read.rectangular:
        what = f"--{read.kind} has one vocabulary, which --vocab names"
        hint = "; give --rectangular if they are two kinds of things" * ("rectangular" in options_of(read.kind))
        raise click.UsageError(f"--vocab-out is of columns that are another kind of thing than rows; {what}{hint}")


def tell_what_was_chosen(fixed, given, config, rectangular, note):
    """Tell what --min-count and --max-vocab did beside the files of `fixed`, if any of both was given."""
    if not fixed or (config.max_vocab is None and given["min_count"] is None):
        return
    flags = " and ".join(_NAMES[name][0] for name in fixed)
    if not rectangular or len(fixed) == len(_NAMES):
        return note(f"The words are those of {flags}; --min-count and --max-vocab did not choose any.")
    (own,) = (_NAMES[name][1] for name in fixed)
    (other,) = (side for name, (_, side) in _NAMES.items() if name not in fixed)
    note(f"The {own} are those of {flags}; --min-count and --max-vocab chose the {other} only.")
