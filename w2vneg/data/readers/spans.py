"""Files dealt out to ranks: whole ones, and stretches of those whose lines can be told apart without unpacking them.

A line belongs to the stretch that its first byte lies in. So whoever reads a stretch begins behind the first line end
at or before it, and reads on to the end of the last line that begins there.
"""

import os
from typing import NamedTuple

from ...ground.files.bounded import scheme_of
from . import remote
from .sources import ByteStream

_CUTTABLE = {"utf-8", "ascii", "iso8859-1", "cp1252", "iso8859-15"}  # a byte 10 is a line end and nothing else


class FileSpan(NamedTuple):
    """Part of a file: path : str; begin, end : int, in bytes, end None for all that is left."""

    path: str
    begin: int = 0
    end: int | None = None

    def size(self):
        """Return how many bytes it has (int)."""
        return (_size(self.path) if self.end is None else self.end) - self.begin

    def open(self):
        """Return it as a `ByteStream`."""
        return ByteStream(self.path) if self.begin == 0 and self.end is None else _SpanStream(*self)


class _SpanStream(ByteStream):
    def __init__(self, path, begin, end):
        super().__init__(path, seeks=True)
        self.name = f"{path} from byte {begin:,} on"
        self._begin, self._end = begin, end

    def _stored(self):
        place, skips = max(0, self._begin - 1), self._begin > 0
        self._file.seek(place)
        for piece in super()._stored():
            begun = 0
            if skips:
                begun = piece.find(b"\n") + 1
                if begun == 0:
                    place += len(piece)
                    continue
                skips = False
                if self._end is not None and place + begun >= self._end:
                    return  # no line begins here
            if self._end is not None and place + len(piece) >= self._end:
                last = piece.find(b"\n", max(begun, self._end - 1 - place)) + 1
                if last:
                    yield piece[begun:last]
                    return
            yield piece[begun:]
            place += len(piece)


def split_among(files, borders, encoding="utf-8"):
    """Deal files out.

    Parameters
    ----------
    files : list of str, paths or URLs
    borders : list of float, (n + 1,), where the n shares begin and end, 0 … 1 of all bytes
    encoding : str, as `text.codec_name` gives it; None for files that cannot be cut

    Returns
    -------
    list of list of FileSpan
        Together, in order, all lines of all files in order. Files are cut where they can be; a packed one, or one of
        another encoding, goes whole to where its first byte belongs.
    """
    sizes = [_size(path) for path in files]
    n = len(borders) - 1
    before, dealt = 0, [[] for _ in range(n)]
    borders = [int(sum(sizes) * border) for border in borders]
    for path, size in zip(files, sizes, strict=True):
        if not _can_be_cut(path, encoding):
            dealt[max(k for k in range(n) if borders[k] <= before)].append(FileSpan(path))
        else:
            for k, own in enumerate(dealt):
                begin, end = max(borders[k], before) - before, min(borders[k + 1], before + size) - before
                if begin < end:
                    own.append(FileSpan(path, begin, None if end == size else end))
        before += size
    return dealt


def _size(path):
    return remote.size_of(path) if scheme_of(path) else os.path.getsize(path)


def _can_be_cut(path, encoding):
    if encoding not in _CUTTABLE or (scheme_of(path) and not remote.can_be_cut(path)):
        return False
    with ByteStream(path) as source:
        return source.codec() is None
