"""Capacity of this machine: its rates of float32 products and of memory, and a process's peak memory.

Rates are measured with as many threads as there are workers, next to the runs they are compared with, and the best of a
few tries counts. The float32 peak is the best square matrix product of NumPy's BLAS, the closest available
approximation of the hardware peak.
"""

import gc
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from w2vneg.ground.jit import LEAF, njit, prange, threads
from w2vneg.kernels.linalg import dot, fetch_row

_AHEAD = 8  # rows prefetched while one is read
_SQUARES = 512, 1024
_TRIES = 3
_STREAM = 2**25  # float32 numbers in each of three arrays, 128 MB: larger than the last-level cache
_GATHERED = 200_000  # rows
_STATUS, _RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


@dataclass(frozen=True)
class Gauge:
    """repeat : int, the round; product : float, operations per second of the best square matrix product
    triad : float, bytes per second of a = b + ½ c; gather : float, bytes per second of rows read in random order
    """

    repeat: int
    product: float
    triad: float
    gather: float


def measure_machine(repeat, dim, workers, length=_STREAM):
    """Return a Gauge for this many workers; random rows have `dim` numbers, in an array of `length`."""
    with threads(workers) as count:
        product = _product_rate(count)
        return Gauge(repeat, product, *_memory_rates(dim, count, length))


def _best(run):
    seconds = []
    for _ in range(_TRIES):
        begun = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - begun)
    return min(seconds)


def _product_rate(count):
    from threadpoolctl import threadpool_limits

    rates = []
    with threadpool_limits(limits=count, user_api="blas"):
        for n in _SQUARES:
            a, b, out = np.ones((n, n), np.float32), np.ones((n, n), np.float32), np.empty((n, n), np.float32)
            rates.append(2.0 * n**3 / _best(lambda a=a, b=b, out=out: np.matmul(a, b, out=out)))
    return max(rates)


def _memory_rates(dim, count, length):
    a, b, c = np.ones(length, np.float32), np.ones(length, np.float32), np.ones(length, np.float32)
    triad(a[:1000], b[:1000], c[:1000], count)  # loads compiled code
    in_order = 3 * a.nbytes / _best(lambda: triad(a, b, c, count))
    matrix = a[: length // dim * dim].reshape(-1, dim)
    rows = np.random.default_rng(0).integers(0, len(matrix), min(_GATHERED, len(matrix)))
    x, sums = np.ones(dim, np.float32), np.zeros(count, np.float32)
    gather(matrix, rows[:10], x, sums)
    return in_order, len(rows) * 4 * dim / _best(lambda: gather(matrix, rows, x, sums))


def reset_peak_memory():
    """Reset the peak of memory if the system allows it (Linux); return the peak (int)."""
    gc.collect()
    with suppress(OSError):
        _RESET.write_text("5")
    return peak_memory()


def peak_memory():
    """Return the peak resident bytes of this process (int), since the last reset if possible; 0 if unknown."""
    try:
        for line in _STATUS.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return 1024 * int(line.split()[1])
    except OSError:
        pass
    try:
        import resource
    except ImportError:  # Windows
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


@njit(parallel=True)
def triad(a, b, c, parts):
    """``a = b + 0.5 c`` for float32 arrays of equal length, with one thread for each of the `parts`."""
    for part in prange(parts):
        _triad(a, b, c, part * len(a) // parts, (part + 1) * len(a) // parts)


@njit(fastmath=LEAF, borrows=True)
def _triad(a, b, c, first, last):
    half = np.float32(0.5)
    for i in range(first, last):
        a[i] = b[i] + half * c[i]


@njit(parallel=True)
def gather(matrix, rows, x, sums):
    """Read ``matrix[rows]``, float32 (n, dim), row by row, in one part for each of `sums`, which adds up row · x."""
    parts = len(sums)
    for part in prange(parts):
        sums[part] = _gather(matrix, rows, x, part * len(rows) // parts, (part + 1) * len(rows) // parts)


@njit(borrows=True)
def _gather(matrix, rows, x, first, last):
    total = np.float32(0.0)
    for k in range(first, last):
        fetch_row(matrix, rows[min(k + _AHEAD, last - 1)])
        total += dot(matrix[rows[k]], x)
    return total
