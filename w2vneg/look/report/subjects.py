"""Subjects of a report: vectors, and the run that made them, if known."""

import os
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...data import catalog
from ...data.words import as_word
from ...ground.errors import ConfigError, W2vnegError
from ...ground.files.bounded import read_json
from ...run.model import Model
from ...vectors import Vectors, top_rows
from ...vectors.evaluation import scores_of
from ...vectors.evaluation.folding import ids_of, user_vector

_REASONS = 3


@dataclass
class Subject:
    """name : str, its name in the report; path : str; vectors : Vectors
    model : run.model.Model, or None for a file of vectors; versions : dict of str, of the software that trained it
    titles : dict of str -> str, titles of items
    """

    name: str
    path: str
    vectors: Vectors
    model: object = None
    versions: dict = field(default_factory=dict)
    titles: dict = field(default_factory=dict)

    def records(self, event):
        """Return the events of one kind, list of dict; only the last one of an epoch that was repeated."""
        history = [] if self.model is None else self.model.history
        found = [record for record in history if record.get("event") == event]
        return list({record.get("epoch"): record for record in found}.values())

    @property
    def of_words(self):
        """Whether the vectors may be those of words; True for a file, which does not say."""
        return self.model is None or self.model.config.traversal.of_words

    @property
    def recommends(self):
        """Whether it is a model of items, or of users and items, that can recommend."""
        return self.model is not None and self.model.config.traversal.recommends

    @property
    def has_users(self):
        """Whether it is a model of users and items; its vectors are those of the items."""
        return self.recommends and self.model.vocab_out is not self.model.vocab

    def list_of(self, user, k):
        """Return the list of a known user, as `list_for` does, and the rows of the user's items."""
        model = self.model
        (row,) = ids_of(model, [user])
        has = np.empty(0, np.int64) if model.known is None else model.known[row].indices.astype(np.int64)
        return self._list(scores_of(model)(np.array([row]))[0], has, k, self._cosines), has

    def list_for(self, items, k):
        """Recommend after `items`, or for a new user who has them: list of (word, score, reasons), best first.

        Reasons are a few (item, number), strongest first: what each item adds to the score or, for users and items,
        the cosine with it.
        """
        model = self.model
        if self.has_users:
            x = user_vector(model, items)
            has = model.vocab_out.words.find_all([as_word(item, model.config.lowercase) for item in items])
            return self._list(model.vectors_out @ x, has.astype(np.int64), k, self._cosines)
        has = ids_of(model, items)
        each = scores_of(model)(has).astype(np.float64) / len(has)
        return self._list(each.sum(axis=0), has, k, lambda rows, has: each[:, rows].T)

    def _cosines(self, rows, has):
        return self.vectors.unit[rows] @ self.vectors.unit[has].T

    def _list(self, scores, has, k, reasons):
        scores, words = np.array(scores, np.float64), self.model.vocab_out.words
        scores[has] = -np.inf
        rows = top_rows(scores, min(k, int(np.isfinite(scores).sum())))
        found = []
        for row, parts in zip(rows.tolist(), reasons(rows, has), strict=True):
            best = np.argsort(-parts, kind="stable")[:_REASONS].tolist()
            found.append((words[row], float(scores[row]), [(words[has[i]], float(parts[i])) for i in best]))
        return found

    @cached_property
    def own_titles(self):
        """Titles of the words of the vectors; none if these are not items, as with a read-out of users."""
        model = self.model
        return self.titles if model is None or self.vectors.words == model.vocab_out.words else {}

    def title(self, word):
        """Return the title of a word of the vectors, or the word itself."""
        return self.own_titles.get(word, word)


def load_subjects(paths, readout=None, titles=None, any_spelling=False):
    """Load model folders and files of vectors (list of Subject), with the shortest names that are distinct.

    With `any_spelling`, unknown words get vectors by their spelling if possible.
    """
    subjects = []
    for name, path in zip(short_names(paths), paths, strict=True):
        folder = Path(path)
        model, versions = None, {}
        if (folder / "config.json").is_file():
            model = Model.load(folder)
            versions = read_json(folder / "versions.json", "missing") if (folder / "versions.json").is_file() else {}
        versions = versions if isinstance(versions, dict) else {}
        subject = Subject(name, str(path), None, model, versions, dict(titles or {}))
        own = ("out" if subject.has_users else None) if readout is None or model is None else readout
        subject.vectors = _vectors(path, own, any_spelling)
        subjects.append(subject)
    return subjects


def _vectors(path, readout, any_spelling):
    if any_spelling:
        with suppress(ConfigError):  # it knows only its words; other errors are reported below
            return Vectors.load(path, readout=readout, oov="letters")
    return Vectors.load(path, readout=readout)


def short_names(paths):
    """Return the last parts of paths, as many as make them distinct (list of str)."""
    parts = [os.path.normpath(os.fspath(path)).split(os.sep) for path in paths]
    for n in range(1, 1 + max(map(len, parts))):
        names = ["/".join(own[-n:]) for own in parts]
        if len(set(names)) == len(names):
            return names
    return [f"{name} ({number})" for number, name in enumerate(names, 1)]


class EvaluationSet(NamedTuple):
    """name : str; path : Path; tags : bool or None, whether to remove lemma tags"""

    name: str
    path: Path
    tags: bool | None


def sets_at_hand(names, mirror=None):
    """Return the named sets that are on this machine (list of EvaluationSet); nothing is downloaded."""
    found = []
    for name in names:
        with suppress(W2vnegError):
            if path := catalog.at_hand(name, mirror):
                found.append(EvaluationSet(name, path, catalog.info(name).tags))
    return found
