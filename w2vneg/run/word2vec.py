"""The estimator: `Word2Vec` takes options, `fit` takes a corpus and returns vectors.

>>> from w2vneg import Word2Vec
>>> vectors = Word2Vec(loss="relaxed", temp=1.0, dim=100).fit("corpus.txt")
>>> vectors.most_similar("king")
"""

from __future__ import annotations

import dataclasses
import inspect
import os
import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ..config import RunSpec, TrainConfig
from ..config.compatibility import about_cosines
from ..config.synonyms import GENSIM, GENSIM_METHODS, GENSIM_SETTINGS, SYNONYMS, from_gensim
from ..config.table import options_of_users, table
from ..data.encoded import Encoded
from ..data.sources import noun_of
from ..ground.errors import ConfigError, NotTrainedError
from ..ground.events import penalty_chosen
from ..ground.jit import watched
from ..objectives.plugins import absolute_plugins, load_plugins
from ..objectives.readout import parse
from ..vectors import Vectors, spells, with_spellings
from .checkpoints import Checkpoints
from .conductor import Run, doubts_of, resolve
from .follow import LOG, Followers, log, say_what_was_read
from .model import Model, read_out
from .prior import Prior, check_goes_on, config_to_grow, gentler, left_open
from .recommender import Recommender

if TYPE_CHECKING:
    from ..data.inputs import Input
    from ..data.vocab import Vocabulary
    from .recommender import Pairs
    from .trainer import Trainer
    from .validation import Validate, Validation

    Corpus: TypeAlias = "str | os.PathLike | Input | Encoded | Iterable[Any]"


_OF_DATA = "source", "rectangular"  # options that an Input sets itself
_PLUGS = "loss", "sampler", "weigher", "inputs"
_AT_WORK: dict[int, object] = {}  # id of each Word2Vec whose `fit` is running


def with_options(config, options):
    """Return a configuration with these options changed, after loading the plug-in that they name.

    config : TrainConfig or None; None starts from the defaults
    options : dict of str -> value; gensim's names are accepted, too (`config.synonyms`)
    ConfigError if an option is unknown or out of range
    """
    if isinstance(options.get("plugin"), os.PathLike):
        options = options | {"plugin": os.fspath(options["plugin"])}
    load_plugins(options.get("plugin"))  # it may define some of the other options
    options = from_gensim(options)
    if config is None:
        return TrainConfig.from_mapping(options, "Word2Vec")
    options = {"plugin": config.plugin} | options
    return dataclasses.replace(config, **options | {"plugin": absolute_plugins(options["plugin"])})


def _followed_by(valid, listeners, checkpoints):
    """Normalise arguments of `fit`: return a Validate, Validation or None; a list of callables; Checkpoints or None.

    ConfigError if an argument has another type
    """
    if valid is not None:
        from .validation import Validate, Validation

        valid = valid if isinstance(valid, Validate | Validation) else Validate(valid)
    listeners = list(listeners) if isinstance(listeners, Iterable) else [None]
    if not all(map(callable, listeners)):
        raise ConfigError("listeners must be a list of callables taking an event: fit(…, listeners=[print])")
    if isinstance(checkpoints, str | os.PathLike):
        checkpoints = Checkpoints(checkpoints)
    if checkpoints is not None and not isinstance(checkpoints, Checkpoints):
        raise ConfigError(f"checkpoints must be the folder to save to, not {checkpoints!r:.60}; name one")
    return valid, listeners, checkpoints


def _validation(valid, run):
    """Return the `Validation` of a `Run` whose data are encoded, or None; valid : as returned by `_followed_by`"""
    return valid.of(run.encoded, run.given.lowercase, run.own_input) if hasattr(valid, "of") else valid


def _read_only(array):
    view = array.view()
    view.flags.writeable = False
    return view


@contextmanager
def _alone(word2vec):
    """Refuse concurrent `fit` calls on one object, by a thread or a listener: one of the results would be lost."""
    mine = object()
    if _AT_WORK.setdefault(id(word2vec), mine) is not mine:
        raise ConfigError("fit is already running on this Word2Vec; wait until it returns, or train another object")
    try:
        yield
    finally:
        del _AT_WORK[id(word2vec)]


def _option(name):
    """Return the option (dataclasses.Field) that `set_params` sets by this name, ours or gensim's; None if unknown."""
    item = table().get(SYNONYMS[name] if name in GENSIM else name)
    return None if item is None or item.metadata["group"] is None else item


class _Signature:
    """A class signature built on each access, with the options of all plugs registered by then."""

    def __get__(self, instance, owner):
        options = [
            inspect.Parameter(item.name, inspect.Parameter.KEYWORD_ONLY, default=item.default, annotation=item.type)
            for item in options_of_users()
        ]
        config = inspect.Parameter("config", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None)
        return inspect.Signature([config, *options])


class Word2Vec(Recommender):
    """Skip-gram embeddings with a choice of loss, sampler and weigher.

    Parameters
    ----------
    config : TrainConfig, optional
        All options in one object, instead of `options`.
    **options
        Fields of `TrainConfig`: ``loss="relaxed"``, ``temp=1.0``, ``dim=100``, ``window=5``, ``epochs=5``, …
        gensim's names for the same options also work: ``vector_size=100``, ``sg=1``, ``negative=5``, …

    `fit` sets `model`, a Model with both matrices, vocabulary, resolved configuration and history; `vectors`, the
    vectors of the trained words by the configured read-out; and `complete`, False after Ctrl-C. ConfigError if an
    option is unknown or out of range.
    """

    __signature__ = _Signature()

    def __init__(self, config: TrainConfig | RunSpec | None = None, **options: Any) -> None:
        if isinstance(config, RunSpec):  # of a model
            config = TrainConfig(**config.flat())
        if config is not None and not isinstance(config, TrainConfig):
            raise ConfigError("Word2Vec takes options; training is done by fit: Word2Vec(…).fit(corpus)")
        if config is not None and options:
            raise ConfigError("give either a TrainConfig or options by name, not both")
        self.config = with_options(config, options)
        self._kind = {name: getattr(self.config, name) for name in _OF_DATA}  # as given; `fit` overwrites them
        self._model: Model | None = None
        self._folder: str | None = None  # of the model, if it was loaded and not trained since
        self._changed = {"alpha", "epochs"}  # those set since the model was trained or loaded
        self._read: Any = None, None, None  # cache of `wv`: the model, its position and its vectors

    def fit(
        self,
        corpus: Corpus,
        y: Any = None,
        *,
        vocab: Vocabulary | str | Path | None = None,
        vocab_out: Vocabulary | str | Path | None = None,
        listeners: Sequence[Callable[[Any], None]] = (),
        progress: bool | Callable[[int, int | None], None] | None = None,
        diagnose: bool = False,
        valid: Pairs | Validate | Validation | None = None,
        checkpoints: str | Path | Checkpoints | None = None,
        init: str | Path | Vectors | Model | Word2Vec | None = None,
        update: bool = False,
        freeze: bool = False,
    ) -> Vectors:
        """Train on a corpus.

        Parameters
        ----------
        corpus : str, Path, Input, iterable of token lists, DataFrame, EncodedCorpus or EncodedPairs
            A file, folder, glob or named corpus; sentences as lists of str; or an `Input` for baskets, ratings, pairs,
            counts or graph edges, in files or in memory. A DataFrame with columns user and item, or item and target,
            and a sparse matrix that is not square, are read as pairs. Encoded data are used as they are.
        y : None
            Ignored; scikit-learn's pipelines and searches pass it.
        vocab, vocab_out : Vocabulary or path, optional
            Fixed ones, not the corpus's own; `vocab_out`, of columns, with rectangular data only, else ConfigError.
        listeners : sequence of callables
            Called with each event of the trainer. The logger ``w2vneg`` receives the events, too, and its child
            ``reading`` a summary of the data.
        progress : bool or callable, optional
            True shows a progress bar, False none; by default a notebook shows one. A callable is called with
            (done, total) bytes while reading.
        diagnose : bool
            Examine the draws after each epoch and add a `w2vneg.ground.events.Diagnosis` to the events and the history.
        valid : path, HeldOut, Validate or Validation, optional
            Held-out pairs to evaluate on between rounds; `fit` ends with the best state. `Validate` has more settings.
        checkpoints : path or Checkpoints, optional
            Model folder to save to: after epochs, every ten minutes, and at the end.
        init : path, Vectors or Model, optional
            Initial rows for the words that it shares with the corpus: both matrices of a model or a fastText ``.bin``,
            or vectors for the input matrix.
        update : bool
            Continue from the model loaded or trained before: it keeps its words, gains those of the corpus, and counts
            add up. The corpus is read twice. Models of users and items also train on the earlier pairs, which they
            keep, with a fifth of alpha and a twentieth of the epochs. For others alpha is multiplied by new / (old +
            new), numbers of words, items or pairs. Setting alpha or epochs overrides this.
        freeze : bool
            Keep the rows from `init`, or from the former model, fixed. The other rows are trained, also against the
            fixed ones. With vectors as `init`, the default read-out becomes ``in``.

        Returns
        -------
        Vectors
            Those of the trained words; `model` has the rest. After Ctrl-C, those trained so far, or the best ones with
            `valid`, and a warning. Doubtful results also warn, such as text vectors whose cosines mean nothing. An
            existing `model` stays until `fit` returns, and if it raises.
        """
        if self._folder is not None and init is None and not update:
            keep = "to keep its words and vectors give update=True"
            resume = "to resume its run use trainer(encoded, model=word2vec.model)"
            warnings.warn(f"fit starts from scratch and discards the loaded model; {keep}, {resume}", stacklevel=2)
        valid, listeners, saves = _followed_by(valid, listeners, checkpoints)
        followers = Followers(progress)
        if update and (init is not None or vocab is not None or vocab_out is not None):
            raise ConfigError("update=True starts from the model's own words; leave init, vocab and vocab_out out")
        with _alone(self):
            config, prior = self._beginning(init, update, freeze)
            run = Run(config, corpus, prior, vocab=vocab, vocab_out=vocab_out, diagnose=diagnose)
            encoded = run.encode(lambda: nullcontext(followers.reading))
            if encoded.report is not None:
                say_what_was_read(encoded.report)
            if run.alpha_share < 1:
                LOG.getChild("reading").info("%s", run.alpha_note())
            validation = _validation(valid, run)
            with watched(followers), nullcontext() if saves is None else saves.owning():
                run.choose([*listeners, followers], validation)
                with followers:
                    trainer = run.trainer([*listeners, followers], validation, saves)
                    self._begins(trainer.model)
                    try:
                        trainer.train()
                    except BaseException:
                        self._model = self._model or trainer.model  # the former one, else the partial one
                        raise
                    kept = {name: getattr(self.config, name) for name in ("alpha", "min_alpha", "epochs")}
                    self.config, self._folder = dataclasses.replace(run.given, **kept), None
                    self._changed, self._model = set(), trainer.model
                    if saves is not None:
                        self.save(saves.folder)
        if not trainer.complete:
            warnings.warn("training was interrupted; the vectors are those trained so far", stacklevel=2)
        for doubt in (about_cosines(trainer.config), *(doubts_of(trainer) if trainer.complete else ())):
            if doubt:
                warnings.warn(doubt, stacklevel=2)
        return self.vectors

    def _beginning(self, init, update, freeze):
        """Return the configuration of a `fit` and the `Prior` that it starts from."""
        if not update:
            if freeze and init is None:
                raise ConfigError("freeze keeps the initial rows of a run fixed; give init or update=True with it")
            fresh = dataclasses.replace(self.config, **self._kind)
            return fresh, Prior() if init is None else Prior.init(init, freeze)
        model = self._trained()
        own = gentler(model, {name: getattr(self.config, name) for name in self._changed})
        own |= {"min_alpha": None} if "alpha" in own else {}
        prior = Prior.update(model, self._folder or "", freeze, "alpha" in self._changed)
        config = dataclasses.replace(self.config, **own)
        check_goes_on(model, resolve(prior.penalised(config)))
        return config, prior

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return all options by name, None for those left open. `deep` is ignored; scikit-learn passes it."""
        return {item.name: self.config.get(item.name) for item in options_of_users()}

    def set_params(self, **params: Any) -> Word2Vec:
        """Change options for the next `fit`; ConfigError if one is unknown or out of range."""
        settled = params.keys() & table().keys() - {item.name for item in options_of_users()}
        if settled:
            raise ConfigError(f"{min(settled)} cannot be set; it follows from the other options and from the data")
        config = with_options(self.config, params)
        if any(getattr(config, name) != getattr(self.config, name) for name in _PLUGS):
            config = with_options(left_open(self.config), params)
        self.config = config
        own = {name: getattr(self.config, name) for name in _OF_DATA if name in params}
        changed = {name for name in ("alpha", "epochs") if params.get(name) is not None}
        self._kind, self._changed = self._kind | own, self._changed | changed  # not in place: shallow copies share them
        return self

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags; only scikit-learn calls this."""
        from sklearn.utils import InputTags, Tags, TargetTags

        tags = InputTags(one_d_array=True, two_d_array=False, string=True)
        return Tags(estimator_type=None, target_tags=TargetTags(required=False), input_tags=tags)

    def __repr__(self):
        values = self.config.as_dict()
        given = {item.name: values[item.name] for item in options_of_users() if values[item.name] != item.default}
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in given.items())})"

    def check(self) -> None:
        """Check the options without reading a corpus; raise an error if they conflict or name something missing."""
        resolve(self.config)

    def encode(
        self,
        corpus: Corpus,
        *,
        vocab: Vocabulary | None = None,
        vocab_out: Vocabulary | None = None,
        progress: Callable[[int, int | None], None] | None = None,
        mirror: str | None = None,
    ) -> Encoded:
        """Encode `corpus`, as for `fit`, with the options of this object; return an EncodedCorpus or EncodedPairs."""
        run = Run(self.config, corpus, vocab=vocab, vocab_out=vocab_out, mirror=mirror)
        return run.encode(lambda: nullcontext(progress))

    def trainer(
        self,
        encoded: Encoded,
        listeners: Sequence[Callable[[Any], None]] = (),
        model: Model | Word2Vec | None = None,
        diagnose: bool = False,
        validation: Pairs | Validate | Validation | None = None,
        checkpoints: str | Path | Checkpoints | None = None,
        prior: Prior | None = None,
    ) -> Trainer:
        """Return a `Trainer` for an EncodedCorpus or EncodedPairs, to control training directly.

        model : Model or trained Word2Vec, optional, whose run resumes on copies of its matrices; earlier `Vectors` stay
        prior : Prior, optional, what a new model starts from
        listeners, diagnose, validation, checkpoints : as for `fit`, where `validation` is called `valid`
        ConfigError if one of them has the wrong type, and the errors of `Trainer`
        """
        if not isinstance(encoded, Encoded):
            raise ConfigError(f"trainer takes what encode returns, not {type(encoded).__name__}; give encode(corpus)")
        if isinstance(model, Recommender):
            model = model._trained()
        if not (model is None or isinstance(model, Model)) or not (prior is None or isinstance(prior, Prior)):
            what = f"model must be a Model and prior a Prior, not {type(model).__name__} and {type(prior).__name__}"
            raise ConfigError(f"{what}; give Model.load(folder), or Prior.init(…)")
        valid, listeners, saves = _followed_by(validation, listeners, checkpoints)
        run = Run(self.config, encoded, prior if model is None else Prior.resume(model), diagnose=diagnose)
        validation = _validation(valid, run)
        if model is not None:
            model.adopt({name: matrix.copy() for name, matrix in model.matrices().items()})
        self.config = run.given
        run.choose([*listeners, log], validation)
        return run.trainer(listeners, validation, saves)

    def _begins(self, model: Model) -> None:
        """Hook for subclasses, called with the model before the first round."""

    @property
    def model(self) -> Model:
        """The Model that `fit` trained last, or that `load` read; NotTrainedError if there is none."""
        return self._trained()

    @model.setter
    def model(self, model: Model | None) -> None:
        self._model = model

    @property
    def complete(self) -> bool:
        """Whether training ran to its end: False before `fit`, and if Ctrl-C or an error stopped it early."""
        return self._model is not None and self._model.complete

    def _trained(self) -> Model:
        if self._model is None:
            raise NotTrainedError("nothing is trained yet; call fit first")
        return self._model

    def __sklearn_is_fitted__(self) -> bool:
        return self._model is not None

    def __setattr__(self, name: str, value: Any) -> None:
        """Refuse to set an option as an attribute, which would have no effect, unless a subclass defines the name."""
        if not hasattr(type(self), name) and (name in GENSIM_SETTINGS or _option(name) is not None):
            remedy = f"call set_params({name}={value!r:.60})"
            raise ConfigError(f"{name} is an option and cannot be set as an attribute; {remedy}")
        super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:
        """Raise an AttributeError that says where to find an option or a member of gensim's Word2Vec."""
        if hasattr(type(self), name):  # a property has failed: its own error is the one to see
            return object.__getattribute__(self, name)
        remedy = GENSIM_METHODS.get(name)
        if (item := _option(name)) is not None:
            where = f"get({item.name!r})" if item.metadata["readers"] else item.name
            remedy = f"it is an option: .config.{where}"
        if remedy is None and not name.startswith("_") and hasattr(Vectors, name):
            remedy = f"use its vectors: .wv.{name}"
        hint = f"; {remedy}" if remedy else ""
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{hint}")

    @property
    def vectors(self) -> Vectors:
        """The Vectors of the trained words by the configured read-out; with `valid`, those of the best state."""
        return self.read_out()

    @property
    def wv(self) -> Vectors:
        """gensim's name for `vectors`; cached until the model is trained further."""
        model = self._trained()
        if self._read[0] is not model or self._read[1] != model.position:
            self._read = model, dataclasses.replace(model.position), self.vectors
        return self._read[2]

    def read_out(self, readout: str | None = None, oov: str | None = None) -> Vectors:
        """Return the vectors of the trained words.

        A matrix of the model itself, as with ``in`` and ``out``, is returned read-only and not copied; to change it,
        make ``Vectors(words, matrix.copy())``. Counts are read-only.

        readout : str, optional, how vectors are computed from the two matrices: ``"in"``, …; by default as configured
        oov : {None, "letters"}; with ``"letters"`` any spelling has a vector. It needs a read-out with letters or
            paradigms, or n-grams and the read-out ``"in"``
        ConfigError if the read-out is unknown or does not fit the training data
        """
        model = self._trained()
        matrix, spellings, rules = read_out(model, readout, spell=spells(oov))
        two_kinds = model.vocab_out is not model.vocab
        targets = two_kinds and not parse(readout or model.config.readout).reads("vectors_in")
        vocab = model.vocab_out if targets else model.vocab
        noun = noun_of(model.origin.input.get("kind"), model.config.source.name, two_kinds, targets)
        spelt = with_spellings(oov, spellings)
        if any(np.may_share_memory(matrix, model.best_matrix(name)) for name in ("vectors_in", "vectors_out")):
            matrix = _read_only(matrix)
        return Vectors(vocab.words, matrix, _read_only(vocab.counts), spelt, noun, model.config.lowercase, rules)

    def plot_history(self) -> Any:
        """Return a matplotlib figure of the run by epoch: loss, held-out metrics, alpha and speed.

        ConfigError before `fit`. MissingExtraError without the extra ``plot``
        """
        from ..look.report import history_figure

        return history_figure(self._trained())

    def save(self, folder: str | Path) -> None:
        """Write the model folder; see `Model.save`."""
        self._trained().save(folder)

    @classmethod
    def load(cls, folder: str | Path, plugin: str | None = None, **changes: Any) -> Word2Vec:
        """Load a model folder.

        plugin : str, optional, the plug-ins that the model needs; must be given unless they are loaded already
        changes : options of the run to change for ``fit(…, update=True)``: ``alpha=0.01``, ``epochs=2``, …; for a
            subclass also its own arguments, which a folder does not keep
        ConfigError also if a subclass cannot be created from ``config`` and its own arguments
        """
        signature = inspect.signature(cls.__init__)
        theirs = signature.parameters.keys() & changes.keys() - table().keys() - {"config"}
        own = {name: changes.pop(name) for name in theirs}
        try:
            signature.bind(None, config=None, **own)
        except TypeError as error:
            remedy = "let its __init__ pass config on, as with **options, and give its own arguments to load by name"
            raise ConfigError(f"{cls.__name__}.load makes a {cls.__name__}(config=…): {error}; {remedy}") from None
        model = Model.load(folder)
        config = config_to_grow(model, folder, {"plugin": plugin} | changes)
        word2vec = cls(config=config, **own)
        word2vec._model, word2vec._folder = model, str(folder)
        if penalty_chosen(model.history) and "l2" not in changes:
            word2vec.config = dataclasses.replace(word2vec.config, l2=None)  # it belongs to the old data
        word2vec._kind = {name: getattr(TrainConfig(), name) for name in _OF_DATA}
        word2vec._changed = {name for name in ("alpha", "epochs") if changes.get(name) is not None}
        return word2vec
