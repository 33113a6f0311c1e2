"""Read tables in batches of bounded size: ids as text, weights and times as numbers; errors name the line.

`frames`, `records` and `rows` yield `Batch`es of raw cells, which `cells` converts to names and numbers. `rows` and
`cells` import pandas, so they are imported only when a table is read.
"""

import re
from collections import Counter
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...ground.errors import InputError
from ..words import as_word
from .columns import Batch, Labels, NameColumn
from .frames import InMemoryTable, read_parquet
from .item_lines import sign_of_lists
from .layout import Column, delimiter_of, is_amount
from .sources import file_stamp, find_files, opened
from .text import utf8_or_latin_1

_WRONG = {"name": "an empty cell", "time": "no valid time"}  # by kind; else no valid number
_NO_ROW = "files without a row"
_DECIMAL = re.compile(r"\s*(\d+\.0\s*)?")
_HINTS = {  # by what `cells.read_cells` counts
    "nobody": "rows have {}; if it means that the name is missing, remove them",
    "rounded": "names in {} look like long numbers that a spreadsheet rounded, so one may stand for several; export "
    "that column as text",
    "floats": "names in {} were floats, whole ones and others, so 250.0 became '250'; if these are codes, read them as "
    "text",
}
_LOOKED_AT = 20_000  # names examined for lists
_UNWRITABLE = re.compile(r"[\0\ud800-\udfff]")


class Tables:
    """Files of rows; can be iterated once, yielding one `Batch` after another.

    source : as for `readers.sources.find_files`; each file may be compressed, and has its own delimiter and header
    columns : list of layout.Column; how : an object with all or some options of `sources._options.TableOptions`
    encoding : str; comments : bool, lines that begin with # or % are comments; beside : bool, as in Column
    progress : callable, optional, called with (stored bytes read, total stored bytes or None) after each batch
    n_files, bytes, n_rows : int, what has been read so far; bytes are unpacked, and rows include bad ones
    tally : Counter, of "comments", "like rows" among them, "returns", "no amount", "bad rows: …" by reason, and what
        `cells.read_cells` counts
    labels : columns.Labels, of the first file
    Files without rows are skipped, if another has rows.
    InputError while iterating: a missing file, a wrong encoding, no row at all, a missing column, a row with too many
    or too few fields, an empty name, a cell that is no finite number, or a weight below 0
    """

    def __init__(self, source, columns, how=None, *, encoding="utf-8", progress=None, comments=False, beside=False):
        self.files = [] if source == () else find_files(source)
        sizes = [file_stamp(path) or [getattr(path, "bytes", None)] for path in self.files]
        self._total = None if [None] in sizes else sum(size[0] for size in sizes)
        self.delimiter, self.header = delimiter_of(getattr(how, "delimiter", None)), getattr(how, "header", None)
        self.quoting, self.skips = getattr(how, "quoting", None) or "auto", getattr(how, "bad_rows", None) == "skip"
        self.columns = [replace(column, lenient=self.skips, beside=beside) for column in columns]
        self.encoding, self.comments = encoding, comments
        self._progress, self._times = progress or (lambda done, total: None), None
        self.n_files = self.bytes = self.n_rows = 0
        self.labels, self.tally = Labels(), Counter()
        self._found = {}  # name of a file -> its Labels
        self._decimal = {column.key for column in self.columns if column.kind == "name"}  # whose names all end with .0

    @property
    def hints(self):
        """Possible problems with how rows were read (tuple of str)."""
        hints = list(self.labels.hints)
        for column in self.columns:
            lacking = [file for file, labels in self._found.items() if column.key not in labels]
            if column.kind == "weight" and 0 < len(lacking) < len(self._found):
                hints.append(
                    f"{lacking[0]} has no {column.key} column, unlike other files, so each of its rows counts 1; "
                    f"add the column, or ignore it in all files with {column.option} none"
                )
        for why, number in self.tally.items():
            kind, _, what = why.partition(": ")
            if kind in _HINTS and number > 1:
                hints.append(f"{number:,} {_HINTS[kind].format(what)}")
        if n_like_rows := self.tally["like rows"]:
            hints.append(
                f"lines among the rows that begin with # or % and a name were skipped as comments, {n_like_rows:,} in "
                "all; if they are rows, put their first names in quotes"
            )
        hints += (
            f"the names in {self.labels[key]} are integers with .0, as pandas writes them if a cell is missing, but in "
            "Python 100.0 means '100'; write them without .0, in pandas with FRAME.astype({COLUMN: 'Int64'}).to_csv"
            for key in sorted(self._decimal & set(self.labels))
            if self.n_rows
        )
        return tuple(hints)

    @property
    def left_out(self):
        """What was left out, and how much of it (dict, str -> int)."""
        about = {"comment lines" if self.comments else "lines before the rows": self.tally["comments"]}
        about |= {"returns, of a quantity below 0": self.tally["returns"]} if self.tally["returns"] else {}
        about |= {why: self.tally[why] for why in ("headers within the rows", _NO_ROW) if self.tally[why]}
        return about | {why: number for why, number in self.tally.items() if why.startswith("bad rows")}

    def __iter__(self):
        done = n_kept = 0
        for path in self.files:
            rows_before = self.n_rows, self.tally["bad rows: wrong number of fields"]
            with opened(path) as source:
                for batch in self.batches(source):
                    if not self.labels:
                        self.labels = batch.labels
                        self.labels.hints += tuple(_hints_of_lists(batch))
                    self._found.setdefault(source.name, batch.labels)
                    self.n_rows += batch.n_rows
                    batch = self._kept(batch)
                    names = {key: getattr(batch.columns[key], "names", ()) for key in self._decimal}
                    self._decimal = {key for key, own in names.items() if all(map(_DECIMAL.fullmatch, own))}
                    n_kept += batch.n_rows
                    if batch.n_rows:
                        yield batch
                    self._progress(done + source.position, self._total)
                done += source.position
                self.bytes += source.unpacked
            self.n_files += 1
            self._progress(done, self._total)
            self.tally[_NO_ROW] += rows_before == (self.n_rows, self.tally["bad rows: wrong number of fields"])
        if not self.n_rows:
            raise InputError(f"{source.name}: there are no rows, or only a header; give a table with rows")
        if self.tally["returns"] == self.n_rows:
            raise InputError(f"{self.files[0]}: all {self.n_rows:,} rows are returns, of a quantity below 0")
        if not n_kept:
            why = "; ".join(f"{number:,} {why}" for why, number in self.left_out.items() if number)
            raise InputError(f"{self.files[0]}: none of the {self.n_rows:,} rows can be used: {why}")

    def batches(self, source):
        """Yield all rows of one opened file or table, with bad ones marked."""
        from .cells import Times, read_cells
        from .rows import read_rows

        self._times = self._times or Times()
        columns = self.columns
        if isinstance(source, InMemoryTable):
            columns = [replace(column, in_memory=True) for column in columns]
            found = source.batches(columns)
        elif source.first().startswith(b"PAR1"):
            found = read_parquet(source, columns)
        else:
            found = read_rows(source, self)
        for where, n_rows, cells, labels in found:
            read = dict.fromkeys(c.key for c in columns)
            for c in columns:
                if c.key in cells:
                    read[c.key] = read_cells(cells[c.key], c, labels[c.key], where, self._times, self.tally)
            yield Batch(where, n_rows, read, labels)

    def _kept(self, batch):
        """Return a batch without bad rows and returns, and count both, bad rows by their first problem."""
        kept = np.ones(batch.n_rows, bool)
        for column in self.columns if self.skips else ():
            values = batch.columns[column.key]
            if values is None or (isinstance(values, NameColumn) and column.may_be_empty):
                continue
            good = values.codes >= 0 if isinstance(values, NameColumn) else ~np.isnan(values)
            if missing := int((kept & ~good).sum()):
                what = _WRONG.get(column.kind, "no valid number")
                self.tally[f"bad rows: {what} in {batch.labels[column.key]}"] += missing
            kept &= good
        n_good = int(kept.sum())
        for column in self.columns:
            if column.kind in ("weight", "amount") and batch.columns[column.key] is not None:
                kept &= ~(batch.columns[column.key] < 0)
        self.tally["returns"] += n_good - int(kept.sum())
        return batch.rows(kept)


def _hints_of_lists(batch):
    """Yield a hint (str) for each column of names in a `Batch` if most of its cells look like lists."""
    for key, column in batch.columns.items():
        if not isinstance(column, NameColumn):
            continue
        counts = np.bincount(column.codes[column.codes >= 0], minlength=len(column.names))[:_LOOKED_AT].tolist()
        if sign := sign_of_lists(dict(zip(column.names, counts, strict=False))):
            listed = all(name.lstrip().startswith("[") for name in column.names[:_LOOKED_AT] if sign in name)
            parts = "map(ast.literal_eval)" if listed else f"str.split({sign!r})"
            yield (
                f"most cells of {batch.labels[key]} look like lists separated by {sign!r}, but each is read as one "
                f"name; write a row for each part, in pandas with t[COLUMN] = t[COLUMN].{parts}; t = t.explode(COLUMN)"
            )


class TextColumn(NamedTuple):
    """The column of texts in a table: its name or number, and the table's layout as in `Tables`."""

    column: str | int
    delimiter: str | None = None
    header: bool | None = None
    quoting: str | None = None
    bad_rows: str | None = None

    def pieces(self, source, encoding, tally):
        """Yield the texts of an opened file or table as UTF-8, one per line; `tally` counts the rows left out.

        InputError, naming the row, for a lone surrogate or NUL, which JSON and tables in memory may contain, unless bad
        rows are skipped
        """
        wanted = [Column("text", "--text-col", "text", self.column, may_be_empty=True)]
        tables = Tables((), wanted, self, encoding=encoding)
        for batch in tables.batches(source):
            texts = batch.columns["text"]
            unwritable = {row: found[0] for row, text in enumerate(texts) if (found := _UNWRITABLE.search(text))}
            for row, sign in unwritable.items():
                what = "NUL" if sign == "\0" else "a lone surrogate"
                if not tables.skips:
                    raise InputError(
                        f"{batch.where(row)}: the text contains {what} ({sign!a}), which is not valid text; remove it, "
                        "or leave such rows out with --bad-rows skip"
                    )
                tables.tally[f"bad rows: {what} in the text"] += 1
            kept = (text for row, text in enumerate(texts) if row not in unwritable)
            yield "\n".join([*kept, ""]).encode()
        tally["bad rows"] += sum(tables.left_out.values()) - tables.tally["comments"]  # Excel's sep= is no row


def read_titles(path, columns=(1, 2), lowercase=False):
    """Read the titles of items: dict, id as in the vocabulary -> its first non-empty title.

    path : a table as for `Tables`, in UTF-8 or else Latin-1; columns : numbers from 1, or names, of the columns of ids
        and titles
    lowercase : bool, the ids in the vocabulary were lower-cased
    InputError if the file cannot be read, or a column is missing
    """
    keys = zip(("id", "title"), columns, strict=True)
    wanted = [Column(key, "--titles-cols", "name", column, may_be_empty=True) for key, column in keys]
    titles = {}
    for batch in Tables(str(path), wanted, encoding=utf8_or_latin_1(path), beside=True):
        ids, texts = batch.columns["id"], batch.columns["title"]
        words, shown = [as_word(name, lowercase) for name in ids.names], [text.strip() for text in texts.names]
        for word, title in sorted(set(zip(ids.codes.tolist(), texts.codes.tolist(), strict=True))):
            if word >= 0 and title >= 0:
                titles.setdefault(words[word], shown[title])
    if tuple(columns) == (1, 2) and titles and all(map(is_amount, titles.values())):
        raise InputError(f"{path}: the titles in column 2 are numbers; name the columns of ids and titles as ID,NAME")
    return titles
