"""The manifests, read strictly: one TOML table per name."""

import os
from dataclasses import MISSING, dataclass, fields
from functools import cache
from pathlib import Path
from typing import NamedTuple

from ...ground.errors import DataError, InputError, UnknownNameError, did_you_mean
from ...ground.files.bounded import parse_toml, read_text

KINDS = ("corpus", "items", "similarity", "analogy")
_FOLDERS = ("data", "eval_sets")


class Form(NamedTuple):
    """One shape a file may have: name, bytes (0: not known), checksum (`md5` where no sha256 is known)."""

    name: str
    size: int
    sha256: str
    md5: str = ""


@dataclass(frozen=True)
class Dataset:
    """What is known about one named corpus or evaluation set; empty strings and 0 mean "none".

    kind : str, one of `KINDS`; file, size, sha256, md5 : of the unpacked file, one of the two checksums at least
    url, member, homepage : str, the official address; the path inside when it is a zip or tar.gz; a page to read
    mirror, mirror_size, mirror_sha256 : path inside a mirror, and bytes and checksum there where it is stored packed
    gensim_copy, gensim_rows : str, file among gensim's test data, and what `rows_sha256` gives of it
    tags : bool, words carry a part-of-speech tag (``sun-n``) that readers take off
    made_here : bool, made from what is on this machine; nothing is stored or downloaded
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
        """Every shape that is accepted, the unpacked one first."""
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
    """Return what one TOML file describes, a dict of name to `Dataset`; DataError if it is malformed."""
    try:
        tables = parse_toml(read_text(path), path)
    except InputError as error:
        raise DataError(f"cannot read the manifest {path}: {error}") from error
    return {name: _dataset(name, table, path) for name, table in tables.items()}


def _dataset(name, table, path):
    place = f"{path}: [{name}]"
    if not isinstance(table, dict):
        raise DataError(f"{place}: expected a table of facts, found {table!r}")
    known = {field.name: field for field in fields(Dataset)}
    for key, value in table.items():
        if key not in known or key == "name":
            raise DataError(f"{place}: unknown key {key!r}{did_you_mean(key, known, shown=0)}")
        if type(value) is not known[key].type:
            raise DataError(f"{place}: {key} should be {known[key].type.__name__}, found {value!r}")
    needed = [key for key, field in known.items() if field.default is MISSING and key != "name"]
    missing = [key for key in needed if key not in table]
    if not table.get("made_here"):
        missing += [key for key in ("file", "size", "mirror") if not table.get(key)]
        missing += [] if table.get("sha256") or table.get("md5") else ["sha256"]
    if missing:
        raise DataError(f"{place}: missing {', '.join(missing)}")
    dataset = Dataset(name=name, **table)
    if dataset.kind not in KINDS:
        raise DataError(f"{place}: unknown kind {dataset.kind!r}; one of {', '.join(KINDS)}")
    if dataset.file != os.path.basename(dataset.file):
        raise DataError(f"{place}: file should be a bare file name, found {dataset.file!r}")
    if ".." in dataset.mirror.split("/") or dataset.mirror.startswith("/"):
        raise DataError(f"{place}: mirror should be a path inside a mirror, found {dataset.mirror!r}")
    return dataset


@cache
def _all():
    found = {}  # str -> Dataset
    home = _home()
    for folder in _FOLDERS:
        for path in sorted((home / folder).glob("*.toml")):
            for name, dataset in read_manifest(path).items():
                if name in found:
                    raise DataError(f"{path}: the name {name!r} is described twice; remove one of the two")
                found[name] = dataset
    order = {kind: place for place, kind in enumerate(KINDS)}
    return dict(sorted(found.items(), key=lambda item: order[item[1].kind]))


def _home():
    """Return the folder with the two folders of manifests: a checkout's root, or ``share/w2vneg``, which installers
    place at the root of the environment (or ``--target``, ``--prefix``, ``--user``), somewhere above this package.
    """
    root = checkout()
    if root is not None:
        return root
    above = Path(__file__).resolve().parents[3:8]
    for folder in above:
        if (folder / "share" / "w2vneg" / "eval_sets").is_dir():
            return folder / "share" / "w2vneg"
    raise DataError(
        f"the manifests of the named data (share/w2vneg) are in none of the folders above {above[0]}; "
        "the installation is incomplete: install w2vneg again"
    )
