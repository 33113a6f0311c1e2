"""Least squares over words and their n-grams, a few columns at a time.

F has a row for each word: ``scale[w]`` for each n-gram of the word, those in ``grams[starts[w]:starts[w + 1]]``. The
unknowns have a row for each n-gram. Rows span two adjacent cache lines, which load as fast as one.

starts : int, (n_words + 1,); grams : int32; scale : float32, (n_words,)
row : float32, (COLUMNS,), scratch
once : 1, hidden from the compiler, which would otherwise unroll loops of 32 instead of vectorising them
"""

import numpy as np

from ..ground.jit import ZERO, njit, prefetch

COLUMNS = 32
_AHEAD = 24  # n-grams whose rows are prefetched: rows are scattered in memory


@njit(loop=True)
def right_side(starts, grams, scale, sureness, z, order, first, width, out, row, once):
    """Write F' C Z into out, float32 (n_grams, COLUMNS); C is diagonal.

    z : float32, (n_words, dim), of which `width` columns from `first` on are used; row order[w] is that of w
    sureness : float32, (n_words,), C
    """
    n = COLUMNS * once
    out[:] = ZERO
    row[:] = ZERO
    for w in range(starts.shape[0] - 1):
        weight = scale[w] * sureness[w]
        for c in range(width):
            row[c] = weight * z[order[w], first + c]
        for k in range(starts[w], starts[w + 1]):
            gram = grams[k]
            for c in range(n):
                out[gram, c] += row[c]


@njit(loop=True)
def normal_product(starts, grams, scale, sureness, ridge, x, out, row, products, once):
    """Write (F' C F + ridge) x into out, both float32 (n_grams, COLUMNS), and the sums of x · out into `products`.

    products : float64, (COLUMNS,)
    """
    n = COLUMNS * once
    last = grams.shape[0] - 1
    for gram in range(x.shape[0]):
        for c in range(n):
            out[gram, c] = ridge * x[gram, c]
    for w in range(starts.shape[0] - 1):
        for c in range(n):
            row[c] = ZERO
        for k in range(starts[w], starts[w + 1]):
            prefetch(x, grams[min(k + _AHEAD, last)], 0)
            gram = grams[k]
            for c in range(n):
                row[c] += x[gram, c]
        weight = scale[w] * scale[w] * sureness[w]
        for c in range(n):
            row[c] *= weight
        for k in range(starts[w], starts[w + 1]):
            gram = grams[k]
            for c in range(n):
                out[gram, c] += row[c]
    products[:] = 0.0
    for gram in range(x.shape[0]):
        for c in range(n):
            products[c] += np.float64(x[gram, c]) * np.float64(out[gram, c])


@njit(loop=True)
def descend(step, along, image, b, rest, sizes, once):
    """Add `step`, one for each column, times `along` to b, and subtract step times `image` from rest; write the squared
    lengths of rest's columns into sizes, float64.
    """
    n = COLUMNS * once
    sizes[:] = 0.0
    for gram in range(b.shape[0]):
        for c in range(n):
            b[gram, c] += step[c] * along[gram, c]
            rest[gram, c] -= step[c] * image[gram, c]
            sizes[c] += np.float64(rest[gram, c]) ** 2


@njit(loop=True)
def blend(starts, grams, scale, share, b, z, order, first, width, row, once):
    """Replace rows of z, in the columns of `right_side`, by (1 − share) z + share F b; share : float32, (n_words,)"""
    n = COLUMNS * once
    for w in range(starts.shape[0] - 1):
        for c in range(n):
            row[c] = ZERO
        for k in range(starts[w], starts[w + 1]):
            gram = grams[k]
            for c in range(n):
                row[c] += b[gram, c]
        weight, rest = scale[w] * share[w], np.float32(1) - share[w]
        for c in range(width):
            z[order[w], first + c] = rest * z[order[w], first + c] + weight * row[c]
