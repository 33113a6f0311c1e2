"""Tables of events, such as ratings, purchases or views: histories by user, or pairs of user and item."""

from ...ground.errors import ConfigError
from ...ground.option import option
from . import SOURCES, Source
from ._options import TableOptions, column, item_column, rectangular, tables_of


@SOURCES.register("ratings")
class Ratings(Source):
    help = "Ratings or events: user, item, optional rating. One per row; read as histories by user."
    tables = True
    timed = True
    rows, kept, unit = "rows", "items in {:,} histories", "users"

    class Options(TableOptions):
        user_col: str | None = column("Column of users, by name or number.", "by name, else 1", common=True)
        item_col: str | None = item_column()
        rating_col: str | None = column(
            "Column of ratings, for --min-rating; none ignores it. With --rectangular, named quantities are weights.",
            "by name, else 3",
        )
        min_rating: float | None = option(None, "Drop rows with a lower rating.", default_text="none", common=True)
        time_col: str | None = column("Column of times or dates, which order a history.", "file order")
        max_history: int | None = option(
            None, "Keep only this many of a user's latest items.", at_least=2, default_text="all"
        )
        rectangular: bool | None = rectangular()
        repeats: str | None = option(
            None,
            "Rows that repeat a user and an item. count: they add up to the weight of the pair. once: keep the last; "
            "for split --by time, the first.",
            choices=("count", "once"),
            default_text="count with a --rating-col of quantities, else once",
        )

    @classmethod
    def traversal(cls, given):
        return "pairs" if given.rectangular else "baskets"

    @classmethod
    def encode(cls, given, first=False, **shaping):
        """Read rows as histories or, if rectangular, as pairs of user and item. `repeats` says which rows count.

        first : bool, as in `data.inputs.encode_input`
        """
        from ..encoded.histories import encode_events
        from ..readers.column_names import is_quantity, meant_by
        from ..readers.columns import NONE
        from ..readers.layout import Column
        from ..vocab import VocabOptions

        shaping = VocabOptions(**shaping).checked()
        none = given.rating_col == NONE and given.min_rating is None
        weighed = given.rating_col is not None and given.min_rating is None and not none
        name = str(given.rating_col)
        of_weights = meant_by(name) == "weight" or is_quantity(name) or (given.rectangular and name.isdecimal())
        if weighed and not of_weights:
            raise ConfigError(
                "a column of ratings is used only with --min-rating; give --min-rating too, or for weights a column "
                "named like a quantity or a count, or its number"
            )
        counted = weighed if given.repeats is None else given.repeats == "count"
        if (weighed or counted) and not given.rectangular:
            raise ConfigError(
                "an item occurs once in a history, whatever its quantity; give --rectangular for weighted pairs of "
                "user and item, or leave out --rating-col and --repeats, or write one history per line for --baskets "
                "or --corpus, which keep repeats"
            )
        requested = given.rating_col if weighed or none else None
        option = "--rating-col" if none or (given.rectangular and given.min_rating is None) else "the amount"
        columns = [
            Column("user", "--user-col", "name", given.user_col, 1, ("user",), "users", may_be_empty=True),
            Column("item", "--item-col", "name", given.item_col, 2, ("item",), "items"),
            Column("time", "--time-col", "time", given.time_col, words="time"),
            Column("rating", "--rating-col", "number", given.rating_col, 3, ("rating",), "ratings"),
            Column("amount", option, "amount", requested, means=("weight",), words="amounts"),
        ]
        if given.min_rating is None:
            del columns[3]
        return encode_events(tables_of(given, columns, shaping), shaping, given, weighed, counted, first)
