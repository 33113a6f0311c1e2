"""Foreign formats: recognised by their first lines, and refused with what to type instead."""

import os

from ...ground.errors import InputError
from .foreign_kinds import KINDS, LOOKED_AT, TABLES, Head, csv_head, is_csv, is_json_lines, is_networkx
from .records import JSON, NETWORKX
from .sources import STDIN, file_stamp, find_files, first_bytes, scheme_of

_PLAIN = "give --plain to read it as it is"


def recognise(data, where):
    """Return the `Kind` that the beginning of a file is of, or None.

    data : bytes, unpacked; where : str, "text", "baskets", "edges", "pairs" or "ratings": what it is given as
    """
    head = Head.of(data)
    if not head.lines:
        return None
    return next((kind for kind in KINDS if where in kind.where and kind.test(head)), None)


def refuse(name, data, where):
    """Raise InputError if a file is of a foreign format; name : str, of the file; otherwise as `recognise`."""
    kind = recognise(data, where)
    if kind is not None:
        head = Head.of(data)
        override = "give --delimiter if it is a table all the same" if where in TABLES else _PLAIN
        what = {"text": "text", "baskets": "baskets, one a line"}.get(where, "a table of rows")
        columns = f" Its columns: {', '.join(csv_head(head))[:200]}." if kind.test is is_csv else ""
        remedy = kind.remedy(head) if callable(kind.remedy) else kind.remedy
        raise InputError(f"{name}: looks like {kind.name}, not like {what}; {remedy} ({override}).{columns}")


def form_of_records(data, where):
    """Return the `records.Form` of a table whose rows name their own cells, by its beginning; None for another.

    data : bytes, unpacked; where : str, "edges", "pairs" or "ratings"
    """
    head = Head.of(data)
    if not head.lines:
        return None
    if is_json_lines(head):
        return JSON
    return NETWORKX if where == "edges" and is_networkx(head) else None


def beginnings(files):
    """Yield (name, first bytes, unpacked) of files, of URLs the first; pipes and {rank} are left out."""
    present = [file for file in files if "{rank}" not in str(file)]
    remote = 0
    for path in find_files(present) if present else ():
        local = path != STDIN and scheme_of(path) is None
        remote += scheme_of(path) is not None
        if (remote > 1 and not local) or (local and (not os.path.isfile(path) or file_stamp(path) is None)):
            continue
        yield "standard input" if path == STDIN else path, first_bytes(path, LOOKED_AT)
