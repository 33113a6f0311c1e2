"""Find the columns of a table: as requested, else by name, else by position.

Clear names decide. If names contradict the positions, or fit two columns, a `DoubtError` lists the columns, the guess
and the flags to type. A weight is read from a column that is requested or has such a name; in a table without names,
from the third column, unless it looks like a time.
"""

import re
from statistics import median
from typing import NamedTuple

import numpy as np

from ...ground.errors import DoubtError, InputError, NoColumnError, did_you_mean
from . import column_names

NONE = "none"  # requested instead of a column: there is none
TRUTHS = {"false": 0.0, "true": 1.0}  # in any case, in columns of answers
MISSING = {"nan", "null", "none", "na", "n/a", "<na>", "\\n", "."}  # \N as Hive and MySQL write it, . as SAS does
NOBODY = {*MISSING, "#n/a", "#nv", "#null!"}  # the rest from Excel and SPSS
_AMONG = {"user", "item", "source", "target"}
_DAY = re.compile(r"(19|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(\.0)?")
_DATE = re.compile(r"\d{4}-\d\d-\d\d([T ].*)?|\d{1,2}[/.]\d{1,2}[/.]\d{4}( .*)?")
_UNIX = [(1e8 * unit, 4e9 * unit) for unit in (1, 1e3, 1e6, 1e9)]  # from 1973 to 2096, in seconds to nanoseconds
_YEARS = 8e8, 2.2e9  # seconds since 1970, from 1995 to 2039
_FAR = 100
_SHOWN = 8  # columns that are listed, and the most kinds of events
_SURE = 20  # rows, below which the look of the cells proves nothing
_MOMENTS = 100_000  # numbers above it that never decrease are likelier times than weights: a day has 86,400 seconds


class Head(NamedTuple):
    """What is known about a table's columns before it is read.

    names : list of str, or numbers from 1 if there is no header; named : bool, whether there is one
    numeric : list of bool, whether each holds numbers
    cells : list of list of str, some non-blank cells of each
    sign : str, the delimiter, "" for tables without one
    ordered : bool, whether the positions mean anything
    """

    names: list
    named: bool
    numeric: list
    cells: list
    sign: str = ""
    ordered: bool = True

    @property
    def is_bare(self):
        """Whether the names mean nothing: there is no header, or they count from 0, as in data frames (bool)."""
        return not self.named or self.names == [str(place) for place in range(len(self.names))]

    def label(self, place):
        return repr(self.names[place]) if self.named else f"column {place + 1}"

    def shown(self):
        if self.named:
            return ", ".join(f"{i + 1} {name!r}" for i, name in enumerate(self.names))[:500]
        return "; ".join(f"{i + 1} with {', '.join(cells[:2])}" for i, cells in enumerate(self.cells))[:500]


class NameColumn(NamedTuple):
    """codes : ndarray, int64, (n_rows,), indices into `names`, -1 if empty; names : list of str, as written"""

    codes: np.ndarray
    names: list


class Batch(NamedTuple):
    """Some rows of one file or table.

    where : callable, a row's index, from 0, to text like ``file:line``; n_rows : int
    columns : dict, key -> an array of raw cells; once converted a NameColumn, ndarray float64 (n_rows,) or, for texts,
        a list of str, and None for a missing column
    labels : Labels, key -> what messages call the column
    """

    where: object
    n_rows: int
    columns: dict
    labels: dict

    def rows(self, kept):
        """Return a batch of the kept rows only. kept : bool, (n_rows,); the columns must be converted already"""
        if kept.all():
            return self
        places, columns = np.flatnonzero(kept), dict(self.columns)
        for key, values in self.columns.items():
            if isinstance(values, NameColumn):
                columns[key] = NameColumn(values.codes[kept], values.names)
            elif values is not None:
                columns[key] = values[kept]
        return Batch(lambda row: self.where(int(places[row])), len(places), columns, self.labels)


class Labels(dict):
    """What messages call each column that is read.

    said, hints : tuple of str, how each column was interpreted, and what may be wrong with that
    two_kinds : bool, the columns are named as users and items
    no_weight : str, what to type if a weight that was neither requested nor found by name is not one; else ""
    by_name : bool, all columns of names were found by their own names; names : tuple of str, of all columns
    n_columns : int, of the table
    """

    said = hints = names = ()
    two_kinds = by_name = False
    no_weight = ""
    n_columns = 0


def find_columns(where, columns, head):
    """Return the indices of the columns that were found (dict, key -> int, from 0), and `Labels`.

    InputError if one is missing, two are the same, or texts are numbers; DoubtError if it is not clear which to read
    """
    guess = _Guess(where, columns, head)
    places = guess.places()
    taken = {}  # place -> option
    for column in columns:
        place = places.get(column.key)
        if place is not None and taken.setdefault(place, column.option) != column.option:
            raise InputError(f"{where}: {taken[place]} and {column.option} are both column {place + 1}; name two")
        if column.kind == "text" and head.numeric[place]:
            figures = [any(map(str.isdigit, cell)) for cell in head.cells[place]]
            if 2 * sum(figures) >= len(figures):
                what = f"{head.label(place)} ({column.option}) holds numbers, not text; name another column"
                raise InputError(f"{where}: {what}. The columns are: {head.shown()}")
    labels = Labels({key: head.label(place) for key, place in places.items()})
    meanings = {c.key: guess.called[places[c.key]] for c in columns if c.kind == "name" and c.means}
    labels.names, labels.n_columns = tuple(head.names) if head.named else (), len(head.names)
    labels.by_name = head.named and all(meanings[c.key] in c.means for c in columns if c.key in meanings)
    labels.two_kinds = head.named and sorted(map(str, meanings.values())) == ["item", "user"]
    words = {key: f"{meaning}s" for key, meaning in meanings.items()} if labels.two_kinds else {}
    idle = [at for at in range(len(head.names)) if at not in places.values()]
    labels.said = (*_said(columns, places, head, words), *_not_used(idle, head))
    weight = next((c for c in columns if c.kind in ("weight", "amount") and c.key in places), None)
    if weight is not None and head.is_bare and (weight.kind == "amount" or weight.requested is None):
        numbers, give = _numbers(head.cells[places[weight.key]]), weight.spelt("--min-rating")
        if weight.kind == "weight":
            labels.no_weight = weight.typed(NONE)
            give = f"{weight.as_ratings}, or {labels.no_weight}"
        if len(numbers) >= 10 and _on_a_scale(numbers):
            labels.hints = (
                f"column {places[weight.key] + 1} is read as a weight, but looks like a rating; if it is a rating, "
                f"give {give}",
            )
    if {"user", "item"} & places.keys() and not columns[0].beside:
        labels.hints += _hint_of_events(idle, head)
    return places, labels


def _not_used(idle, head):
    """Yield one text that names the columns that are not read, if any; idle : list of int"""
    shown = [head.label(at)[:40] for at in idle[:_SHOWN]]
    if head.is_bare:
        shown = [" with ".join([one, *head.cells[at][:1]])[:60] for one, at in zip(shown, idle, strict=False)]
    if idle:
        yield f"not used: {', '.join(shown)}" + f" and {len(idle) - _SHOWN} more" * (len(idle) > _SHOWN)


def _hint_of_events(idle, head):
    """Return a hint (tuple of str, empty or one) if a column that is not read holds kinds of events."""
    for at in idle:
        kinds = list(dict.fromkeys(cell.strip() for cell in head.cells[at]))
        named = head.named and column_names.is_event(head.names[at])
        known = sum(map(column_names.names_event, kinds))
        if 1 < len(kinds) <= _SHOWN and (named or (known > 1 and 2 * known >= len(kinds))):
            place = head.names[at] if head.named else at
            return (
                f"rows with {', '.join(map(repr, kinds))} in {head.label(at)} count alike; if only some of these are "
                f"signs of liking, keep these, in pandas with t[t[{place!r}].isin([…])]",
            )
    return ()


def hint_of_weights(labels, weights):
    """Return a hint (tuple of str, empty or one) if the largest of many weights is more than half of their sum or, for
    guessed weights, far above the median.
    """
    total, largest = float(np.sum(weights)), float(np.max(weights, initial=0))
    middle = float(np.median(weights)) if labels.no_weight and len(weights) else 0
    if middle > 0 and largest >= _FAR * middle:
        return (
            f"the largest weight, {largest:g}, is {largest / middle:,.0f} times the median of {labels['weight']}; "
            f"if these are not weights, give {labels.no_weight}",
        )
    if len(weights) < _FAR or 2 * largest <= total:
        return ()
    return (
        f"one weight, {largest:g}, is more than half of the sum of all {len(weights):,}, {total:.3g}, which is "
        "the length of an epoch; remove that row, cap its weight, or set the length with --pairs-per-epoch",
    )


def refuse_names_as_weights(file, labels, heads, tails, weights, words):
    """Raise DoubtError if guessed weights are names of nodes, as in triples of integers or lists of neighbours.

    file : str or table, for the message; labels : Labels; words : list of str, the names of all nodes
    heads, tails : ndarray, (n_rows,), int; weights : ndarray, (n_rows,), float
    """
    if not labels.no_weight or len(weights) < _SURE or not (weights == np.floor(weights)).all():
        return
    n_heads, n_tails = (np.count_nonzero(np.bincount(ends)) for ends in (heads, tails))
    lists = labels.n_columns > 3 and n_heads == len(heads)
    if not lists and 2 * n_tails > n_heads:  # as in most graphs, which skip the rest
        return
    different, counts = np.unique(weights, return_counts=True)
    if 2 * len(different) < n_heads:  # few different weights are normal, even if nodes are numbers
        return
    grouped = 1 + np.count_nonzero(tails[1:] != tails[:-1]) == n_tails  # as in a matrix written by columns
    if not lists and (grouped or 2 * n_tails > len(different)):
        return
    known = set(words)
    if counts @ [f"{weight:.0f}" in known for weight in different] < 0.9 * len(weights):
        return
    first, third = (labels.names or "123")[::2][:2]
    what = f"triples of subject, relation and object: give --source-col {first} --target-col {third}"
    if lists:
        what = "lists of neighbours: awk '{gsub(/[,;|]/, FS); for (i = 2; i <= NF; i++) print $1, $i}' FILE > edges.txt"
    raise DoubtError(
        f"{file}: nearly all numbers in {labels['weight']}, where weights are expected, are names of nodes, as in "
        f"{what}; or give --weight-col {third} if they are weights"
    )


class _Guess:
    def __init__(self, where, columns, head):
        self.where, self.columns, self.head = where, columns, head
        self.called = [meaning for meaning, _ in column_names.meanings_of(head.names)]  # what each column means
        meant = column_names.columns_meant(head.names)  # by the clearest names, unless they hold times
        meant = {meaning: [at for at in places if not self._is_time(at)] for meaning, places in meant.items()}
        self.meant = {meaning: places for meaning, places in meant.items() if places}
        self.order = list(range(len(head.names)))  # the columns counted by position
        labelled = head.names[1:] if any(column.of_labels for column in columns) else None
        if len(head.names) >= 3 and column_names.numbers_rows(head.names[0], labelled):
            first = head.cells[0]
            numbers = all(cell.strip().isdecimal() for cell in first) or head.names[0].strip()
            if len(set(first)) == len(first) and numbers:  # a column of row numbers is not counted
                self.order = self.order[1:]
        if labelled and self.order[0] == 0 and column_names.numbers_rows(head.names[0]):  # then a title is no label
            self.order = [at for at in self.order if head.names[at].strip().lower() not in column_names.TITLES]

    def places(self):
        requested = {c.key: self._requested(c) for c in self.columns if c.requested is not None} | self._labels()
        open_names = [c for c in self.columns if c.key not in requested and c.means and c.kind == "name"]
        if len(open_names) == 2 and not requested:
            self._refuse_matrix(open_names)
        found = requested | (self._names(open_names, set(requested.values())) if open_names else {})
        for column in self.columns:
            if column.key not in found:
                found[column.key] = self._other(column, set(found.values()))
        return {column.key: found[column.key] for column in self.columns if found[column.key] is not None}

    def _refuse_matrix(self, columns):
        """Raise DoubtError for a matrix: the header and the first column have the same names; or no column has a common
        name, and there are many columns of numbers, as many as rows, or some after a column of distinct names.
        """
        head = self.head
        first, *others = head.cells
        n_rows, n_columns = len(first), len(head.names)
        above = head.names[1:] if head.named else [own[0] for own in others if len(own) > n_rows]  # the corner is blank
        pairs = list(zip(first, above, strict=False))
        labelled = len(pairs) > 2 and all(head.numeric[1:]) and all(a == b for a, b in pairs)
        unnamed = not self.meant and all(head.numeric) and (n_columns > 8 or n_rows == n_columns > 4)
        inner = range(1, n_columns - (not head.numeric[-1]))  # a last column may label the rows
        pairs_of_names = column_names.twins(head.names)
        pair = pairs_of_names[0] if len(pairs_of_names) == 1 else ()
        known = 0 in pair or (pair and head.numeric[0]) or any(at in inner for own in self.meant.values() for at in own)
        counted = head.named and not known and len(inner) > 2 and all(head.numeric[at] for at in inner)
        counted = counted and self.order[0] == 0 and not any(column.of_labels for column in self.columns)
        counted = counted and n_rows * len(inner) > 2 * _SURE and len(set(first)) == n_rows
        if not labelled and not unnamed and not counted:
            return
        keys = [c.key for c in columns] + [c.key for c in self.columns if c.key in ("weight", "rating")][:1]
        sign = "[ \t]+" if head.sign == " " else head.sign
        read = f"import pandas; t = pandas.read_csv('FILE', sep={sign!r}"
        write = (
            f"; t = t.stack(); t[t > 0].to_csv('pairs.csv', header={keys[2:] or ['rating']}, index_label={keys[:2]})"
        )
        program = f"{read}, header=None){write}" if not head.named and n_rows > 2 else ""
        headed = not head.named and first and column_names.meant_by(first[0]) is not None
        if labelled or headed or (counted and not unnamed):
            above = int(self.where.rpartition(":")[2]) - 1 if head.sign else 0  # ids of rows keep their zeros
            skipped = f", skiprows={above}" if above else ""
            program = f"{read}, index_col=0, converters={{0: str}}{skipped}).select_dtypes('number'){write}"
        remedy = f', for example by: python -c "{program}"' if head.sign and program else ""
        values = _flags(columns, range(1, len(columns) + 1))
        raise DoubtError(
            f"{self.where}: looks like a matrix, but a table has one pair per row; write a row for each pair{remedy}"
            + f" (if it is a table after all, give {values})" * bool(values)
        )

    def _labels(self):
        """Return the index of a label column, if one is wanted and has such a name (dict); positions then skip it."""
        places = [at for at, name in enumerate(self.head.names) if column_names.is_label(name)]
        columns = [column for column in self.columns if column.of_labels] if places else []
        if columns:
            self._refuse_several(places, [self.columns[0], *columns])
            self.order = [at for at in self.order if at not in places]
        return {column.key: places[0] for column in columns}

    def _requested(self, column):
        requested, names, option = column.requested, self.head.names, column.spelt()
        if requested == NONE and column.kind in ("weight", "amount") and NONE not in names:
            return None
        if self.head.named and str(requested) in names:  # the name of a data frame's column may be a number
            requested = str(requested)
        elif not isinstance(requested, str) or requested.isdecimal():
            return self._within(column, requested)
        places = [at for at, name in enumerate(names) if name == requested]
        places = places or [at for at, name in enumerate(names) if column_names.without_kind(name) == requested]
        if not places:
            hint = did_you_mean(requested, names, shown=-1)
            plain = f"; for plain text give {column.typed(NONE)}" if column.kind == "text" else ""
            raise NoColumnError(
                f"{self.where}: no column is called {requested!r} ({option}){hint} The columns are: "
                f"{', '.join(names)[:500]}{plain}"
            )
        if len(places) > 1:
            both = " and ".join(str(at + 1) for at in places)
            raise InputError(f"{self.where}: the columns {both} are called {requested!r}; give {option} a number")
        return places[0]

    def _within(self, column, requested):
        names, place = self.head.names, int(requested) - 1
        if 0 <= place < len(names):
            return place
        delimiter = "" if column.in_memory else ", or another --delimiter"
        raise NoColumnError(
            f"{self.where}: there is no column {requested} ({column.spelt()}), only {len(names)}: "
            f"{', '.join(names)[:500]}; give its name or number{delimiter}"
        )

    def _by_position(self, column):
        if column.default <= len(self.order):
            return self.order[column.default - 1]
        return self._within(column, column.default)

    def _names(self, columns, taken):
        fits = {}
        for meanings in zip(*(column.means for column in columns), strict=True):
            places = [tuple(at for at in self.meant.get(one, []) if at not in taken) for one in meanings]
            if len(set(meanings)) == len(meanings) and all(places):
                fits[tuple(places)] = meanings
        if not fits and len(columns) == 2 and self.head.named and "source" in columns[0].means:
            pairs, first = [] if columns[1].of_labels else column_names.twins(self.head.names), tuple(self.order[:2])
            if taken & set(sum(pairs, ())) or len(set(sum(pairs, ()))) < 2 * len(pairs):  # some form series
                pairs = []
            if len(pairs) > 1 and first not in pairs:
                both = ", ".join(" and ".join(map(self.head.label, pair)) for pair in pairs)
                self._ask(f"several pairs of columns fit: {both}", columns, [place + 1 for place in pairs[0]])
            if pairs:
                fits[tuple((place,) for place in (first if first in pairs else pairs[0]))] = ()
        several = next((p for fit in fits for p in fit if len(p) > 1), ())
        if len(fits) > 1:
            several = several or sorted({p for fit in fits for p in sum(fit, ())})
        self._refuse_several(several, columns)
        if fits:
            return {c.key: places[0] for c, places in zip(columns, next(iter(fits)), strict=True)}
        ends = [at for at in self.order if self.called[at] is None and not self._is_time(at)]
        ends = [at for at in ends if at in self.order[:2] or not self.head.numeric[at]]  # may hold names
        unclear = len(ends) > 3 and not self.head.is_bare
        if not self.head.ordered or (unclear and not any(self.meant.get(one) for c in columns for one in c.means)):
            self._ask(f"no column names match {' and '.join(column.words for column in columns)}", columns)
        found = {column.key: self._by_position(column) for column in columns}
        self._check_positions(columns, found, taken)
        return found

    def _refuse_several(self, places, columns):
        if len(places) > 1:
            self._ask("several columns fit: " + " and ".join(map(self.head.label, places)), columns)

    def _check_positions(self, columns, found, taken):
        if "source" in columns[0].means and self._is_triples() and found[columns[-1].key] == 1:
            why = "column 2, where targets are expected, looks like relations between columns 1 and 3"
            self._ask(why, columns, [1, 3][-len(columns) :])
        if "source" in columns[0].means and self._is_timed() and found[columns[0].key] == 0:
            why = "the numbers in column 1 never decrease, like times or row numbers, and columns 2 and 3 share names"
            self._ask(why, columns, [2, 3][-len(columns) :])
        texts = [at for at in self.order[2:] if not self.head.numeric[at]]  # some may be sources or targets
        several = "source" in columns[0].means and len(self.order) > 3 and texts
        for column in columns:
            place = found[column.key]
            label, cells = self.head.label(place), self.head.cells[place]
            if self.called[place] not in (None, *column.means):
                why = f"column {place + 1}, where {column.words} are expected, is called {self.head.names[place]!r}"
                self._ask(why, columns)
            if self._is_time(place):
                why = "holds times"
            elif not cells and any(self.head.cells) and not column.may_be_empty:
                why = "is empty in all rows examined"
            elif several and column is columns[-1] and len(cells) >= _SURE and len(set(cells)) == 1:
                why = f"holds {cells[0]!r} in all rows examined"
            else:
                continue
            self._ask(f"{label}, where {column.words} are expected, {why}", columns, taken=[place])
        self._refuse_lines(columns, found)
        one, other = (self.head.cells[found[column.key]] for column in (columns[0], columns[-1]))
        n_names = {len(set(one)), len(set(other)), len(set(zip(one, other, strict=False)))}
        matched = len(one) == len(other) >= _SURE and len(n_names) == 1 and 2 * max(n_names) <= len(one)
        if several and len(columns) == 2 and matched:
            both = " and ".join(self.head.label(found[column.key]) for column in columns)
            self._ask(f"{both} name the same things, one to one", columns, taken=[found[columns[1].key]])
        used = taken | set(found.values())
        means = {one for column in columns for one in column.means}
        for meaning, places in self.meant.items():
            if meaning in _AMONG & means and used.isdisjoint(places):
                unread = f"{self.head.label(places[0])} is not among the columns that would be read"
                self._ask(f"{unread}, but its name fits", columns)

    def _refuse_lines(self, columns, found):
        """Raise DoubtError if columns without names, after that of items, hold items, too, as lines of baskets do."""
        last = found[columns[-1].key]
        if not self.head.is_bare or columns[0].key not in ("user", "item") or columns[-1].in_memory:
            return
        items, behind = set(self.head.cells[last]), [set(self.head.cells[at]) for at in self.order if at > last]
        alike = bool(behind) and all(2 * len(own & items) > len(own) for own in behind)
        if alike and not self.head.numeric[last] and len(self.head.cells[last]) >= _SURE:
            why = f"{len(behind) + 1} columns hold the same names, like lines of items, which --baskets reads"
            self._ask(why, columns, [place + 1 for place in found.values()][: len(columns)])

    def _other(self, column, taken):
        """Return the index of a weight, a rating, or a column that only has a `default`; None without one."""
        named = [at for meaning in column.means for at in self.meant.get(meaning, []) if at not in taken]
        if column.kind == "amount":
            named = [at for at in named if self.head.numeric[at]]
            free = [at for at in self.order if self.head.numeric[at] and at not in taken]
            quantities = [at for at in free if column_names.is_quantity(self.head.names[at])]  # some may be returns
            place = next(iter(sorted(quantities, key=lambda at: at not in named) or named), None)
            if place is None and not set(free) & set(self.meant.get("rating", [])):
                self._refuse_answers(column, taken)
            return place
        self._refuse_several(named, [column])
        if named:
            return named[0]
        if column.default is None:
            return None
        if column.kind == "weight":
            return self._weight(column, taken)
        free = [at for at in self.order if at not in taken and self.head.numeric[at] and not self._is_time(at)]
        alone = len(free) == 1 and self.called[free[0]] is None
        if not self.head.ordered or (column.means and not self.head.is_bare and not alone):
            self._ask(f"no column name matches {column.words}", [column], taken=taken)
        place = free[0] if column.means and not self.head.is_bare else self._by_position(column)
        if column.means and (why := self._no_rating(place, taken)):
            why = f"column {place + 1}, where {column.words} are expected, holds {why}"
            self._ask(why, [column], taken={*taken, place})
        return place

    def _refuse_answers(self, column, taken):
        """Raise DoubtError if a log without ratings or amounts has a column of responses to the items shown."""
        if column.beside or any(one.key == "rating" for one in self.columns):
            return
        for place, (name, cells) in enumerate(zip(self.head.names, self.head.cells, strict=True)):
            if not column_names.is_answer(name) or place in taken:
                continue
            numbers = _numbers(TRUTHS.get(cell.strip().lower(), cell) for cell in cells)
            if set(numbers) == {0, 1} and len(numbers) >= _SURE and 1 < sum(numbers) < len(numbers) - 1:
                no, yes = (cells[numbers.index(answer)].strip() for answer in (0, 1))
                flags = _joined([column.typed(name, "--rating-col"), column.typed(1, "--min-rating")], column)
                raise DoubtError(
                    f"{self.where}: {self.head.label(place)} holds {no} and {yes}, and rows with {no} would count like "
                    f"those with {yes}; give {flags} to leave them out, or {column.typed(NONE, '--rating-col')} to "
                    "keep all"
                )

    def _no_rating(self, place, taken):
        """Return what a column without a clear name holds (str) if it cannot be ratings, else None."""
        numbers, *others = (_numbers(self.head.cells[at]) for at in [place, *set(self.order) - taken - {place}])
        if are_times(self.head.cells[place]):
            return "times"
        likelier = any(len(set(own)) > 2 and _like_ratings(own) for own in others)
        likelier |= len(self.order) > 3 and min(numbers, default=0) > 100
        other = len(numbers) >= _SURE and likelier and not _like_ratings(numbers)
        return "numbers that do not look like ratings" if other else None

    def _weight(self, column, taken):
        head, ours = self.head, column.option.startswith("--")  # not for held-out pairs, which then count one each
        rating = self.meant.get("rating", [])
        if rating and ours and rating[0] not in taken:
            name, why = head.names[rating[0]], ", which may or may not be a weight. Give "
            if self.columns[0].key != "source":
                why = ", and a rating is not a weight: a low one is no sign of liking. Give "
                why += f"{column.as_ratings}, or "
            raise InputError(
                f"{self.where}: column {rating[0] + 1} is called {name!r}{why}{column.typed(name)} to use it "
                f"as a weight, or {column.typed(NONE)} to ignore it"
            )
        place = column.default - 1
        if not head.is_bare or place >= len(head.names) or place in taken or not head.numeric[place]:
            return None
        cells, beside = head.cells[place], head.cells[place + 1 : place + 2]
        numbers, behind = _numbers(cells), [at for at in range(place + 1, len(head.names)) if head.cells[at]]
        whole = len(numbers) >= _SURE and all(number % 1 == 0 for number in numbers)
        if are_times(cells):
            why = f"column {place + 1}, where weights are expected, holds times"
        elif any(map(are_times, beside)) and _like_ratings(numbers):
            why = f"columns {place + 1} and {place + 2} look like ratings and their times, not weights; give a log of "
            why += f"ratings as {column.as_ratings}"
        elif (
            whole
            and sorted(numbers) == numbers
            and 2 * len(set(numbers)) > len(numbers)
            and (numbers[0] == 0 or numbers[-1] > _MOMENTS)
        ):
            why = f"the numbers in column {place + 1}, where weights are expected, never decrease, like times; if they "
            why += f"are weights, give {column.typed(place + 1)}"
        elif whole and min(numbers) > 100 and any(not head.numeric[at] or are_times(head.cells[at]) for at in behind):
            why = f"column {place + 1}, where weights are expected, may hold ids, as times or text follow it; "
            why += f"if it holds weights, give {column.typed(place + 1)}"
        else:
            return place
        if ours:
            self._ask(why, [column], [NONE])
        return None

    def _is_triples(self):
        """Return whether three columns of names, without a header, are subject, relation and object."""
        if self.head.named or len(self.head.names) != 3 or any(self.head.numeric) or not all(self.head.cells):
            return False
        subjects, relations, objects = map(set, self.head.cells)
        few = 2 * len(relations) <= min(len(subjects), len(objects))
        return not relations & (subjects | objects) and (few or bool(subjects & objects))

    def _is_timed(self):
        """Return whether the first three columns of a table without a header hold times, sources and targets."""
        if self.head.named or len(self.called) < 3:
            return False
        times, *ends = map(_numbers, self.head.cells[:3])
        sources, targets = map(set, ends)
        if len(times) < _SURE or sorted(times) != times or not targets or min(targets) <= 1:  # counts begin with 1
            return False
        return 2 * len(sources & targets) >= len(sources | targets) and not (sources | targets) & set(times)

    def _is_time(self, place):
        """Return whether a column holds times; one named as a user or the like does not, but "start" or "end" may."""
        cells = self.head.cells[place]
        if self.called[place] in _AMONG:
            return self.head.names[place].strip().lower() in ("start", "end") and are_times(cells)
        return are_dates(cells) or (self.head.is_bare and len(self.order) > 2 and _surely_times(cells))

    def _ask(self, why, columns, values=None, taken=()):
        """Raise DoubtError with what to type; values : list, one per column; taken : indices not to suggest"""
        likeliest = self._likeliest(columns, taken)
        names = ["COLUMN" if place is None else self.head.names[place] for place in likeliest]
        values = values or [
            name if re.fullmatch(r"[\w.:-]+", name) else place + 1 for name, place in zip(names, likeliest, strict=True)
        ]
        flags = _flags(columns, values)
        order = f"name or order the columns as {', '.join(column.key for column in self.columns)}"
        remedy = f"choose with {flags}" if flags else order
        raise DoubtError(f"{self.where}: {why}. The columns are: {self.head.shown()}; {remedy}")

    def _likeliest(self, columns, taken):
        """Return the likeliest index of each column (list of int, or None if none is likely), all different."""
        together = zip(*(column.means for column in columns), strict=False)
        together = max(together, key=lambda one: sum(map(self.meant.__contains__, one)), default=[None] * len(columns))
        named = [self.meant.get(meaning, []) for meaning in together]
        taken = {self._requested(c) for c in self.columns if c.requested is not None}.union(taken)
        found, everywhere = {}, range(len(self.called))
        for at in sorted(range(len(columns)), key=lambda at: not named[at]):
            column = columns[at]
            own = [place for meaning in column.means for place in self.meant.get(meaning, [])]
            likely = [place for place in everywhere if self._is_likely(place, column)]
            own += [place for place in likely if column_names.last_part_means(self.head.names[place]) in column.means]
            if not self.head.named or len(self.called) <= 3 or column.kind != "name":
                own += sorted(likely, key=lambda place: place + 1 != column.default)
            found[at] = next((place for place in [*named[at], *own] if place not in taken), None)
            taken.add(found[at])
        return [found[at] for at in range(len(columns))]

    def _is_likely(self, place, column):
        """Return whether neither the name nor the cells of a column show that it is another one."""
        cells, numbers = self.head.cells[place], _numbers(self.head.cells[place])
        meanings = {self.called[place], column_names.last_part_means(self.head.names[place])}
        if place not in self.order or meanings & {"time", "rating", "weight"}.difference(column.means):
            return False
        if column.kind != "name":
            return _like_ratings(numbers)
        return bool(cells) and not are_times(cells) and all(number % 1 == 0 for number in numbers)


def _flags(columns, values):
    """Return what to type (str) for the columns (list of layout.Column) that have an option: a value each, or ""."""
    typed = [c.typed(value) for c, value in zip(columns, values, strict=True) if c.option.startswith("--")]
    return _joined(typed, columns[0])


def _joined(typed, column):
    """Return several options (list of str) as one text, as the user types those of a layout.Column."""
    return (", " if column.in_memory else " ").join(typed)


def are_times(cells):
    """Return whether all of these cells (sequence of str) are dates, or integers like Unix times."""
    numbers = _numbers(cells)
    unix = bool(numbers) and any(first < min(numbers) and max(numbers) < last for first, last in _UNIX)
    return (unix and all(number % 1 == 0 for number in numbers)) or are_dates(cells)


def _surely_times(cells):
    """Return whether many numbers are rather times of these decades, or days as YYYYMMDD, than ids."""
    numbers = _numbers(cells)
    if len(numbers) < _SURE or any(number % 1 for number in numbers):
        return False
    first, last = min(numbers), max(numbers)
    recent = any(_YEARS[0] * unit < first < last < _YEARS[1] * unit for unit in (1, 1e3, 1e6, 1e9))
    return recent or all(_DAY.fullmatch(cell.strip()) for cell in cells)


def are_dates(cells):
    return bool(cells) and all(_DATE.fullmatch(cell.strip()) for cell in cells)


def _numbers(cells):
    try:
        return [float(cell) for cell in cells]
    except ValueError:
        return []


def _like_ratings(numbers):
    return bool(numbers) and all(0 <= 2 * one <= 20 and 2 * one == int(2 * one) for one in numbers)


def _on_a_scale(numbers):
    """Return whether numbers look like ratings up to 5, 10 or 100; 255 means none, as in Yahoo's music ratings."""
    scales = numbers, [number / 10 for number in numbers if number != 255]
    return any(_like_ratings(own) and max(own) in (5, 10) and median(own) >= 3 for own in scales)


def _said(columns, places, head, words):
    """Yield in words how each column was interpreted; words : dict, key -> str, what the names are"""
    for column in columns:
        place = places.get(column.key)
        if place is not None:
            called = words.get(column.key) or column.words or column.key
            said = f"{called} = {'column ' if head.named else ''}{head.label(place)}"
            if column.kind == "amount" and column.requested is None:  # a weight only if it is requested
                said += ", for returns only" if column_names.is_quantity(head.names[place]) else ", not used"
                would = column.option.startswith("--")
                said += f", {column.typed(head.names[place])} would use it as a weight" if would else ""
            yield said
        elif column.kind == "weight":
            behind = range(1 + max(places.values()), len(head.names)) if head.named else ()
            idle = [at for at in behind if head.numeric[at] and not column_names.meant_by(head.names[at])]
            ours = len(idle) == 1 and column.option.startswith("--") and column.requested is None
            more = f", {column.typed(head.names[idle[0]])} would use that column" if ours else ""
            yield f"no weights{more}"
        elif column.kind == "time":
            times = column_names.columns_meant(head.names).get("time", [])
            more = f", {column.typed(head.names[times[0]])} would order them" if times else ""
            yield f"no times, histories in file order{more}"
