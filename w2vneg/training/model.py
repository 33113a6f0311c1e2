"""The state of a run: two matrices, how far it got, and what it was told. Saved as a folder without any pickle."""

import functools
import json
import os
import platform
import zlib
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from .. import __version__
from ..config import TrainConfig
from ..data.vocab import Vocabulary
from ..errors import ConfigError, InputError, OutputError
from ..files.atomic import atomic_folder, check_folder_writable, recover
from ..files.bounded import parse_json, read_json, read_text
from ..files.npy import read_matrix
from ..files.signature import is_signed, write_signature
from ..inputs import INPUTS
from ..inputs.subwords import rows_of_grams
from ..plugins import load_plugins

_KNOWN_BY = 1_000_000  # numbers at either end of an array by which data are known again


@dataclass
class Position:
    """How far a run has got: `round` rounds of epoch `epoch` (both from 0) are done.

    alpha_factor : float, halved at each rollback; loss_sum, pairs : of the epoch so far
    temperature : float, T of the latest round where it changes over the run, else 0
    """

    epoch: int = 0
    round: int = 0
    alpha_factor: float = 1.0
    loss_sum: float = 0.0
    pairs: int = 0
    temperature: float = 0.0


@dataclass
class Origin:
    """What a run trains on: n_tokens kept tokens, or different pairs.

    input : dict, the files and how they were read (`inputs.Input.as_dict`); empty if it was no file
    output : str, where the vectors were to be written; empty if nowhere
    own_vocab : bool, the vocabulary was chosen from these very data, by the options of the run
    fingerprint : int, of the first and last million numbers of each array
    """

    n_tokens: int = 0
    fingerprint: int = 0
    input: dict = field(default_factory=dict)
    output: str = ""
    own_vocab: bool = False

    @classmethod
    def of(cls, data):
        """Describe an EncodedCorpus or EncodedPairs by its arrays."""
        ends = [part for array in data.arrays for part in (array[:_KNOWN_BY], array[-_KNOWN_BY:])]
        return cls(len(data), functools.reduce(lambda value, part: zlib.crc32(part.tobytes(), value), ends, 0))


@dataclass
class Best:
    """What held-out pairs have said of a run so far, and the state that they liked best (see `validation`).

    settings : dict, how the run is evaluated: it goes on in no other way
    epoch, last_epoch : float, epochs done when the best and the latest state were evaluated, or None before the first
    figures, last_figures : dict of str -> float, what was found then
    stale : int, evaluations since the best one; finished : bool, the run is over
    matrices : dict of str -> float32 array, of the best state; empty before the first evaluation, and once the run is
        over, for then the model's own are the best
    """

    settings: dict
    epoch: float | None = None
    figures: dict = field(default_factory=dict)
    last_epoch: float | None = None
    last_figures: dict = field(default_factory=dict)
    stale: int = 0
    finished: bool = False
    matrices: dict = field(default_factory=dict)

    def as_dict(self):
        """Return all but the matrices, as JSON can hold it."""
        return {name: value for name, value in vars(self).items() if name != "matrices"}


@dataclass
class Good:
    """The state that a run goes back to if it diverges, where that is an earlier one than its latest.

    matrices : dict of str -> float32 array, as `Model.matrices`
    """

    position: Position
    matrices: dict


@dataclass
class Model:
    """vectors_in : float32, (n_vocab, dim); vectors_out : float32, (n_out, dim); config is the resolved one
    history : list of dict
    extra : dict of str -> float32 array (n_vocab or n_out, …), rows that a plug trains for itself, by their names
    vocab_out : Vocabulary of the targets; the very object `vocab` where centres and targets are one kind of thing
    best : Best or None, where the run is evaluated on held-out pairs
    good : Good or None, of a run that was interrupted within an epoch
    contexts : float32, (n_vocab, dim), or None: what stands around each word, for the read-outs that look at it; of the
        state that the vectors are of, once the run is over
    signed : bool, not from a folder that somebody else wrote (see `signature`)
    """

    vocab: Vocabulary
    config: TrainConfig
    vectors_in: np.ndarray
    vectors_out: np.ndarray
    position: Position = field(default_factory=Position)
    history: list = field(default_factory=list)
    origin: Origin = field(default_factory=Origin)
    extra: dict = field(default_factory=dict)
    vocab_out: Vocabulary = None
    best: Best | None = None
    good: Good | None = None
    signed: bool = True
    contexts: np.ndarray | None = None

    def __post_init__(self):
        self.vocab_out = self.vocab_out or self.vocab

    def matrices(self):
        """Return every trained matrix by its name."""
        return {"vectors_in": self.vectors_in, "vectors_out": self.vectors_out, **self.extra}

    def adopt(self, matrices):
        """Take these matrices, named as `matrices` names them, for its own."""
        self.vectors_in, self.vectors_out = matrices["vectors_in"], matrices["vectors_out"]
        self.extra = {name: matrices[name] for name in self.extra}

    def buckets(self):
        """Return the bucket of each row of ``extra["grams_in"]``, int64 (n_rows,); None for a model without n-grams."""
        if "grams_in" not in self.extra:
            return None
        config = self.config
        *_, used = rows_of_grams(self.vocab.words, self.vocab.counts, config.minn, config.maxn, config.buckets)
        return used

    def best_matrix(self, name):
        """Return a matrix of the best state so far, float32 (rows, dim); the model's own if none was better."""
        return self.matrices()[name] if self.best is None else self.best.matrices.get(name, self.matrices()[name])

    @classmethod
    def fresh(cls, vocab, config, vocab_out=None):
        """Start as word2vec does: input rows uniform on ±1 / (2 dim), output rows 0."""
        rng = np.random.default_rng(config.seed)
        vectors_in = rng.random((len(vocab), config.dim), np.float32)
        vectors_in -= np.float32(0.5)
        vectors_in /= np.float32(config.dim)
        vectors_out = np.zeros((len(vocab_out or vocab), config.dim), np.float32)
        return cls(vocab, config, vectors_in, vectors_out, vocab_out=vocab_out)

    def save(self, folder):
        """Write the model folder, complete or not at all; the user's own files in a former one stay.

        vectors_in.npy, vectors_out.npy, what else was trained (named in extra.json), vocab.tsv (word, count),
        contexts.npy of a run that is over, if its read-out looks at contexts,
        vocab_out.tsv where targets are another kind of thing than centres,
        config.json, position.json, corpus.json, history.jsonl, versions.json, signature.json, validation.json and,
        until a run that is evaluated is over, best_NAME.npy of each matrix; good.json, and good_NAME.npy after an
        interruption between two states that were checked. OutputError if the folder holds something else than a model.
        """
        check_place(folder)
        best = self.best.matrices if self.best is not None else {}
        good = self.good.matrices if self.good is not None else {}
        others = {f"best_{name}.npy": matrix for name, matrix in best.items()}
        others |= {f"good_{name}.npy": matrix for name, matrix in good.items()}
        ours = {f"{kind}_{name}.npy" for kind in ("best", "good") for name in self.matrices()} | _FILES
        with atomic_folder(folder, keep=lambda name: name not in ours) as target:
            for name, matrix in self.matrices().items():
                np.save(target / f"{name}.npy", matrix, allow_pickle=False)
            for name, matrix in others.items():
                np.save(target / name, matrix, allow_pickle=False)
            if self.contexts is not None:
                np.save(target / "contexts.npy", self.contexts, allow_pickle=False)
            _write_json(target / "validation.json", self.best and self.best.as_dict())
            _write_json(target / "good.json", self.good and vars(self.good.position))
            _write_json(target / "extra.json", sorted(self.extra))
            self.vocab.save(target / "vocab.tsv")
            if self.vocab_out is not self.vocab:
                self.vocab_out.save(target / "vocab_out.tsv")
            _write_json(target / "config.json", self.config.as_dict())
            _write_json(target / "position.json", vars(self.position))
            _write_json(target / "corpus.json", vars(self.origin))
            _write_json(target / "versions.json", _versions())
            lines = "".join(json.dumps(record) + "\n" for record in self.history)
            (target / "history.jsonl").write_text(lines, encoding="utf-8")
            write_signature(target, self._signed())

    @classmethod
    def load(cls, folder):
        """Read a folder that `save` wrote; InputError naming the file that is missing or does not fit."""
        folder = Path(folder)
        recover(folder)
        if not folder.is_dir():
            what = "a file, not a model folder" if folder.exists() else "no such model folder"
            raise InputError(f"{folder}: {what}; name one written with --save-model")
        for _ in range(_TRIES):  # a run that is going on may save it meanwhile: files of one state only
            state = _state_of(folder)
            try:
                model = cls._load(folder)
            except InputError:
                if _state_of(folder) == state:
                    raise
            else:
                if _state_of(folder) == state:
                    return model
        raise InputError(f"{folder}: changes while it is read; try again when its run is over")

    @classmethod
    def _load(cls, folder):
        vocab = Vocabulary.load(_there(folder / "vocab.tsv"))
        config = TrainConfig.from_mapping(_read_json(folder / "config.json"), folder / "config.json", saved=True)
        position = _read_position(folder / "position.json")
        vocab_out = Vocabulary.load(_there(folder / "vocab_out.tsv")) if config.rectangular else vocab
        matrices = [
            _read_matrix(folder / "vectors_in.npy", (len(vocab),), config.dim),
            _read_matrix(folder / "vectors_out.npy", (len(vocab_out),), config.dim),
        ]
        lengths = (
            None if config.inputs not in INPUTS or INPUTS[config.inputs].composes else {len(vocab), len(vocab_out)}
        )
        extra = {name: _read_matrix(folder / f"{name}.npy", lengths) for name in _read_extra(folder / "extra.json")}
        history, origin = _read_history(folder / "history.jsonl"), _read_origin(folder / "corpus.json")
        model = cls(vocab, config, *matrices, position, history, origin, extra, vocab_out)
        model.best = _read_best(folder, model.matrices())
        model.good = _read_good(folder, model.matrices())
        if (folder / "contexts.npy").is_file():
            model.contexts = _read_matrix(folder / "contexts.npy", (len(vocab),), config.dim)
        model.signed = is_signed(folder, model._signed())
        return model

    def config_to_run(self, folder, plugin=None, epochs=None):
        """Return the configuration to go on with (TrainConfig); `plugin` and `epochs`, if given, instead of its own.

        Raises
        ------
        ConfigError
            If the run has gone beyond `epochs`, or is evaluated as it trains and so ends with an earlier state.
            If the model names plug-ins, none are given, and somebody else wrote the folder: resuming would run them.
            Or if the plug-ins have not the options that the run had.
        """
        if plugin is None and self.config.plugin is not None and not self.signed:
            raise ConfigError(
                f"{folder} was not written by you on this machine, and going on with it runs {self.config.plugin}; "
                "look at that code, then name it with --plugin"
            )
        plugin = self.config.plugin if plugin is None else plugin
        load_plugins(plugin)
        config = TrainConfig.from_mapping(self.config.as_dict() | {"plugin": plugin}, folder, saved=True)
        if config.absent:
            raise ConfigError(f"{folder}: no plug-in has the option {min(config.absent)!r} that this run was given")
        return config if epochs is None else self._lasting(config, epochs, folder)

    def _lasting(self, config, epochs, folder):
        done = self.position.epoch + (self.position.round > 0)
        if epochs < done:
            raise ConfigError(f"{folder} is in epoch {done} already; give --epochs {done} or more, or leave it out")
        if self.best is not None:
            raise ConfigError(
                f"{folder} is evaluated on held-out pairs and ends with its best state, not its last; for more epochs "
                f"begin another run with --init {folder}"
            )
        return replace(config, epochs=epochs)

    def _signed(self):
        """Return what only this user may have written, for resuming runs the plug-in and writes the output (dict)."""
        return {"plugin": self.config.plugin, "output": self.origin.output}


def check_place(folder):
    """Raise OutputError if a model could not be saved at `folder`, or would take the place of something else."""
    check_folder_writable(folder)
    folder = Path(folder)
    recover(folder)
    found = sorted(entry.name for entry in folder.iterdir()) if folder.is_dir() else []
    if found and not _MARKS.issubset(found):
        shown = ", ".join(found[:3]) + ", …" * (len(found) > 3)
        raise OutputError(
            f"cannot write {folder}: the folder exists and is no model of w2vneg's (it holds {shown}); "
            "choose another folder or empty this one"
        )


_MARKS = {"config.json", "vocab.tsv", "vectors_in.npy"}  # what makes a folder a model
_FILES = _MARKS | {  # what else a model may have, apart from matrices of plugs and of other states
    "vectors_out.npy",
    "contexts.npy",
    "vocab_out.tsv",
    "extra.json",
    "position.json",
    "corpus.json",
    "history.jsonl",
    "versions.json",
    "validation.json",
    "good.json",
    "signature.json",
}
_TRIES = 5


def _state_of(folder):
    """Return what tells one saved state from the next: each is a folder of its own, renamed to this place."""
    try:
        found = os.stat(folder)
    except OSError:
        return None
    return found.st_ino, found.st_ctime_ns


_MISSING = "missing; the folder is not a complete model"


def _there(path):
    if not path.is_file():
        raise InputError(f"{path}: {_MISSING}")
    return path


def _write_json(path, value):
    path.write_text(json.dumps(value, indent=2, allow_nan=False) + "\n", encoding="utf-8")


def _read_json(path):
    return read_json(path, _MISSING)


def _read_position(path):
    values = _read_json(path)
    kinds = {name: type(default) for name, default in vars(Position()).items()}
    if isinstance(values, dict):
        values = {"temperature": 0.0} | values  # folders from before it could change do not have it
    fits = isinstance(values, dict) and all(
        name in values and type(values[name]) in (kind, int) and values[name] >= 0 for name, kind in kinds.items()
    )
    if not fits or len(values) != len(kinds) or values["alpha_factor"] > 1:
        raise InputError(f"{path}: not the position of a run (expected the numbers {', '.join(kinds)})")
    return Position(**values)


def _read_origin(path):
    values = _read_json(path)
    if isinstance(values, dict) and isinstance(values.get("sources"), list):  # folders of text from before items
        files = values.pop("sources")
        values["input"] = {"kind": "corpus", "files": files} if files else {}
    kinds = {"n_tokens": int, "fingerprint": int, "input": dict, "output": str, "own_vocab": bool}
    if isinstance(values, dict):
        values = {"output": "", "own_vocab": False} | values  # folders from before they were kept
    fits = isinstance(values, dict) and values.keys() == kinds.keys()
    if not fits or any(type(values[name]) is not kind for name, kind in kinds.items()):
        raise InputError(f"{path}: not the origin of a run (expected {', '.join(kinds)})")
    return Origin(**values)


_EVALUATED_BY = {"metric", "patience", "every", "held", "known", "files"}  # what settings of a `Best` hold


def _read_best(folder, matrices):
    """Return the `Best` of a run with these matrices, or None if it is evaluated on nothing."""
    path = folder / "validation.json"
    values = _read_json(path) if path.exists() else None  # folders from before there was any do not have it
    if values is None:
        return None
    kinds = {"settings": dict, "figures": dict, "last_figures": dict, "stale": int, "finished": bool}
    kinds |= dict.fromkeys(("epoch", "last_epoch"), float | None)
    fits = isinstance(values, dict) and values.keys() == kinds.keys()
    fits = fits and all(isinstance(values[name], kind) for name, kind in kinds.items())
    if not fits or not values["settings"].keys() >= _EVALUATED_BY or not _are_figures(values):
        raise InputError(f"{path}: not the validation of a run (expected {', '.join(kinds)})")
    best = Best(**values)
    if best.epoch is not None and not best.finished:
        best.matrices = _read_others(folder, "best", matrices)
    return best


def _are_figures(values):
    """Tell whether what a `Best` holds is what it should be, kinds apart."""
    figures, files = [*values["figures"].values(), *values["last_figures"].values()], values["settings"]["files"]
    numbers = all(type(value) in (int, float) for value in figures)
    named = isinstance(files, dict) and all(isinstance(file, str) for file in files.values())
    metric = values["settings"]["metric"]
    return numbers and named and isinstance(metric, str) and (values["epoch"] is None or metric in values["figures"])


def _read_good(folder, matrices):
    """Return the `Good` of a run with these matrices, or None if its latest state is the one to go back to."""
    path = folder / "good.json"
    if not path.exists() or _read_json(path) is None:  # folders from before there was any do not have it
        return None
    return Good(_read_position(path), _read_others(folder, "good", matrices))


def _read_others(folder, kind, matrices):
    """Read another state of `matrices`: dict of str -> float32 array."""
    return {
        name: _read_matrix(folder / f"{kind}_{name}.npy", (len(matrix),), matrix.shape[1])
        for name, matrix in matrices.items()
    }


def _read_extra(path):
    names = _read_json(path)
    fits = isinstance(names, list) and all(isinstance(name, str) and name.isidentifier() for name in names)
    if not fits or len({"vectors_in", "vectors_out", *names}) != 2 + len(names):
        raise InputError(f"{path}: not a list of names of matrices")
    return names


def _read_history(path):
    lines = enumerate(read_text(path, _MISSING).split("\n"), 1)
    return [parse_json(line, f"{path}:{number}", lenient=True) for number, line in lines if line]


def _read_matrix(path, lengths=None, dim=None):
    """Read a float32 matrix with one of these numbers of rows and `dim` columns, where they are given."""
    matrix = read_matrix(_there(path))
    if len(matrix) not in (lengths or [len(matrix)]) or dim not in (None, matrix.shape[1]):
        raise InputError(
            f"{path}: expected float32 of shape ({' or '.join(map(str, sorted(lengths or [])))}, {dim or 'any'}), "
            f"found {matrix.dtype} of shape {matrix.shape}"
        )
    if not np.isfinite(matrix).all():
        raise InputError(f"{path}: holds numbers that are not finite; the file is damaged")
    return matrix


def _versions():
    import numba

    return {
        "w2vneg": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
        "machine": platform.machine(),
    }
