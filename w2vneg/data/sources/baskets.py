"""Baskets of items, one a line."""

from . import SOURCES, Source
from ._tables import delimiter, plain


@SOURCES.register("baskets")
class Baskets(Source):
    help = "Baskets of items, one per line."

    class Options:
        delimiter: str | None = delimiter()
        plain: bool = plain()

    @classmethod
    def walk(cls, given):
        return "baskets"

    @classmethod
    def encode(cls, given, vocab_out=None, **shaping):
        from ..encoded import encode_baskets

        return encode_baskets(
            list(given.files), delimiter=cls._delimiter(given), guessed=not given.delimiter, **shaping
        )

    @classmethod
    def reading(cls, given):
        from ..encoded.histories import reader_of_baskets

        return {"reader": reader_of_baskets(cls._delimiter(given)), "strip": ()}

    @classmethod
    def _delimiter(cls, given):
        """Return what parts the items, as asked or as the first file looks; refuse what are no baskets."""
        from ...ground.errors import DoubtError
        from ..readers import foreign
        from ..readers.layout import delimiter_of, named

        chosen = delimiter_of(given.delimiter)
        if given.plain:
            return chosen
        for name, data in foreign.beginnings(given.files):
            foreign.refuse(name, data, "baskets")
            chosen = chosen or foreign.guess_delimiter(name, data)
            rows = [foreign.split_items(line, chosen) for line in foreign.Head.of(data).lines]
            if quoted := foreign.quoted_item(rows):
                raise DoubtError(
                    f"{name}: items stand in quotes, as {quoted[:60]}, which would be part of their names; take them "
                    f"off, tr -d '\"' < FILE > baskets.txt, or give --plain --delimiter {named(chosen)} to keep them"
                )
            why = foreign.looks_like_log(rows)
            if why:
                raise DoubtError(
                    f"{name}: looks like a log, not like baskets: {why}; give a log to --ratings or --pairs, cut a "
                    "first column of numbers off, or give --plain if these are items"
                )
        return chosen
