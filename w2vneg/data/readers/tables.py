"""Tables in pieces of bounded size: ids as text, weights and times as numbers, mistakes with their line.

Text is cut into whole rows by `readers.rows`; Parquet files are recognised and go to `readers.frames`.
"""

import re
from collections import Counter
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

import numpy as np

from ...ground.errors import InputError
from ..words import as_word
from .cells import Batch, NameColumn, Times
from .columns import Labels
from .foreign import form_of_records, refuse
from .frames import InMemoryTable, read_parquet
from .layout import Column, find_layout, without_foreword
from .rows import read_records, whole_lines, whole_rows
from .sources import file_stamp, find_files, opened
from .text import read_text, utf8_or_latin_1

_SAMPLE = 1 << 16  # bytes that settle the layout
_WRONG = {"name": "an empty cell", "time": "no time"} | dict.fromkeys(
    ("number", "weight", "amount"), "no number that counts"
)
_COMMENT = re.compile(rb"(?m)^[#%].*")
_ROW = re.compile(rb"^[ \t]*[^\s#%]", re.MULTILINE)
_LIKE_ROW = re.compile(rb"^[#%][^\s#%][^\t ,;|\n]*[\t ,;|]", re.MULTILINE)


class Tables:
    """Files of rows; iterating yields one `Batch` after the other, and can be done once.

    source : as for `readers.sources.find_files`; each file may be packed, and has a delimiter and a header of its own
    columns : list of layout.Column; encoding : str; comments : bool, lines that begin with # or % are none of the table
    delimiter : str, as `layout.delimiter_of` returns it; header : bool, the first line names the columns; else detected
    progress : callable, optional, called with (stored bytes read, stored bytes in all or None) after each batch
    quoting, bad_rows : str, optional, as of `sources._options.TableOptions`
    n_files, bytes, n_rows, n_comments : int, what has been read so far, unpacked, bad rows too
    labels : columns.Labels, of the first file; left_out : dict of str -> int, what was not read, and how many
    InputError while iterating: a file that is missing, empty or of another encoding, a column that is missing, a row of
    too many or too few fields, an empty name, a number that is none, is not finite or, for a weight, below 0
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
            yield from source.batches(self._columns, self._times)
            return
        pieces = source.pieces()
        begun = Begun(source.name, next(pieces, b""), pieces)
        if begun.first.startswith(b"PAR1"):
            yield from read_parquet(source, begun.pieces(), self._columns, self._times)
            return
        kind = {"source": "edges", "user": "ratings", "text": "column"}.get(self._columns[0].key, "pairs")
        form = form_of_records(begun.first, kind) if self._delimiter is None else None
        if form is None and self._delimiter is None:
            refuse(source.name, begun.first, kind)
        of_text, bad = self._columns[0].kind == "text", self._bad if self._skips else None
        blocks = whole_lines(source.name, read_text(begun, encoding=self._encoding))
        blocks = blocks if form or of_text else self._without_foreword(blocks)
        blocks = self._without_comments(source.name, blocks) if self._comments else blocks
        if form is not None:
            yield from read_records(source.name, blocks, form, self._columns, self._times, bad)
            return
        first = next(blocks, b"")
        if not first.strip():
            raise InputError(f"{source.name}: the file holds no row, only blank lines; name a file with rows")
        sample = first[: _end_of_sample(first)].decode()
        quoting = self._quoting != "none"
        layout = find_layout(source.name, sample, self._columns, self._delimiter, self._header, quoting)
        for block in whole_rows(source.name, chain([first], blocks), layout, bad):
            if self._quoting == "auto":
                block.check_quotes(of_text)
            yield block.read(self._columns, self._times)

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
        kept = np.ones(batch.n_rows, bool)
        for column in self._columns:
            if column.kind in ("weight", "amount") and batch.columns[column.key] is not None:
                kept &= batch.columns[column.key] >= 0
        self._returns += int((~kept).sum())
        return _chosen(batch, kept)

    def _without_foreword(self, blocks):
        first = next(blocks, b"")
        if not first.startswith(b"%%MatrixMarket"):
            cut = _end_of_sample(first)
            text, n_lines = without_foreword(first[:cut].decode(), self._delimiter)
            self.n_comments += n_lines
            first = text.encode() + first[cut:]
        yield first
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


def _end_of_sample(text):
    """Return where the line ends with which a layout has been seen (int)."""
    return text.find(b"\n", min(_SAMPLE, len(text)) - 1) + 1


def _chosen(batch, kept):
    if kept.all():
        return batch
    places, columns = np.flatnonzero(kept), dict(batch.columns)
    for key, values in batch.columns.items():
        if isinstance(values, NameColumn):
            columns[key] = NameColumn(values.codes[kept], values.names)
        elif values is not None:
            columns[key] = values[kept]
    return Batch(lambda row: batch.where(int(places[row])), len(places), columns, batch.labels)


class TextColumn(NamedTuple):
    """The column of a table whose cells are texts: its name or number, and the layout of the table as of `Tables`."""

    column: str | int
    delimiter: str | None = None
    header: bool | None = None
    quoting: str | None = None
    bad_rows: str | None = None

    def pieces(self, source, encoding, tally):
        """Yield the texts of an opened file or table as UTF-8, a line each; `tally` counts rows that are left out."""
        layout = self._asdict()
        wanted = [Column("text", "--text-col", "text", layout.pop("column"), may_be_empty=True)]
        tables = Tables((), wanted, encoding=encoding, **layout)
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
        return chain([self.first], self.rest)


def read_titles(path, columns=(1, 2), lowercase=False):
    """Read what items are called: dict, id as a vocabulary has it -> the first title that is not empty.

    path : a table as `Tables` reads them; UTF-8, or else Latin-1; columns : numbers from 1 on, or names, of ids and
        titles
    lowercase : bool, the vocabulary is of ids that were lower-cased
    InputError if the file cannot be read, or a column is not there
    """
    wanted = [
        Column(key, "--titles-cols", "name", column, may_be_empty=True)
        for key, column in zip(("id", "title"), columns, strict=True)
    ]
    titles = {}
    for batch in Tables(str(path), wanted, encoding=utf8_or_latin_1(path)):
        ids, texts = batch.columns["id"], batch.columns["title"]
        words, shown = [as_word(name, lowercase) for name in ids.names], [text.strip() for text in texts.names]
        for word, title in sorted(set(zip(ids.codes.tolist(), texts.codes.tolist(), strict=True))):
            if word >= 0 and title >= 0:
                titles.setdefault(words[word], shown[title])
    return titles
