"""Changes of rows as they go from rank to rank: how wide a number is, and which rows are named.

float16 halves the bytes and loses nothing that training would notice.

Rows that did not change are left out where that is cheaper: each row that is named costs four bytes more.
"""

from typing import NamedTuple

import numpy as np

from ..kernels.merge import from_halves, to_halves


class Packed(NamedTuple):
    """Rows on their way.

    ids : int32, (n,), places of the rows; None: all of them
    values : float16 or float32, (n, dim)
    """

    ids: np.ndarray
    values: np.ndarray

    @property
    def nbytes(self):
        """Bytes of the arrays (int)."""
        return sum(array.nbytes for array in self if array is not None)


class Packer:
    """Packs rows block by block, into room that the next ones take again.

    Parameters
    ----------
    n_rows, dim : int
    dtype : str, of `config.ranks.DTYPES`
    """

    def __init__(self, n_rows, dim, dtype):
        self._values, self._moved = np.empty((n_rows, dim), dtype), np.empty(n_rows, np.bool_)

    def add(self, begin, rows):
        """Pack rows, float32 (n, dim), whose first has the place `begin`."""
        place = slice(begin, begin + len(rows))
        values, moved = self._values[place], self._moved[place]
        if values.dtype == np.float16:
            to_halves(rows, values.view(np.uint16), moved)
        else:
            values[:] = rows
            np.any(rows, axis=1, out=moved)

    def packed(self):
        """Return all rows as `Packed`, good until others are added."""
        values = self._values
        width = values.itemsize * values.shape[1]
        if np.count_nonzero(self._moved) * (width + 4) >= len(values) * width:
            return Packed(None, values)
        ids = np.flatnonzero(self._moved).astype(np.int32)
        return Packed(ids, values[ids])


def unpack(packed, begin, out):
    """Write the rows from `begin` on into `out`, float32, (n, dim); rows that were left out become 0."""
    places = slice(begin, begin + len(out))
    if packed.ids is None:
        _decode(packed, places, out)
        return
    places = slice(*np.searchsorted(packed.ids, (places.start, places.stop)))
    rows = np.empty((places.stop - places.start, out.shape[1]), np.float32)
    _decode(packed, places, rows)
    out[:] = np.float32(0.0)
    out[packed.ids[places] - begin] = rows


def _decode(packed, places, rows):
    values = packed.values[places]
    if values.dtype == np.float16:
        from_halves(values.view(np.uint16), rows)
    else:
        rows[:] = values
