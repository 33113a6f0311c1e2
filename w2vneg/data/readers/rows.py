"""Read delimited text in blocks of whole rows; errors name the line.

`kernels.text.rows` cuts the blocks, and pandas' C parser reads the requested columns.
"""

import csv
import io
import re
from itertools import chain
from typing import NamedTuple

import numpy as np
import pandas as pd

from ...ground.errors import DoubtError, InputError
from ...kernels.text.rows import scan_rows
from .columns import Batch
from .foreign import MATRIX_OUT, form_of_rows
from .layout import STAND_IN, find_layout, named, without_foreword
from .records import read_records
from .sources import taken
from .text import read_text

_BLOCK = 1 << 23  # bytes of text parsed at a time
_LONGEST_ROW = 1 << 26
_SAMPLE = 1 << 16  # bytes that determine the layout
_FEW = 20  # lines like rows that may still be comments, if there are other rows
_ALL = np.iinfo(np.int64).max
_COMMENT = re.compile(rb"(?m)^[#%].*")
_ROW = re.compile(rb"^[ \t]*[^\s#%]", re.MULTILINE)
_RULE = re.compile(rb"(\n*)--[-\t ,;|]*\n")
_THOUSANDS = re.compile(rb"(?<![\w.,-])[1-9]\d{0,2}\.\d{3}(?![\w.,-])")
_LIKE_ROW = re.compile(rb"^[#%][^\s#%][^\t ,;|\n]*[\t ,;|]", re.MULTILINE)


def _whole_lines(name, pieces):
    """Yield about `_BLOCK` bytes of whole lines at a time; all of them, even the last, end in a line feed only."""

    def take(text, last):
        end = len(text) if last else (text.rfind(b"\n") + 1) or (text.rfind(b"\r", 0, -1) + 1)
        if not end and len(text) > _LONGEST_ROW:
            raise InputError(f"{name}: no line ends within {len(text):,} bytes, so it is not a table of rows")
        lines = text[:end].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        return lines + b"\n" * (last and not lines.endswith(b"\n")), end

    return taken(pieces, take, _BLOCK)


def read_rows(source, tables):
    """Yield the text of an opened file in `Batch`es of cells, read with the options of `Tables`."""
    name, columns, delimiter, tally = source.name, tables.columns, tables.delimiter, tables.tally
    kind = {"source": "edges", "user": "ratings", "text": "column"}.get(columns[0].key, "pairs")
    form = form_of_rows(name, source.first(), kind, tables.encoding) if delimiter is None else None
    blocks, header = _whole_lines(name, read_text(source, encoding=tables.encoding)), tables.header
    if not form:
        blocks, header = _without_foreword(name, blocks, delimiter, tally, kind == "column", header)
    blocks = _without_comments(name, blocks, tally) if tables.comments else blocks
    if form:
        yield from read_records(name, blocks, form, columns, tally if tables.skips else None)
        return
    first = next(blocks, b"")
    if not first.strip():
        return
    sample = first[: _end_of_sample(first)].decode()
    layout = find_layout(name, sample, columns, delimiter, header, tables.quoting != "none")
    for block in _whole_rows(name, chain([first], blocks), layout, tables):
        if tables.quoting == "auto":
            block.check_quotes(kind == "column")
        block.refuse_thousands(columns)
        yield Batch(block.where, block.n_rows, block.cells(columns), layout.labels)


def _without_foreword(name, blocks, delimiter, tally, of_text, header):
    """Return blocks without the lines before the rows, and `header`, or True if the header was a comment."""
    first = next(blocks, b"")
    if first.startswith(b"%%MatrixMarket") and not of_text:
        raise InputError(
            f"{name}: a matrix in Matrix Market format, whose first row is not an edge; write it as a sparse matrix: "
            f"{MATRIX_OUT}"
        )
    cut = _end_of_sample(first)
    text, n_lines, header = without_foreword(first[:cut].decode(), delimiter, of_text, header)
    tally["comments"] += n_lines
    return chain([text.encode() + first[cut:]], blocks), header


def _end_of_sample(text):
    """Return the end of the last line from which a layout is found (int)."""
    return text.find(b"\n", min(_SAMPLE, len(text)) - 1) + 1


def _without_comments(name, blocks, tally):
    """Yield blocks of whole lines with comments blanked; each block but the last contains a row."""
    held = b""
    for text in blocks:
        if b"#" in text or b"%" in text:
            row = _ROW.search(text)
            n_like = len(_LIKE_ROW.findall(text))
            n_rows = len(_ROW.findall(text)) if n_like else 0
            if n_like > max(n_rows / 2, _FEW if n_rows else 0):
                _refuse_comments(name, text, n_like, n_rows)
            tally["like rows"] += 0 if row is None else len(_LIKE_ROW.findall(text, row.start()))
            text, n_comments = _COMMENT.subn(b"", text)
            tally["comments"] += n_comments
        held += text
        if held.strip():
            yield held
            held = b""
    yield held


def _refuse_comments(name, text, n_like, n_rows):
    """Raise DoubtError: many lines look like rows, but begin like comments; `text` (bytes) holds some of them."""
    quoted = r"""sed -E 's/^[#%][^#%,;|[:space:]][^,;|[:space:]]*/"&"/' FILE > edges.txt"""
    out = "remove them if they are comments, grep -v '^[#%]' FILE > edges.txt, or " * bool(n_rows)
    raise DoubtError(
        f"{name}: {n_like:,} lines, beside {n_rows:,} rows, begin with # or % like comments, then a name, as in "
        f"{_line(text[_LIKE_ROW.search(text).start() :], 0)!r}; {out}put these names in quotes: {quoted}"
    )


def _whole_rows(name, blocks, layout, tables):
    tally, lines_before, rest = tables.tally, 0, b""  # rest: part of a row with line feeds in quotes
    skip_header, header = layout.header, b""
    for text in blocks:
        text = rest + (text.replace(b"::", STAND_IN.encode()) if layout.delimiter == STAND_IN else text)
        if skip_header:
            end = _scanned(text, layout, 0, 1)[1]
            lines_before += text.count(b"\n", 0, end)
            header, text, skip_header = text[:end].strip(b"\n"), text[end:], False
            rule = _RULE.match(text)  # as sqlcmd writes it below the names
            text = rule[1] + b"\n" + text[rule.end() :] if rule else text
            again, longest, begins = _again(header, layout.delimiter.encode())
        if header and longest in text and any(begin in text for begin in begins):  # parts were joined
            text, n_again = again.subn(rb"\1", text)
            tally["headers within the rows"] += n_again
        rows, end, lines, found = _scanned(text, layout, layout.n_fields)
        if found and tables.skips:
            text, n_bad = _without_odd_rows(text, layout)
            tally["bad rows: wrong number of fields"] += n_bad
            rows, end, lines, found = _scanned(text, layout, layout.n_fields)
        if found:
            column, how = tables.columns[0], "quote names that hold the delimiter"
            if rb"\"" in text.split(b"\n", lines + 1)[lines]:
                how = r"""double the quotes in names, for example by: sed 's/\\"/""/g' FILE > NEW"""
            how += "" if column.beside else ", give another --delimiter"
            raise InputError(
                f"{name}:{lines_before + lines + 1}: {found} fields where the first row has {layout.n_fields} "
                f"(delimiter {named('::' if layout.delimiter == STAND_IN else layout.delimiter)}), in "
                f"{_line(text, lines)!r}; {how}, or {column.leave_out}"
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
            "double a quote that is part of a name, or give --quoting none if quotes are plain characters"
        )


def _again(header, sign):
    """Return the pattern of a line that repeats a header (bytes), quoted or not, and what a text with one contains: the
    longest name, as the first may be blank, and one of several beginnings.
    """
    header = header.removeprefix(b"\xef\xbb\xbf")
    names = [name.strip(b'" \t\r') for name in header.split(None if sign == b" " else sign)]
    parts = (rb'"?[ \t]*' + re.escape(name) + rb'[ \t]*"?' for name in names)
    between = rb"[ \t]+" if sign == b" " else re.escape(sign)
    pattern = rb"(\A|\n)(?:\xef\xbb\xbf)?" + between.join(parts) + rb"[ \t]*(?=\n|\Z)"
    begins = [b"\n" + quote + names[0] for quote in (b"", b'"', b"\xef\xbb\xbf", b'\xef\xbb\xbf"')]
    return re.compile(pattern), max(names, key=len), begins


def _scanned(text, layout, n_fields, most=_ALL):
    """Return what `scan_rows` finds in `text` (bytes); n_fields : int, 0 for any; most : int, limit of rows"""
    return scan_rows(np.frombuffer(text, np.uint8), ord(layout.delimiter), layout.quoting, n_fields, most)


def _without_odd_rows(text, layout):
    """Return whole rows with those of the wrong number of fields blanked, and the number of these."""
    view, parts, begin, n_bad = memoryview(text), [], 0, 0
    while True:
        size, found = _scanned(view[begin:], layout, layout.n_fields)[1::2]
        if not found:
            return b"".join([*parts, view[begin:]]), n_bad
        end = begin + size
        parts.append(view[begin:end])
        begin = end + _scanned(view[end:], layout, 0, 1)[1]
        parts.append(b"\n" * text.count(b"\n", end, begin))
        n_bad += 1


def _line(text, number):
    line = text.split(b"\n", number + 1)[number]
    return line[:240].decode(errors="replace")[:60].replace(STAND_IN, "::")


class _Block(NamedTuple):
    """Whole rows as text, and the number of lines before them in the file."""

    name: str
    text: bytes
    n_rows: int
    lines_before: int
    layout: object

    def where(self, row):
        return f"{self.name}:{self.lines_before + _scanned(self.text, self.layout, 0, row)[2] + 1}"

    def check_quotes(self, of_text):
        """Raise InputError if a quoted cell seems to hold rows or, for texts, continues after its closing quote."""
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
            f"contains the delimiter, so it may have swallowed rows, in {_line(self.text, line)!r}; give --quoting "
            "none if quotes are plain characters here, or --quoting csv if this is one cell"
        )

    def cells(self, columns):
        """Return the cells of each column: dict, key -> ndarray of str objects or, if all are numbers, float64."""
        places, numeric = self.layout.places, set()
        for column in columns:
            place = places.get(column.key)
            dates = column.kind == "time" and not self.layout.numeric[place or 0]
            if column.kind in ("number", "weight", "time") and not dates:
                numeric.add(place)
        try:
            frame = self._parse(places.values(), numeric)
        except ValueError:  # a bad number, or one that only looks odd, as with blanks around it
            frame = self._parse(places.values(), ())
        return {key: frame[at].to_numpy() for key, at in places.items()}

    def refuse_thousands(self, columns):
        """Raise InputError if each number with a point in a column of weights or amounts may be an integer, as 1.200 is
        in a table with decimal commas.
        """
        if not self.layout.commas or not _THOUSANDS.search(self.text):
            return
        for column in columns:
            place = self.layout.places.get(column.key)
            weighs = column.kind == "weight" or (column.kind == "amount" and column.requested)
            if place is None or not weighs:
                continue
            cells = self._parse([place], ())[place]
            pointed = [(row, cell.strip()) for row, cell in enumerate(cells) if "." in cell]
            if 0 < len(pointed) < len(cells) and all(_THOUSANDS.fullmatch(cell.encode()) for _, cell in pointed):
                (row, cell), whole = pointed[0], pointed[0][1].replace(".", "")
                raise InputError(
                    f"{self.where(row)}: {cell} in {self.layout.labels[column.key]} ({column.option}) may be {whole}, "
                    f"in a table with decimal commas; write {whole}, or {cell}0 if it has decimals"
                )

    def _parse(self, places, numeric):
        """Return columns by their `places` as a DataFrame; those not `numeric` as str objects, not as categories."""
        kinds = {place: np.float64 if place in numeric else object for place in places}
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
                "check its quotes"
            )
        return frame
