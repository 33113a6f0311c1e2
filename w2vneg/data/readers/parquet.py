"""Parquet files as the batches that `data.readers.tables` yields from text; needs pyarrow."""

import os

import numpy as np

from ...ground.errors import InputError, W2vnegError, require
from ...ground.files.memory import memory_size
from .cells import NameColumn, as_names, as_numbers, as_texts, rows_at_once
from .columns import Head, find_columns

_SAMPLE = 100  # rows that tell what columns hold


def read_parquet(source, pieces, columns, times):
    """Yield (where, number of rows, columns, labels) of pieces of a Parquet file, as `readers.tables.Batch` has them.

    source : sources.ByteStream; columns : list of layout.Column; times : cells.Times
    pieces : iterable of bytes, its content; read only where it is a packed file, or no file (a pipe)
    MissingExtraError without pyarrow; InputError as for text, a row by its number from 1 on
    """
    require("pyarrow", "parquet", f"reading {source.name}, which is a Parquet file,")
    import pyarrow as pa
    import pyarrow.parquet

    whole = source.stamp and _is_parquet(source.path)
    place = source.path if whole else pa.BufferReader(_joined(source.name, pieces))
    try:
        with pa.parquet.ParquetFile(place) as file:
            names = file.schema_arrow.names
            numeric = [_is_numeric(pa, kind) for kind in file.schema_arrow.types]
            found, labels = find_columns(source.name, columns, Head(names, True, numeric, _sample(file, len(names))))
            wanted = [names[at] for at in dict.fromkeys(found.values()) if at is not None]
            first_row = 1
            for batch in file.iter_batches(rows_at_once(columns), columns=wanted):
                if batch.num_rows:
                    where = _Rows(source.name, first_row)
                    yield where, batch.num_rows, _read(pa, batch, columns, found, names, times, where), labels
                first_row += batch.num_rows
    except W2vnegError:
        raise
    except (pa.ArrowException, OSError, ValueError, KeyError) as error:  # damaged pages; text that is not UTF-8
        raise InputError(f"{source.name}: cannot be read as Parquet ({error})") from error


def names_in(path):
    """Return the names of the columns of a Parquet file (list of str); [] if it cannot be read, or without pyarrow."""
    try:
        import pyarrow.parquet

        return pyarrow.parquet.read_schema(path).names
    except (ImportError, OSError, ValueError):
        return []


def _sample(file, n_columns):
    """Return some cells of each column as text."""
    batch = next(file.iter_batches(_SAMPLE), None)
    if batch is None or batch.num_columns != n_columns:
        return [[] for _ in range(n_columns)]
    return [[str(cell) for cell in column.to_pylist() if cell is not None] for column in batch.columns]


def _joined(name, pieces):
    """Return all of a file that cannot be read here and there, within a quarter of the memory."""
    held, size, most = [], 0, memory_size() // 4
    for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size > most:
            raise InputError(f"{name}: more than {most / 1e9:.1f} GB of Parquet, packed or piped; unpack it to a file")
    return b"".join(held)


class _Rows:
    """Names rows of a piece for messages."""

    def __init__(self, name, first):
        self._name, self._first = name, first

    def __call__(self, row):
        return f"{self._name}: row {self._first + row}"


def _is_parquet(path):
    with open(path, "rb") as file:
        head = file.read(4)
        file.seek(-min(4, os.path.getsize(path)), os.SEEK_END)
        return head == file.read(4) == b"PAR1"


def _is_numeric(pa, kind):
    return pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)


def _read(pa, batch, columns, found, names, times, where):
    read = dict.fromkeys((column.key for column in columns), None)
    for column in columns:
        if found[column.key] is None:
            continue
        label = repr(names[found[column.key]])
        cells = batch.column(names[found[column.key]])
        if column.kind == "name":
            read[column.key] = _names(pa, cells, column, label, where)
            continue
        if column.kind == "text":
            read[column.key] = as_texts(cells.to_pylist(), column, label, where)
            continue
        if pa.types.is_decimal(cells.type):
            cells = cells.cast(pa.float64())
        values = cells.to_numpy(zero_copy_only=False)
        read[column.key] = (times.read if column.kind == "time" else as_numbers)(values, column, label, where)
    return read


def _names(pa, cells, column, label, where):
    """Return a NameColumn of any Arrow array, each name as Arrow writes it."""
    import pyarrow.compute as pc

    if pa.types.is_dictionary(cells.type):
        cells = cells.dictionary_decode()
    texts = cells.cast(pa.string())
    if pa.types.is_floating(cells.type):  # ids beside a missing one; 1.0 is called 1, as in a data frame
        texts = pc.replace_substring_regex(texts, r"\.0$", "")
        texts = pc.if_else(pc.fill_null(pc.is_nan(cells), False), pa.scalar(None, pa.string()), texts)
    cells = pc.fill_null(texts, "").dictionary_encode()
    names = as_names(
        np.asarray(cells.dictionary.to_pylist(), object), column, label, lambda row: where(_first(cells, row))
    )
    return NameColumn(names.codes[cells.indices.to_numpy()], names.names)


def _first(cells, code):
    return int(np.argmax(cells.indices.to_numpy() == code))
