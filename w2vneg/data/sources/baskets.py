"""Baskets of items, one a line."""

from . import SOURCES, Source
from ._tables import delimiter


@SOURCES.register("baskets")
class Baskets(Source):
    help = "Baskets of items, one a line."

    class Options:
        delimiter: str | None = delimiter()

    @classmethod
    def walk(cls, given):
        return "baskets"

    @classmethod
    def encode(cls, given, vocab_out=None, **shaping):
        from ..encoded import encode_baskets

        return encode_baskets(list(given.files), **given.values(), **shaping)

    @classmethod
    def reading(cls, given):
        from ..encoded.histories import reader_of_baskets

        return {"reader": reader_of_baskets(given.delimiter), "strip": ()}
