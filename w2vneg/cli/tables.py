"""Tables for people, on a terminal."""


def table(rows):
    """Align rows of strings under the first one: the first column left, the others right; None is a rule."""
    widths = [max(len(row[i]) for row in rows if row is not None) for i in range(len(rows[0]))]
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
