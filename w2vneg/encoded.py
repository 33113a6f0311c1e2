"""The encoded corpus: a text as int32 ids on disk, made in one pass and kept in the cache.

While the text is read, tokens get provisional numbers (`readers.counting`), which go to a temporary file;
then the vocabulary is chosen and the numbers become ids. Types are held in memory, tokens are not, so that a
corpus may be larger than memory and may come from standard input.

A cache entry is found by settings and content. Content is known by SHA-256; a memo of sizes and times spares
reading an unchanged file again. Standard input, pipes and sentences from an iterable are encoded into
temporary files that vanish with the process: no later run could know them without reading them again.
"""

import hashlib
import json
import os
import tempfile
import time
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from operator import index as as_index

import numpy as np

from .atomic import atomic_file, atomic_folder
from .cachedir import cache_dir
from .errors import ConfigError, InputError, OutputError, W2vnegError
from .kernels.tokens import renumber
from .readers import READERS
from .readers.counting import TokenCounter
from .readers.report import CorpusReport
from .readers.sentences import read_sentences
from .readers.sources import STDIN, Source, file_stamp, find_files, is_paths
from .readers.text import codec_name
from .vocab import Vocabulary, choose_vocabulary, ids_in

_FORMAT = 1  # of a cache entry; a change of what readers yield calls for a new one too
_IN_MEMORY = 1 << 24  # bytes of provisional numbers before they go to disk
_PIECE = 1 << 20  # numbers turned into ids at a time
_SETTLED = 2_000_000_000  # nanoseconds; a file changed later than that before it was read is not remembered


@dataclass(frozen=True, eq=False)
class EncodedCorpus:
    """A text as ids. The arrays are read-only and may be larger than memory.

    Attributes
    ----------
    ids : ndarray, int32, (n_tokens,)
        The kept tokens, sentence after sentence.
    offsets : ndarray, int64, (n_sentences + 1,)
        Sentence s is ``ids[offsets[s]:offsets[s + 1]]``; none is empty.
    vocab : Vocabulary
    report : CorpusReport
    """

    ids: np.ndarray
    offsets: np.ndarray
    vocab: Vocabulary
    report: CorpusReport = None

    def __len__(self):
        return len(self.ids)

    @property
    def n_sentences(self):
        return len(self.offsets) - 1


def encode_corpus(
    source,
    *,
    min_count=5,
    max_vocab=None,
    vocab=None,
    encoding="utf-8",
    lowercase=False,
    use_cache=True,
    progress=None,
    reader="text",
):
    """Count, choose the vocabulary and encode; or open what an earlier call has left in the cache.

    Parameters
    ----------
    source : path, list of paths, or iterable of iterables of str
        As for `readers.sources.find_files`; or sentences as lists of tokens, gone through once.
    min_count : int, at least 1
        Words seen less often are discarded.
    max_vocab : int, at least 2, optional
        Only so many of the most frequent words are kept.
    vocab : Vocabulary, optional
        Keep the words of this vocabulary, with its ids, instead of choosing by `min_count` and `max_vocab`.
    encoding : str
        Any text codec of Python's.
    lowercase : bool
        Lower-case by Unicode's rules.
    use_cache : bool
        False neither looks into the cache nor writes to it.
    progress : callable, optional
        Called with (stored bytes read, stored bytes in all or None) now and then while files are read.
    reader : str
        A name among `readers.READERS`.

    Returns
    -------
    EncodedCorpus

    Raises
    ------
    InputError
        If a file is missing, unreadable or not text, or too few words are left.
    ConfigError
        If an option is out of range.
    OutputError
        If the cache, or the folder of temporary files, cannot be written.
    """
    settings = _Settings.checked(min_count, max_vocab, vocab, encoding, lowercase, reader)
    progress = progress or (lambda done, total: None)
    if not is_paths(source):
        return _encode_sentences(source, settings)
    files = find_files(source)
    stamps = [None if path == STDIN else file_stamp(path) for path in files]
    if use_cache and None not in stamps:
        return _Cache(files, stamps, settings).fetch(progress)
    with _TokenStream(None) as stream:
        counted = _count_files(files, stamps, settings, stream, progress)
        return _encode_in_temporary_files(counted, settings, stream)


@dataclass(frozen=True)
class _Settings:
    """The options of `encode_corpus` that shape the ids, checked."""

    min_count: int
    max_vocab: int
    vocab: Vocabulary
    encoding: str
    lowercase: bool
    reader: str

    @classmethod
    def checked(cls, min_count, max_vocab, vocab, encoding, lowercase, reader):
        if not _is_int(min_count) or min_count < 1:
            raise ConfigError(f"min_count must be a whole number of at least 1, not {min_count!r}")
        if max_vocab is not None and (not _is_int(max_vocab) or max_vocab < 2):
            raise ConfigError(f"max_vocab must be a whole number of at least 2, not {max_vocab!r}")
        if vocab is not None and not isinstance(vocab, Vocabulary):
            raise ConfigError(f"vocab must be a Vocabulary, not {type(vocab).__name__}; see Vocabulary.load")
        if vocab is not None and len(vocab) < 2:
            raise ConfigError(f"the given vocabulary has {len(vocab)} words; training needs at least two")
        READERS[reader]  # an unknown name is told before anything is read
        return cls(min_count, max_vocab, vocab, codec_name(encoding), bool(lowercase), reader)

    def key(self):
        """Return a short hexadecimal digest of all settings (str)."""
        words = {"vocab": self.vocab.digest()} if self.vocab else [as_index(self.min_count), self.max_vocab]
        text = json.dumps([_FORMAT, self.reader, self.encoding, self.lowercase, words], default=as_index)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def choose(self, counter):
        """Return (vocabulary, ids_by_type); see `kernels.tokens.renumber` for the latter."""
        if self.vocab is None:
            return choose_vocabulary(counter, self.min_count, self.max_vocab)
        return self.vocab, ids_in(self.vocab, counter)


def _is_int(value):
    try:
        as_index(value)
    except TypeError:
        return False
    return not isinstance(value, bool)


@dataclass
class _Counted:
    """A corpus after the pass over its text."""

    counter: TokenCounter
    started: float  # time.perf_counter
    bytes: int
    files: int
    digests: list

    def report(self, ids_by_type, kept_tokens, sentences):
        counter = self.counter
        kept = ids_by_type >= 0
        kept_types = int(kept.sum())
        return CorpusReport(
            files=self.files,
            bytes=self.bytes,
            lines=counter.n_lines,
            empty_lines=counter.n_empty_lines,
            tokens=counter.n_tokens,
            types=counter.n_types,
            kept_tokens=kept_tokens,
            kept_types=kept_types,
            discarded_tokens=counter.n_tokens - kept_tokens,
            discarded_types=counter.n_types - kept_types,
            sentences=sentences,
            seconds=time.perf_counter() - self.started,
        )


def _count_files(files, stamps, settings, stream, progress):
    started = time.perf_counter()
    counter = TokenCounter(stream)
    total = None if None in stamps else sum(stamp[0] for stamp in stamps)
    read = READERS[settings.reader]
    done = unpacked = 0
    digests = []
    for path in files:
        with Source(path) as source:
            pieces = read(source, encoding=settings.encoding, lowercase=settings.lowercase)
            for _ in counter.count(pieces, source.name):
                progress(done + source.position, total)
            done += source.position
            unpacked += source.unpacked
            digests.append(source.digest())
    if counter.n_tokens == 0:
        named = "standard input" if files == [STDIN] else ", ".join(files[:3]) + ", ..." * (len(files) > 3)
        raise InputError(f"{named}: no token in {unpacked:,} bytes; name a file with text")
    return _Counted(counter, started, unpacked, len(files), digests)


def _encode_sentences(sentences, settings):
    with _TokenStream(None) as stream:
        started = time.perf_counter()
        counter = TokenCounter(stream)
        for _ in counter.count(read_sentences(sentences, lowercase=settings.lowercase), "sentences"):
            pass
        if counter.n_tokens == 0:
            raise InputError("the corpus holds no token: the iterable gave no sentence, or only empty ones")
        counted = _Counted(counter, started, counter.bytes, 0, [])
        return _encode_in_temporary_files(counted, settings, stream)


def _encode_in_temporary_files(counted, settings, stream):
    vocab, ids_by_type = settings.choose(counted.counter)
    with _writing_to(None), tempfile.TemporaryFile() as ids, tempfile.TemporaryFile() as offsets:
        _write_ids(stream, ids_by_type, ids, offsets)
        ids.flush()
        offsets.flush()
        arrays = _mapped(ids, np.int32), _mapped(offsets, np.int64)
    return EncodedCorpus(*arrays, vocab, counted.report(ids_by_type, len(arrays[0]), len(arrays[1]) - 1))


def _write_ids(stream, ids_by_type, ids_file, offsets_file):
    ids, ends = np.empty(_PIECE, dtype=np.int32), np.empty(_PIECE, dtype=np.int64)
    offsets_file.write(np.zeros(1, dtype=np.int64).tobytes())
    total = carried = 0
    for numbers in stream.pieces():
        n_ids, n_ends, carried = renumber(numbers, ids_by_type, ids, ends, carried)
        ids_file.write(memoryview(ids[:n_ids]).cast("B"))
        offsets_file.write(memoryview(ends[:n_ends] + total).cast("B"))
        total += n_ids


def _mapped(file, dtype):
    """Map a file as a read-only plain ndarray, which Numba recognises faster than a memmap."""
    return np.asarray(np.memmap(file, dtype=dtype, mode="r"))


@contextmanager
def _writing_to(folder):
    try:
        yield
    except OSError as error:
        reason = error.strerror or error
        if folder is None:
            remedy = f"cannot write temporary files in {tempfile.gettempdir()} ({reason}); set TMPDIR"
        else:
            remedy = f"cannot write to the cache folder {folder} ({reason}); set W2VNEG_CACHE"
        raise OutputError(f"{remedy} to a writable folder with enough room") from error


def _absolute(files):
    return [os.path.abspath(path) for path in files]


class _TokenStream:
    """Provisional numbers, in memory while they are few and else in an unnamed file of `folder`."""

    def __init__(self, folder):
        self._folder = folder
        self._file = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY, dir=folder)  # noqa: SIM115

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        with suppress(OSError):  # a full disk has been told of by then
            self._file.close()

    def write(self, data):
        with _writing_to(self._folder):
            self._file.write(data)

    def pieces(self):
        """Yield all numbers again (ndarray, int32, at most `_PIECE` at a time)."""
        with _writing_to(self._folder):
            self._file.seek(0)
        while data := self._file.read(4 * _PIECE):
            yield np.frombuffer(data, dtype=np.int32)


class _Cache:
    """The cache entries of one list of files under one set of settings.

    An entry is the folder ``corpora/<settings>-<stored bytes>-<content>``. Only if there is one of these
    settings and this size can it be worth knowing the content before the files are encoded.
    """

    def __init__(self, files, stamps, settings):
        self.files, self.stamps, self.settings = files, stamps, settings
        self.root = cache_dir("corpora")
        self.prefix = f"{settings.key()}-{sum(stamp[0] for stamp in stamps)}-"
        place = hashlib.sha256("\0".join(_absolute(files)).encode(errors="surrogateescape")).hexdigest()[:32]
        self._memo = self.root / "memo" / f"{place}.json"
        self._now = time.time_ns()

    def fetch(self, progress):
        """Return the corpus from the cache, or encode it into the cache."""
        if any(self.root.glob(self.prefix + "*")):
            digests = self._digests(progress)
            corpus = self._open(self._entry(digests))
            if corpus is not None:
                self._remember(digests)
                return corpus
        with _writing_to(self.root):
            self.root.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=self.root).close()  # told now rather than after a long pass
        with _TokenStream(self.root) as stream:
            counted = _count_files(self.files, self.stamps, self.settings, stream, progress)
            return self._store(counted, stream)

    def _store(self, counted, stream):
        vocab, ids_by_type = self.settings.choose(counted.counter)
        entry = self._entry(counted.digests)
        failure = None
        if self._open(entry) is None:  # else another process was faster
            try:
                with atomic_folder(entry) as folder:
                    with open(folder / "ids.i32", "wb") as ids, open(folder / "offsets.i64", "wb") as offsets:
                        _write_ids(stream, ids_by_type, ids, offsets)
                        sizes = {"ids.i32": ids.tell(), "offsets.i64": offsets.tell()}
                    vocab.save(folder / "vocab.tsv")
                    sizes["vocab.tsv"] = (folder / "vocab.tsv").stat().st_size
                    report = counted.report(ids_by_type, sizes["ids.i32"] // 4, sizes["offsets.i64"] // 8 - 1)
                    about = {"format": _FORMAT, "sizes": sizes, "report": asdict(report)}
                    (folder / "corpus.json").write_text(json.dumps(about, indent=1), encoding="utf-8")
            except OutputError as error:  # or another process put its own there at this very moment
                failure = error
        corpus = self._open(entry, vocab)
        if corpus is None:
            raise OutputError(
                f"{failure or f'{entry} vanished'}; set W2VNEG_CACHE to a writable folder with enough room"
            ) from failure
        self._remember(counted.digests)
        return replace(corpus, report=replace(corpus.report, cached=False))

    def _entry(self, digests):
        content = hashlib.sha256("\n".join(digests).encode()).hexdigest()[:32]
        return self.root / (self.prefix + content)

    def _open(self, entry, vocab=None):
        """Return the corpus of an entry; None if it is missing, damaged or of another format."""
        try:
            about = json.loads((entry / "corpus.json").read_text(encoding="utf-8"))
            sizes = {name: (entry / name).stat().st_size for name in ("ids.i32", "offsets.i64", "vocab.tsv")}
            if about["format"] != _FORMAT or about["sizes"] != sizes:
                return None
            ids, offsets = _mapped(entry / "ids.i32", np.int32), _mapped(entry / "offsets.i64", np.int64)
            vocab = vocab or self.settings.vocab or Vocabulary.load(entry / "vocab.tsv")
            report = CorpusReport(**{**about["report"], "cached": True})
        except (OSError, ValueError, KeyError, TypeError, W2vnegError):
            return None
        whole = offsets[0] == 0 and offsets[-1] == len(ids) == report.kept_tokens
        return EncodedCorpus(ids, offsets, vocab, report) if whole else None

    def _digests(self, progress):
        """Return the SHA-256 of each file, from the memo where the file has not changed."""
        try:
            known = {path: (stamp, digest) for path, stamp, digest in json.loads(self._memo.read_text())}
        except (OSError, ValueError, TypeError):
            known = {}
        total = sum(stamp[0] for stamp in self.stamps)
        done = 0
        digests = []
        for path, absolute, stamp in zip(self.files, _absolute(self.files), self.stamps, strict=True):
            remembered, digest = known.get(absolute, (None, None))
            if remembered != stamp:
                with Source(path) as source:
                    for _ in source.skim():
                        progress(done + source.position, total)
                    digest = source.digest()
            done += stamp[0]
            digests.append(digest)
        return digests

    def _remember(self, digests):
        rows = [
            [path, stamp, digest]
            for path, stamp, digest in zip(_absolute(self.files), self.stamps, digests, strict=True)
            if self._now - stamp[1] > _SETTLED  # a later change would show in its time
        ]
        with suppress(OSError, OutputError):  # costs the next run a look at the files, no more
            self._memo.parent.mkdir(parents=True, exist_ok=True)
            with atomic_file(self._memo) as memo:
                memo.write(json.dumps(rows).encode())
