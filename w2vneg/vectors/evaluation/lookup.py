"""What the evaluators share: reading files as lines, and finding words among the vectors."""

from ...ground.errors import ConfigError, InputError
from ...ground.files.bounded import read_text

CASES = ("lower", "exact")


def read_lines(path):
    """Return the numbered lines of a UTF-8 file, blank ones left out.

    Returns
    -------
    list of (int, str)
        Line number from 1, and the line without its end.

    Raises
    ------
    InputError
        If the file is missing, unreadable, empty or not UTF-8.
    """
    text = read_text(path, "no such file; name an evaluation file or a known set (w2vneg data list)")
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    numbered = [(number, line) for number, line in enumerate(lines, 1) if line.strip()]
    if not numbered:
        raise InputError(f"{path} is empty; it should hold an evaluation set")
    return numbered


class Lookup:
    """Finds the rows of a question's words: as they are written, then (with ``case="lower"``) lower-cased.

    Parameters
    ----------
    vectors : Vectors
    case : {"lower", "exact"}
    limit : int or None
        Words in later rows count as unknown.

    Attributes
    ----------
    lowered : set of str
        The words that were found in lower case only.
    unknown : set of str
        The words that were not found.
    """

    def __init__(self, vectors, case="lower", limit=None):
        if case not in CASES:
            raise ConfigError(f"case must be one of {', '.join(CASES)}, not {case!r}")
        self._words = vectors.words
        self._rows = {}  # word -> int, of those asked for so far
        self._lower = case == "lower"
        self._limit = len(vectors) if limit is None else limit
        self.lowered = set()
        self.unknown = set()

    def __call__(self, word):
        """Return the word's row, or -1."""
        row = self._row(word)
        if row < 0 and self._lower and (row := self._row(word.lower())) >= 0:
            self.lowered.add(word)
        if row < 0:
            self.unknown.add(word)
        return row

    def _row(self, word):
        row = self._rows.get(word)
        if row is None:
            row = self._words.find(word)
            row = self._rows[word] = row if row < self._limit else -1
        return row
