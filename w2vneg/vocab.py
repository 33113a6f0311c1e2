"""The vocabulary: words and their counts, in the one order that ids follow everywhere."""

import hashlib
from pathlib import Path

import numpy as np

from .atomic import atomic_file
from .errors import ConfigError, InputError, UnknownNameError, near_spellings

_BOM = "\ufeff"


class Vocabulary:
    """Words with their counts, sorted by falling count, and by their UTF-8 bytes where counts are equal.

    The place of a word in this order is its id. `from_counts` sorts; the constructor insists on the order,
    because whoever has ids already would have them silently permuted.

    Parameters
    ----------
    words : sequence of str
        Distinct, not empty, without white space.
    counts : array-like, int64, (n_words,)
        Not negative.

    Attributes
    ----------
    words : list of str
    counts : ndarray, int64, (n_words,)

    Raises
    ------
    ConfigError
        If words and counts do not fit together, a word is unfit or repeated, or the order is another.
    """

    def __init__(self, words, counts):
        self.words = list(words)
        self.counts = np.array(counts, dtype=np.int64)
        self._index = None
        problem = self._problem()
        if problem:
            raise ConfigError(f"not a vocabulary: {problem[1]}")

    @classmethod
    def from_counts(cls, counts):
        """Make a vocabulary of a mapping from words to counts, in any order."""
        pairs = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
        return cls([word for word, _ in pairs], [count for _, count in pairs])

    @property
    def index(self):
        """dict: word -> id; built when it is first asked for."""
        if self._index is None:
            self._index = {word: i for i, word in enumerate(self.words)}  # str -> int
        return self._index

    @classmethod
    def _of(cls, words, counts):
        """Make a vocabulary of a list and an int64 array that are known to be in order."""
        vocab = cls.__new__(cls)
        vocab.words, vocab.counts, vocab._index = words, counts, None
        return vocab

    def __len__(self):
        return len(self.words)

    def __contains__(self, word):
        return word in self.index

    def __eq__(self, other):
        if not isinstance(other, Vocabulary):
            return NotImplemented
        return self.words == other.words and np.array_equal(self.counts, other.counts)

    __hash__ = None

    def __repr__(self):
        return f"Vocabulary({len(self):,} words, {int(self.counts.sum()):,} tokens)"

    def id(self, word):
        """Return the id of `word` (int); UnknownNameError with near spellings if it is not here."""
        try:
            return self.index[word]
        except KeyError:
            raise UnknownNameError(f"the word {word!r} is not in the vocabulary{self._near(word)}") from None

    def save(self, path):
        """Write one ``word<TAB>count`` a line, in order, as UTF-8; the file appears whole or not at all."""
        with atomic_file(path) as stream:
            stream.write(self._text().encode())

    @classmethod
    def load(cls, path):
        """Read a file written by `save`; any deviation is an InputError that names file and line."""
        path = Path(path)
        try:
            text = path.read_bytes().decode().removeprefix(_BOM)
        except OSError as error:
            raise InputError(f"{path}: cannot read the vocabulary ({error.strerror or error})") from error
        except UnicodeDecodeError as error:
            line = error.object.count(b"\n", 0, error.start) + 1
            raise InputError(f"{path}:{line}: not UTF-8; a vocabulary is written as UTF-8 text") from error
        lines = text.split("\n")
        if lines.pop():
            raise InputError(f"{path}:{len(lines) + 1}: the last line does not end; is the file truncated?")
        words, counts = [], []
        for number, line in enumerate(lines, 1):
            word, tab, count = line.rstrip("\r").partition("\t")
            if not (tab and count.isascii() and count.isdigit() and len(count) < 19):
                raise InputError(f"{path}:{number}: expected word, tab, count; found {line[:60]!r}")
            words.append(word)
            counts.append(int(count))
        vocab = cls._of(words, np.array(counts, dtype=np.int64))
        problem = vocab._problem()
        if problem:
            raise InputError(f"{path}:{problem[0] + 1}: {problem[1]}")
        return vocab

    def digest(self):
        """Return a hexadecimal digest of words and counts (str)."""
        return hashlib.sha256(self._text().encode()).hexdigest()

    def _text(self):
        pairs = zip(self.words, self.counts.tolist(), strict=True)
        text = "".join(f"{word}\t{count}\n" for word, count in pairs)
        return _BOM + text if text.startswith(_BOM) else text  # load drops one, as editors tend to add one

    def _near(self, word):
        near = near_spellings(word, self.index, self.words)
        return f"; did you mean {' or '.join(map(repr, near))}?" if near else "."

    def _problem(self):
        """Return (index, sentence) for the first thing wrong, or None."""
        words, counts = self.words, self.counts
        if counts.shape != (len(words),):
            return 0, f"{len(words)} words but counts of shape {counts.shape}"
        try:
            fit = " ".join(words).split() == words
        except TypeError:
            wrong = next(i for i, word in enumerate(words) if not isinstance(word, str))
            return wrong, f"the word {words[wrong]!r} is not a string"
        if not fit:
            wrong = next(i for i, word in enumerate(words) if word.split() != [word])
            return wrong, f"the word {words[wrong]!r} is empty or holds white space"
        if len(set(words)) != len(words):
            first = {}
            wrong = next(i for i, word in enumerate(words) if first.setdefault(word, i) != i)
            return wrong, f"the word {words[wrong]!r} stands here twice"
        if counts.size and counts.min() < 0:
            wrong = int(np.argmax(counts < 0))
            return wrong, f"the count of {words[wrong]!r} is negative"
        for i in np.flatnonzero(counts[1:] >= counts[:-1]).tolist():
            if counts[i + 1] > counts[i] or words[i + 1] < words[i]:
                return i + 1, f"{words[i + 1]!r} is out of order; sort by falling count, then by bytes"
        return None


def choose_vocabulary(counter, min_count, max_vocab=None):
    """Choose the words that training is to know.

    Parameters
    ----------
    counter : readers.counting.TokenCounter
    min_count : int
        Words seen less often are left out.
    max_vocab : int, optional
        Keep only so many, the most frequent; of equally frequent ones those that sort first.

    Returns
    -------
    vocab : Vocabulary
    ids_by_type : list of ndarray, int32
        For each table of the counter the ids of its types, -1 for those left out.

    Raises
    ------
    InputError
        If fewer than two words are left.
    """
    ids_by_type = counter.blank_ids()
    words, counts, places = [], np.empty(0, np.int64), np.empty(0, np.int64)  # of the candidates
    n_candidates = largest = 0
    floor = min_count
    for part in counter.parts():
        seen = part.table.counts()
        largest = max(largest, int(seen.max(initial=0)))
        kept = np.flatnonzero(seen >= floor)
        candidates = np.full(seen.size, -1, np.int32)
        candidates[kept] = n_candidates + np.arange(kept.size)
        for table, numbers, own in part.members:
            ids_by_type[table][numbers] = candidates[own]
        words += part.table.words(kept)
        counts, places = np.append(counts, seen[kept]), np.append(places, candidates[kept])
        n_candidates += kept.size
        if max_vocab is not None and len(words) > max_vocab:
            floor = int(np.partition(counts, -max_vocab)[-max_vocab])
            left = np.flatnonzero(counts >= floor)
            words, counts, places = [words[i] for i in left.tolist()], counts[left], places[left]
    if not words:
        raise InputError(f"no token reaches min_count={min_count} (largest count is {largest}); lower --min-count.")
    if len(words) == 1:
        raise InputError(
            f"only one word ({words[0][:60]!r}) reaches min_count={min_count}; training needs at least two: "
            "lower --min-count or give more text."
        )
    by_bytes = np.array(sorted(range(len(words)), key=words.__getitem__))  # code points sort as UTF-8 does
    order = by_bytes[np.argsort(-counts[by_bytes], kind="stable")][:max_vocab]
    ids = np.full(n_candidates + 1, -1, dtype=np.int32)  # the last one is that of what is no candidate
    ids[places[order]] = np.arange(order.size)
    for table in ids_by_type:
        table[:] = ids[table]
    return Vocabulary._of([words[i] for i in order.tolist()], counts[order]), ids_by_type


def ids_in(vocab, counter):
    """Return the ids in `vocab` of a counter's types as `choose_vocabulary` does, -1 for unknown ones.

    Raises
    ------
    InputError
        If all are unknown.
    """
    ids_by_type = counter.blank_ids()
    known = False
    for part in counter.parts():
        words = part.table.words(np.arange(part.table.n_types))
        ids = np.array([vocab.index.get(word, -1) for word in words], dtype=np.int32)
        for table, numbers, own in part.members:
            ids_by_type[table][numbers] = ids[own]
        known = known or bool((ids >= 0).any())
    if not known:
        raise InputError("no token of the corpus is in the given vocabulary; do they belong together (language, case)?")
    return ids_by_type
