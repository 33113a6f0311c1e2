"""npz: NumPy's zip of arrays. Words are UTF-8 bytes and offsets, so that no pickle is ever needed.

Arrays: ``matrix`` float32 (n, dim); ``word_bytes`` uint8 (sum of lengths,); ``word_offsets`` int64 (n + 1,);
``counts`` int64 (n,), if known; ``lowercase`` bool (), true, if the words come from lower-cased text; ``grams`` uint64
(n_grams,), ``gram_vectors`` float32 (n_grams, dim) and ``gram_lengths`` int64 (2,), if any spelling has a vector
(`readout.letters`); ``kin_i``, ``kin_j``, ``kin_rule`` and the other fields of `readout.paradigms.Pairs` with the
prefix ``kin_``, if the vectors were made with them.
Arrays are stored uncompressed, so that the matrix can be memory-mapped.
"""

import math
import os
import struct
import zipfile
from dataclasses import fields
from pathlib import Path

import numpy as np

from ...ground.errors import ConfigError, InputError, W2vnegError
from ...ground.files.atomic import atomic_file
from ...ground.files.npy import npy_header
from ...objectives.readout.letters import Spellings
from ...objectives.readout.paradigms import Derived, Pairs, Rules
from .common import ARRAYS, arrays_of, check_text, enter, vectors_of, words_of

_REMEDY = "; it was not written by w2vneg, or is damaged: write it again (w2vneg export … --format npz)"

_OF_SPELLINGS = ("grams", "gram_vectors", "gram_lengths")
_OF_PAIRS = tuple(f"kin_{field.name}" for field in fields(Pairs))
_NAME_LENGTHS_AT = 26  # offset of the lengths of name and extra field in a member's local header
_MOST_PACKED = 100  # highest plausible compression ratio of words or vectors
_LITTLE = 1 << 26  # bytes that are unpacked at any ratio


def write(path, vectors):
    check_text(path, vectors.words)
    arrays, spellings = arrays_of(vectors), vectors.spellings
    if isinstance(spellings, Derived):
        spellings = spellings.letters
    if spellings is not None and not isinstance(spellings, Spellings):
        remedy = "use the .bin that was read, or write one of a model: w2vneg export MODEL model.bin --format fasttext"
        raise ConfigError(f"{path}: npz keeps spellings of letters but no n-grams, unlike fastText's .bin; {remedy}")
    if vectors.lowercase:
        arrays["lowercase"] = np.array(True)
    if spellings is not None:
        arrays["grams"], arrays["gram_vectors"] = spellings.grams, spellings.coefficients
        arrays["gram_lengths"] = np.array([spellings.shortest, spellings.longest], np.int64)
    if vectors.rules is not None and vectors.words.data.startswith(vectors.rules.words.data):  # they refer to its rows
        arrays |= {f"kin_{name}": array for name, array in vars(vectors.rules.pairs).items()}
    with atomic_file(path) as stream:
        np.savez(stream, **arrays)


def read(path, spell=False):
    """Read an npz file, strictly; see `w2vneg.vectors.formats.read`.

    The matrix is memory-mapped, read-only, unless it is compressed.
    """
    path = Path(path)
    try:
        with open(path, "rb") as stream, zipfile.ZipFile(stream) as archive:
            found = sorted(name.removesuffix(".npy") for name in archive.namelist())
            if found and not any(name.endswith(".npy") for name in archive.namelist()):
                held = f"{', '.join(found[:3])}{', …' * (len(found) > 3)}"
                raise InputError(f"{path}: an archive of files ({held}); unpack it, and name the one with vectors")
            if missing := [name for name in ARRAYS if name not in found]:
                raise InputError(f"{path}: expected an array {missing[0]!r}, found {', '.join(found)}{_REMEDY}")
            read_all = lambda *names: [_array(stream, archive, f"{name}.npy") for name in names]  # noqa: E731
            arrays = read_all("word_bytes", "word_offsets")
            counts = read_all("counts")[0] if "counts" in found else None
            matrix = _array(stream, archive, "matrix.npy", path)
            lowercase = "lowercase" in found and bool(read_all("lowercase")[0])
            if spell and not {"grams", "kin_rule"} & set(found):
                again = f"write it again from a model folder: w2vneg export MODEL {path} --readout both+letters"
                raise ConfigError(f"{path} has vectors of known words only; {again}")
            kept = read_all(*_OF_SPELLINGS) if spell and "grams" in found else None
            pairs = read_all(*_OF_PAIRS) if _OF_PAIRS[0] in found else None
    except W2vnegError:
        raise
    except Exception as error:  # a damaged archive may raise any error of zip, zlib or NumPy
        raise InputError(f"{path}: cannot be read as npz ({error}){_REMEDY}") from None
    vectors = vectors_of(path, _REMEDY, words_of(path, *arrays, _REMEDY), matrix, counts, lowercase=lowercase)
    vectors.spellings = _spellings(path, kept, vectors.dim) if kept else None
    vectors.rules = Rules(vectors.words, _pairs(path, pairs, vectors.matrix.shape)) if pairs else None
    if spell and vectors.rules:
        vectors.spellings = Derived(vectors.rules, vectors.matrix, vectors.spellings)
    return vectors


def _spellings(path, arrays, dim):
    grams, vectors, lengths = arrays
    fits = _are(arrays, (np.uint64, (grams.size,)), (np.float32, (len(grams), dim)), (np.int64, (2,)))
    if not fits or not 1 <= lengths[0] <= lengths[1] <= 20 or not (grams[1:] > grams[:-1]).all():
        raise InputError(f"{path}: its n-grams and their vectors do not match{_REMEDY}")
    return Spellings(grams, vectors, int(lengths[0]), int(lengths[1]))


def _are(arrays, *kinds):
    """Return whether arrays have these types and shapes, and are finite."""
    found = [(array.dtype, array.shape) for array in arrays]
    return found == list(kinds) and all(np.isfinite(array).all() for array in arrays)


def _pairs(path, arrays, shape):
    pairs = Pairs(*arrays)
    n_pairs, n_rules = (pairs.i.size,), pairs.front.size
    kinds = [(np.int32, n_pairs)] * 3 + [(np.float32, n_pairs), (np.bool_, (n_rules,)), (np.float64, (n_rules,))]
    tops = (pairs.i, shape[0]), (pairs.j, shape[0]), (pairs.rule, n_rules)
    fits = _are(arrays, *kinds, (np.float32, (n_rules, shape[1]))) and (pairs.strength > 0).all()
    fits = fits and all(((rows >= 0) & (rows < top)).all() for rows, top in tops)
    if not fits or len(np.unique(pairs.rule)) != n_rules:
        raise InputError(f"{path}: its kin and rules do not match{_REMEDY}")
    return pairs


def _array(stream, archive, name, mapped=None):
    """Read an array of a zip archive; map it, read-only, if `mapped` is the file's path and it is uncompressed.

    ValueError, before anything is allocated, if it is not an array or its header does not match its size.
    """
    member = archive.getinfo(name)
    with archive.open(member) as entry:  # which checks the member's own header
        shape, column_major, dtype = npy_header(entry)
        header = entry.tell()
        size = math.prod(shape) * dtype.itemsize
        if size != member.file_size - header:
            raise ValueError(f"{name} does not hold the promised {shape}")
        if member.file_size > max(_LITTLE, _MOST_PACKED * member.compress_size):
            times = member.file_size // max(1, member.compress_size)
            raise ValueError(f"{name} would unpack to {times:,} times its size")
        order = "F" if column_major else "C"
        begin = _begin(stream, member) + header
        if mapped and size and member.compress_type == zipfile.ZIP_STORED and begin % dtype.itemsize == 0:
            if begin + size > os.fstat(stream.fileno()).st_size:
                raise ValueError(f"{name} is cut short")
            return np.asarray(np.memmap(mapped, dtype, "r", begin, shape, order))
        return np.frombuffer(entry.read(), dtype).reshape(shape, order=order)


def _begin(stream, member):
    """Return the offset in the file at which the bytes of a member begin (int)."""
    here = stream.tell()
    stream.seek(member.header_offset + _NAME_LENGTHS_AT)
    name_length, extra_length = struct.unpack("<HH", stream.read(4))
    stream.seek(here)
    return member.header_offset + _NAME_LENGTHS_AT + 4 + name_length + extra_length


_HOLDS = (
    "NumPy arrays: `matrix`, `word_bytes`, `word_offsets`, `counts` if known; with `--oov letters` also `grams`, "
    "`gram_vectors`, `gram_lengths`; with paradigms `kin_…`"
)
enter("npz", _HOLDS, write=write, read=read, suffixes=(".npz",), recognises=b"PK\x03\x04")
