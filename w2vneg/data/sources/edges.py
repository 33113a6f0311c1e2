"""Graphs: an edge a row, walked at random."""

from ...ground.option import option
from . import SOURCES, TRAVERSALS, Source, Traversal
from ._options import TableOptions, column, dynamic_window, ordered, subsample, target_column, weight_column, window

_WRITTEN = 1 << 24  # nodes of walks that are written out at most
_STREAM = 12  # first word of the name of the random numbers that they are written with


@SOURCES.register("edges")
class Edges(Source):
    help = "Edges of a graph, two nodes and perhaps a weight a row; trained on by random walks."
    tables = True
    paired = True
    noun = "node"
    rows, kept, unit = "rows", "edges", "edges"
    traversal = "graph"

    class Options(TableOptions):
        source_col: str | None = column(
            "Column of the node that an edge begins at, by name or number.", "by name, else 1"
        )
        target_col: str | None = target_column()
        weight_col: str | None = weight_column()
        directed: bool = option(False, "Edges lead from the first node to the second only.", off="")

    @classmethod
    def encode(cls, given, vocab_out=None, **shaping):
        from ..encoded import encode_edges

        return encode_edges(list(given.files), **given.values(), **shaping)


def _bias(help):
    return option(1.0, help, at_least=0.001, at_most=1000)


@TRAVERSALS.register("graph")
class Graph(Traversal):
    """Random walks on a graph: a node and the nodes near it in a walk."""

    data = "graphs (--edges)"
    loss = "ns"
    alpha_scale = 0.5  # better by every measure on planted graphs (docs/journal/2026-11-25-graphs.md)
    noun = "node"
    unit = "nodes"
    paired = True
    example = "edges"
    recommends = False

    class Options:
        window: int = window(10)
        dynamic_window: bool = dynamic_window()
        subsample: float = subsample(0.0)
        ordered: bool = ordered()
        walks_per_node: int = option(10, "Random walks from each node in an epoch.", at_least=1)
        walk_length: int = option(80, "Nodes of a random walk.", at_least=2, at_most=10_000)
        p: float = _bias("Steps of a random walk: above 1 it seldom goes straight back, below 1 often.")
        q: float = _bias("Steps of a random walk: above 1 it stays near the node before, below 1 it goes on.")

    @classmethod
    def of(cls, graph, config):
        import numpy as np

        from ...kernels.alias import alias_rows
        from ...kernels.graph import GraphWalks
        from ...kernels.schedule import keep_thresholds

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
        return cls(source, n_positions, sides * config.window, mean, 2, 2 * config.walk_length, weights)

    @classmethod
    def counts_occurrences(cls, graph):
        return False  # they are visits

    @classmethod
    def written(cls, graph, config):
        """Return walks as a text: those of an epoch or, if they are longer than 17 million nodes, a part of them."""
        import numpy as np

        from ...kernels.round import fill_block
        from ...kernels.schedule import stream_key

        walk = cls.of(graph, config)
        source = walk.source._replace(keep=np.full(len(graph.vocab), 2**32, np.uint64))
        n_walks = max(1, min(walk.n_positions, _WRITTEN) // config.walk_length)
        n_positions = n_walks * config.walk_length
        tokens = np.empty(walk.room(n_positions), np.int32)
        first, last = fill_block(source, 0, n_positions, stream_key(_STREAM, config.seed), tokens)
        tokens = tokens[first:last]
        ends = np.flatnonzero(tokens < 0)
        offsets = np.concatenate([[0], ends - np.arange(len(ends))])
        return tokens[tokens >= 0], offsets.astype(np.int64)
