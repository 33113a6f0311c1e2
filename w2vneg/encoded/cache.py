"""The cache of encoded corpora: entries found by settings and content."""

import hashlib
import json
import os
import tempfile
import time
from contextlib import suppress
from dataclasses import asdict, replace

import numpy as np

from ..atomic import atomic_file, atomic_folder
from ..cachedir import cache_dir
from ..errors import OutputError, W2vnegError
from ..readers.report import CorpusReport
from ..readers.sources import Source
from ..vocab import Vocabulary
from . import passes
from .corpus import EncodedCorpus
from .passes import FORMAT, TokenStream, mapped, writing_to

_SETTLED = 2_000_000_000  # nanoseconds; a file changed later than that before it was read is not remembered


def _absolute(files):
    return [os.path.abspath(path) for path in files]


class Cache:
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
        with writing_to(self.root):
            self.root.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=self.root).close()  # told now rather than after a long pass
        with TokenStream(self.root) as stream:
            counted = passes.count_files(self.files, self.stamps, self.settings, stream, progress)
            return self._store(counted, stream)

    def _store(self, counted, stream):
        vocab, ids_by_type = self.settings.choose(counted.counter)
        entry = self._entry(counted.digests)
        failure = None
        if self._open(entry) is None:  # else another process was faster
            try:
                with atomic_folder(entry) as folder:
                    with open(folder / "ids.i32", "wb") as ids, open(folder / "offsets.i64", "wb") as offsets:
                        passes.write_ids(stream, ids_by_type, ids, offsets)
                        sizes = {"ids.i32": ids.tell(), "offsets.i64": offsets.tell()}
                    vocab.save(folder / "vocab.tsv")
                    sizes["vocab.tsv"] = (folder / "vocab.tsv").stat().st_size
                    report = counted.report(ids_by_type, sizes["ids.i32"] // 4, sizes["offsets.i64"] // 8 - 1)
                    about = {"format": FORMAT, "sizes": sizes, "report": asdict(report)}
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
            if about["format"] != FORMAT or about["sizes"] != sizes:
                return None
            ids, offsets = mapped(entry / "ids.i32", np.int32), mapped(entry / "offsets.i64", np.int64)
            vocab = vocab or self.settings.vocab or Vocabulary.load(entry / "vocab.tsv")
            vocab.words.forget_table()  # it has served to check them; training looks no word up
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
