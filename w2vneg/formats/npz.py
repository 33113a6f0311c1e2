"""npz: NumPy's zip of arrays. Words are UTF-8 bytes and offsets, so that no pickle is ever needed.

Arrays: ``matrix`` float32 (n, dim); ``word_bytes`` uint8 (sum of lengths,); ``word_offsets`` int64 (n + 1,);
``counts`` int64 (n,), if known. They are stored as they are, not compressed, so that the matrix can be mapped.
"""

import math
import struct
import zipfile
import zlib
from pathlib import Path

import numpy as np

from ..atomic import atomic_file
from ..errors import InputError
from ..words import END, Words
from .common import check_finite, check_text

_REMEDY = "; it was not written by w2vneg, or is damaged: write it again (w2vneg export … --format npz)"

_NAME_LENGTHS_AT = 26  # of the lengths of name and extra field in a member's local header


def write(path, words, matrix, counts=None):
    """Write an npz file; see `w2vneg.formats.save`."""
    check_text(path, words)
    arrays = {
        "matrix": np.ascontiguousarray(matrix, dtype=np.float32),
        "word_bytes": np.frombuffer(words.data.replace(END, b""), dtype=np.uint8),
        "word_offsets": words.offsets - np.arange(len(words) + 1),
    }
    if counts is not None:
        arrays["counts"] = np.asarray(counts, dtype=np.int64)
    with atomic_file(path) as stream:
        np.savez(stream, **arrays)


def read(path):
    """Read an npz file, strictly; see `w2vneg.formats.load`.

    The matrix is memory-mapped, read-only, unless it is compressed.
    """
    path = Path(path)
    try:
        # Opened here, for NumPy leaves a damaged file open.
        with open(path, "rb") as stream, np.load(stream, allow_pickle=False) as archive:
            missing = [name for name in ("matrix", "word_bytes", "word_offsets") if name not in archive]
            if missing:
                found = ", ".join(sorted(archive))
                raise InputError(f"{path}: expected an array {missing[0]!r}, found {found}{_REMEDY}")
            matrix = _mapped(path, archive.zip, "matrix.npy")
            matrix = archive["matrix"] if matrix is None else matrix
            data, offsets, counts = archive["word_bytes"], archive["word_offsets"], archive.get("counts")
    except ValueError as error:  # an array of objects, which only a pickle can hold
        raise InputError(f"{path}: an array cannot be read without executing code in it ({error}){_REMEDY}") from None
    except (OSError, EOFError, KeyError, zipfile.BadZipFile, zlib.error, NotImplementedError) as error:
        raise InputError(f"{path}: cannot be read as npz ({error}){_REMEDY}") from None
    words = _words(path, data, offsets)
    _check(path, words, matrix, counts)
    return words, np.ascontiguousarray(matrix), counts


def _mapped(path, archive, name):
    """Map an array of a zip archive as a read-only ndarray; None if it is no float32 (n, dim) that can be mapped."""
    member = archive.getinfo(name)
    with archive.open(member) as entry:  # which checks the member's own header
        version = np.lib.format.read_magic(entry)
        if version != (1, 0):
            return None
        shape, column_major, dtype = np.lib.format.read_array_header_1_0(entry)
        header = entry.tell()
    with open(path, "rb") as stream:
        stream.seek(member.header_offset + _NAME_LENGTHS_AT)
        name_length, extra_length = struct.unpack("<HH", stream.read(4))
    begin = member.header_offset + _NAME_LENGTHS_AT + 4 + name_length + extra_length + header
    plain = member.compress_type == zipfile.ZIP_STORED and dtype == np.dtype("<f4") and not column_major
    whole = len(shape) == 2 and math.prod(shape) * dtype.itemsize == member.file_size - header
    if not (plain and whole and shape[0] and begin % dtype.itemsize == 0):
        return None
    return np.asarray(np.memmap(path, dtype, "r", begin, shape))


def _words(path, data, offsets):
    whole = (
        data.dtype == np.uint8
        and data.ndim == 1
        and offsets.dtype.kind == "i"
        and offsets.ndim == 1
        and len(offsets) > 1
        and offsets[0] == 0
        and offsets[-1] == len(data)
        and not (np.diff(offsets) < 0).any()
    )
    if not whole:
        raise InputError(f"{path}: the words' bytes and offsets do not fit together{_REMEDY}")
    marked = np.insert(data, offsets[1:], END[0]).tobytes()
    try:
        marked.replace(END, b"\n" if END[0] not in data else END).decode()
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: the words are not UTF-8 ({error.reason}){_REMEDY}") from None
    return Words.of_data(marked)


def _check(path, words, matrix, counts):
    if matrix.dtype != np.float32 or matrix.ndim != 2 or len(matrix) != len(words) or not matrix.size:
        raise InputError(
            f"{path}: expected a float32 matrix of {len(words)} rows, "
            f"found {matrix.dtype} of shape {matrix.shape}{_REMEDY}"
        )
    if counts is not None and (counts.dtype != np.int64 or counts.shape != (len(words),)):
        raise InputError(f"{path}: expected {len(words)} int64 counts, found {counts.dtype} {counts.shape}{_REMEDY}")
    repeated = words.repeated()
    if repeated:
        word, (first, row) = words[repeated[0]], repeated
        raise InputError(f"{path}: the word {word!r} occurs twice (rows {first} and {row}); keep one of them")
    check_finite(path, matrix, words)
