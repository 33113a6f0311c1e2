"""Count how often each pair of words occurs within a window, as a sparse matrix.

The text is read in pieces of about four million pairs. The pairs of a piece are sorted and counted, and the matrices
of the pieces are added up, smaller ones first: n log n. Only the scratch of a piece (about 250 MB) and the distinct
pairs are ever in memory; 16.8 million tokens take 1.3 s at window 1, 3.5 s and 0.8 GB at window 5.

All tokens count, even those that subsampling removes in training. Without a window, all pairs of a sentence count.
"""

from typing import Any

import numpy as np

from ..ground.errors import ConfigError
from ..ground.files.memory import memory_size

_PAIRS = 1 << 22  # per piece
_TOKENS = 1 << 20  # processed at a time
_LOOKED_AT = 10_000_000  # tokens, times the window, that `occurring` reads
_SPANS = 20  # in which it reads them
_SHARE = 0.5  # of the machine's memory that counting may use
_REMEDY = "lower --window or --max-vocab, raise --min-count, or choose another sampler than bigram and --exclude window"


def pair_counts(ids, offsets, n_vocab, window, memory=None, ordered=False, remedy=_REMEDY):
    """Count the pairs of tokens of one sentence that are at most `window` apart, in both directions.

    ids : int32, (n_tokens,), may be memory-mapped; offsets : int64, (n_sentences + 1,)
    window : int, at least 1, or None for all pairs of a sentence
    memory : int, optional, bytes that may be used; half of the machine's by default
    ordered : bool, count one direction only: the row is the first word
    remedy : str, advice in the ConfigError that is raised if the pairs do not fit

    Returns a scipy.sparse.csr_matrix, int32 or int64, (n_vocab, n_vocab), columns sorted, without duplicates. Unless
    `ordered`, it is symmetric, and a word next to itself counts twice.
    """
    memory = _SHARE * memory_size() if memory is None else memory
    n_pairs = count_pairs(offsets, window)
    kind = np.int32 if 2 * n_pairs < 2**31 else np.int64
    parts = [_counted(np.empty(0, np.int64), n_vocab, kind)]  # followed by those of pieces, in order of falling size
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
                    f"million distinct pairs, which need {needed / 2**30:,.1f} GB, and {memory / 2**30:,.1f} GB may be "
                    f"used; {remedy}"
                )
    forward = sum(parts[1:], parts[0])
    return forward if ordered else forward + forward.T.tocsr()


def count_pairs(offsets, window=None):
    """Return the number of pairs of tokens that `pair_counts` would read, each pair once (int)."""
    lengths = np.diff(offsets).astype(float)  # integers, without overflow for long sentences
    reach = np.maximum(lengths - 1, 0) if window is None else np.clip(lengths - 1, 0, window)
    return int((reach * lengths - reach * (reach + 1) / 2).sum())


def occurring(ids, offsets, centres, window, n_vocab, ordered=False):
    """Return how often words occur at most `window` away from each centre, or after it if `ordered`, int (n_centres,
    n_vocab), in up to `_LOOKED_AT` / window tokens spread over the corpus.
    """
    size, starts = len(ids), [0]
    found: Any = 0  # then a csr_matrix
    if size > _LOOKED_AT // window:
        size = _LOOKED_AT // window // _SPANS
        starts = np.linspace(0, len(ids) - size, _SPANS, dtype=int).tolist()
    for start in starts:
        ends = np.unique(np.clip(offsets, start, start + size)) - start
        found = found + pair_counts(ids[start : start + size], ends, n_vocab, window, ordered=ordered)[centres]
    return found.toarray()


def _pieces(ids, offsets, n_vocab, window):
    """Yield arrays of keys, one for each pair: first word times `n_vocab` plus second word (ndarray, int64)."""
    for start in range(0, len(ids), _TOKENS):
        here = np.arange(start, min(start + _TOKENS, len(ids)))
        reach = offsets[np.searchsorted(offsets, here, side="right")] - here - 1  # tokens left in its sentence
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
    """Return the counts of keys, CSR; sorts the keys in place."""
    from scipy.sparse import csr_matrix

    keys.sort()
    places = np.flatnonzero(np.diff(keys, prepend=-1))
    counts = np.diff(places, append=len(keys)).astype(kind)
    rows, columns = np.divmod(keys[places], n_vocab)
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n_vocab))])
    return csr_matrix((counts, columns.astype(np.int32), starts), shape=(n_vocab, n_vocab))


def _needed(parts, ordered):
    """Return the peak memory in bytes still to come: of the sum and, unless `ordered`, its transpose and their sum."""
    return sum((2 if ordered else 4) * part.nnz * (part.indices.itemsize + part.data.itemsize) for part in parts)
