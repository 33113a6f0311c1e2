"""Types and their counts: in a table while they are counted, then as runs that are merged a part at a time.

A table that has become large is put away on disk and another one begun, so that memory stays bounded however many
types a text has. A type may thus stand in several tables. Types are
merged by the first byte of their hash: all tables' types that begin alike form a part, and every part fits in memory.
So counts are exact, always.
"""

from typing import NamedTuple

import numpy as np

from ...kernels.text.tokens import COUNT, ENTRY, TYPES, TokenTable, enter, gather, rehash, scan, tabulate

_FIRST_SLOTS = 1 << 14
_FIRST_ARENA = 1 << 17
_BUCKETS = 256


class TypeTable:
    """Numbers types in order of first appearance, and counts them.

    Attributes
    ----------
    tally : ndarray, int64, (5,)
        See `kernels.text.tokens`.
    """

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
        self._fill(scan, block, size, out=out, room=size)

    def enter(self, words, ends, counts):
        """Enter types with their counts; return their numbers (ndarray, int32, (n,))."""
        numbers = np.empty(len(counts), np.int32)
        self._fill(enter, words, ends, counts, out=numbers, room=len(words))
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
            rehash(slots, larger)
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
        counts[(taken[:, ENTRY].astype(np.int64) >> 1) - 1] = taken[:, COUNT]
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
            tabulate(slots, counts, buckets)
        order = np.argsort(buckets, kind="stable").astype(np.int32)
        words, ends = np.empty(starts[self.n_types], np.uint8), np.empty(self.n_types + 1, np.int64)
        gather(arena, starts, order, words, ends)
        edges = np.concatenate([[0], np.cumsum(np.bincount(buckets, minlength=_BUCKETS))])
        return Run(edges, ends, counts[order], order, words)


class Run(NamedTuple):
    """The types of a table, sorted by the first byte of their hash.

    edges : int64, (257,); those with first byte b stand at edges[b] : edges[b + 1]
    ends : int64, (n + 1,); counts : int64, (n,); numbers : int32, (n,), those of the table
    words : uint8; type i is words[ends[i] : ends[i + 1]]
    """

    edges: np.ndarray
    ends: np.ndarray
    counts: np.ndarray
    numbers: np.ndarray
    words: np.ndarray


class Part(NamedTuple):
    """Types that begin alike, of all tables: what they are, and where they come from.

    table : TypeTable
    members : list of (int, ndarray, ndarray), a table of the text, numbers in it, and the same types' numbers here
    """

    table: TypeTable
    members: list


def merged(runs, at_once):
    """Yield all types of some runs, each in one Part; a Part has about `at_once` entries of the runs, or fewer."""
    totals = np.sum([run.edges for run in runs], axis=0)
    first = 0
    while first < _BUCKETS:
        last = max(first + 1, int(np.searchsorted(totals, totals[first] + at_once, side="right")) - 1)
        last = min(last, _BUCKETS)
        part = Part(TypeTable(), [])
        for which, run in enumerate(runs):
            begin, end = run.edges[first], run.edges[last]
            start, ends = run.ends[begin], run.ends[begin : end + 1]
            own = part.table.enter(run.words[start : ends[-1]], ends - start, np.asarray(run.counts[begin:end]))
            part.members.append((which, run.numbers[begin:end], own))
        yield part
        first = last


def united(runs):
    """Return the types of several runs as one `Run`, equal ones with their counts added up."""
    table = TypeTable()
    for run in runs:
        table.enter(run.words, run.ends, np.asarray(run.counts))
    return table.run()


class Types:
    """A `Run` as `vocab.choose_vocabulary` wants its counter."""

    def __init__(self, run, at_once):
        self.run, self.at_once = run, at_once

    def parts(self):
        """Yield all types, each in one Part of about `at_once` types, or fewer."""
        return merged([self.run], self.at_once)

    def blank_ids(self):
        """Return an id of -1 for each type (list of one ndarray, int32)."""
        return [np.full(len(self.run.counts), -1, np.int32)]
