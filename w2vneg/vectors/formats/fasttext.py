"""fastText's ``.bin``: a whole model with the rows of words and n-grams, as fastText 0.9 reads and writes it.

    magic, version            2 int32
    arguments                 12 int32, 1 float64
    dictionary                3 int32 (entries, words, labels), 2 int64 (tokens, pruned entries or -1);
                              each entry: bytes, 0, int64 count, int8 kind
    input matrix              bool (quantised?), 2 int64, float32 numbers: one row per word, then one per bucket
    output matrix             the same, one row per word; with hierarchical softmax one per inner node

All little-endian. Quantised and pruned models and classifiers are refused, as their rows differ. Models of words may
have labels, too, if a word of the text began like one; these come last, have no row, and are left out.
"""

import mmap
import struct
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...data.words import END, PackedStrings
from ...ground.errors import ConfigError, InputError, OutputError
from ...ground.files.atomic import atomic_file
from ...ground.files.packing import packed
from ...kernels.bags import mean_rows
from ...kernels.text.words import buckets_of
from ...objectives.inputs.subwords import rows_of_grams
from .common import check_text, enter, vectors_of

MAGIC = struct.pack("<i", 793712314)
_VERSION = 12
_ARGUMENTS = struct.Struct("<12id")
_COUNTS = struct.Struct("<3i2q")
_LOSSES, _MODELS = {"hs": 1, "ns": 2, "softmax": 3}, {"cbow": 1, "skipgram": 2, "classifier": 3}
_END_OF_LINE = "</s>"
_REMEDY = "; the file is cut short, damaged or not a fastText model: write it again"
_ROWS = 1 << 14  # written at a time
_LONGEST_GRAM = 100  # letters
_LONGEST_WORD = 1 << 16
_LEAST_ENTRY = 10  # bytes of a word's entry besides the word


class Contents(NamedTuple):
    """The content of a file. words : PackedStrings; counts : int64, (n,); notes : as for `Vectors`
    rows : float32, (n + n_buckets, dim), mapped
    targets : float32, (n, dim), mapped, the output matrix; None if its rows are not those of words
    """

    words: PackedStrings
    counts: np.ndarray
    n_buckets: int
    minn: int
    maxn: int
    rows: np.ndarray
    targets: np.ndarray | None
    notes: tuple = ()


def read(path, spell=False):
    """Read the vectors of a model: for each word, the mean of its row and its n-grams'; see `formats.read`."""
    found = contents(Path(path))
    if spell and not found.n_buckets:
        raise ConfigError(f"{path} has no n-grams, so unknown words have no vector; leave oov out")
    buckets = found.rows[len(found.words) :]
    spellings = GramSpellings(buckets, found.minn, found.maxn, found.n_buckets) if spell else None
    return vectors_of(path, _REMEDY, found.words, means(found), found.counts, spellings=spellings, notes=found.notes)


def means(found):
    """Return the mean of each word's row and its n-grams', float32 (n, dim). found : Contents"""
    n, dim = len(found.words), found.rows.shape[1]
    if not found.n_buckets:
        return np.array(found.rows[:n])
    starts, grams = buckets_of(found.words, found.minn, found.maxn, found.n_buckets)
    matrix = np.empty((n, dim), np.float32)
    own, buckets = np.ascontiguousarray(found.rows[:n]), np.ascontiguousarray(found.rows[n:])
    mean_rows(starts, grams.astype(np.int32), own, buckets, matrix)
    end_of_line = found.words.find(_END_OF_LINE)
    if end_of_line >= 0:  # which has no n-grams
        matrix[end_of_line] = own[end_of_line]
    return matrix


def contents(path):
    """Return the content of a file (`Contents`); InputError if it is damaged or not a model of words."""
    size = path.stat().st_size
    try:
        with open(path, "rb") as stream:
            if stream.read(4) != MAGIC:
                raise InputError(f"{path}: not a fastText model{_REMEDY}")
            (version,) = struct.unpack("<i", stream.read(4))
            if version not in (11, _VERSION):
                raise InputError(f"{path}: version {version} of fastText's format; known are 11 and 12{_REMEDY}")
            dim, *_, loss, model, n_buckets, minn, maxn, _, _ = _ARGUMENTS.unpack(stream.read(_ARGUMENTS.size))
            n_entries, n, n_labels, _, pruned = _COUNTS.unpack(stream.read(_COUNTS.size))
            if model == _MODELS["classifier"]:
                raise InputError(f"{path}: a fastText classifier, not word vectors; train with skipgram or cbow")
            if pruned >= 0:
                raise InputError(f"{path}: a pruned fastText model is not read; give the .bin it was made from")
            if maxn <= 0 or minn > maxn:
                minn, maxn, n_buckets = 0, 0, 0 if maxn <= 0 else n_buckets
            if n_entries != n + n_labels or min(n, dim) < 1 or min(n_labels, n_buckets) < 0 or maxn > _LONGEST_GRAM:
                raise InputError(f"{path}: its header is inconsistent{_REMEDY}")
            if (n + n_buckets) * dim * 4 + n_entries * _LEAST_ENTRY > size:
                raise InputError(f"{path}: its header promises more than its {size:,} bytes hold{_REMEDY}")
            words, counts, labels = _entries(path, stream, n_entries, n)
            quantised, rows, columns = struct.unpack("<?2q", stream.read(17))
            if quantised:
                raise InputError(f"{path}: a quantised fastText model is not read; give the .bin it was made from")
            if rows not in (n, n + n_buckets) or columns != dim or stream.tell() + rows * dim * 4 > size:
                raise InputError(f"{path}: expected {n + n_buckets} rows of {dim} numbers{_REMEDY}")
            matrix = np.memmap(path, "<f4", "r", stream.tell(), (rows, dim))
            stream.seek(rows * dim * 4, 1)
            quantised, rows_out, columns = struct.unpack("<?2q", stream.read(17))
            targets = None
            if loss != _LOSSES["hs"]:
                if quantised or (rows_out, columns) != (n, dim) or stream.tell() + n * dim * 4 > size:
                    raise InputError(f"{path}: expected {n} target rows of {dim} numbers{_REMEDY}")
                targets = np.memmap(path, "<f4", "r", stream.tell(), (n, dim))
    except struct.error:
        raise InputError(f"{path}: ends too early{_REMEDY}") from None
    if repeated := words.repeated():
        raise InputError(f"{path}: the word {words[repeated[0]]!r} occurs twice{_REMEDY}")
    first = [label[:40].decode(errors="replace") for label in labels[:1]]
    notes = [f"fastText labels, which have no vector and are left out: {n_labels:,}, such as {one!r}" for one in first]
    return Contents(words, counts, rows - n, minn, maxn, matrix, targets, tuple(notes))


def _entries(path, stream, n_entries, n):
    """Return the n words (PackedStrings), their counts (int64, (n,)) and the labels after them (list of bytes)."""
    names, counts, at = [], np.empty(n_entries, np.int64), stream.tell()
    with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
        for row in range(n_entries):
            end = data.find(b"\0", at, at + _LONGEST_WORD)
            if end < 0 or end + 10 > len(data):
                raise InputError(f"{path}: ends within its words{_REMEDY}")
            names.append(data[at:end])
            counts[row], kind = struct.unpack_from("<qb", data, end + 1)
            if kind != (row >= n) or counts[row] < 0 or END in names[-1]:
                raise InputError(f"{path}: word {row} is invalid or has no count{_REMEDY}")
            at = end + 10
    stream.seek(at)
    try:
        b"\n".join(names[:n]).decode()
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: its words are not UTF-8 ({error.reason}){_REMEDY}") from None
    return PackedStrings.of_data(b"".join(name + END for name in names[:n])), counts[:n], names[n:]


def write(path, model):
    """Write a `run.model.Model` of text for fastText, atomically; OutputError if the format cannot hold a word.

    The input matrix has the words' rows and, for a model with n-grams, one row per bucket, 0 where no word uses it.
    """
    config, inputs, words = model.config, model.config.inputs, model.vocab.words
    check_text(path, words)
    if b"\0" in words.data:
        raise OutputError(f"cannot write {path}: a word contains a zero byte, which this format cannot hold")
    used = model.buckets()
    own = model.vectors_in if used is None else model.extra["words_in"]
    n_buckets, minn, maxn = (0, 0, 0) if used is None else (inputs.buckets, inputs.minn, inputs.maxn)
    kind = _MODELS["cbow" if inputs.name.startswith("window") else "skipgram"]
    negatives = config.negatives or 5
    of_paths = config.loss.plug.paths
    loss = _LOSSES["hs" if of_paths else "ns"]
    numbers = config.dim, config.source.window, config.epochs, config.min_count, negatives, 1, loss, kind
    counts = np.asarray(model.vocab.counts, np.int64)
    end_of_line = words.find(_END_OF_LINE)
    if used is not None and end_of_line >= 0:  # it has no n-grams in fastText: its own row is the whole vector
        own = np.array(own)
        own[end_of_line] = model.vectors_in[end_of_line]
    with atomic_file(path) as file, packed(file, path) as stream:
        stream.write(MAGIC + struct.pack("<i", _VERSION))
        stream.write(_ARGUMENTS.pack(*numbers, n_buckets, minn, maxn, 100, config.source.subsample or 0.0))
        stream.write(_COUNTS.pack(len(words), len(words), 0, int(counts.sum()), -1))
        for word, count in zip(words.data.split(END), counts.tolist(), strict=False):
            stream.write(word + b"\0" + struct.pack("<qb", count, 0))
        stream.write(struct.pack("<?2q", False, len(words) + n_buckets, config.dim))
        _write_rows(stream, own)
        if used is not None:
            places = np.full(n_buckets, -1, np.int64)
            places[used] = np.arange(len(used))
            for first in range(0, n_buckets, _ROWS):
                part = places[first : first + _ROWS]
                rows = np.zeros((len(part), config.dim), np.float32)
                rows[part >= 0] = model.extra["grams_in"][part[part >= 0]]
                _write_rows(stream, rows)
        stream.write(struct.pack("<?2q", False, *model.vectors_out.shape))
        nodes = model.vectors_out  # fastText puts the rarest first and takes σ(s) for the right side
        _write_rows(stream, np.concatenate([-nodes[-2::-1], nodes[-1:]]) if of_paths else nodes)


def _write_rows(stream, matrix):
    for first in range(0, len(matrix), _ROWS):
        stream.write(np.ascontiguousarray(matrix[first : first + _ROWS], "<f4").tobytes())


class GramSpellings:
    """Vectors of any spelling, as in fastText: the mean of the rows of its n-grams, 0 for a bucket without a row.

    rows : float32, (n_rows, dim); used : int64, (n_rows,), the bucket of each row; None: all buckets in order
    """

    def __init__(self, rows, minn, maxn, buckets, used=None):
        self.rows, self.minn, self.maxn, self.buckets = rows, minn, maxn, buckets
        self._place = None if used is None else {bucket: row for row, bucket in enumerate(used.tolist())}

    def vector(self, word):
        """Return the vector of a spelling, float32 (dim,); None if it has no n-gram with a row."""
        places = found = buckets_of(PackedStrings([word]), self.minn, self.maxn, self.buckets)[1].tolist()
        if self._place is not None:
            places = [self._place[bucket] for bucket in found if bucket in self._place]
        if not places:
            return None
        return np.asarray(self.rows[places]).sum(axis=0, dtype=np.float32) / np.float32(len(found))


def spellings_of(vocab, rows, minn, maxn, buckets):
    """Return the `GramSpellings` of a model's rows ``grams_in``; None if their number does not match the vocabulary."""
    *_, used = rows_of_grams(vocab.words, vocab.counts, minn, maxn, buckets)
    return GramSpellings(rows, minn, maxn, buckets, used) if len(rows) == max(1, len(used)) else None


_HOLDS = "words, n-grams and both matrices of a model; see [inputs](inputs.md)"
enter("fasttext", _HOLDS, write=write, read=read, packs=True, of_model=True, recognises=MAGIC)
