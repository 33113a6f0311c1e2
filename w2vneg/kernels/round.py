"""The launchers: ten lines of prange around one worker's work."""

import numpy as np

from ..jit import njit, prange
from .contracts import fill
from .groups import Plugs
from .linalg import Rows
from .shard import run_shard


@njit(parallel=True)
def fill_round(source, blocks, epoch_key, tokens, spans):
    """Let each worker read its block: blocks and spans int64 (workers, 2), tokens int32 (workers, capacity)."""
    for worker in prange(blocks.shape[0]):
        if blocks[worker, 0] < blocks[worker, 1]:
            first, last = fill(source, blocks[worker, 0], blocks[worker, 1], epoch_key, tokens[worker])
        else:
            first, last = 0, 0
        spans[worker, 0] = first
        spans[worker, 1] = last


@njit(parallel=True)
def train_round(
    source,
    sampler,
    weigher,
    loss,
    exclusion,
    shape,
    width,
    tall_in,
    tall_out,
    n_private,
    tokens,
    spans,
    alphas,
    rngs,
    losses,
    pairs,
):
    """Let each worker train on ``tokens[worker, spans[worker, 0]:spans[worker, 1]]``.

    Parameters
    ----------
    source, sampler, weigher, loss, exclusion : the plugs, NamedTuples of numbers and arrays (a prange takes no
        nested ones)
    shape : Shape; width : what `width_of` gives for dim
    tall_in, tall_out : float32, (n_in + workers * n_private, dim), (n_out + workers * n_private, dim)
    n_private : int, frequent rows of which each worker has its own copies, in both matrices
    alphas : float64, (workers, 2); rngs : uint64, (workers, 8), one cache line each; updated in place
    losses : float64, (workers,); pairs : int64, (workers,); added to
    """
    workers = spans.shape[0]
    for worker in prange(workers):
        number = np.int64(worker)  # it is unsigned in one of the two compilations of a prange: the loop's would be two
        copies = (workers - number) * n_private
        inputs = Rows(tall_in, n_private, tall_in.shape[0] - copies, number, width)
        out = Rows(tall_out, n_private, tall_out.shape[0] - copies, number, width)
        plugs = Plugs(source, sampler, weigher, loss, exclusion)
        value, n = run_shard(
            plugs,
            shape,
            inputs,
            out,
            tokens[worker],
            spans[worker, 0],
            spans[worker, 1],
            (alphas[worker, 0], alphas[worker, 1]),
            rngs[worker],
        )
        losses[worker] += value
        pairs[worker] += n


@njit(parallel=True)
def merge_round(tall, n_private, workers, chunks, pulls):
    """Bring the workers' copies of the first `n_private` rows together.

    shared += damping · Σ_t (copy_t − shared), and every copy becomes the new shared row. One or two workers that
    touched a row: damping 1, as if one had done both's work. k > 2: one worker's work takes a row the part 1 − ρ of its
    way to where it would settle, ρ = e^−pull, and that of k in turn 1 − ρ^k of it, not k (1 − ρ):

        damping = (1 − ρ^k) / (k (1 − ρ))

    nearly 1 for a row that has hardly moved, 1 / k for one that each of them has settled, which else would overshoot.

    pulls : float64, (n_private,), at least 0
    """
    shared = tall.shape[0] - workers * n_private
    for chunk in prange(chunks):
        begin, end = chunk * n_private // chunks, (chunk + 1) * n_private // chunks
        _merge_rows(tall, shared, n_private, workers, begin, end, pulls)


@njit
def _damping(touched, pull):
    left = np.exp(-pull)
    if touched <= 2 or left > 0.999999:
        return np.float32(1.0)
    return np.float32((1.0 - left**touched) / (touched * (1.0 - left)))


@njit
def _merge_rows(tall, shared, n_private, workers, begin, end, pulls):
    dim = tall.shape[1]
    delta = np.empty(dim, np.float32)
    for row in range(begin, end):
        delta[:] = np.float32(0.0)
        touched = 0
        for worker in range(workers):
            copy = shared + worker * n_private + row
            moved = False
            for i in range(dim):
                change = tall[copy, i] - tall[row, i]
                delta[i] += change
                moved |= change != np.float32(0.0)
            touched += moved
        if touched == 0:
            continue
        damping = _damping(touched, pulls[row])
        for i in range(dim):
            tall[row, i] += damping * delta[i]
        for worker in range(workers):
            copy = shared + worker * n_private + row
            for i in range(dim):
                tall[copy, i] = tall[row, i]
