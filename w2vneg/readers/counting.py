"""One pass over the text: every token is counted and becomes a number, in order of first appearance."""

import numpy as np

from ..errors import InputError
from ..kernels.tokens import (
    COUNT,
    EMPTY_LINES,
    ENTRY,
    LINES,
    POSITION,
    TOKENS,
    TYPES,
    WRITTEN,
    TokenTable,
    rehash,
    scan,
)

LONGEST_TOKEN = 1 << 24
_FIRST_SLOTS = 1 << 14
_FIRST_ARENA = 1 << 17


class TokenCounter:
    """Types and counts in memory; the numbers of the tokens go to a stream as they come.

    Parameters
    ----------
    stream : binary file
        Receives int32 numbers, and -1 at the end of each sentence.
    """

    def __init__(self, stream):
        self._stream = stream
        self._table = TokenTable(
            np.zeros((_FIRST_SLOTS, 4), dtype=np.uint64),
            np.zeros(_FIRST_ARENA, dtype=np.uint8),
            np.zeros(_FIRST_SLOTS // 2 + 1, dtype=np.int64),
        )
        self._tally = np.zeros(7, dtype=np.int64)
        self._block = np.zeros(1 << 16, dtype=np.uint8)
        self._out = np.zeros(1 << 16, dtype=np.int32)
        self._held = 0  # bytes of an unfinished token at the start of the block
        self._line_open = False
        self.bytes = 0

    n_types = property(lambda self: int(self._tally[TYPES]))
    n_tokens = property(lambda self: int(self._tally[TOKENS]))
    n_lines = property(lambda self: int(self._tally[LINES]))
    n_empty_lines = property(lambda self: int(self._tally[EMPTY_LINES]))

    def counts(self):
        """Return how often each type stands in the text (ndarray, int64, (n_types,))."""
        slots = self._table.slots
        taken = slots[slots[:, ENTRY] != 0]
        counts = np.zeros(self.n_types, dtype=np.int64)
        counts[(taken[:, ENTRY].astype(np.int64) >> 1) - 1] = taken[:, COUNT]
        return counts

    def words(self, numbers):
        """Return the types of the given numbers (list of str)."""
        starts = self._table.starts
        arena = self._table.arena[: starts[self.n_types]].tobytes()
        begins, ends = starts[numbers].tolist(), starts[np.asarray(numbers) + 1].tolist()
        return [arena[begin:end].decode() for begin, end in zip(begins, ends, strict=True)]

    def count(self, pieces, name):
        """Take in one source, an iterable of UTF-8 pieces; yields after each. Its end ends a sentence.

        Raises
        ------
        InputError
            If a token is longer than `LONGEST_TOKEN` bytes.
        """
        lines_before = self.n_lines
        for piece in pieces:
            self._feed(piece)
            if self._held > LONGEST_TOKEN:
                raise InputError(
                    f"{name}:{self.n_lines - lines_before + 1}: no white space for {self._held:,} bytes: "
                    "not text with words set apart by blanks; separate its words first"
                )
            yield
        if self._line_open:
            self._feed(b"\n")
            self.bytes -= 1

    def _feed(self, piece):
        if not piece:
            return
        size = self._held + len(piece)
        if size >= self._block.size:
            grown = np.zeros(2 * size, dtype=np.uint8)
            grown[: self._held] = self._block[: self._held]
            self._block = grown
            self._out = np.zeros(2 * size, dtype=np.int32)
        self._block[self._held : size] = np.frombuffer(piece, dtype=np.uint8)
        self._block[size] = 32
        self.bytes += len(piece)
        self._line_open = piece[-1] != 10
        start = self._scan(size)
        self._held = size - start
        self._block[: self._held] = self._block[start:size].copy()

    def _scan(self, size):
        """Number what stands in the block; return where its unfinished last token begins."""
        start = 0
        while True:
            with np.errstate(over="ignore"):  # hashing wraps around; heard of only with the JIT off
                full = scan(self._block[start:], size - start, self._table, self._out, self._tally)
            self._stream.write(memoryview(self._out[: self._tally[WRITTEN]]).cast("B"))
            start += int(self._tally[POSITION])
            if not full:
                return start
            self._grow(size - start)

    def _grow(self, room):
        """Make room in whichever part of the table is full, for a token of up to `room` bytes."""
        slots, arena, starts = self._table
        if self.n_types + 1 >= starts.size:
            larger = np.zeros((2 * len(slots), 4), dtype=np.uint64)
            with np.errstate(over="ignore"):
                rehash(slots, larger)
            slots = larger
            starts = np.concatenate([starts, np.zeros(starts.size - 1, dtype=np.int64)])
        else:
            arena = np.concatenate([arena, np.zeros(max(arena.size, room), dtype=np.uint8)])
        self._table = TokenTable(slots, arena, starts)
