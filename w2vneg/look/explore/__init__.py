"""Answers of the explorer, a local page that `app` serves: dicts that `json` can write.

An expression is a word, a sum such as ``king - man + woman``, or an analogy such as ``man : king :: woman``. Signs need
spaces around them, as words may contain them. For items, a title stands for its item.
"""

from bisect import bisect_left
from collections import Counter
from inspect import signature
from itertools import chain, islice

import numpy as np

from ...ground.errors import ConfigError, W2vnegError, did_you_mean
from ...vectors.vectors import rule_text
from ..figures.interactive import figure_json
from ..report.maps import map_of

LONGEST = 500  # characters of a question
ANSWERS = 12  # to a question
_COMPLETIONS = 12
_HAD = 100  # items of a user that are shown
_SIGNS = "+", "-", "−"
_KINDS = ("about", "complete", "near", "compare", "next", "user", "word", "map")


class Answers:
    """Answers about vectors and models side by side.

    subjects : list of report.subjects.Subject, at least one; titles are those of the first
    way : {"pca", "umap", "none"}, how to make maps
    """

    def __init__(self, subjects, way="none"):
        self.subjects, self.way = subjects, way
        self.titles = subjects[0].own_titles
        self._words = Completions(subjects[0].vectors.words)
        named = ((word, title) for word, title in self.titles.items() if word in subjects[0].vectors.words)
        self._called = [(word, " ".join(title.lower().split())) for word, title in named]
        self._with_users = [one for one in subjects if one.has_users]
        self._users = Completions(self._with_users[0].model.vocab.words) if self._with_users else None
        self._maps = {}  # number of a subject -> figure in JSON, made at first use

    def about(self):
        """Return a description of the vectors, and which questions the page can ask."""
        described = []
        for one in self.subjects:
            vectors = one.vectors
            known = {"words": len(vectors), "noun": vectors.noun, "dim": vectors.dim, "next": one.recommends}
            described.append({"name": one.name, **known, "any_spelling": vectors.spellings is not None})
        kinds = {"next": any(one["next"] for one in described), "users": bool(self._with_users)}
        return {"subjects": described, **kinds, "map": self.way != "none"}

    def map(self, of="0"):
        """Return the map of one of the subjects, by its index: a figure in JSON (str)."""
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
        if not 0 <= _whole(row) < len(words):
            raise ConfigError(f"no row {row!r} among {len(words):,}")
        return self._entry(words[_whole(row)])

    def _numbered(self, of):
        if not 0 <= _whole(of) < len(self.subjects):
            raise ConfigError(f"no vectors have number {of!r}; there are {len(self.subjects)}, from 0")
        return _whole(of)

    def answer(self, kind, **given):
        """Answer a question of one of the kinds: return the result of the method of this name.

        ConfigError for an unknown kind, unknown arguments, or a question that is too long; UnknownNameError for unknown
        words.
        """
        if kind not in _KINDS:
            raise ConfigError(f"unknown question {kind!r}{did_you_mean(kind, _KINDS)}")
        if sum(map(len, map(str, given.values()))) > LONGEST:
            raise ConfigError(f"a question has at most {LONGEST} characters")
        method = getattr(self, kind)
        known = list(signature(method).parameters)
        if not given.keys() <= set(known):
            raise ConfigError(f"{kind} takes other arguments: {', '.join(known) or 'nothing'}")
        return method(**given)

    def complete(self, q="", of=""):
        """Return words that begin with `q`, most frequent first; for items, also those whose titles contain it.

        of : "users" for users of a model that has them
        """
        begun = q.lower()
        if of == "users" and self._users is not None:
            return {"words": [{"word": word} for word in self._users.of(begun)]}
        found = self._words.of(begun)
        if begun:
            holding = (word for word, title in self._called if begun in title and word not in found)
            found = [*found, *islice(holding, _COMPLETIONS)]
        return {"words": [self._entry(word) for word in found[:_COMPLETIONS]]}

    def _meant(self, text):
        """Return the word of a text: itself if known, else the item with this title, or its only completion."""
        typed = " ".join(text.lower().split())
        if not self._called or any(text in one.vectors for one in self.subjects):
            return text
        found = [word for word, title in self._called if title == typed]
        found = found or [entry["word"] for entry in self.complete(typed)["words"]]
        return found[0] if len(found) == 1 else text

    def near(self, q=""):
        """Return the words nearest to an expression in each of the vectors, and the kin of a single word, with rules.

        `only` marks near words that no other of the vectors has.
        """
        named, q = [], self._meant(q)

        def near_of(one):
            positive, negative = parsed(q, one.vectors)
            found = one.vectors.most_similar(positive, negative, k=ANSWERS)
            words = positive + negative
            named.extend([] if named else [self._entry(word) for word in words])
            asked = [row for row in (one.vectors.get_index(word, -1) for word in words) if row >= 0]
            rows = [one.vectors.get_index(word, -1) for word, _ in found]
            kin = one.vectors.kin(*words)[:ANSWERS] if len(words) == 1 and one.vectors.rules else []
            related = [self._entry(other.word) | {"rule": rule_text(other)} for other in kin]
            return {"near": self._scored(found), "kin": related, "asked": asked, "rows": rows}

        columns = _columns(self.subjects, near_of)
        answers = [column["near"] for column in columns if column.get("near")]
        times = Counter(entry["word"] for entries in answers for entry in entries)
        for entry in chain(*answers):
            entry["only"] = len(answers) > 1 and times[entry["word"]] == 1
        return {"asked": named, "columns": columns}

    def compare(self, a="", b=""):
        """Return the cosine of two words, the rank of each among the other's neighbours, and words near both."""
        a, b = self._meant(a), self._meant(b)

        def compared_by(one):
            cosine, places, found = one.vectors.compared(a, b, ANSWERS)
            return {"cosine": cosine, "places": places, "near": self._scored(found)}

        return {"a": self._entry(a), "b": self._entry(b), "columns": _columns(self.subjects, compared_by)}

    def next(self, items=""):
        """Return recommendations after items, one per line of `items`, and how much each of them contributes."""
        names = [self._meant(item) for item in items.split("\n") if item]
        if not names:
            raise ConfigError("recommending needs at least one item")
        recommenders = [one for one in self.subjects if one.recommends]
        if not recommenders:
            raise ConfigError("none of these was trained on items; train with --baskets, --ratings or --pairs")
        columns = _columns(recommenders, lambda one: {"near": self._reasoned(one.list_for(names, ANSWERS))})
        return {"items": [self._entry(name) for name in names], "columns": columns}

    def user(self, q=""):
        """Return a user's items, and what each model of users and items recommends, with reasons."""
        if not self._with_users:
            raise ConfigError("none of these has users; train with --ratings or --pairs")
        had = []

        def list_by(one):
            found, has = one.list_of(q.strip(), ANSWERS)
            had.extend([] if had else [self._entry(one.model.vocab_out.words[row]) for row in has[:_HAD].tolist()])
            return {"near": self._reasoned(found)}

        return {"columns": _columns(self._with_users, list_by), "items": had}

    def _scored(self, found):
        return [self._entry(word) | {"score": score} for word, score in found]

    def _reasoned(self, found):
        near = self._scored(one[:2] for one in found)
        return [entry | {"why": self._scored(why)} for entry, (*_, why) in zip(near, found, strict=True)]

    def _entry(self, word):
        return {"word": word} | ({"title": self.titles[word]} if word in self.titles else {})


class Completions:
    """Case-insensitive completion. words : sequence of str, most frequent first"""

    def __init__(self, words):
        lower = [word.lower() for word in words]
        order = sorted(range(len(lower)), key=lower.__getitem__)
        self._words, self._sorted, self._rows = words, [lower[row] for row in order], np.array(order, np.int32)

    def of(self, begun):
        """Return the first words that begin with a text in lower case (list of str), none for an empty one."""
        first, end = (bisect_left(self._sorted, text) for text in (begun, begun + "\U0010ffff"))
        rows = np.sort(self._rows[first:end])[:_COMPLETIONS]
        return [self._words[row] for row in rows.tolist()] if begun else []


def parsed(text, vectors):
    """Return the positive and the negative words of an expression (two lists); ConfigError if it is invalid."""
    words = text.split()
    if text.strip() in vectors:  # items may contain spaces
        return [text.strip()], []
    if len(words) == 1:
        return words, []
    if len(words) == 5 and words[1] == ":" and words[3] == "::":
        a, _, b, _, c = words
        return [b, c], [a]
    for place, word in enumerate(words):
        if place % 2 == 0 and word in _SIGNS and word not in vectors:
            raise ConfigError(f"expected a word before {word!r}")
        if place % 2 == 1 and word not in _SIGNS:
            raise ConfigError(f"expected + or - before {word!r}; an analogy is written man : king :: woman")
    if len(words) % 2 == 0:
        raise ConfigError("type a word, a sum such as king - man + woman, or man : king :: woman")
    terms = list(zip(["+", *words[1::2]], words[::2], strict=True))
    return [word for sign, word in terms if sign == "+"], [word for sign, word in terms if sign != "+"]


def _whole(text):
    """Return a text as a whole number, -1 if it is not one or too long; Python converts at most 4,300 digits."""
    return int(text) if str(text).isdecimal() and len(str(text)) <= 18 else -1


def _columns(subjects, answer):
    """Return the name of each subject and its answer (list of dict), or its error.

    answer : function of a subject that returns a dict; if no subject has an answer, the first error is raised
    """
    columns, errors = [], []
    for one in subjects:
        try:
            columns.append({"name": one.name, **answer(one)})
        except W2vnegError as error:
            errors.append(error)
            columns.append({"name": one.name, "error": str(error)})
    if len(errors) == len(columns):
        raise errors[0]
    return columns
