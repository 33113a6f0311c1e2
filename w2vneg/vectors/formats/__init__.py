"""Files that hold vectors, a format a file: word2vec text and binary, npz, safetensors, fastText's, tables, folders.

`load` finds the format by looking inside, `save` takes it from the suffix unless it is named. Nothing is ever
unpickled. A file is read into ``(words, matrix, counts)``: PackedStrings; ndarray, float32, (n, dim),
C-contiguous; ndarray, int64, (n,) or None.
"""

import codecs
import warnings
from pathlib import Path

import numpy as np

from ...data.words import PackedStrings
from ...ground.errors import ConfigError, FileNote, InputError, OutputError, did_you_mean
from ...ground.files.bounded import check_regular
from ...objectives.readout import parse
from . import binary, columns, fasttext, folder, index, npz, packed, projector, static, tensors, text
from .common import Stored, row_not_finite

SUFFIXES = {
    ".txt": "word2vec",
    ".vec": "word2vec",
    ".bin": "word2vec-binary",
    ".npz": "npz",
    ".safetensors": "safetensors",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
}  # str -> format
_FILES = {
    "word2vec": text.write,
    "word2vec-binary": binary.write,
    "npz": npz.write,
    "safetensors": tensors.write,
    "parquet": columns.write_parquet,
    "arrow": columns.write_arrow,
}
_FOLDERS = {
    "model2vec": static.write_model2vec,
    "sentence-transformers": static.write_sentence_transformers,
    "projector": projector.write,
    "faiss": index.write_cosine,
    "faiss-dot": index.write_dot,
}
_READ = {
    "word2vec": text.read,
    "word2vec-binary": binary.read,
    "npz": npz.read,
    "safetensors": tensors.read,
    "parquet": columns.read_parquet,
    "arrow": columns.read_arrow,
    "fasttext": fasttext.read,
    "static": static.read,
}
FORMATS, FOLDERS = tuple(_FILES), tuple(_FOLDERS)

_FOREIGN = {
    b"\x80": "a pickle, as gensim's .kv and .model are; opening one may run any code, so it is not read. In Python do "
    'gensim.models.KeyedVectors.load(PATH).save_word2vec_format("vectors.bin", binary=True), and name that file',
    b"\x93NUMPY": "an array without its words, as gensim keeps beside a .kv; write both as word2vec text or binary",
    codecs.BOM_UTF16_LE: "text in UTF-16; convert it to UTF-8 (iconv -f utf-16 -t utf-8)",
    codecs.BOM_UTF16_BE: "text in UTF-16; convert it to UTF-8 (iconv -f utf-16 -t utf-8)",
    b"PK\x05\x06": "an empty archive; write it again",
}
"""What a file begins with that is not read -> what it is, and what to do."""


def detect(path):
    """Name the format of `path` by its content.

    Returns
    -------
    str
        ``"folder"`` for a model folder, ``"static"`` for one of model2vec or sentence-transformers, ``"packed"`` for a
        compressed file, ``"fasttext"``, or one of `FORMATS`.

    Raises
    ------
    InputError
        If there is nothing at `path`, or nothing in it, or it is unreadable, no regular file, or of a kind that is not
        read.
    """
    path = Path(path)
    if path.is_dir():
        return "static" if static.looks_like_it(path) else "folder"
    check_regular(path)
    try:
        with open(path, "rb") as stream:
            head = stream.read(1 << 16)
    except FileNotFoundError:
        raise InputError(
            f"{path}: no such file; train vectors first (w2vneg train writes vectors.txt), "
            "or name a file of vectors or a model folder"
        ) from None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error
    if not head:
        raise InputError(f"{path} is empty; it should hold vectors: write it again")
    if tensors.looks_like_it(head):  # first, as the length at its beginning may look like anything
        return "safetensors"
    for magic, what in _FOREIGN.items():
        if head.startswith(magic):
            raise InputError(f"{path} is {what}")
    known = [(b"PK\x03\x04", "npz"), (fasttext.MAGIC, "fasttext"), *columns.MAGIC.items()]
    known += [(magic, "packed") for magic in packed.MAGIC]
    for magic, name in known:
        if head.startswith(magic):
            return name
    return "word2vec-binary" if binary.looks_binary(head) else "word2vec"


def load(path, readout=None):
    """Read vectors as `read` does; returns (words, matrix, counts)."""
    return tuple(read(path, readout)[:3])


def read(path, readout=None, spell=False):
    """Read vectors from a file or model folder, whatever their format.

    Parameters
    ----------
    path : str or Path
    readout : str, optional
        How vectors are made of a model folder's matrices (`objectives.readout`), if not as the model says; a file of
        vectors has no choice.
    spell : bool
        Read what gives vectors to any spelling, too.

    Returns
    -------
    Stored
        (words, matrix, counts, spellings, noun, notes); the notes are warned of, too (FileNote)

    Raises
    ------
    InputError
        If the file is missing or damaged; the message names file and line.
    ConfigError
        If the read-out is unknown, or asks for what only a model folder has; or spellings for what has none.
    """
    stored = _read(Path(path), readout, spell)
    tell(path, stored.notes)
    return stored


def tell(path, notes):
    """Warn of what was read otherwise than a file has it (FileNote). notes : sequence of str, none perhaps"""
    if notes:
        warnings.warn(f"{path}: {'; '.join(notes)}", FileNote, stacklevel=3)


def _read(path, readout, spell):
    if readout is not None:
        parse(readout)
    found = detect(path)
    if found == "folder":
        return folder.read(path, readout, spell)
    if found == "packed":
        with packed.unpacked(path) as plain:
            if detect(plain) == "packed":
                raise InputError(f"{path} is packed twice; unpack it once")
            stored = _read(plain, readout, spell)
            return stored._replace(matrix=np.array(stored.matrix))  # a mapped file is gone behind the block
    if readout is not None:
        raise ConfigError(
            f"{path} holds vectors that are made already; read-out {readout!r} needs a model folder "
            "(w2vneg train --save-model DIR)"
        )
    return _READ[found](path, spell)


def format_of(path):
    """Return the format that the suffix of `path` stands for; ConfigError if it stands for none."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise ConfigError(
            f"cannot tell a format from the name {str(path)!r}; name the format ({', '.join(FORMATS + FOLDERS)}), "
            f"or end the name in {', '.join(SUFFIXES)}"
        )
    return SUFFIXES[suffix]


def save(path, words, matrix, counts=None, format=None, precision=None, spellings=None):
    """Write vectors, atomically.

    Parameters
    ----------
    path : str or Path
    words : iterable of str, n of them
    matrix : ndarray, float32, (n, dim)
    counts : ndarray, int64, (n,), or None
        Not kept by word2vec's formats, model2vec and sentence-transformers.
    format : str or None
        One of `FORMATS`, or of `FOLDERS`, which write a folder. None takes it from the suffix of `path`.
    precision : int, in 1…9, or None
        Significant digits of word2vec text; None writes as many as read back to the same float32 values.
    spellings : readout.letters.Spellings, optional
        What gives vectors to any spelling; kept by npz only.

    Raises
    ------
    ConfigError
        If the format is unknown, or a precision is given for a format that has none.
    OutputError
        If the file cannot be written, a number is not finite, or a word cannot stand in this format.
    """
    if format is None:
        format = format_of(path)
    if format not in FORMATS + FOLDERS:
        raise ConfigError(f"unknown format {format!r}{did_you_mean(format, FORMATS + FOLDERS)}")
    if row_not_finite(matrix) is not None:
        raise OutputError(f"cannot write {path}: some numbers are NaN or infinite; train again with a lower --alpha")
    stored = Stored(PackedStrings.of(words), matrix, counts, spellings)
    if format == "word2vec":
        text.write(path, stored, precision)
        return
    if precision is not None:
        raise ConfigError(f"a precision goes with the text format word2vec only, not with {format}")
    (_FILES | _FOLDERS)[format](path, stored)
