"""How often each pair of words stands within a window of one another, as a sparse matrix.

The text is read in pieces of some four million pairs; the pairs of a piece are sorted and counted, and the matrices of
pieces are added up, the smaller ones first, so that the work grows as n log n. Only the scratch of a piece (about
250 MB) and the different pairs themselves are ever in memory. Measured on 16.8 million tokens of Wikipedia, 70 419
words, one core:

    window   different pairs   result    at the peak   time
    1        6.4 million       49 MB     0.4 GB        1.3 s
    5        27.2 million      207 MB    0.8 GB        3.5 s

All tokens count, and distance is distance in the text as it is kept: subsampling, which in training removes tokens and
lets the window reach further, plays no part.
"""

import numpy as np

from .errors import ConfigError
from .memory import memory_size

_PAIRS = 1 << 22  # of a piece
_TOKENS = 10_000_000  # tokens, times the window, in which `occurring` looks
_SHARE = 0.5  # of the machine's memory that counting may take


def pair_counts(ids, offsets, n_vocab, window, memory=None):
    """Count the pairs of tokens of one sentence that stand at most `window` apart, both ways round.

    Parameters
    ----------
    ids : ndarray, int32, (n_tokens,)
        May be memory-mapped.
    offsets : ndarray, int64, (n_sentences + 1,)
    n_vocab : int
    window : int, at least 1
    memory : int, optional
        Bytes that may be used; half of the machine's if left out.

    Returns
    -------
    scipy.sparse.csr_matrix, int32 or int64, (n_vocab, n_vocab)
        Symmetric; columns sorted, none twice. A word beside itself counts twice: each token is once the centre.

    Raises
    ------
    ConfigError
        If the pairs need more memory than that.
    """
    memory = _SHARE * memory_size() if memory is None else memory
    kind = np.int32 if 2 * window * len(ids) < 2**31 else np.int64
    step = max(1, _PAIRS // window)
    parts = []  # of falling size: matrices of pairs in the order of the text
    for start in range(0, max(len(ids), 1), step):
        stop = min(start + step, len(ids))
        parts.append(_piece(ids, offsets, start, stop, n_vocab, window, kind))
        while len(parts) > 1 and parts[-2].nnz < 2 * parts[-1].nnz:
            parts[-2:] = [parts[-2] + parts[-1]]
        if _needed(parts) > memory:
            parts = [sum(parts[1:], parts[0])]
            _check(parts, memory, stop / len(ids))
    forward = sum(parts[1:], parts[0])
    return forward + forward.T.tocsr()


def basket_counts(ids, offsets, n_vocab, memory=None):
    """Count in how many baskets each pair of different items stands together, both ways round.

    Parameters
    ----------
    ids : int32, (n_tokens,); offsets : int64, (n_baskets + 1,)
    n_vocab : int
    memory : int, optional
        Bytes that may be used; half of the machine's if left out.

    Returns
    -------
    scipy.sparse.csr_matrix, int32, (n_vocab, n_vocab)
        Symmetric, nothing on the diagonal; columns sorted, none twice.

    Raises
    ------
    ConfigError
        If the pairs need more memory than that.
    """
    from scipy.sparse import csr_matrix

    memory = _SHARE * memory_size() if memory is None else memory
    sizes = np.diff(offsets)
    ends = np.cumsum(sizes.astype(np.int64) ** 2)
    total = csr_matrix((n_vocab, n_vocab), dtype=np.int32)
    first = 0
    while first < len(sizes):
        done = ends[first - 1] if first else 0
        last = max(first + 1, int(np.searchsorted(ends, done + 8 * _PAIRS, side="right")))
        span = slice(offsets[first], offsets[last])
        ones = np.ones(span.stop - span.start, np.int32)
        starts = offsets[first : last + 1] - offsets[first]
        items = csr_matrix((ones, np.asarray(ids[span]), starts), shape=(last - first, n_vocab))
        items.sum_duplicates()
        items.data[:] = 1
        total = total + items.T.tocsr() @ items
        first = last
        if _needed([total]) > memory:
            _check([total], memory, offsets[last] / offsets[-1])
    total.setdiag(0)
    total.eliminate_zeros()
    total.sort_indices()
    return total


def occurring(ids, offsets, centres, window, n_vocab):
    """Return which words occur at most `window` away from each centre, bool (n_centres, n_vocab), in up to
    `_TOKENS` / window tokens from all over the corpus.
    """
    distinct, rows = np.unique(centres, return_inverse=True)
    known = np.zeros((len(distinct), n_vocab), bool)
    row_of = np.full(n_vocab, -1, np.int32)
    row_of[distinct] = np.arange(len(distinct))
    for start, stop in _stretches(len(ids), _TOKENS // window):
        piece = np.asarray(ids[start:stop])
        sentence = np.searchsorted(offsets, np.arange(start, stop), side="right")
        row = row_of[piece]
        for distance in range(1, min(window, len(piece) - 1) + 1):
            together = sentence[:-distance] == sentence[distance:]
            here = together & (row[:-distance] >= 0)
            known[row[:-distance][here], piece[distance:][here]] = True
            here = together & (row[distance:] >= 0)
            known[row[distance:][here], piece[:-distance][here]] = True
    return known[rows]


def _stretches(n_tokens, most, count=20):
    """Return up to `count` pieces (start, stop) of a corpus, `most` tokens in all; the whole of a smaller one."""
    if n_tokens <= most:
        return [(0, n_tokens)]
    return [(start, start + most // count) for start in np.linspace(0, n_tokens - most // count, count, dtype=int)]


def _piece(ids, offsets, start, stop, n_vocab, window, kind):
    """Return the counts, CSR, of the pairs whose first token is in [start, stop), first by second word."""
    from scipy.sparse import csr_matrix

    stretch = np.asarray(ids[start : stop + window])
    here = np.arange(start, stop)
    end = offsets[np.searchsorted(offsets, here, side="right")]  # of the sentence of each token
    keys = []
    for distance in range(1, window + 1):
        first = np.flatnonzero(here + distance < end)
        keys.append(stretch[first].astype(np.int64) * n_vocab + stretch[first + distance])
    keys = np.concatenate(keys)
    keys.sort()
    places = np.flatnonzero(np.diff(keys, prepend=-1))
    counts = np.diff(places, append=len(keys)).astype(kind)
    rows, columns = np.divmod(keys[places], n_vocab)
    starts = np.zeros(n_vocab + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=n_vocab), out=starts[1:])
    return csr_matrix((counts, columns.astype(np.int32), starts), shape=(n_vocab, n_vocab))


def _needed(parts):
    """Return bytes at the peak that is still to come: the pairs, turned round, and the sum, twice as large."""
    return sum(4 * part.nnz * (part.indices.itemsize + part.data.itemsize) for part in parts)


def _check(parts, memory, done):
    needed = _needed(parts)
    if needed > memory:
        raise ConfigError(
            f"the pairs of this corpus do not fit: {done:.0%} of it has {parts[0].nnz / 1e6:,.0f} million different "
            f"ones, which take {needed / 2**30:,.1f} GB, and {memory / 2**30:,.1f} GB may be used; lower --window or "
            "--max-vocab, raise --min-count, or choose another sampler than bigram and --exclude window"
        )
