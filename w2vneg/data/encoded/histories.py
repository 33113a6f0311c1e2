"""Encode the histories of users who rated items."""

import time
from dataclasses import replace

import numpy as np

from ...ground.errors import InputError
from ..vocab import choose_items
from ..words import NameIndex
from .corpus import EncodedCorpus, ItemsReport
from .pairs import RawPairs

_REPEATS = "rows that repeat a user and an item"


def encode_events(tables, shaping, given, by_amount, adds):
    """Encode who rated (bought, saw) what, one event a row: an EncodedCorpus or EncodedPairs.

    A sentence is a history of two items or more; or, if rectangular, rows are users and columns items.
    tables : readers.tables.Tables, with the columns user, item, time, amount and, if there is a least one, rating
    shaping : VocabOptions; given : Input, with min_rating, max_history and rectangular, see `sources.ratings`
    by_amount, adds : bool, each row weighs by its amount, else 1; rows of the same pair add up
    InputError as `Tables`; or if nothing reaches the least rating, or too few items are left
    """
    started = time.perf_counter()
    users, items = NameIndex(shaping.lowercase), NameIndex(shaping.lowercase)
    left_out = {}  # why -> how many
    user, item, when, amount = _events(tables, users, items, given.min_rating, left_out, by_amount)
    sums = _sums(user, item, amount, len(items), by_amount, adds)
    user, item, when = _latest(user, item, when, len(items), given.max_history, left_out)
    report = ItemsReport.of("ratings", tables, bool(given.rectangular))
    added = {_REPEATS: left_out.pop(_REPEATS)} if adds else {}
    report = replace(report, left_out=report.left_out | left_out, added=added)
    if given.rectangular:
        pairs = RawPairs(user, item, sums(user, item), users.words, items.words, when)
        return pairs.encoded(shaping, True, report, started)
    return _histories(user, item, when, items.words, shaping, report, started)


def _sums(user, item, amount, n_items, by_amount, adds):
    """Return a function of different pairs, user and item, that gives their weights (ndarray, float64)."""
    if not (by_amount or adds):
        return lambda user, item: np.ones(len(user))
    keys, row = np.unique(user.astype(np.int64) * n_items + item, return_inverse=True)
    if adds:
        weights = np.bincount(row, amount, len(keys))
    else:
        weights = np.empty(len(keys))
        weights[row] = amount  # the last of each
    return lambda user, item: weights[np.searchsorted(keys, user.astype(np.int64) * n_items + item)]


def _events(tables, users, items, min_rating, left_out, by_amount):
    """Return (user, item, time or None, amount) of all rows that count, as arrays in the order of the files."""
    parts = []
    nameless = low = nothing = 0
    highest = -np.inf
    for batch in tables:
        read = batch.columns
        user, item = users.number(read["user"], batch.where), items.number(read["item"], batch.where)
        when = read["time"]
        kept = user >= 0
        nameless += int((~kept).sum())
        if min_rating is not None:
            highest = max(highest, read["rating"].max())
            low += int((kept & (read["rating"] < min_rating)).sum())
            kept &= read["rating"] >= min_rating
        amount = read["amount"] if by_amount else np.ones(batch.n_rows)
        empty = kept & (amount == 0)
        nothing += int(empty.sum())
        kept &= ~empty
        parts.append((user[kept], item[kept], None if when is None else when[kept], amount[kept]))
    left_out["rows without a user"] = nameless
    left_out[f"rows rated below {min_rating:g}" if min_rating is not None else "rows rated too low"] = low
    left_out["rows of an amount of 0"] = nothing
    user, item, amount = (np.concatenate([part[i] for part in parts]) for i in (0, 1, 3))
    if not len(user) and low:
        raise InputError(
            f"no rating reaches min_rating={min_rating:g} (the highest is {highest:g}); lower --min-rating"
        )
    if not len(user):
        raise InputError(f"none of the {tables.n_rows:,} rows names a user; give another --user-col")
    return user, item, None if parts[0][2] is None else np.concatenate([part[2] for part in parts]), amount


def _latest(user, item, when, n_items, max_history, left_out):
    """Return (user, item, time or None) by user and time, each pair once, of each user the latest ones."""
    order = np.argsort(user, kind="stable") if when is None else np.lexsort((when, user))
    user, item, when = _chosen(order, user, item, when)
    keys = user.astype(np.int64) * n_items + item
    by_key = np.argsort(keys, kind="stable")
    latest = np.sort(by_key[np.append(keys[by_key][1:] != keys[by_key][:-1], True)])  # the last of each key, in order
    left_out[_REPEATS] = len(user) - len(latest)
    user, item, when = _chosen(latest, user, item, when)
    if max_history is not None:
        ends = np.cumsum(np.bincount(user))
        recent = ends[user] - np.arange(len(user)) <= max_history
        left_out[f"items before a user's latest {max_history}"] = int(len(user) - recent.sum())
        user, item, when = _chosen(recent, user, item, when)
    return user, item, when


def _chosen(rows, *columns):
    return tuple(None if column is None else column[rows] for column in columns)


def _histories(user, item, when, words, shaping, report, started):
    left_out = dict(report.left_out)
    user, item, when, short = _of_two(user, item, when)
    if not len(user):
        raise InputError(f"no history of two different items is left ({short:,} users have one); check --user-col")
    seen = np.bincount(item, minlength=len(words))
    vocab, ids = choose_items(words, seen.astype(np.float64), shaping, shaping.vocab)
    which = "rare items" if shaping.vocab is None else "unknown items"
    known = ids[item] >= 0
    left_out[which] = int(np.count_nonzero(seen[ids < 0]))
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
    found = {"items": len(vocab), "targets": len(vocab), "kept": len(encoded), "groups": len(offsets) - 1}
    report = replace(report, **found, left_out=left_out, seconds=time.perf_counter() - started)
    return EncodedCorpus(encoded, offsets, vocab, report, "baskets", times=when)


def _of_two(user, item, when):
    """Return (user, item, time or None, users left out) without the users who have fewer than two items."""
    sizes = np.bincount(user)
    kept = sizes[user] > 1
    return *_chosen(kept, user, item, when), int((sizes == 1).sum())
