"""A recommender without vectors: item-item regression in closed form (`evaluation.scores`), used like other models.

>>> from w2vneg import Input, Slim
>>> shop = Slim().fit(Input("baskets", "orders.txt"))
>>> shop.recommend("bread", k=5)
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.sparse import coo_matrix, csr_matrix, identity

from .. import __version__
from ..config import TrainConfig
from ..data.encoded import Encoded
from ..data.encoded.pairs import ones_of
from ..data.inputs import Input, as_input, encode_input, settled
from ..data.vocab import Vocabulary
from ..ground.errors import ConfigError, InputError, NotTrainedError
from ..ground.files.atomic import atomic_folder, recover
from ..ground.files.bounded import read_json
from ..ground.files.npy import read_matrix
from ..vectors import Vectors
from ..vectors.evaluation.scores import SlimScores, Weights, check_penalty, default_of, fit_weights
from ..vectors.formats.folder import SLIM
from .folder import FILES, check_place
from .follow import say_what_was_read
from .model import Model
from .recommender import Recommender
from .state import Provenance, files_of_known, read_known_pairs

_FORMAT = 1
_SHAPING = "min_count", "max_vocab", "encoding", "lowercase"  # options of the vocabulary
_OPTIONS = "neighbours", "l2", "workers", *_SHAPING


@dataclass
class SlimModel:
    """The parts of a model that recommending and evaluating need."""

    vocab: Vocabulary  # of users; for baskets that of the items, as lists are for an item
    vocab_out: Vocabulary
    weights: Weights
    known: csr_matrix | None  # ones, (n_users, n_items)
    options: dict = field(default_factory=dict)  # neighbours and l2, as used
    lowercase: bool = False  # names were lower-cased
    given: dict = field(default_factory=dict)  # options of `Slim` for the next `fit`
    origin: Provenance = field(default_factory=Provenance)
    trained_on: csr_matrix | None = None  # as in `Model`

    @property
    def config(self):
        """The options that other modules read from a model (namespace)."""
        return SimpleNamespace(lowercase=self.lowercase, rectangular=self.vocab_out is not self.vocab)

    def scoring(self):
        """Return the scoring function of `scores.scores_of`."""
        has = identity(len(self.vocab), np.float32, "csr") if self.known is None else self.known
        return SlimScores(has, self.weights)

    def save(self, folder):
        """Write the folder atomically; OutputError if it holds something else."""
        check_place(folder)
        weights = self.weights
        with atomic_folder(folder, keep=lambda name: name not in FILES) as target:
            self.vocab_out.save(target / "vocab_out.tsv")
            if self.vocab is not self.vocab_out:
                self.vocab.save(target / "vocab.tsv")
            items = weights.items.tocoo()
            arrays = {"neighbours.npy": np.stack([items.row, items.col], axis=1).astype(np.int32)}
            arrays["weights.npy"] = np.concatenate([weights.base, items.data]).astype(np.float32)[:, None]
            for name, array in (arrays | files_of_known(self.known)).items():
                np.save(target / name, array)
            about = {"format": _FORMAT, "w2vneg": __version__, "lowercase": self.lowercase, **self.options}
            about |= {"given": self.given, "input": self.origin.input, "names": self.origin.names}
            (target / SLIM).write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder):
        """Read what `save` wrote; InputError names the file that is missing or does not fit."""
        folder = Path(folder)
        about = read_json(folder / SLIM, "missing; the folder is not a slim model")
        if not isinstance(about, dict) or about.get("format") != _FORMAT:
            raise InputError(f"{folder / SLIM}: not from a slim model of this version; rebuild it with 'w2vneg slim'")
        items = Vocabulary.load(folder / "vocab_out.tsv")
        users = Vocabulary.load(folder / "vocab.tsv") if (folder / "vocab.tsv").exists() else items
        places, values = read_matrix(folder / "neighbours.npy", np.int32), read_matrix(folder / "weights.npy")
        n = len(items)
        fits = places.shape[1] == 2 and values.shape == (n + len(places), 1) and np.isfinite(values).all()
        if not fits or places.min(initial=0) < 0 or places.max(initial=0) >= n:
            raise InputError(f"{folder / 'neighbours.npy'}: does not fit weights.npy and {n:,} items; it is damaged")
        matrix = coo_matrix((values[n:, 0], places.T), (n, n)).tocsr()
        known = None if users is items else read_known_pairs(folder, (len(users), n))
        if users is not items and known is None:
            raise InputError(f"{folder / 'known.npy'}: missing; the folder is not a complete model")
        options = {name: about.get(name) for name in ("neighbours", "l2")}
        weights = Weights(matrix, values[:n, 0].copy())
        given = about.get("given", {})
        model = cls(users, items, weights, known, options, about.get("lowercase") is True, given)
        if isinstance(about.get("input"), dict):
            model.origin.input, model.origin.names = about["input"], about.get("names", [])
        return model


class Slim(Recommender):
    """Item-item regression in closed form: each item is regressed on its nearest neighbours. New users need no fitting.
    Recommend, evaluate, save and load as with Word2Vec; there are no vectors.

    neighbours : int, optional, number of items that predict an item
    l2 : float, optional, penalty of the regression. The defaults depend on the data: 200 neighbours and l2=300 if users
        have more than 60 items on average, as with films, else 50 and 30.
    min_count, max_vocab, encoding, lowercase : as in `TrainConfig`
    workers : int, optional, number of threads; None uses all cores
    """

    def __init__(self, neighbours: int | None = None, l2: float | None = None, **options: Any) -> None:
        vars(self).update(dict.fromkeys(_OPTIONS))
        self.model: SlimModel | None = None
        self.set_params(neighbours=neighbours, l2=l2, **options)

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._given().items())})"

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return all options by name, None for those left open."""
        return {name: getattr(self, name) for name in _OPTIONS}

    def _given(self):
        return {name: value for name, value in self.get_params().items() if value is not None}

    def set_params(self, **params: Any) -> Slim:
        """Change options for the next `fit`; ConfigError if one is unknown or out of range."""
        if unknown := params.keys() - set(_OPTIONS):
            raise ConfigError(f"slim has no option {min(unknown)!r}; it has neighbours, l2, min_count, …")
        params = self.get_params() | params
        of_config = {name: value for name, value in params.items() if value is not None}
        check_penalty(of_config.pop("neighbours", 1), of_config.pop("l2", 1.0))
        TrainConfig(**of_config)  # checks their ranges
        vars(self).update(params)
        return self

    def fit(self, data: Any) -> Slim:
        """Fit to an `Input` of "pairs", "ratings" or "baskets", encoded data, or a table as for `Word2Vec.fit`.

        ConfigError or InputError for anything else
        """
        given = data = as_input(data)
        own = self._given()
        workers = own.pop("workers", None)
        if isinstance(data, Input):
            given = settled(data, own.get("encoding", "utf-8")).located()
            data = encode_input(given, **{name: own[name] for name in _SHAPING if name in own})
            say_what_was_read(data.report)
        has, users = _who_has_what(data)
        neighbours, l2 = default_of(has)
        options = {"neighbours": own.get("neighbours", neighbours), "l2": own.get("l2", l2)}
        weights = fit_weights(has, **options, workers=workers)
        self.report, items, lowercase = data.report, data.vocab_out, bool(own.get("lowercase"))
        self.model = SlimModel(users or items, items, weights, has if users else None, options, lowercase, own)
        if isinstance(given, Input) and not given.in_memory:
            self.model.origin.input = given.absolute().as_dict()
            self.model.origin.names = list(self.report.names)
        return self

    def save(self, folder: str | Path) -> None:
        """Write a model folder for 'w2vneg recommend' and 'w2vneg eval ranking'."""
        self._trained().save(folder)

    @classmethod
    def load(cls, folder: str | Path) -> Slim:
        """Load a folder that `save` wrote, with its options for `fit`; InputError if damaged or no slim model."""
        recover(folder)
        model = SlimModel.load(folder)
        try:
            slim = cls(**model.given)
        except (ConfigError, TypeError) as error:
            place = Path(folder, SLIM)
            raise InputError(f"{place}: 'given' does not hold options of slim ({error}); fix or remove it") from error
        slim.model = model
        return slim

    def _trained(self) -> Any:
        if self.model is None:
            raise NotTrainedError("nothing is learnt yet; call fit or load first")
        return self.model

    @property
    def vectors(self) -> Vectors:
        raise NotTrainedError("a slim model has no vectors; train a model with Word2Vec(loss='top-n')")

    def read_out(self, name: str | None = None) -> Vectors:
        return self.vectors


def _who_has_what(data):
    """Return the items of each user or basket, csr_matrix of ones (n, n_items), and the Vocabulary of users or None."""
    if not isinstance(data, Encoded):
        raise ConfigError("slim learns from users and items: give a table of them, or an Input of baskets or ratings")
    if data.traversal.paired:
        if data.vocab_out is data.vocab:
            what = "slim learns from users and items, but these are pairs of one kind of item"
            remedy = "give --rectangular, in Python rectangular=True, if they are users and items"
            raise ConfigError(f"{what}; {remedy}, or use --baskets or --ratings")
        return ones_of(data.matrix), data.vocab
    if data.traversal.of_words or not hasattr(data, "ids"):
        raise ConfigError("slim learns from users and items: use --pairs, --ratings or --baskets")
    shape = data.n_sentences, len(data.vocab)
    return ones_of(csr_matrix((np.ones(len(data), np.float32), data.ids, data.offsets), shape)), None


def load_recommender(folder):
    """Load the recommender in a folder, a `Model` or a `SlimModel`."""
    recover(folder)
    return SlimModel.load(folder) if (Path(folder) / SLIM).exists() else Model.load(folder)
