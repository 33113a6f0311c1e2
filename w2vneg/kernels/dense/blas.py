"""BLAS in compiled loops, tile by tile of the vocabulary, and its cost.

Compiled code calls SciPy's BLAS for its products. Each call keeps to one thread, because the loops around it are
already parallel: the library's own threads would compete with them for the cores.
"""

import functools
import timeit

import numpy as np

from ...ground.errors import ConfigError
from ...ground.events import CostEstimated
from ...ground.files.memory import memory_size
from ...ground.jit import njit, prange, threads

TILE = 768  # targets scored together: a tile of 256 rows of scores stays in a core's second-level cache
_WORTH_A_WORD = 60.0, 2**30  # seconds, bytes; below both, the cost is not reported
_TOO_LONG = 24 * 3600.0  # seconds
_GUESS = 200e9  # floating-point operations a second of a fast small machine; runs short at this rate are not measured


def n_tiles(n_vocab):
    """Return the number of tiles of `TILE` targets in a vocabulary."""
    return -(-n_vocab // TILE)


@functools.cache
def _controller():
    import scipy.linalg.cython_blas  # noqa: F401  (only loaded libraries can be limited)
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def one_blas_thread():
    """Return a context manager in which each BLAS call uses only the calling thread."""
    return _controller().limit(limits=1, user_api="blas")


@njit
def tile_of(buffer, tile, rows, width):
    """Return `rows` × `width` scores of one tile as a contiguous view into ``buffer``, float32, (tiles, capacity)."""
    return buffer[tile, : rows * width].reshape(rows, width)


_SHIFT = np.int32(31)
_MAGNITUDE = np.int32(0x7FFFFFFF)
_LEAST = np.int32(-0x7FFFFFFF)


@njit(borrows=True)
def largest(values):
    """Return the largest of float32 `values`; NaN if one of them is a positive NaN.

    Floats are compared as integers of the same order: ten times as fast, because float comparisons that respect NaN
    are not vectorised.
    """
    top = _LEAST
    for j in range(values.shape[0]):
        bits = np.float32(values[j]).view(np.int32)
        top = np.int32(max(top, np.int32(bits ^ ((bits >> _SHIFT) & _MAGNITUDE))))
    return np.int32(top ^ ((top >> _SHIFT) & _MAGNITUDE)).view(np.float32)


@njit(parallel=True)
def products(rows, vectors_out, buffer):
    """Write ``rows @ vectors_out.T`` into `buffer` tile by tile, to measure the rate of the product alone."""
    for tile in prange(buffer.shape[0]):
        low = tile * TILE
        out = vectors_out[low : min(low + TILE, vectors_out.shape[0])]
        np.dot(rows, out.T, tile_of(buffer, tile, rows.shape[0], out.shape[0]))


def product_rate(dim, batch):
    """Measure in milliseconds the rate of tiled products of this shape: floating-point operations a second (float)."""
    rng = np.random.default_rng(0)
    rows, out = (rng.random((n, dim), np.float32) for n in (batch, 8 * TILE))
    buffer = np.empty((8, batch * TILE), np.float32)
    with one_blas_thread():
        _, *seconds = timeit.repeat(lambda: products(rows, out, buffer), number=1, repeat=4)  # the first one compiles
    return 2.0 * batch * dim * len(out) / min(seconds)


def dense_cost(method, n_vocab, dim, batch, products, centres, workers, remedy):
    """Return the cost of a run (`CostEstimated`), or None if it is negligible.

    method : str, for messages; products : int, matrix products per batch; centres : float, in the whole run
    remedy : str, what to use instead

    Raises ConfigError if it would need more than half of this machine's memory, or more than a day.
    """
    scores = 4 * batch * n_vocab
    room = memory_size() // 2
    if scores > room:
        raise ConfigError(
            f"{method} over {n_vocab:,} words needs {_gigabytes(scores)} for the scores of {batch} centres at a time, "
            f"more than half of this machine's memory ({_gigabytes(2 * room)}); {remedy}, or lower --max-vocab"
        )
    operations = 2.0 * products * n_vocab * dim * centres
    if operations / _GUESS < _WORTH_A_WORD[0] and scores < _WORTH_A_WORD[1]:
        return None
    with threads(workers):
        rate = product_rate(dim, min(batch, 256))
    cost = CostEstimated(method, n_vocab, scores, operations / rate, rate)
    if cost.seconds > _TOO_LONG:
        raise ConfigError(
            f"{method} over {n_vocab:,} words would take about {cost.seconds / 86400:,.1f} days here: {products} "
            f"matrix product{'s' if products > 1 else ''} of {n_vocab:,} x {dim} for each of {centres:.3g} centres, at "
            f"{rate / 1e9:.0f} GFLOP/s; {remedy}, or lower --max-vocab or --epochs"
        )
    return cost


def _gigabytes(size):
    return f"{size / 2**30:,.1f} GB"
