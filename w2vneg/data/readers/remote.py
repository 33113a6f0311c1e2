"""Files named by URLs, such as s3://bucket/part-0.zst: listed, measured and opened by fsspec, and read as streams.

fsspec knows many kinds of stores; most need a package of their own, which its message names. Nothing is copied to this
machine as a whole, and passwords and keys are those that the store's package finds for itself, never part of a name.
"""

from urllib.parse import urlsplit

from ...ground.errors import ConfigError, InputError, MissingExtraError, require
from ...ground.files.bounded import scheme_of

_WEB = {"http", "https"}


def find(url):
    """Return the files that a URL stands for, a list of str: itself, all below it, or what its pattern matches.

    Raises
    ------
    MissingExtraError
        If fsspec, or its package for this kind of URL, is not installed.
    ConfigError
        If the URL holds a password.
    InputError
        If there is no such file, no file in a folder, or a file without a byte; or the store cannot be reached.
    """
    fs, path = _store(url)
    web = scheme_of(url) in _WEB  # where a ? begins a question, and pages with links look like folders
    try:
        if any(sign in path for sign in ("*" if web else "*?[")):
            found = sorted(fs.glob(path))
            found = [file for name in found for file in (fs.find(name) if not web and fs.isdir(name) else [name])]
            return [fs.unstrip_protocol(file) for file in _some(found, url, "no file matches this pattern")]
        if not web and fs.isdir(path):
            below = [file for file in fs.find(path) if "/." not in file[len(path.rstrip("/")) :]]
            return [fs.unstrip_protocol(file) for file in _some(sorted(below), url, "this folder holds no file")]
        if fs.info(path)["size"] == 0:
            raise InputError(f"{url}: the file is empty; name a file with text")
    except FileNotFoundError as error:
        raise InputError(f"{url}: no such file or folder; check the name") from error
    except Exception as error:
        raise _told(url, "cannot be found", error) from error
    return [url]


def size_of(url):
    """Return how many bytes a file has (int)."""
    fs, path = _store(url)
    try:
        size = fs.info(path)["size"]
    except Exception as error:
        raise _told(url, "cannot be found", error) from error
    if size is None:
        raise InputError(f"{url}: its server does not tell its length, so it cannot be dealt out; give ranks files")
    return size


def can_be_cut(url):
    """Tell whether a file can be read from any of its bytes on; of web servers, one may not know how, and is asked."""
    if scheme_of(url) not in _WEB:
        return True
    fs, path = _store(url)
    try:
        with fs.open(path, "rb", block_size=1, cache_type="none") as file:
            file.seek(1)
            return len(file.read(1)) == 1
    except Exception:  # whatever it is, the file as a whole may still be read
        return False


def open_url(url, seeks=False):
    """Return the stored bytes as a binary file; seeks : whether it is to be read from somewhere else than its start."""
    fs, path = _store(url)
    streams = {"block_size": 0} if scheme_of(url) in _WEB and not seeks else {}
    try:
        return fs.open(path, "rb", **streams)
    except Exception as error:
        raise _told(url, "cannot be opened", error) from error


def _store(url):
    """Return (fsspec's file system, the path in it)."""
    fsspec = require("fsspec.core", "remote", f"reading {url}")
    if "@" in url.split("://")[1].split("/")[0] and urlsplit(url).password:
        raise ConfigError(
            f"{scheme_of(url)}://…: a password in a URL would be kept in the model folder; let fsspec know it by its "
            "configuration, and leave it out"
        )
    try:
        return fsspec.url_to_fs(url)
    except ImportError as error:
        raise MissingExtraError(f"reading {url} needs a package that is not installed: {error}") from error
    except Exception as error:
        raise _told(url, "cannot be reached", error) from error


def _some(found, url, otherwise):
    if not found:
        raise InputError(f"{url}: {otherwise}; check the name")
    return found


def _told(url, what, error):
    """Return what went wrong in a store's package, each of which has errors of its own, as an InputError."""
    if isinstance(error, InputError):
        return error
    lines = str(error).strip().splitlines()
    return InputError(f"{url}: {what} ({lines[0] if lines else type(error).__name__})")
