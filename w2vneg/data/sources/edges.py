"""Graphs: one edge per row, trained on by random walks."""

from dataclasses import replace

from ...ground.option import option
from . import SOURCES, TRAVERSALS, Source, Traversal
from . import _options as options

_WRITTEN = 1 << 24  # most nodes of walks that are written out
_FEW = 20  # rows; up to this many, the first one may contain their number by chance
_STREAM = 12  # first part of the name of the random stream for walks that are written out


@SOURCES.register("edges")
class Edges(Source):
    help = "Edges of a graph: two nodes, optional weight. One per row; trained on by random walks."
    tables = True
    paired = True
    noun = "node"
    rows, kept, unit = "rows", "edges", "edges"
    traversal = "graph"

    class Options(options.TableOptions):
        source_col: str | None = options.column(
            "Column of the node that an edge starts from, by name or number.", "by name, else 1"
        )
        target_col: str | None = options.target_column()
        weight_col: str | None = options.weight_column()
        directed: bool = option(False, "Edges lead one way, from the first node to the second.", negative_flag="")

    @classmethod
    def encode(cls, given, vocab_out=None, **shaping):
        """Read edges, two nodes and an optional weight per row, or sparse matrices; sum the weights of equal edges."""
        import numpy as np

        from ..encoded.corpus import ItemsReport
        from ..encoded.pairs import ALONE, encode_edges, read_ends
        from ..readers.columns import NameColumn, hint_of_weights, refuse_names_as_weights
        from ..readers.frames import InMemoryTable
        from ..readers.sources import find_files
        from ..vocab import VocabOptions
        from ..words import NameIndex

        shaping = VocabOptions(**shaping).checked()
        files = [_as_table(file) for file in find_files(list(given.files))]
        tables = options.tables_of(given, options.pair_columns(given, "source"), shaping, files=files, comments=True)
        names, alone = NameIndex(shaping.lowercase), 0
        heads, tails, weights = read_ends(tables, ("source", "target"), (names, names), np.float32)
        for file in files:  # nodes without an edge count, too
            if not isinstance(file, InMemoryTable) or file.nodes is None:
                continue
            if file.matrix is None:
                names.number(NameColumn(np.arange(len(file.nodes)), file.nodes), str)
            else:
                alone += len(file.nodes) - len(np.union1d(*file.columns[:2]))
        refuse_names_as_weights(files[0], tables.labels, heads, tails, weights, names.words)
        hints = tables.hints + hint_of_weights(tables.labels, weights)
        row = [names.words[heads[0]], names.words[tails[0]], *[f"{weights[0]:g}"] * ("weight" in tables.labels)]
        if row[-1] == str(len(heads) - 1) and len(heads) > _FEW and all(map(str.isdecimal, row)) and len(files) == 1:
            first = "the first row ends with the number of the others, like a header with sizes"
            hints += (f"{first}, but is read as an edge; if it is not one: tail -n +2 FILE > edges.txt",)
        if tables.labels.two_kinds and (n_both := len(np.intersect1d(heads, tails))):
            both = " and ".join(tables.labels[key] for key in ("source", "target"))
            hints += (
                f"{n_both:,} names occur in both {both}, and each is one node; rename them if they are two things",
            )
        report = ItemsReport.of("edges", tables, {names})
        report = replace(report, hints=hints, left_out=report.left_out | {ALONE: alone})
        return encode_edges(heads, tails, weights, names.words, given.directed, shaping, report)


def _as_table(file):
    from ..encoded.matrices import is_matrix, load_matrix
    from ..readers.frames import InMemoryTable

    if not is_matrix(file):
        return file
    matrix = load_matrix(file, rectangular=False, named=False)
    if isinstance(file, InMemoryTable):
        return file
    cells = [matrix.row, matrix.col, matrix.data.astype("float64")]
    return InMemoryTable(file, cells, ["row", "column", "value"], matrix)


def _bias(help):
    return option(1.0, help, at_least=0.001, at_most=1000)


def _relative(weights, nodes, gamma):
    """Divide edge weights by mean + γ standard deviations of the edges with the same node; float32, (n_edges,).

    Rounding errors of the sums vanish in float32, so they make no weight lighter than a value that it equals.
    """
    import numpy as np

    n = np.maximum(np.bincount(nodes), 1)
    means = np.bincount(nodes, weights) / n
    variances = np.bincount(nodes, (weights - means[nodes]) ** 2) / n
    return (weights / (means + gamma * np.sqrt(variances))[nodes]).astype(np.float32)


@TRAVERSALS.register("graph")
class Graph(Traversal):
    """Random walks on a graph: a node and the nodes near it in a walk."""

    data = "graphs (--edges)"
    kind = "graph"
    loss = "ns"
    alpha_scale = 0.5  # better by every measure on planted graphs (docs/journal/2026-11-25-graphs.md)
    noun = "node"
    unit = "nodes"
    paired = True
    example = "edges"
    recommends = False

    class Options:
        window: int = options.window(10)
        dynamic_window: bool = options.dynamic_window()
        subsample: float = options.subsample(0.0)
        ordered: bool = options.ordered()
        walks_per_node: int = option(10, "Random walks per node and epoch.", at_least=1)
        walk_length: int = option(80, "Nodes per random walk.", at_least=2, at_most=10_000)
        p: float = _bias("node2vec's return parameter: above 1, walks seldom turn straight back; below 1, often.")
        q: float = _bias("node2vec's in-out parameter: above 1, walks stay near the last node; below 1, move away.")
        gamma: float | None = option(
            None,
            "node2vec+: for q, edges below a node's mean + GAMMA standard deviations are weak; try 0 and 1.",
            default_text="node2vec",
            metavar="GAMMA",
            at_least=0,
            at_most=1000,
        )

    @classmethod
    def of(cls, graph, config):
        import numpy as np

        from ...kernels.graph import GraphWalks
        from ...kernels.rng import alias_rows
        from ...kernels.schedule import keep_thresholds

        matrix, own = graph.matrix, config.source
        back, away = 1 / own.p, 1 / own.q
        starts, targets = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32, copy=False)
        leads_on = np.diff(starts) > 0
        origins = np.flatnonzero(leads_on).astype(np.int32) if graph.origins is None else graph.origins
        alike = matrix.data.min() == matrix.data.max()
        table = np.empty(0, np.uint64) if alike else alias_rows(starts, matrix.data)
        chances = np.empty(0, np.float32)
        if not alike and back > max(1.0, away):
            sums = np.add.reduceat(matrix.data, starts[:-1][leads_on], dtype=np.float64)
            chances = (matrix.data / np.repeat(sums, np.diff(starts)[leads_on])).astype(np.float32)
        ties, loose = np.empty(0, np.float32), np.empty(0, bool)
        if not alike and own.gamma is not None:
            rows = np.repeat(np.arange(len(graph.vocab)), np.diff(starts))
            ties = _relative(matrix.data, targets, own.gamma)
            loose = _relative(matrix.data, rows, own.gamma) < 1
        keep = keep_thresholds(graph.vocab.counts, own.subsample)
        source = GraphWalks(
            *(starts, targets, table, chances, ties, loose, origins, own.walks_per_node, own.walk_length),
            *(back, away, keep, own.window, own.dynamic_window, own.ordered),
        )
        n_positions = len(origins) * own.walks_per_node * own.walk_length
        sides = 1 if own.ordered else 2
        weights = graph.vocab.counts * (n_positions / graph.vocab.counts.sum()) * (keep / 2.0**32)
        mean = min(own.window, own.walk_length - 1) * sides * (0.5 if own.dynamic_window else 1.0)
        return cls(source, n_positions, sides * own.window, mean, 2, 2 * own.walk_length, weights)

    @classmethod
    def counts_occurrences(cls, graph):
        return False  # they are visits

    @classmethod
    def written(cls, graph, config):
        """Return the walks of an epoch as sentences, or a part of them if they have more than 17 million nodes."""
        import numpy as np

        from ...kernels.schedule import stream_key
        from ...kernels.shard import fill_block

        walk = cls.of(graph, config)
        source = walk.source._replace(keep=np.full(len(graph.vocab), 2**32, np.uint64))
        length = config.source.walk_length
        n_positions = max(1, min(walk.n_positions, _WRITTEN) // length) * length
        tokens = np.empty(walk.room(n_positions), np.int32)
        first, last = fill_block(source, 0, n_positions, stream_key(_STREAM, config.seed), tokens)
        tokens = tokens[first:last]
        ends = np.flatnonzero(tokens < 0)
        offsets = np.concatenate([[0], ends - np.arange(len(ends))])
        return tokens[tokens >= 0], offsets.astype(np.int64)
