"""A text, or baskets, that nobody has whole: each rank reads its files once, and all of them agree on one vocabulary.

Tokens get provisional numbers at each rank, and are counted; counts are united up a tree; at its top the vocabulary is
chosen, and goes to all. Words, counts, and their order are those of one machine that reads the same files.

A line belongs to the stretch of a file that its first byte lies in. So whoever reads a stretch begins behind the first
line end at or before it, and reads on to the end of the last line that begins there.
"""

import dataclasses
import functools
from contextlib import ExitStack, closing
from dataclasses import dataclass
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np

from ...ground.errors import ConfigError
from ..phrases import read_phrases
from ..readers.counting import merged, united
from ..readers.sources import ByteStream, can_be_cut, find_files, size_of
from ..sources import SOURCES
from ..sources.corpus import AUTO
from ..vocab import Vocabulary, choose_vocabulary, ids_in
from .corpus import CorpusReport, Encoded, EncodedCorpus, ItemsReport
from .count import Settings, TokenStream, count_sources

RANK = "{rank}"
"""What stands in a path for the number of a rank, from 0."""

_AT_ONCE = 400_000  # types that are looked at together
_CUTTABLE = {"utf-8", "ascii", "iso8859-1", "cp1252", "iso8859-15"}  # a byte 10 is a line end and nothing else


class FileSpan(NamedTuple):
    """Part of a file: path : str; begin, end : int, in bytes, end None for all that is left."""

    path: str
    begin: int = 0
    end: int | None = None

    def size(self):
        return (size_of(self.path) if self.end is None else self.end) - self.begin

    def open(self):
        return ByteStream(self.path) if self.begin == 0 and self.end is None else _SpanStream(*self)


class _SpanStream(ByteStream):
    def __init__(self, path, begin, end):
        super().__init__(path)
        self.name = f"{path} from byte {begin:,} on"
        self._begin, self._end = begin, end

    def _stored(self):
        place, skips = max(0, self._begin - 1), self._begin > 0
        self._file.seek(place)
        for piece in super()._stored():
            begun = 0
            if skips:
                begun = piece.find(b"\n") + 1
                if begun == 0:
                    place += len(piece)
                    continue
                skips = False
                if self._end is not None and place + begun >= self._end:
                    return  # no line begins here
            if self._end is not None and place + len(piece) >= self._end:
                last = piece.find(b"\n", max(begun, self._end - 1 - place)) + 1
                if last:
                    yield piece[begun:last]
                    return
            yield piece[begun:]
            place += len(piece)


def split_among(files, borders, encoding="utf-8"):
    """Deal files out: return a list of FileSpan for each share, together, in order, all lines of all files in order.

    files : list of str, paths or URLs; borders : list of float, (n + 1,), where the n shares begin and end, 0 … 1 of
    all bytes; encoding : str, as `text.codec_name` gives it, None for files that cannot be cut
    Files are cut where they can be; a packed one, or one of another encoding, goes to where its first byte belongs.
    """
    sizes = [size_of(path) for path in files]
    n = len(borders) - 1
    before, dealt = 0, [[] for _ in range(n)]
    borders = [int(sum(sizes) * border) for border in borders]
    for path, size in zip(files, sizes, strict=True):
        if encoding not in _CUTTABLE or not can_be_cut(path):
            dealt[max(k for k in range(n) if borders[k] <= before)].append(FileSpan(path))
        else:
            for k, own in enumerate(dealt):
                begin, end = max(borders[k], before) - before, min(borders[k + 1], before + size) - before
                if begin < end:
                    own.append(FileSpan(path, begin, None if end == size else end))
        before += size
    return dealt


def files_of(names, slot, borders, settings):
    """Return what a rank is to read, a list of FileSpan; if a name holds `RANK`, each rank has files of its own."""
    if any(RANK in name for name in names):
        return [FileSpan(path) for path in find_files([name.replace(RANK, str(slot)) for name in names])]
    return split_among(find_files(names), borders, None if settings.table else settings.encoding)[slot]


@dataclass(frozen=True)
class Reading:
    """What all ranks are to read, and how: given : data.inputs.Input; borders : list of float, as of `split_among`."""

    given: object
    borders: list
    settings: Settings

    @classmethod
    def of(cls, given, borders, vocab=None, phrases=None, **shaping):
        if phrases is None:
            if AUTO in given.phrases:
                raise ConfigError(
                    "--phrases auto looks at the whole text, which lies with the ranks; name a file of 'w2vneg phrases'"
                )
            phrases = [phrase for path in given.phrases for phrase in read_phrases(path)]
        own = {name: shaping[name] for name in ("min_count", "max_vocab", "encoding", "lowercase")}
        settings = Settings(vocab=vocab, phrases=phrases, **own, **SOURCES[given.kind].reading(given))
        return cls(given, borders, settings)

    def text(self, slot, progress):
        SOURCES[self.given.kind].reading(self.given)  # its reader may not be known in this process yet
        spans = files_of(self.given.files, slot, self.borders, self.settings)
        return RankText(spans, self.settings, self.given.source, progress)


class RankText:
    """A rank's part of a text, read but not yet encoded; spans : list of FileSpan; settings : count.Settings

    source : str, as `TrainConfig.source`; progress : callable, called with (stored bytes read, stored bytes in all)
    """

    def __init__(self, spans, settings, source, progress):
        self._stream, self._source = TokenStream(None), source
        try:
            sizes = [span.size() for span in spans]
            self._counted = count_sources(map(FileSpan.open, spans), sizes, settings, self._stream, progress)
        except BaseException:
            self.close()
            raise

    def close(self):
        self._stream.__exit__()

    def counts(self):
        return self._counted.counter.run()

    def encoded(self, vocab):
        """Return the EncodedCorpus of this part; nothing can be asked afterwards."""
        with self._stream:
            ids_by_type = ids_in(vocab, self._counted.counter)
            corpus = self._counted.encoded(self._stream, vocab, ids_by_type, self._source)
        if len(corpus) < 2:
            raise ConfigError("a rank's share of the text has no two known words; lower --ranks, or give it more text")
        return corpus


def vocabulary_of(run, settings):
    """Return the Vocabulary that the counts of all ranks give, or the one that is fixed."""
    if settings.vocab is not None:
        return settings.vocab
    ids = [np.full(len(run.counts), -1, np.int32)]
    counter = SimpleNamespace(blank_ids=lambda: ids, parts=lambda: merged([run], _AT_ONCE))
    return choose_vocabulary(counter, settings.min_count, settings.max_vocab)[0]


@dataclass(frozen=True, eq=False)
class RankedCorpus(Encoded):
    """What is known of a text that lies with the ranks; the fields of `Encoded` are those of all of it.

    sizes : int64, (n_ranks,), kept tokens of each rank
    shares : list of EncodedCorpus where they are on this machine; crew : object, the ranks that have them, elsewhere
    """

    vocab: Vocabulary
    sizes: np.ndarray
    report: CorpusReport | ItemsReport
    source: str = "text"
    phrases: tuple = ()
    shares: list | None = None
    crew: object = None
    whole = False

    def __len__(self):
        return int(self.sizes.sum())

    @property
    def arrays(self):
        """What a run knows its data again by (tuple of ndarray): counts and sizes, for the ids are elsewhere."""
        return self.vocab.counts, self.sizes

    def sample(self):
        """Return an EncodedCorpus of two words with the whole's vocabulary: what an engine that never trains needs."""
        ids, offsets = np.array([0, 1], np.int32), np.array([0, 2], np.int64)
        return EncodedCorpus(ids, offsets, self.vocab, self.report, self.source)


def encode_ranked(reading, progress=None):
    """Encode a `Reading` as its ranks would, one after the other: a RankedCorpus; progress : callable, optional"""
    read = dict.fromkeys(range(len(reading.borders) - 1), 0)

    def tell(slot, done, _):
        read[slot] = done
        if progress:
            progress(sum(read.values()), None)

    with ExitStack() as opened:
        texts = [opened.enter_context(closing(reading.text(slot, functools.partial(tell, slot)))) for slot in read]
        run = united([text.counts() for text in texts])
        vocab = vocabulary_of(run, reading.settings)
        shares = [text.encoded(vocab) for text in texts]
    found = [(share.report, share.n_single) for share in shares]
    return ranked_corpus(reading, found, len(run.counts), vocab, shares=shares)


def ranked_corpus(reading, found, types, vocab, **where):
    """Return a RankedCorpus; found : list, of each rank, of (CorpusReport, how many of its lines have one word)"""
    reports, singles = zip(*found, strict=True)
    sizes = np.array([report.kept_tokens for report in reports], np.int64)
    apart = {"types": types, "kept_types": len(vocab)}
    apart |= {"seconds": max(report.seconds for report in reports), "cached": False, "damage": "", "tokens_by": ""}
    names = [field.name for field in dataclasses.fields(CorpusReport) if field.name not in apart]
    whole = CorpusReport(**{name: sum(getattr(report, name) for report in reports) for name in names}, **apart)
    given, settings = reading.given, reading.settings
    report = SOURCES[given.kind].report(given, whole, len(vocab), sum(singles), settings.vocab is not None)
    return RankedCorpus(vocab, sizes, report, given.source, settings.phrases, **where)


def check_whole(data, what):
    """Raise ConfigError if `what` needs the whole data and they are with the ranks."""
    if not getattr(data, "whole", True):
        raise ConfigError(
            f"{what} looks at the whole data, which lie with the ranks; leave it out, or give the files without {RANK} "
            "and --ray-address"
        )
