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
        n, size = parquet.read_metadata(path).num_rows, os.path.getsize(path)
        if n > _WORDS_A_BYTE * size:  # equal cells may be stored once
            raise ValueError(f"{n:,} rows, more words than its {size:,} bytes could hold")
        return parquet.read_table(path, partitioning=None)

    return _read(path, read_table)


def read_arrow(path, spell=False):
    feather = require("pyarrow.feather", "parquet", f"reading {path}")
    return _read(path, lambda: feather.read_table(path, memory_map=False))


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
