"""Options shared by several sources or traversals."""

from dataclasses import dataclass
from functools import partial
from numbers import Integral

from ...ground.errors import ConfigError
from ...ground.option import option


def _number_of_column(value):
    if isinstance(value, Integral) and not isinstance(value, bool):
        return value
    raise ConfigError(f"must be the name or number of a column, not {str(value)[:40]!r}")


def column(help, default_text, common=False):
    """Return an option for a column, given by name or by number from 1."""
    return option(None, help, default_text=default_text, metavar="COLUMN", coerce=_number_of_column, common=common)


# called once for each source that has the option: a field belongs to one dataclass
item_column = partial(column, "Column of items, by name or number.", "by name, else 1 (--ratings: 2)", common=True)
target_column = partial(
    column, "Column of targets: the other item, or the node that an edge leads to.", "by name, else 2"
)
weight_column = partial(
    column, "Column of weights or counts; none ignores them.", "by name; without a header 3, if half are numbers"
)
rectangular = partial(
    option, None, "Rows and columns are different kinds: users and items.", default_text="by column names", common=True
)
delimiter = partial(
    option,
    None,
    "Separator: tab, comma, semicolon, pipe, blank, :: or any other.",
    default_text="detected",
    metavar="SIGN",
)
plain = partial(option, False, "Read the file as it is, even if it looks like another format.", negative_flag="")
subsample = partial(
    option, help="Downsample words above this frequency; 0 keeps all.", at_least=0, below=1, common=True
)
ordered = partial(
    option, False, "Take positives only from after the centre: next words, later purchases.", negative_flag="both-sides"
)
window = partial(option, help="Context size: tokens on each side.", at_least=1, at_most=1000, common=True)
dynamic_window = partial(
    option, True, "Draw each centre's window from 1 to --window, as word2vec does.", negative_flag="fixed-window"
)


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    delimiter: str | None = delimiter()
    header: bool | None = option(None, "The first line names the columns.", default_text="detected")
    quoting: str | None = option(
        None,
        "none: quotes are ordinary characters. csv: a quoted cell may contain anything. auto: csv, but refuse a cell "
        "that seems to swallow rows.",
        choices=("auto", "none", "csv"),
        default_text="auto",
    )
    bad_rows: str | None = option(
        None,
        "error: stop at the first bad row. skip: drop and count rows with an empty cell, too many or too few cells, or "
        "an unusable number. Always dropped: returns, with a quantity below 0; --ratings rows without a user.",
        choices=("error", "skip"),
        default_text="error",
    )


@dataclass(frozen=True, kw_only=True)
class PairOptions(TableOptions):
    item_col: str | None = item_column()
    target_col: str | None = target_column()
    weight_col: str | None = weight_column()
    rectangular: bool | None = rectangular()


def pair_columns(given=None, first="item", held_out=False):
    """Return the columns of a table of pairs or, if `first` is "source", of edges, for `readers.tables.Tables`.

    given : Input that names them, or None; held_out : bool, there are no flags for them, and edges may have weight 0
    """
    from ..readers.layout import Column

    def column(key, kind, *about, **more):
        option = f"the {key}s" if given is None or held_out else f"--{key}-col"
        return Column(key, option, kind, getattr(given, f"{key}_col", None), *about, **more)

    edges = first == "source"
    means = ("source", "user", "item") if edges else ("user", "item", "source")
    means_beside = ("target", "item", "target") if edges else ("item", "target", "target")
    return [
        column(first, "name", 1, means, f"{first}s"),
        column("target", "name", 2, means_beside, "targets"),
        column("weight", "weight", 3, ("weight",), "weight", above_zero=edges and not held_out),
    ]


def tables_of(given, columns, shaping, **more):
    """Return the `readers.tables.Tables` of an `Input`; shaping : vocab.VocabOptions; more : arguments of Tables"""
    from ..readers.tables import Tables

    files = more.pop("files", list(given.files))
    return Tables(files, columns, given, encoding=shaping.encoding, progress=shaping.progress, **more)
