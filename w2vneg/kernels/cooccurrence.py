"""How often each pair of words stands within a window of one another, as a sparse matrix.

The text is read in pieces of some four million pairs; those of a piece are sorted and counted, and the matrices of
pieces are added up, the smaller ones first: n log n. Only the scratch of a piece (about 250 MB) and the different pairs
are ever in memory; 16.8 million tokens take 1.3 s at window 1, 3.5 s and 0.8 GB at window 5.

All tokens count, whatever subsampling removes in training. Without a window all of a sentence goes together.
"""

import numpy as np

from ..ground.errors import ConfigError
from ..ground.files.memory import memory_size

_PAIRS = 1 << 22  # of a piece
_TOKENS = 1 << 20  # looked at in one go
_LOOKED_AT = 10_000_000  # tokens, times the window, in which `occurring` looks
_SHARE = 0.5  # of the machine's memory that counting may take
_REMEDY = "lower --window or --max-vocab, raise --min-count, or choose another sampler than bigram and --exclude window"


def pair_counts(ids, offsets, n_vocab, window, memory=None, ordered=False, remedy=_REMEDY):
    """Count the pairs of tokens of one sentence that stand at most `window` apart, both ways round.

    ids : int32, (n_tokens,), may be memory-mapped; offsets : int64, (n_sentences + 1,)
    window : int, at least 1, or None for all pairs of a sentence
    memory : int, optional, bytes that may be used; half of the machine's if left out
    ordered : bool, count one way round only: rows are what comes first
    remedy : str, what to do where the pairs do not fit, which is a ConfigError

    Returns
    -------
    scipy.sparse.csr_matrix, int32 or int64, (n_vocab, n_vocab)
        Columns sorted, none twice. Both ways round it is symmetric, and a word beside itself counts twice.
    """
    memory = _SHARE * memory_size() if memory is None else memory
    n_pairs = count_pairs(offsets, window)
    kind = np.int32 if 2 * n_pairs < 2**31 else np.int64
    parts = [_counted(np.empty(0, np.int64), n_vocab, kind)]  # then those of pieces, of falling size
    done = 0
    for keys in _pieces(ids, offsets, n_vocab, window):
        done += len(keys)
        parts.append(_counted(keys, n_vocab, kind))
        while len(parts) > 1 and parts[-2].nnz < 2 * parts[-1].nnz:
            parts[-2:] = [parts[-2] + parts[-1]]
        if _needed(parts, ordered) > memory:
            parts = [sum(parts[1:], parts[0])]
            needed = _needed(parts, ordered)
            if needed > memory:
                raise ConfigError(
                    f"the pairs of this corpus do not fit: {done / n_pairs:.0%} of it has {parts[0].nnz / 1e6:,.0f} "
                    f"million different ones, which take {needed / 2**30:,.1f} GB, and {memory / 2**30:,.1f} GB may be "
                    f"used; {remedy}"
                )
    forward = sum(parts[1:], parts[0])
    return forward if ordered else forward + forward.T.tocsr()


def count_pairs(offsets, window=None):
    """Return how many pairs of tokens `pair_counts` would go through, each pair once (int)."""
    lengths = np.diff(offsets).astype(float)  # whole numbers, and no overflow however long a sentence is
    reach = np.maximum(lengths - 1, 0) if window is None else np.clip(lengths - 1, 0, window)
    return int((reach * lengths - reach * (reach + 1) / 2).sum())


def occurring(ids, offsets, centres, window, n_vocab, ordered=False):
    """Return how often words occur at most `window` away from each centre, or after it if `ordered`, int (n_centres,
    n_vocab), in up to `_LOOKED_AT` / window tokens from all over the corpus.
    """
    found = 0
    for start, stop in _stretches(len(ids), _LOOKED_AT // window):
        ends = np.unique(np.clip(offsets, start, stop)) - start
        found = found + pair_counts(ids[start:stop], ends, n_vocab, window, ordered=ordered)[centres]
    return found.toarray()


def _stretches(n_tokens, most, count=20):
    """Return up to `count` pieces (start, stop) of a corpus, `most` tokens in all; the whole of a smaller one."""
    if n_tokens <= most:
        return [(0, n_tokens)]
    return [(start, start + most // count) for start in np.linspace(0, n_tokens - most // count, count, dtype=int)]


def _pieces(ids, offsets, n_vocab, window):
    """Yield arrays of keys, one a pair: first word times `n_vocab` plus second word (ndarray, int64)."""
    for start in range(0, len(ids), _TOKENS):
        here = np.arange(start, min(start + _TOKENS, len(ids)))
        reach = offsets[np.searchsorted(offsets, here, side="right")] - here - 1  # tokens to come in its sentence
        if window is not None:
            np.minimum(reach, window, out=reach)
        ends = np.cumsum(reach)
        n_pieces = -(-ends[-1] // _PAIRS)
        cuts = np.searchsorted(ends, np.arange(1, n_pieces) * (ends[-1] / max(n_pieces, 1))) + 1
        for first, last in zip([0, *cuts], [*cuts, len(here)], strict=True):
            yield _keys(ids, here[first:last], reach[first:last], n_vocab)


def _keys(ids, here, reach, n_vocab):
    """Return the keys of the pairs of each token of `here` with the `reach` tokens after it."""
    if not len(here):
        return np.empty(0, np.int64)
    stretch = np.asarray(ids[here[0] : here[-1] + 1 + reach.max()])
    ends = np.cumsum(reach)
    first = np.repeat(np.arange(len(here)), reach)
    second = np.arange(ends[-1]) + np.repeat(np.arange(1, len(here) + 1) - (ends - reach), reach)
    return stretch[first].astype(np.int64) * n_vocab + stretch[second]


def _counted(keys, n_vocab, kind):
    """Return the counts, CSR, of keys, which get sorted."""
    from scipy.sparse import csr_matrix

    keys.sort()
    places = np.flatnonzero(np.diff(keys, prepend=-1))
    counts = np.diff(places, append=len(keys)).astype(kind)
    rows, columns = np.divmod(keys[places], n_vocab)
    starts = np.zeros(n_vocab + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=n_vocab), out=starts[1:])
    return csr_matrix((counts, columns.astype(np.int32), starts), shape=(n_vocab, n_vocab))


def _needed(parts, ordered):
    """Return bytes at the peak that is still to come: the sum; else the pairs, turned round, and the sum of both."""
    return sum((2 if ordered else 4) * part.nnz * (part.indices.itemsize + part.data.itemsize) for part in parts)
