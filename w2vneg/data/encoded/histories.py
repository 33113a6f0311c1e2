"""Encode the histories of users who rated items."""

from dataclasses import replace

import numpy as np
import pandas as pd

from ...ground.errors import InputError
from ..vocab import choose_items
from ..words import NameIndex
from .corpus import EncodedCorpus, ItemsReport
from .pairs import encode_pairs

_REPEATS = "rows that repeat a user and an item"
_EVENT = np.dtype([("user", np.int32), ("item", np.int32), ("time", np.float64), ("amount", np.float64)])


def encode_events(tables, shaping, given, by_amount, adds, first=False):
    """Encode ratings, purchases or views, one event per row: an EncodedCorpus or EncodedPairs.

    A sentence is a history of two items or more; or, if rectangular, rows are users and columns items.
    tables : readers.tables.Tables, with the columns user, item, time, amount and, with a min_rating, rating
    shaping : VocabOptions; given : Input, with min_rating, max_history and rectangular, see `sources.ratings`
    by_amount, adds : bool, a row weighs its amount, else 1; rows of the same pair add up, else the latest counts
    first : bool, as in `inputs.encode_input`: the earliest row of a pair counts and sets its time
    InputError as in `Tables`; or if nothing reaches min_rating, or too few items are left
    """
    users, items = NameIndex(shaping.lowercase), NameIndex(shaping.lowercase)
    left_out = {}  # reason -> number
    events, timed = _events(tables, users, items, given.min_rating, left_out, by_amount)
    if adds:
        each = events.copy()
        _, pair = np.unique(events["user"].astype(np.int64) * len(items) + events["item"], return_inverse=True)
        events["amount"] = np.bincount(pair, events["amount"])[pair]
    events = _once(events, len(items), given.max_history, left_out, first)
    report = ItemsReport.of("ratings", tables, {users, items}, bool(given.rectangular))
    added = {_REPEATS: left_out.pop(_REPEATS)} if adds else {}
    none = tables.tally["no amount"] * by_amount
    hints = (f"{none:,} of {tables.n_rows:,} rows have no amount and count as 1",) if none else ()
    report = replace(report, left_out=report.left_out | left_out, added=added, hints=report.hints + hints)
    if given.rectangular:
        user, item, when, amount = (events[name] for name in _EVENT.names)
        words = users.words, items.words
        data = encode_pairs(user, item, amount, words, shaping, report, when if timed else None)
        return replace(data, events=_events_of(data, each, words)) if adds and first else data
    return _histories(events, timed, items.words, shaping, report)


def _events(tables, users, items, min_rating, left_out, by_amount):
    """Return the rows that count, `_EVENT` (n,), in the order of the files, and whether they have times."""
    parts = []
    nameless = low = nothing = 0
    highest, timed = -np.inf, False
    for batch in tables:
        read, part = batch.columns, np.zeros(batch.n_rows, _EVENT)
        part["user"], part["item"] = users.number(read["user"], batch.where), items.number(read["item"], batch.where)
        timed = read["time"] is not None
        if timed:
            part["time"] = read["time"]
        part["amount"] = read["amount"] if by_amount else 1
        kept = part["user"] >= 0
        nameless += int((~kept).sum())
        if min_rating is not None:
            highest = max(highest, read["rating"].max())
            low += int((kept & (read["rating"] < min_rating)).sum())
            kept &= read["rating"] >= min_rating
        nothing += int((kept & (part["amount"] == 0)).sum())
        parts.append(part[kept & (part["amount"] != 0)])
    left_out["rows without a user"] = nameless
    left_out[f"rows rated below {min_rating:g}" if min_rating is not None else "rows rated too low"] = low
    left_out["rows with amount 0"] = nothing
    events = np.concatenate(parts)
    if not len(events) and low:
        raise InputError(
            f"no rating reaches min_rating={min_rating:g} (the highest is {highest:g}); lower --min-rating"
        )
    if not len(events):
        raise InputError(f"none of the {tables.n_rows:,} rows names a user; give another --user-col")
    return events, timed


def _once(events, n_items, max_history, left_out, first):
    """Return events by user and time: the first or the last of each pair, at most `max_history` of a user's latest."""
    events, keep = events[np.lexsort((events["time"], events["user"]))], "first" if first else "last"
    repeats = pd.Series(events["user"].astype(np.int64) * n_items + events["item"]).duplicated(keep=keep).to_numpy()
    left_out[_REPEATS] = int(repeats.sum())
    events = events[~repeats]
    if max_history is not None:
        recent = np.cumsum(np.bincount(events["user"]))[events["user"]] - np.arange(len(events)) <= max_history
        left_out[f"items before a user's latest {max_history}"] = int(len(events) - recent.sum())
        events = events[recent]
    return events


def _events_of(data, events, words):
    """Return `EncodedPairs.events` of pairs; events : `_EVENT` (n,); words : two lists of str, of users and items"""
    users, items = (
        vocab.words.find_all(own)[events[name]].astype(np.int64)
        for vocab, own, name in zip((data.vocab, data.vocab_out), words, ("user", "item"), strict=True)
    )
    matrix, n_out = data.matrix, len(data.vocab_out)
    entries = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr)) * n_out + matrix.indices
    pairs = np.where((users < 0) | (items < 0), -1, users * n_out + items)
    places = np.searchsorted(entries, pairs).clip(max=len(entries) - 1)
    order = np.lexsort((events["time"], users))
    order = order[entries[places[order]] == pairs[order]]
    return places[order], events["time"][order], events["amount"][order]


def _histories(events, timed, words, shaping, report):
    left_out = dict(report.left_out)
    events, short = _of_two(events)
    if not len(events):
        why = "; ".join(report.hints) or "each row should hold one item of a user, not a list"
        raise InputError(
            f"no history of two different items is left ({short:,} users have only one); check --user-col and "
            f"--item-col: {why}"
        )
    seen = np.bincount(events["item"], minlength=len(words))
    vocab, ids = choose_items(words, seen.astype(np.float64), shaping, shaping.vocab)
    which = "rare items" if shaping.vocab is None else "unknown items"
    known = ids[events["item"]] >= 0
    left_out[which] = int(np.count_nonzero(seen[ids < 0]))
    left_out[f"occurrences of {which}"] = int(len(known) - known.sum())
    events, dropped = _of_two(events[known])
    if not len(events):
        raise InputError(f"no history of two items is left without the {which}; lower --min-count or give more data")
    left_out["users with fewer than two items"] = short + dropped
    sizes = np.bincount(events["user"])
    arrays = ids[events["item"]], np.concatenate([[0], np.cumsum(sizes[sizes > 0])]), events["time"].copy()
    for array in arrays:
        array.flags.writeable = False
    encoded, offsets, when = arrays
    sizes = {"items": len(vocab), "targets": len(vocab), "kept": len(encoded), "groups": len(offsets) - 1}
    report = replace(report, **sizes, left_out=left_out)
    return EncodedCorpus(encoded, offsets, vocab, report, "baskets", times=when if timed else None)


def _of_two(events):
    """Return the events without users who have only one item, and the number of these users."""
    sizes = np.bincount(events["user"])
    return events[sizes[events["user"]] > 1], int((sizes == 1).sum())
