"""What is reported of a corpus once it has been read."""

from dataclasses import dataclass, field

from ..sources import SOURCES


@dataclass(frozen=True)
class CorpusReport:
    """What was found in a corpus and what became of it.

    `lines` counts a last line without a line feed too, `empty_lines` those without any token. `sentences` are
    those that keep at least one token. `bytes` are those of the files, unpacked (of the tokens as UTF-8 if
    they came from an iterable). `seconds` is what encoding took, whenever that was; `cached` tells whether it
    was in an earlier run. `damage` tells what was wrong with a copy in the cache that this one replaces, if there was
    such a copy. `joins` tells how often the words of a phrase were joined, `bad_rows` how many rows of a table were
    left out, `tokens_by` in words how text became tokens, where that was not asked for.
    """

    files: int
    bytes: int
    lines: int
    empty_lines: int
    tokens: int
    types: int
    kept_tokens: int
    kept_types: int
    discarded_tokens: int
    discarded_types: int
    sentences: int
    seconds: float
    cached: bool = False
    damage: str = ""
    joins: int = 0
    bad_rows: int = 0
    tokens_by: str = ""
    hints = ()  # as of `ItemsReport`

    def line(self):
        """Return the report as one line for people (str)."""
        return (
            f"{self.tokens:,} tokens of {self.types:,} types in {self.lines:,} lines "
            f"({self.empty_lines:,} empty); kept {self.kept_tokens:,} tokens ({self.kept_types:,} types) "
            f"in {self.sentences:,} sentences, discarded {self.discarded_tokens:,} ({self.discarded_types:,}); "
            f"{self.bytes / 1e6:,.1f} MB {_how(self)}"
            f"{f'; left out: {self.bad_rows:,} bad rows' if self.bad_rows else ''}"
            f"{f'; {self.tokens_by}' if self.tokens_by else ''}"
        )


@dataclass(frozen=True)
class ItemsReport:
    """What was found in files of items and what became of it.

    `kind` is the source. `rows` are those of the files (entries of a
    matrix, lines of baskets). `items` are the vocabulary, `targets` that of the columns (the same where they are one
    kind of things). `kept` counts distinct pairs or edges, or items in histories and baskets; `groups` are these, 0 for
    pairs. `left_out` tells how much was left out, in words: why -> how many; `added` of
    how many rows the weights were added up. `bytes` are those of the files, unpacked.
    `columns` say in words which columns of a table were read as what, `hints` what may be wrong with that. `damage` is
    as in `CorpusReport`.
    """

    kind: str
    files: int
    bytes: int
    rows: int
    items: int
    targets: int
    kept: int
    groups: int
    seconds: float
    left_out: dict = field(default_factory=dict)
    rectangular: bool = False
    cached: bool = False
    columns: tuple = ()
    hints: tuple = ()
    damage: str = ""
    added: dict = field(default_factory=dict)

    @classmethod
    def of(cls, kind, tables, rectangular=False):
        """Return the report of `readers.tables.Tables` that were read, with what comes later still empty."""
        return cls(
            *(kind, tables.n_files, tables.bytes, tables.n_rows, 0, 0, 0, 0, 0.0, tables.left_out),
            rectangular=rectangular,
            columns=tables.labels.said,
            hints=tables.hints,
        )

    def line(self):
        """Return the report as one line for people (str)."""
        columns = f" ({'; '.join(self.columns)})" if self.columns else ""
        source = SOURCES[self.kind]
        things = f"{self.items:,} {source.noun}s"
        if self.rectangular:
            things = f"{self.items:,} centres and {self.targets:,} targets"
        what = "pairs" if self.rectangular else source.kept.format(self.groups)
        out, added = (
            "; ".join(f"{number:,} {why}" for why, number in of.items() if number) for of in (self.left_out, self.added)
        )
        added = f"weights added up: {added}; " if added else ""
        return (
            f"{self.rows:,} {source.rows}{columns}: {self.kept:,} {what} of {things}; "
            f"{added}left out: {out or 'nothing'}; {self.bytes / 1e6:,.1f} MB {_how(self)}"
        )


def _how(report):
    """Return where the ids come from, in words."""
    if report.cached:
        return "from the cache"
    again = f"; the copy in the cache was damaged ({report.damage}) and was made again" if report.damage else ""
    return f"in {report.seconds:.1f} s{again}"
