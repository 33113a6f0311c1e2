"""The state of a run: its matrices, progress and options; and the read-out, which computes vectors from it."""

import warnings
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..config import RunSpec, TrainConfig
from ..config.table import table
from ..data.vocab import Vocabulary
from ..ground.errors import ConfigError, FileNote, W2vnegError
from ..ground.files.memory import memory_size
from ..kernels.bags import context_means
from ..kernels.schedule import keep_thresholds
from ..objectives.inputs.subwords import rows_of_grams
from ..objectives.law import settled
from ..objectives.plugins import absolute_plugins, are_loaded, load_plugins, not_loaded
from ..objectives.plugs import small_rows
from ..objectives.readout import Trained, parse
from ..objectives.readout.context import WINDOW
from ..vectors.formats.fasttext import spellings_of
from .folder import read_model, write_model
from .state import Best, LastGoodState, Progress, Provenance


@dataclass
class Model:
    """The matrices of a run, its progress and its options."""

    vocab: Vocabulary
    config: RunSpec
    vectors_in: np.ndarray  # float32, (n_vocab, dim)
    vectors_out: np.ndarray  # float32, (n_out, dim)
    position: Progress = field(default_factory=Progress)
    history: list = field(default_factory=list)  # of dict
    origin: Provenance = field(default_factory=Provenance)
    extra: dict = field(default_factory=dict)  # name -> float32 (n_vocab or n_out, …), matrices that a plug trains
    vocab_out: Vocabulary = None  # type: ignore[assignment]  # `vocab` if there is one kind of name
    best: Best | None = None  # if it is evaluated
    good: LastGoodState | None = None  # of a run that was interrupted within an epoch
    contexts: np.ndarray | None = None  # float32, (n_vocab, dim), mean contexts, for some read-outs
    contexts_before: np.ndarray | None = None  # of an update: see `keep_contexts`
    frozen: dict = field(default_factory=dict)  # matrix -> bool (rows,), rows that never move; absent if none
    phrases: tuple = ()  # of Phrase, joined in its text
    known: Any = None  # csr_matrix of weights, the items of each user in training, if kept
    trained_on: Any = None  # the same, if users were folded in and `known` includes their items

    def __post_init__(self):
        self.vocab_out = self.vocab_out or self.vocab

    @property
    def complete(self):
        """Whether the run is complete (bool): all epochs are done, or validation ended it."""
        return self.position.epoch >= self.config.epochs if self.best is None else self.best.finished

    def matrices(self):
        """Return every trained matrix by its name."""
        return {"vectors_in": self.vectors_in, "vectors_out": self.vectors_out, **self.extra}

    def adopt(self, matrices):
        """Replace the model's matrices by these, named as in `matrices`."""
        self.vectors_in, self.vectors_out = matrices["vectors_in"], matrices["vectors_out"]
        self.extra = {name: matrices[name] for name in self.extra}

    def buckets(self):
        """Return the bucket of each row of ``extra["grams_in"]``, int64 (n_rows,); None for a model without n-grams."""
        own = self.config.inputs
        if "grams_in" not in self.extra or not hasattr(own, "minn"):
            return None
        *_, used = rows_of_grams(self.vocab.words, self.vocab.counts, own.minn, own.maxn, own.buckets)
        return used

    def best_matrix(self, name):
        """Return a matrix of the best state so far, float32 (rows, dim); the model's own if none was better."""
        return self.matrices()[name] if self.best is None else self.best.matrices.get(name, self.matrices()[name])

    @classmethod
    def fresh(cls, vocab, config, vocab_out=None):
        """Initialise as word2vec does: input rows uniform on ±1 / (2 dim), output rows 0.

        ConfigError if the matrices alone exceed the memory of this process: Linux would kill it without a message.
        """
        needed, room = 4 * config.dim * (len(vocab) + len(vocab_out or vocab)), memory_size()
        if needed > room:
            what = f"the two matrices of {len(vocab):,} words by {config.dim:,} take {needed / 2**20:,.0f} MB"
            limit = f"this process may use {room / 2**20:,.0f} MB of memory"
            raise ConfigError(f"{what}, and {limit}; use a smaller --dim or --max-vocab")
        vectors_in = small_rows((len(vocab), config.dim), config.seed, config.bias)
        vectors_out = np.zeros((len(vocab_out or vocab), config.dim), np.float32)
        return cls(vocab, config, vectors_in, vectors_out, vocab_out=vocab_out)

    def save(self, folder, portable=False):
        """Write the model folder, atomically; see `folder.write_model`."""
        write_model(folder, self, portable)

    @classmethod
    def load(cls, folder):
        """Read a folder that `save` wrote; InputError names the file that is missing or does not fit."""
        return cls(**read_model(folder))

    def config_to_run(self, folder, plugin=None, epochs=None, ray_address=None):
        """Return the configuration to continue with (TrainConfig); arguments replace the model's own values.

        ConfigError if `epochs` is given, but the run is beyond it, or evaluated, so that it ends with its best state;
            if it names plug-ins that are not loaded, or a cluster, and none is given, as a folder must not decide what
            code runs; or if the given plug-ins lack something that the run used
        """
        own = self.config.plugin
        remedy = f"if you trust that code, name it: --plugin {own}, in Python plugin={own!r}"
        if plugin is None and not are_loaded(own):
            raise ConfigError(f"continuing from {folder} runs {own}; {remedy}")
        if ray_address is None and self.config.ray_address is not None:
            what = f"continuing from {folder} connects to a cluster at {self.config.ray_address}"
            raise ConfigError(f"{what}; if you trust it, name it with --ray-address")
        given = {"plugin": absolute_plugins(plugin), "ray_address": ray_address}
        values = self.config.flat() | {name: value for name, value in given.items() if value is not None}
        load_plugins(values.get("plugin"))
        if missing := not_loaded(own):  # moved files count as others, but work as well
            try:
                TrainConfig(**values).resolved()
            except W2vnegError as error:
                cause = f"{folder} was trained with {', '.join(missing)}, too: {str(error).rstrip('.')}"
                raise ConfigError(f"{cause}; {remedy}") from error
        if absent := values.keys() - table().keys():
            raise ConfigError(f"{folder}: no plug-in has the option {min(absent)!r} of this run")
        config = TrainConfig(**values)
        if epochs is None:
            return config
        done = self.position.epoch + (self.position.round > 0)
        if epochs < done:
            raise ConfigError(f"{folder} is in epoch {done} already; give --epochs {done} or more, or leave it out")
        if self.best is not None:
            what = f"{folder} is evaluated on held-out pairs and ends with its best state, not its last"
            raise ConfigError(f"{what}; for more epochs start another run with --init {folder}")
        return replace(config, epochs=epochs)


def read_out(model, readout=None, spell=False):
    """Return the vectors of a model, by its own read-out or another one.

    spell : bool, also return the Spellings that give a vector to any spelling
    Returns (vectors, spellings, rules) : (float32 (n_rows, dim), Spellings or None, Rules or None); for a model with
        n-grams and the read-out ``in``, spellings get the means of their n-grams
    ConfigError if the read-out is unknown, or does not fit what the model was trained on
    """
    config = model.config
    chain = parse(readout or config.readout)
    chain.check(config.traversal, config.rectangular, config.loss.plug.paths)
    matrices = (model.best_matrix(name) for name in ("vectors_in", "vectors_out"))
    words, counts = model.vocab.words, model.vocab.counts
    trained = Trained(*matrices, words, counts, model.contexts, spell, law=lambda: settled(model))
    vectors = chain.read(trained)
    own = config.inputs
    if spell and chain.rows_as_trained and "grams_in" in model.extra and hasattr(own, "minn"):
        rows = model.best_matrix("grams_in")
        return vectors, spellings_of(model.vocab, rows, own.minn, own.maxn, own.buckets), None
    return vectors, chain.spellings, chain.rules


def look_at_contexts(model, corpus):
    """Compute the model's contexts from its data, an EncodedCorpus or EncodedGraph, if its read-out needs them.

    For an update, the means include occurrences in the earlier data; see `keep_contexts`.
    """
    config = model.config
    if not parse(config.readout).needs_contexts:
        return
    keep = keep_thresholds(model.vocab.counts, getattr(config.source, "subsample", 0)).astype(np.float64) / 2**32
    contexts = context_means(*corpus.traversal.written(corpus, config), keep, model.best_matrix("vectors_out"), WINDOW)
    if model.contexts_before is not None:
        before, share = model.contexts_before[:, :-1], model.contexts_before[:, -1:]
        share = np.where(contexts.any(axis=1, keepdims=True), share, 1)  # 1 for words without a neighbour now
        contexts *= 1 - share
        contexts += share * before
    model.contexts = contexts


def keep_contexts(model, earlier):
    """Give a fresh model, with the words of an `earlier` Model and more, the contexts of that model, if any.

    ``contexts_before`` becomes float32 (n_vocab, dim + 1): the earlier contexts, and in the last column the share of
    each word's count that they cover, 0 without any. A `FileNote` if the read-out needs contexts and there are none.
    """
    if not parse(model.config.readout).needs_contexts:
        return
    if earlier.contexts is None:
        what = "the model to update has no contexts, as its run has not ended or had another read-out"
        effect = "words missing from the newer data are read out without them"
        remedy = "finish its run with --resume, or leave --readout out"
        warnings.warn(f"{what}, so {effect}; {remedy}", FileNote, stacklevel=3)
        return
    rows = model.vocab.words.find_all(earlier.vocab.words)
    model.contexts_before = before = np.zeros((len(model.vocab), earlier.contexts.shape[1] + 1), np.float32)
    before[rows, :-1] = earlier.contexts
    before[rows, -1] = earlier.contexts.any(axis=1) * earlier.vocab.counts / np.maximum(1, model.vocab.counts[rows])
