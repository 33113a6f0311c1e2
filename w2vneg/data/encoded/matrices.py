"""Sparse matrices in the files of `scipy.sparse.save_npz`, and files of names for them.

A few hundred bytes may unpack to gigabytes. So the headers of all arrays are read first, and scipy unpacks them only if
they fit into memory.
"""

import math
import os
import warnings
import zipfile

import numpy as np
from scipy import sparse

from ...ground.errors import ConfigError, InputError
from ...ground.files.bounded import LONGEST_LINE, refuse_line
from ...ground.files.memory import memory_size
from ...ground.files.npy import npy_header
from ..readers.frames import InMemoryTable
from ..readers.sources import ByteStream
from ..readers.text import read_text
from ..words import NameIndex

_SHARE = 0.5  # of the machine's memory that a matrix may take
_PER_ENTRY = 60  # bytes at the peak of encoding, in addition to the arrays of the file
_READ = {"data", "format", "shape", "indices", "indptr", "row", "col", "coords", "offsets", "_is_array"}  # by scipy
_PER_NAME = 130  # bytes for a row or column named by its number


def read_names(path, *, encoding="utf-8", lowercase=False):
    """Read a file of distinct, non-empty names, one per line, as words (list of str); InputError for other files."""
    names, empty = NameIndex(lowercase), "the line is empty; give one name per line, as many as the matrix has rows"
    with ByteStream(path) as source:
        for i, line in enumerate(_lines(source.name, read_text(source, encoding=encoding))):
            place = f"{source.name}:{i + 1}"
            number = names.enter(line, lambda place=place: place)
            if number < 0:
                raise InputError(f"{place}: {empty}")
            if number < i:
                raise InputError(f"{place}: the name {line.strip()!r} is also on line {number + 1}; make them distinct")
    if not names:
        raise InputError(f"{source.name}:1: {empty}")
    return names.words


def words_of(matrix, path, files, shaping, rectangular):
    """Read the names of rows and columns from files, and check their numbers against the shape."""
    words = [read_names(file, encoding=shaping.encoding, lowercase=shaping.lowercase) for file in files]
    if len(files) != 1 + rectangular:
        wanted = "two files of names, for rows and for columns" if rectangular else "one file of names"
        raise ConfigError(f"this matrix needs {wanted}; {len(files)} were given")
    for file, names, size, side in zip(files, words, matrix.shape, ("rows", "columns"), strict=False):
        if len(names) != size:
            raise InputError(f"{file}: {len(names):,} names, but {path} has {size:,} {side}; give one a line, in order")
    return words if rectangular else words * 2


def _lines(name, pieces):
    rest, n_lines = b"", 0
    for piece in pieces:
        *lines, rest = (rest + piece).split(b"\n")
        n_lines += len(lines)
        if len(rest) > LONGEST_LINE:
            refuse_line(name, n_lines + 1)
        yield from (line.decode() for line in lines)
    if rest:
        yield rest.decode()


def is_matrix(file):
    """Return whether a table in memory is a sparse matrix, or a file a complete zip archive, as from `save_npz`."""
    if isinstance(file, InMemoryTable):
        return file.matrix is not None
    if not os.path.isfile(file):  # reading from a pipe here would lose data
        return False
    if zipfile.is_zipfile(file):
        return True
    try:
        with open(file, "rb") as stream:
            cut = stream.read(4) == b"PK\3\4"
    except OSError:  # reported when it is read
        return False
    if cut:
        raise InputError(f"{file}: an .npz file without its end, so it was truncated; copy it or write it again")
    return False


def load_matrix(path, rectangular, named):
    """Read a file of `scipy.sparse.save_npz`: a coo_matrix with indices in its shape and finite entries of 0 or more.

    path : str, or an InMemoryTable of a matrix; rectangular : bool, it need not be square; named : bool, names are
        given
    InputError if it is not such a file, is damaged or malformed, does not fit into memory, or has invalid entries
    """
    if isinstance(path, InMemoryTable):
        matrix = sparse.coo_matrix(path.matrix)
    else:
        try:
            _check_headers(path, named)
            matrix = _loaded(path)
        except InputError:
            raise
        except Exception as error:  # zipfile, NumPy and scipy raise many types for malformed files
            reason = str(error) or type(error).__name__
            raise InputError(
                f"{path}: not a sparse matrix written by scipy.sparse.save_npz ({reason[:200]}); write it again with "
                "that function"
            ) from error
    if not rectangular and matrix.shape[0] != matrix.shape[1]:
        raise InputError(
            f"{path}: {matrix.shape[0]:,} rows and {matrix.shape[1]:,} columns: one kind of thing needs a square "
            "matrix; for two kinds, read it as --pairs or --cooccurrence with --rectangular"
        )
    wrong = ~(np.isfinite(matrix.data) & (matrix.data >= 0))
    if wrong.any():
        at = int(np.argmax(wrong))
        raise InputError(
            f"{path}: the entry in row {matrix.row[at]}, column {matrix.col[at]} (from 0 on) is {matrix.data[at]}; "
            "entries are counts or weights: they must be finite and 0 or more"
        )
    return matrix


def numbered(matrix, rectangular):
    """Return rows and columns of a coo_matrix, and their numbers as names; with few entries, only those that occur."""
    if max(matrix.shape) <= matrix.nnz:
        return matrix.row, matrix.col, [list(map(str, range(side))) for side in matrix.shape]
    if rectangular:
        (known, rows), (known_out, columns) = (np.unique(ids, return_inverse=True) for ids in (matrix.row, matrix.col))
        return rows, columns, [list(map(str, ids.tolist())) for ids in (known, known_out)]
    known, both = np.unique(np.concatenate([matrix.row, matrix.col]), return_inverse=True)
    return both[: matrix.nnz], both[matrix.nnz :], [list(map(str, known.tolist()))] * 2


def _check_headers(path, named):
    """Raise InputError if the matrix of an archive is not numeric or too large, ValueError if it is malformed."""
    found, size, sides = {}, 0, np.zeros(0)  # name -> shape and dtype
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            name = info.filename.removesuffix(".npy")
            if name not in _READ:
                continue
            if name in found:
                raise ValueError(f"two arrays are named {name}")
            with archive.open(info) as stream:
                try:
                    found[name] = npy_header(stream)[::2]
                except ValueError as error:
                    raise ValueError(f"{name}: {error}") from error
                if name == "shape":
                    sides = np.frombuffer(stream.read(100), found[name][1])
            size += info.file_size
    for name, (_, dtype) in found.items():
        if name == "data" and dtype.kind not in "biuf":
            raise InputError(f"{path}: not a matrix of numbers, but of {dtype}; save one of numbers")
        if name not in ("data", "format", "_is_array") and dtype.kind not in "iu":
            raise ValueError(f"{name} holds {dtype}, not whole numbers")
    if len(sides) != 2 or not 0 < min(sides) <= max(sides) < 2**31 or "data" not in found:
        raise ValueError(f"it has no data, or no shape of two sides from 1 to {2**31 - 1:,}")
    entries = math.prod(found["data"][0])
    needed = size + _PER_ENTRY * entries
    needed += 0 if named else sum(_PER_NAME * min(side, 2 * entries) for side in sides.tolist())
    memory = _SHARE * memory_size()
    if needed > memory:
        raise InputError(
            f"{path}: encoding {entries:,} entries in {sides[0]:,} rows × {sides[1]:,} columns takes "
            f"{needed / 2**30:,.1f} GB; only {memory / 2**30:,.1f} GB may be used, so leave out rare items"
        )


def _loaded(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about unsigned indices
        with np.load(path) as arrays:
            if "coords" in arrays and arrays["format"].item() in ("coo", b"coo"):  # which SciPy 1.15 cannot read
                row, column = arrays["coords"]
                return sparse.coo_matrix((arrays["data"], (row, column)), tuple(arrays["shape"].tolist()))
        matrix = sparse.load_npz(path)
        if matrix.format == "dia":
            with np.load(path) as arrays:  # scipy misreads numbers beyond 32 bits
                if (arrays["offsets"] != matrix.offsets).any():
                    raise ValueError("offsets has numbers beyond all diagonals")
        if matrix.format in ("csr", "csc", "bsr"):
            if (matrix.indptr[1:] < matrix.indptr[:-1]).any():  # scipy misses this if they end with 0
                raise ValueError("the pointers in indptr fall")
            matrix.check_format(full_check=True)
        return sparse.coo_matrix(matrix)
