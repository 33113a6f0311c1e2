"""Rows that name their own cells: JSON lines, and edges as networkx writes them. No code in a file is ever run."""

import ast
import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...ground.errors import DoubtError, InputError
from .column_names import columns_meant, meant_by
from .columns import Batch, Head, find_columns
from .layout import mostly_numbers

LINES = "for line in sys.stdin if line.strip()"  # in a program for the user to type
_SAMPLE = 100  # rows that show which columns exist, and what they hold
_NUMPY = re.compile(r"\bnp\.\w+\(([^()'\"]*)\)")  # a number as NumPy 2 shows it
_FLAT = (
    'python -c "import json, pandas, sys; rows = [json.loads(line) for line in sys.stdin]; '
    "pandas.json_normalize(rows).to_csv('rows.csv', index=False)\" < FILE"
)
_UNPARSED = ValueError, SyntaxError, TypeError, RecursionError, MemoryError  # what parsing raises


class Form(NamedTuple):
    """name : str, of a row; parse : callable, from a line to a dict, str -> cell; ValueError for any other line
    ends : tuple of str, columns that every row has, whatever the others are called
    """

    name: str
    parse: Callable
    ends: tuple = ()


def read_records(name, blocks, form, columns, bad=None):
    """Yield blocks of whole lines, without blank ones, as `Batch`es of text.

    bad : Counter, counts the lines that are no such rows; if None, the first one is refused
    """
    columns = [replace(c, requested=c.requested or c.key) if c.key in form.ends else c for c in columns]
    found, n_lines = None, 0
    for block in blocks:
        rows, numbers = [], []
        for number, line in enumerate(block.decode().split("\n"), n_lines + 1):
            if not line.strip():
                continue
            try:
                rows.append(form.parse(line))
                numbers.append(number)
            except _UNPARSED:
                if bad is None:
                    what = f"{line[:60]!r} is not a {form.name}; correct it, or {columns[0].leave_out}"
                    raise InputError(f"{name}:{number}: {what}") from None
                bad[f"bad rows: not a {form.name}"] += 1
        n_lines += block.count(b"\n")
        if not rows:
            continue

        def where(row, numbers=numbers):
            return f"{name}:{numbers[row]}"

        if found is None:
            keys, found, labels = _columns_of(where(0), rows[:_SAMPLE], columns)
        cells = {c.key: _cells(rows, keys[found[c.key]], c, where) for c in columns if c.key in found}
        yield Batch(where, len(rows), cells, labels)


def columns_in(rows):
    """Return the keys of rows (list of dict), each with its values (dict of str -> list)."""
    columns = {}
    for row in rows:
        for key, value in row.items():
            columns.setdefault(key, []).append(value)
    return columns


def _columns_of(where, rows, columns):
    values = columns_in(rows)
    keys = list(values)
    if not keys:
        raise InputError(f"{where}: the first rows have no keys; give a table with columns")
    cells = [[text for value in own if (text := _text(value)) and text.strip()] for own in values.values()]
    head = Head(keys, True, [mostly_numbers(own) for own in cells], cells, ordered=False)
    try:
        found, labels = find_columns(where, columns, head)
    except DoubtError as error:
        instead = _unnested(rows)
        if instead is None:
            raise
        few = sum(map(bool, cells)) < sum(column.kind == "name" for column in columns)
        why = f"{where}: too few keys hold text or numbers" if few else error
        if any(isinstance(value, list) for row in rows for value in row.values()):  # these rather hold the items
            why = f"{where}: no key is clearly that of the {' or '.join(c.words for c in columns if c.kind == 'name')}"
        raise DoubtError(f"{why}; one holds {instead}") from None
    return keys, found, labels


def _cells(rows, key, column, where):
    """Return the cells of a column as text, ndarray of str objects; "" for missing ones, if they are allowed."""
    cells = np.empty(len(rows), object)
    for number, row in enumerate(rows):
        value = row.get(key)
        if column.kind == "text" and isinstance(value, _NotFinite):
            value = None
        text = "" if value is None else _text(value)
        if text is None and not column.lenient:
            what = f"{where(number)}: {key!r} ({column.option}) is nested, as in {str(value)[:40]}"
            others = {own: cell for own, cell in row.items() if not isinstance(cell, list | dict)}
            held = _unnested([others | {key: value}]) or "no text or number; write it as one"  # a Python tuple
            raise InputError(f"{what}: it holds {held}")
        if value is None and not (column.lenient or column.may_be_empty or column.kind == "amount"):
            instead = f", count each row as 1 with {column.typed('none')}" if column.kind == "weight" else ""
            raise InputError(
                f"{where(number)}: {key!r} ({column.option}) is missing; add it to every row{instead}, or "
                f"{column.leave_out}"
            )
        cells[number] = text or ""
    return cells


def _unnested(rows):
    """Return what is nested in rows (list of dict), and what to do with it (str); None for text and numbers."""
    kinds = {type(value) for row in rows for value in row.values()}
    if list in kinds:
        return f"lists; write them one per line with: {lists_out(rows)}{_or_pairs(rows)}"
    return f"keys of its own; write these beside the others: {_FLAT}" if dict in kinds else None


def _or_pairs(rows):
    """Return a second command, which writes a user and each item of a list as a row, if a key is that of users."""
    users = [key for key in rows[0] if meant_by(key) == "user"]
    path, value = _likeliest_list(rows)
    if not users or not value:
        return ""
    user = min(users, key=lambda name: "user" not in name.lower())
    each = f"for row in map(json.loads, sys.stdin) for x in {_looked_up('row', path)}"
    program = f"[print(row[{_typed(user)}], {_item_of(value)}, sep='\\t') {each}]"
    return f'; or a user and an item per row with: python -c "import json, sys; {program}" < FILE > rows.tsv'


def lists_out(rows):
    """Return a command that writes the lists of a key, or of a key inside one, with tabs; `rows` (list of dict) show
    which key and, for lists of objects, which of their keys has a common name for items.
    """
    path, value = _likeliest_list(rows)
    found, item = _looked_up("json.loads(line)", path), _item_of(value)
    parts = f"({found})" if item == "x" else f"({item} for x in {found})"
    program = f"import json, sys; [print(*{parts}, sep='\\t') {LINES}]"
    return f'python -c "{program}" < FILE > baskets.tsv'


def _likeliest_list(rows):
    """Return the keys that lead to the list that most likely holds items (tuple of one or two), and the list."""
    lists = [((key,), value) for row in rows for key, value in row.items()]
    inner = [((*path, key), value) for path, own in lists if isinstance(own, dict) for key, value in own.items()]
    of_lists = [[found for found in level if isinstance(found[1], list)] for level in (lists, inner)]
    return min(of_lists[0] or of_lists[1], key=_unlikely, default=(("KEY",), []))


def _looked_up(row, path):
    """Return the expression of a list in a row, an expression, too; () if a key is missing or null."""
    for key in path[:-1]:
        row = f"({row}.get({_typed(key)}) or {{}})"
    return f"{row}.get({_typed(path[-1])}) or ()"


def _item_of(value):
    """Return the expression of an item x of a list: itself, or the value of its key with a common name for items."""
    if not value or not isinstance(value[0], dict):
        return "x"
    names = [*value[0], "KEY"]
    return f"x[{_typed(names[columns_meant(names).get('item', [0])[0]])}]"


def _unlikely(found):
    """Return whether a list is empty, and whether no key, its own or one inside, is named as an item (two bool)."""
    path, value = found
    inside = value[0] if value and isinstance(value[0], dict) else ()
    return not value, "item" not in columns_meant([path[-1], *inside])


def _typed(key):
    """Return a key quoted for a program within a shell's double quotes; 'KEY' if it has special characters."""
    return f"'{key}'" if re.fullmatch(r"[\w .:/-]+", key) else "'KEY'"


def _text(value):
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, str | int | float) else None


class _NotFinite(str):
    """NaN or Infinity, which JSON does not have."""


def _json_object(line):
    found = json.loads(line, parse_int=str, parse_float=str, parse_constant=_NotFinite)  # numbers as written
    if not isinstance(found, dict):
        raise ValueError
    return found


def _networkx_edge(line):
    ends, brace, rest = line.partition("{")
    attributes = ast.literal_eval(_NUMPY.sub(r"\1", brace + rest.strip()))
    ends = ends.strip()
    nodes = ends[:-1].split(ends[-1]) if ends.endswith((",", ";", "|")) else ends.split()
    source, target = map(str.strip, nodes)
    edge = {"source": source, "target": target}
    return edge | {str(key): value for key, value in dict(attributes).items() if key not in edge}


JSON = Form("JSON object", _json_object)
NETWORKX = Form("networkx edge", _networkx_edge, ("source", "target"))


def fits(line, parse, kind=dict):
    """Return whether a parser, which runs no code, turns a line into an object of this kind; False for a huge line."""
    try:
        return len(line) <= 100_000 and isinstance(parse(line), kind)
    except _UNPARSED:
        return False
