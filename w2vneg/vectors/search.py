"""Find the rows nearest to a query by cosine: float32 products select candidates, double precision ranks them.

The error of the float32 cosines is bounded, so the result is exact.
"""

import numpy as np

ROWS = 1024  # per float64 block; the copies stay in the cache of a core
_NUMBERS = 1 << 18  # per block in the check for non-finite numbers
_SAFE = np.float32(1e-30), np.float32(1e30)  # range of squared lengths for which float32 products are accurate


def normalised(matrix):
    """Return the rows scaled to unit length, float64 (n, dim); zero rows stay zero, huge and tiny ones are safe."""
    rows = matrix.astype(np.float64)
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    return rows / np.where(lengths > 0, lengths, 1.0)[:, None]


def unit_rows(matrix):
    """Return the rows scaled to unit length, float32 (n, dim), by `normalised`, in blocks."""
    unit = np.empty(matrix.shape, np.float32)
    for start in range(0, len(matrix), ROWS):
        some = slice(start, start + ROWS)
        unit[some] = normalised(matrix[some])
    return unit


def lengths_of(matrix):
    """Return the lengths of float32 rows, float32 (n,); NaN where float32 products may be inaccurate."""
    with np.errstate(over="ignore", under="ignore"):
        squares = np.einsum("ij,ij->i", matrix, matrix)
    squares[~((squares >= _SAFE[0]) & (squares <= _SAFE[1]))] = np.nan
    return np.sqrt(squares, out=squares)


def row_not_finite(matrix):
    """Return the first row of a float32 (n, dim) that has a non-finite number, or None."""
    step = max(1, _NUMBERS // matrix.shape[1])
    for start in range(0, len(matrix), step):
        finite = np.isfinite(matrix[start : start + step])
        if not finite.all():
            return start + int(np.argmin(finite.all(axis=1)))
    return None


def cosines_with(matrix, query, rows=None):
    """Return the cosines of `rows` (all if None) with a query in double precision, float64 (n,); 0 for a zero row.

    matrix : float32, (n, dim); query : float64, (dim,), of unit length
    """
    cosines = np.empty(len(matrix if rows is None else rows))
    for start in range(0, len(cosines), ROWS):
        some = slice(start, start + ROWS)
        cosines[some] = np.einsum("ij,j->i", normalised(matrix[some if rows is None else rows[some]]), query)
    return np.clip(cosines, -1.0, 1.0, out=cosines)


def nearest(matrix, lengths, query, left_out, k):
    """Return the rows with the highest cosines, intp (at most k,), and these, float64, best first, ties in row order.

    matrix, lengths : float32, (n, dim) and (n,), from `lengths_of`; query : float64, (dim,), of unit length
    left_out : list of int, rows to exclude
    """
    rough, error = _rough(matrix, lengths, query)
    rows = np.flatnonzero(_may_be_best(rough, error, k, [row for row in left_out if row < len(matrix)]))
    cosines = cosines_with(matrix, query, rows)
    best = top_rows(cosines, min(k, len(rows)))
    return rows[best], cosines[best]


def _rough(matrix, lengths, query):
    """Return cosines, float32 (n,), NaN where unknown, and a bound on their error.

    Product and squared length have an error of at most `dim` roundings of 2^-24; query, root and quotient, of a few.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        return (matrix @ query.astype(np.float32)) / lengths, np.float32((3 * len(query) + 16) * 2.0**-24)


def _may_be_best(rough, error, k, left_out):
    """Return which rows may be among the `k` best, bool (n,); sets `rough` to −∞ for unknown and excluded rows."""
    unknown = np.isnan(rough)
    rough[unknown] = rough[left_out] = -np.inf
    close = unknown | (rough + error >= (np.partition(rough - error, -k)[-k] if k < len(rough) else -np.inf))
    close[left_out] = False
    return close


def compared(matrix, lengths, first, second, left_out, k):
    """Count the rows nearer to each query than the two queries are to each other, and find the rows near both.

    first, second : float64, (dim,), of unit length; left_out : list of int, rows to exclude; others as for `nearest`

    Returns nearer, two int; rows and cosines, intp and float64 (at most k,), by the lower of a row's two cosines.
    """
    queries, cosine = np.stack([first, second]), first @ second
    rough, (error, _) = zip(*(_rough(matrix, lengths, query) for query in queries), strict=True)
    close = _may_be_best(np.minimum(*rough), error, k, left_out)  # NaN where one of the two is
    for one in rough:
        close |= np.abs(one - cosine) <= error
    far = ~close
    far[left_out] = close[left_out] = False
    surely, rows = [int((one > cosine)[far].sum()) for one in rough], np.flatnonzero(close)
    exact = np.stack([cosines_with(matrix, query, rows) for query in queries])
    nearer = surely + (exact > cosine + 1e-12).sum(axis=1)
    lower = exact.min(axis=0)
    best = top_rows(lower, min(k, len(rows)))
    return tuple(nearer.tolist()), rows[best], lower[best]


def top_rows(scores, k):
    """Return the rows of the `k` highest scores, intp (k,), highest first, ties in row order.

    scores : float32 or float64, (n,); k : at most n
    """
    if k < 1:
        return np.empty(0, dtype=np.intp)
    threshold = np.partition(scores, len(scores) - k)[len(scores) - k]
    rows = np.flatnonzero(scores >= threshold)
    return rows[np.argsort(-scores[rows], kind="stable")][:k]
