"""Schedules of a run, by position alone: the learning rate, the blocks of each round, and the random streams."""

import numpy as np

from ..ground.jit import jitable


def keep_thresholds(counts, threshold):
    """Return the probability that a token survives subsampling, times 2^32: uint64, (n_vocab,).

    With f the word's share of the corpus and t the threshold (0 keeps all), word2vec.c keeps it with probability
    min(1, √(t/f) + t/f); the formula printed in the paper (notes eq. 23) lacks the second term.
    """
    if threshold == 0:
        return np.full(len(counts), 2**32, np.uint64)
    ratio = threshold * counts.sum() / np.maximum(counts, 1)
    return (np.minimum(1.0, np.sqrt(ratio) + ratio) * 2.0**32).astype(np.uint64)


_FRESH = 65_536  # tokens after which workers merge the rows that each has a copy of


def block_size(n_tokens, workers, cost, n_private=0, n_rows=1):
    """Return the tokens per worker and round: a fraction of a second, at least 20 rounds an epoch unless they get tiny.

    cost : float, approximate nanoseconds per token; n_private : int, how many of n_rows rows each worker copies. If
    it copies all, it sees no other worker's changes within a round, so the limit is on the tokens of all workers
    """
    most = 400_000
    if n_private:
        most = _FRESH / workers if n_private >= n_rows else _FRESH
    return int(max(100, min(0.15e9 / cost, most, max(1000, n_tokens / (20 * workers)))))


def even_block(n_tokens, pieces, most):
    """Return the largest block of at most `most` tokens that splits each of `pieces` equal parts about evenly."""
    each = -(-n_tokens // (pieces * most))  # blocks of a piece
    return -(-n_tokens // (pieces * each))


def rounds_of(n_tokens, block, workers, key):
    """Return the blocks of each round of an epoch, in a random order set by `key`, so that no data always come last.

    int64, (n_rounds, workers, 2) : [from, to) in tokens; [0, 0) for workers without a block in the last round
    """
    starts: np.ndarray = np.arange(0, n_tokens, block, dtype=np.int64)
    starts = starts[np.random.default_rng(key).permutation(len(starts))]
    blocks = np.stack([starts, np.minimum(starts + block, n_tokens)], axis=1)
    idle = np.zeros((-len(blocks) % workers, 2), np.int64)
    return np.concatenate([blocks, idle]).reshape(-1, workers, 2)


@jitable
def linear(start, end, fraction):
    """Interpolate between start and end, fraction 0 to 1: the learning rate over a run and within a round."""
    return start + (end - start) * fraction


def stream_key(*names):
    """Return the uint64 key of the random stream named by integers (seed, epoch, block, …)."""
    return np.random.SeedSequence(names).generate_state(1, np.uint64)[0]
