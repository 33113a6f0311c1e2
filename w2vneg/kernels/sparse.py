"""Products of a sparse matrix with a few columns at a time."""

from ..ground.jit import ZERO, njit, prefetch

COLUMNS = 16  # a line of memory; the compiler knows how many
_AHEAD = 16  # rows that are asked for before they are needed: they lie anywhere


@njit(loop=True)
def multiply(starts, columns, values, x, out):
    """Write the product of a matrix of n rows with x, float32 (m, COLUMNS), into out, float32 (n, COLUMNS).

    starts : int, (n + 1,); columns, values : int32 and float32, row r has those from starts[r] up to starts[r + 1],
        which are added up in their order
    """
    last = columns.shape[0] - 1
    for r in range(starts.shape[0] - 1):
        for c in range(COLUMNS):
            out[r, c] = ZERO
        for k in range(starts[r], starts[r + 1]):
            prefetch(x, columns[min(k + _AHEAD, last)], 0)
            value, column = values[k], columns[k]
            for c in range(COLUMNS):
                out[r, c] += value * x[column, c]
