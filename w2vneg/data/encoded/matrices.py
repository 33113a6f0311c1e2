"""Sparse matrices in the files of `scipy.sparse.save_npz`; and files of names for them.

A few hundred bytes may stand for gigabytes. So the headers of all arrays are read first, and scipy unpacks nothing
unless memory has room for it.
"""

import math
import os
import warnings
import zipfile

import numpy as np
from scipy import sparse

from ...ground.errors import InputError
from ...ground.files.bounded import LONGEST_LINE, refuse_line
from ...ground.files.memory import memory_size
from ...ground.files.npy import npy_header
from ..readers.frames import InMemoryTable
from ..readers.sources import ByteStream
from ..readers.text import read_text
from ..words import NameIndex

_SHARE = 0.5  # of the machine's memory that a matrix may take
_PER_ENTRY = 60  # bytes at the peak of encoding, beside the file's own
_READ = {"data", "format", "shape", "indices", "indptr", "row", "col", "coords", "offsets", "_is_array"}  # by scipy
_PER_NAME = 130  # bytes of a row or column that has its number for a name


def read_names(path, *, encoding="utf-8", lowercase=False):
    """Read a file of distinct names, one a line, none empty, else InputError; return them as words (list of str)."""
    names, empty = NameIndex(lowercase), "the line is empty; give one name a line, as many as the matrix has rows"
    with ByteStream(path) as source:
        for i, line in enumerate(_lines(source.name, read_text(source, encoding=encoding))):
            place = f"{source.name}:{i + 1}"
            number = names.enter(line, lambda place=place: place)
            if number < 0:
                raise InputError(f"{place}: {empty}")
            if number < i:
                raise InputError(f"{place}: the name {line.strip()!r} is that of line {number + 1}; make them distinct")
    if not names:
        raise InputError(f"{source.name}:1: {empty}")
    return names.words


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
    """Tell whether a table in memory is a sparse matrix, or a file a whole archive, as all files of `save_npz` are."""
    if isinstance(file, InMemoryTable):
        return file.matrix is not None
    if not os.path.isfile(file):  # what is taken from a pipe is lost to whoever reads it next
        return False
    if zipfile.is_zipfile(file):
        return True
    try:
        with open(file, "rb") as stream:
            cut = stream.read(4) == b"PK\3\4"
    except OSError:  # reported by whoever reads it next
        return False
    if cut:
        raise InputError(f"{file}: an .npz file without its end; it was cut short: copy it, or write it, again")
    return False


def load_matrix(path, rectangular, named):
    """Read a file of `scipy.sparse.save_npz`: a coo_matrix, indices within its shape, entries finite and not negative.

    path : str, or an InMemoryTable of a matrix; rectangular : bool, it need not be square; named : bool, no names are
        made
    InputError if it is no such file, is damaged or malformed, does not fit into memory, or is no matrix of counts
    """
    if isinstance(path, InMemoryTable):
        matrix = sparse.coo_matrix(path.matrix)
    else:
        try:
            _check_headers(path, named)
            matrix = _loaded(path)
        except InputError:
            raise
        except Exception as error:  # of zipfile, NumPy and scipy, who read whatever there is
            reason = str(error) or type(error).__name__
            raise InputError(
                f"{path}: no sparse matrix as scipy.sparse.save_npz writes it ({reason[:200]}); write it again with "
                "that function"
            ) from error
    if not rectangular and matrix.shape[0] != matrix.shape[1]:
        raise InputError(
            f"{path}: {matrix.shape[0]:,} rows and {matrix.shape[1]:,} columns: things of one kind make it square; if "
            "they are two kinds, read it as --pairs or --cooccurrence with --rectangular"
        )
    wrong = ~(np.isfinite(matrix.data) & (matrix.data >= 0))
    if wrong.any():
        at = int(np.argmax(wrong))
        raise InputError(
            f"{path}: the entry in row {matrix.row[at]}, column {matrix.col[at]} (from 0 on) is {matrix.data[at]}; "
            "entries tell how often items were seen together: finite, and 0 or more"
        )
    return matrix


def numbered(matrix, rectangular):
    """Return rows and columns of a coo_matrix, and lists of numbers as their names; of few entries those that occur."""
    if max(matrix.shape) <= matrix.nnz:
        return matrix.row, matrix.col, [list(map(str, range(side))) for side in matrix.shape]
    if rectangular:
        (known, rows), (known_out, columns) = (np.unique(ids, return_inverse=True) for ids in (matrix.row, matrix.col))
        return rows, columns, [list(map(str, ids.tolist())) for ids in (known, known_out)]
    known, both = np.unique(np.concatenate([matrix.row, matrix.col]), return_inverse=True)
    return both[: matrix.nnz], both[matrix.nnz :], [list(map(str, known.tolist()))] * 2


def _check_headers(path, named):
    """Raise InputError if the matrix of an archive is of no numbers or too large, ValueError if it is malformed."""
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
            f"{path}: to encode {entries:,} entries in {sides[0]:,} rows and {sides[1]:,} columns takes "
            f"{needed / 2**30:,.1f} GB, and {memory / 2**30:,.1f} GB may be used; leave rare items out of the matrix"
        )


def _loaded(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of indices without a sign
        with np.load(path) as arrays:
            if "coords" in arrays and arrays["format"].item() in ("coo", b"coo"):  # which SciPy 1.15 cannot read
                row, column = arrays["coords"]
                return sparse.coo_matrix((arrays["data"], (row, column)), tuple(arrays["shape"].tolist()))
        matrix = sparse.load_npz(path)
        if matrix.format == "dia":
            with np.load(path) as arrays:  # scipy reads numbers beyond 32 bits as others
                if (arrays["offsets"] != matrix.offsets).any():
                    raise ValueError("offsets has numbers beyond all diagonals")
        if matrix.format in ("csr", "csc", "bsr"):
            if (matrix.indptr[1:] < matrix.indptr[:-1]).any():  # which scipy passes over if they end with 0
                raise ValueError("the pointers in indptr fall")
            matrix.check_format(full_check=True)
        return sparse.coo_matrix(matrix)
