"""Encode a text in one pass, or open the result of an earlier pass from the cache.

While the text is read, tokens get provisional numbers (`data.encoded.count`), which go to a temporary file; then the
vocabulary is chosen and the numbers become ids. Neither tokens nor more than about 400,000 types are held in memory.

A cache entry is identified by its settings and the SHA-256 of the content; a memo of sizes and times avoids rereading
unchanged files. Opening an entry verifies its checksums (a third to half a second per GB); a damaged one is made again,
and the report says so.
"""

import hashlib
import json
import os
import re
import tempfile
import time
import warnings
import zlib
from contextlib import suppress
from dataclasses import asdict, replace

import numpy as np

from ...ground.errors import FileNote, InputError, OutputError
from ...ground.files.atomic import atomic_file, atomic_folder
from ...ground.files.caches import cache_dir
from ..readers.sources import ByteStream, file_stamp, find_files, is_paths
from ..vocab import Vocabulary
from . import count
from .corpus import CorpusReport, EncodedCorpus, mapped
from .count import FORMAT, Settings, TokenStream

_IN_MEMORY = 1 << 28  # bytes; larger files are mapped rather than read: 67 million ids
_PIECE = 1 << 20  # bytes per checksum update
_SETTLED = 2_000_000_000  # nanoseconds; a file that changed less than this before it was read is not remembered


def encode_corpus(source, *, use_cache=True, progress=None, **settings):
    """Encode a text, or open the result of an earlier call from the cache: an EncodedCorpus.

    source : path, list of paths or of `InMemoryTable`, as for `data.readers.sources.find_files`; or iterable of
        iterables of str, sentences as lists of tokens, iterated once
    use_cache : bool, False neither reads nor writes the cache
    progress : callable, optional, called periodically with (stored bytes read, total stored bytes or None)
    min_count, max_vocab, vocab, encoding, lowercase : as in `data.inputs.encode_input`
    reader : str, a name in `data.readers.READERS`
    strip : sequence of str, names in `data.readers.text.CLEANERS`, what to remove before words are separated
    phrases : sequence of data.phrases.Phrase, to join into one word each; in lower case if the text is
    table : data.readers.tables.TextColumn, optional; the files are tables with the text in this column
    InputError if a file is missing, unreadable or not text, or too few words are left; ConfigError if an option is out
    of range; OutputError without room for the cache or temporary files. A read-only cache gives a `FileNote`
    """
    settings, progress = Settings(**settings), progress or (lambda done, total: None)
    files = find_files(source) if is_paths(source) else None
    stamps = list(map(file_stamp, files or ()))
    if files and use_cache and None not in stamps:
        cache = Cache(files, stamps, settings)
        found = cache.found(progress)
        if found is not None:
            return found
        problem = cache.why_read_only()
        if not problem:
            return cache.made(progress)
        note = f"the cache {cache.root} is not writable ({problem}), so the encoded data are kept for this run only"
        warnings.warn(note, FileNote, stacklevel=2)
    with TokenStream(None) as stream:
        if files is None:
            counter = count.count_sentences(source, settings, stream)
        else:
            counter = count.count_files(files, stamps, settings, stream, progress)
        return counter.encoded(*settings.choose(counter.types))


class Cache:
    """The cache entries of one list of files under one set of settings.

    An entry is a folder ``corpora/<settings>-<stored bytes>-<content>`` of read-only files. Files are hashed before
    they are encoded only if there is an entry with these settings and this size.
    """

    def __init__(self, files, stamps, settings):
        self.files, self.stamps, self.settings = files, stamps, settings
        self.root = cache_dir("corpora")
        self.prefix = f"{settings.key()}-{sum(stamp[0] for stamp in stamps)}-"
        self._absolute = list(map(os.path.abspath, files))
        place = hashlib.sha256("\0".join(self._absolute).encode(errors="surrogateescape")).hexdigest()[:32]
        self._memo = self.root / "memo" / f"{place}.json"
        self._now = time.time_ns()
        self._damage = ""  # the fault of an existing entry

    def found(self, progress):
        if not any(self.root.glob(self.prefix + "*")):
            return None
        digests = self._digests(progress)
        corpus = self._open(self._entry(digests))
        if corpus is not None:
            self._remember(digests)
            for note in corpus.report.notes:  # as on the first reading
                warnings.warn(note, FileNote, stacklevel=3)
        return corpus

    def why_read_only(self):
        """Return why the cache is not writable (str), empty if it is; checked before a long pass."""
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=self.root).close()
        except OSError as error:
            return error.strerror or str(error)
        return ""

    def made(self, progress):
        failure, damage = None, self._damage
        with TokenStream(self.root) as stream:
            counter = count.count_files(self.files, self.stamps, self.settings, stream, progress)
            vocab, ids_by_type = self.settings.choose(counter.types)
            entry = self._entry(counter.digests)
            try:
                with atomic_folder(entry) as folder:
                    self._write(folder, counter, stream, vocab, ids_by_type)
            except OutputError as error:  # another process may have just written the entry
                failure = error
            corpus = self._open(entry, vocab)
        if corpus is None:
            reason = failure or f"{entry}: {self._damage or 'it vanished'}"
            raise OutputError(f"{reason}; set W2VNEG_CACHE to a writable folder with enough room") from failure
        self._remember(counter.digests)
        return replace(corpus, report=replace(corpus.report, cached=False, damage=damage))

    def key(self, progress=None):
        """Return the key of these files under these settings (str); files are read if they are not in the memo."""
        digests = self._digests(progress or (lambda done, total: None))
        self._remember(digests)
        return self._entry(digests).name

    def _write(self, folder, counter, stream, vocab, ids_by_type):
        with open(folder / "ids.i32", "wb") as ids, open(folder / "offsets.i64", "wb") as offsets:
            count.write_ids(stream, ids_by_type, ids, offsets)
            report = counter.report(ids_by_type, ids.tell() // 4, offsets.tell() // 8 - 1)
        vocab.save(folder / "vocab.tsv")
        known = {name: _known_by(folder / name) for name in ("ids.i32", "offsets.i64", "vocab.tsv")}
        about = {"format": FORMAT, "files": known, "report": asdict(report)}
        text = json.dumps({"crc32": _sum(about), "entry": about}, indent=1)
        (folder / "corpus.json").write_text(text, encoding="utf-8")
        for file in folder.iterdir():
            file.chmod(file.stat().st_mode & 0o444)

    def _entry(self, digests):
        return self.root / (self.prefix + hashlib.sha256("\n".join(digests).encode()).hexdigest()[:32])

    def _open(self, entry, vocab=None):
        self._damage = ""
        if not os.path.lexists(entry):
            return None
        try:
            stored = json.loads((entry / "corpus.json").read_text(encoding="utf-8"))
            about = stored["entry"]
            if stored["crc32"] != _sum(about):
                raise InputError("corpus.json differs from its checksum")
            if about["format"] != FORMAT:
                return None
            known = about["files"]
            if _known_by(entry / "vocab.tsv") != known["vocab.tsv"]:
                raise InputError("vocab.tsv differs from its checksum")
            vocab = vocab or self.settings.vocab or Vocabulary.load(entry / "vocab.tsv")
            vocab.words.forget_table()  # used only for checks; training looks up no words
            ids = _numbers(entry / "ids.i32", known["ids.i32"], np.int32)
            offsets = _numbers(entry / "offsets.i64", known["offsets.i64"], np.int64)
        except InputError as error:
            self._damage = str(error)
            return None
        except OSError as error:
            self._damage = f"{os.path.basename(error.filename or entry)}: {error.strerror or error}"
            return None
        except (ValueError, KeyError, TypeError, RecursionError):
            self._damage = "corpus.json cannot be read"
            return None
        size = sum(file["size"] for file in known.values())
        report = CorpusReport(**about["report"] | {"cached": True, "notes": tuple(about["report"].get("notes", ()))})
        return EncodedCorpus(ids, offsets, vocab, report, stored=size)

    def _digests(self, progress):
        """Return the SHA-256 of each file, from the memo if the file has not changed."""
        try:
            known = {path: (stamp, digest) for path, stamp, digest in json.loads(self._memo.read_text())}
        except (OSError, ValueError, TypeError, RecursionError):
            known = {}
        total, done, digests = sum(stamp[0] for stamp in self.stamps), 0, []
        for path, absolute, stamp in zip(self.files, self._absolute, self.stamps, strict=True):
            remembered, digest = known.get(absolute, (None, None))
            if remembered != stamp or not re.fullmatch("[0-9a-f]{64}", str(digest)):
                with ByteStream(path) as source:
                    for _ in source.stored():
                        progress(done + source.position, total)
                    digest = source.digest()
            done += stamp[0]
            digests.append(digest)
        return digests

    def _remember(self, digests):
        rows = [
            [path, stamp, digest]
            for path, stamp, digest in zip(self._absolute, self.stamps, digests, strict=True)
            if self._now - stamp[1] > _SETTLED  # so that a later change alters its time
        ]
        with suppress(OSError, OutputError):  # the next run only hashes the files again
            self._memo.parent.mkdir(parents=True, exist_ok=True)
            with atomic_file(self._memo) as memo:
                memo.write(json.dumps(rows).encode())


def _sum(about):
    return zlib.crc32(json.dumps(about).encode())


def _known_by(path):
    size = crc = 0
    with open(path, "rb") as file:
        while piece := file.read(_PIECE):
            size, crc = size + len(piece), zlib.crc32(piece, crc)
    return {"size": size, "crc32": crc}


def _numbers(path, known, dtype):
    """Return the numbers of a file, (n,), read-only; InputError if it differs from `known`. Callers trust them."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size != known["size"]:
            raise InputError(f"{path.name} has {size:,} bytes, not {known['size']:,}")
        numbers = np.fromfile(file, dtype) if size <= _IN_MEMORY else mapped(file, dtype)
    if zlib.crc32(numbers) != known["crc32"]:
        raise InputError(f"{path.name} differs from its checksum")
    numbers.flags.writeable = False  # as mapped arrays are: for the compiler another type than writeable ones
    return numbers
