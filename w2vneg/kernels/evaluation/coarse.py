"""Dot products with rows that are kept as bytes: a quarter of what float32 rows are read for."""

import numpy as np

from ...jit import LEAF, njit


@njit(fastmath=LEAF, loop=True)
def dots_of_bytes(rows, scales, query, out):
    """Write ``scales[i] * (rows[i] · query)`` to `out`.

    rows : int8 (n, dim); scales : float32 (n,); query : float32 (dim,); out : float32 (n,), updated in place
    """
    for i in range(rows.shape[0]):
        total = np.float32(0)
        for j in range(rows.shape[1]):
            total += np.float32(rows[i, j]) * query[j]
        out[i] = total * scales[i]
