"""The model folder that training writes: both matrices as npy files and vocabularies with their counts."""

import numpy as np

from ...config import RunSpec, TrainConfig
from ...data.sources import noun_of
from ...data.vocab import Vocabulary
from ...ground.errors import ConfigError, InputError
from ...ground.files.bounded import check_members, read_json
from ...ground.files.npy import read_matrix
from ...objectives.law import law_of
from ...objectives.plugins import are_loaded, how_to_load
from ...objectives.plugs import small_rows
from ...objectives.readout import DEFAULT, Trained, parse
from ..search import row_not_finite
from ..vectors import Vectors
from .fasttext import spellings_of

_REMEDY = "; the folder is damaged or not a w2vneg model: train again with --save-model"
SLIM = "slim.json"  # the file that marks a model without vectors
_ONLY_WRITTEN = {"index.faiss": "a Faiss index", "projector_config.pbtxt": "a folder for TensorBoard's projector"}
"""File written by `others` -> what kind of folder it marks, unless that holds a model, too."""


def refuse_slim(folder):
    """Raise InputError if a folder holds a model without vectors."""
    if (folder / SLIM).exists():
        remedy = "use 'w2vneg recommend' or 'eval ranking', or train vectors with 'w2vneg train --loss top-n'"
        raise InputError(f"{folder}: a slim model, which has no vectors; {remedy}")


def read(path, readout=None, spell=False):
    """Read vectors from a model folder, memory-mapped if they are a single matrix; see `formats.read`.

    If targets are another kind of thing than centres, the read-out ``out`` has the words of the targets.
    """
    refuse_slim(path)
    if not (path / "vocab.tsv").is_file():
        for name in _ONLY_WRITTEN:
            if (path / name).is_file():
                raise InputError(f"{path}: {_ONLY_WRITTEN[name]} cannot be read; load the vectors it was made from")
        raise InputError(f"{path}: expected a model folder with vocab.tsv and vectors_in.npy{_REMEDY}")
    check_members(path)
    file = path / "config.json"  # missing if there are only vectors
    spec = RunSpec.read(file) if file.exists() else TrainConfig(readout=DEFAULT).resolved()
    rectangular = spec.rectangular
    chain = _own_chain(path, spec) if readout is None else parse(readout)
    chain.check(spec.traversal, rectangular, spec.loss.plug.paths)
    of_columns = rectangular and not chain.reads("vectors_in")
    vocab = Vocabulary.load(path / ("vocab_out.tsv" if of_columns else "vocab.tsv"))
    read = lambda name: _matrix(path / f"{name}.npy", len(vocab)) if chain.reads(name) else None  # noqa: E731
    first, second = read("vectors_in"), read("vectors_out")
    if first is not None and second is not None and first.shape != second.shape:
        raise InputError(f"{path}: vectors_in.npy is {first.shape}, vectors_out.npy {second.shape}{_REMEDY}")
    for matrix in (first, second):
        row = None if matrix is None else row_not_finite(matrix)
        if row is not None:
            cause = "a number that is NaN or infinite; the training that made it diverged, or the file is damaged"
            raise InputError(f"{path}: the vector of {vocab.words[row]!r} (row {row}) has {cause}")
    contexts = path / "contexts.npy"
    contexts = _matrix(contexts, len(vocab)) if chain.needs_contexts and contexts.is_file() else None
    counts = np.asarray(vocab.counts, dtype=np.int64)
    vectors = chain.read(Trained(first, second, vocab.words, counts, contexts, spell, law=lambda: law_of(spec, counts)))
    spellings = chain.spellings
    own = spec.inputs
    if spell and hasattr(own, "minn") and (path / "grams_in.npy").exists() and chain.rows_as_trained:
        rows = _matrix(path / "grams_in.npy")
        if row_not_finite(rows) is not None:
            raise InputError(f"{path / 'grams_in.npy'}: holds numbers that are not finite{_REMEDY}")
        spellings = spellings_of(vocab, rows, own.minn, own.maxn, own.buckets)
        if spellings is None:
            raise InputError(f"{path / 'grams_in.npy'}: {len(rows):,} rows do not match vocab.tsv's n-grams{_REMEDY}")
    noun = noun_of(input_of(path).get("kind"), spec.source.name, rectangular, of_columns)
    return Vectors(vocab.words, vectors, counts, spellings, noun, spec.lowercase, chain.rules)


def _own_chain(path, spec):
    """Return the read-out that a model names; ConfigError with a remedy if its plug-in is not loaded."""
    try:
        return parse(spec.readout)
    except ConfigError as error:
        if are_loaded(spec.plugin):
            raise
        raise ConfigError(
            f"{path} has the read-out {spec.readout} of the plug-in {spec.plugin}, which is not loaded; use --readout "
            f"in, or {how_to_load(spec.plugin)}"
        ) from error


def input_of(path):
    """Return the training input of a model folder, as the pairs' `as_trained` takes it; {} if it is unknown."""
    try:
        about = read_json(path / "corpus.json")
        given = dict(about["input"]) | {"names": about.get("names", [])}
        return given if isinstance(given.get("kind", ""), str) else {}
    except (InputError, KeyError, TypeError, ValueError):
        return {}


def untrained(path):
    """Return how many words of a fixed vocabulary were never trained in a model folder: int, 0 if unknown.

    Their rows still have the initial values of the seed. The number is unknown if rows began as those of another model
    or are made of n-grams, and for dense losses, whose first step moves no row of centres.
    """
    try:
        fixed = read_json(path / "corpus.json")["own_vocab"] is False
    except (InputError, KeyError, TypeError):
        return 0
    spec = RunSpec.read(path / "config.json") if fixed else None
    if spec is None or not spec.traversal.of_words or spec.loss.plug.dense:
        return 0
    rows = _matrix(path / "vectors_in.npy")
    return int((rows == small_rows(rows.shape, spec.seed, spec.bias)).all(axis=1).sum())


def _matrix(path, n_words=None):
    """Map one npy file, float32 (n_words, dim)."""
    if not path.is_file():
        raise InputError(f"{path}: no such file{_REMEDY}")
    matrix = read_matrix(path, mapped=True)
    if n_words is not None and len(matrix) != n_words:
        raise InputError(f"{path}: expected float32 numbers in {n_words} rows, found float32 {matrix.shape}{_REMEDY}")
    return np.ascontiguousarray(matrix)
