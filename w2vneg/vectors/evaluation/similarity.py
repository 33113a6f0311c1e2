"""Word similarity: do cosines rank pairs of words as people do?

Pearson's correlation (Tanielian and Vasile 2019, relaxed softmax) and Spearman's (the usual one) between the cosine of
two words and their human score, each with a 95 % interval by Fisher's z: ``tanh(atanh(r) ± 1.96 / sqrt(n − 3))``.
Pairs with an unknown word are left out and counted.
"""

import csv
import math
import re
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...ground.errors import FileNote, InputError
from .lookup import MORE, Lookup, Result, gensims_lookup, read_lines

_COMMA = re.compile(r"[+-]?\d+,\d+")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_TAG = re.compile(r"(?<=.)-[nvj]\Z")
# heads of columns: of row numbers, and of numbers that are no scores
_ROW = re.compile(r"|#|id|index|idx|no|nr|num|number|row|rank|pair|pair.?id|unnamed: 0", re.IGNORECASE)
_NO_SCORE = re.compile(r"(?<![a-z])(sd|std\w*|counts?|freq\w*|n)(?![a-z])", re.IGNORECASE)
_WORD = re.compile(r"(word|term|w|token|lemma|noun|verb)s?[\W_]*([12ab])", re.IGNORECASE)
_FEWER = 5  # times fewer values than another column: languages, categories or tags, not words
_OF_SCORES = "scores?|ratings?|human|sim(ilarity)?|relatedness"
_MEAN = rf"\A(?=.*(mean|average|avg|gold))([\W_]*(mean|average|avg|gold|{_OF_SCORES}))+[\W_]*\Z"
# the first that matches is taken: a mean before its single ratings
_SCORES = [re.compile(names, re.IGNORECASE) for names in (_MEAN, "score|sim|relatedness|rating|human", "")]
_QUOTED = re.compile(r'\A"([^"]+)"\Z')
_SEPARATORS = {"\t": "tabs", ";": "semicolons", ",": "commas", None: "spaces"}  # separator -> its name
_FEWEST = 3
_NORMAL_975 = 1.959963984540054  # 97.5 % of a normal distribution are below
_ROUNDING = 1e-7  # cosines of float32 vectors closer than this count as equal


@dataclass(frozen=True)
class SimilarityResult(Result):
    """How well cosines agree with one set of human scores.

    name, path : str, the set, and the file it was read from; tags_stripped : lemma tags (``sun-n``) were removed
    spearman, pearson : float, in [-1, 1]; their intervals : (low, high), 95 %
    scored, total : int, pairs with two known words, and all; unknown, lowered : int, words, see `Lookup`
    """

    name: str
    path: str
    spearman: float
    spearman_interval: tuple
    pearson: float
    pearson_interval: tuple
    scored: int
    total: int
    unknown: int
    lowered: int
    tags_stripped: bool


def evaluate_similarity(vectors, path, name=None, tags=None, case="lower"):
    """Correlate cosines with human scores; returns a `SimilarityResult`.

    path : str or Path, file of word, word, score; see `read_pairs`
    name : str, optional, name of the set; its file name by default
    tags : bool, optional, remove lemma tags (``-n``, ``-v``, ``-j``) from the words; None: if every word has one
    case : see `Lookup`

    InputError if the file is missing or has a bad row, fewer than three pairs can be scored, or all scores or all
    cosines are equal.
    """
    found = scored_pairs(vectors, path, tags, case)
    human, cosines = found.human, found.cosines
    for values, what, gap in ((human, "human scores", 0.0), (cosines, "cosines", _ROUNDING)):
        if np.ptp(values) <= gap:
            raise InputError(f"{path}: all {what} of the {len(human)} scored pairs are equal: no correlation exists")
    pearson, spearman = correlation(human, cosines), correlation(ranks(human), ranks(cosines))
    counts = len(human), found.total, len(found.lookup.unknown), len(found.lookup.lowered)
    return SimilarityResult(name or Path(path).name, str(path), *spearman, *pearson, *counts, found.tags)


def correlation(x, y):
    """Return Pearson's r (float) and its 95 % interval by Fisher's z. x, y : float64, (n,), not constant

    SciPy is not used: importing it takes half a second, as long as training on a small text.
    """
    x, y = (values / np.abs(values).max() for values in (x - x.mean(), y - y.mean()))  # squares do not overflow
    r = min(max(float(x @ y / math.sqrt((x @ x) * (y @ y))), -1.0), 1.0)
    if len(x) == 3 or abs(r) == 1.0:
        return r, (-1.0, 1.0) if len(x) == 3 else (r, r)
    half = _NORMAL_975 / math.sqrt(len(x) - 3)
    return r, (math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half))


def ranks(values):
    """Return the rank of each number, from 1, float64 (n,); ties get their mean rank."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[place]


class ScoredPairs(NamedTuple):
    """The pairs with two known words: words, human scores and cosines. total : int, all pairs; tags : were removed"""

    words: list
    human: np.ndarray
    cosines: np.ndarray
    total: int
    lookup: Lookup
    tags: bool


def scored_pairs(vectors, path, tags=None, case="lower"):
    """Return the `ScoredPairs` of a file: the human score of each pair, and its cosine; see `evaluate_similarity`."""
    pairs = read_pairs(path)
    words = [word for pair in pairs for word in pair[:2]]
    if tags is None:
        tags = all(map(_TAG.search, words))
    words = [_TAG.sub("", word) for word in words] if tags else words
    known = Lookup(vectors, case)
    vectors = vectors.with_words(word for word in words if known(word) < 0)
    lookup = Lookup(vectors, case)
    rows = np.array([lookup(word) for word in words]).reshape(-1, 2)
    known = (rows >= 0).all(axis=1)
    found = [pair for pair, is_known in zip(pairs, known.tolist(), strict=True) if is_known]
    if len(found) < _FEWEST:
        few = f"only {len(found)} of {len(pairs)} pairs have vectors for both words, at least {_FEWEST} are needed"
        read = f"; its first words are read as {words[0]!r} and {words[1]!r}" if not found else ""
        raise InputError(f"{path}: {few} for a correlation{read}; {MORE}")
    words, human = [pair[:2] for pair in found], np.array([score for _, _, score in found])
    return ScoredPairs(words, human, vectors.cosines(*rows[known].T), len(pairs), lookup, tags)


def evaluate_word_pairs(vectors, path, restrict_vocab=300_000, case_insensitive=True, dummy4unknown=False, tags=False):
    """Correlate cosines with human scores as gensim does; see `Vectors.evaluate_word_pairs`."""
    from scipy import stats

    find, _ = gensims_lookup(vectors, restrict_vocab, case_insensitive)
    pairs = read_pairs(path)
    rows = np.array([[find(_TAG.sub("", word) if tags else word) for word in pair[:2]] for pair in pairs])
    known = (rows >= 0).all(axis=1)
    cosines, human = np.zeros(len(pairs)), np.array([score for _, _, score in pairs])
    cosines[known] = vectors.cosines(*rows[known].T)
    kept = np.ones(len(pairs), bool) if dummy4unknown else known
    if kept.sum() < 2:
        few = f"only {kept.sum()} of {len(pairs)} pairs have vectors for both words"
        raise InputError(f"{path}: {few}, too few for a correlation; {MORE}")
    figures = [correlate(human[kept], cosines[kept]) for correlate in (stats.pearsonr, stats.spearmanr)]
    return *figures, 100.0 * float(np.mean(~known))


def read_pairs(path):
    """Read a file of word, word, score: list of (str, str, float); InputError, with file and line, for a bad row.

    Columns are separated by tabs, semicolons, commas or spaces, as in the first line. A first line that does not match
    the second is a header, a line that starts with ``#`` a comment. The words are the columns called word1 and word2,
    or similar, else the first two, after a column "id" if there is one. InputError if one has few values and a column
    after them many, most of a single word. The score is the column of numbers after the words whose head says so, a
    mean or gold before a score or rating, else the first. FileNote, with the column, if several hold numbers
    """
    lines = [(number, line) for number, line in read_lines(path) if not line.startswith("#")]
    if not lines:
        raise InputError(f"{path} has comments only; expected rows of word, word, score")
    separator = next((s for s in ("\t", ";", ",") if lines[0][1].count(s) >= 2), None)
    rows = [(number, _fields(line, separator, f"{path}:{number}")) for number, line in lines]
    is_number = lambda field: _NUMBER.fullmatch(field) is not None  # noqa: E731
    columns = [next((i for i in range(2, len(row)) if is_number(row[i])), None) for _, row in rows[:2]]
    for number, row in rows[:2] if columns[-1] is None else ():
        if comma := next((field for field in row[2:] if _COMMA.fullmatch(field)), None):
            raise InputError(f"{path}:{number}: {comma!r} has a decimal comma; write the scores with points")
    header = columns[0] is None or (len(columns) > 1 and columns[1] is not None and columns[0] != columns[1])
    if header and len(rows) == 1:
        raise InputError(f"{path}:{rows[0][0]}: expected word, word, score, found {lines[0][1].strip()!r}")
    column = columns[1] if header else columns[0]
    if header and column is not None and rows[0][1][column : column + 1] in (["nan"], ["NaN"], ["inf"]):
        header = False  # refused below
    heads, second = rows[0][1] if header else [], rows[-1 if len(rows) == 1 else 1][1]
    first = int(bool(heads) and len(second) > 3 and _ROW.fullmatch(heads[0]) is not None)
    named = _named_words(heads, lambda i: not all(is_number(row[i]) for _, row in rows[header:] if len(row) > i))
    one, other = named or (first, first + 1)
    after = [i for i in range(max(one, other) + 1, len(second)) if is_number(second[i])]
    names = {i: heads[i] if i < len(heads) else "" for i in after}
    after = [i for i in after if not _NO_SCORE.search(names[i])] or after
    default = None if named else column
    column = min(after, key=lambda i: [bool(known.search(names[i])) for known in _SCORES].index(True), default=default)
    if not heads and column is not None and column > 2 and all(is_number(row[0]) for _, row in rows):
        number, row = rows[0]
        raise InputError(
            f"{path}:{number}: {row[0]!r} and {row[1]!r} would be the words, but the first column has only numbers; "
            "remove that column, or give the file a first line with its name, id"
        )
    wide = [(number, row) for number, row in rows[header:] if len(row) == 4]
    if separator == "," and len(heads) < 4 and wide and all(_COMMA.fullmatch(",".join(row[2:])) for _, row in wide):
        number, row = wide[0]
        raise InputError(
            f"{path}:{number}: {','.join(row[2:])!r} would be two columns, but looks like a decimal comma; write the "
            "scores with points, or give the file a first line that names all four columns"
        )
    if len(after) > 1 and heads:  # else it is the third one, as usual
        shown = repr(names[column] or column + 1)
        warnings.warn(f"{path}: of {len(after)} columns of numbers, {shown} is read as the scores", FileNote, 2)
    if column is not None and not named:
        _refuse_few(path, [row for _, row in rows[header:]], heads, (one, other), column, is_number)
    return [_pair(path, number, fields, (one, other), column, separator) for number, fields in rows[header:]]


def _named_words(heads, is_text):
    """Return the two columns of text called word1 and word2, or similar; None if there are none."""
    found = {}  # (name, number) -> column
    for column, head in enumerate(heads):
        if (known := _WORD.fullmatch(head)) and is_text(column):
            found.setdefault((known[1].lower(), known[2].lower()), column)
    pairs = ((place, found.get((name, {"1": "2", "a": "b"}.get(number)))) for (name, number), place in found.items())
    return next((pair for pair in pairs if pair[1] is not None), None)


def _refuse_few(path, rows, heads, words, score, is_number):
    """Raise InputError if a column taken for words has few values, but another one before the scores many."""
    whole = [row for row in rows if len(row) > score]
    values = {column: {row[column] for row in whole} for column in (*words, *range(words[1] + 1, score))}
    others = {column: own for column, own in values.items() if column not in words and not all(map(is_number, own))}
    sentences = [column for column, own in others.items() if 2 * sum(len(cell.split()) > 1 for cell in own) > len(own)]
    texts = [column for column in others if column not in sentences]
    called = lambda column: repr(heads[column]) if column < len(heads) and heads[column] else column + 1  # noqa: E731
    for column, text in ((column, text) for column in words for text in texts):
        few, many = len(values[column]), len(values[text])
        if _FEWER * few <= many:
            raise InputError(
                f"{path}: column {called(column)} would hold words, but has {few} value{'s' * (few != 1)}, column "
                f"{called(text)} has {many}; call the columns of words word1 and word2 in the first line"
            )


def _fields(line, separator, where):
    if separator in (None, "\t"):
        return [_QUOTED.sub(r"\1", field.strip()) for field in line.split(separator)]
    try:
        return [field.strip() for field in next(csv.reader([line], delimiter=separator, skipinitialspace=True))]
    except csv.Error as error:
        raise InputError(f"{where}: not a row of word, word, score ({error}); correct or remove it") from None


def _pair(path, number, fields, words, column, separator):
    name = _SEPARATORS[separator]
    if column is None or len(fields) <= column:
        found = f"{len(fields)} column{'s' * (len(fields) != 1)} ({' | '.join(fields[:4])})"
        expected = f"{path}:{number}: expected word, word, score separated by {name}"
        raise InputError(f"{expected}, found {found}; correct or remove the row")
    one, other = (fields[place] for place in words)
    if not one or not other:
        raise InputError(f"{path}:{number}: a word is missing; correct or remove the row")
    if not _NUMBER.fullmatch(fields[column]) or not math.isfinite(float(fields[column])):
        found = f"expected a number in column {column + 1}, found {fields[column]!r}"
        raise InputError(f"{path}:{number}: {found}; correct or remove the row")
    return one, other, float(fields[column])
