"""What Python sources say to a compiler: their syntax, whatever their comments, docstrings and layout are."""

import ast
import hashlib
import re
import sys
import warnings
from contextlib import suppress


def syntax_digest(source):
    """Return a digest (bytes) of the syntax of Python source (bytes); of the bytes themselves if it is no Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what is written there Python warned when it was imported
            tree = ast.parse(source)
        for node in ast.walk(tree):
            if isinstance(getattr(node, "body", None), list):
                node.body = [statement for statement in node.body if not _is_text(statement)]
        source = ast.dump(tree).encode("utf-8", "surrogatepass")
    except (SyntaxError, ValueError, RecursionError):
        pass
    return hashlib.sha256(source).digest()


def _is_text(statement):
    """Tell whether a statement is a string alone, as a docstring is: nothing comes of it."""
    value = getattr(statement, "value", None)
    return isinstance(statement, ast.Expr) and isinstance(value, ast.Constant) and isinstance(value.value, str)


def digest_of_files(root, paths, notes):
    """Return one digest (str) of the syntax of many files and of their names.

    Parsing them takes a fifth of the time that a short command does, so the answer for these very bytes is noted.

    Parameters
    ----------
    root : Path
        The folder that names are relative to.
    paths : iterable of Path
    notes : Path
        Folder of the notes, which are files that end in ``.syntax``; one that cannot be written to is no error.
    """
    sources = {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(paths)}
    key = hashlib.sha256(sys.version.encode())  # another Python may have other names for the same syntax
    for name, source in sources.items():
        key.update(f"\n{name} {len(source)}\n".encode() + source)
    note = notes / f"{key.hexdigest()}.syntax"
    with suppress(OSError, ValueError):
        known = note.read_text(encoding="ascii")
        if re.fullmatch("[0-9a-f]{64}", known):  # else it was cut short, or damaged since
            return known
    digest = hashlib.sha256()
    for name, source in sources.items():
        digest.update(f"\n{name}\n".encode() + syntax_digest(source))
    with suppress(OSError):
        notes.mkdir(parents=True, exist_ok=True)
        note.write_text(digest.hexdigest(), encoding="ascii")
    return digest.hexdigest()
