"""Files that are written packed, as the endings of their names say: .gz, .bz2, .xz, .zst."""

import bz2
import gzip
import lzma
import os
from contextlib import nullcontext

from ..errors import require


def _zstd(stream):
    zstandard = require("zstandard", "zstd", "writing .zst")
    return zstandard.ZstdCompressor().stream_writer(stream, closefd=False)


_PACKERS = {  # ending -> what packs into a stream
    ".gz": lambda stream: gzip.GzipFile("", "wb", fileobj=stream, mtime=0),
    ".bz2": lambda stream: bz2.BZ2File(stream, "wb"),
    ".xz": lambda stream: lzma.LZMAFile(stream, "wb"),  # noqa: SIM115 (closed by `packed`'s caller)
    ".zst": _zstd,
}


def without_packing(path):
    """Return a path (str) and its ending for packing, in lower case, taken off it; "" if it has none."""
    bare, ending = os.path.splitext(os.fspath(path))
    return (bare, ending.lower()) if ending.lower() in _PACKERS else (os.fspath(path), "")


def packed(stream, path):
    """Return a context manager that gives what packs into `stream` as the name of `path` says, or `stream` itself.

    `stream` stays open. MissingExtraError for .zst without zstandard
    """
    ending = without_packing(path)[1]
    return _PACKERS[ending](stream) if ending else nullcontext(stream)
