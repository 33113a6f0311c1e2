"""Phrases: pairs of adjacent words that occur more often than their counts predict.

    word2vec   (c_ab − δ) / (c_a c_b) · n         δ = min_count, n = number of distinct words and distinct pairs
    npmi       ln(p_ab / (p_a p_b)) / −ln p_ab    p = c / number of tokens; between −1 and 1

Mikolov et al. 2013, "Distributed Representations of Words and Phrases", section 4, with n as in gensim; and Bouma
2009, "Normalized (Pointwise) Mutual Information in Collocation Extraction". Further passes find phrases of phrases.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from ..ground.errors import ConfigError, InputError, OutputError
from ..ground.files.atomic import atomic_file
from ..ground.files.bounded import read_text
from ..ground.files.caches import cache_dir
from .readers.frames import InMemoryTable
from .readers.sources import file_stamp, find_files, is_paths, is_stream, taken

_VERSION = 2  # of the results of `find_phrases` with defaults
_LOOKED_AT = 1000  # phrases examined to explain why none occurs
_LONGEST = 1 << 20  # bytes without white space that are passed on unchanged, for the counter to refuse


class Phrase(NamedTuple):
    """first, second : str, its words; score : float; count : int, occurrences of the pair; level : int, its pass"""

    first: str
    second: str
    score: float
    count: int  # type: ignore[assignment]
    level: int = 1


def _word2vec(pairs, firsts, seconds, n_tokens, n_types, min_count):
    return (pairs - min_count) / firsts / seconds * n_types


def _npmi(pairs, firsts, seconds, n_tokens, n_types, min_count):
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log(pairs / n_tokens / (firsts / n_tokens * (seconds / n_tokens))) / -np.log(pairs / n_tokens)


SCORES = {"word2vec": _word2vec, "npmi": _npmi}
THRESHOLDS = {"word2vec": 10.0, "npmi": 0.5}


def find_phrases(
    source, *, min_count: int = 5, threshold: float | None = None, scoring: str = "word2vec", passes: int = 1, **reading
) -> list[Phrase]:
    """Find phrases in a text: a list of Phrase, by pass and falling score; errors as in `encode_corpus`.

    source, **reading : as for `data.encoded.encode_corpus`; min_count : int, at least 1, least occurrences of a pair
    threshold : float, optional, pairs with a higher score are phrases; default 10 for word2vec, .5 for npmi
    scoring : {"word2vec", "npmi"}; passes : int, at least 1; two find phrases of up to four words, and so on
    """
    from ..kernels.cooccurrence import pair_counts
    from .encoded import encode_corpus

    if scoring not in SCORES:
        raise ConfigError(f"scoring must be one of {', '.join(SCORES)}, not {scoring!r}")
    if min_count < 1 or passes < 1:
        raise ConfigError("min_count and passes must be at least 1")
    if passes > 1 and (isinstance(source, Iterator) or (is_paths(source) and any(map(is_stream, find_files(source))))):
        raise ConfigError("several passes read the text several times; give a file or a list of sentences")
    threshold = THRESHOLDS[scoring] if threshold is None else threshold
    check_threshold(scoring, threshold)
    found: list[Phrase] = []
    for level in range(1, passes + 1):
        corpus = encode_corpus(source, min_count=1, phrases=found, use_cache=False, **reading)
        counts, words = corpus.vocab.counts, corpus.vocab.words
        remedy = "use a part of the text"
        pairs = pair_counts(corpus.ids, corpus.offsets, len(words), 1, ordered=True, remedy=remedy).tocoo()
        often = pairs.data >= min_count
        a, b, together = pairs.row[often], pairs.col[often], pairs.data[often].astype(float)
        args = together, counts[a].astype(float), counts[b].astype(float), counts.sum(), len(words) + pairs.nnz
        scores = SCORES[scoring](*args, min_count)
        kept = scores > threshold
        rows = zip(*(column[kept].tolist() for column in (a, b, scores, together)), strict=True)
        some = [Phrase(words[first], words[second], score, int(seen), level) for first, second, score, seen in rows]
        found += sorted(some, key=lambda phrase: (-phrase.score, phrase.first, phrase.second))
    return found


def check_threshold(scoring, threshold):
    """Raise ConfigError if a threshold is outside the range of the score."""
    if scoring == "npmi" and not -1 <= threshold <= 1:
        raise ConfigError(f"npmi is between -1 and 1; give a threshold in this range, not {threshold!r}: 0.5 is usual")
    if scoring == "word2vec" and not 0 < threshold < np.inf:
        raise ConfigError(f"scores are positive; give a finite threshold above 0, not {threshold!r}: 10 is usual")


def phrases_in(source, *, progress=None, **reading):
    """Return the phrases found by default, from the cache if possible; ConfigError if a text can be read only once."""
    from .encoded.count import Settings
    from .encoded.encode import Cache

    files = find_files(source)
    stamps = list(map(file_stamp, files))
    if all(isinstance(file, InMemoryTable) for file in files):
        return find_phrases(files, progress=progress, **reading)
    if None in stamps:
        raise ConfigError(
            "--phrases auto reads the text twice, but standard input and pipes can be read only once; save the text to "
            "a file, or give a phrase file from 'w2vneg phrases'"
        )
    settings = Settings(min_count=1, **reading)
    place = cache_dir("phrases") / f"{_VERSION}-{Cache(files, stamps, settings).key(progress)}.tsv"
    if place.exists():
        with suppress(InputError):  # a damaged file is made again
            return read_phrases(place)
    found = find_phrases(files, progress=progress, **reading)
    with suppress(OSError, OutputError):  # the next run only has to search again
        place.parent.mkdir(parents=True, exist_ok=True)
        write_phrases(place, found)
    return found


def write_phrases(path, phrases) -> None:
    """Write ``first second<TAB>score<TAB>count<TAB>pass`` lines, atomically."""
    with atomic_file(path) as stream:
        for phrase in phrases:
            line = f"{phrase.first} {phrase.second}\t{phrase.score:.6g}\t{phrase.count}\t{phrase.level}\n"
            stream.write(line.encode())


def read_phrases(path) -> list[Phrase]:
    """Read the lines of `write_phrases`, or lines of just two words, or blank ones; InputError with file and line."""
    found = []
    text = read_text(path, "no such phrase file; 'w2vneg phrases' writes one")
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        words, *rest = line.split("\t")
        try:
            first, second = words.split()
            score, count, level = (float(rest[0]), int(rest[1]), int(rest[2])) if rest else (0.0, 0, 1)
            if level < 1:
                raise ValueError
        except (ValueError, IndexError):
            raise InputError(
                f"{path}:{number}: expected two words, perhaps with score, count, pass after tabs; found {line[:60]!r}"
            ) from None
        found.append(Phrase(first, second, score, count, level))
    return found


def lowered(phrases):
    """Return phrases (list) in lower case, for lower-cased text; of those that become equal, the first is kept."""
    found = {}
    for phrase in phrases:
        first, second = phrase.first.lower(), phrase.second.lower()
        found.setdefault((first, second, phrase.level), phrase._replace(first=first, second=second))
    return list(found.values())


def joined(pieces, phrases, tally=None):
    """Yield pieces of UTF-8 text with phrases joined by underscores, pass after pass; tally : Counter of "joins" """
    tally = Counter() if tally is None else tally
    for level in sorted({phrase.level for phrase in phrases}):
        pieces = _joined(pieces, [phrase[:2] for phrase in phrases if phrase.level == level], tally)
    return pieces


def none_found(scoring="word2vec", threshold=None):
    """Return advice for when `find_phrases` finds nothing with these options (str)."""
    least = THRESHOLDS[scoring] if threshold is None else threshold
    other = "--scoring npmi, " if scoring == "word2vec" else ""
    return f"no pair of words scores above {least:g}; try {other}a lower --threshold or --min-count"


def what_was_joined(phrases, joins, vocab):
    """Describe how often phrases were joined, or why none was (str); joins : int; vocab : Vocabulary after joining"""
    rows = vocab.words.find_all(f"{phrase.first}_{phrase.second}" for phrase in phrases)
    rows = np.unique(rows[rows >= 0])
    if joins:
        most = rows[np.argsort(-vocab.counts[rows], kind="stable")[:5]].tolist()
        shown = f"; the most frequent: {', '.join(vocab.words[row] for row in most)}" if most else ""
        return f"Phrases joined: {joins:,} times; in the vocabulary: {len(rows):,} of {len(phrases):,}{shown}."
    one = phrases[0]
    return (
        f"Warning: none of the {len(phrases):,} phrases, such as {f'{one.first} {one.second}'!r}, occurs in the text, "
        f"so none was joined; {_why_none(phrases, vocab)}."
    )


def _why_none(phrases, vocab):
    pairs = [(phrase.first, phrase.second) for phrase in phrases[:_LOOKED_AT]]
    if any(first in vocab.words and second in vocab.words for first, second in pairs):
        return "their words occur, but never side by side: find phrases in this text"
    folded = {word.lower() for word in vocab.words}
    if any({first.lower(), second.lower()} <= folded for first, second in pairs):
        return "their words occur, but with different capitalisation: find phrases in this text"
    return (
        "their words are not in the vocabulary: find phrases in this text, with the --tokenizer, --strip, --numbers "
        "and --lowercase of this run"
    )


def _joined(pieces, pairs, tally):
    from ..kernels.text.phrases import join, table_of
    from ..kernels.text.tokens import MARGIN, last_break, with_margins

    slots = table_of(pairs)

    def take(text, last):
        end = len(text) if last else last_break(np.frombuffer(text, np.uint8))
        if not end:
            return (text, len(text)) if len(text) > _LONGEST else (b"", 0)
        block = with_margins(memoryview(text)[:end])
        done = join(block, end, slots, last)
        piece = block[MARGIN : MARGIN + (end if last else done)].tobytes()
        tally["joins"] += piece.count(b"_") - text.count(b"_", 0, len(piece))
        return piece, len(piece)

    return taken(pieces, take)
