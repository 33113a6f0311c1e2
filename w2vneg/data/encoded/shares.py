"""Encoded data dealt out to ranks: parts that together are the whole, with the vocabulary and counts of the whole.

A text is cut into stretches, if need be within a sentence, whose windows then end there. Baskets stay
whole. Rows of pairs go round, so that nobody else trains that centre. A graph is whole at every rank, and the nodes
where its walks begin go round.
"""

from dataclasses import replace

import numpy as np

from ...ground.errors import ConfigError
from .corpus import EncodedCorpus
from .graphs import EncodedGraph


def share_of(data, slot, borders):
    """Return a rank's share.

    Parameters
    ----------
    data : EncodedCorpus, EncodedPairs or EncodedGraph
    slot : int, which share
    borders : list of float, (n_ranks + 1,), where shares begin and end, 0 … 1 of the whole

    Returns
    -------
    EncodedCorpus, EncodedPairs or EncodedGraph
        A text's arrays are views.

    Raises
    ------
    ConfigError
        If there are too few data for so many ranks.
    """
    n_ranks = len(borders) - 1
    if n_ranks == 1:
        return data
    if isinstance(data, EncodedCorpus):
        return _stretch(data, slot, borders)
    return (_origins if isinstance(data, EncodedGraph) else _rows)(data, slot, borders)


def going_round(n, borders):
    """Return whose each of n things is, dealt out one by one: int64 (n,); where shares are equal, k mod n_ranks."""
    shares = np.diff(borders)
    shares = np.maximum(np.round(shares / shares.max(), 9), 1e-9)  # what is meant to be equal is
    sizes = np.ceil(n * shares / shares.sum()).astype(np.int64) + 1  # a few more than there are
    owners = np.repeat(np.arange(len(shares)), sizes)
    turns = np.concatenate([(np.arange(size) + 0.5) / share for size, share in zip(sizes, shares, strict=True)])
    return owners[np.argsort(turns, kind="stable")[:n]]


def _stretch(corpus, slot, borders):
    begin, end = (int(len(corpus) * border) for border in borders[slot : slot + 2])
    if corpus.source != "text":
        begin, end = (int(corpus.offsets[np.searchsorted(corpus.offsets, place)]) for place in (begin, end))
    if end - begin < 2:
        raise ConfigError(f"{len(corpus):,} tokens are too few for {len(borders) - 1} ranks; lower --ranks")
    first = np.searchsorted(corpus.offsets, begin, "right")
    last = np.searchsorted(corpus.offsets, end, "left")
    offsets = np.concatenate([[begin], corpus.offsets[first:last], [end]]) - begin
    return replace(corpus, ids=corpus.ids[begin:end], offsets=offsets.astype(np.int64))


def _origins(graph, slot, borders):
    all_origins = np.flatnonzero(np.diff(graph.matrix.indptr)).astype(np.int32)
    own = all_origins[going_round(len(all_origins), borders) == slot]
    if not len(own):
        raise ConfigError(f"{len(graph.vocab):,} nodes are too few for {len(borders) - 1} ranks; lower --ranks")
    return replace(graph, origins=own)


def _rows(pairs, slot, borders):
    from scipy.sparse import csr_matrix  # a quarter of a second, and no text needs it

    matrix = pairs.matrix
    mine = going_round(matrix.shape[0], borders) == slot
    kept = np.repeat(mine, np.diff(matrix.indptr))
    if not kept.any():
        n_ranks = len(borders) - 1
        raise ConfigError(f"{matrix.shape[0]:,} rows of pairs are too few for {n_ranks} ranks; lower --ranks")
    indptr = np.concatenate([[0], np.cumsum(np.diff(matrix.indptr) * mine)])
    own = csr_matrix((matrix.data[kept], matrix.indices[kept], indptr), shape=matrix.shape)
    weights = np.asarray(matrix.sum(axis=1, dtype=np.float64)).ravel()
    return replace(pairs, matrix=own, row_weights=weights, order=None, times=None)
