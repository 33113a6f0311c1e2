"""How training goes through encoded data: which groups there are, how many, and what room they take."""

from dataclasses import dataclass

import numpy as np

from ...ground.errors import ConfigError, InputError
from ...kernels.alias import alias_rows
from ...kernels.baskets import Baskets
from ...kernels.graph import GraphWalks
from ...kernels.pairs import DrawnPairs, ListedPairs, list_pairs
from ...kernels.round import fill_block
from ...kernels.schedule import keep_thresholds, stream_key
from ...kernels.walk import TextWindows

_VISIT = 8  # pairs of one visit of a row: they share a copy of the centre's vector
_DENSE_VISIT = 64  # where a centre costs as much as all targets, however many pairs it has
_MOST = 1 << 31  # pairs of an epoch; their visits are listed in memory
_LISTED = 1 << 26  # pairs an epoch may hold to be listed without being asked for: 270 MB
_ORDER, _WRITTEN = 11, 12  # first word of a random stream's name


@dataclass(frozen=True)
class Walk:
    """A source of groups and what the engine must know of it.

    source : NamedTuple that answers `fill` and `group` (see `kernels.contracts`)
    n_positions : int, what an epoch's blocks divide: tokens of a text, of baskets or of random walks, visits of rows
    largest_group : int, positives; mean_group : float, of a centre, about
    places : int, of scratch for each position of a block; margin : int, of scratch beside these
    centre_weights : float64, (n_in,), how often each id is the centre in an epoch, on average
    """

    source: tuple
    n_positions: int
    largest_group: int
    mean_group: float
    places: int
    margin: int
    centre_weights: np.ndarray

    def room(self, block):
        """Return how many int32 `fill` needs for a block of this many positions."""
        return self.places * block + self.margin + 8


def walk_text(corpus, config):
    """Return the `Walk` over windows of a text."""
    _check_sentences(corpus.offsets, "sentence", "give sentences of several words, or lower --min-count")
    keep = keep_thresholds(corpus.vocab.counts, config.subsample)
    source = TextWindows(corpus.ids, corpus.offsets, keep, config.window, config.dynamic_window, config.ordered)
    sides = 1 if config.ordered else 2
    weights = corpus.vocab.counts * (keep / 2.0**32)
    mean = config.window * sides * (0.5 if config.dynamic_window else 1.0)
    return Walk(source, len(corpus), sides * config.window, mean, 2, 2 * config.window, weights)


def walk_baskets(corpus, config):
    """Return the `Walk` over baskets or histories."""
    _check_sentences(corpus.offsets, "basket", "give baskets of several items, or lower --min-count")
    keep = keep_thresholds(corpus.vocab.counts, config.subsample)
    sizes = np.diff(corpus.offsets)
    longest = int(sizes.max())
    most = min(config.pairs_per_item, longest - 1)
    source = Baskets(corpus.ids, corpus.offsets, keep, most, config.ordered)
    weights = corpus.vocab.counts * (keep / 2.0**32)
    mean = float(sizes @ np.minimum(sizes - 1, most) / sizes.sum()) / (2 if config.ordered else 1)
    return Walk(source, len(corpus), most, mean, 2, 2 * longest, weights)


def walk_pairs(pairs, config):
    """Return the `Walk` over the rows of a weighted matrix.

    Raises
    ------
    ConfigError
        If weights are to be enumerated that are no counts, or there are too many for an epoch.
    """
    matrix = pairs.matrix
    weights = matrix.data.astype(np.float64)
    total = float(weights.sum())
    visit = _VISIT if config.batch is None else _DENSE_VISIT
    counts = bool((weights == np.floor(weights)).all())
    how = config.pair_weights
    if how is None:
        how = "enumerate" if counts and total <= _LISTED and config.pairs_per_epoch is None else "sample"
    if how == "enumerate":
        if not counts:
            raise ConfigError(
                "--pair-weights enumerate needs whole numbers as weights, and some of these have fractions; take "
                "--pair-weights sample"
            )
        if config.pairs_per_epoch is not None:
            raise ConfigError(
                "--pairs-per-epoch has no effect with --pair-weights enumerate; take sample or leave it out"
            )
        if total > _MOST:
            raise ConfigError(
                f"the weights add up to {total:.3g} pairs an epoch, too many to list; take --pair-weights sample "
                "(and --pairs-per-epoch)"
            )
        return _listed(matrix, visit, config.seed)
    if total > _MOST and config.pairs_per_epoch is None:
        raise ConfigError(
            f"the weights add up to {total:.3g} pairs, too many for an epoch; say with --pairs-per-epoch how many to "
            "draw"
        )
    return _drawn(matrix, config.pairs_per_epoch or max(matrix.nnz, total), visit, config.seed)


def _listed(matrix, visit, seed):
    starts, counts = matrix.indptr.astype(np.int64), matrix.data.astype(np.int64)
    rows = np.add.reduceat(np.append(counts, 0), starts[:-1]) * (np.diff(starts) > 0)
    visits = -(-rows // visit)
    n_visits = int(visits.sum())
    centres, sizes = np.empty(n_visits, np.int32), np.empty(n_visits, np.int32)
    begins, targets = np.empty(n_visits, np.int64), np.empty(int(rows.sum()), np.int32)
    rng = np.array([stream_key(_ORDER, seed)], np.uint64)
    columns = matrix.indices.astype(np.int32)
    list_pairs(starts, columns, counts, visit, rng, centres, begins, sizes, targets)
    order = np.random.default_rng([_ORDER, seed]).permutation(n_visits)
    source = ListedPairs(centres[order], begins[order], sizes[order], targets)
    return Walk(source, n_visits, visit, rows.sum() / n_visits, 1, 0, visits.astype(np.float64))


def _drawn(matrix, n_pairs, visit, seed):
    starts = matrix.indptr.astype(np.int64)
    rows = np.asarray(matrix.sum(axis=1, dtype=np.float64)).ravel()
    expected = rows * (n_pairs / rows.sum())
    visits = np.ceil(expected / visit).astype(np.int64)
    means = (expected / np.maximum(visits, 1)).astype(np.float32)
    centres = np.random.default_rng([_ORDER, seed]).permutation(np.repeat(np.arange(len(rows), dtype=np.int32), visits))
    table = alias_rows(starts, matrix.data)
    source = DrawnPairs(centres, means, starts, matrix.indices.astype(np.int32), table)
    return Walk(source, len(centres), visit, float(n_pairs / len(centres)), 1, 0, visits.astype(np.float64))


def walk_graph(graph, config):
    """Return the `Walk` over windows of random walks on a graph."""
    matrix = graph.matrix
    back, away = 1 / config.p, 1 / config.q
    starts, targets = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32, copy=False)
    leads_on = np.diff(starts) > 0
    origins = np.flatnonzero(leads_on).astype(np.int32) if graph.origins is None else graph.origins
    alike = matrix.data.min() == matrix.data.max()
    table, chances = np.empty(0, np.uint64), np.empty(0, np.float32)
    if not alike:
        table = alias_rows(starts, matrix.data)
    if not alike and back > max(1.0, away):
        sums = np.add.reduceat(matrix.data, starts[:-1][leads_on], dtype=np.float64)
        chances = (matrix.data / np.repeat(sums, np.diff(starts)[leads_on])).astype(np.float32)
    keep = keep_thresholds(graph.vocab.counts, config.subsample)
    source = GraphWalks(
        *(starts, targets, table, chances, origins, config.walks_per_node, config.walk_length),
        *(back, away, keep, config.window, config.dynamic_window, config.ordered),
    )
    n_positions = len(origins) * config.walks_per_node * config.walk_length
    sides = 1 if config.ordered else 2
    weights = graph.vocab.counts * (n_positions / graph.vocab.counts.sum()) * (keep / 2.0**32)
    mean = min(config.window, config.walk_length - 1) * sides * (0.5 if config.dynamic_window else 1.0)
    return Walk(source, n_positions, sides * config.window, mean, 2, 2 * config.walk_length, weights)


def written_walks(graph, config, most):
    """Write random walks out: those of an epoch or, if they are longer than `most` nodes, a part of them.

    Returns
    -------
    ids : ndarray, int32, (n_tokens,); offsets : ndarray, int64, (n_walks + 1,)
    """
    walk = walk_graph(graph, config)
    source = walk.source._replace(keep=np.full(len(graph.vocab), 2**32, np.uint64))
    n_walks = max(1, min(walk.n_positions, most) // config.walk_length)
    n_positions = n_walks * config.walk_length
    tokens = np.empty(walk.room(n_positions), np.int32)
    first, last = fill_block(source, 0, n_positions, stream_key(_WRITTEN, config.seed), tokens)
    tokens = tokens[first:last]
    ends = np.flatnonzero(tokens < 0)
    offsets = np.concatenate([[0], ends - np.arange(len(ends))])
    return tokens[tokens >= 0], offsets.astype(np.int64)


def _check_sentences(offsets, what, remedy):
    if np.diff(offsets).max() < 2:
        known = "word" if what == "sentence" else "item"
        raise InputError(f"no pair to train on: every {what} has one known {known}; {remedy}")
