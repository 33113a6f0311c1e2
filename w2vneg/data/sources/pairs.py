"""Tables of pairs: item, target and perhaps a weight."""

from . import SOURCES, Source
from ._tables import PairOptions


@SOURCES.register("pairs")
class Pairs(Source):
    help = "Pairs, one per row: item, target, optional weight. Delimited text or Parquet."
    tables = True
    Options = PairOptions

    @classmethod
    def walk(cls, given):
        return "pairs"

    @classmethod
    def encode(cls, given, **shaping):
        from ..encoded import encode_pairs

        return encode_pairs(list(given.files), **given.values(), **shaping)
