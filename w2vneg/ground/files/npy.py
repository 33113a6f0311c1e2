"""NumPy's own form of a matrix, in files and archives: no header is believed, nothing is ever unpickled."""

import math
import os
import warnings

import numpy as np

from ..errors import InputError


def read_mask(path):
    """Return the yes and no of an npy file, bool (n,), n at least 1; InputError as `read_matrix` has it."""
    mask = read_matrix(path, np.bool_, ndim=1)
    if (mask.view(np.uint8) > 1).any():
        raise InputError(f"{path}: holds something else than yes and no; the file is damaged")
    return mask


def read_matrix(path, kind=np.float32, mapped=False, ndim=2):
    """Return the matrix of an npy file, (rows, columns) of a kind of number, `mapped` read-only instead of read.

    InputError if the file cannot be read, or is anything else, or shorter or longer than its header says.
    """
    try:
        with open(path, "rb") as stream:
            shape, column_major, dtype = npy_header(stream)
            begin, size = stream.tell(), os.fstat(stream.fileno()).st_size
            if dtype != kind or len(shape) != ndim or not min(shape):
                what = f"{'a matrix' if ndim == 2 else 'an array'} of {np.dtype(kind)}"
                raise InputError(f"{path}: expected {what}, found {dtype} of shape {shape}")
            if math.prod(shape) * dtype.itemsize != size - begin:
                raise InputError(f"{path}: cut short or damaged: its {size:,} bytes do not hold the promised {shape}")
            order = "F" if column_major else "C"
            if mapped:
                return np.asarray(np.memmap(path, dtype, "r", begin, shape, order))
            return np.fromfile(stream, dtype, math.prod(shape)).reshape(shape, order=order)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from error
    except ValueError as error:
        raise InputError(f"{path}: not a NumPy matrix ({error})") from error


def npy_header(stream):
    """Read the header of an array in npy form, version 1.0, from a binary stream; ValueError if it is none.

    Returns (shape, column_major, dtype): tuple of int, bool, numpy.dtype
    """
    if stream.read(8) != b"\x93NUMPY\x01\x00":
        raise ValueError("it does not begin as one")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # of a header that NumPy would have to mend
            shape, column_major, dtype = np.lib.format.read_array_header_1_0(stream)
    except Exception as error:  # NumPy evaluates the header, and what is damaged fails in every way that Python has
        raise ValueError("its header is damaged") from error
    if dtype.hasobject:
        raise ValueError("an array of objects cannot be read without executing code in it")
    if min(shape, default=0) < 0:
        raise ValueError("its header is damaged")
    return shape, column_major, dtype
