"""Encode a text in one pass, or open what an earlier pass has left in the cache.

While the text is read, tokens get provisional numbers (`data.readers.counting`), which go to a temporary file;
then the vocabulary is chosen and the numbers become ids. Tokens are not held in memory, nor are more than about
400,000 types (`data.readers.counting`), so that a corpus may be larger than memory and may come from standard input.

A cache entry is found by settings and content. Content is known by SHA-256; a memo of sizes and times spares
reading an unchanged file again. An entry is read once when it is opened, against its checksums, which takes a third to
half a second of one core for a GB; a damaged one is dropped and made again, and the report says so.

Standard input, pipes and sentences from an iterable are encoded into temporary files that vanish with the process: no
later run could know them without reading them again.
"""

import time
import warnings
from collections.abc import Iterator

from ...ground.errors import FileNote, InputError
from ..phrases import Tally, joined
from ..readers.counting import TokenCounter
from ..readers.sentences import read_sentences
from ..readers.sources import file_stamp, find_files, is_paths
from ..sources.corpus import Text
from . import count
from .cache import Cache
from .corpus import EncodedCorpus
from .count import Counted, Settings, TokenStream


def encode_corpus(
    source,
    *,
    min_count=Text.min_count,
    max_vocab=None,
    vocab=None,
    encoding="utf-8",
    lowercase=False,
    use_cache=True,
    progress=None,
    reader="text",
    strip=(),
    phrases=(),
    table=None,
):
    """Count, choose the vocabulary and encode; or open what an earlier call has left in the cache.

    Parameters
    ----------
    source : path, list of paths or of `InMemoryTable`, or iterable of iterables of str
        As for `data.readers.sources.find_files`; or sentences as lists of tokens, gone through once.
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
        A name among `data.readers.READERS`.
    strip : sequence of str
        What to take out of the text before it is split into words: names among `data.readers.text.CLEANERS`.
    phrases : sequence of data.phrases.Phrase
        Pairs of words that are joined to one; in lower case if the text is.
    table : data.readers.tables.TextColumn, optional
        The files, or tables in memory, are tables, and the text stands in this column.

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
        If there is no room in the cache, or the folder of temporary files cannot be written. A cache that is read-only
        gives a `FileNote`.
    """
    settings = Settings.checked(min_count, max_vocab, vocab, encoding, lowercase, reader, strip, phrases, table)
    progress = progress or (lambda done, total: None)
    if not is_paths(source):
        return _encode_sentences(source, settings)
    files = find_files(source)
    stamps = list(map(file_stamp, files))
    if use_cache and None not in stamps:
        cache = Cache(files, stamps, settings)
        found = cache.found(progress)
        if found is not None:
            return found
        problem = cache.why_read_only()
        if not problem:
            return cache.made(progress)
        told = f"the cache {cache.root} cannot be written ({problem}), so the encoded data are kept for this run alone"
        warnings.warn(told, FileNote, stacklevel=2)
    with TokenStream(None) as stream:
        counted = count.count_files(files, stamps, settings, stream, progress)
        return _encode_in_temporary_files(counted, settings, stream)


def _encode_sentences(sentences, settings):
    with TokenStream(None) as stream:
        started = time.perf_counter()
        counter = TokenCounter(stream)
        lines = read_sentences(sentences, lowercase=settings.lowercase)
        tally = Tally()
        for _ in counter.count(joined(lines, settings.phrases, tally), "sentences"):
            pass
        if counter.n_tokens == 0:
            spent = isinstance(sentences, Iterator)
            hint = "; a generator gives them once: make it anew for each fit, or give a list" if spent else ""
            raise InputError(f"the corpus holds no token: the iterable gave no sentence, or only empty ones{hint}")
        counted = Counted(counter, started, counter.bytes, 0, [], tally)
        return _encode_in_temporary_files(counted, settings, stream)


def _encode_in_temporary_files(counted, settings, stream):
    vocab, ids_by_type = settings.choose(counted.counter)
    ids, offsets = count.mapped_ids(stream, ids_by_type)
    report = counted.report(ids_by_type, len(ids), len(offsets) - 1)
    return EncodedCorpus(ids, offsets, vocab, report, stored=ids.nbytes + offsets.nbytes)
