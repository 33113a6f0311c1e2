"""Encode files of pairs of items: tables and co-occurrence matrices.

Ten million rows of user, item and weight (164 MB of CSV, 100 000 users, 50 000 items) take 7 to 14 s and 0.96 GB at the
most, of which 0.13 GB are the program's own: 16 bytes a row while they are read, as much again while they are sorted.
"""

import time
from dataclasses import replace

import numpy as np

from ...ground.errors import ConfigError, DoubtError, InputError
from ..readers.columns import hint_of_weights
from ..readers.frames import Frame
from ..readers.layout import Column, delimiter_of
from ..readers.names import Names, read_names
from ..readers.report import ItemsReport
from ..readers.sources import Source, find_files
from ..readers.tables import Tables
from .choice import Shaping
from .matrices import is_matrix_file, load_matrix, matrix_of, numbered
from .pairs import RawPairs


def pair_columns(item_col=None, target_col=None, weight_col=None):
    """Return the columns of a table of pairs, as `data.readers.tables.Tables` wants them."""
    return [
        Column("item", "--item-col", "name", item_col, 1, ("user", "item", "source"), "items"),
        Column("target", "--target-col", "name", target_col, 2, ("item", "target", "target"), "targets"),
        Column("weight", "--weight-col", "weight", weight_col, 3, ("weight",), "weight", if_number=True),
    ]


def encode_pairs(
    source,
    *,
    item_col=None,
    target_col=None,
    weight_col=None,
    delimiter=None,
    header=None,
    quoting=None,
    bad_rows=None,
    rectangular=False,
    **shaping,
):
    """Read tables of pairs: item, target and perhaps a weight a row. The weights of equal pairs are summed.

    Parameters
    ----------
    source : path, frames.Frame, or list of them
        As for `data.readers.sources.find_files`; delimited text, packed or not, Parquet, or a table in memory.
    item_col, target_col, weight_col : str or int, optional
        Names of columns, or numbers from 1 on. By default those that the header calls so, else 1 and 2; the weight is
        a column that is called so, or the third of a table without a header, if numbers stand there. Without one, and
        with a weight_col of "none", each row counts 1.
    delimiter : str, optional
        A sign, or one of the words of `data.readers.layout.DELIMITERS`; detected from the first lines if None.
    header : bool, optional
        Whether the first line names the columns; detected if None.
    quoting, bad_rows : str, optional
        As for `data.readers.tables.Tables`.
    rectangular : bool
        Items and targets are two kinds of things, with a vocabulary each. Otherwise they are of one kind, and pairs of
        an item with itself are left out. None: what is called as users and as items are is refused, as it is not clear.
    shaping
        Fields of `Shaping`: how names become a vocabulary and ids.

    Returns
    -------
    EncodedPairs
        Its report is an `ItemsReport`.

    Raises
    ------
    InputError
        As `data.readers.tables.Tables`; or if two names become one word, or too few items or no pair are left.
    ConfigError
        If an option is out of range.
    """
    started = time.perf_counter()
    shaping = Shaping(**shaping)
    choice = shaping.choice(bool(rectangular))
    tables = Tables(
        source,
        pair_columns(item_col, target_col, weight_col),
        delimiter=delimiter_of(delimiter),
        header=header,
        quoting=quoting,
        bad_rows=bad_rows,
        encoding=shaping.encoding,
        progress=shaping.progress,
    )
    names = Names(shaping.lowercase)
    names_out = Names(shaping.lowercase) if rectangular else names
    parts = []
    for batch in tables:
        if rectangular is None and tables.labels.two_kinds:
            _ask_for_kinds(batch)
        row = names.number(batch.columns["item"], batch.where)
        column = names_out.number(batch.columns["target"], batch.where)
        weight = batch.columns["weight"]
        parts.append((row, column, np.ones(batch.n_rows) if weight is None else weight))
    gathered = [np.concatenate(part) for part in zip(*parts, strict=True)]
    parts.clear()
    pairs = RawPairs(*gathered, names.words, names_out.words)
    report = report_of("pairs", tables, bool(rectangular))
    if rectangular and tables.labels.two_kinds:
        report = replace(report, columns=(*report.columns, "two kinds of things, else give --no-rectangular"))
    report = replace(report, hints=report.hints + hint_of_weights(tables.labels, pairs.weights))
    return pairs.encoded(choice, bool(rectangular), report, started)


def of_two_kinds(source, *, item_col=None, target_col=None, weight_col=None, encoding="utf-8", **layout):
    """Return whether the columns of a table of pairs are called as users and items are; it is begun to be read.

    source, item_col, target_col, weight_col, encoding : as of `encode_pairs`, and delimiter, header, quoting, bad_rows
    """
    layout["delimiter"] = delimiter_of(layout.get("delimiter"))
    tables = Tables(source, pair_columns(item_col, target_col, weight_col), encoding=encoding, **layout)
    batches = iter(tables)
    next(batches, None)
    batches.close()
    return tables.labels.two_kinds


def _ask_for_kinds(batch):
    raise DoubtError(
        f"{batch.where(0)}: {batch.labels['item']} and {batch.labels['target']} sound like two kinds of things, and "
        "may be one; give --rectangular, or --no-rectangular if the same name is the same thing in both"
    )


def encode_cooccurrence(source, *, names=(), rectangular=False, **options):
    """Read a sparse matrix of how often items were seen together, or the same as a table of pairs.

    Parameters
    ----------
    source : path or frames.Frame
        A file of `scipy.sparse.save_npz`, or such a matrix: row i, column j holds how often j was seen with i. Anything
        else is read by `encode_pairs`.
    names : sequence of path
        A file of names, one a line, for rows and columns; two if rectangular. None: the names are 0, 1, 2, ...
    rectangular
        As for `encode_pairs`.
    options
        Fields of `Shaping`, whose encoding is that of the names; and, of a table, what `encode_pairs` takes.

    Returns
    -------
    EncodedPairs

    Raises
    ------
    InputError
        If the file is no sparse matrix, is damaged or malformed, does not fit into memory, is not square (unless
        rectangular), has entries that are negative or not finite, or another number of rows than there are names; or
        as `encode_pairs`.
    """
    started = time.perf_counter()
    files = find_files(source)
    shaping = {name: options[name] for name in Shaping._fields if name in options}
    given = Shaping(**shaping)
    choice, encoding, lowercase = given.choice(bool(rectangular)), given.encoding, given.lowercase
    if len(files) != 1 or not is_matrix(files[0]):
        if names:
            raise InputError(f"{files[0]}: names go with one sparse matrix, in a .npz file, which this is not")
        encoded = encode_pairs(files, rectangular=rectangular, **options)
        return replace(encoded, report=replace(encoded.report, kind="cooccurrence"))
    rectangular = bool(rectangular)
    in_memory = isinstance(files[0], Frame)
    matrix = matrix_of(files[0], rectangular) if in_memory else load_matrix(files[0], rectangular, bool(names))
    rows, columns = matrix.row, matrix.col
    if names:
        words = [read_names(path, encoding=encoding, lowercase=lowercase) for path in names]
        words = _words_of(matrix, files[0], names, words, rectangular)
    else:
        rows, columns, words = numbered(matrix, rectangular)
    pairs = RawPairs(rows, columns, matrix.data.astype(np.float64), *words)
    with files[0] if in_memory else Source(files[0]) as stored:
        size = stored.bytes if in_memory else stored.stamp[0]
    if given.progress:
        given.progress(size, size)
    report = ItemsReport("cooccurrence", 1, size, matrix.nnz, 0, 0, 0, 0, 0.0, rectangular=rectangular)
    try:
        return pairs.encoded(choice, rectangular, report, started)
    except InputError as error:
        raise InputError(f"{files[0]}: {error}") from error


def is_matrix(file):
    return file.matrix is not None if isinstance(file, Frame) else is_matrix_file(file)


def _words_of(matrix, path, files, words, rectangular):
    """Return the names of rows and of columns, checked against the shape."""
    if len(files) != 1 + rectangular:
        wanted = "two files of names, of rows and of columns" if rectangular else "one file of names"
        raise ConfigError(f"this matrix takes {wanted}; {len(files)} were given")
    for file, names, size, side in zip(files, words, matrix.shape, ("rows", "columns"), strict=False):
        if len(names) != size:
            raise InputError(f"{file}: {len(names):,} names, but {path} has {size:,} {side}; give one a line, in order")
    return words if rectangular else words * 2


def report_of(kind, tables, rectangular=False):
    """Return the ItemsReport of tables that were read, with what comes later still empty."""
    return ItemsReport(
        *(kind, tables.n_files, tables.bytes, tables.n_rows, 0, 0, 0, 0, 0.0, tables.left_out),
        rectangular=rectangular,
        columns=tables.labels.said,
        hints=tables.hints,
    )
