"""What a trained model recommends: its lists, their judgement on held-out pairs, and who is like whom.

A class that has it answers `_trained` with its Model, `vectors` and `read_out`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from ..data.words import text_of
from ..ground.errors import ConfigError
from ..vectors.names import is_row, named

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
    """Questions of a shop to a trained model."""

    if TYPE_CHECKING:  # what the answers stand on

        @property
        def vectors(self) -> Vectors: ...
        def _trained(self) -> Model: ...
        def read_out(self, name: str) -> Vectors: ...

    def evaluate_ranking(self, test: Pairs, **options: Any) -> RankingEvaluation:
        """Rank the held-out pairs of a file beside baselines; see `evaluation.baselines.evaluate_with_baselines`."""
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
        """Return the targets expected next after one or several items, or by one or several users.

        Parameters
        ----------
        items : str or sequence of str
            Or numbers: names, or else rows, unless most names are whole numbers.
        k : int
        exclude_known : path, sequence of paths, table in memory or Input, optional
            Pairs that are no news: what stands with any of the items there is left out. None: what users had in
            training; () leaves nothing out.
        score : "raw", "corrected", "slim+W" or float
            Dot products, or corrected for popularity; a number is the share of the correction. "slim+0.1" adds a tenth
            of the dot products to the scores of `Slim`, which is learnt anew in each call.
        new_user : bool
            Of a model of users and items: `items` are what somebody has whom training did not see.
        only : sequence of str, optional
            The targets that the list may hold, such as what is in stock; those that the model does not know are passed
            over.

        Returns a list of (name, score), the best first; see `w2vneg.vectors.evaluation.recommend`.
        """
        from ..vectors.evaluation.baselines import read_known_of
        from ..vectors.evaluation.recommend import recommend, recommend_new

        model = self._trained()
        if new_user:
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
        """Return what comes next after each of many items, or for each of many users; for all if none are named.

        Parameters
        ----------
        items : sequence of str, optional
        k, exclude_known, score, only
            As for `recommend`; known pairs are read once.
        fold_in : path or table in memory, optional
            (user, item) of users, seen by training or not, whose vectors are to be made of these items. Without
            `items` the lists are theirs; what they have is left out.
        unknown : {"error", "skip", "popular"}, optional
            Unknown names get UnknownNameError, no list, or the most popular; by default, users of `fold_in` no list. A
            file of which nothing is known is refused.

        Returns Recommendations: ``ids`` and ``scores``, arrays of (n, k), -1 and -inf where a list is shorter; iterated
        (name, list of (target, score)).
        """
        from ..vectors.evaluation.baselines import read_known_of
        from ..vectors.evaluation.folding import with_users
        from ..vectors.evaluation.recommend import recommend_many

        model, users, own, without, _ = with_users(self._trained(), fold_in)
        if items is None and users is not None:
            items, unknown = [*(model.vocab.words[user] for user in users.tolist()), *without], unknown or "skip"
        names = (
            named(items, model.vocab.words, model.config.lowercase)
            if items is not None and unknown == "popular"
            else ()
        )
        known, had = read_known_of(names, exclude_known, model, own)
        return recommend_many(model, items, k, known, score, unknown or "error", without, had, only)

    def user_vector(self, items: Names, user: Name | None = None) -> np.ndarray:
        """Return the vector of somebody who has these items, for scores in one product with the output matrix.

        The model stays as it is. A purchase of a user that it knows takes a step from that user's vector, in well under
        a millisecond for some thousand items.

        items : sequence of str, or dict of str -> amount, all that the user has; user : str, optional, a user of the
            model near whom to begin
        Returns ndarray, float32, (dim,); ConfigError or UnknownNameError if the model has no users, its scores are no
            dot products, or it does not know an item or the user
        """
        from ..vectors.evaluation.folding import user_vector

        return user_vector(self._trained(), items, user)

    def similar_items(self, item: Name, k: int = 10) -> list[tuple[str, float]]:
        """Return the items nearest to one by cosine: of users and items by the output matrix, else by the read-out."""
        model = self._trained()
        two_kinds = model.vocab_out is not model.vocab
        return (self.read_out("out") if two_kinds else self.vectors).most_similar(_key(item), k=k)

    def similar_users(self, user: Name, k: int = 10) -> list[tuple[str, float]]:
        """Return the users nearest to one by cosine; ConfigError unless the model is one of users and items."""
        model = self._trained()
        if model.vocab_out is model.vocab:
            raise ConfigError("this model has items of one kind and no users; ask similar_items, or train rectangular")
        return self.read_out("in").most_similar(_key(user), k=k)


def _key(name):
    """Return a name as `Vectors` ask for it: whole numbers may be rows, all else is text."""
    return name if is_row(name) else text_of(name)
