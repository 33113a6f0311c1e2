"""Analogy questions "a is to b as c is to d", answered by 3CosAdd on unit vectors.

The answer is the word w with the highest ``cos(w, b − a + c)``, where a, b, c are scaled to unit length and are never
answers themselves. P@k is the share of the scored questions whose d is among the k best. Questions with an unknown word
are left out and counted.

With a lower-case vocabulary the figures equal those of gensim's ``evaluate_word_analogies``.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...ground.errors import ConfigError, InputError, check_whole
from ...kernels.evaluation.ranking import count_better
from .lookup import MORE, Lookup, Result, gensims_lookup, read_lines

KS = (1, 5, 15)
_GRAMMAR = re.compile(r"gram[0-9]")  # prefix of the Google set's grammar sections
_MEANING = "capital-common-countries", "capital-world", "currency", "city-in-state", "family"  # its other prefixes
_HEAD = re.compile(r"(?i)(word|w|term)_?[1-4a-d]|target|answer|expected")
HALVES = {"dev": 0, "test": 1}  # half -> parity of a question's position in its section
NEVER = np.iinfo(np.int64).max  # the rank of an answer that is a word of its own question


@dataclass(frozen=True)
class SectionScore:
    """Precision over sections. kind : {"semantic", "syntactic", "all"}, "" for a section of neither kind

    precision : dict of k -> P@k, None if none was scored; scored, total : int, questions with four known words, and all
    """

    name: str
    kind: str
    precision: dict | None
    scored: int
    total: int


@dataclass(frozen=True)
class AnalogyResult(Result):
    """Accuracy on analogy questions.

    `sections` named as in the Google set are semantic or syntactic; if none is, both totals are None.

    name, path : str, the set, and the file it was read from; half, restrict_vocab : as requested
    semantic, syntactic : SectionScore over the sections of that kind, or None; unknown, lowered : see `Lookup`
    """

    name: str
    path: str
    half: str | None
    restrict_vocab: int | None
    overall: SectionScore
    semantic: SectionScore | None
    syntactic: SectionScore | None
    sections: list
    unknown: int
    lowered: int


def evaluate_analogy(vectors, path, name=None, restrict_vocab=None, half=None, case="lower"):
    """Answer the analogy questions of a file; returns an `AnalogyResult`.

    path : str or Path, a file with lines ``: section`` and lines of four words; see `read_questions`
    name : str, optional, name of the set; its file name by default
    restrict_vocab : int, at least 1, optional, know only the first `restrict_vocab` words, also as answers
    half : {None, "dev", "test"}, all questions, or the 1st, 3rd, 5th … of each section ("dev"), or the others ("test")
    case : see `Lookup`

    InputError if the file is missing or has a bad line, or no question can be scored.
    """
    check_whole("restrict_vocab", 1 if restrict_vocab is None else restrict_vocab)
    if half is not None and half not in HALVES:
        raise ConfigError(f"half must be dev or test, not {half!r}")
    sections = read_questions(path)
    if half is not None:
        sections = [(title, questions[HALVES[half] :: 2]) for title, questions in sections]
    lookup = Lookup(vectors, case, restrict_vocab)
    found = [_rows(lookup, questions) for _, questions in sections]
    found = [rows[(rows >= 0).all(axis=1)] for rows in found]
    questions, total = np.concatenate(found), sum(len(questions) for _, questions in sections)
    if not len(questions):
        raise InputError(f"{path}: none of the {total} questions has vectors for all four words; {MORE}")
    ranks = answer_ranks(vectors.unit[:restrict_vocab], questions)
    parts = np.split(ranks, np.cumsum([len(rows) for rows in found])[:-1])
    scores = []
    for (title, questions), part in zip(sections, parts, strict=True):
        kind = "syntactic" if _GRAMMAR.match(title) else "semantic" if title.startswith(_MEANING) else ""
        scores.append(_score(title, kind, part, len(questions)))
    overall = _score("all", "all", ranks, total)
    of_kinds = (_total(kind, scores, parts) for kind in ("semantic", "syntactic"))
    counts = len(lookup.unknown), len(lookup.lowered)
    return AnalogyResult(name or Path(path).name, str(path), half, restrict_vocab, overall, *of_kinds, scores, *counts)


def evaluate_word_analogies(
    vectors, path, restrict_vocab=300_000, case_insensitive=True, dummy4unknown=False, may_be_empty=False
):
    """Answer questions as gensim does; see `Vectors.evaluate_word_analogies`."""
    find, rows = gensims_lookup(vectors, restrict_vocab, case_insensitive)
    places = np.zeros(len(vectors), np.int64)
    places[rows] = np.arange(len(rows))
    unit, sections = vectors.unit[rows], []
    for title, questions in read_questions(path):
        if case_insensitive:
            questions = [tuple(word.upper() for word in question) for question in questions]
        found = _rows(find, questions)
        known = (found >= 0).all(axis=1)
        right = np.zeros(len(questions), bool)
        if known.any():
            right[known] = answer_ranks(unit, places[found[known]]) == 0
        kept = np.flatnonzero(known | dummy4unknown).tolist()
        correct, incorrect = ([questions[i] for i in kept if right[i] == way] for way in (True, False))
        sections.append({"section": title, "correct": correct, "incorrect": incorrect})
    total = {key: [question for section in sections for question in section[key]] for key in ("correct", "incorrect")}
    answered = len(total["correct"]) + len(total["incorrect"])
    if not (answered or may_be_empty):
        raise InputError(f"{path}: no question has vectors for all four words; {MORE}")
    return len(total["correct"]) / max(1, answered), [*sections, {"section": "Total accuracy", **total}]


def answer_ranks(unit, questions):
    """Return how many words are better answers than the right one, not counting the question's words, int64 (n,).

    `NEVER` if the answer is one of the question's words. Ties are in row order.
    unit : float32, (n_words, dim), vectors of unit length; questions : int, (n, 4), rows of a, b, c and d
    """
    questions = np.ascontiguousarray(questions, dtype=np.int64)
    ranks = count_better(np.ascontiguousarray(unit), questions)
    ranks[(questions[:, 3:] == questions[:, :3]).any(axis=1)] = NEVER
    return ranks


def _rows(find, questions):
    return np.array([[find(word) for word in question] for question in questions], np.int64).reshape(-1, 4)


def _score(title, kind, ranks, total):
    precision = {k: float(np.mean(ranks < k)) for k in KS} if len(ranks) else None
    return SectionScore(title, kind, precision, len(ranks), total)


def _total(kind, scores, parts):
    chosen = [(score, part) for score, part in zip(scores, parts, strict=True) if score.kind == kind]
    if not chosen:
        return None
    ranks = np.concatenate([part for _, part in chosen])
    return _score(kind, kind, ranks, sum(score.total for score, _ in chosen))


def read_questions(path):
    """Read analogy questions from lines ``: section`` and four words: list of (section, list of four-tuples of str).

    Lines that start with ``//`` are comments; questions before the first section form one, ``questions``. A first line
    of column names, such as word1 word2 word3 target, is a header.
    """
    sections, lines = [], [(number, line) for number, line in read_lines(path) if not line.startswith("//")]
    for number, line in lines:
        if number == lines[0][0] and all(map(_HEAD.fullmatch, line.split())):
            continue
        if line.startswith(":"):
            title = line[1:].strip()
            if not title:
                raise InputError(f"{path}:{number}: expected the name of a section after the colon; add one")
            sections.append((title, []))
            continue
        words = line.split()
        if len(words) != 4:
            found = f"{len(words)} word{'s' * (len(words) != 1)} ({line.strip()[:40]!r})"
            expected = f"{path}:{number}: expected four words or ': section'"
            if len(words) == 2:
                found += ", as in BATS: join two such pairs of a relation into one line"
            raise InputError(f"{expected}, found {found}; correct or remove the line")
        if not sections:
            sections.append(("questions", []))
        sections[-1][1].append(tuple(words))
    if not any(questions for _, questions in sections):
        raise InputError(f"{path} holds no analogy question; expected four words per line")
    return sections
