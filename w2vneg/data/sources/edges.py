"""Graphs: an edge a row, walked at random."""

from ...ground.option import option
from . import SOURCES, Source
from ._tables import TableOptions, column, target_column, weight_column


@SOURCES.register("edges")
class Edges(Source):
    help = "Edges of a graph: two nodes, optional weight. One per row; trained on by random walks."
    tables = True
    noun = "node"

    class Options(TableOptions):
        source_col: str | None = column(
            "Column of the node that an edge starts from, by name or number.", "by name, else 1"
        )
        target_col: str | None = target_column()
        weight_col: str | None = weight_column()
        directed: bool = option(False, "Edges lead one way, from the first node to the second.", off="")

    @classmethod
    def walk(cls, given):
        return "graph"

    @classmethod
    def encode(cls, given, vocab_out=None, **shaping):
        from ..encoded import encode_edges

        return encode_edges(list(given.files), **given.values(), **shaping)
