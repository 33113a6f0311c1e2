"""Download, copy or unpack files, verify them, and keep only what matches the manifest."""

import gzip
import hashlib
import os
import tempfile
from contextlib import suppress

from ... import __version__
from ...ground.errors import DataError, W2vnegError
from ...ground.files.atomic import atomic_file
from ...ground.files.bounded import digested
from ...ground.files.caches import writing_to

_CHUNK = 1 << 18
_TIMEOUT = 30  # seconds without an answer
_LARGEST_ARCHIVE = 1 << 27  # bytes; the largest known one has 35 MB
_LARGEST_UNPACKED = 1 << 30  # bytes read from a compressed archive in search of a member
_verified: dict = {}  # (path, Form) -> (size, mtime_ns) of the file when it was last verified


class Unreachable(DataError):
    """A place that did not deliver the expected file; another may. Unprintable characters are escaped, as the text may
    come from a server.
    """

    def __init__(self, text):
        super().__init__("".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text))


def mismatch(path, form):
    """Return in words why the file at `path` does not match `form`, or None; a verified file is not read again."""
    try:
        status = os.stat(path)
        stamp = status.st_size, status.st_mtime_ns
        if _verified.get((str(path), form)) == stamp:
            return None
        if status.st_size != form.size:
            return f"expected {form.size} bytes, found {status.st_size}"
        complaint = _complaint(form, digested(path, _digest(form)), form.size)
    except OSError as error:
        return f"it cannot be read ({error.strerror})"
    if complaint is None:
        _verified[str(path), form] = stamp
    return complaint


def rows_sha256(path):
    """Return the sha256 of a text file's rows without comment lines, blank lines and spaces at line ends."""
    with open(path, "rb") as stream:
        rows = [row.strip() for row in stream]
    return hashlib.sha256(b"\n".join(row for row in rows if row and not row.startswith(b"#"))).hexdigest()


def download(url, form, destination, progress):
    """Download `url` to `destination` and return it; Unreachable, and nothing is kept, unless it matches `form`."""
    with _answer_of(url) as answer:
        return store(_received(answer, url, progress), form, destination, url)


def download_members(url, wanted, progress):
    """Download an archive and unpack members of it, each by its name only, to the given destinations.

    wanted : list of (member, form, destination); the first must be present and correct, others are kept if they are
    Unreachable if the address delivers no file, or if the archive or its first member is not as expected
    """
    folder = wanted[0][2].parent
    with writing_to(folder):
        folder.mkdir(parents=True, exist_ok=True)
        archive = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 (entered below, errors kept apart)
    with archive:
        with _answer_of(url) as answer:
            for chunk in _received(answer, url, progress):
                if archive.tell() + len(chunk) > _LARGEST_ARCHIVE:
                    raise Unreachable(f"{url} delivered more than {_LARGEST_ARCHIVE} bytes; nothing was kept")
                with writing_to(folder):
                    archive.write(chunk)
        _take_out(archive, *wanted[0], url)
        for other in wanted[1:]:
            with suppress(Unreachable):
                _take_out(archive, *other, url)


def store(chunks, form, destination, origin):
    """Write chunks of bytes from `origin` to `destination` and return it; Unreachable, none kept, if not as `form`."""
    with writing_to(destination.parent):
        destination.parent.mkdir(parents=True, exist_ok=True)
    digest, size, begun = _digest(form), 0, b""
    with atomic_file(destination) as stream:
        for chunk in chunks:
            begun, size = begun or chunk, size + len(chunk)
            if form.size and size > form.size:
                more = f"more than the expected {form.size} bytes"
                raise Unreachable(f"{origin} delivered {more}{_as_a_page(begun)}; nothing was kept")
            stream.write(chunk)
            digest.update(chunk)
        complaint = _complaint(form, digest, size)
        if complaint:
            what = f"the expected {form.name}{_as_a_page(begun)}"
            raise Unreachable(f"{origin} did not deliver {what}: {complaint}; nothing was kept")
    return destination


def _as_a_page(begun):
    return " (it looks like a web page)" if begun.lstrip().startswith(b"<") else ""


def chunks_of(stream, origin):
    """Yield the bytes of an open stream; Unreachable, naming `origin`, if it cannot be read or unpacked."""
    import lzma
    import zipfile
    import zlib

    try:
        while chunk := stream.read(_CHUNK):
            yield chunk
    except (OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile) as error:
        raise Unreachable(f"{origin} is broken: {error}; nothing was kept") from error


def _digest(form):
    return hashlib.sha256() if form.sha256 else hashlib.md5(usedforsecurity=False)


def _complaint(form, digest, size):
    expected = form.sha256 or form.md5
    if form.size in (0, size) and digest.hexdigest() == expected:
        return None
    known = f" ({form.size} bytes)" if form.size else ""
    return f"expected {digest.name} {expected}{known}, got {digest.hexdigest()} ({size} bytes)"


def _answer_of(url):
    from http.client import HTTPException
    from urllib.error import HTTPError, URLError
    from urllib.request import Request, urlopen

    try:
        return urlopen(Request(url, headers={"User-Agent": f"w2vneg/{__version__}"}), timeout=_TIMEOUT)
    except HTTPError as error:
        error.close()
        raise Unreachable(f"{url} answered {error.code} {error.reason}") from error
    except (URLError, HTTPException, OSError, ValueError) as error:
        cause = getattr(error, "reason", None) or error
        cause = getattr(cause, "strerror", None) or cause
        raise Unreachable(f"{url} cannot be reached ({cause})") from error


def _received(answer, url, progress):
    from http.client import HTTPException

    length = answer.headers.get("Content-Length", "")
    total, done = int(length) if length.isdigit() else None, 0
    while True:
        try:
            chunk = answer.read1(_CHUNK)
        except (OSError, HTTPException) as error:
            raise Unreachable(f"{url} broke off after {done} bytes ({error}); nothing was kept") from error
        if not chunk:
            break
        done += len(chunk)
        if progress is not None:
            progress(done, total)
        yield chunk
    if total is not None and done < total:
        raise Unreachable(f"{url} broke off after {done} of {total} bytes; nothing was kept")


def _take_out(archive, member, form, destination, url):
    import tarfile
    import zipfile

    kind = "zip" if url.endswith("zip") else "tar"
    archive.seek(0)
    try:
        bounded = _Bounded(fileobj=archive)
        with zipfile.ZipFile(archive) if kind == "zip" else tarfile.open(fileobj=bounded, mode="r:") as unpacked:
            if kind == "zip":
                files, opened = {info.filename: info for info in unpacked.infolist()}, unpacked.open
            else:
                files, opened = {entry.name: entry for entry in unpacked if entry.isfile()}, unpacked.extractfile
            with opened(files[_choose(files, member, url)]) as stream:
                store(chunks_of(stream, url), form, destination, f"{member} in {url}")
    except W2vnegError:
        raise
    except Exception as error:  # zipfile may raise anything: an empty name is an IndexError
        archive.seek(0)
        what = f"a readable {kind} archive{_as_a_page(archive.read(_CHUNK))}"
        raise Unreachable(f"{url} is not {what}: {error}; nothing was kept") from error


class _Bounded(gzip.GzipFile):
    """A stream that limits how much it unpacks."""

    def read(self, size=-1):
        self._check(self.tell() + size)
        return super().read(size)

    def seek(self, offset, whence=os.SEEK_SET):
        self._check(offset)
        return super().seek(offset, whence)

    def _check(self, end):
        if end > _LARGEST_UNPACKED:
            raise OSError(f"more than {_LARGEST_UNPACKED} bytes inside")


def _choose(entries, member, url):
    """Return the entry called `member`, or the only one with its file name; never one that points outside."""
    inside = [name for name in entries if not name.startswith("/") and ".." not in name.split("/")]
    last = member.rpartition("/")[2]
    alike = [name for name in inside if name.removeprefix("./") == member][:1]
    alike = alike or [name for name in inside if name.rpartition("/")[2] == last]
    if len(alike) != 1:
        raise Unreachable(f"{url} contains {'more than one' if alike else 'no'} file {last}; nothing was kept")
    return alike[0]
