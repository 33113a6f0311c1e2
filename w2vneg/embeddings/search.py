"""The rows of a matrix that are nearest to a query, by cosine: float32 products propose, double precision decides."""

import numpy as np

ROWS = 1024  # looked at together in float64; their copies stay in the cache of a core
_SAFE = np.float32(1e-30), np.float32(1e30)  # squared lengths that float32 products are right for


def normalised(matrix):
    """Return the rows at length one, float64 (n, dim); zero rows stay zero, huge and tiny ones are safe."""
    rows = matrix.astype(np.float64)
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    return rows / np.where(lengths > 0, lengths, 1.0)[:, None]


def lengths_of(matrix):
    """Return the lengths of float32 rows, float32 (n,); NaN where a product of float32 numbers may be far off."""
    with np.errstate(over="ignore", under="ignore"):
        squares = np.einsum("ij,ij->i", matrix, matrix)
    squares[~((squares >= _SAFE[0]) & (squares <= _SAFE[1]))] = np.nan
    return np.sqrt(squares, out=squares)


def cosines_with(matrix, query):
    """Return the cosines of all rows with a query, in double precision.

    Parameters
    ----------
    matrix : ndarray, float32, (n, dim)
    query : ndarray, float64, (dim,), of length one

    Returns
    -------
    ndarray, float64, (n,)
        0 for a zero row.
    """
    cosines = np.empty(len(matrix))
    for start in range(0, len(matrix), ROWS):
        some = slice(start, start + ROWS)
        cosines[some] = np.einsum("ij,j->i", normalised(matrix[some]), query)
    return np.clip(cosines, -1.0, 1.0, out=cosines)


def nearest(matrix, lengths, query, left_out, k):
    """Return the rows with the highest cosines, and these.

    Parameters
    ----------
    matrix : ndarray, float32, (n, dim)
    lengths : ndarray, float32, (n,)
        As `lengths_of` gives them.
    query : ndarray, float64, (dim,), of length one
    left_out : list of int
        Rows that are no answers.
    k : int, at least 1

    Returns
    -------
    rows : ndarray, intp, (at most k,)
    cosines : ndarray, float64, of that shape
        The highest first, equal ones in the order of the rows.
    """
    n = len(matrix)
    with np.errstate(over="ignore", invalid="ignore"):
        rough = (matrix @ query.astype(np.float32)) / lengths
    left_out = [row for row in left_out if row < n]
    close = np.isnan(rough)
    rough[close] = rough[left_out] = -np.inf
    # Product and squared length are off by at most dim roundings of 2^-24, query, root and quotient by a few.
    margin = np.float32((3 * matrix.shape[1] + 16) * 2.0**-24)
    close |= rough >= (np.partition(rough, n - k)[n - k] - margin if k < n else -np.inf)
    close[left_out] = False
    rows = np.flatnonzero(close)
    cosines = np.empty(len(rows))
    for start in range(0, len(rows), ROWS):
        some = slice(start, start + ROWS)
        cosines[some] = cosines_with(matrix[rows[some]], query)
    best = top_rows(cosines, min(k, len(rows)))
    return rows[best], cosines[best]


def top_rows(scores, k):
    """Return the rows of the `k` highest scores, the highest first, equal ones in the order of the rows.

    Parameters
    ----------
    scores : ndarray, float32 or float64, (n,)
    k : int, at most n

    Returns
    -------
    ndarray, intp, (k,)
    """
    if k < 1:
        return np.empty(0, dtype=np.intp)
    threshold = np.partition(scores, len(scores) - k)[len(scores) - k]
    rows = np.flatnonzero(scores >= threshold)
    return rows[np.argsort(-scores[rows], kind="stable")][:k]
