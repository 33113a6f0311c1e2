"""A text, or baskets, that nobody has whole: each rank reads its files once, and all of them agree on one vocabulary.

    each rank      tokens get provisional numbers, which go to a temporary file, and are counted
    up a tree      counts of two become counts of both
    at the top     the vocabulary is chosen, and goes to all
    each rank      provisional numbers become ids

Words, counts, and their order are those of one machine that reads the same files.
"""

import dataclasses
import functools
import time
from contextlib import ExitStack, closing
from dataclasses import dataclass

import numpy as np

from ...ground.errors import ConfigError
from ..phrases import Tally, read_phrases
from ..readers.counting import TokenCounter, Types, united
from ..readers.report import CorpusReport, ItemsReport
from ..readers.sources import find_files
from ..readers.spans import FileSpan, split_among
from ..sources import SOURCES
from ..sources.corpus import AUTO
from ..vocab import Vocabulary, choose_vocabulary, ids_in
from . import count
from .corpus import Encoded, EncodedCorpus
from .count import Counted, Settings, TokenStream

RANK = "{rank}"
"""What stands in a path for the number of a rank, from 0."""

_AT_ONCE = 400_000  # types that are looked at together


def files_of(names, slot, borders, settings):
    """Return what a rank is to read, a list of FileSpan.

    names : list of str, paths, folders and patterns; if one holds `RANK`, each rank has files of its own
    borders : list of float, as of `readers.spans.split_among`; settings : count.Settings
    """
    if any(RANK in name for name in names):
        return [FileSpan(path) for path in find_files([name.replace(RANK, str(slot)) for name in names])]
    return split_among(find_files(names), borders, None if settings.table else settings.encoding)[slot]


@dataclass(frozen=True)
class Reading:
    """What all ranks are to read, and how.

    given : data.inputs.Input, of a source that has a `reading`
    borders : list of float, as of `files_of`; settings : count.Settings
    """

    given: object
    borders: list
    settings: Settings

    @classmethod
    def of(cls, given, borders, vocab=None, phrases=None, **shaping):
        """Make one of an `Input`; phrases, shaping : as of `data.inputs.encode_input`."""
        if phrases is None and AUTO in given.phrases:
            raise ConfigError(
                "--phrases auto looks at the whole text, which lies with the ranks; name a file of 'w2vneg phrases'"
            )
        if phrases is None:
            phrases = [phrase for path in given.phrases for phrase in read_phrases(path)]
        own = {name: shaping[name] for name in ("min_count", "max_vocab", "encoding", "lowercase")}
        settings = Settings.checked(vocab=vocab, phrases=phrases, **own, **SOURCES[given.kind].reading(given))
        return cls(given, borders, settings)

    def text(self, slot, progress):
        """Read a rank's part; returns a RankText. progress : as of `RankText`"""
        SOURCES[self.given.kind].reading(self.given)  # its reader may not be known in this process yet
        spans = files_of(self.given.files, slot, self.borders, self.settings)
        return RankText(spans, self.settings, self.given.source, progress)

    def report(self, found, vocab, single):
        """Return the report of all ranks; found : CorpusReport; vocab : Vocabulary; single : int, lines of one word."""
        fixed = self.settings.vocab is not None
        return SOURCES[self.given.kind].report(self.given, found, len(vocab), single, fixed)


class RankText:
    """A rank's part of a text, read but not yet encoded.

    Parameters
    ----------
    spans : list of FileSpan
    settings : count.Settings
    source : str, as `TrainConfig.source`
    progress : callable, called with (stored bytes read, stored bytes in all) now and then
    """

    def __init__(self, spans, settings, source, progress):
        self._stream, self._source = TokenStream(None), source
        try:
            self._counted = self._count(spans, settings, progress)
        except BaseException:
            self.close()
            raise

    def _count(self, spans, settings, progress):
        counter, started, done, unpacked = TokenCounter(self._stream), time.perf_counter(), 0, 0
        sizes, tally = [span.size() for span in spans], Tally()
        for span, size in zip(spans, sizes, strict=True):
            with span.open() as source:
                for _ in counter.count(settings.read(source, tally), source.name):
                    progress(done + min(source.position, size), sum(sizes))  # it reads somewhat beyond its end
                done += size
                unpacked += source.unpacked
        return Counted(counter, started, unpacked, len(spans), [], tally)

    def close(self):
        """Let go of what was read."""
        self._stream.__exit__()

    def counts(self):
        """Return the types with their counts (readers.counting.Run)."""
        return self._counted.counter.run()

    def encoded(self, vocab):
        """Return the EncodedCorpus of this part; nothing can be asked afterwards."""
        counted = self._counted
        with self._stream:
            ids_by_type = ids_in(vocab, counted.counter)
            ids, offsets = count.mapped_ids(self._stream, ids_by_type)
        if len(ids) < 2:
            raise ConfigError("a rank's share of the text has no two known words; lower --ranks, or give it more text")
        report = counted.report(ids_by_type, len(ids), len(offsets) - 1)
        return EncodedCorpus(ids, offsets, vocab, report, self._source, stored=ids.nbytes + offsets.nbytes)


def vocabulary_of(run, settings):
    """Return the Vocabulary that the counts of all ranks give, or the one that is fixed."""
    if settings.vocab is not None:
        return settings.vocab
    return choose_vocabulary(Types(run, _AT_ONCE), settings.min_count, settings.max_vocab)[0]


@dataclass(frozen=True, eq=False)
class RankedCorpus(Encoded):
    """What is known of a text that lies with the ranks.

    Attributes
    ----------
    vocab : Vocabulary
    sizes : int64, (n_ranks,), kept tokens of each rank
    report : CorpusReport or ItemsReport, of all of it
    source : str, as `TrainConfig.source`
    phrases : tuple of data.phrases.Phrase, those that were joined while reading
    shares : list of EncodedCorpus where they are on this machine
    crew : object, the ranks that have them, elsewhere
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


def summed(reports, types, vocab):
    """Return the CorpusReport of all ranks; types : int, in all."""
    totals = {name: sum(getattr(report, name) for report in reports) for name in _SUMMED}
    kept = len(vocab)
    return CorpusReport(
        **totals,
        types=types,
        kept_types=kept,
        discarded_types=types - kept,
        seconds=max(report.seconds for report in reports),
    )


_APART = {"types", "kept_types", "discarded_types", "seconds", "cached", "damage", "tokens_by"}
_SUMMED = [field.name for field in dataclasses.fields(CorpusReport) if field.name not in _APART]


def encode_ranked(reading, progress=None):
    """Encode a `Reading` as its ranks would, one after the other; returns a RankedCorpus with its shares.

    progress : callable, optional, called with (stored bytes read, None) now and then
    """
    ranks = range(len(reading.borders) - 1)
    read = dict.fromkeys(ranks, 0)

    def tell(slot, done, _):
        read[slot] = done
        if progress:
            progress(sum(read.values()), None)

    with ExitStack() as opened:
        texts = [opened.enter_context(closing(reading.text(slot, functools.partial(tell, slot)))) for slot in ranks]
        run = united([text.counts() for text in texts])
        vocab = vocabulary_of(run, reading.settings)
        shares = [text.encoded(vocab) for text in texts]
    found = [(share.report, share.n_single) for share in shares]
    return ranked_corpus(reading, found, len(run.counts), vocab, shares=shares)


def ranked_corpus(reading, found, types, vocab, **where):
    """Return a RankedCorpus.

    reading : Reading
    found : list of (CorpusReport, int), of each rank, and how many of its lines have one word
    types : int, in all; vocab : Vocabulary; where : its shares, or crew and chosen
    """
    reports, singles = zip(*found, strict=True)
    sizes = np.array([report.kept_tokens for report in reports], np.int64)
    report = reading.report(summed(reports, types, vocab), vocab, sum(singles))
    return RankedCorpus(vocab, sizes, report, reading.given.source, reading.settings.phrases, **where)


def check_whole(data, what):
    """Raise ConfigError if `what` needs the whole data and they are with the ranks."""
    if not getattr(data, "whole", True):
        raise ConfigError(
            f"{what} looks at the whole data, which lie with the ranks; leave it out, or give the files without {RANK} "
            "and --ray-address"
        )
