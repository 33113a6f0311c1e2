"""Dot products with rows that are kept as bytes, a quarter of what float32 rows are read for; and with some rows."""

import numpy as np

from ...ground.jit import LEAF, njit


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


@njit(fastmath=LEAF, loop=True)
def dots_of_some(matrix, rows, queries, out):
    """Write ``matrix[rows[i]] · queries[k]`` to ``out[k, i]``.

    matrix : float32 (n, dim); rows : int64 (m,); queries : float32 (q, dim); out : float32 (q, m), updated in place
    """
    for i in range(rows.shape[0]):
        for k in range(queries.shape[0]):
            total = np.float32(0)
            for j in range(matrix.shape[1]):
                total += matrix[rows[i], j] * queries[k, j]
            out[k, i] = total
