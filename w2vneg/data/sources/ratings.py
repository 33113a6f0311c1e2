"""Tables of events: who rated, bought or saw what; histories by user, or pairs of user and item."""

from ...ground.option import option
from . import SOURCES, Source
from ._options import TableOptions, column, rectangular


@SOURCES.register("ratings")
class Ratings(Source):
    help = "Who rated, bought or saw what, a row an event; read as histories by user."
    tables = True
    timed = True
    rows, kept, unit = "rows", "items in {:,} histories", "users"

    class Options(TableOptions):
        user_col: str | None = column("Column of the users, by name or number.", "by name, else 1")
        item_col: str | None = column("Column of the items, by name or number.", "by name, else 1, in --ratings 2")
        rating_col: str | None = column("Column of the ratings.", "by name, else 3")
        min_rating: float | None = option(None, "Leave out rows with a lower rating.", shown="none")
        time_col: str | None = column("Column of times, numbers or dates, that order a history.", "file order")
        max_history: int | None = option(None, "Keep only so many of a user's latest items.", at_least=2, shown="all")
        rectangular: bool | None = rectangular()

    @classmethod
    def traversal(cls, given):
        return "pairs" if given.rectangular else "baskets"

    @classmethod
    def encode(cls, given, **shaping):
        from ..encoded import encode_ratings

        return encode_ratings(list(given.files), **given.values(), **shaping)
