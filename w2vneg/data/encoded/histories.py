"""Encode what stands together in groups: baskets, and the histories of users who rated items.

Ten million rows of user and item (164 MB of CSV, 100 000 users, 50 000 items) take 17 to 24 s and 0.96 GB at the most.
Baskets are encoded as text is, into the cache, and may be larger than memory.
"""

import math
import time
from dataclasses import replace

import numpy as np

from ...ground.errors import ConfigError, InputError
from ..readers.baskets import basket_reader
from ..readers.layout import Column, delimiter_of, named
from ..readers.names import Names
from ..readers.report import ItemsReport
from ..readers.tables import Tables
from ..sources.baskets import WholeBaskets
from .choice import Shaping, choose_items
from .corpus import EncodedCorpus
from .encode import encode_corpus
from .items import report_of
from .pairs import RawPairs


def encode_baskets(source, *, delimiter=None, guessed=False, progress=None, **options):
    """Read files of baskets, one a line.

    Parameters
    ----------
    source : path or list of paths
    delimiter : str, optional
        The ASCII sign between items, or one of the words of `readers.layout.DELIMITERS` but ``::``. Blanks if None;
        with another, blanks inside names become ``_`` and those beside the delimiter vanish.
    guessed : bool
        Whether the delimiter was found by the first lines, so that the report says it.
    progress : callable, optional
    options
        `min_count` (1 if left out), `max_vocab`, `vocab`, `encoding`, `lowercase`, `use_cache`, as for `encode_corpus`.

    Returns
    -------
    EncodedCorpus
        A sentence is a basket; its report is an `ItemsReport`.

    Raises
    ------
    InputError
        As `encode_corpus`; or if no basket has two items.
    """
    reader = reader_of_baskets(delimiter)
    corpus = encode_corpus(source, reader=reader, progress=progress, **{"min_count": WholeBaskets.min_count} | options)
    fixed = options.get("vocab") is not None
    report = report_of_baskets(corpus.report, len(corpus.vocab), corpus.n_single, fixed, delimiter)
    if guessed and delimiter not in (None, " "):
        report = replace(report, columns=(f"parted by {named(delimiter)}, as it looks; else give --delimiter",))
    return replace(corpus, report=report, source="baskets")


def reader_of_baskets(delimiter):
    """Return the name of the reader of baskets (str), which is registered then; delimiter : as of `encode_baskets`."""
    return basket_reader(delimiter_of(delimiter) or " ")


def report_of_baskets(found, n_items, single, fixed, delimiter):
    """Return the ItemsReport of baskets that were read as text.

    found : CorpusReport; n_items : int, those that are known; single : int, baskets of one item
    fixed : bool, whether the vocabulary was given; delimiter : as of `encode_baskets`

    Raises
    ------
    InputError
        If no basket has two items.
    """
    if single == found.sentences:
        guess = "; name the sign between items with --delimiter if it is not a blank"
        hint = guess if delimiter in (None, " ") else ""
        raise InputError(f"none of the {single:,} baskets has two items, so nothing was bought together{hint}")
    which = "unknown items" if fixed else "rare items"
    return ItemsReport(
        kind="baskets",
        files=found.files,
        bytes=found.bytes,
        rows=found.lines,
        items=n_items,
        targets=n_items,
        kept=found.kept_tokens,
        groups=found.sentences,
        seconds=found.seconds,
        cached=found.cached,
        damage=found.damage,
        left_out={
            which: found.discarded_types,
            f"times that {which} were seen": found.discarded_tokens,
            "empty baskets": found.lines - found.sentences,
            "baskets of one item (kept, but nothing to learn from)": single,
        },
    )


def encode_ratings(
    source,
    *,
    user_col=None,
    item_col=None,
    rating_col=None,
    min_rating=None,
    time_col=None,
    max_history=None,
    delimiter=None,
    header=None,
    quoting=None,
    bad_rows=None,
    rectangular=False,
    **shaping,
):
    """Read who rated (bought, saw) what, one event a row, as histories by user.

    An item that a user rated twice stands once, at the latest time. Rows without a user are left out. Where a column
    is called as a quantity or a count is, an amount below 0, as of a return, makes a bad row.

    Parameters
    ----------
    source : path or list of paths
    user_col, item_col : str or int, optional
        Names of columns, or numbers from 1 on; by default those that the header calls so, else 1 and 2.
    rating_col : str or int, optional
        By default what the header calls so, else 3; read if there is a `min_rating`.
    min_rating : float, optional
        Leave out rows with a lower rating.
    time_col : str or int, optional
        Numbers or dates: histories follow the time, and the order of the file where times are equal. Without one,
        they follow the file.
    max_history : int, at least 2, optional
        Keep only so many of a user's latest items.
    rectangular : bool
        Pairs of user and item, of weight 1, rather than histories.
    delimiter, header, quoting, bad_rows
        As for `encode_pairs`.
    shaping
        Fields of `choice.Shaping`; `vocab` is that of the users if rectangular, and `vocab_out` of the items.

    Returns
    -------
    EncodedCorpus or EncodedPairs
        A sentence is a history, users in order of first appearance; or, if rectangular, rows are users and columns
        items. Users with fewer than two items left have no history (if rectangular: with none). The report is an
        `ItemsReport`.

    Raises
    ------
    InputError
        As `readers.tables.Tables`; or if nothing reaches `min_rating`, or no history of two items or fewer than two
        items are left.
    ConfigError
        If an option is out of range.
    """
    started = time.perf_counter()
    shaping = Shaping(**shaping)
    choice = shaping.choice(rectangular)
    _check(max_history, min_rating, rating_col)
    columns = [
        Column("user", "--user-col", "name", user_col, 1, ("user",), "users", may_be_empty=True),
        Column("item", "--item-col", "name", item_col, 2, ("item",), "items"),
        Column("time", "--time-col", "time", time_col, words="time"),
    ]
    if min_rating is not None:
        columns.append(Column("rating", "--rating-col", "number", rating_col, 3, ("rating",), "ratings"))
    columns.append(Column("amount", "the amount", "amount", means=("weight",), words="amounts", only_numbers=True))
    tables = Tables(
        source,
        columns,
        delimiter=delimiter_of(delimiter),
        header=header,
        quoting=quoting,
        bad_rows=bad_rows,
        encoding=shaping.encoding,
        progress=shaping.progress,
    )
    users, items = Names(shaping.lowercase), Names(shaping.lowercase)
    left_out = {}  # why -> how many
    user, item, when = _latest(*_events(tables, users, items, min_rating, left_out), len(items), max_history, left_out)
    report = report_of("ratings", tables, rectangular)
    report = replace(report, left_out=report.left_out | left_out)
    if rectangular:
        pairs = RawPairs(user, item, np.ones(len(user)), users.words, items.words, when)
        return pairs.encoded(choice, True, report, started)
    return _histories(user, item, when, items.words, choice, report, started)


def _check(max_history, min_rating, rating_col):
    if max_history is not None and max_history < 2:
        raise ConfigError(f"max_history must be at least 2, not {max_history}: one item has no other beside it")
    if min_rating is not None and not math.isfinite(min_rating):
        raise ConfigError(f"min_rating must be a finite number, not {min_rating}")
    if rating_col is not None and min_rating is None:
        raise ConfigError("a column of ratings is of use only with a least rating; give --min-rating too")


def _events(tables, users, items, min_rating, left_out):
    """Return (user, item, time or None) of all rows that count, as arrays in the order of the files."""
    parts = []
    nameless = low = 0
    highest = -np.inf
    for batch in tables:
        read = batch.columns
        user, item, when = (
            users.number(read["user"], batch.where),
            items.number(read["item"], batch.where),
            read["time"],
        )
        kept = user >= 0
        nameless += int((~kept).sum())
        if min_rating is not None:
            highest = max(highest, read["rating"].max())
            low += int((kept & (read["rating"] < min_rating)).sum())
            kept &= read["rating"] >= min_rating
        parts.append((user[kept], item[kept], None if when is None else when[kept]))
    left_out["rows without a user"] = nameless
    left_out[f"rows rated below {min_rating:g}" if min_rating is not None else "rows rated too low"] = low
    user, item = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    if not len(user) and low:
        raise InputError(
            f"no rating reaches min_rating={min_rating:g} (the highest is {highest:g}); lower --min-rating"
        )
    if not len(user):
        raise InputError(f"none of the {tables.n_rows:,} rows names a user; give another --user-col")
    return user, item, None if parts[0][2] is None else np.concatenate([part[2] for part in parts])


def _latest(user, item, when, n_items, max_history, left_out):
    """Return (user, item, time or None) by user and time, each pair once, of each user the latest ones."""
    order = np.argsort(user, kind="stable") if when is None else np.lexsort((when, user))
    user, item, when = _chosen(order, user, item, when)
    latest = _last_of_each(user.astype(np.int64) * n_items + item)
    left_out["rows that repeat a user and an item"] = len(user) - len(latest)
    user, item, when = _chosen(latest, user, item, when)
    if max_history is not None:
        ends = np.cumsum(np.bincount(user))
        recent = ends[user] - np.arange(len(user)) <= max_history
        left_out[f"items before a user's latest {max_history}"] = int(len(user) - recent.sum())
        user, item, when = _chosen(recent, user, item, when)
    return user, item, when


def _chosen(rows, *columns):
    return tuple(None if column is None else column[rows] for column in columns)


def _last_of_each(keys):
    """Return the places of the last of each key, in order (ndarray, int64)."""
    order = np.argsort(keys, kind="stable")
    last = np.append(keys[order][1:] != keys[order][:-1], True)
    return np.sort(order[last])


def _histories(user, item, when, words, choice, report, started):
    left_out = dict(report.left_out)
    short = 0
    user, item, when, dropped = _of_two(user, item, when)
    short += dropped
    if not len(user):
        raise InputError(f"no history of two different items is left ({short:,} users have one); check --user-col")
    vocab, ids = choose_items(words, np.bincount(item, minlength=len(words)).astype(np.float64), choice, choice.vocab)
    which = "rare items" if choice.vocab is None else "unknown items"
    known = ids[item] >= 0
    left_out[which] = int(np.count_nonzero(np.bincount(item, minlength=len(words))[ids < 0]))
    left_out[f"times that {which} were seen"] = int(len(item) - known.sum())
    user, item, when, dropped = _of_two(*_chosen(known, user, item, when))
    short += dropped
    if not len(user):
        raise InputError(f"no history of two items is left without the {which}; lower --min-count or give more data")
    left_out["users with fewer than two items"] = short
    sizes = np.bincount(user)
    offsets = np.concatenate([[0], np.cumsum(sizes[sizes > 0])])
    encoded = ids[item]
    for array in (encoded, offsets, *([] if when is None else [when])):
        array.flags.writeable = False
    report = replace(
        report,
        items=len(vocab),
        targets=len(vocab),
        kept=len(encoded),
        groups=len(offsets) - 1,
        left_out=left_out,
        seconds=time.perf_counter() - started,
    )
    return EncodedCorpus(encoded, offsets, vocab, report, "baskets", times=when)


def _of_two(user, item, when):
    """Return (user, item, time or None, users left out) without the users who have fewer than two items."""
    sizes = np.bincount(user)
    kept = sizes[user] > 1
    return *_chosen(kept, user, item, when), int((sizes == 1).sum())
