"""What is told of a corpus once it has been read."""

from dataclasses import dataclass


@dataclass(frozen=True)
class CorpusReport:
    """What was found in a corpus and what became of it.

    `lines` counts a last line without a line feed too, `empty_lines` those without any token. `sentences` are
    those that keep at least one token. `bytes` are those of the files, unpacked (of the tokens as UTF-8 if
    they came from an iterable). `seconds` is what encoding took, whenever that was; `cached` tells whether it
    was in an earlier run.
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

    def line(self):
        """Return the report as one line for people (str)."""
        how = "from the cache" if self.cached else f"in {self.seconds:.1f} s"
        return (
            f"{self.tokens:,} tokens of {self.types:,} types in {self.lines:,} lines "
            f"({self.empty_lines:,} empty); kept {self.kept_tokens:,} tokens ({self.kept_types:,} types) "
            f"in {self.sentences:,} sentences, discarded {self.discarded_tokens:,} ({self.discarded_types:,}); "
            f"{self.bytes / 1e6:,.1f} MB {how}"
        )
