"""Count a text in one pass: tokens get provisional numbers, which become ids once the vocabulary is chosen.

One thread reads while another scans tokens.
"""

import hashlib
import json
import tempfile
import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from operator import index as as_index

import numpy as np

from ...ground.errors import ConfigError, InputError, NothingToTrainError
from ...ground.files.caches import writing_to
from ...kernels.text import tokens
from ...kernels.text.tokens import ENTRY, SENTENCE_END, TYPES, TokenTable, renumber
from ..phrases import joined, lowered
from ..readers import READERS, code_of
from ..readers.sources import STDIN, opened
from ..readers.tables import TextColumn
from ..readers.text import CLEANERS, LONGEST_TOKEN, Stripped, codec_name, read_sentences, read_text
from ..sources.corpus import Text
from ..vocab import Vocabulary, check_choice, choose_vocabulary, ids_in
from .corpus import CorpusReport, EncodedCorpus, mapped

FORMAT = 4  # of a cache entry; increment it also if the output of readers changes
_IN_MEMORY = 1 << 24  # bytes of provisional numbers that are kept in memory; more go to disk
_PIECE = 1 << 21  # bytes of them that are read again at a time
_FIRST_SLOTS = 1 << 14
_FIRST_ARENA = 1 << 17


@dataclass
class Settings:
    """The options of `encode_corpus` that shape the ids; ConfigError if one is out of range."""

    min_count: int = Text.min_count
    max_vocab: int | None = None
    vocab: Vocabulary | None = None
    encoding: str = "utf-8"
    lowercase: bool = False
    reader: str = "text"
    strip: Sequence = ()
    phrases: Sequence = ()
    table: TextColumn | None = None

    def __post_init__(self):
        check_choice(self.min_count, self.max_vocab, self.vocab)
        READERS[self.reader]  # an unknown name is reported before anything is read
        if unknown := [name for name in self.strip if name not in CLEANERS]:
            raise ConfigError(f"strip must be among {', '.join(CLEANERS)}, not {unknown[0]!r}")
        self.phrases = tuple(lowered(self.phrases) if self.lowercase else self.phrases)
        self.encoding, self.lowercase = codec_name(self.encoding), bool(self.lowercase)

    def key(self):
        words = {"vocab": self.vocab.digest()} if self.vocab else [as_index(self.min_count), self.max_vocab]
        parts = [1, self.reader, self.encoding, self.lowercase, words]
        parts += [sorted(self.strip)] if self.strip else []
        phrases = sorted(f"{phrase.level} {phrase.first} {phrase.second}" for phrase in self.phrases)
        parts += ["joins", phrases] if phrases else []
        parts += ["column", self.table] if self.table else []
        parts += [code] if (code := code_of(self.reader)) else []
        # without FORMAT, so that a new format replaces old entries
        return hashlib.sha256(json.dumps(parts, default=as_index).encode()).hexdigest()[:16]

    def read(self, source, tally):
        """Yield the reader's UTF-8 text of an opened source, stripped and with phrases joined; tally : Counter"""
        encoding = self.encoding
        if self.strip or self.table:
            text = self.table.pieces(source, encoding, tally) if self.table else read_text(source, encoding=encoding)
            source, encoding = Stripped(source.name, text, self.strip), "utf-8"
        return joined(READERS[self.reader](source, encoding=encoding, lowercase=self.lowercase), self.phrases, tally)

    def choose(self, types):
        if self.vocab is None:
            return choose_vocabulary(types, self.min_count, self.max_vocab)
        return self.vocab, ids_in(self.vocab, types)


class TokenCounter:
    """Counts the tokens of a corpus and writes their numbers to a stream; then encodes it with a vocabulary.

    stream : TokenStream, receives the numbers of each piece of text
    types : TypeTable, about 100 bytes a type; bytes, n_tokens, n_lines, n_empty_lines : int
    tally : Counter of "joins" of two words into a phrase, and of "bad rows" of a table that were left out
    digests, notes : list of str, the SHA-256 of each file, and remarks on the files, with their names
    """

    def __init__(self, stream):
        self._stream, self._started = stream, time.perf_counter()
        self.types, self.tally, self.digests, self.notes = TypeTable(), Counter(), [], []
        self._pending = deque()
        self._line_begun = False  # whether the current line has a token
        self.bytes = self.n_tokens = self.n_lines = self.n_empty_lines = 0

    def count(self, pieces, name):
        """Count one source in pieces, and yield after each; its end ends a sentence. InputError at a huge token"""
        lines_before, held, line_open = self.n_lines, b"", False
        with ThreadPoolExecutor(1) as beside:
            for piece in pieces:
                if piece:
                    self.bytes += len(piece)
                    line_open = piece[-1] != 10
                    text = held + piece if held else piece
                    end = tokens.last_break(np.frombuffer(text, np.uint8))
                    if end:
                        self._submit(beside, memoryview(text)[:end])
                    held = text[end:]
                if len(held) > LONGEST_TOKEN:
                    self._collect()
                    raise InputError(
                        f"{name}:{self.n_lines - lines_before + 1}: no white space in {len(held):,} bytes, so "
                        "words are not separated by blanks; segment the text first"
                    )
                yield
            if line_open:
                self._submit(beside, held + b"\n")
            self._collect()

    def _submit(self, beside, text):
        """Start scanning text that ends with white space; meanwhile collect the numbers of the text before it."""
        self._pending.append(beside.submit(self._scan, text))
        self._collect(leave=1)

    def _scan(self, text):
        numbers = np.empty(len(text), np.int32)
        self.types.scan(tokens.with_margins(text), len(text), numbers)
        tally = self.types.tally.tolist()
        return numbers[: tally[tokens.WRITTEN]], tally[tokens.LINES], tally[tokens.EMPTY_LINES]

    def _collect(self, leave=0):
        """Collect the numbers of scanned texts, in order, until only `leave` are pending."""
        while len(self._pending) > leave:
            numbers, n_lines, n_empty_lines = self._pending.popleft().result()
            self._stream.write(numbers)
            self.n_lines += n_lines
            self.n_empty_lines += n_empty_lines
            self.n_tokens += len(numbers) - n_lines
            if len(numbers):
                self.n_empty_lines -= int(self._line_begun and numbers[0] == SENTENCE_END)
                self._line_begun = numbers[-1] != SENTENCE_END

    def encoded(self, vocab, ids_by_type):
        """Return the EncodedCorpus of the numbers in the stream, in temporary files."""
        with writing_to(None), tempfile.TemporaryFile() as ids_file, tempfile.TemporaryFile() as offsets_file:
            write_ids(self._stream, ids_by_type, ids_file, offsets_file)
            ids_file.flush()
            offsets_file.flush()
            ids, offsets = mapped(ids_file, np.int32), mapped(offsets_file, np.int64)
        report = self.report(ids_by_type, len(ids), len(offsets) - 1)
        return EncodedCorpus(ids, offsets, vocab, report, stored=ids.nbytes + offsets.nbytes)

    def report(self, ids_by_type, kept_tokens, sentences):
        kept_types = len(np.unique(ids_by_type[ids_by_type >= 0]))
        return CorpusReport(
            *(len(self.digests), self.bytes, self.n_lines, self.n_empty_lines, self.n_tokens, len(self.types)),
            *(kept_tokens, kept_types, sentences, time.perf_counter() - self._started),
            joins=self.tally["joins"],
            bad_rows=self.tally["bad rows"],
            notes=tuple(self.notes),
        )


class TypeTable:
    """Numbers types in order of first appearance, and counts them. tally : int64, (5,), see `kernels.text.tokens`"""

    def __init__(self):
        self._table = TokenTable(
            np.zeros((_FIRST_SLOTS, 4), dtype=np.uint64),
            np.zeros(_FIRST_ARENA, dtype=np.uint8),
            np.zeros(_FIRST_SLOTS // 2 + 1, dtype=np.int64),
        )
        self.tally = np.zeros(5, dtype=np.int64)

    def __len__(self):
        return int(self.tally[TYPES])

    def scan(self, block, size, out):
        """Number the tokens of a block of text; see `tokens.scan`. The tally is reset except for the types."""
        self.tally[:TYPES] = self.tally[TYPES + 1 :] = 0
        with np.errstate(over="ignore"):  # hashing wraps around; warns only with the JIT off
            while tokens.scan(block, size, self._table, out, self.tally):
                self._grow(size)

    def _grow(self, room):
        """Enlarge the part of the table that is full, enough for a type of up to `room` bytes."""
        slots, arena, starts = self._table
        if len(self) + 1 >= starts.size:
            larger = np.zeros((2 * len(slots), 4), dtype=np.uint64)
            tokens.rehash(slots, larger)
            slots = larger
            starts = np.concatenate([starts, np.zeros(starts.size - 1, dtype=np.int64)])
        else:
            arena = np.concatenate([arena, np.zeros(max(arena.size, room), dtype=np.uint8)])
        self._table = TokenTable(slots, arena, starts)

    def counts(self):
        """Return the count of each type (ndarray, int64, (n_types,))."""
        slots = self._table.slots
        taken = slots[slots[:, ENTRY] != 0]
        counts = np.zeros(len(self), dtype=np.int64)
        counts[(taken[:, ENTRY].astype(np.int64) >> 1) - 1] = taken[:, tokens.COUNT]
        return counts

    def words(self, numbers):
        """Return the types with the given numbers, which must ascend (list of str)."""
        if not len(numbers):
            return []
        starts = self._table.starts
        begins, ends = starts[numbers], starts[np.asarray(numbers) + 1]
        arena, first = self._table.arena[begins[0] : ends[-1]].tobytes(), int(begins[0])
        begins, ends = (begins - first).tolist(), (ends - first).tolist()
        return [arena[begin:end].decode() for begin, end in zip(begins, ends, strict=True)]


def count_files(files, stamps, settings, stream, progress):
    """Count the tokens of files, and return the `TokenCounter`; NothingToTrainError if they have none."""
    counter, done, unpacked = TokenCounter(stream), 0, 0
    total = None if None in stamps else sum(stamp[0] for stamp in stamps)
    for file, stamp in zip(files, stamps, strict=True):
        with opened(file) as source:
            for _ in counter.count(settings.read(source, counter.tally), source.name):
                progress(done + source.position, total)
            if stamp:
                deque(source.stored(), 0)  # what a reader left out, as of Parquet: the digest is of the whole file
            done += source.position
            unpacked += source.unpacked
            counter.digests.append(source.digest())
            counter.notes += source.notes
    if counter.n_tokens == 0:
        named = "standard input" if files == [STDIN] else ", ".join(map(str, files[:3])) + ", ..." * (len(files) > 3)
        raise NothingToTrainError(f"{named}: no token in {unpacked:,} bytes; name a file with text")
    counter.bytes = unpacked  # not those of the readers' text
    return counter


def count_sentences(sentences, settings, stream):
    """Count the tokens of an iterable of lists of str, as `count_files` does."""
    counter, lines = TokenCounter(stream), read_sentences(sentences, lowercase=settings.lowercase)
    for _ in counter.count(joined(lines, settings.phrases, counter.tally), "sentences"):
        pass
    if counter.n_tokens == 0:
        spent = isinstance(sentences, Iterator)
        hint = "; a generator can be read only once: create one for each fit, or give a list" if spent else ""
        raise NothingToTrainError(f"the corpus has no token: the iterable gave no sentence, or only empty ones{hint}")
    return counter


def write_ids(stream, ids_by_type, ids_file, offsets_file):
    offsets_file.write(np.zeros(1, dtype=np.int64).tobytes())
    total = carried = 0
    for numbers in stream.pieces():
        ids, ends = np.empty(len(numbers), dtype=np.int32), np.empty(len(numbers), dtype=np.int64)
        n_ids, n_ends, carried = renumber(numbers, ids_by_type, ids, ends, carried)
        ids_file.write(memoryview(ids[:n_ids]).cast("B"))
        offsets_file.write(memoryview(ends[:n_ends] + total).cast("B"))
        total += n_ids


class TokenStream:
    """Numbers that a pass stores for later, in memory while they are few, then in an unnamed file in `folder`."""

    def __init__(self, folder):
        self._folder = folder
        self._file = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY, dir=folder)  # noqa: SIM115

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        with suppress(OSError):  # a full disk has been reported by then
            self._file.close()

    def write(self, numbers):
        """Append numbers (ndarray, int32)."""
        with writing_to(self._folder):
            self._file.write(memoryview(numbers).cast("B"))

    def pieces(self):
        """Yield the written numbers again, in pieces (ndarray, int32)."""
        with writing_to(self._folder):
            self._file.seek(0)
        while numbers := self._file.read(_PIECE):
            yield np.frombuffer(numbers, dtype=np.int32)
