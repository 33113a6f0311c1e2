"""Compressed output, chosen by the suffix of the file: .gz, .bz2, .xz, .zst."""

import bz2
import gzip
import lzma
import os
from contextlib import nullcontext

from ..errors import require


def _zstd(stream):
    zstandard = require("zstandard", "zstd", "writing .zst")
    return zstandard.ZstdCompressor().stream_writer(stream, closefd=False)


_PACKERS = {  # suffix -> compressor on a stream
    ".gz": lambda stream: gzip.GzipFile("", "wb", fileobj=stream, mtime=0),
    ".bz2": lambda stream: bz2.BZ2File(stream, "wb"),
    ".xz": lambda stream: lzma.LZMAFile(stream, "wb"),  # noqa: SIM115 (closed by `packed`'s caller)
    ".zst": _zstd,
}


def without_packing(path):
    """Split a path into a bare path (str) and its suffix of compression in lower case, "" if it has none."""
    bare, ending = os.path.splitext(os.fspath(path))
    return (bare, ending.lower()) if ending.lower() in _PACKERS else (os.fspath(path), "")


def packed(stream, path):
    """Return a context manager of a compressor on `stream`, chosen by the suffix of `path`, or of `stream` itself.

    `stream` stays open. MissingExtraError for .zst without zstandard
    """
    ending = without_packing(path)[1]
    return _PACKERS[ending](stream) if ending else nullcontext(stream)
