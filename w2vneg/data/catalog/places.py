"""Named data: the manifests, one TOML table per name; how a set is found, in the order of resolution, and fetched; and
vectors by name.

gensim's own downloader runs code that comes with vectors. Here the file is checked against its catalog, then read.
"""

import os
import re
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from ...ground.errors import ConfigError, DataError, InputError, UnknownNameError, did_you_mean, how_to_install
from ...ground.files.bounded import check_reachable, parse_toml, read_text, scheme_of
from ...ground.files.caches import at_home, cache_dir
from ...ground.progress import SHOW
from ..builtin import BUILTIN_NAME, builtin_path, builtin_place
from .download import Unreachable, chunks_of, download, download_members, mismatch, rows_sha256, store

KINDS = ("corpus", "items", "similarity", "analogy")
_FOLDERS = ("data", "eval_sets")
_ABSENT = ("absent", None, None)


class Form(NamedTuple):
    """One form of a file: name, size in bytes (0: unknown), checksum (`md5` if no sha256 is known)."""

    name: str
    size: int
    sha256: str
    md5: str = ""


@dataclass(frozen=True)
class Dataset:
    """What is known about one named corpus or evaluation set; empty strings and 0 mean "none".

    kind : str, one of `KINDS`; file, size, sha256, md5 : of the unpacked file, with at least one of the two checksums
    url, member, homepage : str, the official address; the path inside if it is a zip or tar.gz; a page to read
    mirror, mirror_size, mirror_sha256 : path inside a mirror, and size and checksum there if it is stored compressed
    gensim_copy, gensim_rows : str, file among gensim's test data, and its `rows_sha256`
    tags : bool, words carry a part-of-speech tag (``sun-n``), which readers remove
    made_here : bool, made from what is on this machine, not downloaded
    """

    name: str
    kind: str
    title: str
    licence: str
    citation: str
    notes: str = ""
    file: str = ""
    size: int = 0
    sha256: str = ""
    md5: str = ""
    url: str = ""
    member: str = ""
    homepage: str = ""
    mirror: str = ""
    mirror_size: int = 0
    mirror_sha256: str = ""
    gensim_copy: str = ""
    gensim_rows: str = ""
    tags: bool = False
    made_here: bool = False

    @property
    def content(self):
        return Form(self.file, self.size, self.sha256, self.md5)

    @property
    def mirrored(self):
        if not self.mirror_sha256:
            return self.content
        return Form(self.mirror.rpartition("/")[2], self.mirror_size, self.mirror_sha256)

    @property
    def forms(self):
        """All accepted forms, the unpacked one first."""
        return (self.content,) if self.mirrored == self.content else (self.content, self.mirrored)


def names(kind=None):
    """Return the known names in order (list of str), all or those of one `kind`."""
    return [name for name, dataset in _all().items() if kind is None or dataset.kind == kind]


def info(name):
    """Return the `Dataset` of that name; UnknownNameError with near spellings if there is none."""
    known = _all()
    if name not in known:
        raise UnknownNameError(f"no data set is named {name!r}{did_you_mean(name, known, shown=99)}")
    return known[name]


def checkout():
    """Return the project's root folder as a Path when this runs from its sources, else None."""
    root = Path(__file__).resolve().parents[3]
    return root if (root / "setup.cfg").is_file() and (root / "eval_sets").is_dir() else None


def read_manifest(path):
    """Return the data sets that one TOML file describes (dict, name -> `Dataset`); DataError if it is malformed."""
    try:
        tables = parse_toml(read_text(path), path)
        return {name: Dataset(name=name, **table) for name, table in tables.items()}
    except (InputError, TypeError) as error:
        raise DataError(f"cannot read the manifest {path}: {error}") from error


@cache
def _all():
    found = {}  # str -> Dataset
    for folder in _FOLDERS:
        for path in sorted((_home() / folder).glob("*.toml")):
            found |= read_manifest(path)
    return dict(sorted(found.items(), key=lambda item: KINDS.index(item[1].kind)))


def _home():
    """Return the folder above this file that holds the manifests: a checkout, or an environment's ``share/w2vneg``."""
    above = Path(__file__).resolve().parents[3:8]
    for home in (checkout(), *(folder / "share" / "w2vneg" for folder in above)):
        if home is not None and (home / "eval_sets").is_dir():
            return home
    raise DataError(
        f"the manifests of the named data (share/w2vneg) are in none of the folders above {above[0]}; "
        "the installation is incomplete: install w2vneg again"
    )


# ---- where they are


def resolve(name_or_path, mirror=None, *, kind=None):
    """Return the Path of the file, which may be compressed, for a name or a path; download it if necessary.

    The order: a path that exists; the data folder (``W2VNEG_DATA``, and ``data/`` and ``eval_sets/`` of a checkout);
    the cache; gensim's copy; the mirror; the official address. Named files are verified before they are used.

    mirror : str or path, optional, a folder or an http(s) address laid out as the manifests say; else ``W2VNEG_MIRROR``
    kind : str, optional, ``corpus``, ``items``, ``similarity`` or ``analogy``: a name of another kind is refused
    UnknownNameError or InputError if there is no such name or file; DataError if the data cannot be obtained, with what
    to download and where to put it, or are not as expected; ConfigError for a mirror whose address has a user name;
    OutputError without a cache
    """
    text = os.fspath(name_or_path)
    if text and os.path.exists(text):
        return Path(text)
    return _had(_named(text, kind), mirror)


def fetch(name, mirror=None):
    """Make sure that the named set is on this machine, and return its Path; arguments and errors as for `resolve`.

    A file in the data folder or the cache is used, or gensim's copy if no mirror is set; else it is put into the cache.
    """
    return _had(info(name), mirror, ("data folder", "cache") if _mirror(mirror) else ())


def _had(dataset, mirror, kept=()):
    """Return the file of a set, fetched if necessary; kept : tuple of str, where it may stay, () for anywhere"""
    if dataset.made_here:
        return builtin_path(dataset.name)
    status, path, complaint = next(_here(dataset, mirror), _ABSENT)
    if complaint:
        raise DataError(f"{path} is not the expected {dataset.name}: {complaint}; remove or replace it")
    if path is not None and (not kept or status in kept):
        return path
    mirror, place = _mirror(mirror), cache_dir("data", dataset.file)
    by_hand = f"put the file at {place}"
    if dataset.url:
        taken_out = f", extract {dataset.member}" if dataset.member else ""
        by_hand = f"download {dataset.url}{taken_out} and put it at {place}"
    gensim = f", or run {how_to_install('gensim')}: gensim includes a copy" if dataset.gensim_copy else ""
    other = f"name a folder or address that has {dataset.mirror} with --mirror or W2VNEG_MIRROR{gensim}"
    ways = [partial(_from_mirror, dataset, mirror)] if mirror else []
    ways.append(partial(_from_its_address, dataset))
    return _delivered(dataset.name, ways, "" if mirror else "no mirror is set and ", f"{by_hand}, or {other}")


def _delivered(name, ways, unless, remedy):
    """Return the Path that the first of `ways`, callables of a progress, delivers; DataError if none does."""
    tried = []  # of str, what went wrong
    for bring in ways:
        try:
            with SHOW.get()(f"fetching {name}") as progress:
                return bring(progress)
        except Unreachable as error:
            tried.append(str(error))
    raise DataError(f"{name} is not on this machine, {unless}{'; '.join(tried)}; {remedy}")


def where(name, mirror=None):
    """Return where a named set is, without any download: (status, Path or None).

    The status is ``data folder``, ``cache``, ``gensim``, ``mirror``, ``damaged`` (a file that is not as expected),
    ``made on first use`` or ``absent``.
    """
    dataset = info(name)
    if dataset.made_here:
        place = builtin_place(name)
        return ("cache", place) if place.is_file() else ("made on first use", None)
    status, path, complaint = next(_here(dataset, mirror), _ABSENT)
    return ("damaged" if complaint else status), path


def at_hand(name, mirror=None):
    """Return the Path of a named set if an intact copy is on this machine, else None; nothing is downloaded."""
    status, path = where(name, mirror)
    return None if status == "damaged" else path


def cache_place(name):
    """Return the Path in the cache where a manual download of the named set is expected."""
    dataset = info(name)
    return builtin_place(name) if dataset.made_here else cache_dir("data", dataset.file)


def names_in_cache():
    """Return a pattern (str) of the file names that named sets have in the cache."""
    forms = {form.name for dataset in _all().values() if not dataset.made_here for form in dataset.forms}
    return "|".join([BUILTIN_NAME, *map(re.escape, sorted(forms))])


def _named(text, kind):
    if text in names():
        dataset = info(text)
        if kind is None or dataset.kind == kind:
            return dataset
        raise InputError(f"{text} is of kind {dataset.kind}, not {kind}. Known: {', '.join(names(kind))}.")
    if os.path.basename(text) != text or os.path.splitext(text)[1]:
        check_reachable(text)
        raise InputError(f"no such file or folder: {text} (nor is it the name of a data set: {', '.join(names(kind))})")
    hint = did_you_mean(text, names(kind), shown=99)
    raise UnknownNameError(f"{text!r} is neither a file nor a known name{hint}")


def _mirror(mirror=None):
    place = os.path.expanduser(str(mirror or os.environ.get("W2VNEG_MIRROR") or ""))
    if _is_address(place) and "@" in place.split("/")[2]:
        raise ConfigError(
            f"the mirror {scheme_of(place)}://…: neither user nor password is sent to a mirror; remove them from its "
            "address, or name a folder"
        )
    return place


def _is_address(mirror):
    return mirror.lower().startswith(("http://", "https://"))


def _here(dataset, mirror):
    """Yield (status, path, complaint or None) of each file on this machine that may be the set, in order."""
    folders, root, mirror = [], checkout(), _mirror(mirror)
    if os.environ.get("W2VNEG_DATA"):
        folders.append(at_home(os.environ["W2VNEG_DATA"], "W2VNEG_DATA"))
    if root is not None:
        folders += [root / folder for folder in _FOLDERS]
    for folder in folders:
        yield from _in_folder("data folder", folder, dataset)
    yield from _in_folder("cache", cache_dir("data"), dataset)
    copy = _gensim_copy(dataset)
    if copy is not None:
        yield "gensim", copy, None
    if mirror and not _is_address(mirror):
        yield from _in_folder("mirror", Path(mirror), dataset)


def _in_folder(status, folder, dataset):
    for place in (folder, folder / dataset.mirror.rpartition("/")[0]):
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


def _from_mirror(dataset, mirror, progress):
    folder = Path(mirror)
    if _is_address(mirror):
        address, form = f"{mirror.rstrip('/')}/{quote(dataset.mirror)}", dataset.mirrored
        return download(address, form, cache_dir("data", form.name), progress)
    if not folder.is_dir():
        raise DataError(f"the mirror {folder} is not a folder; name an existing one, or an http(s) address")
    for _, path, _ in _in_folder("mirror", folder, dataset):
        form = next(form for form in dataset.forms if form.name == path.name)
        with open(path, "rb") as stream:
            return store(chunks_of(stream, str(path)), form, cache_dir("data", form.name), str(path))
    raise Unreachable(f"the mirror {folder} has no {dataset.mirror}")


def _from_its_address(dataset, progress):
    place = cache_dir("data", dataset.file)
    if not dataset.url:
        raise Unreachable("no address offers this file ready-made")
    if not dataset.member:
        return download(dataset.url, dataset.content, place, progress)
    others = [info(name) for name in names() if name != dataset.name]
    together = [dataset] + [other for other in others if other.url == dataset.url]
    wanted = [(part.member, part.content, cache_dir("data", part.file)) for part in together]
    download_members(dataset.url, wanted, progress)
    return place


# ---- vectors of gensim's catalog

VECTORS = {  # name -> MD5 of its file, as in the catalog
    "conceptnet-numberbatch-17-06-300": "fd642d457adcd0ea94da0cd21b150847",
    "fasttext-wiki-news-subwords-300": "de2bb3a20c46ce65c9c131e1ad9a77af",
    "glove-twitter-25": "50db0211d7e7a2dcd362c6b774762793",
    "glove-twitter-50": "c168f18641f8c8a00fe30984c4799b2b",
    "glove-twitter-100": "b04f7bed38756d64cf55b58ce7e97b15",
    "glove-twitter-200": "e52e8392d1860b95d5308a525817d8f9",
    "glove-wiki-gigaword-50": "c289bc5d7f2f02c6dc9f2f9b67641813",
    "glove-wiki-gigaword-100": "40ec481866001177b8cd4cb0df92924f",
    "glove-wiki-gigaword-200": "59652db361b7a87ee73834a6c391dfc1",
    "glove-wiki-gigaword-300": "29e9329ac2241937d55b852e8284e89b",
    "word2vec-google-news-300": "a5e5354d40acb95f9ec66d5977d140ef",
    "word2vec-ruscorpora-300": "9bdebdc8ae6d17d20839dd9b5af10bc4",
}
_RELEASES = "https://github.com/RaRe-Technologies/gensim-data/releases/download"


def located(path):
    """Return the Path of vectors: `path` if it exists or is not in `VECTORS`, else a copy, downloaded if necessary.

    Copies are searched for in gensim's own folder, in the cache, in ``gensim-data`` of a mirror (``W2VNEG_MIRROR``),
    and at gensim's download address; DataError if none can be obtained, or it does not match the catalog.
    """
    name = os.fspath(path)
    if name not in VECTORS or os.path.exists(name):
        return Path(path)
    mirror, form = _mirror(), Form(f"{name}.gz", 0, "", VECTORS[name])
    kept, addresses = cache_dir("vectors", form.name), [_RELEASES]
    here = [Path(os.path.expanduser(os.environ.get("GENSIM_DATA_DIR") or "~/gensim-data"), name, form.name), kept]
    if _is_address(mirror):
        addresses.insert(0, f"{mirror.rstrip('/')}/gensim-data")
    elif mirror:
        here.append(Path(mirror, "gensim-data", name, form.name))
    for place in here:
        if place.is_file():
            return place
    ways = [partial(download, f"{address}/{name}/{form.name}", form, kept) for address in addresses]
    remedy = f"put the file at {kept}, or name a folder or an address that has gensim-data/{name}/{name}.gz with "
    return _delivered(name, ways, "and ", f"{remedy}W2VNEG_MIRROR")
