"""Tables for people, on a terminal."""

import shutil
import sys


def table(rows, width=None):
    """Align rows of strings under the first one: the first column left, the others right; None is a rule.

    A table that is wider than the terminal, or than `width`, is written as a list: each row under its first cell.
    """
    widths = [max(len(row[i]) for row in rows if row is not None) for i in range(len(rows[0]))]
    if width is None and sys.stdout is not None and sys.stdout.isatty():
        width = shutil.get_terminal_size().columns
    if width is not None and sum(widths) + 2 * (len(widths) - 1) > width:
        return _listed(rows)
    rule = "  ".join("-" * width for width in widths)
    lines = []
    for row in rows:
        if row is None:
            lines.append(rule)
        else:
            cells = [row[0].ljust(widths[0])]
            cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
            lines.append("  ".join(cells))
    return "\n".join([lines[0], rule, *lines[1:]])


def _listed(rows):
    """Return each row as its first cell and, below it, a line for each other one with its heading."""
    (_, *head), *others = rows
    indent = max(map(len, head), default=0)
    lines = []
    for row in others:
        if row is not None:
            lines += [row[0], *(f"  {name.ljust(indent)}  {cell}" for name, cell in zip(head, row[1:], strict=True))]
    return "\n".join(lines)
