"""Convert the cells of a column to names, numbers, times or texts; errors name the line.

Throughout, `where` is a function from the index of a row in its batch to text like ``file:line``. pandas is imported
here and in `rows`, and both are imported only when a table is read.
"""

import datetime
import re
import warnings

import numpy as np
import pandas as pd
from pandas.tseries.api import guess_datetime_format

from ...ground.errors import InputError
from ..words import text_of
from .column_names import is_quantity, meant_by
from .columns import MISSING, NOBODY, TRUTHS, NameColumn
from .layout import is_number

_FEW = 5  # times, below which their digits show nothing
_SAMPLE = 1000  # cells searched for the first one that is a time
_OF_LOGS = re.compile(r"(\[?)\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d( [-+]\d{4})?(\]?)")  # as web servers write them
_OF_TWITTER = re.compile(r"[A-Z][a-z]{2} [A-Z][a-z]{2} \d\d \d\d:\d\d:\d\d [-+]\d{4} \d{4}")
_LONGEST_MISSING = 6
_ROUNDED = re.compile(r"\d(\.\d+)?E\+\d\d")  # as spreadsheets write long numbers
_LAST_DAY, _FIRST_DAY = 31_12_2100, 1_01_1900
_NOTHING = NOBODY - {"none", "na"}  # these two may be items


def read_cells(cells, column, label, where, times, tally):
    """Convert an array of any cells to what a column needs: a NameColumn, numbers, times or texts.

    tally : Counter, of "no amount" (missing amounts), "nobody: …" (names that stand for a missing one), "rounded: …"
        (names as a spreadsheet rounds long numbers), and "floats: …" (names that were floats, whole ones and others)
    """
    if column.kind in ("time", "text"):
        return {"time": times.read, "text": _texts}[column.kind](cells, column, label, where)
    if column.kind == "name":
        return _names(cells, column, label, where, tally)
    return _numbers(cells, column, label, where, tally)


def _names(cells, column, label, where, tally):
    try:
        found, different = pd.factorize(cells)
    except TypeError:
        row = next(row for row, cell in enumerate(cells) if getattr(type(cell), "__hash__", None) is None)
        rows = "; write a row for each part, in pandas with FRAME.explode(COLUMN)" * hasattr(cells[row], "__len__")
        rows = "; write its keys as columns, in pandas with json_normalize" if isinstance(cells[row], dict) else rows
        what = f"{label} ({column.option}) holds {str(cells[row])[:40]}, not a name{rows}"
        raise InputError(f"{where(row)}: {what}") from None
    texts = different.tolist()
    if different.dtype.kind == "M":  # one by one: a date stays a date beside others with a time of day
        texts = list(map(text_of, different))
    texts += [""] * bool((found < 0).any())  # for missing cells, whose code -1 takes the last
    codes, names = found, texts
    if (found < 0).any() or not all(type(cell) is str for cell in texts):
        most = 2.0 ** {2: 11, 4: 24}.get(different.dtype.itemsize, 53) if different.dtype.kind == "f" else 2.0**53
        for place, cell in enumerate(texts):
            large = isinstance(cell, float) and cell.is_integer() and abs(cell) >= most
            if large or isinstance(cell, bytes):
                why = "too large for an exact id; give text or integers" if large else "bytes; give CELL.decode()"
                raise InputError(f"{where(int(np.argmax(found == place)))}: {label} holds {cell!r:.60}, {why}")
            texts[place] = text_of(cell)
        whole = {cell.is_integer() for cell in different.tolist() if isinstance(cell, float) and np.isfinite(cell)}
        if len(whole) > 1:
            tally[f"floats: {label}"] = len(texts)
        codes, names = pd.factorize(np.array(texts, object))  # 1 and "1" are the same
        codes, names = codes[found], names.tolist()
    of_people = column.key == "user" or meant_by(label) == "user"
    of_items = column.key == "item" and meant_by(label) not in ("source", "target")  # words may be such names
    means_none = NOBODY if of_people else _NOTHING if of_items else ()
    for code, name in enumerate(names):
        if name.lower() in means_none:
            tally[f"nobody: {name!r} in {label}"] += int(np.count_nonzero(codes == code))
        if "E+" in name and _ROUNDED.fullmatch(name):
            tally[f"rounded: {label}"] += 1
        empty, problem = not name.strip(), ""
        if "\0" in name or not (name.isascii() or name.encode(errors="ignore").decode() == name):
            problem = f"the name {name!r:.60} in {label} contains NUL or a lone surrogate"
        elif "\n" in name and not column.lenient:
            problem = f"the name {name[:60]!r} in {label} ({column.option}) contains a line feed; "
            problem += "remove it, or close the quote left open on this line"
        elif empty and not (column.may_be_empty or column.lenient):
            problem = f"the cell in {label} ({column.option}) is empty; give it a name, or {column.leave_out}"
        if problem:
            raise InputError(f"{where(int(np.argmax(codes == code)))}: {problem}")
        if empty or "\n" in name:
            codes[codes == code] = -1
    return NameColumn(codes, names)


def _numbers(cells, column, label, where, tally=None):
    """Return cells as finite float64 (in ratings, true is 1 and false is 0); InputError for others. A missing amount
    becomes 1, and is counted in `tally`.
    """
    if cells.dtype.kind in "mM":
        remedy = "for durations, give COLUMN.dt.total_seconds()"
        raise InputError(f"{where(0)}: {label} ({column.option}) holds times, not numbers; {remedy}")
    numbers = np.array(pd.to_numeric(pd.Series(cells), errors="coerce"), np.float64)
    if column.kind == "number" and (lacking := np.isnan(numbers)).any():
        numbers[lacking] = [TRUTHS.get(str(cell).strip().lower(), np.nan) for cell in cells[lacking]]
    missing = np.flatnonzero(np.isnan(numbers)) if column.kind == "amount" else ()
    if missing := [row for row in missing if _is_missing(cells[row]) or str(cells[row]).strip() == "-"]:
        tally["no amount"] += len(missing)
        numbers[missing] = 1.0
    allowed = np.isfinite(numbers)
    if column.kind in ("weight", "amount"):
        allowed &= (numbers > 0 if column.above_zero else numbers >= 0) | (is_quantity(label) & (numbers < 0))
    if column.lenient:
        numbers = np.where(allowed, numbers, np.nan)
    elif not allowed.all():
        row = int(np.argmin(allowed))
        raise InputError(f"{where(row)}: in {label} ({column.option}), {_complaint(column, cells[row], numbers[row])}")
    return numbers


def _is_missing(cell):
    if isinstance(cell, str):
        return not cell.strip() or (len(cell) <= _LONGEST_MISSING and cell.strip().lower() in MISSING)
    return pd.api.types.is_scalar(cell) and bool(pd.isna(cell))


def _stripped(cell):
    return cell.strip() if isinstance(cell, str) else cell


def _complaint(column, cell, number):
    if isinstance(cell, str) and not cell.strip():
        return f"a cell is empty where a number should be; {column.leave_out}"
    if str(cell).strip() == ".":
        return f"a number is missing ({cell}); {column.leave_out}"
    if column.kind == "amount" and -np.inf < number < 0:
        return f"the amount {number:g} is below 0; {column.leave_out}"
    if column.above_zero and number <= 0:
        stored = " (for a sparse matrix, MATRIX.eliminate_zeros())" if number == 0 else ""
        why = f"the weight {number:g} of an edge is not above 0"
        return f"{why}; {column.leave_out}{stored}, or ignore all weights with {column.typed('none')}"
    if number < 0:
        return f"the weight {number:g} is below 0, but a weight counts how often a pair was seen; {column.leave_out}"
    if is_number(cell):  # nan, inf, or one that is too large
        return f"{str(cell).strip()[:60]} is not a finite number"
    instead = f", ignore amounts with {column.typed('none', '--rating-col')}" if column.kind == "amount" else ""
    return f"{str(cell)[:60]!r} is not a number; write decimals with a point{instead}, or name the right column"


def _texts(cells, column, label, where):
    """Return cells as text (list of str), "" for those that are or mean missing; InputError for other types."""
    texts = list(cells)
    for row, cell in enumerate(texts):
        if _is_missing(cell):
            texts[row] = ""
        elif isinstance(cell, str):
            continue
        elif isinstance(cell, int | float | np.number) and not isinstance(cell, bool):
            texts[row] = str(cell)
        else:
            remedy = "write the part you need as a column of text"
            if not isinstance(cell, dict | bytes):
                remedy += ", or pass lists of words directly to Word2Vec.fit"
            raise InputError(f"{where(row)}: {label} ({column.option}) holds {str(cell)[:40]}, not text; {remedy}")
    return texts


def _refuse_year_last(times, column, label, where):
    """Raise InputError if numbers (ndarray) are dates as DDMMYYYY or MMDDYYYY, which are not in order of time."""
    known = times[np.isfinite(times)]
    if len(known) < _FEW or known.min() < _FIRST_DAY or known.max() > _LAST_DAY or (known % 1 != 0).any():
        return
    days, years = np.divmod(known, 10_000)
    parts = np.concatenate(np.divmod(days, 100))
    if years.min() >= 1900 and years.max() <= 2100 and parts.min() >= 1 and parts.max() <= 31:
        raise InputError(
            f"{where(0)}: the times in {label} ({column.option}), as {known[0]:08.0f}, are dates with the year last, "
            "which are not in the order of their numbers; write dates as YYYY-MM-DD"
        )


class Times:
    """Convert times to numbers in the same order: numbers stay, dates become seconds; the first one sets the format."""

    form = None  # "number", or a strptime format

    def read(self, cells, column, label, where):
        """Return times (str, numbers, dates) as float64 (n_rows,); InputError if one differs in format."""
        first = next((cell for cell in cells if not _is_missing(cell)), cells[0]) if cells.dtype.kind == "O" else None
        if isinstance(first, datetime.date):
            cells = self._dates(cells, column, label, where)
        if cells.dtype.kind == "M":
            if np.isnat(cells).any() and not column.lenient:
                raise InputError(f"{where(int(np.argmax(np.isnat(cells))))}: the time in {label} is missing")
            return np.where(np.isnat(cells), np.nan, cells.astype("datetime64[us]").astype(np.int64) / 1e6)
        row = next((row for row, cell in enumerate(cells[:_SAMPLE]) if not _is_missing(cell)), None)
        if row is not None:
            self.form = self.form or self._form_of(cells, column, label, where, row)
        elif self.form is None:
            return np.full(len(cells), np.nan) if column.lenient else _numbers(cells, column, label, where)
        if self.form == "number":
            times = _numbers(cells, column, label, where)
            _refuse_year_last(times, column, label, where)
            return times
        # fractions of a second may be in some rows only; ISO 8601 has no names of zones, and no AM or PM
        parts = self.form.startswith("%Y-%m-%d") and "%S" in self.form and not re.search("%[Zp]", self.form)
        form, given = "ISO8601" if parts else self.form, pd.Series(cells)
        times = pd.to_datetime(given, format=form, errors="coerce", utc=True)
        if times.isna().any():  # cells may be padded with blanks
            times = pd.to_datetime(given.map(_stripped), format=form, errors="coerce", utc=True)
        if times.isna().any() and not column.lenient:
            row = int(np.argmax(times.isna()))
            if _is_missing(cells[row]):
                raise InputError(f"{where(row)}: the time in {label} ({column.option}) is missing; {column.leave_out}")
            raise InputError(
                f"{where(row)}: the time {str(cells[row])[:40]!r} in {label} ({column.option}) is not written like "
                f"the first ({self.form}); write all times as numbers or as YYYY-MM-DD HH:MM:SS"
            )
        seconds = times.dt.tz_localize(None).to_numpy("datetime64[us]").astype(np.int64) / 1e6
        return np.where(times.isna(), np.nan, seconds)

    @staticmethod
    def _dates(cells, column, label, where):
        """Return dates and missing values as datetime64; other objects are marked as bad, or an InputError."""
        dates = pd.to_datetime(pd.Series(cells), utc=True, errors="coerce").dt.tz_localize(None).to_numpy()
        wrong = [row for row in np.flatnonzero(np.isnat(dates)).tolist() if not _is_missing(cells[row])]
        if wrong and not column.lenient:
            raise InputError(f"{where(wrong[0])}: {label} ({column.option}) holds {cells[wrong[0]]!s:.40}, not a time")
        return dates

    def _form_of(self, cells, column, label, where, row):
        """Return the format of the first time, in `row`; all cells help to distinguish day and month."""
        if is_number(cells[row]):
            return "number"
        if not isinstance(cells[row], str):
            raise InputError(f"{where(row)}: {label} ({column.option}) holds {str(cells[row])[:40]}, not a time")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about a guess against `dayfirst`, which is no preference here
            orders = (False,) if cells[row].strip()[:4].isdecimal() else (False, True)  # after a year comes the month
            forms = {_form(cells[row].strip(), first) for first in orders}
        if None in forms:
            raise InputError(
                f"{where(row)}: {cells[row][:40]!r} in {label} ({column.option}) is not a time; "
                "write times as numbers or as YYYY-MM-DD HH:MM:SS"
            )
        if len(forms) == 1:
            return forms.pop()
        given = pd.Series([_stripped(cell) for cell in cells if not _is_missing(cell)])
        fits = {form: pd.to_datetime(given, format=form, errors="coerce", utc=True).notna().sum() for form in forms}
        fit = [form for form in sorted(forms) if fits[form] == max(fits.values())]
        if len(fit) > 1:
            raise InputError(
                f"{where(row)}: {cells[row]!r} in {label} ({column.option}) may be {' or '.join(fit)}; "
                "write dates as YYYY-MM-DD"
            )
        return fit[0]


def _form(text, day_first):
    """Return the strptime format of a time, or None."""
    if log := _OF_LOGS.fullmatch(text):
        return f"{log[1]}%d/%b/%Y:%H:%M:%S{' %z' if log[2] else ''}{log[3]}"
    if _OF_TWITTER.fullmatch(text):
        return "%a %b %d %H:%M:%S %z %Y"
    half = re.fullmatch(r"(.*\d)( ?)[AP]M", text, re.IGNORECASE)  # AM or PM, with hours from 1 to 12
    form = guess_datetime_format(half[1] if half else text, dayfirst=day_first)
    return form.replace("%H", "%I") + half[2] + "%p" if form and half else form
