"""NumPy's npy format, in files and archives: headers are verified, nothing is ever unpickled."""

import math
import os
import warnings
from typing import Literal

import numpy as np

from ..errors import InputError


def read_mask(path):
    """Return the booleans of an npy file, bool (n,), n at least 1; InputError as for `read_matrix`."""
    mask = read_matrix(path, np.bool_, ndim=1)
    if (mask.view(np.uint8) > 1).any():
        raise InputError(f"{path}: holds values other than true and false; the file is damaged")
    return mask


def read_matrix(path, kind=np.float32, mapped=False, ndim=2):
    """Return the matrix of an npy file, (rows, columns) of dtype `kind`; if `mapped`, read-only from a memory map.

    InputError if the file cannot be read, is anything else, or is shorter or longer than its header says.
    """
    try:
        with open(path, "rb") as stream:
            shape, column_major, dtype = npy_header(stream)
            begin, size = stream.tell(), os.fstat(stream.fileno()).st_size
            if dtype != kind or len(shape) != ndim or not min(shape):
                what = f"{'a matrix' if ndim == 2 else 'an array'} of {np.dtype(kind)}"
                raise InputError(f"{path}: expected {what}, found {dtype} of shape {shape}")
            if math.prod(shape) * dtype.itemsize != size - begin:
                raise InputError(f"{path}: cut short or damaged: its {size:,} bytes do not match the header, {shape}")
            order: Literal["F", "C"] = "F" if column_major else "C"
            if mapped:
                return np.asarray(np.memmap(path, dtype, "r", begin, shape, order))
            return np.fromfile(stream, dtype, math.prod(shape)).reshape(shape, order=order)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from error
    except ValueError as error:
        raise InputError(f"{path}: not a NumPy matrix ({error})") from error


def npy_header(stream) -> tuple[tuple[int, ...], bool, np.dtype]:
    """Read the header of an npy array, version 1.0, from a binary stream; ValueError if it is not one.

    Returns (shape, column_major, dtype): tuple of int, bool, numpy.dtype
    """
    if stream.read(8) != b"\x93NUMPY\x01\x00":
        raise ValueError("it does not begin like one")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # on a header that NumPy would repair
            shape, column_major, dtype = np.lib.format.read_array_header_1_0(stream)
    except Exception as error:  # NumPy evaluates the header, so a damaged one may raise anything
        raise ValueError("its header is damaged") from error
    if dtype.hasobject:
        raise ValueError("an array of objects cannot be read without executing code in it")
    if min(shape, default=0) < 0:
        raise ValueError("its header is damaged")
    return shape, column_major, dtype
