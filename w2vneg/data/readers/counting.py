"""One pass over the text: every token is counted and becomes a number, in a thread beside the one that reads."""

from collections import deque
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from ...ground.errors import InputError
from ...kernels.text import tokens
from ...kernels.text.tokens import ENTRY, SENTENCE_END, TYPES, TokenTable

LONGEST_TOKEN = 1 << 24


class TokenCounter:
    """Counts tokens; their numbers go to a stream as they come.

    stream : data.encoded.count.TokenStream, takes the numbers of each stretch of text
    types : TypeTable, about 100 bytes a type; bytes, n_tokens, n_lines, n_empty_lines : int
    """

    def __init__(self, stream):
        self._stream = stream
        self.types = TypeTable()
        self._pending = deque()
        self._line_begun = False  # has the present line a token?
        self.bytes = self.n_tokens = self.n_lines = self.n_empty_lines = 0

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
        numbers = np.empty(len(text), np.int32)
        self.types.scan(tokens.with_margins(text), len(text), numbers)
        tally = self.types.tally.tolist()
        return numbers[: tally[tokens.WRITTEN]], tally[tokens.LINES], tally[tokens.EMPTY_LINES]

    def _collect(self, leave=0):
        """Take the numbers of stretches, in order, until only so many are pending."""
        while len(self._pending) > leave:
            numbers, n_lines, n_empty_lines = self._pending.popleft().result()
            self._stream.write(numbers)
            self.n_lines += n_lines
            self.n_empty_lines += n_empty_lines
            self.n_tokens += len(numbers) - n_lines
            if len(numbers):
                self.n_empty_lines -= int(self._line_begun and numbers[0] == SENTENCE_END)
                self._line_begun = numbers[-1] != SENTENCE_END


_FIRST_SLOTS = 1 << 14
_FIRST_ARENA = 1 << 17


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
        """Number the tokens of a block of text; see `tokens.scan`. The tally begins anew but for the types."""
        self.tally[:TYPES] = self.tally[TYPES + 1 :] = 0
        with np.errstate(over="ignore"):  # hashing wraps around; heard of only with the JIT off
            while tokens.scan(block, size, self._table, out, self.tally):
                self._grow(size)

    def _grow(self, room):
        """Make room in whichever part of the table is full, for a type of up to `room` bytes."""
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
        """Return how often each type was met (ndarray, int64, (n_types,))."""
        slots = self._table.slots
        taken = slots[slots[:, ENTRY] != 0]
        counts = np.zeros(len(self), dtype=np.int64)
        counts[(taken[:, ENTRY].astype(np.int64) >> 1) - 1] = taken[:, tokens.COUNT]
        return counts

    def words(self, numbers):
        """Return the types of the given numbers, which ascend (list of str)."""
        if not len(numbers):
            return []
        starts = self._table.starts
        begins, ends = starts[numbers], starts[np.asarray(numbers) + 1]
        arena, first = self._table.arena[begins[0] : ends[-1]].tobytes(), int(begins[0])
        begins, ends = (begins - first).tolist(), (ends - first).tolist()
        return [arena[begin:end].decode() for begin, end in zip(begins, ends, strict=True)]
