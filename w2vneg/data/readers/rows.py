"""Delimited text in blocks of whole rows: every row has the same number of fields, and mistakes have their line.

`kernels.text.rows` cuts the text into blocks; pandas' C parser takes the columns that are asked for out of each.
"""

import csv
import io
from typing import NamedTuple

import numpy as np

from ...ground.errors import InputError
from ...kernels.text.rows import scan_rows
from .cells import as_names, as_numbers, as_texts
from .layout import STAND_IN, named

_BLOCK = 1 << 23  # bytes of text parsed at a time
_LONGEST_ROW = 1 << 26
_ALL = np.iinfo(np.int64).max


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
    """Yield a `_Block` after the other; rows of another number of fields are refused, or left out and counted in `bad`,
    a Counter.
    """
    delimiter = ord(layout.delimiter)
    lines_before = 0
    rest = b""  # of a row with line feeds between quotes
    skip_header = layout.header
    for text in blocks:
        if layout.delimiter == STAND_IN:
            text = text.replace(b"::", STAND_IN.encode())
        text = rest + text
        block = np.frombuffer(text, np.uint8)
        if skip_header:
            end = scan_rows(block, delimiter, layout.quoting, 0, 1)[1]
            lines_before += text.count(b"\n", 0, end)
            text, block = text[end:], block[end:]
            skip_header = False
        rows, end, lines, found = scan_rows(block, delimiter, layout.quoting, layout.n_fields, _ALL)
        if found and bad is not None:
            text, n_bad = _without_odd_rows(text, delimiter, layout)
            bad["another number of fields"] += n_bad
            rows, end, lines, found = scan_rows(
                np.frombuffer(text, np.uint8), delimiter, layout.quoting, layout.n_fields, _ALL
            )
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


def _without_odd_rows(text, delimiter, layout):
    """Return whole rows with blank lines in place of those of another number of fields, and how many they are."""
    parts, n_bad = [], 0
    while True:
        block = np.frombuffer(text, np.uint8)
        _, end, _, found = scan_rows(block, delimiter, layout.quoting, layout.n_fields, _ALL)
        if not found:
            return b"".join([*parts, text]), n_bad
        size = scan_rows(block[end:], delimiter, layout.quoting, 0, 1)[1]
        parts += [text[:end], b"\n" * text.count(b"\n", end, end + size)]
        text = text[end + size :]
        n_bad += 1


def _line(text, number):
    """Return the beginning of the line of this number, from 0 on (str)."""
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
        """Return ``file:line`` of a row."""
        block = np.frombuffer(self.text, np.uint8)
        lines = scan_rows(block, ord(self.layout.delimiter), self.layout.quoting, 0, row)[2]
        return f"{self.name}:{self.lines_before + lines + 1}"

    def check_quotes(self, of_text):
        """Raise InputError if a quoted cell over several lines holds the delimiter, and one of its lines looks like a
        row by itself: a quote was a sign, and has swallowed rows. Texts may have such lines; of these one that goes on
        behind its closing quote is refused.
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
        """Return the columns: dict, key -> NameColumn, ndarray or None."""
        places = self.layout.places
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
            found[column.key] = read(cells, column, self.layout.labels[column.key], self.where)
        return found

    def _parse(self, columns, numeric):
        """Return the columns as a DataFrame by their places; those that are not `numeric` as str objects.

        Never as categories, of which pandas makes numbers where it can: leading zeros would be lost.
        """
        import pandas as pd

        places = self.layout.places
        frame = pd.read_csv(
            io.BytesIO(self.text),
            sep=r"\s+" if self.layout.delimiter == " " else self.layout.delimiter,
            quoting=csv.QUOTE_MINIMAL if self.layout.quoting else csv.QUOTE_NONE,
            header=None,
            names=range(self.layout.n_fields),
            usecols=[places[column.key] for column in columns],
            dtype={places[column.key]: np.float64 if column in numeric else object for column in columns},
            na_filter=False,
            index_col=False,
            low_memory=False,
            engine="c",
        )
        if len(frame) != self.n_rows:
            raise InputError(
                f"{self.where(0)}: from here on {self.n_rows:,} rows were counted but {len(frame):,} parsed; "
                "its quotes cannot be understood"
            )
        return frame
