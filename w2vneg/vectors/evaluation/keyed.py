"""Evaluations that answer as those of gensim's KeyedVectors, which fold case and return plain tuples.

Of words that differ in case only, the first stands for all, as the most frequent one.
"""

import numpy as np

from ...ground.errors import InputError
from .analogy import answer_ranks, read_questions
from .similarity import read_pairs


def evaluate_word_pairs(vectors, path, restrict_vocab, case_insensitive, dummy4unknown):
    """Return SciPy's Pearson and Spearman correlations with human scores, and the share of unknown pairs in per cent.

    Parameters
    ----------
    vectors : Vectors
    path : str or Path
        See `similarity.read_pairs`.
    restrict_vocab : int or None
        Words in later rows are unknown.
    case_insensitive : bool
    dummy4unknown : bool
        Pairs with an unknown word count as cosine 0; otherwise they are left out.

    Raises
    ------
    InputError
        If fewer than two pairs are left.
    """
    from scipy import stats

    find, _ = _finder(vectors, restrict_vocab, case_insensitive)
    pairs = read_pairs(path)
    rows = np.array([[find(a), find(b)] for a, b, _ in pairs])
    known = (rows >= 0).all(axis=1)
    cosines, human = np.zeros(len(pairs)), np.array([score for _, _, score in pairs])
    cosines[known] = vectors.cosines(*rows[known].T)
    kept = np.ones(len(pairs), bool) if dummy4unknown else known
    if kept.sum() < 2:
        raise InputError(
            f"{path}: only {kept.sum()} of {len(pairs)} pairs have vectors for both words, too few for a correlation; "
            "train on more text or with a larger vocabulary"
        )
    figures = [correlate(human[kept], cosines[kept]) for correlate in (stats.pearsonr, stats.spearmanr)]
    return *figures, 100.0 * float(np.mean(~known))


def evaluate_word_analogies(vectors, path, restrict_vocab, case_insensitive, dummy4unknown):
    """Return the share of questions answered rightly, and what became of each; see `Vectors.evaluate_word_analogies`.

    Arguments are as for `evaluate_word_pairs`; the file as `analogy.read_questions` reads it.
    """
    find, rows = _finder(vectors, restrict_vocab, case_insensitive)
    places = np.zeros(len(vectors), np.int64)
    places[rows] = np.arange(len(rows))
    unit = vectors.unit[rows]
    sections = []
    for title, questions in read_questions(path):
        if case_insensitive:
            questions = [tuple(word.upper() for word in question) for question in questions]
        found = np.array([[find(word) for word in question] for question in questions], np.int64).reshape(-1, 4)
        known = (found >= 0).all(axis=1)
        right = np.zeros(len(questions), bool)
        if known.any():
            right[known] = answer_ranks(unit, places[found[known]]) == 0
        kept = np.flatnonzero(known | dummy4unknown).tolist()
        asked = [(questions[i], right[i]) for i in kept]
        sections.append(_section(title, asked))
    total = {key: [question for section in sections for question in section[key]] for key in ("correct", "incorrect")}
    sections.append({"section": "Total accuracy", **total})
    answered = len(total["correct"]) + len(total["incorrect"])
    if not answered:
        raise InputError(
            f"{path}: no question has vectors for all four words; train on more text or with a larger vocabulary"
        )
    return len(total["correct"]) / answered, sections


def _section(title, asked):
    correct = [question for question, right in asked if right]
    return {"section": title, "correct": correct, "incorrect": [question for question, right in asked if not right]}


def _finder(vectors, restrict_vocab, case_insensitive):
    """Return a function from a word to its row, -1 if unknown, and the rows that words may have, int64 (n_rows,)."""
    words = vectors.words[:restrict_vocab]
    if not case_insensitive:
        return (lambda word: row if (row := vectors.words.find(word)) < len(words) else -1), np.arange(len(words))
    rows = {}  # word in capitals -> its first row
    for row, word in enumerate(words):
        rows.setdefault(word.upper(), row)
    return (lambda word: rows.get(word.upper(), -1)), np.fromiter(rows.values(), np.int64, len(rows))
