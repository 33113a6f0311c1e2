"""The cache of encoded corpora: entries found by settings and content, and looked over before they are used."""

import hashlib
import json
import os
import re
import tempfile
import time
import zlib
from contextlib import suppress
from dataclasses import asdict, replace

from ...ground.errors import OutputError, W2vnegError
from ...ground.files.atomic import atomic_file, atomic_folder
from ...ground.files.caches import cache_dir
from ..readers.report import CorpusReport
from ..readers.sources import ByteStream
from ..vocab import Vocabulary
from . import count
from .corpus import EncodedCorpus
from .count import FORMAT, TokenStream
from .stored import Damaged, SummedWriter, check_file, known_by, read_ids, read_offsets

_SETTLED = 2_000_000_000  # nanoseconds; a file changed later than that before it was read is not remembered


def _absolute(files):
    return [os.path.abspath(path) for path in files]


class Cache:
    """The cache entries of one list of files under one set of settings.

    An entry is the folder ``corpora/<settings>-<stored bytes>-<content>``. Only if there is one of these
    settings and this size can it be worth knowing the content before the files are encoded.

    Whatever is wrong with an entry, the files are encoded again and take its place; the report says so. Its own files
    are read-only: a program that writes into one by mistake is refused, as nobody is who deletes the folder.
    """

    def __init__(self, files, stamps, settings):
        self.files, self.stamps, self.settings = files, stamps, settings
        self.root = cache_dir("corpora")
        self.prefix = f"{settings.key()}-{sum(stamp[0] for stamp in stamps)}-"
        place = hashlib.sha256("\0".join(_absolute(files)).encode(errors="surrogateescape")).hexdigest()[:32]
        self._memo = self.root / "memo" / f"{place}.json"
        self._now = time.time_ns()
        self._damage = ""  # what is wrong with the entry that is there

    def found(self, progress):
        """Return the corpus from the cache, None if it is not there."""
        if any(self.root.glob(self.prefix + "*")):
            digests = self._digests(progress)
            corpus = self._open(self._entry(digests))
            if corpus is not None:
                self._remember(digests)
                return corpus
        return None

    def why_read_only(self):
        """Return why nothing can be written into the cache (str), empty if it can: told before a long pass."""
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=self.root).close()
        except OSError as error:
            return error.strerror or str(error)
        return ""

    def made(self, progress):
        """Encode the corpus into the cache, and return it."""
        with TokenStream(self.root) as stream:
            counted = count.count_files(self.files, self.stamps, self.settings, stream, progress)
            return self._store(counted, stream)

    def key(self, progress=None):
        """Return what these files under these settings are known by (str); the files are read unless they are known."""
        digests = self._digests(progress or (lambda done, total: None))
        self._remember(digests)
        return self._entry(digests).name

    def _store(self, counted, stream):
        vocab, ids_by_type = self.settings.choose(counted.counter)
        entry = self._entry(counted.digests)
        failure = None
        corpus = self._open(entry, vocab)
        damage = self._damage
        if corpus is None:  # else another process was faster
            try:
                with atomic_folder(entry) as folder:
                    self._write(folder, counted, stream, vocab, ids_by_type)
            except OutputError as error:  # or another process put its own there at this very moment
                failure = error
            corpus = self._open(entry, vocab)
        if corpus is None:
            reason = failure or f"{entry}: {self._damage or 'it vanished'}"
            raise OutputError(f"{reason}; set W2VNEG_CACHE to a writable folder with enough room") from failure
        self._remember(counted.digests)
        return replace(corpus, report=replace(corpus.report, cached=False, damage=damage))

    def _write(self, folder, counted, stream, vocab, ids_by_type):
        """Write an entry's files into an empty folder."""
        with open(folder / "ids.i32", "wb") as ids_file, open(folder / "offsets.i64", "wb") as offsets_file:
            ids, offsets = SummedWriter(ids_file), SummedWriter(offsets_file)
            count.write_ids(stream, ids_by_type, ids, offsets)
        vocab.save(folder / "vocab.tsv")
        known = {"ids.i32": ids.known_by(), "offsets.i64": offsets.known_by()}
        known["vocab.tsv"] = known_by(folder / "vocab.tsv")
        report = counted.report(ids_by_type, ids.size // 4, offsets.size // 8 - 1)
        about = {"format": FORMAT, "files": known, "report": asdict(report)}
        text = json.dumps({"crc32": _sum(about), "entry": about}, indent=1)
        (folder / "corpus.json").write_text(text, encoding="utf-8")
        for file in folder.iterdir():
            file.chmod(file.stat().st_mode & 0o444)

    def _entry(self, digests):
        content = hashlib.sha256("\n".join(digests).encode()).hexdigest()[:32]
        return self.root / (self.prefix + content)

    def _open(self, entry, vocab=None):
        """Return the corpus of an entry; None if it is missing, of another format or damaged."""
        self._damage = ""
        if not os.path.lexists(entry):
            return None
        try:
            return self._opened(entry, vocab)
        except _OtherFormat:
            return None
        except (Damaged, W2vnegError) as error:
            self._damage = str(error)
        except OSError as error:
            self._damage = f"{os.path.basename(error.filename or entry)}: {error.strerror or error}"
        return None

    def _opened(self, entry, vocab):
        known, report = _read_about(entry / "corpus.json")
        check_file(entry / "vocab.tsv", known["vocab.tsv"])
        vocab = vocab or self.settings.vocab or Vocabulary.load(entry / "vocab.tsv")
        vocab.words.forget_table()  # it has served to check them; training looks no word up
        ids = read_ids(entry / "ids.i32", known["ids.i32"], len(vocab))
        offsets = read_offsets(entry / "offsets.i64", known["offsets.i64"], len(ids))
        size = sum(file["size"] for file in known.values())
        return EncodedCorpus(ids, offsets, vocab, replace(report, cached=True), stored=size)

    def _digests(self, progress):
        """Return the SHA-256 of each file, from the memo where the file has not changed."""
        try:
            known = {path: (stamp, digest) for path, stamp, digest in json.loads(self._memo.read_text())}
        except (OSError, ValueError, TypeError, RecursionError):
            known = {}
        total = sum(stamp[0] for stamp in self.stamps)
        done = 0
        digests = []
        for path, absolute, stamp in zip(self.files, _absolute(self.files), self.stamps, strict=True):
            remembered, digest = known.get(absolute, (None, None))
            if remembered != stamp or not _is_digest(digest):
                with ByteStream(path) as source:
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


class _OtherFormat(Exception):
    pass


def _read_about(path):
    """Return (how an entry's files are known, its report); Damaged unless all of it is what was written."""
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        if stored.get("format") == 1:  # which had no checksum
            raise _OtherFormat
        about = stored["entry"]
        if stored["crc32"] != _sum(about):
            raise Damaged(f"{path.name} differs from its checksum")
        if about["format"] != FORMAT:
            raise _OtherFormat
        return about["files"], CorpusReport(**about["report"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise Damaged(f"{path.name} cannot be read") from error


def _sum(about):
    return zlib.crc32(json.dumps(about).encode())


def _is_digest(text):
    return isinstance(text, str) and re.fullmatch("[0-9a-f]{64}", text) is not None
