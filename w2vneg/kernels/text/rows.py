"""Find where the rows of a delimited table end, and check that each has the expected number of fields.

The rules are those of pandas' C parser: a quote opens a quoted field only as its first character; inside, a delimiter
or a line feed is text, and two quotes are one quote; lines of nothing but blanks are not rows.
"""

from ...ground.jit import njit

LINE_FEED, BLANK, TAB, QUOTE = 10, 32, 9, 34

_START, _FIELD, _QUOTED, _QUOTE_IN_QUOTED = range(4)


@njit
def scan_rows(block, delimiter, quoting, n_fields, limit):
    """Scan whole rows until one has another number of fields, or to the `limit`, or to the end of the block.

    block : uint8, UTF-8 text from the beginning of a row on, with line feeds as the only line ends
    delimiter : int, a byte; `BLANK` means any number of blanks and tabs, also before and after the fields
    quoting : bool, quotes are special; n_fields : int, expected number of fields per row, 0 for any

    Returns rows, end : int, number of whole rows with the expected fields, and where the last of them ends
        lines : int, line feeds before the row that stopped the scan, or before `end` at the end of the block
        found : int, number of fields of that row if it is wrong, else 0
    """
    runs = delimiter == BLANK
    state = _START
    rows = end = lines = 0
    fields = 0  # finished fields of this row
    quoted_lines = blank_lines = 0  # line feeds inside this row; blank lines before it
    content = False
    for p in range(block.size):
        byte = block[p]
        white = byte in (BLANK, TAB)
        if state == _QUOTED:
            quoted_lines += byte == LINE_FEED
            if byte == QUOTE:
                state = _QUOTE_IN_QUOTED
        elif state == _QUOTE_IN_QUOTED and byte == QUOTE:
            state = _QUOTED
        elif byte == LINE_FEED:
            if not content:
                blank_lines += 1
            else:
                fields += not (runs and state == _START)
                if n_fields > 0 and fields != n_fields:
                    return rows, end, lines + blank_lines, fields
                rows += 1
                end = p + 1
                lines += blank_lines + quoted_lines + 1
                blank_lines = 0
            fields = quoted_lines = 0
            content = False
            state = _START
        else:
            separates = white if runs else byte == delimiter
            if not content and not (white and (runs or not separates)):
                content = True
                if rows == limit:
                    return rows, end, lines + blank_lines, 0
            if separates:
                fields += not (runs and state == _START)
                state = _START
            else:
                state = _QUOTED if quoting and byte == QUOTE and state == _START else _FIELD
    return rows, end, lines, 0
