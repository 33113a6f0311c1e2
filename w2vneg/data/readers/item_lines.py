"""Lines of items: how these are separated, and what the lines are instead if they are not baskets."""

import re
import shlex
from collections import Counter
from itertools import pairwise

from ...ground.errors import DoubtError
from . import foreign
from .columns import are_dates, are_times
from .layout import delimiter_of, named

_SIGNS = ",;|\t"
_FEW = 20  # lines; with fewer, baskets of two are no sign of a log
_FEWEST_LISTS, _FEWEST_BELOW = 20, 5  # cells that show lists, and lines that show a header
_FLAGS = {"0", "1", "true", "false", "t", "f"}
_NAMES_OUT = (
    r"""awk -F {sign} '{{gsub(/"|\r$/, "")}} {head}{{s = ""; for (i = {first}; i <= NF; i++) """
    r"""if ($i + 0 > 0 || $i ~ /^[Tt]/) s = s "\t" {name}; print substr(s, 2)}}' FILE > baskets.tsv"""
)
_AROUND = " []{}\"'"  # the parts of lists
_COUNT = re.compile(r"\d+(\.\d+)?")
_NUMBERED = re.compile(r"(.*[^\W\d].*?)(?<!\d)(\d{1,99})")  # Python reads no number of thousands of digits
_MARK = re.compile("[-/&+>\u2013\u2014\u2022\u00b7]")  # those of `_SIGNS` are examined before


def separator_of(given, encoding):
    """Return the separator of the items of an `Input` (str), as given or detected, or None for text read as it is;
    refuse files that are not baskets.
    """
    chosen = delimiter_of(given.delimiter)
    if given.plain:
        return chosen
    for name, data in foreign.beginnings(given.files):
        head = foreign.Head.of(data, encoding)
        lines, signs = head.lines, [chosen] if chosen else [*_SIGNS, " "]
        if not lines:  # it is refused when all of it is read
            continue
        _refuse_lists(name, head)
        foreign.refuse(name, data, "baskets", encoding)
        command = next(filter(None, (names_of_flags(_rows(lines, sign), sign) for sign in signs)), None)
        if command:
            raise DoubtError(
                f"{name}: looks like a table with a column for each item, 0 or False if a basket lacks it, not like "
                f"baskets; write the names: {command} (give --plain if these are items)"
            )
        chosen = chosen or guess_delimiter(name, lines)
        sign = "\t" if chosen == " " and all("\t" in line for line in lines) else chosen
        _refuse_columns(name, lines, sign)
        rows = _rows(lines, chosen)
        if chosen == " " and not given.delimiter:
            _refuse_marks(name, rows)
        quoted = next((item for row in rows for item in row if len(item) > 2 and item[0] == item[-1] == '"'), None)
        if quoted:
            raise DoubtError(
                f"{name}: items are in quotes, as in {quoted[:60]}, which would be part of their names; remove them "
                f"(tr -d '\"' < FILE > baskets.txt), or give --plain --delimiter {named(chosen)} to keep them"
            )
        if why := looks_like_log(rows):
            raise DoubtError(
                f"{name}: looks like a log, not like baskets: {why}; use --ratings or --pairs for a log, drop first "
                f"columns that are not items ({_items_out(rows, sign)}), or give --plain if these are items"
            )
    return chosen


def _refuse_lists(name, head):
    """Raise DoubtError for a table in which a column holds lists of items."""
    for delimiter in filter(head.text.__contains__, _SIGNS):
        rows = foreign.rows_in(head, delimiter)
        for place, cells in enumerate(zip(*rows[1:], strict=True)):
            sign = sign_of_lists(Counter(cells))
            if sign is None:
                continue
            items = {part.strip() for cell in cells for part in cell.split(sign)}
            skip = "" if {part.strip() for part in rows[0][place].split(sign)} & items else "next(sys.stdin); "
            how = "" if delimiter == "," else f", delimiter={delimiter!r}"
            parts, module = f"map(str.strip, row[{place}].split({sign!r}))", "csv"
            if all(cell.startswith("[") for cell in cells if cell):
                parts, module = f"ast.literal_eval(row[{place}] or '[]')", "ast, csv"
            rows_in = f"for row in csv.reader(sys.stdin{how}) if row"
            raise DoubtError(
                f"{name}: looks like a table, not like baskets, and column {place + 1} holds lists, separated by "
                f"""{named(sign)}; write these: python -c "import {module}, sys; {skip}[print(*{parts}, sep='\\t') """
                f'{rows_in}]" < FILE > baskets.tsv (give --plain if these are items)'
            )


def sign_of_lists(cells):
    """Return the separator of lists in cells, or None: half of the cells contain it, and these hardly recur, but half
    of their parts recur in other cells at other positions; if it is a blank, all parts contain digits.

    cells : dict, str -> int, how often each occurs
    """
    total = sum(cells.values())
    for sign in ";|, ":
        lists = {cell.strip(): n for cell, n in cells.items() if sign in cell.strip()}
        n_lists, places = sum(lists.values()), {}
        if len(lists) < _FEWEST_LISTS or 2 * n_lists < total or n_lists > 1.25 * len(lists):
            continue
        for cell in lists:
            parts = dict.fromkeys(part for own in cell.split(sign) if (part := own.strip(_AROUND)))
            for place, part in enumerate(parts):
                places.setdefault(part, []).append(place)
        again = sum(len(own) for own in places.values() if len(set(own)) > 1)
        if 2 * again >= sum(map(len, places.values())) and (sign != " " or all(map(re.compile(r"\d").search, places))):
            return sign
    return None


def _refuse_columns(name, lines, delimiter):
    """Raise DoubtError if the first line is a header with columns that count, as DX1, DX2, and never recur below."""
    names, *below = (
        line.split() if delimiter == " " else list(map(str.strip, line.split(delimiter))) for line in lines
    )
    found = [_NUMBERED.fullmatch(one) for one in names]
    counted = [(one[1], int(one[2])) if one else ("", 0) for one in found]
    first = next((at for at, (stem, _) in enumerate(counted) if stem and (stem, 2) in counted), None)
    if first is None or len(below) < _FEWEST_BELOW:
        return
    stem, at = counted[first]
    last = first + next(n for n, one in enumerate([*counted[first:], None]) if one != (stem, at + n)) - 1
    alike = re.match(r"[^\W\d]*", stem)[0]  # items such as p1, p2 recur, or others are called so
    if last == first or at > 1 or any(cell.startswith(alike) for row in below for cell in row if alike):
        return
    columns = f" | {_cut(delimiter, first + 1, last + 1)}" if first or last + 1 < len(names) else ""
    raise DoubtError(
        f"{name}: the first line looks like a header, with items in columns {names[first]} to {names[last]}; write "
        f"these without it: tail -n +2 FILE{columns} > baskets.txt (give --plain if these are items)"
    )


def _refuse_marks(name, rows):
    """Raise DoubtError if a sign stands alone between items, or ends some, in a third of the rows, split at blanks."""
    alone = Counter(word for row in rows for word in {*row} if _MARK.fullmatch(word))
    ends = Counter(word[-1] for row in rows for word in {*row} if len(word) > 1 and word[-1] in _SIGNS)
    mark, n_alone = max(alone.items(), key=lambda one: one[1], default=("", 0))
    if 3 * n_alone >= len(rows):
        pattern = f"[{mark}]" if mark.isascii() else mark
        raise DoubtError(
            f"{name}: {mark} stands between blanks, as if it separated items; write tabs: awk "
            f"""'{{gsub(" +{pattern} +", "\\t")}} 1' FILE > baskets.tsv (or give --delimiter blank if it is an item)"""
        )
    sign, n_ends = max(ends.items(), key=lambda one: one[1], default=("", 0))
    if 3 * n_ends >= len(rows):
        raise DoubtError(
            f"{name}: items separated by blanks would end with a {named(sign)}, as in "
            f"{next(word for row in rows for word in row if word[-1] == sign)!r:.60}; choose --delimiter "
            f"{named(sign)} or --delimiter blank"
        )


def _items_out(rows, delimiter):
    """Return a command that leaves out first columns without items: one and the dates behind it, or all before another
    separator in the first item.
    """
    firsts = [row[0] for row in rows]
    for sign in _SIGNS.replace(delimiter, ""):
        n_columns = {first.count(sign) for first in firsts}
        if len(n_columns) == 1 and n_columns != {0} and not any(sign in item for row in rows for item in row[1:]):
            return f"{_cut(sign, n_columns.pop() + 1)} FILE > baskets.txt"
    n_first = 1
    while are_dates([row[n_first] for row in rows if len(row) > n_first]):
        n_first += 1
    return f"{_cut(delimiter, n_first + 1)} FILE > baskets.txt"


def _cut(delimiter, first, last=""):
    sign = "" if delimiter == "\t" else f"-d{shlex.quote(delimiter)} "
    return f"cut {sign}-f{first}-{last}"


def _items(line, delimiter):
    return line.split() if delimiter == " " else [item for part in line.split(delimiter) if (item := part.strip())]


def _rows(lines, delimiter):
    return [row for line in lines if (row := _items(line, delimiter))]


def names_of_flags(rows, delimiter):
    """Return a command that replaces flags by the names of items, or None if rows (list of list of str) are not flags
    below a header, or many rows of flags without one. A first column may number the rows; then the flags may be counts,
    some of them 0.
    """
    below = rows[1:]
    if len(below) < 2 or len(set(map(len, below))) > 1:
        return None
    numbered = any(row[0].lower() not in _FLAGS for row in below)
    flags = {cell.lower() for row in below for cell in row[numbered:]}
    counts = numbered and "0" in flags and all(map(_COUNT.fullmatch, flags))
    if not flags or (flags - _FLAGS and not counts) or (numbered and len({row[0] for row in below}) < len(below)):
        return None
    n_flags, above = len(below[0]) - numbered, {cell.lower() for cell in rows[0]}
    headed = not above & _FLAGS and not any(map(_COUNT.fullmatch, above)) and len(rows[0]) - n_flags in (0, numbered)
    if n_flags < 2 or not (headed or (len(rows) >= _FEW and not numbered and not above - _FLAGS)):
        return None
    sign = shlex.quote(delimiter.replace("\t", "\\t"))
    head, name = ("NR == 1 {n = split($0, name); next} ", "name[i - NF + n]") if headed else ("", "i")
    return _NAMES_OUT.format(sign=sign, head=head, first=1 + numbered, name=name)


def looks_like_log(rows):
    """Return why rows of items (list of list of str) look like a log of one event per line (str), or None."""
    if len(rows) < _FEW:
        return None
    firsts, seen = [row[0] for row in rows], Counter(item for row in rows for item in row)
    if all(len(row) == 2 for row in rows):
        if sum(n == 1 for n in seen.values()) >= 0.9 * len(seen):
            return "every line has two entries, and nine of ten entries occur once"
        runs = 1 + sum(a != b for a, b in pairwise(firsts))
        if runs == len(set(firsts)) <= len(rows) / 2 and not set(firsts) & {row[1] for row in rows}:
            return "every line has two entries, and the first repeats over several lines, as in a log by basket"
    sizes = set(map(len, rows))
    if len(sizes) == 1 and len(rows[0]) > 2 and sum(map(are_times, zip(*rows, strict=True))) == 1:
        return "every line has the same number of entries, and a time in the same place"
    if any(are_dates([row[at] for row in rows]) for at in range(min(3, *sizes))):
        return "every line has a date in the same place"
    numbers = [int(first) for first in firsts if re.fullmatch(r"\d{1,15}", first)]
    if len(numbers) == len(firsts) and all(b - a == 1 for a, b in pairwise(numbers)):
        return "the first entries number the lines, like numbers of baskets"
    if len(sizes) > 1 and all(row[0] == str(len(row) - 1) for row in rows):
        return "the first entries count the others on their lines"
    n_rest, n_again = seen.total() - len(rows), sum(n for n in seen.values() if n > 1)
    if max(sizes) > 2 and all(seen[first] == 1 for first in firsts) and 2 * n_again >= n_rest:
        return "the first entries occur once and most others repeatedly, like names of baskets"
    return None


def guess_delimiter(name, lines):
    """Return the separator of items (str, one sign): the one with the fewest distinct items; DoubtError if unclear.

    name : str, of the file; lines : list of str, its first lines
    """
    signs = [sign for sign in _SIGNS if sum(sign in line for line in lines) >= 0.3 * len(lines)]
    if not signs:
        return " "
    n_items, sign = min((len({item for line in lines for item in _items(line, sign)}), sign) for sign in signs)
    if not any(re.search(r"\s", item) for line in lines for item in _items(line, sign)):
        return " " if sign == "\t" else sign
    words = [word for line in lines for word in line.split()]
    n_words, glued = len(set(words)), sum(sign in word.strip(sign) for word in words)
    if (n_items < n_words and (sign == "\t" or glued * 5 >= len(words))) or n_items * 2 <= n_words:
        return sign
    if n_words * 2 <= n_items:
        return " "
    raise DoubtError(
        f"{name}: items may be separated by {named(sign)} ({n_items:,} items in the first {len(lines):,} lines) or by "
        f"blanks ({n_words:,} items); choose --delimiter {named(sign)} or --delimiter blank"
    )
