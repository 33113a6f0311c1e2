"""Sparse matrices in the files of `scipy.sparse.save_npz`, believed in nothing; and files of names for them.

Compiled functions trust the pointers of a matrix, and scipy's own check passes over those of one that says it is empty.
A few hundred bytes may stand for gigabytes. So the headers of all arrays are read first, and nothing large is unpacked
unless it is what it should be and memory has room for it; then pointers and indices are checked before scipy gets them.
"""

import lzma
import math
import os
import struct
import zipfile
import zlib
from typing import NamedTuple

import numpy as np

from ...ground.errors import InputError
from ...ground.files.bounded import LONGEST_LINE, refuse_line
from ...ground.files.memory import memory_size
from ...ground.files.npy import npy_header
from ..readers.frames import InMemoryTable
from ..readers.sources import ByteStream
from ..readers.text import read_text
from ..words import NameIndex

_POINTERS = {form: {"indices": 1, "indptr": 1} for form in ("csr", "csc", "bsr")}
_LAYOUTS = _POINTERS | {"coo": {"row": 1, "col": 1}, "dia": {"offsets": 1}}  # format -> whole numbers: dimensions
_COORDS = {"coords": 2}  # of coo as scipy means to write it one day
_OF_DATA = {"bsr": 3, "dia": 2}  # dimensions, else 1
_SHARE = 0.5  # of the machine's memory that a matrix may take
_PER_ENTRY = 60  # bytes at the peak of encoding, beside the file's own
_PER_NAME = 130  # bytes of a row or column that has its number for a name
_UNREADABLE = (  # of zipfile and numpy, who read whatever there is
    *(ValueError, KeyError, TypeError, OverflowError, RuntimeError, MemoryError, OSError, EOFError),
    *(lzma.LZMAError, struct.error, zipfile.BadZipFile, zlib.error),
)


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


class _Array(NamedTuple):
    """An array in an archive: its place, dtype, shape and how many bytes it takes"""

    info: zipfile.ZipInfo
    dtype: np.dtype
    shape: tuple
    size: int


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
        from scipy.sparse import coo_matrix

        matrix = coo_matrix(path.matrix)
        _check_square(path, matrix.shape, rectangular)
        return _with_counts(path, matrix)
    try:
        with open(path, "rb") as stream, zipfile.ZipFile(stream) as archive:
            form, shape, arrays = _layout(path, archive)
            _check_size(path, shape, arrays, named)
            _check_square(path, shape, rectangular)
            matrix = _matrix(form, shape, {name: _read(archive, array) for name, array in arrays.items()})
    except _UNREADABLE as error:
        reason = str(error) or type(error).__name__
        raise InputError(
            f"{path}: no sparse matrix as scipy.sparse.save_npz writes it ({reason[:200]}); write it again with that "
            "function"
        ) from error
    return _with_counts(path, matrix)


def numbered(matrix, rectangular):
    """Return rows and columns of a coo_matrix, and lists of numbers as their names; of few entries those that occur."""
    if max(matrix.shape) <= matrix.nnz:
        return matrix.row, matrix.col, [list(map(str, range(side))) for side in matrix.shape]
    if rectangular:
        (known, rows), (known_out, columns) = (np.unique(ids, return_inverse=True) for ids in (matrix.row, matrix.col))
        return rows, columns, [list(map(str, ids.tolist())) for ids in (known, known_out)]
    known, both = np.unique(np.concatenate([matrix.row, matrix.col]), return_inverse=True)
    return both[: matrix.nnz], both[matrix.nnz :], [list(map(str, known.tolist()))] * 2


def _layout(path, archive):
    """Return (format, shape, dict of name -> `_Array`) by the headers alone; ValueError if they are malformed."""
    members = {}
    for info in archive.infolist():
        name = info.filename.removesuffix(".npy")
        if name in members:
            raise ValueError(f"two arrays are named {name}")
        members[name] = info
    form = _read(archive, _small(archive, members, "format", (), "SU")).item()
    form = form if isinstance(form, str) else form.decode("ascii")
    if form not in _LAYOUTS:
        raise ValueError(f"its format is {form[:20]!r}, not one of {', '.join(_LAYOUTS)}")
    shape = _read(archive, _small(archive, members, "shape", (2,), "iu")).tolist()
    if not all(0 < side < 2**31 for side in shape):
        raise ValueError(f"its shape is {shape[0]:,} by {shape[1]:,}; a side is from 1 to {2**31 - 1:,}")
    layout = _COORDS if form == "coo" and "coords" in members else _LAYOUTS[form]
    arrays = {}
    for name, dimensions in {"data": _OF_DATA.get(form, 1), **layout}.items():
        arrays[name] = array = _described(archive, members, name)
        if name == "data" and array.dtype.kind not in "biuf":
            raise InputError(f"{path}: not a matrix of numbers, but of {array.dtype}; save one of numbers")
        if name != "data" and array.dtype.kind not in "iu":
            raise ValueError(f"{name} holds {array.dtype}, not whole numbers")
        if len(array.shape) != dimensions:
            raise ValueError(f"{name} has {len(array.shape)} dimensions, not {dimensions}")
    return form, tuple(shape), arrays


def _described(archive, members, name):
    """Return the `_Array` of a name; ValueError if there is none, or its header and its size differ."""
    if name not in members:
        raise ValueError(f"it has no array {name!r}")
    info = members[name]
    with archive.open(info) as stream:
        try:
            shape, _, dtype = npy_header(stream)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from error
        begin = stream.tell()
    size = math.prod(shape) * dtype.itemsize
    if begin + size != info.file_size:
        raise ValueError(f"{name} takes {size:,} bytes by its header, and has {info.file_size - begin:,}")
    return _Array(info, dtype, shape, size)


def _small(archive, members, name, shape, kinds):
    array = _described(archive, members, name)
    if array.shape != shape or array.dtype.kind not in kinds or array.size > 100:
        raise ValueError(f"{name} is an array of {array.dtype} and of shape {array.shape}")
    return array


def _read(archive, array):
    with archive.open(array.info) as stream:
        numbers = np.lib.format.read_array(stream, allow_pickle=False)
    return numbers.astype(array.dtype.newbyteorder("="), copy=False)


def _check_size(path, shape, arrays, named):
    entries = math.prod(arrays["data"].shape)
    needed = sum(array.size for array in arrays.values()) + _PER_ENTRY * entries
    needed += 0 if named else sum(_PER_NAME * min(side, 2 * entries) for side in shape)
    memory = _SHARE * memory_size()
    if needed > memory:
        raise InputError(
            f"{path}: to encode {entries:,} entries in {shape[0]:,} rows and {shape[1]:,} columns takes "
            f"{needed / 2**30:,.1f} GB, and {memory / 2**30:,.1f} GB may be used; leave rare items out of the matrix"
        )


def _matrix(form, shape, arrays):
    from scipy import sparse

    data = arrays["data"]
    make = getattr(sparse, f"{form}_matrix")
    if form == "coo":
        row, column = arrays["coords"] if "coords" in arrays else (arrays["row"], arrays["col"])
        _check_range("row", row, 0, shape[0])
        _check_range("col", column, 0, shape[1])
        return make((data, (row, column)), shape=shape)
    if form == "dia":
        _check_range("offsets", arrays["offsets"], -shape[0], shape[1] + 1)
        return make((data, arrays["offsets"]), shape=shape).tocoo()
    high, wide = data.shape[1:] if form == "bsr" else (1, 1)
    if min(high, wide) < 1 or shape[0] % high or shape[1] % wide:
        raise ValueError(f"blocks of {high} by {wide} do not divide {shape[0]:,} by {shape[1]:,}")
    major, minor = shape[0] // high, shape[1] // wide
    if form == "csc":
        major, minor = minor, major
    pointers, indices = arrays["indptr"], arrays["indices"]
    if len(pointers) != major + 1:
        raise ValueError(f"indptr has {len(pointers):,} numbers, not {major + 1:,}")
    if pointers[0] != 0 or pointers[-1] > len(indices) or (pointers[1:] < pointers[:-1]).any():
        raise ValueError(f"indptr does not rise from 0 to the {len(indices):,} of indices")
    _check_range("indices", indices, 0, minor)
    return make((data, indices, pointers), shape=shape).tocoo()


def _check_range(name, numbers, low, end):
    if len(numbers) and not low <= int(numbers.min()) <= int(numbers.max()) < end:
        wrong = int(numbers.min()) if numbers.min() < low else int(numbers.max())
        raise ValueError(f"{name} has {wrong:,}, which is not from {low:,} to {end - 1:,}")


def _check_square(path, shape, rectangular):
    if not rectangular and shape[0] != shape[1]:
        raise InputError(
            f"{path}: {shape[0]:,} rows and {shape[1]:,} columns: things of one kind make it square; if they are two "
            "kinds, read it as --pairs or --cooccurrence with --rectangular"
        )


def _with_counts(path, matrix):
    wrong = ~(np.isfinite(matrix.data) & (matrix.data >= 0))
    if wrong.any():
        at = int(np.argmax(wrong))
        raise InputError(
            f"{path}: the entry in row {matrix.row[at]}, column {matrix.col[at]} (from 0 on) is {matrix.data[at]}; "
            "entries tell how often items were seen together: finite, and 0 or more"
        )
    return matrix
