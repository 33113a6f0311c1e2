"""How a delimited file is laid out: its delimiter, whether it has a header, and which columns are meant."""

import csv
import io
import re
import shlex
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice

from ...ground.errors import ConfigError, DoubtError, InputError, NoColumnError
from .column_names import (
    columns_meant,
    is_label,
    meant_by,
    names_things,
    sound_like_columns,
    twins,
    without_kind,
)
from .columns import Head, find_columns

DELIMITERS = {"tab": "\t", "::": "::", "semicolon": ";", "pipe": "|", "comma": ",", "blank": " "}  # name -> text
STAND_IN = "\x1f"  # the unit separator takes the place of `::`, as parsers know delimiters of one byte only
_SAMPLE_ROWS = 100
_SHORTEST, _RECUR = 20, 0.9  # rows, and how many of them have names that come again, for one without to be odd
_FEW = 5  # rows, up to which twins are no header
_DATE = re.compile(r"\d[-\d/:.TZ+ ]*")
_SEP = re.compile(r'"?sep=(.|\\t|\t)"?', re.IGNORECASE)
_FIELDS = re.compile(r"#fields:?\s", re.IGNORECASE)  # before the names of columns in logs
_COMMA = re.compile(r"[-+]?\d+,\d+")
_CENTS = re.compile(r"[-+]?\d+(,\d\d)?")  # of money
_RULE = re.compile("--[- ]*")
_DIGITS, _LETTERS = re.compile(r"\d+"), re.compile(r"[^\W\d]+")
_KINDS = {"item", "word", "node", "product", "movie", "user", "gene", "protein", "entity", "term", "vertex", "id"}


@dataclass(frozen=True)
class Column:
    """A column that is requested.

    key : str, by which a batch has it; option : str, the option that names it, for messages
    kind : "name" (a word), "number", "weight" (0 or more; without a header where numbers stand that may be weights),
        "amount" (0 or more, or nothing; where numbers stand), "time" or "text"
    requested : str or int, its name in the header or its number from 1 on; None for what the names say, else `default`
    default : int, a number from 1 on, or None for a column that need not be there
    means : tuple of str, what its name may mean (`column_names`), the likeliest first; of two columns of names, the
        meanings at one place go together; words : str, what it holds, in words
    may_be_empty : bool, a name may be empty; above_zero : bool, a weight of 0 is a mistake
    lenient : bool, a bad cell is marked, as code -1 or NaN, and not refused
    of_labels : bool, it is the one that is called as labels are (`column_names.is_label`), if there is one
    beside : bool, of a table beside the training data, which no option says how to read; in_memory : bool, of a table
        that Python gave
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
        """Return its option, or another one, as who reads the message has it: ``--item-col``, or ``item_col``."""
        option = option or self.option
        return option.removeprefix("--").replace("-", "_") if self.in_memory else option

    def typed(self, value, option=None):
        """Return an option with its value: ``--item-col user``, or ``item_col='user'``; as `spelt`."""
        return self.spelt(option) + (f"={value!r}" if self.in_memory else f" {shlex.quote(str(value))}")

    @property
    def as_ratings(self):
        """What to give for a log of ratings (str)."""
        return "Input('ratings', …) with min_rating" if self.in_memory else "--ratings with --min-rating"

    @property
    def leave_out(self):
        return "take such rows out" if self.beside else f"leave such rows out with {self.typed('skip', '--bad-rows')}"


@dataclass(frozen=True)
class Layout:
    """How one file is to be read; a blank as delimiter stands for any number of blanks and tabs."""

    delimiter: str
    quoting: bool
    header: bool
    n_fields: int
    places: dict
    labels: dict
    numeric: list
    commas: bool  # are likely before decimals, and points before thousands


def delimiter_of(text):
    r"""Return the delimiter that `text` means: itself, a word (tab, comma, blank, …), or ``\t``; None for None."""
    if text in (None, "\\t", "space"):
        return {"\\t": "\t", "space": " "}.get(text)
    chosen = DELIMITERS.get(text, text)
    if chosen != "::" and (len(chosen.encode()) != 1 or chosen in '\r\n"\0' or chosen.isalnum()):
        known = f"a single sign that stands in no name, or one of {', '.join(DELIMITERS)}"
        raise ConfigError(f"the delimiter must be {known}; not {text!r}")
    return chosen


def named(delimiter):
    return next((name for name, text in DELIMITERS.items() if text == delimiter), repr(delimiter))


def find_layout(name, sample, columns, delimiter=None, header=None, quoting=True):
    """Settle how a file is read, by its first lines: a `Layout`.

    name : str, of the file, for messages; columns : list of Column; quoting : bool, quotes mean something
    sample : str, whole lines from the file's beginning, not all blank; delimiter, header : detected if None
    InputError if there is only one column, a column requested is missing or stands twice, or two are the same
    """
    n_blank = sample[: len(sample) - len(sample.lstrip())].count("\n")
    where = f"{name}:{n_blank + 1}"
    names = [c.requested for c in columns if isinstance(c.requested, str) and not c.requested.isdecimal()]
    of_text = columns[0].kind == "text"
    chosen = delimiter or _found_delimiter(where, sample, names, of_text)
    rows = rows_of(sample, chosen, quoting)
    head = _stripped(rows[0])
    below = [row for row in rows[1:] if _stripped(row) != head and not _RULE.fullmatch("".join(row))]  # of parts
    if of_text and len(head) == 1 and names and head[0] not in names:
        raise InputError(
            f"{where}: no table with a column called {names[0]!r}, but {_shown(sample)}; name the tables alone, as "
            "'DIR/*.parquet', or the column by its number; --text-col none is for plain text"
        )
    if len(head) == 1 and not of_text:
        found = _candidates(sample)
        instead = f" (it looks like {named(found[0])})" if found and found[0] != chosen else ""
        raise NoColumnError(
            f"{where}: only one column found with the delimiter {named(chosen)}, in {_shown(sample)}; "
            f"give the right --delimiter{instead}"
        )
    labelled = any(column.of_labels for column in columns)
    found = _has_header(head, below, names, labelled) or (of_text and sound_like_columns(head))
    found = found or ("source" in columns[0].means and not labelled and _twins_alone(head, below))
    has_header = header or (header is None and found)
    if names and header is False:
        raise ConfigError(f"column {names[0]!r}: without a header, columns go by their numbers, from 1 on")
    if has_header and below and {len(row) for row in below} == {len(head) + 1} and columns_meant(head):
        head = ["", *head]  # as R writes it: the names of rows have no column of their own
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
    """Return a hint (tuple of str) where the first names of these columns, which are no numbers, are almost the only
    ones that stand in them once; or ().
    """
    if min(map(len, columns), default=0) < _SHORTEST:
        return ()
    firsts, count = [names[0] for names in columns], Counter(chain(*columns))
    if any(count[name] > 1 or _is_figures(name) for name in firsts):
        return ()
    if sum(n for n in count.values() if n > 1) < _RECUR * count.total():
        return ()
    first = " and ".join(repr(name[:40]) for name in firsts)
    return (f"the first row, {first}, is read as one of the others, and neither comes again; a header? Give --header",)


def _cells_below(rows, n_columns):
    """Return the cells of each column that are not blank (list of list of str), of rows of so many."""
    rows = [list(map(str.strip, row)) for row in rows if len(row) == n_columns]
    return [[row[i] for row in rows if row[i]] for i in range(n_columns)]


def without_foreword(sample, delimiter=None, of_text=False, header=None):
    """Return a text with blank lines for what stands before the rows, how many they were, and whether a comment that
    names the columns of the rows became their header.

    of_text : bool, lines may be texts, so that Excel's ``sep=`` alone is no row; header : False if there is none
    """
    lines = sample.split("\n")
    n_sep = int(_SEP.fullmatch(lines[0].lstrip("\ufeff").rstrip()) is not None)  # as Excel writes it
    lines[:n_sep] = [""] * n_sep
    first = next((i for i, line in enumerate(lines) if line.strip() and not _is_comment(line)), None)
    if of_text or first is None:
        return "\n".join(lines), n_sep, False
    if header is not False and (above := _header_above(lines, delimiter)):
        return "\n".join([*above, *lines[len(above) :]]), n_sep + sum(map(bool, lines[: len(above)])) - 1, True
    comments = [i for i in range(first) if lines[i].strip()]
    sign = delimiter or likely_delimiter("\n".join(lines[first:]))
    if sign and not comments:  # titles, which that sign does not part, or which are padded with it
        rows = [i for i, line in enumerate(lines[: first + 20]) if line.strip()]
        most = next((at for at, i in enumerate(rows) if any(map(str.strip, rows_of(lines[i], sign)[0][1:]))), 0)
        comments = rows[:most]
    for i in comments if sign else ():
        lines[i] = ""
    return "\n".join(lines), n_sep + len(comments) * bool(sign), False


def _header_above(lines, delimiter):
    """Return the lines above rows that begin with # or %, where the last one, or one of #fields, has as many names as
    rows have cells: that one without its sign, blank ones for the others. The names are usual ones of columns, or stand
    directly behind # and do not come again. [] without.
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
    """Return whether a line cannot be a row: # or % and a blank, or names of columns behind the sign."""
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
    with suppress(csv.Error):  # a cell of more than 131 072 signs, after an unclosed quote for one; what follows tells
        rows.extend(islice((row for row in reader if len(row) > 1 or (row and row[0].strip())), _SAMPLE_ROWS))
    return rows or [[text]]


def _candidates(sample):
    """Return the delimiters that could be (list of str), the likeliest first: those with which rows agree."""
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
    """Tell whether tabs separate cells, whatever else may: in nine of ten rows, none of them within quotes, and not two
    cells of unlike form where another sign parts all rows into more.
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
    """Tell whether cells are of one form: digits, letters and signs in the same order."""
    return len({_LETTERS.sub("a", _DIGITS.sub("0", cell)) for cell in cells}) == 1


def likely_delimiter(sample):
    """Return the delimiter that the first lines of a file are most likely separated by, or None."""
    return next(iter(_candidates(sample)), None)


def _has_usual_names(row):
    head = [cell.strip() for cell in row]
    return len(columns_meant(head)) > 1 or sound_like_columns(head)


def _in_names(sample, delimiter):
    return 2 * sample.count(f"{delimiter} ") > sample.count(delimiter)


def _rival(sample, sign, others):
    """Return the delimiter that may part rows without a header in place of `sign`, or None: each row into as many
    cells, of which the first two are of one form and hold `sign`, as names may, or a single one between others does,
    as lists may.
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
    if of_text:  # in which blanks part words, and which may be the only column
        found = [sign for sign in found if sign != " "] or [","]
    heads = {delimiter: list(map(str.strip, rows_of(sample, delimiter)[0])) for delimiter in found}
    with_names = [sign for sign, head in heads.items() if set(names) <= {*head, *map(without_kind, head)}]
    if not found:
        raise InputError(
            f"{where}: only one column found: neither tab, ::, semicolon, pipe, comma nor blanks part the first lines "
            f"alike, as {_shown(sample)}; name what does with --delimiter"
        )
    sign, *others = with_names or found
    rival = None if of_text or names else _rival(sample, sign, others)
    if rival:
        raise DoubtError(
            f"{where}: rows may be separated by {named(sign)} or by {named(rival)}, as {_shown(sample)}; say which: "
            f"--delimiter {named(sign)} or --delimiter {named(rival)}"
        )
    return sign


def _shown(sample):
    return repr(sample.strip().split("\n")[0][:60])


def mostly_numbers(cells):
    """Return whether at least half of these cells are numbers, or are meant to be."""
    return bool(cells) and 2 * sum(map(is_amount, cells)) >= len(cells)


def is_number(cell):
    """Tell whether Python reads a cell as a number; how pandas reads 1e999 depends on its version."""
    try:
        float(cell)
    except (ValueError, TypeError):
        return False
    return True


def _stripped(row):
    return [cell.strip().lstrip("\ufeff") for cell in row]


def _has_header(first, rows, names, labelled):
    """Return whether the first row has the names requested, or usual ones, or no number where below most are.

    rows : list of list of str, those below; labelled : bool, names of things and of labels are usual together
    """
    if names and set(names) <= {*first, *map(without_kind, first)}:
        return True
    if any(map(_is_figures, first)):
        return False
    columns = _cells_below(rows, len(first))
    again = any(name in cells for name, cells in zip(first, columns, strict=True))
    of_labels = labelled and any(map(is_label, first)) and any(names_things(one) for one in first if not is_label(one))
    if not again and (of_labels or _sound_like_names(first)):
        return True
    return any(sum(map(_is_figures, cells)) > len(cells) / 2 for cells in columns)


def _sound_like_names(cells):
    """Return whether two of these cells are usual names of columns, of two meanings, or twins as item_a and item_b."""
    if len({meant_by(cell) for cell in cells} - {None}) > 1:
        return True
    pairs = twins(cells)
    return len(pairs) == 1 and re.sub(r"[\W_]*[a-z0-9]$", "", cells[pairs[0][0]].lower()) in _KINDS


def _twins_alone(first, rows):
    """Return whether two cells of the first of several rows are twins, as Person_A and Person_B or u and v, and no
    cell below begins alike or, of single letters, is one.
    """
    pairs = twins(first)
    if len(pairs) != 1 or len(rows) < _FEW or any(map(_is_figures, first)):
        return False
    one, other = (first[place] for place in pairs[0])
    stem, below = one[:-1], list(chain(*_cells_below(rows, len(first))))
    if stem != other[:-1] or any(cell.startswith(stem) if stem else len(cell) == 1 for cell in below):
        return False
    return not (stem.isupper() and any(map(str.isupper, below)))  # as symbols of genes


def is_amount(cell):
    """Return whether a cell is a number, or is meant to be one: with a comma before its decimals."""
    return is_number(cell) or _COMMA.fullmatch(cell) is not None


def _is_figures(cell):
    return is_amount(cell) or _DATE.fullmatch(cell) is not None
