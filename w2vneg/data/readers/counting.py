"""One pass over the text: every token is counted and becomes a number, in a thread beside the one that reads."""

from collections import deque
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from ...ground.errors import InputError
from ...kernels.text.tokens import EMPTY_LINES, LINES, MARGIN, SENTENCE_END, WRITTEN, last_break
from .types import Part, TypeTable, merged, united

LONGEST_TOKEN = 1 << 24
_MOST_TYPES = 400_000  # in memory, where a table of so many takes 50 MB; more go to disk


class TokenCounter:
    """Counts tokens; their numbers go to a stream as they come.

    A table of types that has become large is put away and another one begun: a number belongs to its table.

    Parameters
    ----------
    stream : passes.TokenStream
        Receives the numbers of each stretch of text, and of which table they are; keeps tables that are put away.

    Attributes
    ----------
    bytes, n_tokens, n_lines, n_empty_lines : int
    n_types : int or None
        Known when all `parts` have been gone through.
    """

    def __init__(self, stream):
        self._stream = stream
        self._table = TypeTable()
        self._runs = []  # of the tables before
        self._room = deque([_Room(), _Room()])  # one is scanned while the other's numbers are written
        self._pending = deque()
        self._line_begun = False  # has the present line a token?
        self.bytes = self.n_tokens = self.n_lines = self.n_empty_lines = 0
        self.n_types = None

    def count(self, pieces, name):
        """Take in one source, an iterable of UTF-8 pieces; yields after each. Its end ends a sentence.

        Raises
        ------
        InputError
            If a token is longer than `LONGEST_TOKEN` bytes.
        """
        lines_before = self.n_lines
        held = b""
        line_open = False
        with ThreadPoolExecutor(1) as beside:
            for piece in pieces:
                if piece:
                    self.bytes += len(piece)
                    line_open = piece[-1] != 10
                    text = held + piece if held else piece
                    end = last_break(np.frombuffer(text, np.uint8))
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
        self._pending.append(beside.submit(self._scan, self._room[0], text))
        self._room.rotate()
        self._collect(leave=1)

    def _scan(self, room, text):
        if self._table.n_types >= _MOST_TYPES:
            run = self._table.run()
            self._runs.append(run._replace(**self._stream.keep(run)))
            self._table = TypeTable()
        room.take(text)
        self._table.scan(room.block, len(text), room.out)
        tally = self._table.tally
        return len(self._runs), room.out[: tally[WRITTEN]], int(tally[LINES]), int(tally[EMPTY_LINES])

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
        """Yield all types, each in one `types.Part` of bounded size."""
        self.n_types = 0
        for part in self._whole() if not self._runs else merged([*self._runs, self._table.run()], _MOST_TYPES):
            self.n_types += part.table.n_types
            yield part

    def _whole(self):
        numbers = np.arange(self._table.n_types, dtype=np.int32)
        yield Part(self._table, [(0, numbers, numbers)])

    def run(self):
        """Return all types as one `types.Run`."""
        return united([*self._runs, self._table.run()])

    def blank_ids(self):
        """Return an id of -1 for each type of each table (list of ndarray, int32)."""
        sizes = [len(run.counts) for run in self._runs] + [self._table.n_types]
        return np.split(self._stream.blank(sum(sizes)), np.cumsum(sizes)[:-1])


class _Room:
    """Room for a stretch of text and its numbers, grown as needed."""

    def __init__(self):
        self.block = np.zeros(0, dtype=np.uint8)
        self.out = np.zeros(0, dtype=np.int32)

    def take(self, text):
        begin, end = MARGIN, MARGIN + len(text)
        if end + MARGIN > self.block.size:
            self.block = np.full(end + len(text) // 2 + MARGIN, 32, dtype=np.uint8)
            self.out = np.zeros(self.block.size, dtype=np.int32)
        self.block[begin:end] = np.frombuffer(text, dtype=np.uint8)
        self.block[end : end + MARGIN] = 32
