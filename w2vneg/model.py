"""The state of a run: two matrices, how far it got, and what it was told. Saved as a folder without any pickle."""

import json
import platform
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from . import __version__
from .atomic import atomic_folder
from .config import TrainConfig
from .errors import InputError
from .vocab import Vocabulary


@dataclass
class Position:
    """How far a run has got: `round` rounds of epoch `epoch` (both from 0) are done.

    alpha_factor : float, halved at each rollback; loss_sum, pairs : of the epoch so far
    """

    epoch: int = 0
    round: int = 0
    alpha_factor: float = 1.0
    loss_sum: float = 0.0
    pairs: int = 0


@dataclass
class Model:
    """vectors_in, vectors_out : float32, (n_vocab, dim); config is the resolved one; history : list of dict"""

    vocab: Vocabulary
    config: TrainConfig
    vectors_in: np.ndarray
    vectors_out: np.ndarray
    position: Position = field(default_factory=Position)
    history: list = field(default_factory=list)

    @classmethod
    def fresh(cls, vocab, config):
        """Start as word2vec does: input rows uniform on ±1 / (2 dim), output rows 0."""
        rng = np.random.default_rng(config.seed)
        shape = (len(vocab), config.dim)
        vectors_in = (rng.random(shape, np.float32) - np.float32(0.5)) / np.float32(config.dim)
        return cls(vocab, config, vectors_in, np.zeros(shape, np.float32))

    def save(self, folder):
        """Write the model folder, whole or not at all.

        vectors_in.npy, vectors_out.npy, vocab.tsv (word, count), config.json, position.json, history.jsonl,
        versions.json.
        """
        with atomic_folder(folder) as target:
            np.save(target / "vectors_in.npy", self.vectors_in, allow_pickle=False)
            np.save(target / "vectors_out.npy", self.vectors_out, allow_pickle=False)
            self.vocab.save(target / "vocab.tsv")
            _write_json(target / "config.json", self.config.as_dict())
            _write_json(target / "position.json", vars(self.position))
            _write_json(target / "versions.json", _versions())
            lines = "".join(json.dumps(record) + "\n" for record in self.history)
            (target / "history.jsonl").write_text(lines, encoding="utf-8")

    @classmethod
    def load(cls, folder):
        """Read a folder that `save` wrote; InputError naming the file that is missing or does not fit."""
        folder = Path(folder)
        if not folder.is_dir():
            raise InputError(f"{folder}: no such model folder; name one written with --save-model")
        vocab = Vocabulary.load(_there(folder / "vocab.tsv"))
        config = TrainConfig.from_mapping(_read_json(folder / "config.json"), folder / "config.json")
        position = _read_json(folder / "position.json")
        try:
            position = Position(**position)
        except TypeError as error:
            raise InputError(f"{folder / 'position.json'}: not a position of a run ({error})") from error
        matrices = [_read_matrix(folder / f"vectors_{side}.npy", len(vocab), config.dim) for side in ("in", "out")]
        history = [json.loads(line) for line in _there(folder / "history.jsonl").read_text("utf-8").splitlines()]
        return cls(vocab, config, *matrices, position, history)


def _there(path):
    if not path.is_file():
        raise InputError(f"{path}: missing; the folder is not a complete model")
    return path


def _write_json(path, value):
    path.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")


def _read_json(path):
    try:
        return json.loads(_there(path).read_text("utf-8"))
    except ValueError as error:
        raise InputError(f"{path}: not JSON ({error})") from error


def _read_matrix(path, n_vocab, dim):
    try:
        matrix = np.load(_there(path), allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise InputError(f"{path}: not a NumPy matrix ({error})") from error
    if matrix.shape != (n_vocab, dim) or matrix.dtype != np.float32:
        raise InputError(
            f"{path}: expected float32 of shape ({n_vocab}, {dim}), found {matrix.dtype} of shape {matrix.shape}"
        )
    return matrix


def _versions():
    import numba

    return {
        "w2vneg": __version__, "python": platform.python_version(), "numpy": np.__version__,
        "numba": numba.__version__, "machine": platform.machine(),
    }
