"""Delimited tables in pieces of bounded size: ids as text, weights and times as numbers, mistakes with their line.

`kernels.text.rows` cuts the text into blocks of whole rows and holds every row to the same number of fields; pandas' C
parser takes the columns that are asked for out of each block. Parquet files are recognised and go to `readers.parquet`.
"""

import csv
import io
import re
from collections import Counter
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...ground.errors import InputError
from ...kernels.text.rows import scan_rows
from .cells import NameColumn, Times, as_names, as_numbers
from .columns import Labels
from .foreign import form_of_records, refuse
from .frames import InMemoryTable
from .layout import STAND_IN, find_layout, named, without_foreword
from .sources import STDIN, ByteStream, file_stamp, find_files
from .text import read_text

_BLOCK = 1 << 23  # bytes of text parsed at a time
_SAMPLE = 1 << 16  # bytes that settle the layout
_LONGEST_ROW = 1 << 26
_ALL = np.iinfo(np.int64).max
_WRONG = {"name": "an empty cell", "time": "no time", "amount": "a return"} | dict.fromkeys(
    ("number", "weight"), "no number that counts"
)
_COMMENT = re.compile(rb"(?m)^[#%].*")
_ROW = re.compile(rb"^[ \t]*[^\s#%]", re.MULTILINE)
_LIKE_ROW = re.compile(rb"^[#%][^\s#%][^\t ,;|\n]*[\t ,;|]", re.MULTILINE)


class Batch(NamedTuple):
    """Some rows of one file.

    where : callable, the number of a row, from 0 on, to words like ``file:line``, for messages
    n_rows : int
    columns : dict, key -> cells.NameColumn, ndarray float64 (n_rows,), or None for a column that is not there
    labels : dict, key -> what messages call the column
    """

    where: object
    n_rows: int
    columns: dict
    labels: dict


class Tables:
    """Files of rows; iterating yields one `Batch` after the other, and can be done once.

    Parameters
    ----------
    source : path, frames.InMemoryTable, or list of them
        As for `readers.sources.find_files`; each file may be packed, and has a delimiter and a header of its own.
    columns : list of layout.Column
    delimiter : str, optional
        As `layout.delimiter_of` returns it; detected if None.
    header : bool, optional
        Whether the first line names the columns; detected if None.
    encoding : str
    progress : callable, optional
        Called with (stored bytes read, stored bytes in all or None) after each batch.
    comments : bool
        Lines of text that begin with # or % are none of the table.
    quoting : str, optional
        "none": quotes are signs as others are; "csv": a quoted cell may hold anything. By default ("auto") one that
        seems to have swallowed rows is refused.
    bad_rows : str, optional
        "skip": rows that cannot be read are left out and counted. By default ("error") the first is refused.

    Attributes
    ----------
    n_files, bytes, n_rows, n_comments : int
        What has been read so far; bytes are those of the text, unpacked. Bad rows are among the rows.
    labels : columns.Labels
        What the columns that are read are called in the first file.
    left_out : dict of str -> int
        What was not read, and how many lines or rows.

    Raises
    ------
    InputError
        While iterating: a file that is missing, empty or of another encoding, a column that is missing, a row with too
        many or too few fields, an empty name, a number that is none, is not finite or, for a weight, below 0.
    """

    def __init__(
        self,
        source,
        columns,
        *,
        delimiter=None,
        header=None,
        encoding="utf-8",
        progress=None,
        comments=False,
        quoting=None,
        bad_rows=None,
    ):
        self.files = find_files(source)
        stamps = [_stamp(path) for path in self.files]
        self._total = None if None in stamps else sum(stamp[0] for stamp in stamps)
        self._skips = bad_rows == "skip"
        self._columns = [replace(column, lenient=True) for column in columns] if self._skips else columns
        self._delimiter, self._header, self._quoting = delimiter, header, quoting or "auto"
        self._encoding, self._comments = encoding, comments
        self._progress = progress or (lambda done, total: None)
        self._times = Times()
        self.n_files = self.bytes = self.n_rows = self.n_comments = 0
        self.labels = Labels()
        self._bad = Counter()
        self._like_rows = 0  # comments that may be rows

    @property
    def hints(self):
        """What may be wrong with how rows were read (tuple of str)."""
        if not self._like_rows:
            return self.labels.hints
        return (
            *self.labels.hints,
            f"{self._like_rows:,} lines among the rows begin with # or % and a name, and were passed as comments; if "
            "they are rows, put their first names in quotes",
        )

    @property
    def left_out(self):
        about = {"comment lines" if self._comments else "lines before the rows": self.n_comments}
        return about | {f"bad rows: {why}": number for why, number in self._bad.items()}

    def __iter__(self):
        done = 0
        for path in self.files:
            rows_before = self.n_rows
            with path if isinstance(path, InMemoryTable) else ByteStream(path) as source:
                for batch in self._batches(source):
                    self.labels = self.labels or batch.labels
                    self.n_rows += batch.n_rows
                    yield self._good(batch) if self._skips else batch
                    self._progress(done + source.position, self._total)
                done += source.position
                self.bytes += source.unpacked
            self.n_files += 1
            self._progress(done, self._total)
            if self.n_rows == rows_before:
                raise InputError(f"{source.name}: there is no row below the header; give a table with rows")

    def _batches(self, source):
        if isinstance(source, InMemoryTable):
            for batch in source.batches(self._columns, self._times):
                yield Batch(*batch)
            return
        pieces = source.pieces()
        begun = _Begun(source.name, next(pieces, b""), pieces)
        if begun.first.startswith(b"PAR1"):
            from .parquet import read_parquet

            for batch in read_parquet(source, begun.pieces(), self._columns, self._times):
                yield Batch(*batch)
            return
        kind = {"source": "edges", "user": "ratings"}.get(self._columns[0].key, "pairs")
        form = form_of_records(begun.first, kind) if self._delimiter is None else None
        blocks = _whole_lines(source.name, read_text(begun, encoding=self._encoding))
        if form is not None:
            from .records import read_records

            blocks = self._without_comments(source.name, blocks) if self._comments else blocks
            bad = self._bad if self._skips else None
            for batch in read_records(source.name, blocks, form, self._columns, self._times, bad):
                yield Batch(*batch)
            return
        if self._delimiter is None:
            refuse(source.name, begun.first, kind)
        blocks = self._without_foreword(blocks)
        if self._comments:
            blocks = self._without_comments(source.name, blocks)
        first = next(blocks, b"")
        if not first.strip():
            raise InputError(f"{source.name}: the file holds no row, only blank lines; name a file with rows")
        sample = first[: first.find(b"\n", min(_SAMPLE, len(first)) - 1) + 1].decode()
        quoting = self._quoting != "none"
        layout = find_layout(source.name, sample, self._columns, self._delimiter, self._header, quoting)
        for block in _whole_rows(source.name, _chain(first, blocks), layout, self._bad if self._skips else None):
            if self._quoting == "auto":
                block.check_quotes()
            yield Batch(block.where, block.n_rows, block.read(self._columns, self._times), layout.labels)

    def _good(self, batch):
        """Return a batch without its bad rows, which are counted by what is wrong with the first of their cells."""
        kept = np.ones(batch.n_rows, bool)
        for column in self._columns:
            values = batch.columns[column.key]
            if values is None or (isinstance(values, NameColumn) and column.may_be_empty):
                continue
            good = values.codes >= 0 if isinstance(values, NameColumn) else ~np.isnan(values)
            missing = int((kept & ~good).sum())
            if missing:
                self._bad[f"{_WRONG[column.kind]} in {batch.labels[column.key]}"] += missing
            kept &= good
        if kept.all():
            return batch
        places = np.flatnonzero(kept)
        columns = {
            key: None
            if values is None
            else NameColumn(values.codes[kept], values.names)
            if isinstance(values, NameColumn)
            else values[kept]
            for key, values in batch.columns.items()
        }
        return Batch(lambda row: batch.where(int(places[row])), len(places), columns, batch.labels)

    def _without_foreword(self, blocks):
        first = next(blocks, b"")
        if first.startswith(b"%%MatrixMarket"):
            yield first
            yield from blocks
            return
        cut = first.find(b"\n", min(_SAMPLE, len(first)) - 1) + 1
        text, n_lines = without_foreword(first[:cut].decode(), self._delimiter)
        self.n_comments += n_lines
        yield text.encode() + first[cut:]
        yield from blocks

    def _without_comments(self, name, blocks):
        """Yield blocks of whole lines with blank ones in place of comments, each with a row in it but for the last."""
        held = b""
        for text in blocks:
            if b"#" in text or b"%" in text:
                if text.startswith(b"%%MatrixMarket"):
                    raise InputError(
                        f"{name}: a matrix in Matrix Market format, whose first row is no edge; read it with "
                        "scipy.io.mmread and write it with scipy.sparse.save_npz"
                    )
                row = _ROW.search(text)
                self._like_rows += 0 if row is None else len(_LIKE_ROW.findall(text, row.start()))
                text, n_comments = _COMMENT.subn(b"", text)
                self.n_comments += n_comments
            held += text
            if held.strip():
                yield held
                held = b""
        yield held


def _stamp(path):
    """Return what begins with the stored bytes of a file or a table in memory; None for standard input and pipes."""
    if isinstance(path, InMemoryTable):
        return [path.bytes]
    return None if path == STDIN else file_stamp(path)


class _Begun(NamedTuple):
    """A source of which the first piece has been looked at."""

    name: str
    first: bytes
    rest: object

    def pieces(self):
        return _chain(self.first, self.rest)


def _chain(first, rest):
    yield first
    yield from rest


def _whole_lines(name, pieces):
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


def _whole_rows(name, blocks, layout, bad=None):
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

    def check_quotes(self):
        """Raise InputError if a quoted cell over several lines holds the delimiter, and one of its lines looks like a
        row by itself: a quote was a sign, and has swallowed rows.
        """
        if not self.layout.quoting or b'"' not in self.text:
            return
        if sum(map(bool, map(bytes.strip, self.text.split(b"\n")))) == self.n_rows:
            return
        sign = self.layout.delimiter
        lines = self.text.decode().split("\n")
        reader = csv.reader([line + "\n" for line in lines], delimiter=sign)
        start = 0
        try:
            for row in reader:
                own, start = lines[start : reader.line_num], reader.line_num
                if len(own) < 2 or not any("\n" in cell and sign in cell for cell in row):
                    continue
                if sign == " " or any(line.count(sign) + 1 == self.layout.n_fields for line in own):
                    self._refuse_quote(start - len(own), len(own))
        except csv.Error:
            self._refuse_quote(start, 0)

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
            read = {"name": as_names, "time": times.read}.get(column.kind, as_numbers)
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
