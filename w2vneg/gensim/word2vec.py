"""gensim's Word2Vec, over `w2vneg.Word2Vec`; its callbacks and files of sentences."""

from __future__ import annotations

import dataclasses
import os
import warnings
from itertools import islice
from typing import Any, ClassVar

import numpy as np

from ..config.table import KINDS
from ..data.encoded import Encoded
from ..data.inputs import Input
from ..data.readers.sources import ByteStream, find_files
from ..data.vocab import Vocabulary
from ..ground.errors import ConfigError, NothingToTrainError
from ..ground.events import EpochDone
from ..kernels.schedule import keep_thresholds
from ..objectives.readout import parse
from ..run import word2vec
from ..run.model import Model
from ..vectors import Vectors
from . import refused
from .keyedvectors import KeyedVectors

_TRIM = "words are chosen by min_count and max_final_vocab, or by build_vocab_from_freq; leave it out"
_COUNTED = "memory needs no such limit here; max_final_vocab limits the words that are kept"
_SHORT = 1000  # words: subsampling would leave nothing of a shorter text
_OPTIONS = {name: name for name in ("alpha", "min_alpha", "epochs", "workers", "seed", "window", "min_count")} | {
    "sample": "subsample",
    "negative": "negatives",
    "ns_exponent": "noise_exponent",
    "max_final_vocab": "max_vocab",
    "shrink_windows": "dynamic_window",
}
"""An attribute that may be set before `build_vocab` and `train` -> our option."""

_SETTLED = ("vector_size", "sg", "hs", "cbow_mean", "hashfxn", "max_vocab_size", "null_word", "sorted_vocab")
_BLOCK = 1 << 22  # words per block
_KEPT = ("corpus_count", "corpus_total_words", "sample")  # kept in files, as our models count differently


class Ours(word2vec.Word2Vec):
    """Our trainer; `model` is the one in training from the first round on, as gensim's callbacks expect."""

    def _begins(self, model):
        self.model = model


class CallbackAny2Vec:
    """Base of callbacks, which may override any method; each receives the model."""

    def on_train_begin(self, model):
        """Before the first epoch."""

    def on_epoch_begin(self, model):
        """Before each epoch."""

    def on_epoch_end(self, model):
        """After each epoch."""

    def on_train_end(self, model):
        """After the last epoch."""


class LineSentence:
    """Sentences of a file, compressed or not, one per line, with tokens between blanks; read again each time.

    max_sentence_length : int, longer lines are cut into pieces; limit : int or None, number of lines to read
    """

    def __init__(self, source, max_sentence_length=10000, limit=None):
        if not isinstance(source, str | os.PathLike):
            raise ConfigError(f"LineSentence takes the path of a file, not {type(source).__name__}")
        self.source, self.max_sentence_length, self.limit = source, max_sentence_length, limit

    def __iter__(self):
        lines = (line for text in _texts(self.source, b"\n") for line in text.split(b"\n"))
        for line in islice(lines, self.limit):
            words = line.decode().split()
            for start in range(0, len(words), self.max_sentence_length):
                yield words[start : start + self.max_sentence_length]


class Text8Corpus:
    """Sentences of a file, compressed or not, that is one long text: a sentence per `max_sentence_length` words."""

    def __init__(self, fname, max_sentence_length=10000):
        self.fname, self.max_sentence_length = fname, max_sentence_length

    def __iter__(self):
        words, length = [], self.max_sentence_length
        for text in _texts(self.fname, b" "):
            words += text.decode().split()
            whole = len(words) - len(words) % length
            yield from (words[start : start + length] for start in range(0, whole, length))
            words = words[whole:]
        if words:
            yield words


def _texts(path, end):
    """Yield the bytes of a file, compressed or not, in pieces that are followed by `end` (bytes), but for the last."""
    rest = b""
    with ByteStream(os.fspath(path)) as stream:
        for piece in stream.pieces():
            text, found, rest = (rest + bytes(piece)).rpartition(end)
            if found:
                yield text
    yield rest


class Word2Vec:
    """Word2vec with negative sampling, or hierarchical softmax by ``hs=1, negative=0``.

    Arguments are gensim's, plus any of `w2vneg.Word2Vec` by name. `batch_words`, `compute_loss` and `comment` have no
    effect: the loss is always computed. Options are attributes, too; a new value holds from the next `build_vocab` or
    `train` on. Setting an attribute that would have no effect is refused.

    ours : w2vneg.Word2Vec, which trains, and has the features that gensim lacks
    """

    inputs: ClassVar = {1: "row", 0: "window"}  # by sg
    remedies: ClassVar = refused.WORD2VEC
    settled: ClassVar[tuple[str, ...]] = _SETTLED
    compute_loss = True
    null_word, sorted_vocab, hashfxn, max_vocab_size = 0, 1, hash, None  # nothing else has a counterpart
    layer1_size = property(lambda self: self.vector_size)

    def __init__(
        self, sentences=None, corpus_file=None, vector_size=100, alpha=0.025, window=5, min_count=5,
        max_vocab_size=None, sample=1e-3, seed=1, workers=3, min_alpha=0.0001, sg=0, hs=0, negative=5, ns_exponent=0.75,
        cbow_mean=1, hashfxn=hash, epochs=5, null_word=0, trim_rule=None, sorted_vocab=1, batch_words=10000,
        compute_loss=False, callbacks=(), comment=None, max_final_vocab=None, shrink_windows=True, **options: Any,
    ):  # fmt: skip
        for old, new in {"size": "vector_size", "iter": "epochs"}.items():
            if old in options:
                raise ConfigError(f"{old} was gensim's name before version 4; use {new}")
        refused.unless(None, _COUNTED, max_vocab_size=max_vocab_size)
        refused.unless(None, _TRIM, trim_rule=trim_rule)
        refused.unless(hash, "initial vectors depend on the seed alone; leave it out", hashfxn=hashfxn)
        given = dict(locals())
        fixed = {"inputs": self.inputs[1 if sg else 0], "readout": "in"}
        fixed |= {"hs": hs, "negative": 0} if hs else {"loss": "ns"}
        fixed |= {name: given[name] for name in ("vector_size", "cbow_mean", "null_word", "sorted_vocab")}
        self.ours = Ours(**fixed | _ours(given) | options)
        self._settle()
        if sentences is not None or corpus_file is not None:
            self._train(self._count(_corpus(sentences, corpus_file)), callbacks)
        elif callbacks:
            raise ConfigError("callbacks are called during training; pass them to train(…, callbacks=[…])")

    def _settle(self):
        """Copy from `ours` what gensim keeps as attributes."""
        config, model = self.ours.config, self.ours._model
        vars(self).update({name: config.get(ours) for name, ours in _OPTIONS.items()})
        self.vector_size, self.sg, self.cbow_mean = config.dim, int("window" not in config.inputs), 1
        self.hs = int(config.loss == "hierarchical")
        self.negative = 0 if self.hs else self.negative
        self.corpus_count = 0 if model is None else model.origin.n_sentences
        self.corpus_total_words = 0 if model is None else model.origin.n_tokens
        kept = {} if model is None else model.origin.begun
        vars(self).update({name: kept[name] for name in _KEPT if name in kept})
        self._vocab = None if model is None else model.vocab
        self._wv, self._made = KeyedVectors(config.dim), (None, None)  # its source and matrix

    def __setattr__(self, name, value):
        if name in self.settled and getattr(self, name, value) != value:
            there = f"{type(self).__name__}({name}={value!r:.60}, …)"
            raise ConfigError(f"{name} is fixed when a model is made; make another: {there}")
        refused.set_to(self, name, self.remedies | refused.WORD2VEC_SET)
        super().__setattr__(name, value)

    def __getattr__(self, name):
        remedies = self.remedies
        if not name.startswith("_") and hasattr(KeyedVectors, name):
            remedies = {**remedies, name: f"use its vectors: .wv.{name}"}
        raise refused.attribute(self, name, remedies)

    def __getitem__(self, word):
        raise ConfigError("a model has no words; use its vectors: .wv[word]")

    def __str__(self):
        words = 0 if self._vocab is None else len(self._vocab)
        return f"{type(self).__name__}<vocab={words}, vector_size={self.vector_size}, alpha={self.alpha}>"

    def build_vocab(
        self, corpus_iterable=None, corpus_file=None, update=False, progress_per=10000, keep_raw_vocab=False,
        trim_rule=None, **kwargs,
    ):  # fmt: skip
        """Count the words of a corpus; with `update`, its words are added to the vocabulary, and counts add up.

        New words have vectors once `train` has been called.
        """
        refused.unless(None, _TRIM, trim_rule=trim_rule)
        corpus = _corpus(corpus_iterable, corpus_file)
        if not update:
            self._count(corpus)
            self._begin_anew()
            return
        if self._vocab is None:
            raise ConfigError("there is no vocabulary to update; leave update=True out")
        self._keep_changes()
        former = self._vocab
        self._count(corpus, min_count=1, max_vocab=None)
        self._vocab = former.grown(self._vocab, self.min_count or 1, self.max_final_vocab)

    def _count(self, corpus, **options):
        """Encode a corpus and keep its vocabulary; return the EncodedCorpus. options : ours, for this call only"""
        self._take_up()
        encoded = Ours(dataclasses.replace(self.ours.config, **options)).encode(corpus)
        self._vocab, report = encoded.vocab, encoded.report
        empty = report.empty_lines if isinstance(corpus, Input) else 0  # gensim's lists count them
        self.corpus_count, self.corpus_total_words = report.lines - empty, report.tokens
        return encoded

    def _take_up(self, **options):
        """Pass the options kept as attributes to `ours`, and `options`, which are its own."""
        self.ours.set_params(**_ours(vars(self)) | options)

    def _begin_anew(self):
        """Drop model and vectors, for a new vocabulary."""
        self.ours.model, self._made = None, (None, None)
        self._wv._become([], np.zeros((0, self.vector_size), np.float32))

    def build_vocab_from_freq(self, word_freq, keep_raw_vocab=False, corpus_count=None, trim_rule=None, update=False):
        """Use the words of a mapping with counts of at least `min_count`; the first `max_final_vocab` by count."""
        refused.unless(None, _TRIM, trim_rule=trim_rule)
        refused.unless(False, "call build_vocab(corpus, update=True)", update=update)
        vocab = Vocabulary.from_counts({word: n for word, n in word_freq.items() if n >= self.min_count})
        self._vocab = Vocabulary(vocab.words[: self.max_final_vocab], vocab.counts[: self.max_final_vocab])
        self.corpus_count = corpus_count or 0
        self._begin_anew()

    def train(
        self, corpus_iterable=None, corpus_file=None, total_examples=None, total_words=None, epochs=None,
        start_alpha=None, end_alpha=None, word_count=0, queue_factor=2, report_delay=1.0, compute_loss=False,
        callbacks=(), **kwargs,
    ):  # fmt: skip
        """Train, or continue training, on the words of the vocabulary; return (trained words, all words).

        Trained words are the known words that subsampling keeps on average. `total_examples`, `total_words` and the
        arguments from `word_count` on, except `callbacks`, have no effect: the corpus is counted anyway.
        A corpus without two known words in a sentence trains nothing, with a warning.
        """
        if self._vocab is None:
            raise ConfigError("there is no vocabulary yet; call build_vocab(corpus) first")
        if epochs is not None and epochs < 1:
            raise ConfigError(f"epochs must be at least 1, not {epochs!r}")
        self.epochs = epochs or self.epochs
        self.alpha, self.min_alpha = start_alpha or self.alpha, end_alpha or self.min_alpha
        return self._train(_corpus(corpus_iterable, corpus_file), callbacks)

    def _train(self, corpus, callbacks):
        def call(moment):
            for callback in callbacks:
                getattr(callback, moment, lambda model: None)(self)

        def hear(event):
            if isinstance(event, EpochDone):
                call("on_epoch_end")
                if event.epoch < event.epochs:
                    call("on_epoch_begin")

        call("on_train_begin")
        call("on_epoch_begin")
        begin, ours, is_first = self._keep_changes(), self.ours, isinstance(corpus, Encoded)
        self._made = None, None
        try:
            encoded = corpus if is_first else ours.encode(corpus, vocab=self._vocab)
            n_words = encoded.report.tokens
            subsample = self.sample
            if subsample > 0 and 0 < n_words < _SHORT:
                warnings.warn(f"a text of {n_words} words is too short for subsampling, which is off", stacklevel=3)
                subsample = 0
            self._take_up(subsample=subsample)
            ours.fit(encoded, listeners=[hear], init=begin)
        except NothingToTrainError as error:
            if is_first:  # there is no model yet
                raise
            warnings.warn(f"nothing was trained: {error}", stacklevel=3)
            call("on_train_end")
            return 0, self.epochs * _n_words(corpus)
        self._vocab = ours.model.vocab
        if self._as_trained or len(self._wv):  # others are costly, and may not be needed
            self._follow()
        call("on_train_end")
        tokens = next((row["tokens"] for row in reversed(ours.model.history) if row["event"] == "EpochDone"), 0)
        keep = keep_thresholds(self._vocab.counts, subsample) / 2.0**32
        kept = sum(keep[encoded.ids[at : at + _BLOCK]].sum() for at in range(0, len(encoded), _BLOCK))
        share = float(kept) / max(1, len(encoded))
        return round(tokens * share), self.epochs * n_words

    @property
    def wv(self):
        """The KeyedVectors of the words, always the same object; the initial vectors before training.

        Rows may be set: training starts from them, and `save` writes them. Vectors made of n-grams, or by a read-out
        other than ``in``, are read-only.
        """
        self._follow()
        return self._wv

    def _follow(self):
        """Bring `wv` up to date with the model."""
        source = self._vocab if self.ours._model is None else self.ours.wv
        if self._made[0] is not source:
            vectors = self._vectors(source)
            model = self.ours._model
            own = self._as_trained and model is not None  # those of `Vectors` are read-only
            matrix = (model.best_matrix("vectors_in") if own else vectors.matrix).view()
            if not self._as_trained:
                matrix.flags.writeable = False
            self._wv._become(vectors.words, matrix, vectors.counts, vectors.spellings)
            self._made = source, self._wv.matrix

    @property
    def _as_trained(self):
        """Whether the vectors are trained rows themselves (bool)."""
        if KINDS["inputs"][self.ours.config.inputs].derived:
            return False
        return self.ours._model is None or parse(self.ours._model.config.readout).rows_as_trained

    def _vectors(self, source):
        """Return the trained Vectors, or the initial ones of a vocabulary."""
        if not isinstance(source, Vocabulary):
            return source
        self._take_up()
        rows, places = Model.fresh(source, self.ours.config).vectors_in, self._wv.words.find_all(source.words)
        rows[places >= 0] = self._wv.matrix[places[places >= 0]]  # of a vocabulary that has grown
        return Vectors(source.words, rows, source.counts)

    def _keep_changes(self):
        """Return what training starts from, with the rows of `wv` as they are now: a Model, Vectors, or None.

        ConfigError if `wv` was changed in a way that a model cannot keep.
        """
        (source, matrix), wv, model = self._made, self._wv, self.ours._model
        if source is None:
            return model
        if wv.words != source.words or not np.array_equal(wv.counts, source.counts):
            remedy = "add words by build_vocab(…, update=True); wv.save_word2vec_format(path, fvocab) keeps these"
            raise ConfigError(f"wv was given words or counts that the model would not keep; {remedy}")
        changed = wv.matrix is not matrix  # other than in place
        if model is not None and self._as_trained:  # a copy of this object has matrices of its own
            changed = changed or not np.may_share_memory(wv.matrix, model.vectors_in)
        if changed and not self._as_trained:
            remedy = "wv.save_word2vec_format(path) keeps them as they are"
            raise ConfigError(f"vectors of n-grams or a read-out are recomputed, without your changes; {remedy}")
        if model is None:
            return wv if self._as_trained else None
        if changed:
            model.vectors_in[:] = wv.matrix
            self._made = None, None
            self._follow()
        return model

    @property
    def syn1neg(self):
        """The vectors of words as contexts, float32 (n, dim)."""
        return self.ours.model.vectors_out

    def get_latest_training_loss(self):
        """Return the sum of the loss over all pairs since training began (float)."""
        history = [] if self.ours._model is None else self.ours._model.history
        return float(sum(row["loss"] * row["pairs"] for row in history if row["event"] == "EpochDone"))

    def predict_output_word(self, context_words_list, topn=10):
        """Return the most probable words within this context, with probabilities; None if none of it is known."""
        model = self.ours._model
        if model is None or self.hs:
            raise ConfigError("predict_output_word needs a model trained with negative samples: hs=0 and negative=5")
        words = [context_words_list] if isinstance(context_words_list, str) else list(context_words_list)
        known = [word for word in words if word in model.vocab]
        if not known:
            return None
        logits = model.vectors_out @ self.wv[known].mean(axis=0)
        probabilities = np.exp(logits - logits.max())
        probabilities /= probabilities.sum()
        rows = np.argsort(-probabilities, kind="stable")[:topn].tolist()
        return [(model.vocab.words[row], float(probabilities[row])) for row in rows]

    def save(self, path, **kwargs):
        """Write a model folder, in which nothing is pickled; arguments for pickles are ignored."""
        self._keep_changes()
        self._wv.check_attributes()
        self.ours.model.origin.begun |= {name: getattr(self, name) for name in _KEPT}
        self.ours.save(path)

    @classmethod
    def load(cls, path, **kwargs):
        """Read a model folder that `save` or ``w2vneg train --save-model`` wrote."""
        there, here = "model.wv.save_word2vec_format(path)", "KeyedVectors.load_word2vec_format(path)"
        refused.pickle_at(path, f"call {there} there, {here} here")
        model = cls.__new__(cls)
        model.ours = Ours.load(path)
        model._settle()
        return model


def _ours(given):
    """Translate gensim's options into ours, dict of str -> value; ConfigError if hs and negative do not fit."""
    hs, negative = given["hs"], given["negative"]
    if hs and negative:
        raise ConfigError("hs=1 trains without negative samples here; give hs=1, negative=0, or leave hs out")
    if not hs and negative == 0:
        raise ConfigError("hs=0, negative=0 trains nothing; give negative=5, or hs=1 for hierarchical softmax")
    found = {ours: given[name] for name, ours in _OPTIONS.items()}
    found["min_count"] = 1 if found["min_count"] == 0 else found["min_count"]  # 0 keeps all words, as 1 does
    return found | ({"negatives": None, "noise_exponent": None} if hs else {})


def _n_words(corpus):
    """Return how many words a corpus of `_corpus` has (int); 0 if it is an exhausted iterator."""
    if isinstance(corpus, Input):
        return sum(_n_words(LineSentence(file)) for file in find_files(corpus.files))
    return sum(map(len, corpus))


def _corpus(sentences, corpus_file):
    """Return what `fit` should read; ConfigError unless one of the two is given, and in the right form."""
    if (sentences is None) == (corpus_file is None):
        raise ConfigError("give either sentences, lists of words, or corpus_file, the path of a text")
    if isinstance(sentences, str | bytes | os.PathLike):
        raise ConfigError(f"sentences are lists of words; for a file, use corpus_file={str(sentences)!r:.60}")
    if isinstance(sentences, list | tuple):  # a tuple of two words is a sentence here, not a pair
        sentences = [list(words) if isinstance(words, tuple) else words for words in sentences]
    if isinstance(sentences, LineSentence) and sentences.limit is None and sentences.max_sentence_length >= 10000:
        corpus_file = sentences.source  # the run reads the file itself, which is faster
    return sentences if corpus_file is None else Input("corpus", corpus_file, tokenizer="whitespace", plain=True)
