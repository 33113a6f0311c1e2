"""Tables of events: who rated, bought or saw what; histories by user, or pairs of user and item."""

from ...ground.option import option
from . import SOURCES, Source
from ._tables import TableOptions, column, item_column, rectangular


@SOURCES.register("ratings")
class Ratings(Source):
    help = "Ratings or events: user, item, optional rating. One per row; read as histories by user."
    tables = True

    class Options(TableOptions):
        user_col: str | None = column("Column of users, by name or number.", "by name, else 1", common=True)
        item_col: str | None = item_column()
        rating_col: str | None = column("Column of ratings.", "by name, else 3")
        min_rating: float | None = option(None, "Drop rows with a lower rating.", shown="none", common=True)
        time_col: str | None = column("Column of times or dates, which order a history.", "file order")
        max_history: int | None = option(None, "Keep only this many of a user's latest items.", at_least=2, shown="all")
        rectangular: bool | None = rectangular()

    @classmethod
    def walk(cls, given):
        return "pairs" if given.rectangular else "baskets"

    @classmethod
    def encode(cls, given, **shaping):
        from ..encoded import encode_ratings

        return encode_ratings(list(given.files), **given.values(), **shaping)
