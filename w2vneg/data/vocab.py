"""The vocabulary: words and their counts, in the order of their ids."""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..ground.errors import ConfigError, InputError, NothingToTrainError, UnknownNameError, check_whole
from ..ground.files.atomic import atomic_file
from ..ground.files.bounded import LONGEST_LINE, check_path, refuse_line
from .words import END, PackedStrings, near_hint

_BOM = "\ufeff".encode()
_HEADER = re.compile(rb"(?:\xef\xbb\xbf)?(?:word[\t ]count\r?\n)?")
_MOST_SEEN = 2**62
_BLOCK = 1 << 14  # words processed together
_READ = 1 << 16  # bytes read at a time; parsing takes ten times as much memory
_NO_SEPARATORS = bytes(set(range(256)) - set(b"\t\n"))
_SORTING = "LC_ALL=C sort -k2,2nr -k1,1"  # sorts lines of word and count


class Vocabulary:
    """Words with their counts, sorted by falling count, ties by UTF-8 bytes.

    The position of a word in this order is its id. `from_counts` sorts; the constructor requires the order.

    words : sequence of str, distinct, not empty, without white space; stored as `PackedStrings`
    counts : array-like, whole numbers of 0 or more, (n_words,); stored as int64
    ConfigError if the lengths differ, a word is invalid or repeated, or the order is wrong
    """

    def __init__(self, words: Iterable[str], counts: ArrayLike) -> None:
        self.words = PackedStrings.of(words)
        self.counts = np.array(whole_counts(counts))
        problem = self._problem()
        if problem:
            raise ConfigError(f"not a vocabulary: {problem[1]}")

    @classmethod
    def from_counts(cls, counts: Mapping[str, int]) -> Vocabulary:
        """Create a vocabulary from a mapping of words to counts, in any order; ConfigError if that is not possible."""
        if not callable(getattr(counts, "items", None)):  # a pandas Series has items, too
            raise ConfigError(
                f"from_counts takes a mapping from words to counts, not {counts!r:.60}; count words with "
                "collections.Counter(words)"
            )
        words = PackedStrings(word for word, _ in counts.items())
        seen = whole_counts([count for _, count in counts.items()]).tolist()
        pairs = sorted(zip(words, seen, strict=True), key=lambda pair: (-pair[1], pair[0]))
        return cls([word for word, _ in pairs], [count for _, count in pairs])

    def grown(self, more: Vocabulary, min_count: int = 1, max_vocab: int | None = None) -> Vocabulary:
        """Return this vocabulary with the counts of `more` added: all words stay; words that occur in `more` at
        least `min_count` times are added, the most frequent first, up to `max_vocab` words.
        """
        counts = dict(zip(self.words, self.counts.tolist(), strict=True))
        for word, count in zip(more.words, more.counts.tolist(), strict=True):
            if word in counts:
                counts[word] += count
            elif count >= min_count and (max_vocab is None or len(counts) < max_vocab):
                counts[word] = count
        return Vocabulary.from_counts(counts)

    @classmethod
    def _of(cls, words, counts):
        vocab = cls.__new__(cls)
        vocab.words, vocab.counts = words, counts
        return vocab

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: str) -> bool:
        return word in self.words

    def __eq__(self, other):
        if not isinstance(other, Vocabulary):
            return NotImplemented
        return self.words == other.words and np.array_equal(self.counts, other.counts)

    def __repr__(self):
        return f"Vocabulary({len(self):,} words, {int(self.counts.sum()):,} tokens)"

    def id(self, word: str) -> int:
        """Return the id of `word` (int); UnknownNameError with near spellings if it is unknown."""
        found = self.words.find(word)
        if found < 0:
            raise UnknownNameError(f"the word {word!r} is not in the vocabulary{near_hint(word, self.words)}")
        return found

    def save(self, path: str | Path) -> None:
        """Write one ``word<TAB>count`` per line, in order, as UTF-8, atomically."""
        with atomic_file(path) as stream:
            stream.writelines(self._text())

    @classmethod
    def load(cls, path: str | Path) -> Vocabulary:
        """Read the format of `save`, with or without a header ``word<TAB>count``; InputError with file and line."""
        check_path(path, "create one from words with Vocabulary(words, counts)")
        path = Path(path)
        try:
            with open(path, "rb") as stream:
                words, counts, head = _read(path, stream)
        except OSError as error:
            raise InputError(f"{path}: cannot read the vocabulary ({error.strerror or error})") from error
        vocab = cls._of(words, counts)
        file = shlex.quote(str(path))
        lines = f"tail -c +{len(head) + 1} {file} | {_SORTING}" if head else f"{_SORTING} {file}"
        problem = vocab._problem(f": {lines} > counted.txt")
        if problem:
            line = head.count(b"\n") + problem[0] + 1
            raise InputError(f"{path}:{line}: {problem[1]}")
        return vocab

    def digest(self) -> str:
        """Return a hexadecimal digest of words and counts (str)."""
        digest = hashlib.sha256()
        for some in self._text():
            digest.update(some)
        return digest.hexdigest()

    def _text(self):
        if self.words.data.startswith(_BOM):
            yield _BOM  # load drops one, as editors may add it
        for start in range(0, len(self), _BLOCK):
            pairs = zip(self.words[start : start + _BLOCK], self.counts[start : start + _BLOCK].tolist(), strict=True)
            yield "".join(f"{word}\t{count}\n" for word, count in pairs).encode()

    def _problem(self, sorting=""):
        """Return (index, sentence) for the first problem, or None; sorting : str, a command that sorts, to append"""
        words, counts = self.words, self.counts
        if counts.shape != (len(words),):
            return 0, f"{len(words)} words but counts of shape {counts.shape}"
        for start in range(0, len(words), _BLOCK):
            some = words[start : start + _BLOCK]
            if " ".join(some).split() != some:
                wrong = next(i for i, word in enumerate(some) if word.split() != [word])
                return start + wrong, f"the word {some[wrong]!r} is empty or contains white space"
        repeated = words.repeated()
        if repeated:
            return repeated[1], f"the word {words[repeated[1]]!r} occurs twice"
        for start in range(0, len(words), _BLOCK):
            some, seen = words.encoded(start, start + _BLOCK + 1), counts[start : start + _BLOCK + 1]
            for i in np.flatnonzero(seen[1:] >= seen[:-1]).tolist():
                if seen[i + 1] > seen[i] or some[i + 1] < some[i]:
                    wrong = words[start + i + 1]
                    remedy = f"sort by falling count, then by bytes{sorting}"
                    return start + i + 1, f"{wrong!r} is out of order; {remedy}"
        return None


def whole_counts(counts, remedy=""):
    """Return counts as int64, (n,), without a copy if possible; ConfigError if one is not a whole number or below 0.

    remedy : str, another remedy, appended to the message
    """
    try:
        given = np.asarray(counts)
        with np.errstate(invalid="ignore"):  # NaN, which then differs from its integer
            whole = np.asarray(given, dtype=np.int64, order="C")
        good = (whole >= 0) & (True if given.dtype.kind in "US" else whole == given)
    except (TypeError, ValueError, OverflowError):
        raise ConfigError(f"counts must be whole numbers, one for each word{remedy}") from None
    if not good.all():
        bad = given[~good].tolist()[0]
        raise ConfigError(f"counts must be whole numbers of 0 or more, not {bad!r:.60}; round them{remedy}")
    return whole


def _read(path, stream):
    """Read lines of word, tab, count in any order: `PackedStrings`, counts (ndarray, int64, (n,)), header (bytes)."""
    data, counts = [], [np.empty(0, np.int64)]
    head = stream.read(_HEADER.match(stream.peek()).end())
    number = head.count(b"\n")  # of lines before this block
    while block := stream.read(_READ):
        block += stream.readline(LONGEST_LINE)
        if len(block) >= LONGEST_LINE:
            refuse_line(path, number + block.count(b"\n") + 1)
        try:
            block.decode()
        except UnicodeDecodeError as error:
            line = number + 1 + block.count(b"\n", 0, error.start)
            raise InputError(f"{path}:{line}: not UTF-8; save the vocabulary as UTF-8 text") from error
        n_lines = block.count(b"\n")
        if not block.endswith(b"\n"):
            raise InputError(f"{path}:{number + n_lines + 1}: the last line has no newline; is the file truncated?")
        shown = block = block.replace(b"\r\n", b"\n")
        if b"\t" not in block:  # as word2vec.c and fastText write it
            block = block.replace(b" ", b"\t")
        fields = block.replace(b"\t", b"\n").split(b"\n")
        words, seen = fields[:-1:2], fields[1::2]
        if block.translate(None, _NO_SEPARATORS) != b"\t\n" * n_lines or not all(map(_is_count, seen)):
            lines = enumerate(block.split(b"\n"), number + 1)
            wrong = next(at for at, line in lines if not _is_count(line.partition(b"\t")[2]))
            line = shown.split(b"\n")[wrong - number - 1]
            said = f"{path}:{wrong}: expected word, tab, count; found {line.decode()[:60]!r}"
            raise InputError(said + _remedy(shlex.quote(str(path)), line.split()))
        number += n_lines
        data += END.join(words), END
        counts.append(np.array(list(map(int, seen)), np.int64))
    return PackedStrings.of_data(b"".join(data)), np.concatenate(counts), head


def _remedy(file, parts):
    """Return a remedy for a file (quoted name) given the parts of a bad line (list of bytes), "" if none is known"""
    if len(parts) == 1:
        reading = (
            r'{sub(/\r$/, ""); sub(/^\357\273\277/, "")} '
            "NR == FNR {known[$1]; next} {for (i = 1; i <= NF; i++) if ($i in known) n[$i]++}"
        )
        counted = f"""awk '{reading} END {{for (word in n) print word "\\t" n[word]}}' {file} TEXT | {_SORTING}"""
        return f"; count the words in the training text, here TEXT: {counted} > counted.txt"
    if len(parts) == 2 and _is_count(parts[0]):  # as uniq -c writes it
        turned = f"""awk '{{print $2 "\\t" $1}}' {file} | {_SORTING}"""
        return f"; put the count after the word: {turned} > counted.txt"
    return ""


def _is_count(text):
    return text.isdigit() and len(text) < 19


def choose_vocabulary(types, min_count, max_vocab=None):
    """Choose the words of the vocabulary; InputError if fewer than two are left.

    types : encoded.count.TypeTable; min_count : int, less frequent words are left out
    max_vocab : int, optional, keep only this many of the most frequent words; ties go to those that sort first
    Returns the Vocabulary, and the ids of the types, int32, (n_types,), -1 for those left out
    """
    seen = types.counts()
    kept = np.flatnonzero(seen >= min_count)
    if max_vocab is not None and len(kept) > max_vocab:
        kept = kept[seen[kept] >= np.partition(seen[kept], -max_vocab)[-max_vocab]]
    words, counts = types.words(kept), seen[kept]
    _refuse_few(words, "word", min_count, int(seen.max(initial=0)))
    by_bytes = np.array(sorted(range(len(words)), key=words.__getitem__))  # code points sort as UTF-8 does
    order = by_bytes[np.argsort(-counts[by_bytes], kind="stable")][:max_vocab]
    ids = np.full(len(seen), -1, np.int32)
    ids[kept[order]] = np.arange(len(order))
    return Vocabulary._of(PackedStrings((words[i] for i in order.tolist()), distinct=True), counts[order]), ids


def _refuse_few(words, what, min_count, largest):
    """Raise InputError for fewer than two words; one centre or target is enough, for an update by one purchase."""
    if not words:
        none = "token" if what == "word" else what
        raise InputError(f"no {none} reaches min_count={min_count} (largest count is {largest}); lower --min-count.")
    if len(words) == 1 and what not in ("centre", "target"):
        remedy = "lower --min-count or give more data" if min_count > 1 else "give more data"
        raise InputError(
            f"only one {what} ({words[0][:60]!r}) reaches min_count={min_count}; training needs at least two: {remedy}."
        )


def ids_in(vocab, types):
    """Return the ids of types in a given vocabulary, -1 for unknown ones; NothingToTrainError if none is known."""
    ids = np.full(len(types), -1, np.int32)
    for start in range(0, len(ids), _BLOCK):
        some = np.arange(start, min(start + _BLOCK, len(ids)))
        ids[some] = vocab.words.find_all(types.words(some))
    if not (ids >= 0).any():
        raise NothingToTrainError(
            "no token of the corpus is in the given vocabulary; do their language and case match?"
        )
    return ids


def check_choice(min_count, max_vocab, vocab):
    """Raise ConfigError if an option that shapes the vocabulary is invalid."""
    check_whole("min_count", min_count)
    check_whole("max_vocab", 2 if max_vocab is None else max_vocab, 2)
    if vocab is not None and not isinstance(vocab, Vocabulary):
        raise ConfigError(f"vocab must be a Vocabulary, not {type(vocab).__name__}; see Vocabulary.load")
    if vocab is not None and len(vocab) < 2:
        raise ConfigError(f"the given vocabulary has {len(vocab)} words; training needs at least two")


class VocabOptions(NamedTuple):
    """Keyword options of every source that turn names into a vocabulary; see `inputs.encode_input`.

    An item's count is the sum of its weights, over both columns if they are one kind, rounded up; weights that are all
    below 1 are first scaled to a mean of 1. In histories it is the number of histories that contain the item.
    """

    min_count: int = 1
    max_vocab: int | None = None
    vocab: Vocabulary | None = None
    vocab_out: Vocabulary | None = None
    encoding: str = "utf-8"
    lowercase: bool = False
    progress: Callable | None = None

    def checked(self):
        """Return itself; ConfigError if a number is out of range or a vocabulary is invalid."""
        for vocab in (self.vocab, self.vocab_out):
            check_choice(self.min_count, self.max_vocab, vocab)
        return self


def choose_items(words, seen, shaping, vocab, what="item"):
    """Choose the items of the vocabulary; return it and the ids of `words`, int32 (n,), -1 for those left out.

    seen : float64 (n,), weight of each; rounded up it is the count
    vocab : Vocabulary to use as it is, or None; what : str, the noun for an item
    InputError if fewer than two items, or no centres or targets, are left, or none is in the fixed vocabulary
    """
    if vocab is not None:
        ids = vocab.words.find_all(words)
        if not (ids >= 0).any():
            raise InputError(f"no {what} of the data is in the given vocabulary; do the names match?")
        return vocab, ids
    if seen.sum() > _MOST_SEEN:
        raise InputError(f"the weights sum to {seen.sum():g}, which is more than can be counted; scale them down")
    counts = np.ceil(seen).astype(np.int64)
    kept = np.flatnonzero((counts >= shaping.min_count) & (counts > 0)).tolist()
    _refuse_few([words[i] for i in kept[:2]], what, shaping.min_count, counts.max(initial=0))
    if shaping.max_vocab is not None:
        kept = sorted(kept, key=lambda i: (-seen[i], words[i]))[: shaping.max_vocab]
    order = sorted(kept, key=lambda i: (-counts[i], words[i]))
    ids = np.full(len(words), -1, np.int32)
    ids[order] = np.arange(len(order))
    return Vocabulary([words[i] for i in order], counts[order]), ids
