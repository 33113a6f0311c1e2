"""NumPy's own form of a matrix, in files and archives: no header is believed, nothing is ever unpickled."""

import math
import os
import warnings

import numpy as np

from ..errors import InputError


def read_matrix(path, mapped=False):
    """Return the matrix of an npy file, float32 (rows, columns), `mapped` read-only instead of read.

    InputError if the file cannot be read, or is anything else, or shorter or longer than its header says.
    """
    return _read(path, np.float32, "a matrix of float32", mapped)


def read_numbers(path):
    """Return the whole numbers of an npy file, int32 (rows, columns); InputError as `read_matrix` has it."""
    return _read(path, np.int32, "a matrix of int32")


def read_mask(path):
    """Return the yes and no of an npy file, bool (n,), n at least 1; InputError as `read_matrix` has it."""
    mask = _read(path, np.bool_, "an array of bool")
    if (mask.view(np.uint8) > 1).any():
        raise InputError(f"{path}: holds something else than yes and no; the file is damaged")
    return mask


def _read(path, expected, what, mapped=False):
    try:
        with open(path, "rb") as stream:
            shape, column_major, dtype = npy_header(stream)
            begin, size = stream.tell(), os.fstat(stream.fileno()).st_size
            if dtype != expected or len(shape) != (1 if expected is np.bool_ else 2) or not min(shape):
                raise InputError(f"{path}: expected {what}, found {dtype} of shape {shape}")
            if math.prod(shape) * dtype.itemsize != size - begin:
                raise InputError(f"{path}: cut short or damaged: its {size:,} bytes do not hold the promised {shape}")
            order = "F" if column_major else "C"
            if mapped:
                return np.asarray(np.memmap(path, dtype, "r", begin, shape, order))
            return np.fromfile(stream, dtype, math.prod(shape)).reshape(shape, order=order)
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: not a NumPy matrix ({getattr(error, 'strerror', None) or error})") from error


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
