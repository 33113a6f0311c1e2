"""Where a named set is, in the order of resolution, and the steps that bring it here."""

import os
from pathlib import Path
from urllib.parse import quote

from ...ground.errors import DataError, InputError, UnknownNameError, did_you_mean
from ...ground.files.caches import at_home, cache_dir
from ..builtin import builtin_path, builtin_place
from .download import Unreachable, chunks_of, download, download_members, mismatch, rows_sha256, store
from .manifests import checkout, info, names


def resolve(name_or_path, mirror=None, progress=None, *, kind=None):
    """Return the file that a name or a path stands for, fetching it if need be.

    The order: a path that exists; the data folder (``W2VNEG_DATA``, and ``data/`` and ``eval_sets/`` of a
    checkout); the cache; the copy an installed gensim carries; the mirror; the official address. Named files
    are verified before they are used. A file in a mirror folder is used in place, packed or not.

    Parameters
    ----------
    name_or_path : str or path
    mirror : str or path, optional
        A folder or an http(s) address laid out as the manifests say; ``W2VNEG_MIRROR`` if None.
    progress : callable(done, total), optional
        Called with the bytes received and expected (None if unknown) of a download.
    kind : str, optional
        ``corpus``, ``items``, ``similarity`` or ``analogy``: a name of another kind is refused.

    Returns
    -------
    Path
        The file; it may be packed (``.xz``), which the readers recognise by content.

    Raises
    ------
    UnknownNameError, InputError
        If there is neither such a file nor such a name.
    DataError
        If the data cannot be had (with what to download and where to put it) or are not what they should be.
    OutputError
        If the cache cannot be written.
    """
    text = os.fspath(name_or_path)
    if text and os.path.exists(text):
        return Path(text)
    dataset = _named(text, kind)
    if dataset.made_here:
        return builtin_path(dataset.name, progress)
    found = _first_right(dataset, mirror)
    if found is not None:
        return found[1]
    return _bring(dataset, mirror, progress)


def fetch(name, mirror=None, progress=None):
    """Make sure that the named set is kept on this machine and return its Path.

    What the data folder or the cache has is left as it is, and so is gensim's copy where no mirror is set;
    anything else, a mirror folder's file too, arrives in the cache. Parameters and errors are those of
    `resolve`.
    """
    dataset = info(name)
    if dataset.made_here:
        return builtin_path(dataset.name, progress)
    found = _first_right(dataset, mirror)
    if found is not None and (found[0] in ("data folder", "cache") or not _mirror(mirror)):
        return found[1]
    return _bring(dataset, mirror, progress)


def where(name, mirror=None):
    """Tell without any download whether a named set is here, and how.

    Returns
    -------
    status : str
        ``data folder``, ``cache``, ``gensim``, ``mirror``, ``damaged`` (a file that is not what it should
        be), ``made on first use`` or ``absent``.
    path : Path or None
        The file, if there is one.
    """
    dataset = info(name)
    if dataset.made_here:
        place = builtin_place(name)
        return ("cache", place) if place.is_file() else ("made on first use", None)
    for status, path, complaint in _here(dataset, mirror):
        return ("damaged" if complaint else status), path
    return "absent", None


def cache_place(name):
    """Return the Path in the cache where a hand-made download of the named set is looked for."""
    dataset = info(name)
    if dataset.made_here:
        return builtin_place(name)
    return cache_dir("data", dataset.file)


def _named(text, kind):
    if text in names():
        dataset = info(text)
        if kind is None or dataset.kind == kind:
            return dataset
        raise InputError(f"{text} is of kind {dataset.kind}, not {kind}. Known: {', '.join(names(kind))}.")
    if os.path.basename(text) != text or os.path.splitext(text)[1]:
        raise InputError(f"no such file or folder: {text} (nor is it the name of a data set: {', '.join(names(kind))})")
    hint = did_you_mean(text, names(kind), shown=99)
    raise UnknownNameError(f"{text!r} is neither a file nor a known name{hint}")


def _mirror(mirror):
    mirror = str(mirror or os.environ.get("W2VNEG_MIRROR") or "")
    return os.path.expanduser(mirror)


def _is_address(mirror):
    return mirror.lower().startswith(("http://", "https://"))


def _here(dataset, mirror):
    """Yield (status, path, complaint or None) of each file on this machine that may be the set, in order."""
    for folder in _data_folders():
        yield from _in_folder("data folder", folder, dataset)
    yield from _in_folder("cache", cache_dir("data"), dataset)
    copy = _gensim_copy(dataset)
    if copy is not None:
        yield "gensim", copy, None
    mirror = _mirror(mirror)
    if mirror and not _is_address(mirror):
        yield from _in_folder("mirror", Path(mirror), dataset)


def _data_folders():
    if os.environ.get("W2VNEG_DATA"):
        yield at_home(os.environ["W2VNEG_DATA"], "W2VNEG_DATA")
    root = checkout()
    if root is not None:
        yield root / "data"
        yield root / "eval_sets"


def _in_folder(status, folder, dataset):
    inside = dataset.mirror.rpartition("/")[0]
    for place in (folder, folder / inside):
        for form in dataset.forms:
            path = place / form.name
            if path.is_file():
                yield status, path, mismatch(path, form)


def _gensim_copy(dataset):
    if not dataset.gensim_copy:
        return None
    from importlib.util import find_spec

    try:
        package = find_spec("gensim")  # finds the folder, does not import
    except (ImportError, ValueError):
        return None
    for folder in getattr(package, "submodule_search_locations", None) or ():
        path = Path(folder, "test", "test_data", dataset.gensim_copy)
        if path.is_file() and rows_sha256(path) == dataset.gensim_rows:
            return path
    return None


def _first_right(dataset, mirror):
    for status, path, complaint in _here(dataset, mirror):
        if complaint:
            raise DataError(
                f"{path} is not {dataset.name} as known: {complaint}; remove it or put the right file there"
            )
        return status, path
    return None


def _bring(dataset, mirror, progress):
    """Copy or download into the cache, from the mirror, else from the official address."""
    tried = []  # of str, what was in the way
    mirror = _mirror(mirror)
    try:
        if mirror:
            return _bring_from_mirror(dataset, mirror, progress)
    except Unreachable as error:
        tried.append(str(error))
    try:
        if dataset.url:
            _download_official(dataset, progress)
            return cache_dir("data", dataset.file)
        tried.append("no address offers this file ready-made")
    except Unreachable as error:
        tried.append(str(error))
    raise DataError(_advice(dataset, mirror, tried))


def _bring_from_mirror(dataset, mirror, progress):
    if not _is_address(mirror):
        return _copy(dataset, Path(mirror))
    destination = cache_dir("data", dataset.mirrored.name)
    download(f"{mirror.rstrip('/')}/{quote(dataset.mirror)}", dataset.mirrored, destination, progress)
    return destination


def _copy(dataset, folder):
    if not folder.is_dir():
        raise DataError(f"the mirror {folder} is no folder; name an existing one, or an http(s) address")
    for _, path, complaint in _in_folder("mirror", folder, dataset):
        if complaint:
            raise DataError(f"{path} is not {dataset.name} as known: {complaint}; nothing was kept")
        form = next(form for form in dataset.forms if form.name == path.name)
        destination = cache_dir("data", form.name)
        with open(path, "rb") as stream:
            store(chunks_of(stream, str(path)), form, destination, str(path))
        return destination
    raise Unreachable(f"the mirror {folder} has no {dataset.mirror}")


def _download_official(dataset, progress):
    if not dataset.member:
        download(dataset.url, dataset.content, cache_dir("data", dataset.file), progress)
        return
    others = [info(name) for name in names() if name != dataset.name]
    together = [dataset] + [other for other in others if other.url == dataset.url]
    wanted = [(part.member, part.content, cache_dir("data", part.file)) for part in together]
    download_members(dataset.url, wanted, progress)


def _advice(dataset, mirror, tried):
    place = cache_dir("data", dataset.file)
    unless = "" if mirror else "no mirror is set and "
    if dataset.url:
        taken_out = f", take {dataset.member} out of it" if dataset.member else ""
        by_hand = f"download {dataset.url}{taken_out} and put it at {place}, or "
    else:
        by_hand = f"put the file at {place}, or "
    gensim = ', or run pip install "w2vneg[gensim]" (gensim carries a copy)' if dataset.gensim_copy else ""
    return (
        f"{dataset.name} is not on this machine, {unless}{' and '.join(tried)}; {by_hand}"
        f"name a folder or address that has {dataset.mirror} with --mirror or W2VNEG_MIRROR{gensim}"
    )
