"""The rows of a matrix that are nearest to a query, by cosine: float32 products propose, double precision decides.

How far each of them may be off is known, so that the answer is the same.
"""

import numpy as np

ROWS = 1024  # looked at together in float64; their copies stay in the cache of a core
_NUMBERS = 1 << 18  # looked at together for some that are not finite
_SAFE = np.float32(1e-30), np.float32(1e30)  # squared lengths that float32 products are right for


def normalised(matrix):
    """Return the rows at length one, float64 (n, dim); zero rows stay zero, huge and tiny ones are safe."""
    rows = matrix.astype(np.float64)
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    return rows / np.where(lengths > 0, lengths, 1.0)[:, None]


def unit_rows(matrix):
    """Return the rows at length one, float32 (n, dim), as `normalised` does, some at a time."""
    unit = np.empty(matrix.shape, np.float32)
    for start in range(0, len(matrix), ROWS):
        some = slice(start, start + ROWS)
        unit[some] = normalised(matrix[some])
    return unit


def lengths_of(matrix):
    """Return the lengths of float32 rows, float32 (n,); NaN where a product of float32 numbers may be far off."""
    with np.errstate(over="ignore", under="ignore"):
        squares = np.einsum("ij,ij->i", matrix, matrix)
    squares[~((squares >= _SAFE[0]) & (squares <= _SAFE[1]))] = np.nan
    return np.sqrt(squares, out=squares)


def row_not_finite(matrix):
    """Return the first row of a float32 (n, dim) with a number that is not finite, None if there is none."""
    step = max(1, _NUMBERS // matrix.shape[1])
    for start in range(0, len(matrix), step):
        finite = np.isfinite(matrix[start : start + step])
        if not finite.all():
            return start + int(np.argmin(finite.all(axis=1)))
    return None


def cosines_with(matrix, query, rows=None):
    """Return the cosines of rows (of all, if None) with a query, float64 (dim,) of length one: float64 (n,).

    In double precision; 0 for a zero row. matrix : float32, (n, dim)
    """
    cosines = np.empty(len(matrix if rows is None else rows))
    for start in range(0, len(cosines), ROWS):
        some = slice(start, start + ROWS)
        cosines[some] = np.einsum("ij,j->i", normalised(matrix[some if rows is None else rows[some]]), query)
    return np.clip(cosines, -1.0, 1.0, out=cosines)


def nearest(matrix, lengths, query, left_out, k):
    """Return the rows with the highest cosines, intp (at most k,), and these, float64: the highest first.

    Equal ones are in the order of the rows.

    matrix, lengths : float32, (n, dim) and (n,), of `lengths_of`; query : float64, (dim,), of length one
    left_out : list of int, rows that are no answers
    """
    rough, error = _rough(matrix, lengths, query)
    rows = np.flatnonzero(_may_be_best(rough, error, k, [row for row in left_out if row < len(matrix)]))
    cosines = cosines_with(matrix, query, rows)
    best = top_rows(cosines, min(k, len(rows)))
    return rows[best], cosines[best]


def _rough(matrix, lengths, query):
    """Return cosines, float32 (n,), NaN where nothing is known, and how far they may be off.

    Product and squared length are off by at most `dim` roundings of 2^-24, query, root and quotient by a few.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        return (matrix @ query.astype(np.float32)) / lengths, np.float32((3 * len(query) + 16) * 2.0**-24)


def _may_be_best(rough, error, k, left_out):
    """Tell which rows may be among the `k` best, bool (n,); `rough` gets −∞ where nothing is known or wanted."""
    unknown = np.isnan(rough)
    rough[unknown] = rough[left_out] = -np.inf
    close = unknown | (rough + error >= (np.partition(rough - error, -k)[-k] if k < len(rough) else -np.inf))
    close[left_out] = False
    return close


def compared(matrix, lengths, first, second, left_out, k):
    """Return how many rows are nearer to each of two queries than they are to each other, and who is near to both.

    first, second : float64, (dim,), of length one; left_out : list of int, rows that do not count; others as `nearest`

    Returns nearer, two int; rows and cosines, intp and float64 (at most k,), the highest lower ones of two cosines.
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
    """Return the rows of the `k` highest scores, intp (k,), the highest first, equal ones in the order of the rows.

    scores : float32 or float64, (n,); k : at most n
    """
    if k < 1:
        return np.empty(0, dtype=np.intp)
    threshold = np.partition(scores, len(scores) - k)[len(scores) - k]
    rows = np.flatnonzero(scores >= threshold)
    return rows[np.argsort(-scores[rows], kind="stable")][:k]
