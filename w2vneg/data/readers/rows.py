"""Text in blocks of whole rows, and mistakes with their line: delimited text, and rows that name their own cells.

`kernels.text.rows` cuts blocks of delimited text, of which pandas' C parser takes the columns that are asked for. Rows
that name their cells are JSON lines, and edges as networkx writes them. Nothing that a file says is run.
"""

import ast
import csv
import io
import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...ground.errors import InputError
from ...kernels.text.rows import scan_rows
from .cells import Batch, as_names, as_numbers, as_texts
from .columns import Head, find_columns
from .frames import read_cells
from .layout import STAND_IN, mostly_numbers, named

_BLOCK = 1 << 23  # bytes of text parsed at a time
_LONGEST_ROW = 1 << 26
_ALL = np.iinfo(np.int64).max
_SAMPLE = 100  # rows that name their cells, by which it is told which columns there are, and what they hold
_NUMPY = re.compile(r"\bnp\.\w+\(([^()'\"]*)\)")  # a number as NumPy 2 shows it
_NONE = ValueError, SyntaxError, TypeError, RecursionError, MemoryError  # what parsing raises


def whole_lines(name, pieces):
    """Yield about `_BLOCK` bytes of whole lines at a time, with line feeds alone as their ends, also of the last."""
    held, size = [], 0
    for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size < _BLOCK:
            continue
        text = b"".join(held)
        cut = (text.rfind(b"\n") + 1) or (text.rfind(b"\r", 0, -1) + 1)
        if cut:
            yield _line_feeds(text[:cut])
        elif size > _LONGEST_ROW:
            raise InputError(f"{name}: no line ends within {size:,} bytes: not a table of rows")
        held, size = [text[cut:]], len(text) - cut
    text = _line_feeds(b"".join(held))
    if text:
        yield text if text.endswith(b"\n") else text + b"\n"


def _line_feeds(text):
    return text.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in text else text


def whole_rows(name, blocks, layout, bad=None):
    """Yield a `_Block` after the other; rows of another number of fields are refused, or counted in `bad` (Counter)."""
    lines_before = 0
    rest = b""  # of a row with line feeds between quotes
    skip_header = layout.header
    for text in blocks:
        if layout.delimiter == STAND_IN:
            text = text.replace(b"::", STAND_IN.encode())
        text = rest + text
        if skip_header:
            end = _scanned(text, layout, 0, 1)[1]
            lines_before += text.count(b"\n", 0, end)
            text, skip_header = text[end:], False
        rows, end, lines, found = _scanned(text, layout, layout.n_fields)
        if found and bad is not None:
            text, n_bad = _without_odd_rows(text, layout)
            bad["another number of fields"] += n_bad
            rows, end, lines, found = _scanned(text, layout, layout.n_fields)
        if found:
            raise InputError(
                f"{name}:{lines_before + lines + 1}: {found} fields where the first row has {layout.n_fields} "
                f"(delimiter {named('::' if layout.delimiter == STAND_IN else layout.delimiter)}), in "
                f"{_line(text, lines)!r}; quote names that hold the delimiter, give another --delimiter, or leave such "
                "rows out with --bad-rows skip"
            )
        if rows:
            yield _Block(name, text[:end], rows, lines_before, layout)
        lines_before += lines
        rest = text[end:]
        if len(rest) > _LONGEST_ROW:
            break
    if rest.strip():
        lines_before += rest[: len(rest) - len(rest.lstrip(b" \n"))].count(b"\n")
        raise InputError(
            f"{name}:{lines_before + 1}: a quote opened in this row is never closed, in {_line(rest.lstrip(), 0)!r}; "
            "double a quote that is part of a name, or give --quoting none if quotes are signs"
        )


def _scanned(text, layout, n_fields, most=_ALL):
    """Return what `scan_rows` finds in bytes; n_fields : int, 0 for any; most : int, rows"""
    return scan_rows(np.frombuffer(text, np.uint8), ord(layout.delimiter), layout.quoting, n_fields, most)


def _without_odd_rows(text, layout):
    """Return whole rows with blank lines in place of those of another number of fields, and how many they are."""
    parts, n_bad = [], 0
    while True:
        end, found = _scanned(text, layout, layout.n_fields)[1::2]
        if not found:
            return b"".join([*parts, text]), n_bad
        size = _scanned(memoryview(text)[end:], layout, 0, 1)[1]
        parts += [text[:end], b"\n" * text.count(b"\n", end, end + size)]
        text = text[end + size :]
        n_bad += 1


def _line(text, number):
    start = 0
    for _ in range(number):
        start = text.index(b"\n", start) + 1
    return text[start : start + 240].split(b"\n")[0].decode(errors="replace")[:60].replace(STAND_IN, "::")


class _Block(NamedTuple):
    """Whole rows as text, and how many lines of the file are before them."""

    name: str
    text: bytes
    n_rows: int
    lines_before: int
    layout: object

    def where(self, row):
        return f"{self.name}:{self.lines_before + _scanned(self.text, self.layout, 0, row)[2] + 1}"

    def check_quotes(self, of_text):
        """Raise InputError if a quoted cell over several lines holds the delimiter, and one of its lines looks like a
        row: a quote was a sign. Of texts one that goes on behind its closing quote is refused.
        """
        if not self.layout.quoting or b'"' not in self.text:
            return
        if sum(map(bool, map(bytes.strip, self.text.split(b"\n")))) == self.n_rows:
            return
        sign = self.layout.delimiter
        lines = self.text.decode().split("\n")
        usual = csv.field_size_limit(_LONGEST_ROW)
        reader = csv.reader([line + "\n" for line in lines], delimiter=sign, strict=of_text)
        start = 0
        try:
            for row in reader:
                own, start = lines[start : reader.line_num], reader.line_num
                if of_text or len(own) < 2 or not any("\n" in cell and sign in cell for cell in row):
                    continue
                if sign == " " or any(line.count(sign) + 1 == self.layout.n_fields for line in own):
                    self._refuse_quote(start - len(own), len(own))
        except csv.Error:
            self._refuse_quote(start, 0)
        finally:
            csv.field_size_limit(usual)

    def _refuse_quote(self, line, n_lines):
        until = f" ({n_lines} lines in all)" if n_lines else ""
        raise InputError(
            f"{self.name}:{self.lines_before + line + 1}: a quote opens a cell here that ends lines later{until} and "
            f"holds the delimiter, so that it may have swallowed rows, in {_line(self.text, line)!r}; give --quoting "
            "none if quotes are signs here, or --quoting csv if the cell is one"
        )

    def read(self, columns, times):
        places, labels = self.layout.places, self.layout.labels
        present = [column for column in columns if places[column.key] is not None]
        numeric = [
            c for c in present if c.kind in ("number", "weight") or (c.kind == "time" and times.form == "number")
        ]
        try:
            frame = self._parse(present, numeric)
        except ValueError:  # a number that is none; or one that only looks odd, as with blanks around it
            frame = self._parse(present, [])
        found = dict.fromkeys((column.key for column in columns), None)
        for column in present:
            cells = frame[places[column.key]].to_numpy()
            read = {"name": as_names, "time": times.read, "text": as_texts}.get(column.kind, as_numbers)
            found[column.key] = read(cells, column, labels[column.key], self.where)
        return Batch(self.where, self.n_rows, found, labels)

    def _parse(self, columns, numeric):
        """Return the columns as a DataFrame by their places; those not `numeric` as str objects, not as categories."""
        import pandas as pd

        kinds = {self.layout.places[column.key]: np.float64 if column in numeric else object for column in columns}
        how = {"header": None, "na_filter": False, "index_col": False, "low_memory": False, "engine": "c"}
        frame = pd.read_csv(
            io.BytesIO(self.text),
            sep=r"\s+" if self.layout.delimiter == " " else self.layout.delimiter,
            quoting=csv.QUOTE_MINIMAL if self.layout.quoting else csv.QUOTE_NONE,
            names=range(self.layout.n_fields),
            usecols=list(kinds),
            dtype=kinds,
            **how,
        )
        if len(frame) != self.n_rows:
            raise InputError(
                f"{self.where(0)}: from here on {self.n_rows:,} rows were counted but {len(frame):,} parsed; "
                "its quotes cannot be understood"
            )
        return frame


class Form(NamedTuple):
    """name : str, of a row; parse : callable, a line to dict of str -> cell, ValueError for another
    ends : tuple of str, columns that are there whatever the others are called
    """

    name: str
    parse: Callable
    ends: tuple = ()


def read_records(name, blocks, form, columns, times, bad=None):
    """Yield blocks of whole lines, in which blank ones do not count, as one `Batch` after the other.

    bad : Counter, in which lines that are no such rows are counted; the first is refused if None
    InputError, with its line, for a row that is none, or has nothing or something nested where a cell is needed
    """
    columns = [replace(c, requested=c.requested or c.key) if c.key in form.ends else c for c in columns]
    found, n_lines = None, 0
    for block in blocks:
        rows, numbers = [], []
        for number, line in enumerate(block.decode().split("\n"), n_lines + 1):
            row = _parsed(line, form, f"{name}:{number}", bad) if line.strip() else None
            if row is not None:
                rows.append(row)
                numbers.append(number)
        n_lines += block.count(b"\n")
        if not rows:
            continue

        def where(row, numbers=numbers):
            return f"{name}:{numbers[row]}"

        if found is None:
            keys, found, labels = _columns_of(where(0), rows[:_SAMPLE], form, columns)
        read = {}
        for column in columns:
            place = found[column.key]
            cells = None if place is None else _cells(rows, keys[place], column, where)
            read[column.key] = read_cells(cells, column, labels, where, times)
        yield Batch(where, len(rows), read, labels)


def _parsed(line, form, where, bad):
    try:
        return form.parse(line)
    except _NONE:
        if bad is not None:
            bad[f"no {form.name}"] += 1
            return None
        raise InputError(
            f"{where}: no {form.name}, in {line[:60]!r}; mend it, or leave such rows out with --bad-rows skip"
        ) from None


def _columns_of(where, rows, form, columns):
    keys = list(dict.fromkeys(key for row in rows for key in row))
    cells = [[text for row in rows if (text := _text(row.get(key))) and text.strip()] for key in keys]
    head = Head(keys, True, [mostly_numbers(own) for own in cells], cells, ordered=False)
    found, labels = find_columns(where, columns, head)
    idle = [key for place, key in enumerate(keys) if place not in found.values()]
    if form.ends and idle:
        labels.said += (f"not used: {', '.join(map(repr, idle))[:200]}",)
    return keys, found, labels


def _cells(rows, key, column, where):
    """Return the cells of a column as text, ndarray of str objects; "" where one is missing and may be."""
    cells = np.empty(len(rows), object)
    for number, row in enumerate(rows):
        value = row.get(key)
        if column.kind == "text" and isinstance(value, _NotFinite):
            value = None
        text = "" if value is None else _text(value)
        if text is None and not column.lenient:
            raise InputError(
                f"{where(number)}: {key!r} ({column.option}) holds {str(value)[:40]}, which is nested; write what is "
                "needed of it as a key of its own, with text or a number"
            )
        if value is None and not (column.lenient or column.may_be_empty):
            instead = f", count each row as 1 with {column.option} none" if column.kind == "weight" else ""
            raise InputError(
                f"{where(number)}: there is no {key!r} ({column.option}); every row needs one{instead}, or leave such "
                "rows out with --bad-rows skip"
            )
        cells[number] = text or ""
    return cells


def _text(value):
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, str | int | float) else None


class _NotFinite(str):
    """NaN or Infinity, which JSON has not."""


def _json_object(line):
    found = json.loads(line, parse_int=str, parse_float=str, parse_constant=_NotFinite)  # numbers as they are written
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
NETWORKX = Form("edge of networkx's", _networkx_edge, ("source", "target"))


def fits(line, form):
    """Return whether a line is a row of this form; one of 100,000 characters or more is none."""
    if len(line) > 100_000:
        return False
    try:
        form.parse(line)
    except _NONE:
        return False
    return True
