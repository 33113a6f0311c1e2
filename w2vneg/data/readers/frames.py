"""Columnar tables: in memory, as data frames, arrays, matrices, graphs or lists of rows; and Parquet files.

A name is what a text file would hold: text unchanged, a number with its decimals, a whole number without any.
"""

from collections import Counter
from dataclasses import replace
from itertools import chain

import numpy as np

from ...ground.errors import ConfigError, DoubtError, InputError, W2vnegError, require
from ...ground.files.memory import memory_size
from ..words import text_of
from .column_names import columns_meant, meant_by
from .columns import Batch, Head, find_columns
from .layout import mostly_numbers

_SAMPLE = 100  # cells that show what a column holds
_ROWS, _TEXTS = 1 << 19, 1 << 12  # rows held at a time; texts take more memory


class InMemoryTable:
    """A table in memory; takes the place of file paths in an `Input`.

    name : str, for messages; matrix : the scipy.sparse matrix that it was made from, or None
    head : list of str, names of the columns, or their numbers from 1; named : bool, whether they have names
    columns : list of ndarray, (n_rows,)
    nodes : sequence or None, all nodes, as names for a graph or numbers for a matrix: some may have no edge
    index : tuple, names of a data frame's index, which is not read
    directed : bool, for a graph, else None; unordered : bool, a graph that is undirected and has one kind of nodes
    """

    index: tuple = ()
    directed: bool | None = None
    unordered = False
    notes = ()  # as in `sources.ByteStream`

    def __init__(self, name, columns, head=None, matrix=None):
        self.name, self.columns, self.matrix = name, columns, matrix
        self.nodes = None if matrix is None else range(max(matrix.shape))
        self.named = head is not None
        self.head = [str(i + 1) for i in range(len(columns))] if head is None else list(map(str, head))
        if bad := [column for column in self.head if column.encode(errors="ignore").decode() != column]:
            raise ConfigError(f"{name}: a column is called {bad[0]!r:.60}, which is not valid text; rename it")
        self.bytes = sum(column.nbytes for column in columns)
        self.position = self.unpacked = self.bytes  # as in a `sources.ByteStream` that has been read

    def __len__(self):
        return len(self.columns[0])

    def __str__(self):
        return self.name

    def digest(self):
        return ""

    @classmethod
    def of(cls, data):
        """Make one from a data frame, Series, pyarrow table, sparse matrix, array, graph or list of rows; else None

        ConfigError if rows differ in length, or do not exist yet
        """
        if isinstance(data, cls):
            return data
        if isinstance(data, list | tuple):
            return cls._of_rows(data) if data and isinstance(data[0], list | tuple) else None
        name = type(data).__name__
        if is_graph(data):
            return cls._of_graph(name, data)
        if hasattr(data, "tocoo"):
            entries = data.tocoo()
            row, column = (axis.copy() for axis in (entries.row, entries.col))
            return cls(name, [row, column, entries.data.astype(float)], ["row", "column", "value"], data)
        if hasattr(data, "to_numpy") and not hasattr(data, "columns"):  # a column
            return cls(name, [_cells(data)])._indexed(data)
        if hasattr(data, "dtype") and hasattr(data, "ndim"):
            return cls._of_array(name, np.asanyarray(data))  # from torch, too
        if hasattr(data, "column_names") and hasattr(data, "itercolumns"):  # from pyarrow
            return cls(name, [_cells_of_arrow(column) for column in data.itercolumns()], data.column_names)
        if hasattr(type(data), "columns") and hasattr(data, "collect"):  # a lazy plan of polars or a cluster
            raise ConfigError(f"a {name} has no rows yet; give what its collect() returns, or a DataFrame")
        if hasattr(data, "columns") and hasattr(data, "__getitem__") and hasattr(data, "shape"):
            head = list(data.columns)
            at = data.iloc if hasattr(data, "iloc") else data  # by number: two columns may share a name
            return cls(name, [_cells(at[:, i]) for i in range(len(head))], head)._indexed(data)
        return None

    def _indexed(self, data):
        self.index = tuple(getattr(getattr(data, "index", None), "names", ()))
        return self

    def in_index(self, wanted):
        """Return what to do (str) if the index, but no column, has a name or meaning that is wanted; else "".
        wanted : iterable of str
        """
        wanted = {*wanted} - {*self.head} - columns_meant(self.head).keys()
        names = [name for name in self.index if name is not None and not {name, meant_by(name)}.isdisjoint(wanted)]
        return f"the index has {' and '.join(map(repr, names))}; give TABLE.reset_index()" if names else ""

    @classmethod
    def of_pairs(cls, data):
        """Make one as `of` does; ConfigError if it is no table, or has only one column."""
        found = cls.of(data)
        if found is None:
            raise ConfigError(f"pairs must be a file, a table or an Input of pairs, not {data!r:.60}")
        if len(found.columns) < 2:
            raise ConfigError(f"{found.name}: pairs need at least two columns; this one has {len(found.columns)}")
        return found

    @classmethod
    def _of_rows(cls, rows):
        head, columns = getattr(rows[0], "_fields", None), _columns_of(rows)  # for named tuples
        start = int(bool(head) and head[0] == "Index")  # row labels, as from pandas' itertuples
        return cls("list", columns[start:], head and head[start:])

    @classmethod
    def _of_graph(cls, name, graph):
        sides = dict(graph.nodes(data="bipartite"))
        two_kinds = not graph.is_directed() and set(sides.values()) == {0, 1}  # as networkx marks them
        edges = [
            (tail, head, weight) if two_kinds and sides[head] == 1 else (head, tail, weight)
            for head, tail, weight in graph.edges(data="weight", default=1)
        ]
        if not edges:
            raise ConfigError(f"the {name} has no edges")
        n_columns = 2 + any("weight" in about for *_, about in graph.edges(data=True))
        found = cls(name, _columns_of(edges)[:n_columns], ["source", "target", "weight"][:n_columns])
        found.nodes, found.directed = list(map(text_of, graph)), graph.is_directed()
        found.unordered = not (found.directed or two_kinds)
        if len(set(found.nodes)) < len(found.nodes):
            (alike, _), *_ = Counter(found.nodes).most_common(1)
            raise ConfigError(f"two nodes of the {name} are called {alike!r}; give them names that differ as text")
        return found

    @classmethod
    def _of_array(cls, name, array):
        if array.dtype.names:
            return cls(name, [array[field] for field in array.dtype.names], array.dtype.names)
        if array.ndim == 1:
            return cls(name, [array])
        if array.ndim != 2:
            raise ConfigError(f"{name}: a table is an array of two dimensions, one pair per row, not of {array.ndim}")
        if array.dtype.kind in "biuf":
            if array.dtype.kind in "iu" and array.shape[0] == 2 and array.shape[1] > 3:
                raise ConfigError(
                    f"the {name} of 2 × {array.shape[1]:,} looks like sources above targets, but a table has one pair "
                    "per row; give ARRAY.T"
                )
            cls._refuse_dense(name, *array.shape)
        return cls(name, list(np.asarray(array).T))

    @staticmethod
    def _refuse_dense(name, n_rows, n_columns, remedy=""):
        """Raise ConfigError if numbers are a matrix, not pairs: they have many columns, or as many as rows.

        remedy : str, what to give instead, for a data frame, whose labels a matrix would lose
        """
        if n_columns > 8 or n_rows == n_columns > 4:
            raise ConfigError(
                f"the {name} of {n_rows:,} × {n_columns:,} looks like a matrix, but a table has one pair per row; give "
                f"{remedy or 'scipy.sparse.csr_matrix(ARRAY)'}"
            )

    def batches(self, columns):
        """Yield the cells in `Batch`es; columns : list of layout.Column"""
        n_columns, known = len(self.columns), any(column.requested for column in columns) or columns_meant(self.head)
        if n_columns > 2 and not known and all(column.dtype.kind in "biuf" for column in self.columns):
            axes = [column.key for column in columns if column.kind == "name"]
            rows = f"t = FRAME.stack(); t[t > 0].rename_axis({axes}).reset_index(name='weight')"
            self._refuse_dense(self.name, len(self), n_columns, rows if self.index else "")
        cells = [[str(cell) for cell in column[:_SAMPLE] if str(cell).strip()] for column in self.columns]
        numeric = [
            mostly_numbers(some) if column.dtype.kind in "OUST" else column.dtype.kind in "iuf"
            for column, some in zip(self.columns, cells, strict=True)
        ]
        if self.matrix is not None:  # its columns are known, and the third is the weight
            columns = [replace(c, requested=c.requested or c.default) if c.default in (1, 2, 3) else c for c in columns]
        asked = ([c.requested] if c.requested is not None else c.means for c in columns if c.kind == "name")
        remedy, labels = self.in_index(chain(*asked)), None
        try:
            found, labels = find_columns(self.name, columns, Head(self.head, self.named, numeric, cells))
        except InputError:
            if not remedy:
                raise
        if remedy and not (labels and labels.by_name):
            raise DoubtError(f"{self.name}: {remedy}")
        n_rows = _rows_at_once(columns)
        for start in range(0, len(self), n_rows):
            cells = {key: self.columns[at][start : start + n_rows] for key, at in found.items()}
            n = min(n_rows, len(self) - start)
            yield Batch(lambda row, start=start: f"{self.name}: row {start + row} (from 0)", n, cells, labels)


def is_graph(data):
    """Return whether an object is a graph like those of networkx."""
    return hasattr(data, "is_directed") and hasattr(data, "edges")


def _columns_of(rows):
    if not rows[0]:
        raise ConfigError("row 0 (from 0) is empty; a row of pairs has at least two cells")
    for number, row in enumerate(rows):
        if not isinstance(row, list | tuple) or len(row) != len(rows[0]):
            raise ConfigError(f"row {number} (from 0), {row!r:.60}, does not have {len(rows[0])} cells like the first")
        if isinstance(row[-1], dict):
            raise ConfigError(f"row {number} (from 0), {row!r:.60}, ends with a dict; give a number, or the graph")
    return list(map(_objects, zip(*rows, strict=True)))


def _cells(series):
    """Return a column of a data frame as an array with the cells that a file would hold."""
    dtype = getattr(series, "dtype", None)
    if getattr(dtype, "tz", None) is not None:
        series = series.dt.tz_convert(None)
    null_count = getattr(series, "null_count", None)  # polars turns integers beside a null into floats
    if callable(null_count) and null_count():
        return _objects(series.to_list())
    if not isinstance(dtype, np.dtype) and getattr(dtype, "kind", "") in ("i", "u", "b") and series.isna().any():
        return _objects(series.astype(object).where(series.notna(), None))  # so does pandas
    cells = series.to_numpy()
    return cells if cells.ndim == 1 else _objects(series.to_list())  # structs of polars


def _cells_of_arrow(column):
    import pyarrow as pa

    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    column = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    if column.null_count and not pa.types.is_floating(column.type) and not pa.types.is_timestamp(column.type):
        return _objects(column.to_pylist())
    return column.to_numpy(zero_copy_only=False)


def _objects(cells):
    return np.fromiter(cells, object, len(cells))


def _rows_at_once(columns):
    return _TEXTS if columns[0].kind == "text" else _ROWS


def read_parquet(source, columns):
    """Yield an opened Parquet file in `Batch`es of cells; it is read as a whole if compressed or piped."""
    require("pyarrow", "parquet", f"reading {source.name}, which is a Parquet file,")
    import pyarrow as pa
    import pyarrow.parquet

    whole = source.stamp and source.codec is None
    place = source.path if whole else pa.BufferReader(_joined(source.name, source.pieces()))
    try:
        with pa.parquet.ParquetFile(place) as file:
            names, kinds = file.schema_arrow.names, pa.types
            first = next(file.iter_batches(_SAMPLE), None)
            values = [column.to_pylist() for column in first.columns] if first else [[]] * len(names)
            sample = [[str(cell) for cell in own if cell is not None] for own in values]
            numeric = [
                kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_decimal(kind) or mostly_numbers(some)
                for kind, some in zip(file.schema_arrow.types, sample, strict=True)
            ]
            found, labels = find_columns(source.name, columns, Head(names, True, numeric, sample))
            wanted = {key: names[at] for key, at in found.items()}
            first_row = 1
            for batch in file.iter_batches(_rows_at_once(columns), columns=list(dict.fromkeys(wanted.values()))):
                if n := batch.num_rows:
                    cells = {c.key: _of_arrow(batch.column(wanted[c.key]), c.kind) for c in columns if c.key in wanted}
                    yield Batch(lambda row, first=first_row: f"{source.name}: row {first + row}", n, cells, labels)
                    first_row += n
    except W2vnegError:
        raise
    except (pa.ArrowException, OSError, ValueError, KeyError) as error:  # damaged pages; text that is not UTF-8
        raise InputError(f"{source.name}: cannot be read as Parquet ({error})") from error


def names_in(path):
    """Return the names of a Parquet file's columns (list of str); [] if it cannot be read, or without pyarrow."""
    try:
        import pyarrow.parquet

        return pyarrow.parquet.read_schema(path).names
    except (ImportError, OSError, ValueError):
        return []


def _joined(name, pieces):
    """Return the whole of a file without random access, up to a quarter of the memory."""
    held, size, most = [], 0, memory_size() // 4
    for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size > most:
            raise InputError(f"{name}: more than {most / 1e9:.1f} GB of packed or piped Parquet; unpack it to a file")
    return b"".join(held)


def _of_arrow(cells, kind):
    """Return an Arrow array as a NumPy array or, for names that are texts or integers, a pandas one."""
    import pyarrow as pa

    if kind == "text":
        return cells.to_pylist()
    if kind != "name":
        cells = cells.cast(pa.float64()) if pa.types.is_decimal(cells.type) else cells
        return cells.to_numpy(zero_copy_only=False)
    cells = cells.dictionary_decode() if pa.types.is_dictionary(cells.type) else cells
    texts = [pa.types.is_string, pa.types.is_large_string, pa.types.is_integer, pa.types.is_null]
    if not any(one(cells.type) for one in texts):  # as in a data frame
        return _cells_of_arrow(cells)
    return cells.cast(pa.string()).dictionary_encode().to_pandas()
