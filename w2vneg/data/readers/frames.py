"""Tables in memory: data frames, arrays, matrices, graphs and lists of rows, read as the same in a file would be.

A name is what a file would hold: text as it is, a number as its decimals, a whole one without them. So vocabulary and
ids are the file's.
"""

import datetime
from dataclasses import replace

from ...ground.errors import ConfigError, InputError
from .cells import NameColumn, as_names, as_numbers, as_texts, rows_at_once

_SAMPLE = 100  # cells that tell whether a column of mixed objects holds numbers


class InMemoryTable:
    """A table in memory; stands in an `Input` where the paths of files would.

    name : str, for messages; matrix : the scipy.sparse matrix that it was made of, or None
    head : list of str, names of the columns, or their numbers from 1 on; named : bool, whether they have names
    columns : list of ndarray, (n_rows,)
    nodes : iterable or None, of a graph or a matrix, all nodes: some may have no edge; directed : bool, of such a graph
    """

    directed = False

    def __init__(self, name, columns, head=None, matrix=None):
        self.name, self.columns, self.matrix = name, columns, matrix
        self.nodes = None if matrix is None else range(max(matrix.shape))
        self.named = head is not None
        self.head = [str(i + 1) for i in range(len(columns))] if head is None else list(map(str, head))
        self.bytes = sum(column.nbytes for column in columns)
        self.position = self.unpacked = self.bytes  # as a `sources.Source` has them once it is read

    def __len__(self):
        return len(self.columns[0])

    def __str__(self):
        return self.name

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        pass

    def digest(self):
        return ""

    @classmethod
    def of(cls, data):
        """Make one of a pandas or polars DataFrame or Series, a pyarrow table, a sparse matrix, an array, a graph of
        networkx, or a list of rows.

        Returns None for what is none of these, and a InMemoryTable as it is; ConfigError if rows are of several
        lengths.
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
            return cls(name, [_cells(data)])
        if hasattr(data, "dtype") and hasattr(data, "ndim"):
            return cls._of_array(name, data)
        if hasattr(data, "column_names") and hasattr(data, "itercolumns"):  # of pyarrow
            return cls(name, [column.to_numpy() for column in data.itercolumns()], data.column_names)
        if hasattr(type(data), "columns") and hasattr(data, "collect"):  # a plan of polars' or a cluster's
            raise ConfigError(f"a {name} has no rows yet; give what its collect() returns, or a DataFrame")
        if hasattr(data, "columns") and hasattr(data, "__getitem__") and hasattr(data, "shape"):
            head = list(data.columns)
            at = data.iloc if hasattr(data, "iloc") else data  # by number: two columns may have one name
            return cls(name, [_cells(at[:, i]) for i in range(len(head))], head)
        return None

    @classmethod
    def _of_graph(cls, name, graph):
        edges = list(graph.edges(data="weight", default=1))
        if not edges:
            raise ConfigError(f"the {name} has no edges")
        weighted = any("weight" in about for *_, about in graph.edges(data=True))
        columns = cls._of_rows(edges).columns[: 2 + weighted]
        found = cls(name, columns, ["source", "target", "weight"][: 2 + weighted])
        found.nodes, found.directed = list(graph), graph.is_directed()
        return found

    @classmethod
    def _of_rows(cls, rows):
        import numpy as np

        width = len(rows[0])
        for number, row in enumerate(rows):
            if not isinstance(row, list | tuple) or len(row) != width:
                raise ConfigError(f"row {number} (from 0 on), {row!r:.60}, has not the {width} cells of the first")
            if isinstance(row[-1], dict):
                raise ConfigError(
                    f"row {number} (from 0 on), {row!r:.60}, ends with a dict; give a number, or networkx's graph"
                )
        columns = []
        for cells in zip(*rows, strict=True):
            column = np.empty(len(rows), object)
            column[:] = cells
            columns.append(column)
        return cls("list", columns)

    @classmethod
    def _of_array(cls, name, array):
        import numpy as np

        if array.dtype.names:
            return cls(name, [array[field] for field in array.dtype.names], array.dtype.names)
        if array.ndim == 1:
            return cls(name, [array])
        if array.ndim != 2:
            raise ConfigError(f"{name}: a table is an array of two dimensions, a pair a row, not of {array.ndim}")
        columns = list(np.asarray(array).T)
        if array.dtype.kind == "f":  # ids beside weights: the array made them decimals, the user did not
            columns = [_whole(column) for column in columns]
        return cls(name, columns)

    def batches(self, columns, times):
        """Yield (where, number of rows, columns, labels), as `readers.tables.Batch` has them; see `Tables`."""
        from .columns import Head, find_columns

        cells = [[str(cell) for cell in column[:_SAMPLE] if str(cell).strip()] for column in self.columns]
        numeric = [_is_numeric(column) for column in self.columns]
        if self.matrix is not None:  # its columns are known, and its third is the weight
            columns = [replace(c, asked=c.asked or c.default) if c.default in (1, 2, 3) else c for c in columns]
        found, labels = find_columns(self.name, columns, Head(self.head, self.named, numeric, cells))
        present = [column for column in columns if found[column.key] is not None]
        n_rows = rows_at_once(columns)
        for start in range(0, len(self), n_rows):
            rows = slice(start, start + n_rows)

            def where(row, start=start):
                return f"{self.name}: row {start + row} (from 0 on)"

            read = dict.fromkeys((column.key for column in columns), None)
            for column in present:
                cells = self.columns[found[column.key]][rows]
                read[column.key] = read_cells(cells, column, labels[column.key], where, times)
            yield where, min(n_rows, len(self) - start), read, labels


def is_graph(data):
    """Tell whether something is a graph as networkx has them."""
    return hasattr(data, "is_directed") and hasattr(data, "edges")


def _cells(series):
    """Return a column of a data frame as an array whose cells are what a file of it would hold."""
    import numpy as np

    if getattr(getattr(series, "dtype", None), "tz", None) is not None:
        series = series.dt.tz_convert(None)
    null_count = getattr(series, "null_count", None)  # of polars, which makes decimals of whole numbers beside a null
    if callable(null_count) and null_count():
        column = np.empty(len(series), object)
        column[:] = series.to_list()
        return column
    return series.to_numpy()


def _whole(column):
    import numpy as np

    with np.errstate(invalid="ignore"):
        whole = column.astype(np.int64)
    return whole if (whole == column).all() else column


def _is_numeric(cells):
    """Return whether a column holds numbers: by its type or, if it may hold anything, by its first cells."""
    from .layout import mostly_numbers

    if cells.dtype.kind in "OUST":
        return mostly_numbers([str(cell) for cell in cells[:_SAMPLE] if str(cell).strip()])
    return cells.dtype.kind in "iuf"


def read_cells(cells, column, label, where, times):
    """Return an array of any cells as a column is to be read: a NameColumn, numbers, times or texts (see `cells`)."""
    return _READ.get(column.kind, _numbers)(cells, column, label, where, times)


def _names(cells, column, label, where, times):
    import numpy as np
    import pandas as pd

    codes, different = pd.factorize(cells)
    texts = pd.Series(different).astype(str).tolist() if different.dtype.kind == "M" else different.tolist()
    texts = [*map(_text, texts), ""]  # code -1, of a missing cell, takes the last

    def place(code):
        return where(int(np.argmax(codes == (code if code < len(texts) - 1 else -1))))

    for code, text in enumerate(texts):
        if "\0" in text or not _is_text(text):
            raise InputError(f"{place(code)}: the name {text!r:.60} in {label} holds NUL or a lone surrogate")
    used = texts if (codes < 0).any() else texts[:-1]
    names = as_names(np.array(used, object), column, label, place)
    return NameColumn(names.codes[codes], names.names)


def _text(cell):
    """Return a cell as a name; ids that are decimals only as one beside them is missing, such as 1.0, are whole."""
    whole = isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53
    return str(int(cell) if whole else cell)


def _is_text(text):
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _numbers(cells, column, label, where, times):
    return as_numbers(cells, column, label, where)


def _times(cells, column, label, where, times):
    import pandas as pd

    if cells.dtype.kind == "O" and len(cells) and isinstance(cells[0], datetime.date):
        cells = pd.to_datetime(pd.Series(cells), utc=True).dt.tz_localize(None).to_numpy()
    return times.read(cells, column, label, where)


_READ = {"name": _names, "time": _times, "text": as_texts}
