"""Files that hold vectors: word2vec text and binary, npz, fastText's models, and the model folder of a run.

`load` finds the format by looking inside, `save` takes it from the suffix unless it is named. Nothing is ever
unpickled. A file is read into ``(words, matrix, counts)``: Words; ndarray, float32, (n, dim),
C-contiguous; ndarray, int64, (n,) or None.
"""

from pathlib import Path

from ..data.words import Words
from ..errors import ConfigError, InputError, OutputError, did_you_mean
from ..files.bounded import check_regular
from ..readout import parse
from . import binary, fasttext, folder, npz, text
from .common import Stored, row_not_finite

SUFFIXES = {".txt": "word2vec", ".vec": "word2vec", ".bin": "word2vec-binary", ".npz": "npz"}  # str -> format
FORMATS = ("word2vec", "word2vec-binary", "npz")

_PACKED = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\xfd7zXZ": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
}  # magic -> name


def detect(path):
    """Name the format of `path` by its content.

    Returns
    -------
    str
        ``"folder"``, ``"npz"``, ``"fasttext"``, ``"word2vec-binary"`` or ``"word2vec"``.

    Raises
    ------
    InputError
        If there is nothing at `path`, or nothing in it, or it is compressed, unreadable or no regular file.
    """
    path = Path(path)
    if path.is_dir():
        return "folder"
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
    for magic, name in _PACKED.items():
        if head.startswith(magic):
            raise InputError(f"{path} is compressed ({name}); unpack it first")
    if head.startswith(b"PK\x03\x04"):
        return "npz"
    if head.startswith(fasttext.MAGIC):
        return "fasttext"
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
        How vectors are made of a model folder's matrices (`w2vneg.readout`), if not as the model says; a file of
        vectors has no choice.
    spell : bool
        Read what gives vectors to any spelling, too.

    Returns
    -------
    Stored
        (words, matrix, counts, spellings)

    Raises
    ------
    InputError
        If the file is missing or damaged; the message names file and line.
    ConfigError
        If the read-out is unknown, or asks for what only a model folder has; or spellings for what has none.
    """
    path = Path(path)
    if readout is not None:
        parse(readout)
    found = detect(path)
    if found == "folder":
        return folder.read(path, readout, spell)
    if readout is not None:
        raise ConfigError(
            f"{path} holds vectors that are made already; read-out {readout!r} needs a model folder "
            "(w2vneg train --save-model DIR)"
        )
    if found == "npz":
        return npz.read(path, spell)
    if found == "fasttext":
        return fasttext.read(path, spell)
    return Stored(*{"word2vec-binary": binary.read, "word2vec": text.read}[found](path))


def format_of(path):
    """Return the format that the suffix of `path` stands for; ConfigError if it stands for none."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise ConfigError(
            f"cannot tell a format from the name {str(path)!r}; name the format ({', '.join(FORMATS)}), "
            "or end the name in .txt, .vec, .bin or .npz"
        )
    return SUFFIXES[suffix]


def readout_of(path, matrix):
    """Return the read-out that ``matrix``, its former name, stands for; a file of vectors has ``in`` as it is."""
    return None if matrix == "in" and not Path(path).is_dir() else matrix


def save(path, words, matrix, counts=None, format=None, precision=None, spellings=None):
    """Write vectors, atomically.

    Parameters
    ----------
    path : str or Path
    words : iterable of str, n of them
    matrix : ndarray, float32, (n, dim)
    counts : ndarray, int64, (n,), or None
        Kept by npz only.
    format : {"word2vec", "word2vec-binary", "npz"} or None
        None takes it from the suffix of `path`.
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
    if format not in FORMATS:
        raise ConfigError(f"unknown format {format!r}{did_you_mean(format, FORMATS)}")
    words = Words.of(words)
    if row_not_finite(matrix) is not None:
        raise OutputError(f"cannot write {path}: some numbers are NaN or infinite; train again with a lower --alpha")
    if format == "word2vec":
        text.write(path, words, matrix, precision)
        return
    if precision is not None:
        raise ConfigError(f"a precision goes with the text format word2vec only, not with {format}")
    if format == "npz":
        npz.write(path, words, matrix, counts, spellings)
    else:
        binary.write(path, words, matrix)
