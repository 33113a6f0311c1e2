"""Flags of the commands that show what items are called."""

import click

from .options import option

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
    from ..data.readers.tables import read_titles

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
