"""Encoded data: their common base, reports and shares of ranks; and text as ids."""

import mmap
import re
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...ground.errors import ConfigError, InputError
from ..sources import SOURCES, TRAVERSALS
from ..vocab import Vocabulary


@dataclass(frozen=True)
class CorpusReport:
    """Statistics of a corpus and of its encoding.

    `lines` includes a last line without a newline; `sentences` keep at least one token; `bytes` are uncompressed.
    `seconds` is the time that encoding took; `cached` is whether that was in an earlier run; `damage` describes the
    fault of a cached copy that this one replaces. `joins` counts how often words were joined into a phrase, `bad_rows`
    the rows of a table that were left out. `tokens_by` describes how text became tokens, `notes` are the `FileNote`s.
    """

    files: int
    bytes: int
    lines: int
    empty_lines: int
    tokens: int
    types: int
    kept_tokens: int
    kept_types: int
    sentences: int
    seconds: float
    cached: bool = False
    damage: str = ""
    joins: int = 0
    bad_rows: int = 0
    tokens_by: str = ""
    notes: tuple = ()
    hints = ()  # as in `ItemsReport`

    @property
    def discarded(self):
        """The numbers of discarded tokens and types (int, int)."""
        return self.tokens - self.kept_tokens, self.types - self.kept_types

    def line(self):
        """Return the report as one line for people (str)."""
        text = (
            f"{self.tokens:,} tokens of {self.types:,} types in {self.lines:,} lines "
            f"({self.empty_lines:,} empty); kept {self.kept_tokens:,} tokens ({self.kept_types:,} types) "
            f"in {self.sentences:,} sentences, discarded {self.discarded[0]:,} ({self.discarded[1]:,}); {_how(self)}"
        )
        bad_rows = f"left out: {self.bad_rows:,} bad rows" if self.bad_rows else ""
        return "; ".join(filter(None, (text, bad_rows, self.tokens_by)))


@dataclass(frozen=True)
class ItemsReport:
    """Statistics of files of items and of their encoding; fields that are not described are as in `CorpusReport`.

    `kind` is the source; `rows` counts the rows of the files (entries of a matrix, lines of baskets). `items` is the
    size of the vocabulary, `targets` that of the columns. `kept` counts distinct pairs or edges, or the items in
    histories and baskets; `groups` counts these, 0 for pairs. `left_out` maps reasons to numbers, `added` kinds of rows
    whose weights were added up to theirs. `columns` says what each column was read as, `hints` what may be wrong with
    that; `names` are of all columns.
    """

    kind: str
    files: int
    bytes: int
    rows: int
    items: int = 0
    targets: int = 0
    kept: int = 0
    groups: int = 0
    seconds: float = 0.0
    left_out: dict = field(default_factory=dict)
    rectangular: bool = False
    cached: bool = False
    columns: tuple = ()
    names: tuple = ()
    hints: tuple = ()
    damage: str = ""
    added: dict = field(default_factory=dict)

    @classmethod
    def of(cls, kind, tables, names, rectangular=False):
        """Return the report of `readers.tables.Tables` after reading, without the results of encoding.

        names : set of words.NameIndex, of all things
        """
        n_blank = sum(index.with_blanks for index in names)
        blank = (f"{n_blank:,} name{'s have' if n_blank > 1 else ' has'} blanks, kept as _",) * bool(n_blank)
        found = {"left_out": tables.left_out, "columns": tables.labels.said + blank, "names": tables.labels.names}
        found["hints"] = tables.hints
        return cls(kind, tables.n_files, tables.bytes, tables.n_rows, rectangular=rectangular, **found)

    def line(self):
        """Return the report as one line for people (str)."""
        source, columns = SOURCES[self.kind], f" ({'; '.join(self.columns)})" if self.columns else ""
        kept, sign, groups = ("pairs" if self.rectangular else source.kept).partition("{:,} ")
        what = counted(self.kept, kept).format(self.groups) + (counted(self.groups, groups) if sign else "")
        things = counted(self.items, f"{source.noun}s")
        if self.rectangular:
            kinds = [said.partition(" = ")[0] for said in self.columns if said.startswith(("users = ", "items = "))]
            kinds = kinds if len(kinds) == 2 else ["centres", "targets"]
            things = f"{counted(self.items, kinds[0])} and {counted(self.targets, kinds[1])}"
        out, added = (
            "; ".join(counted(number, why) for why, number in of.items() if number)
            for of in (self.left_out, self.added)
        )
        added = f"weights added up: {added}; " if added else ""
        return (
            f"{counted(self.rows, source.rows)}{columns}: {what} of {things}; "
            f"{added}left out: {out or 'nothing'}; {_how(self)}"
        )


def counted(number, what):
    """Return a number with a noun, such as "1 row" (str); what : str, whose first plural is that noun"""
    if number == 1:
        what = re.sub(r"\b(histor|entr)ies\b|s\b", lambda end: f"{end[1]}y" if end[1] else "", what, count=1)
        what = what.replace("that repeat ", "that repeats ").replace(" give ", " gives ")
    return f"{number:,} {what}"


def _how(report):
    size = f"{report.bytes / 1e6:,.1f} MB"
    if report.cached:
        return f"{size} from the cache"
    again = f"; the copy in the cache was damaged ({report.damage}) and was made again" if report.damage else ""
    return f"{size} in {report.seconds:.1f} s{again}"


class Encoded:
    """Data as ids with their vocabularies: `vocab` of the centres, `vocab_out` of the targets.

    source : str, name of the traversal, as in `TrainConfig.source`; arrays : tuple of ndarray, by which a run
    recognises its data; stored : int, bytes on disk; phrases : tuple, those joined while reading
    times : ndarray or None, when each was seen
    """

    source: str
    vocab: Vocabulary
    report: Any
    stored: int = 0
    phrases: tuple = ()
    times: np.ndarray | None = None

    @property
    def vocab_out(self):
        """The Vocabulary of the targets; that of the centres unless they are two kinds of things."""
        return self.vocab

    @property
    def n_pairs(self):
        """The size of an epoch (float): in pairs if the data are pairs, else in tokens or edges."""
        return float(len(self))

    @property
    def traversal(self):
        """The class of the traversal."""
        return TRAVERSALS[self.source]

    def walk(self, config):
        """Return the `Traversal` of these data; InputError or ConfigError if there is no pair to train on."""
        return self.traversal.of(self, config)

    def check(self):
        """Raise InputError if another program has damaged the data since they were encoded."""

    def share(self, slot, borders):
        """Return the share of one rank; ConfigError if there are too few data for so many ranks.

        slot : int, which share; borders : list of float, (n_ranks + 1,), bounds of the shares, from 0 to 1
        """
        return self if len(borders) == 2 else self._share(slot, borders)


@dataclass(frozen=True, eq=False)
class EncodedCorpus(Encoded):
    """A text, or baskets, as ids. The arrays are read-only; large ones are memory-mapped and may exceed memory.

    ids : ndarray, int32, (n_tokens,), the kept tokens, sentence after sentence
    offsets : ndarray, int64, (n_sentences + 1,); sentence s is ``ids[offsets[s]:offsets[s + 1]]``; none is empty
    times : ndarray, float64, (n_tokens,), ascending within a history; None if no table had times
    """

    ids: np.ndarray
    offsets: np.ndarray
    vocab: Vocabulary
    report: CorpusReport | None = None
    source: str = "text"
    stored: int = 0
    phrases: tuple = ()
    times: np.ndarray | None = None

    def __len__(self):
        return len(self.ids)

    @property
    def arrays(self):
        return self.ids, self.offsets

    def check(self):
        """Raise InputError if another program has truncated a mapped file: reading past its end kills the process."""
        if not all(map(_still_whole, self.arrays)):
            raise InputError(
                "the encoded corpus was truncated by another program while in use; keep other programs from writing "
                "to the cache folder and start again: the corpus will be encoded anew"
            )

    @property
    def n_sentences(self):
        return len(self.offsets) - 1

    def _share(self, slot, borders):
        """Return a contiguous part, cut within a sentence only if the data are `divisible`; arrays are views."""
        begin, end = (int(len(self) * border) for border in borders[slot : slot + 2])
        if not self.traversal.divisible:
            begin, end = (int(self.offsets[np.searchsorted(self.offsets, place)]) for place in (begin, end))
        if end - begin < 2:
            raise ConfigError(f"{len(self):,} tokens are too few for {len(borders) - 1} ranks; lower --ranks")
        first = np.searchsorted(self.offsets, begin, "right")
        last = np.searchsorted(self.offsets, end, "left")
        offsets = np.concatenate([[begin], self.offsets[first:last], [end]]) - begin
        return replace(self, ids=self.ids[begin:end], offsets=offsets.astype(np.int64))


def mapped(file, dtype):
    """Map a file as a read-only plain ndarray, which Numba recognises faster than a memmap."""
    return np.asarray(np.memmap(file, dtype=dtype, mode="r"))


def _still_whole(array):
    while isinstance(array, np.ndarray):
        array = array.base
    try:
        return not isinstance(array, mmap.mmap) or array.size() >= len(array)
    except OSError:  # a network file that is gone
        return False


def going_round(n, borders):
    """Assign n things to ranks in turn, by share: int64 (n,), the rank of each; k mod n_ranks for equal shares."""
    shares = np.diff(borders)
    shares = np.maximum(np.round(shares / shares.max(), 9), 1e-9)  # shares meant to be equal are equal
    sizes = np.ceil(n * shares / shares.sum()).astype(np.int64) + 1  # slightly more than n in total
    owners = np.repeat(np.arange(len(shares)), sizes)
    turns = np.concatenate([(np.arange(size) + 0.5) / share for size, share in zip(sizes, shares, strict=True)])
    return owners[np.argsort(turns, kind="stable")[:n]]
