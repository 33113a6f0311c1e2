"""What the explorer answers: dicts that `json` can write, made of vectors and models side by side.

An expression is a word, a sum as ``king - man + woman``, or an analogy as ``man : king :: woman``. Signs stand between
blanks, so that words may hold them.
"""

from bisect import bisect_left, bisect_right
from inspect import signature
from itertools import accumulate

import numpy as np

from ...ground.errors import ConfigError, W2vnegError, did_you_mean
from ...vectors import Coarse, highest, lengths_of, top_rows
from ...vectors.evaluation import scores_of
from ...vectors.evaluation.recommend import ids_of
from ...vectors.evaluation.scores import are_dot_products
from ..figures.interactive import figure_json
from ..report.maps import map_of

LONGEST = 500  # characters of a question
MOST = 100  # answers to one
_COMPLETIONS = 12
_MANY = 10_000  # vectors that a copy in bytes pays for
_SIGNS = {"+": 1.0, "-": -1.0, "−": -1.0}
_KINDS = ("about", "complete", "near", "compare", "next", "word", "map")


class Answers:
    """Parameters: subjects : list of report.subjects.Subject, at least one; titles are those of the first.
    way : {"pca", "umap", "none"}, how maps are made

    Where rows and columns are of two kinds, users and items, only what comes next has titles.
    """

    def __init__(self, subjects, way="none"):
        self.subjects, self.way = subjects, way
        for one in subjects:
            if len(one.vectors) >= _MANY:
                one.vectors.build_coarse_index()
        self.titles = subjects[0].own_titles
        words = subjects[0].vectors.words
        lower = [word.lower() for word in words]
        order = sorted(range(len(lower)), key=lower.__getitem__)
        self._sorted, self._rows = [lower[row] for row in order], np.array(order, np.int32)
        self._called = Titles({word: title for word, title in self.titles.items() if word in words})
        self._maps = {}  # number of a subject -> figure in JSON, made at first use
        self._scorers = {one.name: _scorer(one.model) for one in subjects if self._recommends(one)}

    def about(self):
        """Return what the page says of the vectors, and which questions it can ask."""
        told = [
            {
                "name": one.name,
                "words": len(one.vectors),
                "noun": one.vectors.noun,
                "dim": one.vectors.dim,
                "any_spelling": one.vectors.spellings is not None,
                "next": self._recommends(one),
            }
            for one in self.subjects
        ]
        return {"subjects": told, "next": any(one["next"] for one in told), "map": self.way != "none"}

    def map(self, of="0"):
        """Return the map of one of the subjects, by its number: a figure in JSON (str)."""
        if self.way == "none":
            raise ConfigError("there is no map; start with --map pca or umap")
        number = self._numbered(of)
        if number not in self._maps:
            one = self.subjects[number]
            names = [one.title(word) for word in one.vectors.words]
            self._maps[number] = figure_json(map_of(one.vectors, self.way, "", names))
        return self._maps[number]

    def word(self, row="0", of="0"):
        """Return the word of a row."""
        words = self.subjects[self._numbered(of)].vectors.words
        if not _is_number(row) or int(row) >= len(words):
            raise ConfigError(f"no row {row!r} among {len(words):,}")
        return self._entry(words[int(row)])

    def _numbered(self, of):
        if not _is_number(of) or int(of) >= len(self.subjects):
            raise ConfigError(f"no vectors are number {of!r}; there are {len(self.subjects)}, from 0")
        return int(of)

    def answer(self, kind, **asked):
        """Answer a question of one of the kinds: what the method of this name returns.

        Raises
        ------
        ConfigError
            For another kind, other parts of a question, or one that is too long. UnknownNameError for unknown words.
        """
        if kind not in _KINDS:
            raise ConfigError(f"no question is called {kind!r}{did_you_mean(kind, _KINDS)}")
        if sum(map(len, map(str, asked.values()))) > LONGEST:
            raise ConfigError(f"a question has at most {LONGEST} characters")
        method = getattr(self, kind)
        known = list(signature(method).parameters)
        if not asked.keys() <= set(known):
            raise ConfigError(f"{kind} is asked otherwise: with {', '.join(known) or 'nothing'}")
        return method(**asked)

    def complete(self, q=""):
        """Return words that begin with `q`, the most frequent first; of items also those whose titles hold it."""
        begun = q.lower()
        if not begun:
            return {"words": []}
        rows = self._rows[bisect_left(self._sorted, begun) : bisect_left(self._sorted, begun + "\U0010ffff")]
        if len(rows) > _COMPLETIONS:
            rows = np.partition(rows, _COMPLETIONS)[:_COMPLETIONS]
        found = [self.subjects[0].vectors.words[row] for row in np.sort(rows).tolist()]
        found += [word for word in self._called.holding(begun, 2 * _COMPLETIONS) if word not in found]
        return {"words": [self._entry(word) for word in found[:_COMPLETIONS]]}

    def near(self, q="", k="12"):
        """Return the nearest of an expression, in each of the vectors; `only` tells what no other has."""
        columns = []
        for one in self.subjects:
            try:
                positive, negative = parsed(q, one.vectors)
                found = one.vectors.most_similar(positive, negative, k=_number(k))
            except W2vnegError as error:
                columns.append({"name": one.name, "error": str(error)})
                continue
            near = [self._entry(word) | {"score": score} for word, score in found]
            asked, rows = (
                [one.vectors.get_index(w, -1) for w in words] for words in (positive + negative, dict(found))
            )
            rows = {"asked": [row for row in asked if row >= 0], "rows": rows}
            columns.append({"name": one.name, "near": near, **rows})
        if all("error" in column for column in columns):
            raise ConfigError(columns[0]["error"])
        _mark_differences(columns)
        return {"columns": columns}

    def compare(self, a="", b="", k="12"):
        """Return the cosine of two words, the place of each among the other's nearest, and who is near to both."""
        columns = []
        for one in self.subjects:
            cosine, places, found = one.vectors.compared(a, b, _number(k))
            near = [self._entry(word) | {"score": score} for word, score in found]
            columns.append({"name": one.name, "cosine": cosine, "places": places, "near": near})
        return {"a": self._entry(a), "b": self._entry(b), "columns": columns}

    def next(self, items="", k="12"):
        """Return what comes next after items, one a line of `items`, and how much each of them contributes."""
        names = [item for item in items.split("\n") if item]
        if not names:
            raise ConfigError("what comes next is asked with an item or more")
        columns = []
        for one in self.subjects:
            if self._recommends(one):
                columns.append({"name": one.name, "near": self._next(one, names, _number(k))})
        if not columns:
            raise ConfigError("none of these was trained on items; train with --baskets, --ratings or --pairs")
        return {"items": [self._entry(name) for name in names], "columns": columns}

    def _next(self, subject, names, k):
        model = subject.model
        ids = ids_of(model, names)
        left_out = ids if model.vocab_out is model.vocab else []
        k = min(k, len(model.vocab_out) - len(set(left_out)))
        if k < 1:
            return []
        rows, scores, each = self._scorers[subject.name](ids, left_out, k)
        found = []
        for row, score, parts in zip(rows.tolist(), scores.tolist(), (each / len(ids)).T, strict=True):
            order = np.argsort(-parts, kind="stable").tolist()
            why = [self._entry(names[i]) | {"score": float(parts[i])} for i in order]
            found.append(_entry(model.vocab_out.words[row], subject.titles) | {"score": score, "why": why})
        return found

    def _recommends(self, subject):
        return subject.model is not None and not subject.model.config.traversal.of_words

    def _entry(self, word):
        return _entry(word, self.titles)


def _scorer(model):
    """Return what finds the targets that score highest for centres, of which it is given the ids, int (m,).

    It is also given rows to leave out and how many are asked for, and returns the rows, their scores, float64 (k,), and
    the score of each centre with each of them, (m, k). A score is the mean over the centres.
    """
    vectors_in, vectors_out = model.vectors_in, model.vectors_out
    if are_dot_products(model) and len(vectors_out) >= _MANY:
        coarse, lengths = Coarse.of(vectors_out), lengths_of(vectors_out)

        def by_bytes(ids, left_out, k):
            seeds = vectors_in[ids].astype(np.float64)
            rows, scores = highest(vectors_out, lengths, seeds.mean(axis=0), left_out, k, coarse)
            return rows, scores, seeds @ vectors_out[rows].T

        return by_bytes
    score = scores_of(model)

    def by_all(ids, left_out, k):
        each = score(ids)
        scores = each.mean(axis=0, dtype=np.float64)
        scores[left_out] = -np.inf
        rows = top_rows(scores, min(k, int(np.isfinite(scores).sum())))
        return rows, scores[rows], each[:, rows].astype(np.float64)

    return by_all


class Titles:
    """Titles that are searched as one text. Parameter: called : dict of str -> str, what each word is called"""

    def __init__(self, called):
        lines = [" ".join(title.lower().split()) + "\n" for title in called.values()]
        self._words, self._text = list(called), "".join(lines)
        self._ends = list(accumulate(map(len, lines)))

    def holding(self, part, most):
        """Return the words whose titles hold `part` in lower case, the first `most` of them (list of str)."""
        found, at = [], self._text.find(part)
        while at >= 0 and len(found) < most:
            number = bisect_right(self._ends, at)
            found.append(self._words[number])
            at = self._text.find(part, self._ends[number])
        return found


def _entry(word, titles):
    return {"word": word} | ({"title": titles[word]} if word in titles else {})


def parsed(text, vectors):
    """Return the positive and the negative words of an expression (two lists of str).

    Raises
    ------
    ConfigError
        If it is no word, sum or analogy.
    """
    words = text.split()
    if text.strip() in vectors:  # of items, blanks may be within
        return [text.strip()], []
    if len(words) == 5 and words[1] == ":" and words[3] == "::":
        a, _, b, _, c = words
        return [b, c], [a]
    if len(words) == 1:
        return words, []
    positive, negative, sign = [], [], 1.0
    for word in words:
        if sign is not None:
            if word in _SIGNS and word not in vectors:
                raise ConfigError(f"expected a word before {word!r}")
            (positive if sign > 0 else negative).append(word)
            sign = None
        elif word in _SIGNS:
            sign = _SIGNS[word]
        else:
            raise ConfigError(f"expected + or - before {word!r}; an analogy is written man : king :: woman")
    if not words or sign is not None:
        raise ConfigError("type a word, a sum as king - man + woman, or man : king :: woman")
    return positive, negative


def _is_number(text):
    """Whether a text is a whole number of no absurd length; Python converts no more than 4,300 digits."""
    return str(text).isdecimal() and len(str(text)) <= 18


def _number(k):
    """Return how many answers are asked for, at most `MOST` (int)."""
    if not _is_number(k) or int(k) < 1:
        raise ConfigError(f"expected a number of answers, not {k!r}")
    return min(int(k), MOST)


def _mark_differences(columns):
    """Say of each answer whether no other column has it."""
    words = [{entry["word"] for entry in column.get("near", ())} for column in columns]
    for number, column in enumerate(columns):
        others = [own for i, own in enumerate(words) if i != number and own]
        for entry in column.get("near", ()):
            entry["only"] = bool(others) and not any(entry["word"] in own for own in others)
