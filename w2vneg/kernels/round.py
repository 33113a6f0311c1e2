"""The launchers: each worker's part of a round on a thread of its own."""

import numpy as np

from ..ground.jit import launch, njit
from .contracts import fill
from .linalg import dot
from .shard import run_shard


def fill_round(source, blocks, epoch_key, tokens, ranges):
    """Let each worker read its block: blocks and ranges int64 (workers, 2), tokens int32 (workers, capacity)."""
    launch(reading(source, blocks, epoch_key, tokens, ranges), len(blocks))


def reading(source, blocks, epoch_key, tokens, ranges):
    """Return what lets a worker read its block, a callable of its number; arguments as those of `fill_round`."""
    epoch_key = np.uint64(epoch_key)

    def read(worker):
        lo, hi = blocks[worker]
        ranges[worker] = fill_block(source, lo, hi, epoch_key, tokens[worker]) if lo < hi else 0

    return read


@njit(loop=True)
def fill_block(source, lo, hi, epoch_key, tokens):
    """Call `contracts.fill` from Python."""
    return fill(source, lo, hi, epoch_key, tokens)


def train_round(plugs, shape, scratches, inputs, out, tokens, ranges, alphas, rngs, read=None):
    """Let each worker train on ``tokens[worker, ranges[worker, 0]:ranges[worker, 1]]``; see `run_shard`.

    Parameters
    ----------
    plugs : Plugs; shape : LoopSpec
    scratches : list of Scratch; inputs, out : list of Rows
        Each worker's own, and both matrices as it sees them; `inputs` as `run_shard` takes them.
    alphas : float64, (workers, 2); rngs : uint64, (workers, 8), one cache line each; updated in place
    read : callable of a worker's number, optional
        What fills its tokens and its range first, on the same thread (see `reading`).

    Returns
    -------
    (loss, pairs) : (float, int), of all workers
    """

    def work(worker):
        if read is not None:
            read(worker)
        first, last = ranges[worker]
        start, end = alphas[worker]
        rows = inputs[worker], out[worker]
        rng, scratch = rngs[worker], scratches[worker]
        return run_shard(plugs, shape, *rows, tokens[worker], first, last, (start, end), rng, scratch)

    losses, pairs = zip(*launch(work, len(ranges)), strict=True)
    return sum(losses), sum(pairs)


def merge_round(matrices, n_private, workers, chunks, pulls, undamped=2):
    """Bring the workers' copies of the first `n_private` rows of some matrices together.

    shared += damping · Σ_t (copy_t − shared), and every copy becomes the new shared row. One or two workers that
    touched a row: damping 1, as if one had done both's work. k > 2: one worker's work takes a row the part 1 − ρ of its
    way to where it would settle, ρ = e^−pull, and that of k in turn 1 − ρ^k of it, not k (1 − ρ):

        damping = (1 − ρ^k) / (k (1 − ρ))

    nearly 1 for a row that has hardly moved, 1 / k for one that each of them has settled, which else would overshoot.
    Where two workers are damped as well, it is no less than how far their changes go different ways (see
    `kernels.exchange`): for rows that settle within a round, as those near the root of a tree do.

    matrices : list of float32, (n_rows + workers * n_private, dim), shared rows first, then each worker's copies
    chunks : int, parts of the rows that are merged side by side
    pulls : list of float64, (n_private,), at least 0; of each matrix
    undamped : int, so many workers' changes are summed; 2, or 1
    """
    bounds = [chunk * n_private // chunks for chunk in range(chunks + 1)]

    def merge(chunk):
        for matrix, pull in zip(matrices, pulls, strict=True):
            _merge_rows(matrix, n_private, workers, bounds[chunk], bounds[chunk + 1], pull, undamped)

    launch(merge, chunks)


@njit(borrows=True)
def combine_row(row, delta, touched, pull, agreement, undamped):
    """Add to a row, float32 (dim,), the changes of `touched` trainers of it, whose sum is `delta`, damped as above.

    agreement : float, in [0, 1], the least damping (see `kernels.exchange`)
    undamped : int, so many trainers' changes are summed
    """
    damping = np.float32(1.0)
    left = np.exp(-pull)
    if touched > undamped and left <= 0.999999:
        damping = np.float32(max((1.0 - left**touched) / (touched * (1.0 - left)), agreement))
    for i in range(row.shape[0]):
        row[i] += damping * delta[i]


@njit
def _merge_rows(replicated, n_private, workers, begin, end, pulls, undamped):
    shared, dim = replicated.shape[0] - workers * n_private, replicated.shape[1]
    delta = np.empty(dim, np.float32)
    for row in range(begin, end):
        delta[:] = np.float32(0.0)
        touched, apart = np.int64(0), 0.0  # apart: Σ ‖change‖²
        for worker in range(workers):
            copy = shared + worker * n_private + row
            moved = False
            for i in range(dim):
                change = replicated[copy, i] - replicated[row, i]
                delta[i] += change
                apart += change * change
                moved |= change != np.float32(0.0)
            touched += moved
        if touched == 0:
            continue
        together = dot(delta, delta) if undamped < 2 else np.float32(0.0)
        agreement = min(1.0, apart / together) if together > np.float32(0.0) else 0.0
        combine_row(replicated[row], delta, touched, pulls[row], agreement, undamped)
        for worker in range(workers):
            copy = shared + worker * n_private + row
            for i in range(dim):
                replicated[copy, i] = replicated[row, i]
