"""Recommendations of a trained model, their evaluation on held-out pairs, and similar items and users.

A subclass provides `_trained`, which returns its Model, `vectors` and `read_out`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from ..data.words import text_of
from ..ground.errors import ConfigError
from ..vectors.named_rows import is_row, named

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    import numpy as np

    from ..data.encoded import HeldOut
    from ..data.inputs import Input
    from ..vectors import Vectors
    from ..vectors.evaluation.baselines import RankingEvaluation
    from ..vectors.evaluation.recommend import Recommendations
    from ..vectors.named_rows import Name
    from .model import Model

    Names: TypeAlias = Name | Iterable[Name]
    Pairs: TypeAlias = str | os.PathLike | Input | HeldOut | Iterable[Any]  # files, or tables in memory


class Recommender:
    """Recommender methods of a trained model."""

    if TYPE_CHECKING:  # what subclasses provide

        @property
        def vectors(self) -> Vectors: ...
        def _trained(self) -> Model: ...
        def read_out(self, name: str) -> Vectors: ...

    def evaluate_ranking(self, test: Pairs, **options: Any) -> RankingEvaluation:
        """Evaluate on held-out pairs, against baselines; see `evaluation.baselines.evaluate_with_baselines`."""
        from ..vectors.evaluation.baselines import evaluate_with_baselines

        return evaluate_with_baselines(self._trained(), test, **options)

    def recommend(
        self,
        items: Names,
        k: int = 10,
        exclude_known: Any = None,
        score: str | float = "raw",
        new_user: bool = False,
        only: Iterable[Name] | None = None,
    ) -> list[tuple[str, float]]:
        """Return the best targets for one or several items, or for one or several users.

        Parameters
        ----------
        items : str or sequence of str
            Items or users. A whole number is a name if there is one, else a row, unless most names are whole numbers.
        k : int
            Length of the list.
        exclude_known : path, sequence of paths, table in memory or Input, optional
            Known pairs: targets paired with any of `items` there are left out. None leaves out the users' training
            items; () leaves nothing out.
        score : "raw", "corrected", "slim+W" or float
            Dot products, raw or corrected for popularity; a number is the share of the correction. "slim+0.1" adds a
            tenth of the dot products to the scores of `Slim`, which is fitted anew in each call.
        new_user : bool
            `items` are the items of a new user; needs a model of users and items.
        only : sequence of str, optional
            Candidate targets, such as the items in stock; unknown ones are ignored.

        Returns a list of (name, score), best first; see `w2vneg.vectors.evaluation.recommend`.
        """
        from ..vectors.evaluation.baselines import read_known_of
        from ..vectors.evaluation.recommend import recommend, recommend_new

        model = self._trained()
        if new_user:
            if not (exclude_known is None or (isinstance(exclude_known, list | tuple) and not exclude_known)):
                raise ConfigError("new_user=True takes the history from items; leave exclude_known out")
            return recommend_new(model, items, k, score, only)
        known, _ = read_known_of((), exclude_known, model)
        return recommend(model, items, k, known, score, only)

    def recommend_many(
        self,
        items: Names | None = None,
        k: int = 10,
        exclude_known: Any = None,
        score: str | float = "raw",
        fold_in: Any = None,
        unknown: str | None = None,
        only: Iterable[Name] | None = None,
    ) -> Recommendations:
        """Return the best targets for each of many items or users; by default for all of them.

        Parameters
        ----------
        items : sequence of str, optional
        k, exclude_known, score, only
            As for `recommend`; known pairs are read once.
        fold_in : path or table in memory, optional
            (user, item) pairs of new or known users, whose vectors are computed from these items. Without `items`, the
            lists are for these users; their items are left out.
        unknown : {"error", "skip", "popular"}, optional
            Unknown names raise UnknownNameError, get no list, or get the most popular targets. The default is "skip"
            for the users of `fold_in`, else "error". A file without any known name is refused.

        Returns Recommendations: ``ids`` and ``scores``, arrays of (n, k), padded with -1 and -inf; iteration yields
        (name, list of (target, score)).
        """
        from ..vectors.evaluation.baselines import read_known_of
        from ..vectors.evaluation.folding import with_users
        from ..vectors.evaluation.recommend import recommend_many

        model, users, own, without, _ = with_users(self._trained(), fold_in)
        if items is None and users is not None:
            items, unknown = [*(model.vocab.words[user] for user in users.tolist()), *without], unknown or "skip"
        popular = items is not None and unknown == "popular"
        names = named(items, model.vocab.words, model.config.lowercase) if popular else ()
        known, had = read_known_of(names, exclude_known, model, own)
        return recommend_many(model, items, k, known, score, unknown or "error", without, had, only)

    def user_vector(self, items: Names, user: Name | None = None) -> np.ndarray:
        """Return the vector of a user with these items; its product with the output matrix gives the user's scores.

        The model does not change. Adding a purchase of a known user takes one step from that user's vector: about half
        a millisecond with 1,700 items, 20 with 100,000.

        items : sequence of str, or dict of str -> amount, all items of the user; user : str, optional, a user of the
            model from whose vector to start
        Returns ndarray, float32, (dim,); ConfigError or UnknownNameError if the model has no users, its scores are not
            dot products, or an item or the user is unknown
        """
        from ..vectors.evaluation.folding import user_vector

        return user_vector(self._trained(), items, user)

    def similar_items(self, item: Name, k: int = 10) -> list[tuple[str, float]]:
        """Return the nearest items by cosine: in the output matrix of users and items, else by the read-out."""
        model = self._trained()
        two_kinds = model.vocab_out is not model.vocab
        return (self.read_out("out") if two_kinds else self.vectors).most_similar(_key(item), k=k)

    def similar_users(self, user: Name, k: int = 10) -> list[tuple[str, float]]:
        """Return the nearest users by cosine; ConfigError unless the model has users and items."""
        model = self._trained()
        if model.vocab_out is model.vocab:
            raise ConfigError("this model has one kind of item and no users; use similar_items, or train rectangular")
        return self.read_out("in").most_similar(_key(user), k=k)


def _key(name):
    """Return a name as `Vectors` look it up: whole numbers may be rows, anything else is text."""
    return name if is_row(name) else text_of(name)
