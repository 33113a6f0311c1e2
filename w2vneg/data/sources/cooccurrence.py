"""Counts of items seen together: a sparse matrix, or a table of pairs."""

from ...ground.option import option
from . import SOURCES, Source
from ._tables import PairOptions


@SOURCES.register("cooccurrence")
class Cooccurrence(Source):
    help = "Co-occurrence counts: a sparse .npz or a table. The .npz is of scipy.sparse; the table has a pair per row."
    tables = True
    repeatable = False

    class Options(PairOptions):
        names: str | None = option(
            None,
            "Names of a matrix's items, one per line; give it twice if rectangular.",
            shown="0, 1, 2, ...",
            metavar="FILE",
            files=True,
        )

    @classmethod
    def walk(cls, given):
        return "pairs"

    @classmethod
    def encode(cls, given, **shaping):
        from ..encoded import encode_cooccurrence

        return encode_cooccurrence(list(given.files), **given.values(), **shaping)
