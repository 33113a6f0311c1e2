"""The manifests: one TOML table per name."""

from dataclasses import dataclass
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
    """Return the folder with those of manifests: a checkout, or ``share/w2vneg`` of an environment, above this file."""
    above = Path(__file__).resolve().parents[3:8]
    for home in (checkout(), *(folder / "share" / "w2vneg" for folder in above)):
        if home is not None and (home / "eval_sets").is_dir():
            return home
    raise DataError(
        f"the manifests of the named data (share/w2vneg) are in none of the folders above {above[0]}; "
        "the installation is incomplete: install w2vneg again"
    )
