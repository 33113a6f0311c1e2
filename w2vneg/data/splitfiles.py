"""The folder of a split: train.tsv, valid.tsv, test.tsv, and manifest.json, which records how they were made."""

import hashlib
import json
from pathlib import Path

import numpy as np

from ..ground.errors import InputError
from ..ground.files.atomic import atomic_folder, check_replaceable
from ..ground.files.bounded import check_regular, digested, read_json
from .inputs import Input

PARTS = ("train", "valid", "test")
MANIFEST = "manifest.json"
_MADE_BY = "w2vneg split"
_FORMAT = 1
_SHOWN = "{}-shown.tsv"
_OURS = {MANIFEST, *(form.format(name) for form in ("{}.tsv", _SHOWN) for name in PARTS)}


def check_place(folder):
    """Raise OutputError if a split cannot be written to `folder`, or would replace anything other than a split."""

    def others_in(names):
        return [name for name in names if name not in _OURS] or (names if MANIFEST not in names else [])

    check_replaceable(folder, others_in, "a split made by w2vneg")


def write_split(folder, split, vocab, vocab_out, about):
    """Write the parts and the manifest, which is returned (dict); the folder appears atomically, or OutputError.

    about : dict, JSON-serialisable entries of the manifest, written before the parts
    vocab, vocab_out : Vocabulary, of rows and columns; the same object if they are one kind of thing
    """
    check_place(folder)
    parts = part_facts(split, vocab_out is vocab)
    with atomic_folder(folder) as temporary:
        heads, tails = _fields(vocab), _fields(vocab_out)
        head = ("item\ttarget" if vocab_out is vocab else "user\titem") + "\tweight\n"
        for name, matrix in split.matrices.items():
            digest = _write_pairs(temporary / f"{name}.tsv", matrix, head, heads, tails)
            parts[name] = {"file": f"{name}.tsv", **parts[name], "sha256": digest}
        for name, matrix in split.shown.items():
            file = _SHOWN.format(name)
            digest = _write_pairs(temporary / file, matrix, head, heads, tails)
            parts[name]["shown"] = {"file": file, "pairs": matrix.nnz, "sha256": digest}
        manifest = {"made_by": _MADE_BY, "format": _FORMAT, **about, "parts": parts}
        text = json.dumps(manifest, indent=2, ensure_ascii=False, allow_nan=False)
        (temporary / MANIFEST).write_text(text + "\n", encoding="utf-8", errors="backslashreplace")
    return manifest


def part_facts(split, one_kind):
    """Return the figures of each part for the manifest: dict of name -> dict.

    one_kind : bool, rows and columns are one kind of thing: an item is known if training has it on either side
    Users and items count if they have a pair in the part; with one kind, users are those assigned to the part.
    In held-out parts, new_users and new_items do not occur in train; a user with shown pairs is not new;
    pairs_with_new have a new user or item; pairs_with_new_centre a centre that is first of no pair in train or shown.
    """
    known = _present(split.matrices["train"], one_kind)
    facts = {}
    for name, matrix in split.matrices.items():
        rows, columns = _present(matrix, one_kind)
        weight = float(matrix.data.sum(dtype=np.float64))
        facts[name] = {"pairs": matrix.nnz, "weight": int(weight) if weight.is_integer() else weight}
        if one_kind:
            facts[name] |= {"items": _count(rows)} | ({"users": split.users[name]} if split.users else {})
        else:
            facts[name] |= {"users": _count(rows), "items": _count(columns)}
        if name == "train":
            continue
        centres = np.diff(split.matrices["train"].indptr) > 0
        if name in split.shown:
            centres |= np.diff(split.shown[name].indptr) > 0
        new_rows, new_columns = rows & ~(centres if name in split.shown else known[0]), columns & ~known[1]
        heads = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
        facts[name] |= ({} if one_kind else {"new_users": _count(new_rows)}) | {"new_items": _count(new_columns)}
        facts[name]["pairs_with_new"] = _count(new_rows[heads] | new_columns[matrix.indices])
        facts[name]["pairs_with_new_centre"] = _count(~centres[heads])
    return facts


def known_beside(path):
    """Return the training part (Path) whose pairs are excluded when a held-out part, a file of pairs, is ranked.

    None unless the manifest beside the file says that it is a held-out part of a split by pair, or of users and items
    with the same users as training. In other splits a training pair may also be held out, so it stays a candidate.
    """
    manifest = _manifest_beside(path)
    if manifest is None or shown_beside(path) is not None:
        return None
    apart = manifest["options"]["by"] == "pair" or bool(manifest["input"].get("rectangular"))
    return Path(path).parent / manifest["parts"]["train"]["file"] if apart else None


def held_out_in(place):
    """Return the held-out part in a split folder, valid.tsv or else test.tsv (str); return other places unchanged."""
    held = (str(Path(place, f"{name}.tsv")) for name in ("valid", "test"))
    return next(filter(_manifest_beside, held), place)


def input_beside(path):
    """Return the `Input` of the training part of the split that a held-out file belongs to, or None."""
    manifest = _manifest_beside(path)
    if manifest is None:
        return None
    given, train = manifest["input"], parts_beside(path)["train"]
    if given["kind"] == "edges":
        return Input("edges", train, directed=bool(given.get("directed")))
    return Input("pairs", train, rectangular=bool(given.get("rectangular")))


def parts_beside(path):
    """Return the files of all parts of the split that a held-out file belongs to: dict of name -> Path."""
    parts = (_manifest_beside(path) or {"parts": {}})["parts"]
    return {name: Path(path).parent / part["file"] for name, part in parts.items()}


def shown_beside(path):
    """Return the file of shown pairs for the users of a held-out part (Path), for fold-in; None if there is none."""
    parts = (_manifest_beside(path) or {"parts": {}})["parts"].values()
    shown = next((part.get("shown") for part in parts if part["file"] == Path(path).name), None)
    return shown and Path(path).parent / shown["file"]


def trained_on(held, files):
    """Return the first of a model's training files that equals `held`, or a source of its split; None if none does."""
    manifest = _manifest_beside(held) or {}
    facts = [*source_facts([held]), *manifest.get("sources", ())]
    known = {(one["bytes"], one["sha256"]) for one in facts if one["sha256"]}
    sizes = {size for size, _ in known}
    likely = [file for file in files if Path(file).is_file() and Path(file).stat().st_size in sizes]
    return next((one["file"] for one in source_facts(likely) if (one["bytes"], one["sha256"]) in known), None)


def _manifest_beside(path):
    """Return the manifest of the split that a held-out file belongs to (dict), or None."""
    try:
        check_regular(Path(path).parent / MANIFEST)
        manifest = read_json(Path(path).parent / MANIFEST)
        parts, sources = manifest["parts"], manifest.get("sources", ())
        held = {part["file"] for one, part in parts.items() if one != "train"}
        shown = [part["shown"] for part in parts.values() if part.get("shown") is not None]
        names = [part["file"] for part in (parts["train"], *parts.values(), *shown)]
        texts = [manifest["options"]["by"], manifest["input"]["kind"], *names]
        known = manifest["made_by"] == _MADE_BY and all(isinstance(text, str) for text in texts)
        known = known and all(name == Path(name).name for name in names) and isinstance(manifest["input"], dict)
        facts = [(one["file"], one["bytes"], one["sha256"]) for one in sources]
        known = known and all(list(map(type, fact[1:])) in ([int, str], [type(None)] * 2) for fact in facts)
    except (AttributeError, InputError, KeyError, TypeError):  # another kind of manifest.json
        return None
    return manifest if known and Path(path).name in held else None


def source_facts(files):
    """Return [{"file", "bytes", "sha256"}] of the files read; bytes and sha256 are None for standard input."""
    facts = []
    for file in map(str, files):
        size = sha256 = None
        if Path(file).is_file():
            size, sha256 = Path(file).stat().st_size, digested(file, hashlib.sha256()).hexdigest()
        facts.append({"file": file, "bytes": size, "sha256": sha256})
    return facts


def _present(matrix, one_kind):
    """Return which rows and columns have an entry (two bool arrays; the same one twice if they are one kind)."""
    rows, columns = np.diff(matrix.indptr) > 0, np.zeros(matrix.shape[1], bool)
    columns[matrix.indices] = True
    return (rows | columns,) * 2 if one_kind else (rows, columns)


def _count(which):
    return int(np.count_nonzero(which))


def _fields(vocab):
    """Return the names as fields of a tab-separated file, each followed by a tab; quoted if they contain a quote or
    begin like a comment.
    """

    def field(word):
        quoted = '"' in word or word.startswith(("#", "%"))
        return ('"{}"'.format(word.replace('"', '""')) if quoted else word) + "\t"

    return list(map(field, vocab.words))


def _write_pairs(path, matrix, head, heads, tails):
    """Write `head` and one pair a line, rows in order; return the SHA-256 of the file."""
    weights = matrix.data
    if weights.dtype.kind == "f" and (weights == np.floor(weights)).all():
        weights = weights.astype(np.int64)
    with path.open("wb") as stream:
        stream.write(head.encode())
        for row in np.flatnonzero(np.diff(matrix.indptr)).tolist():
            entries = slice(matrix.indptr[row], matrix.indptr[row + 1])
            first, own = heads[row], weights[entries]
            own = (own.astype(str) if own.dtype.kind == "f" else own).tolist()  # the shortest text of a float32
            columns = matrix.indices[entries].tolist()
            lines = [f"{first}{tails[j]}{w}\n" for j, w in zip(columns, own, strict=True)]
            stream.write("".join(lines).encode())
    return digested(path, hashlib.sha256()).hexdigest()
