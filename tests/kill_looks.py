"""What to make of a file or folder after a kill: nothing, as it was, on its way, as it will be, or lost.

Each look is called with

path : Path
former, new : dict, `contents` before the command, and after a run that nobody killed
seen : dict of the look's own, the same one after each kill

and returns how far the place has got, 0 being as it was; or raises `Lost`.
"""

import csv
import hashlib
import json
import re

import numpy as np

from w2vneg import Vectors
from w2vneg.ground.errors import W2vnegError
from w2vneg.run.model import Model

_TIMES = re.compile(
    r"""(?<="seconds":\ )[-+.e0-9]+  # in JSON
    | ^\ "crc32":\ \d+,$            # of all that follows in an entry of the cache, its seconds among it
    | \b\d+\.\d\d\b                 # in the tables of a search""",
    re.MULTILINE | re.VERBOSE,
)
_UNLIKE = re.compile(r"history\.jsonl")  # no two runs write them alike
_UNREAD = {"memo"}  # names in it are digests of paths


class Lost(Exception):
    """What a kill has lost, in words."""


def whole(path, former, new, seen):
    """Return 0 if a file or folder is as it was, or still missing, and 1 if it is as it will be."""
    found = contents(path)
    if found == new:
        return 1
    if found != former:
        raise Lost(f"{path.name} is neither as it was nor as it will be: {difference(found, new)}")
    return 0


def entries(path, former, new, seen):
    """Return how many entries of the cache are there; each is one that a run without a kill leaves."""
    found = [each for each in path.iterdir() if each.is_dir() and each.name[0] != "."] if path.exists() else []
    for entry in found:
        for name, digest in contents(entry).items():
            if new.get(f"{entry.name}/{name}") != digest and entry.name not in _UNREAD:
                raise Lost(f"{entry.name} of the cache is another than it will be: {name}")
    missing = {name.split("/")[0] for name in former if name[0] != "."} - {entry.name for entry in found}
    if missing:
        raise Lost(f"{missing.pop()} is gone from the cache")
    return len(found)


def vectors(path, former, new, seen):
    """Return 0 for the former file, 2 for the one that will be, 1 for one that loads."""
    found = contents(path)
    if found in (former, new):
        return 2 * (found == new)
    try:
        Vectors.load(path)
    except W2vnegError as error:
        raise Lost(f"{path.name} does not load: {error}") from error
    return 1


def model(path, former, new, seen):
    """Return 0 for the former model, and more for a state of the new one; the same position is the same state."""
    if not path.exists():
        if former:
            raise Lost(f"{path.name} is gone")
        return 0
    if contents(path) == former:
        return 0
    try:
        loaded = Model.load(path)
    except W2vnegError as error:
        raise Lost(f"{path.name} does not load: {error}") from error
    finished = loaded.best is not None and loaded.best.finished  # its own matrices are then the best ones
    position = loaded.position.epoch, loaded.position.round, finished
    matrices = [np.ascontiguousarray(matrix).tobytes() for matrix in loaded.matrices().values()]
    digest = hashlib.sha256(b"".join(matrices)).hexdigest()
    if seen.setdefault(position, digest) != digest:
        raise Lost(f"{path.name} holds other vectors than it did at epoch {position[0]}, round {position[1]}")
    return 1 + position[0] + position[1] / 1e6 + finished


def search(path, former, new, seen):
    """Return how many trials a search holds; each table and best.toml is complete."""
    if not path.exists():
        return 0
    lines = _lines(path / "trials.jsonl")
    if seen.setdefault("former", lines) != lines[: len(seen["former"])]:
        raise Lost(f"{path.name} has lost trials")
    if lines and not (path / "search.json").exists():
        raise Lost(f"{path.name} has trials and no search.json")
    for line in lines:
        json.loads(line)
    for name in former:
        if not (path / name).exists():
            raise Lost(f"{name} is gone")
    for name in ("best.toml", "trials.md", "trials.csv", "search.json"):
        if (path / name).exists() and not (path / name).read_bytes().endswith(b"\n"):
            raise Lost(f"{name} is not complete")
    if (path / "trials.csv").exists():
        with (path / "trials.csv").open(newline="") as stream:
            heading, *rows = csv.reader(stream)
        if len(rows) > len(lines) or any(len(row) != len(heading) for row in rows):
            raise Lost("trials.csv does not fit the trials")
    return len(lines)


def _lines(path):
    """Return the lines of a file that have an end."""
    text = path.read_text("utf-8") if path.exists() else ""
    return text[: text.rfind("\n") + 1].splitlines()


def contents(path):
    """Return a digest of each file below `path`, or of the file itself, by relative name; "" of folders (dict)."""
    if not path.is_dir():
        return {path.name: _digest(path)} if path.exists() else {}
    return {
        each.relative_to(path).as_posix(): "" if each.is_dir() else _digest(each)
        for each in path.rglob("*")
        if each.parent.name not in _UNREAD
    }


def _digest(path):
    if _UNLIKE.fullmatch(path.name):
        return "present"
    data = path.read_bytes()
    if path.suffix in (".json", ".jsonl", ".csv", ".md"):
        data = _TIMES.sub("", data.decode()).encode()
    return hashlib.sha256(data).hexdigest()


def difference(found, wanted):
    """Return in words how one `contents` differs from another."""
    left, missing = sorted(found.keys() - wanted.keys()), sorted(wanted.keys() - found.keys())
    changed = sorted(name for name in found.keys() & wanted.keys() if found[name] != wanted[name])
    parts = {"litter": left, "not": missing, "other content in": changed}
    return "; ".join(
        f"{word} {', '.join(names[:2])}{', …' * (len(names) > 2)}" for word, names in parts.items() if names
    )
