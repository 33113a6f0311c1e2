"""Tables and lists that fit the width of the terminal; JSON for programs."""

import json
import shutil
import sys
import textwrap

import click

from ..ground.errors import plain


def echo(text=""):
    """Print text; on a terminal, with the control characters of words and titles as `plain` shows them."""
    click.echo(plain(text) if terminal_width() is not None else text)


def echo_json(value, **how):
    """Print a value as JSON; how : as for `json.dumps`."""
    echo(json.dumps(value, indent=2, ensure_ascii=False, **how))


def terminal_width():
    """Return how many columns standard output has (int), None if it is not a terminal."""
    if sys.stdout is None or not sys.stdout.isatty():
        return None
    return shutil.get_terminal_size().columns


def hanging(head, text, width=None):
    """Return a head and a text after it, wrapped with a hanging indent on a terminal, or to `width`.

    A head that takes more than half of a line gets a line of its own.
    """
    width = terminal_width() if width is None else width
    if width is None or len(head) + len(text) <= width:
        return (head + text).rstrip()
    indent = len(head) if 2 * len(head) <= width else min(6, width // 4)
    lines = textwrap.wrap(text, max(width - indent, 10), break_long_words=False, break_on_hyphens=False)
    if indent < len(head):
        return "\n".join([head.rstrip(), *(" " * indent + line for line in lines)])
    return ("\n" + " " * indent).join([head + lines[0], *lines[1:]])


def table(rows, width=None):
    """Align rows of strings under the first one: the first column left, the others right; None is a rule.

    A table that is wider than the terminal, or than `width`, is written as a list: each row under its first cell.
    """
    widths = [max(len(row[i]) for row in rows if row is not None) for i in range(len(rows[0]))]
    width = terminal_width() if width is None else width
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
    (_, *head), *others = rows
    indent = max(map(len, head), default=0)
    lines = []
    for row in others:
        if row is not None:
            lines += [row[0], *(f"  {name.ljust(indent)}  {cell}" for name, cell in zip(head, row[1:], strict=True))]
    return "\n".join(lines)
