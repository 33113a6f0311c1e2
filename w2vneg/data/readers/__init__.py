"""Readers: from stored files to text of one form, which the encoder counts and numbers.

A reader is a generator function ``read(source, *, encoding, lowercase)`` that takes an opened
`sources.Source` and yields pieces of valid UTF-8 bytes without NUL, cut anywhere, in which white space
separates tokens and a line feed ends a sentence. It raises InputError for whatever in the file it cannot turn
into that form. To add one, write a file in this folder (or anywhere else), decorate its function with
``@READERS.register("name")``, and import that file below.
"""

from ...registry import Registry

READERS = Registry("reader")

from . import text, words  # noqa: E402, F401 (register themselves in the table above)
