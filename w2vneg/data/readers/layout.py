"""How a delimited file is laid out: its delimiter, whether it has a header, and which columns to read."""

import csv
import io
import re
import shlex
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice

from ...ground.errors import ConfigError, DoubtError, InputError, NoColumnError
from .column_names import columns_meant, is_label, meant_by, names_things, sound_like_columns, twins, without_kind
from .columns import Head, find_columns

DELIMITERS = {"tab": "\t", "::": "::", "semicolon": ";", "pipe": "|", "comma": ",", "^A": "\1", "blank": " "}
STAND_IN = "\x1f"  # the unit separator replaces `::`, as parsers accept only delimiters of one byte
_SAMPLE_ROWS = 100
_SHORTEST, _RECUR = 20, 0.9  # number of rows, and share of recurring names, from which a unique first row is odd
_FEW = 5  # rows, below which twins are no header
_DATE = re.compile(r"\d[-\d/:.TZ+ ]*")
_SEP = re.compile(r'"?sep=(.|\\t|\t)"?', re.IGNORECASE)
_FIELDS = re.compile(r"#fields:?\s", re.IGNORECASE)  # before the column names in logs
_COMMA = re.compile(r"[-+]?\d+,\d+")
_CENTS = re.compile(r"[-+]?\d+(,\d\d)?")  # amounts of money
_ID = re.compile(r"[A-Za-z]+(_[A-Za-z]+)*(_id|_ID|(?<=[a-z])Id)")  # such as player_id, playerId
_RULE = re.compile("--[- ]*")
_DIGITS, _LETTERS = re.compile(r"\d+"), re.compile(r"[^\W\d]+")
_KINDS = {"item", "word", "node", "product", "movie", "user", "gene", "protein", "entity", "term", "vertex", "id"}


@dataclass(frozen=True)
class Column:
    """A column to read.

    key : str, its key in a batch; option : str, the option that names it, for messages
    kind : "name" (a word), "number", "weight" (0 or more; without a header, only if its numbers may be weights),
        "amount" (0 or more, or missing; only a column of numbers), "time" or "text"
    requested : str or int, its name in the header or its number from 1; None: by its meaning, else at `default`
    default : int, a number from 1, or None for an optional column
    means : tuple of str, what its name may mean (`column_names`), likeliest first; for two columns of names, the
        meanings at the same index go together; words : str, what it holds, for messages
    may_be_empty : bool, a name may be empty; above_zero : bool, a weight of 0 is an error
    lenient : bool, a bad cell is marked, as code -1 or NaN, instead of refused
    of_labels : bool, prefer the column with a name for labels (`column_names.is_label`), if there is one
    beside : bool, it is in a table beside the training data, which has no layout options; in_memory : bool, it is in a
        table passed from Python
    """

    key: str
    option: str
    kind: str
    requested: str | int | None = None
    default: int | None = None
    means: tuple = ()
    words: str = ""
    may_be_empty: bool = False
    above_zero: bool = False
    lenient: bool = False
    of_labels: bool = False
    beside: bool = False
    in_memory: bool = False

    def spelt(self, option=None):
        """Return its option, or another one, as the user writes it: ``--item-col``, or in Python ``item_col``."""
        option = option or self.option
        return option.removeprefix("--").replace("-", "_") if self.in_memory else option

    def typed(self, value, option=None):
        """Return an option with its value: ``--item-col user``, or in Python ``item_col='user'``."""
        return self.spelt(option) + (f"={value!r}" if self.in_memory else f" {shlex.quote(str(value))}")

    @property
    def as_ratings(self):
        """The options for a log of ratings (str)."""
        return "Input('ratings', …) with min_rating" if self.in_memory else "--ratings with --min-rating"

    @property
    def leave_out(self):
        return "remove such rows" if self.beside else f"leave such rows out with {self.typed('skip', '--bad-rows')}"


@dataclass(frozen=True)
class Layout:
    """How to read one file; a blank as delimiter stands for any number of blanks and tabs."""

    delimiter: str
    quoting: bool
    header: bool
    n_fields: int
    places: dict
    labels: dict
    numeric: list
    commas: bool  # decimals likely have commas, and thousands points


def delimiter_of(text):
    r"""Return the delimiter that `text` means: itself, a word (tab, comma, blank, …), or ``\t``; None for None."""
    if text in (None, "\\t", "space"):
        return {"\\t": "\t", "space": " "}.get(text)
    chosen = DELIMITERS.get(text, text)
    if chosen != "::" and (len(chosen.encode()) != 1 or chosen in '\r\n"\0' or chosen.isalnum()):
        known = f"a single ASCII character, no letter, digit or double quote, or one of {', '.join(DELIMITERS)}"
        raise ConfigError(f"the delimiter must be {known}; not {text!r}")
    return chosen


def named(delimiter):
    return next((name for name, text in DELIMITERS.items() if text == delimiter), repr(delimiter))


def find_layout(name, sample, columns, delimiter, header, quoting):
    """Return the `Layout` of a file, by its first lines.

    name : str, of the file, for messages; columns : list of Column; quoting : bool, quotes are special
    sample : str, whole lines from the file's beginning, not all blank; delimiter, header : detected if None
    InputError if there is only one column, or a requested column is missing, ambiguous or the same as another
    """
    n_blank = sample[: len(sample) - len(sample.lstrip())].count("\n")
    where = f"{name}:{n_blank + 1}"
    names = [c.requested for c in columns if isinstance(c.requested, str) and not c.requested.isdecimal()]
    of_text = columns[0].kind == "text"
    chosen = delimiter or _found_delimiter(where, sample, names, of_text)
    rows = rows_of(sample, chosen, quoting)
    head = _stripped(rows[0])
    below = [row for row in rows[1:] if _stripped(row) != head and not _RULE.fullmatch("".join(row))]  # data only
    if of_text and len(head) == 1 and names and head[0] not in names:
        raise InputError(
            f"{where}: expected a table with a column {names[0]!r}, found {_shown(sample)}; name only tables, as "
            "'DIR/*.parquet', or give the column's number; for plain text, give --text-col none"
        )
    if len(head) == 1 and not of_text:
        found = _candidates(sample)
        instead = f" (it looks like {named(found[0])})" if found and found[0] != chosen else ""
        raise NoColumnError(
            f"{where}: only one column found with the delimiter {named(chosen)}, in {_shown(sample)}; "
            f"give the right --delimiter{instead}"
        )
    if names and header is False:
        raise ConfigError(f"column {names[0]!r}: without a header, give the column's number, from 1")
    has_header = _has_header(head, below, names, columns) if header is None else header
    if has_header and below and {len(row) for row in below} == {len(head) + 1} and columns_meant(head):
        head = ["", *head]  # as R writes it: the column of row names has no name
    cells = _cells_below(below if has_header else rows, len(head))
    numeric = [mostly_numbers(own) for own in cells]
    shown = head if has_header else [str(i + 1) for i in range(len(head))]
    places, labels = find_columns(where, columns, Head(shown, has_header, numeric, cells, sign=chosen))
    if not delimiter:
        labels.said = (f"separated by {named(chosen)}", *labels.said)
    if header is None and not has_header:
        labels.hints += _may_be_header([cells[places[c.key]] for c in columns if c.kind == "name" and c.key in places])
    single = STAND_IN if chosen == "::" else chosen
    cents = (list(map(_CENTS.fullmatch, own)) for own in cells if chosen != ",")
    commas = any(all(own) and any(found[1] for found in own) for own in cents)
    return Layout(single, quoting and chosen != "::", has_header, len(head), places, labels, numeric, commas)


def _may_be_header(columns):
    """Return a hint (tuple of str) if the first names of these columns are no numbers and never recur, while nearly all
    others do; else ().
    """
    if min(map(len, columns), default=0) < _SHORTEST:
        return ()
    firsts, count = [names[0] for names in columns], Counter(chain(*columns))
    n_again = sum(n for n in count.values() if n > 1)
    if n_again < _RECUR * count.total() or any(count[name] > 1 or _is_figures(name) for name in firsts):
        return ()
    first = " and ".join(repr(name[:40]) for name in firsts)
    return (f"the first row, {first}, was read as data, but its names never recur; if it is a header, give --header",)


def _cells_below(rows, n_columns):
    """Return the non-blank cells of each column (list of list of str), from rows with `n_columns` cells."""
    rows = [list(map(str.strip, row)) for row in rows if len(row) == n_columns]
    return [[row[i] for row in rows if row[i]] for i in range(n_columns)]


def without_foreword(sample, delimiter, of_text, header):
    """Return a text with the lines before its rows blanked, the number of these lines, and `header`, or True if a
    comment that names the columns became the header.

    of_text : bool, lines may be texts, so only Excel's ``sep=`` is blanked; header : False if there is none
    """
    lines = sample.split("\n")
    n_sep = int(_SEP.fullmatch(lines[0].lstrip("\ufeff").rstrip()) is not None)  # as Excel writes it
    lines[:n_sep] = [""] * n_sep
    first = next((i for i, line in enumerate(lines) if line.strip() and not _is_comment(line)), None)
    if of_text or first is None:
        return "\n".join(lines), n_sep, header
    if header is not False and (above := _header_above(lines, delimiter)):
        return "\n".join([*above, *lines[len(above) :]]), n_sep + sum(map(bool, lines[: len(above)])) - 1, True
    comments = [i for i in range(first) if lines[i].strip()]
    sign = delimiter or likely_delimiter("\n".join(lines[first:]))
    if sign and not comments:  # titles, which it does not split, or only pads
        rows = [i for i, line in enumerate(lines[: first + 20]) if line.strip()]
        most = next((at for at, i in enumerate(rows) if any(map(str.strip, rows_of(lines[i], sign)[0][1:]))), 0)
        comments = rows[:most]
    for i in comments if sign else ():
        lines[i] = ""
    return "\n".join(lines), n_sep + len(comments) * bool(sign), header


def _header_above(lines, delimiter):
    """Return the lines above the rows, if one of them is a header behind # or %: the header uncommented, the others
    blank; else []. A header is the last line, or ``#fields``, and has a name for each cell of a row. These are common
    column names, or directly follow # and do not recur.
    """
    own = (i for i, line in enumerate(lines) if line.strip() and not (line.startswith("#") or _is_comment(line)))
    n_above = next(own, 0)
    said = [i for i in range(n_above) if lines[i].strip("#% \t")]
    rest = "\n".join(lines[n_above:])
    sign = (delimiter or likely_delimiter(rest)) if said else None
    if sign is None:
        return []
    at = next((i for i in said if _FIELDS.match(lines[i])), said[-1])
    line = _FIELDS.sub("#", lines[at])
    header = line.lstrip("#% ")
    names, below = rows_of(header, sign)[0], rows_of(rest, sign)
    others = {len(rows_of(lines[i], sign)[0]) for i in said if i != at}
    odd = sign == " " or not line.startswith("#") or line[1:2].isspace() or _in_names(header, sign)
    odd = odd or len(names) in {1, *others} or any(map(_is_figures, names))
    few = len(names) < 4 and not (_FIELDS.match(lines[at]) or twins(names))  # it may be a title, or a row
    odd = odd or few or _has_usual_names(below[0])
    odd = odd or not all(map(str.strip, names))
    odd = odd or not {lines[at].split(sign)[0], *names}.isdisjoint(chain(*below))
    if len(names) != len(below[0]) or (odd and len(columns_meant(names)) < 2):
        return []
    return [header if i == at else "" for i in range(n_above)]


def _is_comment(line):
    """Return whether a line cannot be a row: # or %, followed by nothing, a blank, # or %, or column names."""
    text = line.lstrip()
    if not text.startswith(("#", "%")):
        return False
    return text.rstrip() in ("#", "%") or text[1] in " \t#%" or len(columns_meant(re.split(r"[,;|\t ]+", text))) > 1


def rows_of(text, delimiter, quotes=True):
    """Return the first rows of `text` as lists of cells."""
    quoting = csv.QUOTE_MINIMAL if quotes and delimiter != "::" else csv.QUOTE_NONE
    if delimiter == "::":
        text, delimiter = text.replace("::", STAND_IN), STAND_IN
    elif delimiter == " ":
        text = re.sub(r"(?m)^ +| +$", "", re.sub(r"[ \t]+", " ", text))
    rows = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, quoting=quoting)
    with suppress(csv.Error):  # a cell of more than 131,072 characters, as after an unclosed quote; reported later
        rows.extend(islice((row for row in reader if len(row) > 1 or (row and row[0].strip())), _SAMPLE_ROWS))
    return rows or [[text]]


def _candidates(sample):
    """Return the possible delimiters (list of str), likeliest first: those that split half of the rows evenly."""
    found = []
    for order, delimiter in enumerate(DELIMITERS.values()):
        rows = rows_of(sample, delimiter)
        sizes = Counter(map(len, rows))
        agree, fields = max(((count, fields) for fields, count in sizes.items() if fields > 1), default=(0, 0))
        share = agree / sizes.total()
        if share >= 0.5:
            headless = len(rows[0]) != fields or not _has_usual_names(rows[0])
            no_tab = delimiter != "\t" or not _surely_tabs(sample, rows)
            in_names = _in_names(sample, delimiter)
            found.append((delimiter == " ", share < 0.9, headless, no_tab, -fields, in_names, order, delimiter))
    return [key[-1] for key in sorted(found)]


def _surely_tabs(sample, rows):
    """Return whether tabs clearly separate cells: in nine of ten rows, never within quotes, and not into two cells of
    different form if another delimiter splits all rows into more.
    """
    full = sum(len([*filter(str.strip, row)]) > 1 for row in rows) >= 0.9 * len(rows)
    if not full or any(cell.count('"') % 2 for line in sample.splitlines() for cell in line.split("\t")):
        return False
    if max(map(len, rows)) > 2 or all(map(_alike, rows)):
        return True
    return not any(
        len(sizes := set(map(len, rows_of(sample, sign)))) == 1 and min(sizes) > 2 and not _in_names(sample, sign)
        for sign in DELIMITERS.values()
        if sign not in "\t "
    )


def _alike(cells):
    """Return whether cells have the same form: digits, letters and other characters in the same order."""
    return len({_LETTERS.sub("a", _DIGITS.sub("0", cell)) for cell in cells}) == 1


def likely_delimiter(sample):
    """Return the most likely delimiter of a file, by its first lines, or None."""
    return next(iter(_candidates(sample)), None)


def _has_usual_names(row):
    head = [cell.strip() for cell in row]
    return len(columns_meant(head)) > 1 or sound_like_columns(head)


def _in_names(sample, delimiter):
    return 2 * sample.count(f"{delimiter} ") > sample.count(delimiter)


def _rival(sample, sign, others):
    """Return a delimiter that may separate rows without a header instead of `sign`, or None. It splits all rows evenly,
    and `sign` stands in the first two cells, if they have the same form, as in names, or in a single inner cell, as in
    lists.
    """
    own = rows_of(sample, sign)
    if sign == "\t" or _has_usual_names(own[0]):
        return None
    for other in others:
        rows = rows_of(sample, other)
        inside = [cell for row in own for cell in row if other in cell]
        if len(set(map(len, rows))) > 1 or all(map(_is_figures, inside)) or (other != " " and _in_names(sample, other)):
            continue
        places = [tuple(place for place, cell in enumerate(row) if sign in cell) for row in rows]
        named = all(own[:2] == (0, 1) and _alike(row[:2]) for own, row in zip(places, rows, strict=True))
        within = len(set(places)) == 1 and len(places[0]) == 1 and 0 < places[0][0] < len(rows[0]) - 1
        if named or (within and other != " "):
            return other
    return None


def _found_delimiter(where, sample, names, of_text):
    found = _candidates(sample)
    if of_text:  # blanks separate words, and there may be only one column
        found = [sign for sign in found if sign != " "] or [","]
    heads = {delimiter: list(map(str.strip, rows_of(sample, delimiter)[0])) for delimiter in found}
    with_names = [sign for sign, head in heads.items() if set(names) <= {*head, *map(without_kind, head)}]
    if not found:
        raise InputError(
            f"{where}: only one column found: no tab, ::, semicolon, pipe, comma, ^A or blank splits the first lines "
            f"evenly, as in {_shown(sample)}; give the right --delimiter"
        )
    sign, *others = with_names or found
    rival = None if of_text or names else _rival(sample, sign, others)
    if rival:
        raise DoubtError(
            f"{where}: rows may be separated by {named(sign)} or by {named(rival)}, as in {_shown(sample)}; give "
            f"--delimiter {named(sign)} or --delimiter {named(rival)}"
        )
    return sign


def _shown(sample):
    return repr(sample.strip().split("\n")[0][:60])


def mostly_numbers(cells):
    """Return whether at least half of these cells are numbers, or are meant to be."""
    return bool(cells) and 2 * sum(map(is_amount, cells)) >= len(cells)


def is_number(cell):
    """Return whether Python reads a cell as a number; how pandas reads 1e999 depends on its version."""
    try:
        float(cell)
    except (ValueError, TypeError):
        return False
    return True


def _stripped(row):
    return [cell.strip().lstrip("\ufeff") for cell in row]


def _has_header(first, rows, names, columns):
    """Return whether the first row has the requested names, common names, or no numbers above a column of numbers; for
    labels, a name for things and one for labels are common, too.

    rows : list of list of str, the rows below; names : list of str, requested; columns : list of Column
    """
    if names and set(names) <= {*first, *map(without_kind, first)}:
        return True
    if columns[0].kind == "text" and sound_like_columns(first):
        return True
    if any(map(_is_figures, first)):
        return False
    below, labelled = _cells_below(rows, len(first)), any(column.of_labels for column in columns)
    again = any(name in cells for name, cells in zip(first, below, strict=True))
    of_labels = labelled and any(map(is_label, first)) and any(names_things(one) for one in first if not is_label(one))
    if not again and (of_labels or _sound_like_names(first) or any(map(_ID.fullmatch, first))):
        return True
    if "source" in columns[0].means and not labelled and _twins_alone(first, rows):
        return True
    return any(sum(map(_is_figures, cells)) > len(cells) / 2 for cells in below)


def _sound_like_names(cells):
    """Return whether these cells are common column names of at least two meanings, or twins, as item_a and item_b."""
    if len({meant_by(cell) for cell in cells} - {None}) > 1:
        return True
    pairs = twins(cells)
    return len(pairs) == 1 and re.sub(r"[\W_]*[a-z0-9]$", "", cells[pairs[0][0]].lower()) in _KINDS


def _twins_alone(first, rows):
    """Return whether two cells of the first of several rows are twins, as Person_A and Person_B or u and v, and no cell
    below begins like them or, for single letters, is a single letter.
    """
    pairs = twins(first)
    if len(pairs) != 1 or len(rows) < _FEW:
        return False
    one, other = (first[place] for place in pairs[0])
    stem, below = one[:-1], list(chain(*_cells_below(rows, len(first))))
    if stem != other[:-1] or any(cell.startswith(stem) if stem else len(cell) == 1 for cell in below):
        return False
    return not (stem.isupper() and any(map(str.isupper, below)))  # such as gene symbols


def is_amount(cell):
    """Return whether a cell is a number, or is meant to be one, with a decimal comma."""
    return is_number(cell) or _COMMA.fullmatch(cell) is not None


def _is_figures(cell):
    return is_amount(cell) or _DATE.fullmatch(cell) is not None
