"""Parquet and Arrow (Feather): a table with the columns ``word``, ``vector``, and ``count`` if known.

Any such table can be read: the words are the text column called word or token, else the first one; the vectors are the
column of number lists called vector or embedding, else the first one.
"""

import os

import numpy as np

from ...ground.errors import InputError, require
from ...ground.files.atomic import atomic_file
from .common import check_text, enter, vectors_of

_HOLDS = "a table: `word`, `count` if known, `vector`"
_WORDS_A_BYTE = 8  # no compression holds more distinct words
_NUMBERS_A_BYTE, _FEW = 100, 1 << 24  # no vectors have more, but these few numbers are read from any file
_REMEDY = "; expected columns word and vector: write it again"


def write_parquet(path, vectors):
    parquet = require("pyarrow.parquet", "parquet", "the format parquet")
    table = _table(path, vectors)
    with atomic_file(path) as stream:
        parquet.write_table(table, stream)


def write_arrow(path, vectors):
    """Write an uncompressed Arrow file, so that it can be memory-mapped; see `w2vneg.vectors.formats.save`."""
    arrow = require("pyarrow", "parquet", "the format arrow")
    table = _table(path, vectors)
    with atomic_file(path) as stream, arrow.ipc.new_file(stream, table.schema) as writer:
        writer.write_table(table)


def _table(path, vectors):
    arrow = require("pyarrow", "parquet", f"writing {path}")
    check_text(path, vectors.words)
    columns = {"word": arrow.array(list(vectors.words), arrow.string())}
    if vectors.counts is not None:
        columns["count"] = arrow.array(vectors.counts)
    rows = arrow.FixedSizeListArray.from_arrays(arrow.array(vectors.matrix.reshape(-1)), vectors.dim)
    return arrow.table(columns | {"vector": rows})


def read_parquet(path, spell=False):
    parquet = require("pyarrow.parquet", "parquet", f"reading {path}")

    def read_table():
        about, size = parquet.read_metadata(path), os.path.getsize(path)
        groups = (about.row_group(number) for number in range(about.num_row_groups))
        cells = sum(group.column(at).num_values for group in groups for at in range(group.num_columns))
        _check_size(cells, size)
        n = about.num_rows
        if n > _WORDS_A_BYTE * size:  # equal cells may be stored once
            raise ValueError(f"{n:,} rows, more words than its {size:,} bytes could hold")
        return parquet.read_table(path, partitioning=None)

    return _read(path, read_table)


def read_arrow(path, spell=False):
    arrow = require("pyarrow", "parquet", f"reading {path}")

    def read_table():
        size, batches = os.path.getsize(path), []
        with arrow.ipc.open_file(path) as file:
            for number in range(file.num_record_batches):
                batches.append(file.get_batch(number))
                _check_size(sum(batch.nbytes for batch in batches) // 4, size)
            return arrow.Table.from_batches(batches, file.schema)

    return _read(path, read_table)


def _check_size(n_numbers, size):
    """Raise ValueError for more numbers than vectors in a file of `size` bytes have: equal ones take next to none."""
    if n_numbers > max(_FEW, _NUMBERS_A_BYTE * size):
        raise ValueError(f"{n_numbers:,} numbers, more than vectors in {size:,} bytes have")


def _read(path, read_table):
    import pyarrow.compute as compute

    try:
        table = read_table().combine_chunks()
        table.validate(full=True)
        words = _first(table, lambda kind: str(kind) in ("string", "large_string", "string_view"), "word", "token")
        of_numbers = lambda kind: str(getattr(kind, "value_type", "")) in ("halffloat", "float", "double")  # noqa: E731
        vectors = _first(table, of_numbers, "vector", "embedding")
        counts = table.column("count") if "count" in table.column_names else None
        used = [column for column in (words, vectors, counts) if column is not None]
        if words is None or vectors is None or any(column.null_count for column in used):
            raise ValueError(f"columns {', '.join(table.column_names)[:200]}, perhaps with empty cells")
        numbers = np.array([] if not len(table) else vectors.combine_chunks().flatten().to_numpy(zero_copy_only=False))
        matrix = np.ascontiguousarray(numbers.reshape(len(table), -1), np.float32)
        if not (np.diff(compute.list_value_length(vectors).to_numpy()) == 0).all():
            raise ValueError("vectors of different lengths")
        counts = None if counts is None else counts.to_numpy().astype(np.int64)
        words = words.to_pylist()
    except Exception as error:  # a damaged file may raise any error of Arrow or NumPy
        raise InputError(f"{path}: cannot be read ({str(error)[:300]}){_REMEDY}") from None
    return vectors_of(path, _REMEDY, words, matrix, counts)


def _first(table, fits, *names):
    """Return the first column of a suitable type, preferring these names; None if there is none."""
    found = [item.name for item in table.schema if fits(item.type)]
    return next((table.column(name) for name in (*names, *found) if name in found), None)


_PARQUET = {"suffixes": (".parquet",), "recognises": b"PAR1"}
_ARROW = {"suffixes": (".arrow", ".feather"), "recognises": b"ARROW1"}
enter("parquet", _HOLDS, extra="parquet", write=write_parquet, read=read_parquet, **_PARQUET)
enter("arrow", _HOLDS, extra="parquet", write=write_arrow, read=read_arrow, **_ARROW)
