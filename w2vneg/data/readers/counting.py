"""One pass over the text: every token is counted and becomes a number, in a thread beside the one that reads."""

from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from ...ground.errors import InputError
from ...kernels.text import tokens
from ...kernels.text.tokens import ENTRY, SENTENCE_END, TYPES, TokenTable

LONGEST_TOKEN = 1 << 24
_MOST_TYPES = 400_000  # in memory, where a table of so many takes 50 MB; more go to disk


class TokenCounter:
    """Counts tokens; their numbers go to a stream as they come.

    A table of types that has become large is put away and another one begun: a number belongs to its table.

    stream : data.encoded.count.TokenStream, takes the numbers of each stretch of text, and tables that are put away
    bytes, n_tokens, n_lines, n_empty_lines : int; n_types : int, known when all `parts` have been gone through
    """

    def __init__(self, stream):
        self._stream = stream
        self._table = TypeTable()
        self._runs = []  # of the tables before
        self._pending = deque()
        self._line_begun = False  # has the present line a token?
        self.bytes = self.n_tokens = self.n_lines = self.n_empty_lines = self.n_types = 0

    def count(self, pieces, name):
        """Take in one source, in pieces, whose end ends a sentence; yields after each; InputError at a huge token."""
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
                        f"{name}:{self.n_lines - lines_before + 1}: no white space for {len(held):,} bytes: "
                        "not text with words set apart by blanks; separate its words first"
                    )
                yield
            if line_open:
                self._submit(beside, held + b"\n")
            self._collect()

    def _submit(self, beside, text):
        """Have a stretch of text scanned, which ends with white space; meanwhile take the numbers of that before."""
        self._pending.append(beside.submit(self._scan, text))
        self._collect(leave=1)

    def _scan(self, text):
        if self._table.n_types >= _MOST_TYPES:
            run = self._table.run()
            self._runs.append(run._replace(**self._stream.keep(run)))
            self._table = TypeTable()
        numbers = np.empty(len(text), np.int32)
        self._table.scan(tokens.with_margins(text), len(text), numbers)
        tally = self._table.tally.tolist()
        return len(self._runs), numbers[: tally[tokens.WRITTEN]], tally[tokens.LINES], tally[tokens.EMPTY_LINES]

    def _collect(self, leave=0):
        """Take the numbers of stretches, in order, until only so many are pending."""
        while len(self._pending) > leave:
            table, numbers, n_lines, n_empty_lines = self._pending.popleft().result()
            self._stream.write(table, numbers)
            self.n_lines += n_lines
            self.n_empty_lines += n_empty_lines
            self.n_tokens += len(numbers) - n_lines
            if len(numbers):
                self.n_empty_lines -= int(self._line_begun and numbers[0] == SENTENCE_END)
                self._line_begun = numbers[-1] != SENTENCE_END

    def parts(self):
        """Yield all types, each in one `Part` of bounded size."""
        self.n_types = 0
        numbers = np.arange(self._table.n_types, dtype=np.int32)
        whole = [Part(self._table, [(0, numbers, numbers)])]
        for part in merged([*self._runs, self._table.run()], _MOST_TYPES) if self._runs else whole:
            self.n_types += part.table.n_types
            yield part

    def blank_ids(self):
        """Return an id of -1 for each type of each table (list of ndarray, int32)."""
        sizes = [len(run.counts) for run in self._runs] + [self._table.n_types]
        return np.split(self._stream.blank(sum(sizes)), np.cumsum(sizes)[:-1])


_FIRST_SLOTS = 1 << 14
_FIRST_ARENA = 1 << 17
_BUCKETS = 256


class TypeTable:
    """Numbers types in order of first appearance, and counts them. tally : int64, (5,), see `kernels.text.tokens`"""

    def __init__(self):
        self._table = TokenTable(
            np.zeros((_FIRST_SLOTS, 4), dtype=np.uint64),
            np.zeros(_FIRST_ARENA, dtype=np.uint8),
            np.zeros(_FIRST_SLOTS // 2 + 1, dtype=np.int64),
        )
        self.tally = np.zeros(5, dtype=np.int64)

    n_types = property(lambda self: int(self.tally[TYPES]))

    def scan(self, block, size, out):
        """Number the tokens of a block of text; see `tokens.scan`. The tally begins anew but for the types."""
        self._fill(tokens.scan, block, size, out=out, room=size)

    def enter(self, words, ends, counts):
        """Enter types with their counts; return their numbers (ndarray, int32, (n,))."""
        numbers = np.empty(len(counts), np.int32)
        self._fill(tokens.enter, words, ends, counts, out=numbers, room=len(words))
        return numbers

    def _fill(self, kernel, *inputs, out, room):
        self.tally[:TYPES] = self.tally[TYPES + 1 :] = 0
        with np.errstate(over="ignore"):  # hashing wraps around; heard of only with the JIT off
            while kernel(*inputs, self._table, out, self.tally):
                self._grow(room)

    def _grow(self, room):
        """Make room in whichever part of the table is full, for a type of up to `room` bytes."""
        slots, arena, starts = self._table
        if self.n_types + 1 >= starts.size:
            larger = np.zeros((2 * len(slots), 4), dtype=np.uint64)
            tokens.rehash(slots, larger)
            slots = larger
            starts = np.concatenate([starts, np.zeros(starts.size - 1, dtype=np.int64)])
        else:
            arena = np.concatenate([arena, np.zeros(max(arena.size, room), dtype=np.uint8)])
        self._table = TokenTable(slots, arena, starts)

    def counts(self):
        """Return how often each type was met (ndarray, int64, (n_types,))."""
        slots = self._table.slots
        taken = slots[slots[:, ENTRY] != 0]
        counts = np.zeros(self.n_types, dtype=np.int64)
        counts[(taken[:, ENTRY].astype(np.int64) >> 1) - 1] = taken[:, tokens.COUNT]
        return counts

    def words(self, numbers):
        """Return the types of the given numbers (list of str)."""
        starts = self._table.starts
        arena = self._table.arena[: starts[self.n_types]].tobytes()
        begins, ends = starts[numbers].tolist(), starts[np.asarray(numbers) + 1].tolist()
        return [arena[begin:end].decode() for begin, end in zip(begins, ends, strict=True)]

    def run(self):
        """Return the types as a `Run`."""
        slots, arena, starts = self._table
        counts, buckets = np.zeros(self.n_types, np.int64), np.zeros(self.n_types, np.uint8)
        with np.errstate(over="ignore"):
            tokens.tabulate(slots, counts, buckets)
        order = np.argsort(buckets, kind="stable").astype(np.int32)
        words, ends = np.empty(starts[self.n_types], np.uint8), np.empty(self.n_types + 1, np.int64)
        tokens.gather(arena, starts, order, words, ends)
        edges = np.concatenate([[0], np.cumsum(np.bincount(buckets, minlength=_BUCKETS))])
        return Run(edges, ends, counts[order], order, words)


class Run(NamedTuple):
    """The types of a table, sorted by the first byte of their hash: those of byte b stand at edges[b] : edges[b + 1].

    edges : int64, (257,); ends : int64, (n + 1,); counts : int64, (n,); numbers : int32, (n,), those of the table
    words : uint8; type i is words[ends[i] : ends[i + 1]]
    """

    edges: np.ndarray
    ends: np.ndarray
    counts: np.ndarray
    numbers: np.ndarray
    words: np.ndarray


class Part(NamedTuple):
    """Types that begin alike, of all tables: what they are, and where they come from.

    members : list of (int, ndarray, ndarray), a table of the text, numbers in it, and the same types' numbers here
    """

    table: TypeTable
    members: list


def merged(runs, at_once):
    """Yield all types of some runs, each in one Part; a Part has about `at_once` entries of the runs, or fewer."""
    totals = np.sum([run.edges for run in runs], axis=0)
    first = 0
    while first < _BUCKETS:
        last = int(np.searchsorted(totals, totals[first] + at_once, side="right")) - 1
        last = min(max(first + 1, last), _BUCKETS)
        part = Part(TypeTable(), [])
        for which, run in enumerate(runs):
            begin, end = run.edges[first], run.edges[last]
            start, ends = run.ends[begin], run.ends[begin : end + 1]
            own = part.table.enter(run.words[start : ends[-1]], ends - start, np.asarray(run.counts[begin:end]))
            part.members.append((which, run.numbers[begin:end], own))
        yield part
        first = last
