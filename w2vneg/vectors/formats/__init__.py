"""File formats for vectors: word2vec text and binary, npz, safetensors, fastText, tables, folders; and `others`.

A format is an entry of `FORMATS`, registered in a file of this folder; every file whose name does not begin with _ is
imported. `read` detects the format from the content; `save` takes it from the suffix unless it is named. Nothing is
ever unpickled.
"""

import codecs
import io
import tempfile
import warnings
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from ...data.catalog.places import located
from ...data.readers.foreign import recognise
from ...data.readers.sources import ByteStream
from ...ground.errors import ConfigError, FileNote, InputError, OutputError, W2vnegError, did_you_mean
from ...ground.files.bounded import check_path, check_regular
from ...ground.files.packing import packed, without_packing
from ...ground.registry import import_all
from ...objectives.readout import parse
from ..search import row_not_finite
from . import folder
from .common import FORMATS

import_all(__path__, __name__)

_PACKED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd")  # gzip, bzip2, xz, zstd
_MOST = 100  # highest plausible compression ratio of vectors
_LITTLE = 1 << 26  # bytes that may be unpacked at any ratio
_FOREIGN = {
    b"\x80": "a pickle, like gensim's .kv and .model; loading one can run any code, so it is not read. In Python call "
    'gensim.models.KeyedVectors.load(PATH).save_word2vec_format("vectors.bin", binary=True), and name that file',
    b"\x93NUMPY": "an array without its words, as gensim saves next to a .kv; write both as word2vec text or binary",
    codecs.BOM_UTF16_LE: "text in UTF-16; convert it to UTF-8 (iconv -f utf-16 -t utf-8 FILE > OUT)",
    codecs.BOM_UTF16_BE: "text in UTF-16; convert it to UTF-8 (iconv -f utf-16 -t utf-8 FILE > OUT)",
    b"PK\x05\x06": "an empty archive; write it again",
    (b'{"', b'[{"'): "JSON; write each word and its numbers on a line, separated by spaces",
}
"""First bytes of a file that is not read, or alternatives -> what it is, and what to do."""


def detect(path):
    """Detect the format of `path` from its content: one of `FORMATS`, ``"folder"`` of a model, or ``"packed"`` (str).

    InputError if `path` is missing, empty, unreadable, not a regular file, or of an unsupported kind.
    """
    check_regular(path)
    path = Path(path)
    if path.is_dir():
        return _recognised(path, folder=True) or "folder"
    try:
        with open(path, "rb") as stream:
            head = stream.read(1 << 16)
    except FileNotFoundError:
        remedy = "train vectors first (w2vneg train writes vectors.txt), or name a file of vectors or a model folder"
        raise InputError(f"{path}: no such file; {remedy}") from None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error
    if not head:
        raise InputError(f"{path} is empty; it should hold vectors: write it again")
    if found := _recognised(head):
        return found
    for magic, what in _FOREIGN.items():
        if head.startswith(magic):
            raise InputError(f"{path} is {what}")
    if kind := recognise(head, "vectors"):
        raise InputError(f"{path} is {kind.name}, not a file of vectors; {kind.remedy}")
    return "packed" if head.startswith(_PACKED) else "word2vec"


def _recognised(seen, folder=False):
    names = sorted(FORMATS, key=lambda name: isinstance(FORMATS[name].recognises, bytes))  # safetensors may begin alike
    return next((name for name in names if FORMATS[name].folder == folder and FORMATS[name].is_it(seen)), None)


def read(path, readout=None, spell=False):
    """Read `Vectors` from a file or model folder of any format, and warn of their notes.

    path : str or Path; vectors named in gensim's catalog are downloaded (`data.catalog.places`)
    readout : str, optional, the read-out of a model folder (`objectives.readout`), if not the model's own
    spell : bool, also read what gives vectors to any spelling

    InputError, with file and line, if the file is missing or damaged; ConfigError if it has no such read-out or
    spellings.
    """
    check_path(path)
    check_regular(path)  # a Path does not distinguish - from ./-
    vectors = _read(located(path), readout, spell)
    warn_of_notes(path, vectors.notes)
    return vectors


def warn_of_notes(path, notes):
    """Warn of deviations from a file's content (FileNote). notes : sequence of str, may be empty"""
    if notes:
        warnings.warn(f"{path}: {'; '.join(notes)}", FileNote, stacklevel=3)


def _read(path, readout, spell):
    if readout is not None:
        parse(readout)
    found = detect(path)
    if found == "folder":
        return folder.read(path, readout, spell)
    if found == "packed":
        with _unpacked(path) as plain:
            if detect(plain) == "packed":
                raise InputError(f"{path} is compressed twice; unpack it once")
            vectors = _read(plain, readout, spell)
            vectors.matrix = np.array(vectors.matrix)  # a mapped file is deleted after the block
            return vectors
    if readout is not None:
        remedy = f"read-out {readout!r} needs a model folder (w2vneg train --save-model DIR)"
        raise ConfigError(f"{path} holds finished vectors; {remedy}")
    try:
        return FORMATS[found].read(path, spell)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error


@contextmanager
def _unpacked(path):
    """Unpack `path` into a temporary file and yield its path; errors raised in the block name `path` instead."""
    with tempfile.TemporaryDirectory(prefix="w2vneg-") as temporary:
        plain = Path(temporary, path.stem or path.name)
        try:
            with ByteStream(str(path)) as source, open(plain, "wb") as stream:
                most = max(_LITTLE, _MOST * path.stat().st_size)
                for piece in source.pieces():
                    stream.write(piece)
                    if stream.tell() > most:
                        raise InputError(f"{path}: unpacks to more than {_MOST} times its size, which no vectors do")
        except OSError as error:
            where = f"cannot be unpacked into {tempfile.gettempdir()} ({error.strerror or error})"
            raise InputError(f"{path}: {where}; free space there, or unpack it elsewhere") from error
        try:
            yield plain
        except W2vnegError as error:
            raise type(error)(str(error).replace(str(plain), str(path))) from error


def saved():
    """Return the names of the formats that `save` writes."""
    return [name for name in FORMATS if FORMATS[name].write and not FORMATS[name].of_model]


def suffixes():
    """Return the format that each file suffix selects, dict of str -> str."""
    return {suffix: name for name in FORMATS for suffix in FORMATS[name].suffixes}


def format_of(path):
    """Return the format for the suffix of `path`, without one for compression; ConfigError if there is none."""
    suffix, known = Path(without_packing(path)[0]).suffix.lower(), suffixes()
    if suffix not in known:
        remedy = f"name the format ({', '.join(saved())}), or end the name in {', '.join(known)}"
        raise ConfigError(f"cannot infer a format from the name {str(path)!r}; {remedy}")
    return known[suffix]


def check_packing(path, format):
    """Raise ConfigError if a name asks for compression, but the format has none; MissingExtraError as in `packed`."""
    bare, ending = without_packing(path)
    if ending and not FORMATS[format].folder:
        if not FORMATS[format].packs:
            raise ConfigError(f"{path}: {format} is not written compressed; name the file {bare}")
        with packed(io.BytesIO(), path):
            pass


def save(path, vectors, format=None, precision=None):
    """Write `Vectors` atomically. The word2vec formats, model2vec and sentence-transformers do not keep counts.

    path : str or Path; the word2vec formats are compressed if it ends in .gz, .bz2, .xz or .zst
    format : str or None, one of `saved`; some write a folder. None takes it from the suffix of `path`.
    precision : int, 1 to 9, or None, significant digits of word2vec text; None writes as many as restore the exact
        float32 values

    ConfigError if the format is unknown, or does not support `precision` or compression. OutputError if the file cannot
    be written, a number is not finite, or the format cannot hold a word.
    """
    check_path(path)
    if format is None:
        format = format_of(path)
    if format not in saved():
        raise ConfigError(f"unknown format {format!r}{did_you_mean(format, saved())}")
    check_packing(path, format)
    if row_not_finite(vectors.matrix) is not None:
        raise OutputError(f"cannot write {path}: some numbers are NaN or infinite; train again with a lower --alpha")
    if precision is not None and format != "word2vec":
        raise ConfigError(f"precision applies only to the text format word2vec, not to {format}")
    FORMATS[format].write(path, vectors, **({} if precision is None else {"precision": precision}))
