"""The cells of a column as names, numbers, times or texts; what cannot be one is reported with its line.

Everywhere `where` is a function from the place of a row in its piece to words like ``file:line``.
"""

import warnings
from typing import NamedTuple

import numpy as np

from ...ground.errors import InputError
from .column_names import is_quantity

_ROWS, _TEXTS = 1 << 19, 1 << 12  # of a table that are held at a time, of which texts take more room
_MISSING, _LONGEST_MISSING = {"nan", "null", "none", "na", "n/a", "<na>"}, 6  # texts, of a word as no pair has


class NameColumn(NamedTuple):
    """codes : ndarray, int64, (n_rows,), places in `names`, -1 where empty; names : list of str, as written"""

    codes: np.ndarray
    names: list


class Batch(NamedTuple):
    """Some rows of one file or table.

    where : callable, the number of a row, from 0 on, to words like ``file:line``; n_rows : int
    columns : dict, key -> NameColumn, ndarray float64 (n_rows,), or None for a column that is not there
    labels : columns.Labels, key -> what messages call the column
    """

    where: object
    n_rows: int
    columns: dict
    labels: dict


def rows_at_once(columns):
    """Return how many rows of a table are held at a time (int), for these columns of it."""
    return _TEXTS if columns[0].kind == "text" else _ROWS


def is_number(cell):
    """Tell whether Python reads a cell as a number; how pandas reads 1e999 depends on its version."""
    try:
        float(cell)
    except ValueError:
        return False
    return True


def as_names(cells, column, label, where):
    """Make a NameColumn of text cells (ndarray of str); InputError if one must not be empty, or holds a line feed."""
    import pandas as pd

    codes, names = pd.factorize(cells)
    names = names.tolist()
    for code in [code for code, name in enumerate(names) if "\n" in name or not name.strip()]:
        row = int(np.argmax(codes == code))
        if "\n" in names[code]:
            raise InputError(
                f"{where(row)}: the name {names[code][:60]!r} in {label} ({column.option}) holds a line feed; "
                "take it out, or close the quote that is open on this line"
            )
        if not (column.may_be_empty or column.lenient):
            raise InputError(f"{where(row)}: the cell in {label} ({column.option}) is empty; each row needs a name")
        codes[codes == code] = -1
    return NameColumn(codes, names)


def as_numbers(cells, column, label, where):
    """Return cells as finite float64, of a weight, an amount (1 where none stands) or a quantity; else InputError."""
    import pandas as pd

    numbers = np.asarray(pd.to_numeric(pd.Series(cells), errors="coerce"), np.float64)
    allowed = np.isfinite(numbers)
    if column.kind == "amount":
        numbers = np.where(np.isnan(numbers), 1.0, numbers)
        allowed = np.isfinite(numbers)
    if column.kind in ("weight", "amount"):
        allowed &= (numbers > 0 if column.above_zero else numbers >= 0) | (is_quantity(label) & (numbers < 0))
    if column.lenient:
        numbers = np.where(allowed, numbers, np.nan)
    elif not allowed.all():
        row = int(np.argmin(allowed))
        raise InputError(f"{where(row)}: in {label} ({column.option}) {_complaint(column, cells[row], numbers[row])}")
    return numbers


def _complaint(column, cell, number):
    if isinstance(cell, str) and not cell.strip():
        return "a cell is empty where a number should be"
    if column.kind == "amount":
        return f"the amount {number:g} is below 0: leave such rows out, with --bad-rows skip"
    if column.above_zero and number <= 0:
        return f"the weight {number:g} is not above 0, as that of an edge is: leave such rows out"
    if number < 0:
        return f"the weight {number:g} is below 0; weights tell how often a pair was seen: leave such rows out"
    if is_number(cell):  # nan, inf, or one that is too large
        return f"{str(cell).strip()[:60]} is no finite number"
    return f"{str(cell)[:60]!r} is no number (write decimals with a point; is this the right column?)"


def as_texts(cells, column, label, where):
    """Return cells as text, list of str; "" where one is missing, or says so. InputError for what is none."""
    import pandas as pd

    texts = list(cells)
    for row, cell in enumerate(texts):
        if isinstance(cell, str):
            if len(cell) <= _LONGEST_MISSING and cell.strip().lower() in _MISSING:
                texts[row] = ""
        elif pd.api.types.is_scalar(cell) and pd.isna(cell):
            texts[row] = ""
        elif isinstance(cell, int | float | np.number) and not isinstance(cell, bool):
            texts[row] = str(cell)
        else:
            raise InputError(
                f"{where(row)}: {label} ({column.option}) holds {str(cell)[:40]}, no text; give lists of words to "
                "Word2Vec.fit as they are"
            )
    return texts


class Times:
    """Times as numbers that sort as they do: numbers stay, dates become seconds; the first of all decides the form."""

    def __init__(self):
        self.form = None  # "number", or a format as of strptime

    def read(self, cells, column, label, where):
        """Return times (str, numbers, datetime64) as float64 (n_rows,); InputError at one not written as the first."""
        import pandas as pd

        if cells.dtype.kind == "M":
            if not np.isnat(cells).any():
                return cells.astype("datetime64[us]").astype(np.int64) / 1e6
            raise InputError(f"{where(int(np.argmax(np.isnat(cells))))}: the time in {label} is missing")
        if self.form is None:
            self.form = self._form_of(cells, column, label, where)
        if self.form == "number":
            return as_numbers(cells, column, label, where)
        mixed = (
            self.form.startswith("%Y-%m-%d") and "%S" in self.form
        )  # fractions of a second in one row, in another not
        form = "ISO8601" if mixed else self.form
        times = pd.to_datetime(pd.Series(cells), format=form, errors="coerce", utc=True)
        if times.isna().any() and not column.lenient:
            row = int(np.argmax(times.isna()))
            raise InputError(
                f"{where(row)}: the time {str(cells[row])[:40]!r} in {label} ({column.option}) is not written as the "
                f"first one is ({self.form}); write all as numbers or as YYYY-MM-DD HH:MM:SS"
            )
        seconds = times.dt.tz_localize(None).to_numpy("datetime64[us]").astype(np.int64) / 1e6
        return np.where(times.isna(), np.nan, seconds) if column.lenient else seconds

    def _form_of(self, cells, column, label, where):
        """Return the form of the first time; where day and month can be told apart, by all cells."""
        import pandas as pd
        from pandas.tseries.api import guess_datetime_format

        if is_number(cells[0]):
            return "number"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a guess that goes against `dayfirst`, which is no preference here
            orders = (False,) if cells[0].strip()[:4].isdecimal() else (False, True)  # after a year comes the month
            forms = {guess_datetime_format(cells[0], dayfirst=first) for first in orders}
        if None in forms:
            raise InputError(
                f"{where(0)}: {cells[0][:40]!r} in {label} ({column.option}) is no time; "
                "write times as numbers or as YYYY-MM-DD HH:MM:SS"
            )
        cells = pd.Series(cells)
        fit = [form for form in forms if pd.to_datetime(cells, format=form, errors="coerce", utc=True).notna().all()]
        if len(fit) > 1:
            raise InputError(
                f"{where(0)}: {cells[0]!r} in {label} ({column.option}) may be {' or '.join(sorted(fit))}; "
                "write dates as YYYY-MM-DD"
            )
        return (fit or sorted(forms))[0]
