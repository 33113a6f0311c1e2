"""Counts of items seen together: a sparse matrix, or a table of pairs."""

from ...ground.option import option
from . import SOURCES, Source
from ._options import PairOptions


@SOURCES.register("cooccurrence")
class Cooccurrence(Source):
    help = "How often items were seen together: a scipy.sparse .npz, or a table of pairs."
    tables = True
    paired = True
    repeatable = False
    rows, unit = "entries", "rows"
    traversal = "pairs"

    class Options(PairOptions):
        names: str | None = option(
            None,
            "Names of a matrix's items, one a line; give it twice if rectangular.",
            shown="0, 1, 2, ...",
            metavar="FILE",
            files=True,
        )

    @classmethod
    def encode(cls, given, **shaping):
        from ..encoded import encode_cooccurrence

        return encode_cooccurrence(list(given.files), **given.values(), **shaping)
