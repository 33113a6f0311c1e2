"""Write and read model folders, without pickle."""

import json
import os
import platform
from pathlib import Path

import numba
import numpy as np

from .. import __version__
from ..config import RunSpec
from ..config.spec import to_toml
from ..config.table import options_of_users, table
from ..data.phrases import read_phrases, write_phrases
from ..data.readers.sources import STDIN
from ..data.vocab import Vocabulary
from ..ground.errors import InputError, W2vnegError
from ..ground.events import EVENTS
from ..ground.files.atomic import atomic_folder, check_replaceable, recover
from ..ground.files.bounded import as_fields, check_members, parse_json, read_json, read_text
from ..ground.files.npy import read_mask, read_matrix
from ..objectives.law import settled
from ..vectors.formats.folder import SLIM, refuse_slim
from .state import KNOWN, KNOWN_WEIGHTS, Best, LastGoodState, Progress, Provenance, files_of_known, read_known_pairs

PHRASES, RUN_FILE = "phrases.tsv", "run.toml"
_MARKS = {"config.json", "vocab.tsv", "vectors_in.npy"}  # files by which a model folder is recognised
_CONTEXTS = "contexts", "contexts_before"
FILES = (  # all files of a model, apart from matrices of plugs and of other states
    {f"{name}.npy" for name in ("neighbours", "weights", "vectors_out", *_CONTEXTS, "log_noise")}
    | {f"{name}.json" for name in ("extra", "position", "corpus", "versions", "validation", "good", "law")}
    | {*_MARKS, SLIM, PHRASES, KNOWN, KNOWN_WEIGHTS, RUN_FILE, "vocab_out.tsv", "history.jsonl"}
)
_MISSING = "missing; the folder is not a complete model"
_TRIES = 5


def write_model(folder, model, portable=False):
    """Write the folder of a `Model` atomically; the user's own files in an existing folder stay.

    With `portable`, for sharing, paths are reduced to file names. Besides matrices, vocabularies and files with obvious
    names, it writes: extra.json, names of the matrices that plugs train; contexts.npy, of a finished run, and
    contexts_before.npy, of an update (`model.keep_contexts`); run.toml (see `run_as_toml`); law.json and log_noise.npy,
    how raw scores settle, for other programs; best_NAME.npy until an evaluated run ends; good_NAME.npy after an
    interruption between two checked states; frozen_NAME.npy, which rows never move; known.npy, the items of each user.
    OutputError if the folder holds anything other than a model
    """
    check_place(folder)
    rewrite = without_places if portable else lambda value: value
    states = {"best": model.best, "good": model.good}
    matrices = {f"{name}.npy": matrix for name, matrix in model.matrices().items()}
    for kind, state in states.items():
        matrices |= {f"{kind}_{name}.npy": matrix for name, matrix in (state.matrices if state else {}).items()}
    matrices |= {f"frozen_{name}.npy": mask for name, mask in model.frozen.items()}
    matrices |= {f"{name}.npy": matrix for name in _CONTEXTS if (matrix := getattr(model, name)) is not None}
    matrices |= files_of_known(model.known)
    ours = {f"{kind}_{name}.npy" for kind in (*states, "frozen") for name in model.matrices()} | FILES
    with atomic_folder(folder, keep=lambda name: name not in ours) as target:
        for name, matrix in matrices.items():
            np.save(target / name, matrix, allow_pickle=False)
        if model.phrases:
            write_phrases(target / PHRASES, model.phrases)
        _write_json(target / "validation.json", rewrite(model.best and model.best.as_dict()))
        _write_json(target / "good.json", model.good and vars(model.good.position))
        _write_json(target / "extra.json", sorted(model.extra))
        model.vocab.save(target / "vocab.tsv")
        if model.vocab_out is not model.vocab:
            model.vocab_out.save(target / "vocab_out.tsv")
        _write_json(target / "config.json", rewrite(model.config.stored()))
        (target / RUN_FILE).write_bytes(run_as_toml(model, folder, rewrite).encode("utf-8", "surrogateescape"))
        _write_json(target / "position.json", vars(model.position))
        _write_law(target, model)
        _write_json(target / "corpus.json", rewrite(vars(model.origin)))
        about = {"w2vneg": __version__, "python": platform.python_version(), "numpy": np.__version__}
        about |= {"numba": numba.__version__, "machine": platform.machine()}
        _write_json(target / "versions.json", about)
        lines = "".join(json.dumps(record) + "\n" for record in model.history)
        (target / "history.jsonl").write_text(lines, encoding="utf-8")


def without_places(value):
    """Return a JSON value with absolute paths, at any level, reduced to their last components."""
    if isinstance(value, dict):
        return {name: without_places(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [without_places(one) for one in value]
    return (os.path.basename(value) or value) if isinstance(value, str) and os.path.isabs(value) else value


def read_model(folder):
    """Read what `write_model` wrote: dict of `Model` fields; InputError names the file that does not fit."""
    recover(folder)
    folder = Path(folder)
    if not folder.is_dir():
        what = "a file, not a model folder" if folder.exists() else "no such model folder"
        raise InputError(f"{folder}: {what}; name one that --save-model or save() wrote")
    refuse_slim(folder)
    check_members(folder)
    for _ in range(_TRIES):  # a run may save it meanwhile; all files must be of one state
        state = _state_of(folder)
        try:
            fields = _read_model(folder)
        except InputError:
            if _state_of(folder) == state:
                raise
        else:
            if _state_of(folder) == state:
                return fields
    raise InputError(f"{folder}: changed while it was read; try again when its run has ended")


def holds_model(folder):
    """Return whether a folder holds a model, with or without vectors."""
    return any(Path(folder, name).exists() for name in ("config.json", SLIM))


def check_place(folder):
    """Raise OutputError if a model cannot be saved at `folder`, or would replace something else."""
    others_in = lambda names: [] if _MARKS.issubset(names) or SLIM in names else names  # noqa: E731
    check_replaceable(folder, others_in, "a w2vneg model")


def _read_model(folder):
    vocab = Vocabulary.load(_there(folder / "vocab.tsv"))
    config = RunSpec.read(folder / "config.json")
    position = _read_position(folder / "position.json")
    vocab_out = Vocabulary.load(_there(folder / "vocab_out.tsv")) if config.rectangular else vocab
    sizes = {"vectors_in": len(vocab), "vectors_out": len(vocab_out)}
    own = {name: _read_matrix(folder / f"{name}.npy", (size,), config.dim) for name, size in sizes.items()}
    lengths = None if config.inputs.plug.composes else {len(vocab), len(vocab_out)}
    extra = {name: _read_matrix(folder / f"{name}.npy", lengths) for name in _read_extra(folder / "extra.json")}
    matrices, where = own | extra, folder / "history.jsonl"
    lines = enumerate(read_text(where, _MISSING).split("\n"), 1)
    history = [_event(line, f"{where}:{number}") for number, line in lines if line]
    origin = Provenance(**_record(folder / "corpus.json", "origin", Provenance.__annotations__))
    kind, files = origin.input.get("kind", ""), origin.input.get("files", [])
    if not isinstance(kind, str):
        raise InputError(f"{folder / 'corpus.json'}: unknown kind of input {kind!r:.60}")
    if not (isinstance(files, list) and all(isinstance(file, str) for file in files)):
        why = f"files of an input must be a path or a list of paths, not {str(files)!r:.60}"
        raise InputError(f"{folder / 'corpus.json'}: {why}")
    found = {"vocab": vocab, "config": config, "position": position, "vocab_out": vocab_out, "extra": extra, **own}
    found |= {"history": history, "origin": origin, "best": _read_best(folder, matrices)}
    if read_json(folder / "good.json", _MISSING) is not None:  # otherwise the latest state is the last good one
        at = _read_position(folder / "good.json")
        found["good"] = LastGoodState(at, _read_others(folder, "good", matrices))
    masks = {name: folder / f"frozen_{name}.npy" for name in matrices}
    found["frozen"] = {name: read_mask(path) for name, path in masks.items() if path.exists()}
    for name, mask in found["frozen"].items():
        if len(mask) != len(matrices[name]):
            raise InputError(f"{masks[name]}: expected {len(matrices[name]):,} numbers, found {len(mask):,}")
    if config.rectangular:
        found["known"] = read_known_pairs(folder, (len(vocab), len(vocab_out)))
    if (folder / PHRASES).is_file():
        found["phrases"] = tuple(read_phrases(folder / PHRASES))
    for name, dim in zip(_CONTEXTS, (config.dim, config.dim + 1), strict=True):
        if (folder / f"{name}.npy").is_file():
            found[name] = _read_matrix(folder / f"{name}.npy", (len(vocab),), dim)
    return found


def _write_law(folder, model):
    """Write how raw scores give log P(j|i), up to a constant of i: factor · s_ij + log_noise_j."""
    try:
        factor, log_noise = settled(model)
    except W2vnegError:  # unknown, or its plug-in is missing
        return
    _write_json(folder / "law.json", {"factor": factor, "log_noise": None if log_noise is None else "log_noise.npy"})
    if log_noise is not None:
        np.save(folder / "log_noise.npy", log_noise.astype(np.float32), allow_pickle=False)


def _state_of(folder):
    """Return an identifier of the saved state: every save is a new folder, renamed to this path."""
    try:
        found = os.stat(folder)
    except OSError:
        return None
    return found.st_ino, found.st_ctime_ns


def _there(path):
    if not path.is_file():
        raise InputError(f"{path}: {_MISSING}")
    return path


def _write_json(path, value):
    path.write_text(json.dumps(value, indent=2, allow_nan=False) + "\n", encoding="utf-8")


def _read_position(path):
    kinds = {name: type(default) | int for name, default in vars(Progress()).items()}
    values = _record(path, "position", kinds)
    fits = all(type(value) is not bool and 0 <= value < 2**63 for value in values.values())
    if not fits or values["alpha_factor"] > 1:
        raise InputError(f"{path}: not the position of a run (expected the numbers {', '.join(kinds)})")
    return Progress(**values)


def _event(line, where):
    """Return an event of a history (dict) from its line; InputError if it is none."""
    record = parse_json(line, where, lenient=True)
    try:
        kind = record.get("event")
        return record if kind not in EVENTS else {**record, **as_fields(EVENTS[kind], record)}
    except (AttributeError, TypeError, ValueError) as error:
        raise InputError(f"{where}: not an event of a run ({error}); the file is damaged") from None


def _record(path, what, kinds):
    """Read the dict at `path`, with values of these kinds; if it is anything else, InputError calls it `what`."""
    values = read_json(path, _MISSING)
    fits = isinstance(values, dict) and values.keys() == kinds.keys()
    if not fits or not all(isinstance(values[name], kind) for name, kind in kinds.items()):
        raise InputError(f"{path}: not the {what} of a run (expected {', '.join(kinds)})")
    return values


_EVALUATED_BY = {"metric", "patience", "every", "held", "known", "files"}  # keys in the settings of a `Best`


def _read_best(folder, matrices):
    """Return the `Best` of a run with these matrices, or None if the run is not evaluated."""
    path = folder / "validation.json"
    if read_json(path, _MISSING) is None:
        return None
    kinds = {name: kind for name, kind in Best.__annotations__.items() if name != "matrices"}
    best = Best(**_record(path, "validation", kinds))
    figures, settings = [*best.figures.values(), *best.last_figures.values()], best.settings
    fits = settings.keys() >= _EVALUATED_BY and all(type(value) in (int, float) for value in figures)
    fits = fits and isinstance(settings["files"], dict) and isinstance(settings["metric"], str)
    fits = fits and all(isinstance(file, str) for file in settings["files"].values())
    if not fits or (best.epoch is not None and settings["metric"] not in best.figures):
        raise InputError(f"{path}: not the validation of a run (expected {', '.join(kinds)})")
    if best.epoch is not None and not best.finished:
        best.matrices = _read_others(folder, "best", matrices)
    return best


def _read_others(folder, kind, matrices):
    """Read another saved state of `matrices`: dict of str -> float32 array."""
    files = {name: folder / f"{kind}_{name}.npy" for name in matrices}
    return {name: _read_matrix(files[name], (len(one),), one.shape[1]) for name, one in matrices.items()}


def _read_extra(path):
    names = read_json(path, _MISSING)
    fits = isinstance(names, list) and all(isinstance(name, str) and name.isidentifier() for name in names)
    if not fits or len({"vectors_in", "vectors_out", *names}) != 2 + len(names):
        raise InputError(f"{path}: not a list of matrix names")
    return names


def _read_matrix(path, lengths=None, dim=None):
    """Read a float32 matrix; check its number of rows against `lengths` and of columns against `dim`, if given."""
    matrix = read_matrix(_there(path))
    if len(matrix) not in (lengths or [len(matrix)]) or dim not in (None, matrix.shape[1]):
        wanted = f"({' or '.join(map(str, sorted(lengths or [])))}, {dim or 'any'})"
        raise InputError(f"{path}: expected float32 of shape {wanted}, found {matrix.dtype} of shape {matrix.shape}")
    if not np.isfinite(matrix).all():
        raise InputError(f"{path}: holds numbers that are not finite; the file is damaged")
    return matrix


def run_as_toml(model, folder, rewrite=lambda value: value):
    """Return run.toml: data, options and start of a run, for ``train --config``, without its output paths.

    For an update it names the former model, "" if that was in memory, and ``--config`` refuses the file.

    model : Model; folder : path of the model, for the vocabulary of a run that did not build its own
    rewrite : function applied to the values, as JSON holds them, before they are written
    """
    origin, updated = model.origin, "update" in model.origin.begun
    again = "--update MODEL, data and options as below," if updated else f"--config {RUN_FILE}"
    sentences = f"To repeat this run: w2vneg train {again} --save-model DIR", *_missing(model)
    values = model.config.as_dict() | {"loss": model.config.preset or model.config.loss.name}
    follow = table().keys() - {item.name for item in options_of_users()}  # these are derived again
    data = as_flags_of_data(origin.input, model.config.source.name)
    if not origin.own_vocab:
        data["vocab"] = os.path.abspath(os.path.join(folder, "vocab.tsv"))
        if model.vocab_out is not model.vocab:
            data["vocab-out"] = os.path.abspath(os.path.join(folder, "vocab_out.tsv"))
    data |= {name: value for name, value in origin.begun.items() if name in ("init", "update", "freeze")}
    values = data | {name: value for name, value in values.items() if name not in follow}
    if model.best is not None:
        values |= as_flags_of_validation(model.best.settings)
        values["eval_every"] = min(values["eval_every"], model.config.epochs or values["eval_every"])
    return "".join(f"# {sentence}\n" for sentence in sentences) + to_toml(rewrite(values))


def as_flags_of_data(given, traversal):
    """Return the data of an `Input` as flags of 'train' (dict), with standard input for data that were not files.

    given : `Input.as_dict()`, {} if there was no `Input`; traversal : str, as `TrainConfig.source`
    """
    named = dict(given) or {"kind": {"text": "corpus", "graph": "edges"}.get(traversal, traversal), "files": [STDIN]}
    return {named.pop("kind"): named.pop("files"), **named}


def as_flags_of_validation(settings):
    """Return how a run was evaluated as flags of 'train' (dict). settings : dict, `Validation.settings`"""
    values = {"valid": settings["files"].get("valid"), "valid_exclude_known": settings["files"].get("known")}
    return values | {"metric": settings["metric"], "patience": settings["patience"], "eval_every": settings["every"]}


def _missing(model):
    """Yield sentences about the parts of a run that the file cannot hold."""
    origin, best = model.origin, model.best
    if not origin.input or STDIN in origin.input["files"]:
        yield "Its data were not files: here they come from standard input. Or name files, as with --corpus."
    if best is not None and "valid" not in best.settings["files"]:
        from .validation import set_names

        if best.settings["metric"] not in set_names():
            yield "Its held-out pairs were not a file; give one with --valid."
