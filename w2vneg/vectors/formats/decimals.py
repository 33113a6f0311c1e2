"""Rows of float32 numbers as text that reads back to the bit, many at a time."""

import numpy as np

from ...kernels.text.decimals import LIMIT, SMALLEST, write_rows


def format_rows(matrix):
    """Write each row's numbers, separated by blanks and ended by a line feed, so that they read back exactly.

    Parameters
    ----------
    matrix : ndarray, float32, (n, dim)
        Finite.

    Returns
    -------
    list of memoryview, n of them
        The characters of each row.
    """
    matrix = np.ascontiguousarray(matrix, dtype=np.float32)
    size = np.abs(matrix)
    odd = size < SMALLEST
    odd |= size >= LIMIT
    odd &= size != 0
    per_row = odd.sum(axis=1)
    others = np.array([_odd_decimal(value) for value in matrix[odd]], dtype="S16").view(np.uint8).reshape(-1, 16)
    text, lengths = write_rows(matrix, others, np.cumsum(per_row) - per_row)
    flat, width = memoryview(text.reshape(-1)), text.shape[1]
    return [flat[row * width : row * width + length] for row, length in enumerate(lengths.tolist())]


def _odd_decimal(value):
    """Write one float32 in at most 16 characters; older NumPys would spell out up to 16 digits."""
    text = str(value)
    return (text if len(text) <= 16 else np.format_float_scientific(value, trim="-")).encode()
