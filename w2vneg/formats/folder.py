"""The model folder that training writes: both matrices as npy files and vocabularies with their counts."""

import numpy as np

from ..errors import ConfigError, InputError
from ..files.bounded import read_json
from ..files.npy import read_matrix
from .common import check_finite

_REMEDY = "; the folder is damaged or no model of w2vneg's: train again with --save-model"


def read(path, matrix="in"):
    """Read one matrix of a model folder, or the sum of both; see `w2vneg.formats.load`.

    A single matrix is memory-mapped, read-only. Where targets are another kind of thing than centres, the words of
    "out" are theirs, and there is no sum: ConfigError.
    """
    if not (path / "vocab.tsv").is_file():
        raise InputError(f"{path}: expected a model folder with vocab.tsv and vectors_in.npy{_REMEDY}")
    from ..data.vocab import Vocabulary

    two_kinds = _two_kinds(path)
    if two_kinds and matrix == "sum":
        raise ConfigError(
            f"{path}: rows of vectors_in.npy and vectors_out.npy are two kinds of things, which cannot be added; take "
            "--matrix in or --matrix out"
        )
    vocab = Vocabulary.load(path / ("vocab_out.tsv" if two_kinds and matrix == "out" else "vocab.tsv"))
    if matrix == "sum":
        first = _matrix(path / "vectors_in.npy", len(vocab))
        second = _matrix(path / "vectors_out.npy", len(vocab))
        if first.shape != second.shape:
            raise InputError(f"{path}: vectors_in.npy is {first.shape}, vectors_out.npy {second.shape}{_REMEDY}")
        vectors = first + second
    else:
        vectors = _matrix(path / f"vectors_{matrix}.npy", len(vocab))
    check_finite(path, vectors, vocab.words)
    return vocab.words, vectors, np.asarray(vocab.counts, dtype=np.int64)


def _two_kinds(path):
    """Tell whether centres and targets are two kinds of things; a vocab_out.tsv may be left from a former model."""
    if not (path / "config.json").exists():  # vectors alone
        return False
    options = read_json(path / "config.json")
    found = options.get("rectangular", False) if isinstance(options, dict) else None
    if not isinstance(found, bool):
        raise InputError(f"{path / 'config.json'}: expected options by name, rectangular true or false{_REMEDY}")
    return found


def _matrix(path, n_words):
    """Map one npy file, float32 (n_words, dim)."""
    if not path.is_file():
        raise InputError(f"{path}: no such file{_REMEDY}")
    matrix = read_matrix(path, mapped=True)
    if len(matrix) != n_words:
        raise InputError(f"{path}: expected float32 numbers in {n_words} rows, found float32 {matrix.shape}{_REMEDY}")
    return np.ascontiguousarray(matrix)
