"""Bounded reading of files that a user names: a file without end is an InputError that names it.

`read_text`, `read_json` and `parse_toml` read whole files, `lines_of` reads line by line. For matrices see `npy`.
"""

import json
import math
import os
import re
import stat
import sys
from contextlib import suppress
from dataclasses import MISSING, fields
from functools import partial
from typing import Any, get_args

from ..errors import ConfigError, InputError

LARGEST = 1 << 28  # bytes of a file that is read whole
TO_UTF_8 = "convert the file to UTF-8; if it is Latin-1: iconv -f latin1 -t utf-8 FILE > OUT"
LONGEST_LINE = 1 << 24  # bytes, of a file that is read line by line
_LONGEST_TOML = 1 << 20  # characters; Python reads about half a MB a second
_MOST_PARTS = 32  # of a key; the time to read one grows with the square of their number
_MOST_BITS = 1000  # of a whole number; larger ones fit no float and cannot be printed
_PART = r"""(?:[\w-]+|"[^"\n]*"|'[^'\n]*')"""
_MANY_PARTS = re.compile(rf"(?:^|[\[{{,])[ \t]*(?:{_PART}[ \t]*\.[ \t]*){{{_MOST_PARTS}}}", re.MULTILINE)
_URL = re.compile(r"([a-z][a-z0-9+.-]+)://", re.IGNORECASE)


def is_path(place):
    """Return whether something is a str or a Path that could name a file."""
    try:
        return isinstance(place, str | os.PathLike) and bool(name := os.fsencode(place)) and b"\0" not in name
    except UnicodeEncodeError:  # a lone surrogate
        return False


def check_path(place, remedy="name a file or folder"):
    """Raise ConfigError with a remedy unless `is_path`."""
    if not is_path(place):
        raise ConfigError(f"a path is a str or a Path, not {place!r:.60}; {remedy}")


def scheme_of(name):
    """Return the scheme of a URL, such as ``s3``, in lower case; None for a path."""
    found = _URL.match(name) if isinstance(name, str) else None
    return found and found[1].lower()


def read_bytes(path, missing="no such file"):
    """Return all bytes of a file; InputError if it is missing (with `missing`), unreadable or above `LARGEST`."""
    try:
        with open(path, "rb") as stream:
            data = stream.read(LARGEST + 1)
    except FileNotFoundError:
        raise InputError(f"{path}: {missing}") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise InputError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error})") from error
    if len(data) > LARGEST:
        raise InputError(f"{path}: more than {LARGEST >> 20} MB, or without end; files of this kind are small")
    return data


def read_text(path, missing="no such file", errors="strict"):
    """Return a UTF-8 file as str, without a byte-order mark; InputError as `read_bytes`, or naming the line."""
    return decoded(path, read_bytes(path, missing), errors)


def decoded(path, data, errors="strict"):
    """Decode UTF-8 bytes of a file, without a byte-order mark; InputError names the line that is not UTF-8."""
    try:
        return data.decode("utf-8-sig", errors)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        remedy = "it is a Parquet file; write it as text" if data.startswith(b"PAR1") else TO_UTF_8
        if data.startswith((b"\xff\xfe", b"\xfe\xff")):
            remedy = remedy.replace("Latin-1", "UTF-16").replace("latin1", "utf-16")
        raise InputError(f"{path}:{line}: not UTF-8 text; {remedy}") from None


def read_json(path, missing="no such file"):
    """Return what a JSON file holds; InputError as for `read_text`, or if it is not JSON or a number is not finite."""
    return parse_json(read_text(path, missing), path)


def parse_json(text, where, lenient=False):
    """Parse JSON text, or its bytes; InputError, which names its source `where`, if it is not JSON.

    lenient : bool, a number that is not finite becomes None instead of an InputError
    """

    def number(text):
        value = float(text)
        if math.isfinite(value):
            return value
        if lenient:
            return None
        raise ValueError(f"{text[:20]} is not a finite number")

    try:
        return json.loads(text, parse_float=number, parse_constant=number)
    except (ValueError, RecursionError) as error:  # ValueError also for whole numbers of thousands of digits
        raise InputError(f"{where}: not JSON ({error})") from error


def as_fields(cls, values):
    """Return values of a JSON object (dict) for the fields of a dataclass: whole numbers become floats where a field is
    one, None becomes NaN. ValueError for a missing field, or a value of another type.
    """
    found = {}
    for field in fields(cls):
        if field.name not in values:
            if field.default is MISSING and field.default_factory is MISSING:
                raise ValueError(f"{field.name} is missing")
            continue
        value = values[field.name]
        kind: Any = field.type  # a class or a union
        if float in (kind, *get_args(kind)) and isinstance(value, int):
            value = float(value) if abs(value) < 1e300 else value
        if kind is float and value is None:
            value = math.nan
        if not isinstance(value, kind):
            raise ValueError(f"{field.name} is {str(value)[:40]}")
        found[field.name] = value
    return found


def parse_toml(text, where):
    """Parse TOML text (dict); InputError, which names its source `where`, if it is not TOML or too large."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    if len(text) > _LONGEST_TOML:
        raise InputError(f"{where}: more than {_LONGEST_TOML >> 20} MB of TOML; name many files by a folder or a glob")
    if _MANY_PARTS.search(text):
        raise InputError(f"{where}: a dotted key of more than {_MOST_PARTS} parts; no option has one")
    try:
        values = tomllib.loads(text.replace("\r\n", "\n"))
    except (ValueError, RecursionError) as error:  # also other errors: thousands of digits, brackets
        decoded(where, text.encode("utf-8", "surrogateescape"))  # a file that is not UTF-8 is reported as such
        raise InputError(f"{where}: not TOML ({error})") from error
    left = [values]
    while left:
        value = left.pop()
        if isinstance(value, dict | list):
            left.extend(value.values() if isinstance(value, dict) else value)
        elif isinstance(value, int) and value.bit_length() > _MOST_BITS:
            raise InputError(f"{where}: a whole number of {value.bit_length():,} bits; no option takes one so large")
        elif isinstance(value, str) and "\0" in value:
            raise InputError(f"{where}: a NUL in {value[:40]!r}; no name or path has one")
    return values


def digested(path, digest):
    """Update a digest of `hashlib` with a file and return it; OSError."""
    with open(path, "rb") as stream:
        while piece := stream.read(1 << 20):
            digest.update(piece)
    return digest


def lines_of(path, stream):
    """Yield the lines of a binary stream with their ends; InputError if one has `LONGEST_LINE` bytes or more."""
    for number, line in enumerate(iter(partial(stream.readline, LONGEST_LINE), b""), 1):
        if len(line) == LONGEST_LINE:
            refuse_line(path, number)
        yield line


def refuse_line(path, number):
    """Raise InputError for a line without end."""
    raise InputError(f"{path}:{number}: no line end within {LONGEST_LINE >> 20} MB; this is another kind of file")


def is_special(path):
    """Return whether `path` is a device or a pipe, which cannot be read twice."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):  # opening it raises the error
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def check_reachable(path):
    """Raise InputError if a folder on the way to `path` may not be entered, so that `path` seems not to exist."""
    if complaint := barred(path):
        raise InputError(f"{path}: {complaint}")


def barred(path):
    """Return the complaint (str) if a folder on the way to `path` may not be entered; else None."""
    try:
        os.stat(path)
    except PermissionError as error:
        return f"cannot be read ({error.strerror}); get permission to enter its folder, or name another file"
    except (OSError, ValueError):
        pass
    return None


def check_regular(path):
    """Raise InputError if `path` is a device, a pipe or the like, or the str ``"-"``, which is standard input."""
    if path == "-":
        raise InputError("-: standard input, which cannot be read twice; copy it to a file")
    if is_special(path):
        raise InputError(f"{path}: a device or a pipe, which cannot be read twice; copy it to a file")


def check_members(folder):
    """Raise InputError if a folder contains a device, a pipe or the like, of which a reader would wait for the end."""
    with suppress(OSError):  # it may be replaced just now, or not be listed: its files are then opened one by one
        for name in os.listdir(folder):
            check_regular(os.path.join(folder, name))
