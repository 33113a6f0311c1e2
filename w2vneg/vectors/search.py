"""The rows of a matrix that are nearest to a query, by cosine: float32 products propose, double precision decides.

Where many queries go to a large matrix, products with a copy of its rows in bytes propose: they read a quarter of the
memory. How far each of them may be off is known, so that the answer is the same.
"""

import numpy as np

from ..ground.jit import available_threads, launch

ROWS = 1024  # looked at together in float64; their copies stay in the cache of a core
_SHARE = 1 << 15  # rows that a thread is worth handing over for
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


def cosines_with(matrix, query, rows=None):
    """Return the cosines of rows (of all, if None) with a query, float64 (dim,) of length one: float64 (n,).

    In double precision; 0 for a zero row. matrix : float32, (n, dim)
    """
    cosines = np.empty(len(matrix if rows is None else rows))
    for start in range(0, len(cosines), ROWS):
        some = slice(start, start + ROWS)
        cosines[some] = np.einsum("ij,j->i", normalised(matrix[some if rows is None else rows[some]]), query)
    return np.clip(cosines, -1.0, 1.0, out=cosines)


class Coarse:
    """Rows at length one in bytes: ``scales[i] * rows[i]`` is row i but for a remainder of length ``errors[i]``.

    rows : ndarray, int8, (n, dim); scales, errors : ndarray, float32, (n,), of a zero row NaN and 0
    """

    def __init__(self, matrix):
        self.rows = np.empty(matrix.shape, np.int8)
        self.scales, self.errors = np.empty((2, len(matrix)), np.float32)
        for start in range(0, len(matrix), ROWS):
            some = slice(start, start + ROWS)
            unit = normalised(matrix[some])
            step = np.abs(unit).max(axis=1) / 127
            step[step == 0] = np.nan
            whole = np.rint(unit / step[:, None])
            self.rows[some] = np.nan_to_num(whole)
            self.scales[some] = step
            self.errors[some] = np.nan_to_num(np.linalg.norm(unit - whole * step[:, None], axis=1))

    def cosines(self, query, n):
        """Return the cosines of the first `n` rows with a query, float32 (dim,) of length one, as near as bytes are."""
        from ..kernels.evaluation.best import dots_of_bytes

        found = np.empty(n, np.float32)
        _shared_out(n, lambda some: dots_of_bytes(self.rows[some], self.scales[some], query, found[some]))
        return found


def _shared_out(n, work):
    """Call `work` with slices that share out n rows, on as many threads as have enough to do."""
    count = min(available_threads(), 1 + n // _SHARE)
    edges = np.linspace(0, n, count + 1).astype(int).tolist()
    launch(lambda part: work(slice(edges[part], edges[part + 1])), count)


def nearest(matrix, lengths, query, left_out, k, coarse=None):
    """Return the rows with the highest cosines, intp (at most k,), and these, float64: the highest first.

    Equal ones are in the order of the rows.

    matrix, lengths : float32, (n, dim) and (n,), of `lengths_of`; query : float64, (dim,), of length one
    left_out : list of int, rows that are no answers; coarse : Coarse, optional, of the matrix, perhaps with more rows
    """
    n, margin = len(matrix), _margin(matrix.shape[1])
    if coarse is None:
        with np.errstate(over="ignore", invalid="ignore"):
            rough, errors = (matrix @ query.astype(np.float32)) / lengths, margin
    else:
        rough, errors = coarse.cosines(query.astype(np.float32), n), coarse.errors[:n] + margin
    rows = np.flatnonzero(_may_be_best(rough, errors, k, [row for row in left_out if row < n]))
    cosines = cosines_with(matrix, query, rows)
    best = top_rows(cosines, min(k, len(rows)))
    return rows[best], cosines[best]


def _may_be_best(rough, errors, k, left_out):
    """Tell which rows may be among the `k` best, bool (n,); `rough` gets −∞ where nothing is known or wanted.

    rough : float32, (n,), NaN where nothing is known; errors : float32, (n,) or one for all, how far they may be off
    """
    unknown = np.isnan(rough)
    rough[unknown] = rough[left_out] = -np.inf
    close = unknown | (rough + errors >= (np.partition(rough - errors, -k)[-k] if k < len(rough) else -np.inf))
    close[left_out] = False
    return close


def _margin(dim):
    """Product and squared length are off by at most `dim` roundings of 2^-24, query, root and quotient by a few."""
    return np.float32((3 * dim + 16) * 2.0**-24)


def compared(matrix, lengths, first, second, left_out, k, coarse=None):
    """Return how many rows are nearer to each of two queries than they are to each other, and who is near to both.

    first, second : float64, (dim,), of length one; left_out : list of int, rows that do not count; others as `nearest`

    Returns nearer, two int; rows and cosines, intp and float64 (at most k,), the highest lower ones of two cosines.
    """
    from ..kernels.evaluation.best import dots_of_some

    queries, cosine, margin = np.stack([first, second]), first @ second, _margin(matrix.shape[1])
    singles, nearer, rows = queries.astype(np.float32), 0, np.arange(len(matrix))
    if coarse is not None:
        rough = np.stack([coarse.cosines(query, len(matrix)) for query in singles])
        nearer, rows = _undecided(rough, coarse.errors + margin, cosine, k, left_out)
        left_out, lengths = [], lengths[rows]
    with np.errstate(over="ignore", invalid="ignore"):
        if coarse is None:
            rough = np.stack([matrix @ query for query in singles])  # faster than one product
        else:
            rough = np.empty((2, len(rows)), np.float32)
            _shared_out(len(rows), lambda some: dots_of_some(matrix, rows[some], singles, rough[:, some]))
        rough /= lengths
    above, some = _undecided(rough, margin, cosine, k, left_out)
    rows = rows[some]
    exact = np.stack([cosines_with(matrix, query, rows) for query in queries])
    nearer = nearer + above + (exact > cosine + 1e-12).sum(axis=1)
    lower = exact.min(axis=0)
    best = top_rows(lower, min(k, len(rows)))
    return tuple(nearer.tolist()), rows[best], lower[best]


def _undecided(rough, errors, cosine, k, left_out):
    """Return how many rows are surely nearer than `cosine`, int64 (2,), and which may be, or be near to both."""
    unknown = np.isnan(rough).any(axis=0)
    close = _may_be_best(rough.min(axis=0), errors, k, left_out)  # NaN where one of the two is
    rough[:, unknown] = rough[:, left_out] = -np.inf
    for one in rough:
        close |= np.abs(one - cosine) <= errors
    close[left_out] = False
    return ((rough > cosine) & ~close).sum(axis=1), np.flatnonzero(close)


def top_rows(scores, k):
    """Return the rows of the `k` highest scores, intp (k,), the highest first, equal ones in the order of the rows.

    scores : float32 or float64, (n,); k : at most n
    """
    if k < 1:
        return np.empty(0, dtype=np.intp)
    threshold = np.partition(scores, len(scores) - k)[len(scores) - k]
    rows = np.flatnonzero(scores >= threshold)
    return rows[np.argsort(-scores[rows], kind="stable")][:k]
