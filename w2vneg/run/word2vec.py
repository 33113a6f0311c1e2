"""The notebook's door: options in, a corpus in, vectors out.

>>> from w2vneg import Word2Vec
>>> vectors = Word2Vec(loss="relaxed", temp=1.0, dim=100).fit("corpus.txt")
>>> vectors.most_similar("king")
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..config import TrainConfig
from ..config.compatibility import about_cosines, check_diagnose, check_plugs
from ..config.ranks import without_ranks
from ..config.synonyms import GENSIM_METHODS
from ..data.encoded import EncodedCorpus, EncodedGraph, EncodedPairs, encode_corpus
from ..data.encoded.ranked import RankedCorpus
from ..data.inputs import Input, as_input, encode_input, of_as_many_kinds, settled
from ..data.readers.sentences import check_sentences
from ..data.readers.sources import STDIN
from ..data.sources import noun_of
from ..ground.errors import ConfigError
from ..ground.jit import available_threads
from ..ground.jit.watching import watched
from ..objectives.inputs import INPUTS
from ..objectives.losses import LOSSES
from ..objectives.plugins import find_objective, load_plugins, names_with_log_q
from ..objectives.readout import DEFAULT, parse
from ..objectives.samplers import SAMPLERS
from ..objectives.samplers.degeneracy import is_file_of_weights, read_degeneracy, weights_by_word
from ..objectives.weighers import WEIGHERS
from ..vectors import Vectors, spells, with_spellings
from .checkpoints import Checkpoints
from .doubts import doubts_of
from .estimator import Estimator, with_options
from .follow import LOG, Followers
from .growing import check_growing, config_to_grow
from .model import Model
from .ranked import read_by_rank, reads_by_rank
from .readout import read_out
from .recommender import Recommender
from .start import Start
from .trainer import Trainer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ..data.encoded import HeldOut
    from ..data.vocab import Vocabulary
    from .validation import Validate, Validation

Encoded = EncodedCorpus | EncodedPairs | EncodedGraph | RankedCorpus
if TYPE_CHECKING:
    Corpus = str | Path | Input | Encoded | Iterable[Sequence[str]]


class Word2Vec(Estimator, Recommender):
    """Skip-gram embeddings with a choice of loss, sampler and weigher.

    Parameters
    ----------
    config : TrainConfig, optional
        All options in one; or give them by name.
    **options
        Fields of `TrainConfig`: ``loss="relaxed"``, ``temp=1.0``, ``dim=100``, ``window=5``, ``epochs=5``, …
        Those of gensim's names that mean the same are understood: ``vector_size=100``, ``sg=1``, ``negative=5``, …

    Attributes
    ----------
    model : Model
        Both matrices, vocabulary, resolved configuration and history; set by `fit`.
    vectors : Vectors
        Those of the trained words, by the read-out; set by `fit`.

    Raises
    ------
    ConfigError
        For an option that is unknown or out of range.
    """

    def __init__(self, config: TrainConfig | None = None, **options: Any) -> None:
        if config is not None and not isinstance(config, TrainConfig):
            raise ConfigError("Word2Vec takes options; training is done by fit: Word2Vec(…).fit(corpus)")
        if config is not None and options:
            raise ConfigError("give either a TrainConfig or options by name, not both")
        self.config = with_options(config, options)
        self.model = None
        self._loaded = False  # from a model folder, and not trained since
        self._read = None, None, None  # the model, where it stood, and its vectors, as `wv` has made them last
        self._checked = None, None  # the configuration that was checked last, and the same resolved

    def fit(
        self,
        corpus: Corpus,
        y: Any = None,
        *,
        vocab: Vocabulary | None = None,
        vocab_out: Vocabulary | None = None,
        listeners: Sequence[Callable[[Any], None]] = (),
        progress: bool | Callable[[int, int | None], None] | None = None,
        diagnose: bool = False,
        valid: str | Path | HeldOut | Validate | None = None,
        checkpoints: str | Path | Checkpoints | None = None,
        init: str | Path | Vectors | Model | None = None,
        update: bool = False,
        freeze: bool = False,
    ) -> Vectors:
        """Train on a corpus.

        Parameters
        ----------
        corpus : str, Path, Input, iterable of token lists, DataFrame, EncodedCorpus or EncodedPairs
            A file, folder, glob or named corpus; an `Input` for baskets, ratings, pairs, counts or edges of a graph,
            in files or in memory; or sentences as lists of str. A DataFrame with columns called user and item, or item
            and target, and a sparse matrix that is not square, are pairs. What is encoded already is used as it is.
        y : None
            Not looked at; scikit-learn's pipelines and searches pass it.
        vocab : Vocabulary, optional
            Use this one rather than the corpus's own; of rectangular data that of the rows.
        vocab_out : Vocabulary, optional
            Of the columns of rectangular data; ConfigError with any other.
        listeners : sequence of callables
            Called with the trainer's events. The logger ``w2vneg`` gets them, too, and its child ``reading`` what was
            read, in words.
        progress : bool or callable, optional
            True shows a bar, False none; left out there is one in a notebook. A callable is called with (done, total)
            bytes while reading.
        diagnose : bool
            Look at the draws after each epoch: a `w2vneg.ground.events.Diagnosis` for the listeners and the history.
        valid : path, HeldOut or Validate, optional
            Held-out pairs to evaluate the model on between rounds; the best state is what `fit` ends with. `Validate`
            says by which metric, how often, and with how much patience.
        checkpoints : path or Checkpoints, optional
            A model folder to save to while training goes on, after epochs and every ten minutes, and at the end.
        init : path, Vectors or Model, optional
            Begin with its rows where words are known to both: a model folder or a ``.bin`` of fastText's, whose two
            matrices are taken, or vectors.
        update : bool
            Begin with the model that was loaded or trained before, and keep all of its words: the vocabulary grows by
            those of the corpus, counts add up. The corpus is read twice; it alone is trained on, with alpha as at the
            start of a run.
        freeze : bool
            Rows that begin with those of `init`, or of the former model, do not move; the others are trained, against
            them as well.

        Returns
        -------
        Vectors
            The trained input vectors; `model` has the rest. After Ctrl-C: what was trained until then (the best of it,
            with `valid`), and a warning; another if the options give vectors of text whose cosines mean nothing.
        """
        if self._loaded and init is None and not update:
            warnings.warn(
                "fit starts over and leaves what was loaded behind; to begin with its words and vectors give "
                "update=True, to go on with its run use trainer(encoded, model=word2vec.model)",
                stacklevel=2,
            )
        self._loaded = False
        if valid is not None:
            from .validation import Validate

            valid = valid if isinstance(valid, Validate) else Validate(valid)
        followers = Followers(progress)
        given = as_input(corpus)
        if isinstance(given, Input):
            given = of_as_many_kinds(given, self.config) if update else settled(given, self.config.encoding)
        self.reads(given)
        if update:
            if init is not None or vocab is not None or vocab_out is not None:
                raise ConfigError("update=True begins with the model's own words; leave init, vocab and vocab_out out")
            init = self._trained()
            check_growing(init, self.config)
        start = _start_of(init, freeze)
        self.check(diagnose, start)
        if update:
            vocab, vocab_out = self.grown(given, followers.reading)
        encoded = self.encode(given, vocab=vocab, vocab_out=vocab_out, progress=followers.reading)
        if encoded.report is not None:
            LOG.getChild("reading").info("%s", encoded.report.line())
            for hint in encoded.report.hints:
                warnings.warn(hint, stacklevel=2)
        validation = None if valid is None else valid.of(encoded, self.config.lowercase)
        if isinstance(checkpoints, str | Path):
            checkpoints = Checkpoints(checkpoints)
        listeners = [*_checked(listeners), followers]
        with followers, watched(followers), nullcontext() if checkpoints is None else checkpoints.owning():
            trainer = self.trainer(
                encoded, listeners, diagnose=diagnose, validation=validation, checkpoints=checkpoints, start=start
            )
            self.model = trainer.model
            if isinstance(given, Input) and not given.in_memory:
                self.model.origin.input = given.absolute().as_dict()
            trainer.train()
            if checkpoints is not None:
                self.save(checkpoints.folder)
        if not trainer.complete:
            warnings.warn("training was interrupted; the vectors are those trained so far", stacklevel=2)
        caution = about_cosines(trainer.config)
        for doubt in (*filter(None, [caution]), *(doubts_of(trainer) if trainer.complete else ())):
            warnings.warn(doubt, stacklevel=2)
        return self.vectors

    def reads(self, data: Input | Encoded | Any) -> None:
        """Let the configuration know what is read: an `Input` or encoded data; sentences leave it as it is."""
        if isinstance(data, Input):
            rectangular = bool(data.rectangular)
        elif isinstance(data, Encoded):
            rectangular = data.vocab_out is not data.vocab
        else:
            return
        self.config = dataclasses.replace(self.config, source=data.source, rectangular=rectangular)

    def alone(self) -> Word2Vec:
        """Return one with the same options but those of ranks: for a run on this machine."""
        return Word2Vec(without_ranks(self.config))

    def check(self, diagnose: bool = False, start: Start | None = None) -> None:
        """Raise now, before a corpus is read, if the options do not go together or name what is not there."""
        config = self._resolved()
        if diagnose:
            check_diagnose(config)
        if start is not None:
            start.check(config)

    def _resolved(self):
        """Return the options of the run, checked once for each configuration."""
        checked, config = self._checked
        if checked is not self.config:
            config = self._check()
            self._checked = self.config, config
        return config

    def _check(self):
        load_plugins(self.config.plugin)
        if self.config.loss is not None:
            find_objective(self.config.loss)
        named = (SAMPLERS, self.config.sampler), (WEIGHERS, self.config.weigher), (INPUTS, self.config.inputs)
        for table, name in named:
            if name is not None:
                table[name]
        config = self.config.resolved(cores=available_threads())
        if config.sampler is not None:
            loss, weigher, sampler = LOSSES[config.loss], WEIGHERS[config.weigher], SAMPLERS[config.sampler]
            check_plugs(config, loss, weigher, sampler, names_with_log_q())
        if is_file_of_weights(config.degeneracy):
            weights_by_word(config.degeneracy)
        return config

    def encode(
        self,
        corpus: Corpus,
        *,
        vocab: Vocabulary | None = None,
        vocab_out: Vocabulary | None = None,
        progress: Callable[[int, int | None], None] | None = None,
        mirror: str | None = None,
    ) -> Encoded:
        """Read `corpus` (as for `fit`) with this configuration's options into an EncodedCorpus or EncodedPairs.

        A RankedCorpus where each rank reads files of its own (docs/scaling.md).
        """
        config = self._resolved()
        if isinstance(corpus, Encoded):
            if vocab is not None or vocab_out is not None:
                raise ConfigError("what is encoded has its vocabularies already; leave vocab and vocab_out out")
            return corpus
        shaping = config.shaping | {"vocab": vocab, "progress": progress}
        corpus = as_input(corpus)
        if isinstance(corpus, Input) and reads_by_rank(corpus, config):
            return read_by_rank(corpus.located(mirror), config, vocab, progress)
        if isinstance(corpus, Input):
            return encode_input(corpus.located(mirror), vocab_out=vocab_out, **shaping)
        if vocab_out is not None:
            raise ConfigError("sentences have one vocabulary; leave vocab_out out")
        check_sentences(corpus)
        return encode_corpus(corpus, **shaping)

    def grown(
        self, corpus: Corpus, progress: Callable[[int, int | None], None] | None = None
    ) -> tuple[Vocabulary, Vocabulary | None]:
        """Return the vocabularies of the model, grown by those of a corpus; the second is None unless rectangular.

        Raises
        ------
        ConfigError
            If the corpus can be read only once.
        """
        once = isinstance(corpus, Encoded | Iterator)
        if once or (isinstance(corpus, Input) and not corpus.in_memory and STDIN in corpus.files):
            raise ConfigError("update=True reads the corpus twice; give a file, an Input or a list of sentences")
        model, config = self._trained(), self._resolved()
        whole = dataclasses.replace(self.config, min_count=1, max_vocab=None)
        found = Word2Vec(whole).alone().encode(corpus, progress=progress)
        pairs = [(model.vocab, found.vocab)]
        if found.vocab_out is not found.vocab:
            pairs.append((model.vocab_out, found.vocab_out))
        grown = [old.grown(new, config.min_count, config.max_vocab) for old, new in pairs]
        return grown[0], grown[1] if len(grown) > 1 else None

    def trainer(
        self,
        encoded: Encoded,
        listeners: Sequence[Callable[[Any], None]] = (),
        model: Model | None = None,
        diagnose: bool = False,
        validation: Validation | None = None,
        checkpoints: Checkpoints | None = None,
        start: Start | None = None,
    ) -> Trainer:
        """Return a `Trainer` for an EncodedCorpus or EncodedPairs, for those who steer it themselves."""
        self.reads(encoded)
        config = self._resolved()
        if is_file_of_weights(config.degeneracy):
            weights = read_degeneracy(config.degeneracy, encoded.vocab_out)
            config = dataclasses.replace(config, degeneracy=weights)
        return Trainer(encoded, config, listeners, model, diagnose, validation, checkpoints, start)

    def _trained(self):
        if self.model is None:
            raise ConfigError("nothing is trained yet; call fit first")
        return self.model

    def __sklearn_is_fitted__(self) -> bool:
        return self.model is not None

    def __getattr__(self, name: str) -> Any:
        """Say where to find what gensim's Word2Vec has under this name."""
        if hasattr(type(self), name):  # a property has failed: its own error is the one to see
            return object.__getattribute__(self, name)
        remedy = GENSIM_METHODS.get(name)
        if remedy is None and not name.startswith("_") and hasattr(Vectors, name):
            remedy = f"ask its vectors: .wv.{name}"
        hint = f"; {remedy}" if remedy else ""
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{hint}")

    @property
    def vectors(self) -> Vectors:
        """Vectors: those of the trained words by the read-out of the options; of the best state so far where the
        run is evaluated on held-out pairs.
        """
        return self.read_out()

    @property
    def wv(self) -> Vectors:
        """gensim's name for `vectors`; made once, and anew after more training."""
        model, position = self._trained(), dataclasses.replace(self.model.position)
        if self._read[0] is not model or self._read[1] != position:
            self._read = model, position, self.vectors
        return self._read[2]

    def read_out(self, readout: str | None = None, oov: str | None = None) -> Vectors:
        """Return the vectors of the trained words.

        Parameters
        ----------
        readout : str, optional
            How they are made of the two matrices, if not as the options say: ``"in"``, ``"both+letters"``, …
        oov : {None, "letters"}
            With ``"letters"`` the vectors have one for any spelling; needs a read-out with letters, or n-grams and
            the read-out ``"in"``.

        Raises
        ------
        ConfigError
            If the read-out is unknown or does not fit what was read.
        """
        model = self._trained()
        matrix, spellings = read_out(model, readout, spell=spells(oov))
        words, counts = model.vocab.words, model.vocab.counts
        two_kinds = model.vocab_out is not model.vocab
        parts = parse(readout or model.config.readout or DEFAULT).parts
        targets = two_kinds and any(part.name == "out" for part in parts)
        if targets:
            words, counts = model.vocab_out.words, model.vocab_out.counts
        noun = noun_of(model.origin.input.get("kind"), model.config.source, two_kinds, targets)
        return Vectors(words, matrix, counts, with_spellings(oov, spellings), noun)

    def plot_history(self) -> Any:
        """Return a matplotlib figure of the run by epoch, which a notebook shows: loss, held-out figures, alpha, speed.

        Raises
        ------
        ConfigError
            Before `fit`. MissingExtraError without the extra ``plot``.
        """
        from ..look.report.pictures import history_figure

        return history_figure(self._trained())

    def save(self, folder: str | Path) -> None:
        """Write the model folder; see `Model.save`."""
        self._trained().save(folder)

    @classmethod
    def load(cls, folder: str | Path, plugin: str | None = None, **changes: Any) -> Word2Vec:
        """Read a model folder back.

        Parameters
        ----------
        folder : path
        plugin : str, optional
            The plug-ins that it needs; must be named where somebody else wrote the folder.
        **changes
            Options of the run that are to be others in ``fit(…, update=True)``: ``alpha=0.01``, ``epochs=2``, …
        """
        model = Model.load(folder)
        word2vec = cls(config_to_grow(model, folder, {"plugin": plugin} | changes))
        word2vec.model, word2vec._loaded = model, True
        return word2vec


def _start_of(init, freeze):
    """Return where a run begins, a `Start`, or None for random numbers."""
    if freeze and init is None:
        raise ConfigError("freeze keeps the rows that a run begins with; give init or update=True with it")
    return None if init is None else Start.of(init, freeze)


def _checked(listeners):
    """Return the listeners; ConfigError unless they are several callables, or none."""
    if callable(listeners) or not all(map(callable, listeners)):
        raise ConfigError("listeners must be a list of functions of one event: fit(…, listeners=[print])")
    return listeners
