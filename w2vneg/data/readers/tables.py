"""Delimited tables in pieces of bounded size: ids as text, weights and times as numbers, mistakes with their line.

Text is cut into whole rows by `readers.rows`. Parquet files are recognised and go to `readers.parquet`.
"""

import re
from collections import Counter
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...ground.errors import InputError
from .cells import NameColumn, Times
from .columns import Labels
from .foreign import form_of_records, refuse
from .frames import InMemoryTable
from .layout import Column, find_layout, without_foreword
from .rows import whole_lines, whole_rows
from .sources import file_stamp, find_files, opened
from .text import read_text

_SAMPLE = 1 << 16  # bytes that settle the layout
_WRONG = {"name": "an empty cell", "time": "no time"} | dict.fromkeys(
    ("number", "weight", "amount"), "no number that counts"
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
        self.files = find_files(source) if source else []
        sizes = [file_stamp(path) or [getattr(path, "bytes", None)] for path in self.files]
        self._total = None if [None] in sizes else sum(size[0] for size in sizes)
        self._skips = bad_rows == "skip"
        self._columns = [replace(column, lenient=True) for column in columns] if self._skips else columns
        self._delimiter, self._header, self._quoting = delimiter, header, quoting or "auto"
        self._encoding, self._comments = encoding, comments
        self._progress = progress or (lambda done, total: None)
        self._times = Times()
        self.n_files = self.bytes = self.n_rows = self.n_comments = 0
        self.labels = Labels()
        self._bad, self._returns = Counter(), 0
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
        about |= {"returns, of a quantity below 0": self._returns} if self._returns else {}
        return about | {f"bad rows: {why}": number for why, number in self._bad.items()}

    def __iter__(self):
        done = 0
        for path in self.files:
            rows_before = self.n_rows
            with opened(path) as source:
                for batch in self.batches_of(source):
                    self.labels = self.labels or batch.labels
                    self.n_rows += batch.n_rows
                    batch = self._without_returns(self._good(batch) if self._skips else batch)
                    if batch.n_rows:
                        yield batch
                    self._progress(done + source.position, self._total)
                done += source.position
                self.bytes += source.unpacked
            self.n_files += 1
            self._progress(done, self._total)
            if self.n_rows == rows_before:
                raise InputError(f"{source.name}: there is no row below the header; give a table with rows")
        if self._returns == self.n_rows:
            raise InputError(f"{self.files[0]}: all of the {self.n_rows:,} rows are returns, of a quantity below 0")

    def batches_of(self, source):
        """Yield the rows of one opened file or table, as they stand there."""
        if isinstance(source, InMemoryTable):
            for batch in source.batches(self._columns, self._times):
                yield Batch(*batch)
            return
        pieces = source.pieces()
        begun = Begun(source.name, next(pieces, b""), pieces)
        if begun.first.startswith(b"PAR1"):
            from .parquet import read_parquet

            for batch in read_parquet(source, begun.pieces(), self._columns, self._times):
                yield Batch(*batch)
            return
        kind = {"source": "edges", "user": "ratings", "text": "column"}.get(self._columns[0].key, "pairs")
        form = form_of_records(begun.first, kind) if self._delimiter is None else None
        blocks = whole_lines(source.name, read_text(begun, encoding=self._encoding))
        if form is not None:
            from .records import read_records

            blocks = self._without_comments(source.name, blocks) if self._comments else blocks
            bad = self._bad if self._skips else None
            for batch in read_records(source.name, blocks, form, self._columns, self._times, bad):
                yield Batch(*batch)
            return
        if self._delimiter is None:
            refuse(source.name, begun.first, kind)
        of_text = self._columns[0].kind == "text"
        blocks = blocks if of_text else self._without_foreword(blocks)
        if self._comments:
            blocks = self._without_comments(source.name, blocks)
        first = next(blocks, b"")
        if not first.strip():
            raise InputError(f"{source.name}: the file holds no row, only blank lines; name a file with rows")
        sample = first[: first.find(b"\n", min(_SAMPLE, len(first)) - 1) + 1].decode()
        quoting = self._quoting != "none"
        layout = find_layout(source.name, sample, self._columns, self._delimiter, self._header, quoting)
        for block in whole_rows(source.name, _chain(first, blocks), layout, self._bad if self._skips else None):
            if self._quoting == "auto":
                block.check_quotes(of_text)
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
        return _chosen(batch, kept)

    def _without_returns(self, batch):
        """Return a batch without rows of a quantity below 0, which are counted."""
        kept = np.ones(batch.n_rows, bool)
        for column in self._columns:
            if column.kind in ("weight", "amount") and batch.columns[column.key] is not None:
                kept &= batch.columns[column.key] >= 0
        self._returns += int((~kept).sum())
        return _chosen(batch, kept)

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


def _chosen(batch, kept):
    """Return the rows of a batch that are kept : bool (n_rows,)."""
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


class TextColumn(NamedTuple):
    """The column of a table whose cells are texts: its name or number, and the layout of the table as of `Tables`."""

    column: str | int
    delimiter: str | None = None
    header: bool | None = None
    quoting: str | None = None
    bad_rows: str | None = None

    def pieces(self, source, encoding, tally):
        """Yield the texts of an opened file or table as UTF-8, each with a line feed behind it.

        Rows that are left out are counted in ``tally.bad_rows``.
        """
        column, *layout = self
        wanted = [Column("text", "--text-col", "text", column, may_be_empty=True)]
        tables = Tables((), wanted, encoding=encoding, **dict(zip(self._fields[1:], layout, strict=True)))
        for batch in tables.batches_of(source):
            yield "\n".join([*batch.columns["text"], ""]).encode(errors="replace")
        tally.bad_rows += sum(tables.left_out.values())


class Begun(NamedTuple):
    """A source of which the first piece has been looked at."""

    name: str
    first: bytes
    rest: object
    stamp: object = None

    def pieces(self):
        return _chain(self.first, self.rest)


def _chain(first, rest):
    yield first
    yield from rest
