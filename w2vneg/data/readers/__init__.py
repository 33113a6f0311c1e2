"""Readers: convert stored files to text of one form, whose tokens the encoder counts and numbers.

A reader is a generator function ``read(source, *, encoding, lowercase)`` that takes an opened `sources.ByteStream` and
yields pieces of valid UTF-8 bytes without NUL, split anywhere. White space separates tokens, and a line feed ends a
sentence. InputError if the file cannot be converted. docs/extending.md shows how to write one.
"""

import hashlib
from functools import partial
from pathlib import Path

from ...ground.registry import Registry
from .text import read_text, read_words

READERS = Registry("reader")
READERS.register("text")(read_text)
READERS.register("words")(read_words)

_PACKAGE = Path(__file__).resolve().parents[2]


def code_of(name):
    """Return a digest of an external reader's source file (str), as its output may change; "" for built-in readers."""
    reader = READERS[name]
    while isinstance(reader, partial):
        reader = reader.func
    code = reader.__code__
    path = Path(code.co_filename).resolve()
    if path.is_relative_to(_PACKAGE):
        return ""
    return hashlib.sha256(path.read_bytes() if path.is_file() else code.co_code).hexdigest()
