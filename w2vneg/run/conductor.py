"""One run, from options and data to a trainer; `Word2Vec.fit` and all commands that train use it.

>>> run = Run(config, data)     # checks options and data, before data are read
>>> run.encode()
>>> run.choose()                # chooses open options by held-out pairs
>>> trainer = run.trainer(listeners)
>>> model = trainer.train()
"""

import dataclasses
import warnings
from collections.abc import Iterator
from contextlib import nullcontext
from functools import cached_property

import numpy as np

from ..config.compatibility import check_diagnose
from ..config.options import beside_popularity, without_ranks
from ..data.encoded import Encoded, encode_corpus
from ..data.inputs import Input, as_input, encode_input, of_as_many_kinds
from ..data.readers.sources import is_stream
from ..data.readers.text import check_sentences
from ..data.sources import TRAVERSALS
from ..data.vocab import Vocabulary
from ..ground.errors import ConfigError, FileNote, W2vnegError
from ..ground.events import penalty_chosen
from ..ground.jit import available_threads
from ..objectives.plugins import are_loaded, load_plugins
from .model import keep_contexts
from .penalty import choose_l2, is_open
from .prior import Prior, input_of_model
from .state import merged_before, with_known
from .trainer import Trainer

_FALL = 0.01  # least fall of the loss, as a share of the loss at init
_FEWEST_PAIRS = 10_000  # trained; with fewer, a run has hardly begun
_STARVED = 0.05  # pairs per token; without subsampling even short lines give 20 times as many
_SPREAD = 4  # words per negative; with fewer, positives are drawn so often that the loss of good vectors stays high
_BEHIND = 0.99  # times popularity's metric; a strong penalty comes as close as this
_FEWEST = 100  # words, items or held-out pairs; fewer are too few for a warning


class Run:
    """A run: its options, its data and what it starts from.

    config : TrainConfig; prior : Prior, optional, what the run starts from
    data : as for `Word2Vec.fit`; None for the data of the model that is resumed
    vocab, vocab_out : Vocabulary or path, optional, fixed vocabularies, instead of those built from the data
    mirror : str, optional, where named data are kept
    given : TrainConfig, with the options that the data determine; `config` is its resolved RunSpec
    alpha_share : float, factor for the alpha of an update, by the amount of data read
    W2vnegError if options, data and prior conflict, or name something missing
    """

    def __init__(self, config, data, prior=None, *, vocab=None, vocab_out=None, diagnose=False, mirror=None):
        self.prior, self.diagnose, self.mirror, self.alpha_share = prior or Prior(), diagnose, mirror, 1.0
        self._of_newer_alone = False  # an update of a model that keeps none of its data
        self._vocabularies = {"vocab": vocab, "vocab_out": vocab_out}
        given = as_input(data)
        self._phrases = self.prior.phrases(given.phrases if isinstance(given, Input) else ())
        if given is None:
            if self.prior.model is None:
                raise ConfigError("there are no data: give sentences, an Input, a table, or a path to fit")
            given = input_of_model(self.prior.model, self.prior.place)
        if isinstance(given, Input):
            if config.rectangular:
                given = of_as_many_kinds(given, config)
            if self.prior.model is None:  # otherwise the model's options hold
                _check_before_reading(config, given)
            given = self.prior.settled(given, config.encoding, mirror)
        self.data = given
        self.given = reading(config, given)
        self.prior.check_data(self.given)
        self.config = resolve(self.prior.penalised(self.prior.reading_out(self.given)))
        self.chosen = None  # the result of `choose`
        if diagnose:
            check_diagnose(self.config)
        if self.prior.rows is not None:
            self.prior.rows.check(self.config)
        self.encoded = given if isinstance(given, Encoded) else None

    @cached_property
    def located(self):
        """The data with names resolved to the paths of files."""
        return self.data.located(self.mirror)

    @property
    def own_input(self):
        """The data as `data.encoded.pairs.as_trained` takes them; empty unless they are an `Input`."""
        names = list(getattr(self.encoded and self.encoded.report, "names", ()))
        return self.data.as_dict() | {"names": names} if isinstance(self.data, Input) else {}

    def encode(self, progress=nullcontext):
        """Encode the data; an update extends its model's vocabulary, a resumed run keeps it or builds it again.

        progress : callable; returns a context manager for a callable of (bytes read, total bytes or None), or for None
        """
        data = self.located if isinstance(self.data, Input) else self.data
        vocabularies = {
            name: fixed if fixed is None or isinstance(fixed, Vocabulary) else Vocabulary.load(fixed)
            for name, fixed in self._vocabularies.items()
        }
        if self.prior.way == "update":
            with progress() as report:
                vocabularies = self._grown(data, report)
        elif (model := self.prior.resumed) is not None and not self._own_vocab:
            vocabularies = {"vocab": model.vocab, "vocab_out": model.vocab_out}
        with progress() as report:
            self.encoded = encode(self.config, data, **vocabularies, progress=report, phrases=self._phrases)
        if self.prior.way == "update":
            self.encoded = with_known(self.encoded, self.prior.model)
        elif self.prior.resumed is not None and "update" in self.prior.resumed.origin.begun:
            self.encoded = merged_before(self.encoded, self.prior.resumed)
        return self.encoded

    @property
    def _own_vocab(self):
        """Whether the vocabulary is built from these data; a resumed run then builds it again."""
        if self.prior.resumed is not None:
            return self.prior.model.origin.own_vocab
        fixed = any(vocab is not None for vocab in self._vocabularies.values())
        return self.prior.way != "update" and not fixed

    def _grown(self, data, progress):
        """Return the vocabularies of the model, extended by those of the data (dict)."""
        once = isinstance(data, Encoded | Iterator)
        if once or (isinstance(data, Input) and any(map(is_stream, data.files))):
            raise ConfigError("update=True reads the corpus twice; give a file, an Input or a list of sentences")
        model, config = self.prior.model, self.config
        whole = dataclasses.replace(self.given, min_count=1, max_vocab=None)
        found = encode(resolve(without_ranks(whole)), data, progress=progress, phrases=self._phrases, grows=True)
        self.alpha_share = self.prior.alpha_share(found, config)
        self._of_newer_alone = self.prior.of_newer_alone(found)
        for name in ("config", "given"):
            chosen = getattr(self, name)
            alphas = {which: getattr(chosen, which) for which in ("alpha", "min_alpha")}
            alphas = {which: value * self.alpha_share for which, value in alphas.items() if value is not None}
            setattr(self, name, dataclasses.replace(chosen, **alphas))
        if self._of_newer_alone and self.config.rectangular and not self.prior.freeze:
            warnings.warn(self._of_forgetting(len(found)), FileNote, stacklevel=4)
        pairs = {"vocab": (model.vocab, found.vocab)}
        if found.vocab_out is not found.vocab:
            pairs["vocab_out"] = model.vocab_out, found.vocab_out
        return {name: old.grown(new, config.min_count, config.max_vocab) for name, (old, new) in pairs.items()}

    def _of_forgetting(self, n_new):
        """Return a warning about an update on `n_new` newer pairs alone (str)."""
        what = f"{self.prior.place or 'the model'} does not keep the {self.prior.n_before:,} pairs it was trained on"
        effect = f"only the {n_new:,} newer ones are trained on, and little by little the others are forgotten"
        return f"{what}, so {effect}; better give all pairs, old and new, or --freeze"

    @property
    def chooses(self):
        """Whether an option is left open for `choose`: the L2 penalty, with short histories."""
        fresh = self.prior.way in ("", "init") and not self.prior.freeze
        return fresh and is_open(self.given, self.config, self.encoded)

    def choose(self, listeners=(), validation=None, of_command=False):
        """Choose open options by held-out pairs of the encoded data; listeners receive the resulting event.

        validation : Validation, optional, of the run itself; of_command : bool, as for `Trainer.train`
        KeyboardInterrupt after Ctrl-C
        """
        if self.chooses:
            self.chosen = choose_l2(self.config, self.encoded, of_command, validation)
            self.config = dataclasses.replace(self.config, l2=self.chosen.l2)
            for listener in listeners:
                listener(self.chosen)

    def trainer(self, listeners=(), validation=None, checkpoints=None):
        """Return the `Trainer` of the encoded data; its model records its data and how it started."""
        config = self.config
        own_vocab = self._own_vocab
        begun = self.prior.as_dict(self._of_newer_alone)  # before `Trainer` replaces a resumed model's origin
        resumed, rows = self.prior.resumed, self.prior.rows
        trainer = Trainer(self.encoded, config, listeners, resumed, self.diagnose, validation, checkpoints, rows)
        origin = trainer.model.origin
        if self.chosen is not None:
            trainer.model.history.append(self.chosen.as_dict())
        if self.prior.way == "update" and (former := self.prior.model) is not None:
            keep_contexts(trainer.model, former)
            if former.known is None:
                trainer.model.known = None  # the users' earlier items are unknown
        if isinstance(self.data, Input):
            data = self.data.replace(files="-") if self.data.in_memory else self.data.absolute()
            origin.input, origin.own_vocab = data.as_dict(), own_vocab
        origin.begun = begun | ({} if self.alpha_share == 1 else {"alpha_share": self.alpha_share})
        return trainer

    def alpha_note(self):
        """Return a note about the smaller alpha (str)."""
        alpha, share = self.config.alpha, self.alpha_share
        alphas = f"--alpha {alpha:.3g}, not the model's {alpha / share:.3g}"
        noun, verb = ("text", "is") if self.config.traversal.of_words else ("data", "are")
        old = "user" if self.config.rectangular else self.config.traversal.noun
        part = f"{share:.0%}" if share >= 0.01 else "under 1%"
        why = f"so that old {old}s keep what they learnt"
        return f"The newer {noun} {verb} {part} of all training {noun}: {alphas}, {why}."


def reading(config, data):
    """Return the configuration with the source of its data, an `Input` or encoded data; unchanged for sentences."""
    if isinstance(data, Input):
        rectangular = bool(data.rectangular)
    elif isinstance(data, Encoded):
        rectangular = data.vocab_out is not data.vocab
    else:
        traversal = TRAVERSALS[config.source]
        if not traversal.of_words:
            example = f"{traversal.example or 'ratings'!r}, TABLE{', rectangular=True' * config.rectangular}"
            remedy = f"give Input({example}), with columns named as in training"
            raise ConfigError(f"the options are for {traversal.data}, but the data are sentences; {remedy}")
        return config
    if (config.source, config.rectangular) == (data.source, rectangular):
        return config
    return dataclasses.replace(config, source=data.source, rectangular=rectangular)


def resolve(config):
    """Load the plug-ins and return the resolved configuration; errors are those of `TrainConfig.resolved`."""
    if not are_loaded(config.plugin):  # a plug-in edited while a search runs stays as it was loaded
        load_plugins(config.plugin)
    return config.resolved(cores=available_threads())


def _check_before_reading(config, data):
    """Check the options before any file is read; for a table, they may fit either one kind of name or two."""
    try:
        resolve(reading(config, data))
    except W2vnegError:
        if data.rectangular is not None or "rectangular" not in data.values():
            raise
        resolve(reading(config, data.replace(rectangular=True)))


def encode(config, data, *, vocab=None, vocab_out=None, progress=None, phrases=None, grows=False, first=False):
    """Encode data with the options of a run.

    config : RunSpec; data : located `Input`, encoded data, or sentences as lists of str
    phrases : tuple of data.phrases.Phrase, joined instead of those that the data name
    grows, first : bool, as for `encode_input`
    """
    if isinstance(data, Encoded):
        if vocab is not None or vocab_out is not None:
            raise ConfigError("encoded data have their vocabularies already; leave vocab and vocab_out out")
        return data
    shaping = config.shaping | {"vocab": vocab, "progress": progress}
    shaping |= {"phrases": phrases} if phrases else {}
    if isinstance(data, Input):
        return encode_input(data, vocab_out=vocab_out, grows=grows, first=first, **shaping)
    if vocab_out is not None:
        raise ConfigError("sentences have one vocabulary; leave vocab_out out")
    check_sentences(data)
    return dataclasses.replace(encode_corpus(data, **shaping), phrases=tuple(phrases or ()))


def doubts_of(trainer):
    """Return warnings about the data and the result of a finished `Trainer` (list of str).

    The last epoch's loss is compared with the loss at init, because the first epoch's may be low already, as in a run
    that resumes or starts from vectors. If the first epoch's is higher, as after a bad start, that one is used.
    """
    history = [record for record in trainer.model.history if record.get("event") == "EpochDone"]
    if not history:
        return []
    first, loss, at_init, doubts = history[0], history[-1]["loss"], history[-1]["untrained"], []
    n_pairs, highest = sum(record["pairs"] for record in history), max(at_init, first["loss"])
    factor, config, left = trainer.model.position.alpha_factor, trainer.config, ""
    if getattr(config.source, "subsample", 0) and first["pairs"] < first["tokens"]:
        left = f"subsampling left {first['pairs']:,} pairs of {first['tokens']:,} tokens; give --subsample 0"
    crowded = config.exclude == "none" and len(trainer.model.vocab_out) <= _SPREAD * config.negatives
    chance = "so the vectors are little better than chance"
    if factor < 1 and loss > (1 - _FALL) * at_init:
        what = f"training diverged: the loss is {loss:.4f}, after {at_init:.4f} at init"
        doubts.append(f"{what}, {chance}; give an --alpha below {factor * config.alpha:.3g}")
    elif left and first["pairs"] < _STARVED * first["tokens"]:
        doubts.append(left)
    elif n_pairs >= _FEWEST_PAIRS and loss > (1 - _FALL) * highest and not crowded:
        remedy = left or "check how the data were read, then give more --epochs or a higher --alpha"
        what = f"the loss has hardly fallen ({at_init:.4f} at init, {loss:.4f} in the last epoch)"
        doubts.append(f"{what}, {chance}: the data may have been misread, or be too few; {remedy}")
    return [*doubts, *_of_popularity(trainer), *_of_counts(trainer)]


def _of_popularity(trainer):
    """Yield a warning if held-out pairs show that a model of items is worse than popularity."""
    validation, best = trainer.validation, getattr(trainer.model, "best", None)
    chosen = penalty_chosen(trainer.model.history) or {}
    found = chosen.get("figures", {})
    if validation is not None and best is not None and best.figures:
        popular, name = validation.of_popularity(trainer.model), validation.metric.name
        value, few = best.figures[name], len(validation.held) < _FEWEST
        if popular is None or few or not validation.metric.better(popular, value):
            return
    elif found and found[chosen["l2"]] < _BEHIND * chosen["popularity"]:
        name, value, popular = chosen["metric"], found[chosen["l2"]], chosen["popularity"]
    else:
        return
    remedy = f"give {beside_popularity(trainer.config, bool(found))}"
    remedy += ", or use 'w2vneg slim'" if trainer.config.traversal.kind == "items" else ""
    figures = f"{name} {value:.4f}, popularity {popular:.4f}"
    yield f"on held-out pairs this model is not better than popularity alone ({figures}); {remedy}"


def _of_counts(trainer):
    """Yield a warning for each vocabulary of which more than half occur only once.

    Counts of nodes are visits, and fractional weights are not counts. Most words of many texts occur once, which
    matters only if they are kept.
    """
    model, traversal = trainer.model, trainer.config.traversal
    if trainer.config.min_count > 1 or not traversal.counts_occurrences(trainer.corpus):
        return
    two = model.vocab_out is not model.vocab
    for noun, vocab in (("centre", model.vocab), ("target", model.vocab_out))[: 1 + two]:
        n_once = int(np.count_nonzero(np.asarray(vocab.counts) == 1))
        if len(vocab) >= _FEWEST and 2 * n_once > len(vocab):
            why = "" if traversal.of_words else " the column or delimiter may be wrong; check how they were read, or"
            what = f"{n_once:,} of {len(vocab):,} {noun if two else traversal.noun}s occur once"
            yield f"{what}, and little can be learnt about these:{why} leave them out with --min-count 2"
