"""Find the files that a name stands for, and read their bytes, unpacked, in pieces of bounded size.

URLs are listed, measured and opened by fsspec, and read as streams; they must not contain passwords.
"""

import bz2
import functools
import glob
import hashlib
import io
import lzma
import os
import re
import stat
import sys
import warnings
import zlib
from contextlib import contextmanager, nullcontext, suppress
from itertools import chain
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from ...ground.errors import (
    ConfigError,
    FileNote,
    InputError,
    MissingExtraError,
    NothingToTrainError,
    did_you_mean,
    require,
)
from ...ground.files.bounded import check_reachable, is_special, scheme_of
from .frames import InMemoryTable

STDIN = "-"
PIECE = 1 << 20  # bytes read, or unpacked, at a time
_PACKED_PIECE = 1 << 16
_ZSTD_PIECE = 1 << 13

_CODECS = {  # name -> how its files begin, and a function that creates a decompressor; zstd's is in a package
    "gzip": (re.compile(rb"\x1f\x8b\x08"), lambda: zlib.decompressobj(wbits=31)),
    "bzip2": (re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)"), bz2.BZ2Decompressor),
    "xz": (re.compile(rb"\xfd7zXZ\x00"), lambda: lzma.LZMADecompressor(format=lzma.FORMAT_XZ)),
    "zstd": (re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18"), None),
}
_BROKEN = OSError, ValueError, lzma.LZMAError, zlib.error  # what unpacking raises
_HEAD = 16  # bytes that determine the codec
_AHEAD: WeakKeyDictionary = WeakKeyDictionary()  # stream of standard input -> what was read from it for inspection
_WEB = {"http", "https"}
_ASIDE = ".", "_SUCCESS", "_committed_", "_started_", "_temporary", "_metadata", "_common_metadata", "_delta_log"


def is_paths(source):
    """Return whether `source` names files (a path, a list or tuple of paths); else it is sentences."""
    if isinstance(source, (str, os.PathLike)):
        return True
    return isinstance(source, (list, tuple)) and all(isinstance(s, (str, os.PathLike, InMemoryTable)) for s in source)


def is_stream(file):
    """Return whether a file of an `Input` is standard input, a pipe or a device, which can be read only once."""
    if not isinstance(file, str) or file == STDIN:
        return file == STDIN
    return file.startswith(("/dev/fd/", "/proc/self/fd/")) or is_special(os.path.expanduser(file))


def find_files(source):
    """List the files that `source` stands for: list of str, or of InMemoryTable.

    source : path, InMemoryTable, or list of them: files, glob patterns (``**`` enters folders), folders (all files in
        them and below, except hidden ones and Spark's extra files such as _SUCCESS), ``"-"`` for standard input,
        URLs. Globs and folders are sorted by path
    A file named several times, even by links, is listed once, with a `FileNote`
    InputError if one is missing or empty, or cannot be listed or reached; MissingExtraError, ConfigError for a URL
    """
    names = [source] if isinstance(source, (str, os.PathLike, InMemoryTable)) else source
    files = []
    for name in names:
        files += [name] if isinstance(name, InMemoryTable) else _expand(os.fsdecode(name))
    if not files:
        raise NothingToTrainError("no corpus was given: the list is empty; name at least one file")
    if files.count(STDIN) > 1:
        raise InputError('standard input can be read only once; name "-" once')
    return _once(files)


def _once(files):
    real, found, again = functools.cache(os.path.realpath), {}, []
    for file in files:
        key = file
        if isinstance(file, str) and file != STDIN and not scheme_of(file):
            folder, name = os.path.split(file)
            key = real(file) if os.path.islink(file) else os.path.join(real(folder), name)
        if key in found:
            again.append(file)
        found.setdefault(key, file)
    if again:
        what = f"{again[0]} is" if len(again) == 1 else f"{len(again):,} files, such as {again[0]}, are"
        warnings.warn(f"{what} named more than once, but read only once", FileNote, stacklevel=1)
    return list(found.values())


def _expand(name):
    if name == STDIN:
        return [name]
    if scheme_of(name):
        return _expand_url(name)
    path, files = os.path.expanduser(name), []
    if os.path.isdir(path):
        problem = "this folder holds no file (hidden ones do not count); name a folder with text files"
        files = _files_below(path)
    elif os.path.exists(path):
        if os.path.isfile(path) and os.path.getsize(path) == 0:
            raise InputError(f"{name}: the file is empty; name a file with text")
        return [path]
    elif glob.has_magic(path):
        problem = f"no file matches this pattern; check it from the folder {os.getcwd()}"
        for match in sorted(glob.glob(path, recursive=True)):
            files += _files_below(match) if os.path.isdir(match) else [match]
    else:
        check_reachable(path)
        folder, base = os.path.split(path)
        hint = f"; the folder {folder} does not exist either"
        with suppress(OSError):
            hint = did_you_mean(base, os.listdir(folder or "."), shown=-1)
        problem = "no such file or folder" + (f" (relative to {os.getcwd()}); check the path" if hint == "." else hint)
    if not files:
        raise InputError(f"{name}: {problem}")
    return list(dict.fromkeys(files))  # `**` lists a folder and its contents


def _files_below(folder):
    def refuse(error):
        raise InputError(f"{error.filename}: this folder cannot be listed ({error.strerror})") from error

    files, visited = [], set()
    for place, folders, names in os.walk(folder, onerror=refuse, followlinks=True):
        here = os.stat(place)
        if (here.st_dev, here.st_ino) in visited:  # a link back up
            folders.clear()
            continue
        visited.add((here.st_dev, here.st_ino))
        folders[:] = sorted(name for name in folders if not name.startswith(_ASIDE))
        files += [os.path.join(place, name) for name in names if not name.startswith(_ASIDE)]
    files = [path for path in files if os.path.isfile(path) or not os.path.exists(path)]  # no pipes, no devices
    return sorted(files, key=lambda path: path.split(os.sep))


def _expand_url(url):
    fs, path = _store(url)
    web = scheme_of(url) in _WEB  # where ? begins a query, and pages with links look like folders
    found, problem = [], ""
    with _with_remedy(url, "cannot be found"):
        if any(sign in path for sign in ("*" if web else "*?[")):
            problem = "no file matches this pattern; check the name"
            for name in sorted(fs.glob(path)):
                found += fs.find(name) if not web and fs.isdir(name) else [name]
        elif not web and fs.isdir(path):
            problem = "this folder holds no file; check the name"
            start = len(path.rstrip("/"))
            found = sorted(file for file in fs.find(path) if not any(f"/{name}" in file[start:] for name in _ASIDE))
        elif fs.info(path)["size"] == 0:
            problem = "the file is empty; name a file with text"
        found = [fs.unstrip_protocol(file) for file in found]
    if problem and not found:
        raise InputError(f"{url}: {problem}")
    return found or [url]


def _store(url):
    """Return (fsspec's file system, the path in it)."""
    fsspec = require("fsspec.core", "remote", f"reading {url}")
    if "@" in url.split("://")[1].split("/")[0] and urlsplit(url).password:
        raise ConfigError(
            f"{scheme_of(url)}://…: a password in a URL would be kept in the model folder; remove it, and give it to "
            "fsspec in its configuration"
        )
    with _with_remedy(url, "cannot be reached"):
        return fsspec.url_to_fs(url)


@contextmanager
def _with_remedy(url, what):
    """Turn errors of a store's package, each of which has its own types, into an InputError."""
    try:
        yield
    except FileNotFoundError as error:
        raise InputError(f"{url}: no such file or folder; check the name") from error
    except ImportError as error:
        raise MissingExtraError(f"reading {url} needs a package that is not installed: {error}") from error
    except Exception as error:
        lines = str(error).strip().splitlines()
        raise InputError(f"{url}: {what} ({lines[0] if lines else type(error).__name__})") from error


def file_stamp(path):
    """Return a stamp that changes with a file (list of int), or None for a pipe, a URL or a table in memory.

    path : as in `find_files`, or a descriptor. It is size, mtime and ctime in nanoseconds, inode and device.
    """
    if path == STDIN or isinstance(path, InMemoryTable) or scheme_of(path):
        return None
    try:
        status = os.stat(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be found ({error.strerror or error}); check the path") from error
    if not stat.S_ISREG(status.st_mode):
        return None
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_dev]


def opened(path):
    return nullcontext(path) if isinstance(path, InMemoryTable) else ByteStream(path)


class ByteStream:
    """One opened file or standard input; a context manager.

    path : str, a path, a URL or ``"-"``
    name : str, for messages; stamp : list of int or None, see `file_stamp`
    position : int, stored bytes read so far; unpacked : int, bytes yielded by `pieces` so far
    codec : str, its compression, or None; known once the first piece is read
    notes : list of str, what readers have noticed in it
    """

    def __init__(self, path):
        self.path = path
        self.name = "standard input" if path == STDIN else path
        self.position, self.unpacked, self.notes = 0, 0, []
        self._hash, self._pieces = hashlib.sha256(), self._unpacked()
        self._errors, self.stamp, self.codec = OSError, None, None
        self._ahead = b""  # stored bytes that were read already
        if path == STDIN:
            if sys.stdin is None:
                raise InputError("standard input is closed; pipe data into it, or name a file")
            self._file = sys.stdin.buffer
            self._ahead = _AHEAD.pop(self._file, b"")
            return
        if scheme_of(path):
            fs, place = _store(path)
            streams = {"block_size": 0} if scheme_of(path) in _WEB else {}
            self._errors = Exception  # each kind of store has its own
            with _with_remedy(path, "cannot be opened"):
                self._file = fs.open(place, "rb", **streams)
            return
        try:
            self._file = open(path, "rb", buffering=0)  # noqa: SIM115 (closed by __exit__)
        except OSError as error:
            raise InputError(f"{path}: cannot be opened ({error.strerror or error})") from error
        self.stamp = file_stamp(self._file.fileno())

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        if self.path != STDIN:
            self._file.close()

    def digest(self):
        return self._hash.hexdigest()

    def pieces(self):
        """Return an iterator over the unpacked content, about `PIECE` bytes at a time; InputError if it is unreadable,
        corrupt, or changed meanwhile.
        """
        return self._pieces

    def first(self):
        """Return the first piece of the content (bytes), which remains among the `pieces`; b"" if there is none."""
        first = next(self._pieces, b"")
        self._pieces = chain([first], self._pieces)
        return first

    def _unpacked(self):
        stored, head = self.stored(), b""
        for piece in stored:
            head += piece
            if len(head) >= _HEAD:
                break
        self.codec = next((name for name, (magic, _) in _CODECS.items() if magic.match(head)), None)
        stored = chain([head] if head else [], stored)
        for piece in stored if self.codec is None else self._unpack(self.codec, stored):
            self.unpacked += len(piece)
            yield piece
        if self.stamp and file_stamp(self._file.fileno())[:2] != self.stamp[:2]:
            raise InputError(f"{self.name}: the file changed while it was read; try again when it is complete")

    def stored(self):
        """Yield the content as stored (bytes); `digest` is computed from it."""
        try:
            while piece := self._ahead or self._file.read(PIECE):
                self._ahead = b""
                self.position += len(piece)
                self._hash.update(piece)
                yield piece
        except self._errors as error:
            reason = getattr(error, "strerror", None) or error
            raise InputError(f"{self.name}: cannot be read ({reason})") from error

    def _unpack(self, codec, stored):
        (_, open_member), errors = _CODECS[codec], _BROKEN
        step, most = _PACKED_PIECE, (PIECE,)  # bytes to read, and to yield, at a time
        if codec == "zstd":  # cannot limit the size of a piece
            zstandard = require("zstandard", "zstd", f"reading {self.name}, which is compressed with zstd,")
            open_member = zstandard.ZstdDecompressor(max_window_size=1 << 31).decompressobj
            step, most, errors = _ZSTD_PIECE, (), (*_BROKEN, zstandard.ZstdError)
        member, done = None, 0
        for data in (piece[start : start + step] for piece in stored for start in range(0, len(piece), step)):
            while data:
                rest = data if member else data.lstrip(b"\0")  # padding is allowed between members
                done += len(data) - len(rest)
                if not rest:
                    break
                member, data = member or open_member(), rest
                try:
                    while True:
                        piece = member.decompress(data, *most)
                        if piece:
                            yield piece
                        if member.eof or len(piece) < PIECE:
                            break
                        data = getattr(member, "unconsumed_tail", b"")  # which zlib gives back; others keep it
                except errors as error:
                    raise InputError(
                        f"{self.name}: corrupt {codec} data near byte {done:,} ({error}); fetch or copy it again"
                    ) from error
                data = member.unused_data if member.eof else b""
                done += len(rest) - len(data)
                member = None if member.eof else member
        if member is not None:
            raise InputError(
                f"{self.name}: the {codec} data end too early, after {self.position:,} bytes: "
                "the file is truncated; fetch or copy it again"
            )


@contextmanager
def begun(path):
    """Open a file or table to inspect its beginning; of standard input only a piece, which can be read again."""
    with opened(path) as source:
        if path == STDIN:
            _AHEAD[source._file] = source._ahead = next(source.stored(), b"")
            source._file = io.BytesIO()  # compressed data may break off here
        yield source


def start_of(pieces, size):
    """Return the first bytes of pieces, at least `size` if there are so many; errors are ignored here."""
    data = b""
    with suppress(InputError):
        for piece in pieces:
            data += piece
            if len(data) >= size:
                break
    return data


def taken(pieces, take, least=0):
    """Yield what `take` makes of pieces of text that are split anywhere, holding back what is incomplete.

    take : callable, (text held, whether it is the end) -> (result for its beginning, length of that beginning)
    least : int, bytes to hold before it is called
    """
    held, size = [], 0
    for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size >= least:
            text = b"".join(held)
            made, done = take(text, False)
            held, size = [text[done:]], size - done
            if made:
                yield made
    if size:
        yield take(b"".join(held), True)[0]
