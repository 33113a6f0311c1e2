"""How a delimited file is laid out: its delimiter, whether it has a header, and which columns are meant."""

import csv
import io
import re
from collections import Counter
from dataclasses import dataclass

from ...errors import ConfigError, InputError, did_you_mean

DELIMITERS = {"tab": "\t", "::": "::", "semicolon": ";", "pipe": "|", "comma": ",", "blank": " "}  # name -> text
STAND_IN = "\x1f"  # the unit separator takes the place of `::`, as parsers know delimiters of one byte only
_SAMPLE_ROWS = 100
_DATE = re.compile(r"\d[-\d/:.TZ+ ]*")
_COMMA = re.compile(r"[-+]?\d+,\d+")
_WEIGHT = re.compile(r"weights?|counts?|freq|frequency|plays", re.IGNORECASE)
_RATING = re.compile(r"(user[ _-]?)?(ratings?|stars?|scores?|grades?)", re.IGNORECASE)
_USERS, _ITEMS = "user|customer|query|session", "item|movie|film|product|track|song|artist|book"
_USER, _ITEM, _TARGET = (
    re.compile(rf"({names})[ _-]?(id|name)?", re.IGNORECASE) for names in (_USERS, _ITEMS, "target")
)
_NODE = "source|src|dst|node|(from|to)[ _-]?node"
_USUAL = re.compile(
    rf"(({_USERS}|{_ITEMS}|target|{_NODE})[ _-]?(id|name|[ij12])?)|ratings?|timestamp|{_WEIGHT.pattern}", re.IGNORECASE
)


@dataclass(frozen=True)
class Column:
    """A column that is asked for.

    key : str, by which a batch has it; option : str, the option that names it, for messages
    kind : "name" (text), "number", "weight" (0 or more) or "time"
    asked : str or int, its name in the header or its number from 1 on; None for `default`
    default : int, a number from 1 on, or None for a column that need not be there
    if_number : bool, `default` holds only if there is such a column and numbers stand in it
    may_be_empty : bool, whether a name may be empty
    above_zero : bool, whether a weight of 0 is a mistake
    """

    key: str
    option: str
    kind: str
    asked: str | int | None = None
    default: int | None = None
    if_number: bool = False
    may_be_empty: bool = False
    above_zero: bool = False


@dataclass(frozen=True)
class Layout:
    """How one file is to be read.

    delimiter : str, of one byte (a blank: any number of blanks and tabs); quoting : bool; header : bool
    n_fields : int, in each row; places : dict, key -> place from 0 on or None; labels : dict, key -> words for messages
    """

    delimiter: str
    quoting: bool
    header: bool
    n_fields: int
    places: dict
    labels: dict


def delimiter_of(text):
    r"""Return the delimiter that `text` means: itself, a word (tab, comma, blank, …), or ``\t``; None for None."""
    if text is None:
        return None
    if text in ("\\t", "space"):
        return "\t" if text == "\\t" else " "
    chosen = DELIMITERS.get(text, text)
    if chosen != "::" and (len(chosen.encode()) != 1 or chosen in '\r\n"\0' or chosen.isalnum()):
        known = ", ".join(DELIMITERS)
        raise ConfigError(
            f"the delimiter must be a single sign that stands in no name, or one of {known}; not {text!r}"
        )
    return chosen


def named(delimiter):
    """Return what messages call a delimiter."""
    return next((name for name, text in DELIMITERS.items() if text == delimiter), repr(delimiter))


def find_layout(name, sample, columns, delimiter=None, header=None):
    """Settle how a file is read, by its first lines.

    Parameters
    ----------
    name : str
        Of the file, for messages.
    sample : str
        Whole lines from the file's beginning, at least one that is not blank; none need be complete rows but the first.
    columns : list of Column
    delimiter : str, optional
        As `delimiter_of` returns it; detected if None.
    header : bool, optional
        Detected if None.

    Returns
    -------
    Layout

    Raises
    ------
    InputError
        If there is only one column, a column asked for is missing or stands twice, or two are the same.
    """
    first_line = sum(not line.strip() for line in sample[: len(sample) - len(sample.lstrip())].split("\n")[:-1]) + 1
    where = f"{name}:{first_line}"
    names = [column.asked for column in columns if _is_name(column.asked)]
    chosen = delimiter or _found_delimiter(where, sample, names)
    rows = rows_of(sample, chosen)
    if len(rows[0]) == 1:
        found = _candidates(sample)
        instead = f" (it looks like {named(found[0])})" if found else ""
        raise InputError(
            f"{where}: only one column found with the delimiter {named(chosen)}, in {_shown(sample)}; "
            f"give the right --delimiter{instead}"
        )
    has_header = _has_header(rows, names) if header is None else header
    if names and header is False:
        raise ConfigError(f"column {names[0]!r}: without a header, columns go by their numbers, from 1 on")
    head = [cell.strip() for cell in rows[0]]
    below = [row for row in rows[has_header:] if len(row) == len(head)]
    numeric = [mostly_numbers(cells) or (has_header and is_weight(head[i])) for i, cells in _columns_of(below, head)]
    places = find_columns(where, columns, head, numeric)
    labels = {
        key: repr(head[place]) if has_header else f"column {place + 1}"
        for key, place in places.items()
        if place is not None
    }
    single = STAND_IN if chosen == "::" else chosen
    return Layout(single, chosen != "::", has_header, len(rows[0]), places, labels)


def rows_of(text, delimiter):
    """Return the first rows of `text` as lists of cells."""
    quoting = csv.QUOTE_NONE if delimiter == "::" else csv.QUOTE_MINIMAL
    if delimiter == "::":
        text, delimiter = text.replace("::", STAND_IN), STAND_IN
    elif delimiter == " ":
        text = re.sub(r"(?m)^ +| +$", "", re.sub(r"[ \t]+", " ", text))
    rows = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, quoting=quoting)
    try:
        for row in reader:
            if len(row) > 1 or (row and row[0].strip()):
                rows.append(row)
            if len(rows) == _SAMPLE_ROWS:
                break
    except csv.Error:  # a cell of more than 131 072 signs, after an unclosed quote for one; what follows will tell
        pass
    return rows or [[text]]


def _candidates(sample):
    """Return the delimiters that could be, the likeliest first: most rows agree on a number of fields, then the most.

    A blank stands in names too, so that it comes last.
    """
    found = []
    for order, delimiter in enumerate(DELIMITERS.values()):
        sizes = Counter(len(row) for row in rows_of(sample, delimiter))
        agree, fields = max(((count, fields) for fields, count in sizes.items() if fields > 1), default=(0, 0))
        share = agree / sizes.total()
        if share >= 0.5:
            found.append((delimiter == " ", share < 0.9, -fields, order, delimiter))
    return [key[-1] for key in sorted(found)]


def _found_delimiter(where, sample, names):
    found = _candidates(sample)
    with_names = [delimiter for delimiter in found if set(names) <= set(map(str.strip, rows_of(sample, delimiter)[0]))]
    if not found:
        raise InputError(
            f"{where}: only one column found: neither tab, ::, semicolon, pipe, comma nor blanks part the first lines "
            f"alike, as {_shown(sample)}; name what does with --delimiter"
        )
    return (with_names or found)[0]


def _shown(sample):
    return repr(sample.strip().split("\n")[0][:60])


def _is_name(asked):
    return isinstance(asked, str) and not asked.isdecimal()


def is_number(cell):
    try:
        float(cell)
    except ValueError:
        return False
    return True


def is_weight(name):
    """Return whether a column of this name holds weights."""
    return _WEIGHT.fullmatch(name.strip()) is not None


def columns_by_name(head):
    """Return which columns are meant, by their names alone.

    Parameters
    ----------
    head : list of str

    Returns
    -------
    dict
        "item" and "target", str: centres and targets, which are users and items where "rectangular" is True;
        "weight" and "rating", str. What is missing, or could be two columns, is left out.
    """
    found = {}
    patterns = {"user": _USER, "item": _ITEM, "target": _TARGET, "weight": _WEIGHT, "rating": _RATING}
    for key, pattern in patterns.items():
        fitting = [name for name in head if pattern.fullmatch(name.strip())]
        if len(fitting) == 1:
            found[key] = fitting[0]
    rectangular = "user" in found and "item" in found
    if rectangular:
        found["item"], found["target"] = found.pop("user"), found["item"]
    return found | {"rectangular": rectangular}


def _columns_of(rows, head):
    """Return (place, cells that are not blank) of each column."""
    return [(i, [cell for row in rows if (cell := row[i].strip())]) for i in range(len(head))]


def mostly_numbers(cells):
    """Return whether at least half of these cells are numbers, or are meant to be."""
    return bool(cells) and 2 * sum(map(_is_amount, cells)) >= len(cells)


def _has_header(rows, names):
    """Return whether the first row is a header: it has the names asked for, or two that are usual for columns and no
    number, or no number where below most are.
    """
    first = [cell.strip() for cell in rows[0]]
    if names and set(names) <= set(first):
        return True
    if any(map(_is_figures, first)):
        return False
    if sum(_USUAL.fullmatch(cell) is not None for cell in first) >= 2:
        return True
    columns = _columns_of([row for row in rows[1:] if len(row) == len(first)], first)
    return any(sum(map(_is_figures, cells)) > len(cells) / 2 for _, cells in columns)


def _is_amount(cell):
    """Return whether a cell is a number, or is meant to be one: with a comma before its decimals."""
    return is_number(cell) or _COMMA.fullmatch(cell) is not None


def _is_figures(cell):
    """Return whether a cell is a number or a date written in digits."""
    return _is_amount(cell) or _DATE.fullmatch(cell) is not None


def find_columns(where, columns, head, numeric):
    """Return the places of columns: dict, key -> int from 0 on, None for one that need not be there and is not.

    Parameters
    ----------
    where : str
        For messages.
    columns : list of Column
    head : list of str
        The columns' names.
    numeric : list of bool
        Whether each holds numbers.

    Raises
    ------
    InputError
        If one is missing or not to be told from another, or two are the same.
    """
    places = {column.key: _place(where, column, head, numeric) for column in columns}
    taken = {}  # place -> option
    for column in columns:
        place = places[column.key]
        if place is not None and taken.setdefault(place, column.option) != column.option:
            raise InputError(
                f"{where}: {taken[place]} and {column.option} are both column {place + 1}; name two columns"
            )
    return places


def _place(where, column, head, numeric):
    asked = column.default if column.asked is None else column.asked
    if asked is None:
        return None
    shown = ", ".join(head)[:500]
    if _is_name(asked):
        if asked not in head:
            hint = did_you_mean(asked, head, shown=-1)
            raise InputError(f"{where}: no column is called {asked!r} ({column.option}){hint} The columns are: {shown}")
        if head.count(asked) > 1:
            both = " and ".join(str(i + 1) for i, cell in enumerate(head) if cell == asked)
            raise InputError(f"{where}: {asked!r} stands over the columns {both}; give {column.option} the number")
        return head.index(asked)
    place = int(asked) - 1
    if column.if_number and column.asked is None:
        if place >= len(head) or not numeric[place]:
            return None
        if _RATING.fullmatch(head[place].strip()) is None:
            return place
        if column.option.startswith("--"):
            raise InputError(
                f"{where}: column {asked} is called {head[place]!r}, and a rating is no weight: a low one is no sign "
                f"of liking. Give --ratings with --min-rating, or {column.option} {head[place]} to take it for a weight"
            )
        return None  # of held-out pairs, which then count one each
    if not 0 <= place < len(head):
        raise InputError(
            f"{where}: there is no column {asked} ({column.option}), only {len(head)}: {shown}; "
            "give its name or number, or another --delimiter"
        )
    return place
