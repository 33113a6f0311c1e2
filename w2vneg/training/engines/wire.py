"""Changes of rows as they go from rank to rank: how wide a number is, and which rows are named.

float16 halves the bytes and loses nothing that training would notice. int8 quarters them: each row has a scale of its
own, its largest number / 127. What rounding takes away is not kept for the next exchange: a rank would have a state
beside its model then, which a rank that takes another's place could not know.

Rows that did not change are left out where that is cheaper: each row that is named costs four bytes more.
"""

from typing import NamedTuple

import numpy as np

from ...kernels.wire import from_halves, from_octets, to_halves, to_octets


class Packed(NamedTuple):
    """Rows on their way.

    ids : int32, (n,), places of the rows; None: all of them
    values : float16, float32 or int8, (n, dim)
    scales : float32, (n,), what a value of 1 stands for; None unless int8
    """

    ids: np.ndarray
    values: np.ndarray
    scales: np.ndarray

    @property
    def nbytes(self):
        """Bytes of the arrays (int)."""
        return sum(array.nbytes for array in self if array is not None)


def pack(rows, dtype):
    """Return `Packed` rows.

    Parameters
    ----------
    rows : float32, (n_rows, dim)
    dtype : str, of `config.ranks.DTYPES`
    """
    values, scales = np.empty(rows.shape, dtype), None
    moved = np.empty(len(rows), np.bool_)
    if dtype == "float16":
        to_halves(rows, values.view(np.uint16), moved)
    elif dtype == "int8":
        scales = np.empty(len(rows), np.float32)
        to_octets(rows, values, scales, moved)
    else:
        values[:] = rows
        np.any(rows, axis=1, out=moved)
    width = values.itemsize * values.shape[1]
    if np.count_nonzero(moved) * (width + 4) >= len(rows) * width:
        return Packed(None, values, scales)
    ids = np.flatnonzero(moved).astype(np.int32)
    return Packed(ids, values[ids], None if scales is None else scales[ids])


def unpack(packed, out):
    """Write packed rows into `out`, float32, (n_rows, dim); rows that were left out become 0."""
    rows = out if packed.ids is None else np.empty(packed.values.shape, np.float32)
    if packed.scales is not None:
        from_octets(packed.values, packed.scales, rows)
    elif packed.values.dtype == np.float16:
        from_halves(packed.values.view(np.uint16), rows)
    else:
        rows[:] = packed.values
    if packed.ids is not None:
        out[:] = np.float32(0.0)
        out[packed.ids] = rows
