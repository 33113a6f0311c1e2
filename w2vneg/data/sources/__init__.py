"""Sources and traversals: kinds of input, and how training goes through them. docs/extending.md shows how to add one.

Every module in this folder whose name does not begin with _ is imported, and registers its classes. A module holds all
of one source: name, options, how its files are read, and its traversal, unless it shares that of another source. Heavy
imports are delayed until something is read or trained, to keep the help fast.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from ...ground import option
from ...ground.errors import NothingToTrainError, refuse_misspelt
from ...ground.option import as_options, own_options
from ...ground.registry import Registry, import_all

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Traversal:
    """How training goes through data: the class describes the traversal, an instance goes through particular data.

    The registered name of a subclass is `TrainConfig.source`, and its `Options` are options of the run.
    source : NamedTuple that implements `fill` and `group` (see `kernels.contracts`)
    n_positions : int, positions of an epoch, split into blocks: tokens of text, baskets or walks, or visits of rows
    largest_group : int, most positives of a centre; mean_group : float, their mean, about
    places : int, scratch numbers per position of a block; margin : int, scratch in addition
    centre_weights : float64, (n_in,), how often each id is the centre in an epoch, on average
    pairs_of : (float64 (n_in,), float64 (n_out,)), pairs of each centre and of each target in an epoch, if they are
        known; None: about `mean_group` for each time that an id is the centre
    """

    source: tuple
    n_positions: int
    largest_group: int
    mean_group: float
    places: int
    margin: int
    centre_weights: "np.ndarray"
    pairs_of: "tuple[np.ndarray, np.ndarray] | None" = None

    data = ""  # noun for the data, in the plural, with their flags: "text (--corpus)"
    kind = "items"  # the value of ``--help-all``: "text", "items" or "graph"
    loss = "us"  # the default objective
    bipartite_loss: ClassVar[str | None] = None  # that for two kinds of things, such as users and items, if it differs
    alpha_scale = 1.0  # factor on a preset's alpha if none is given
    min_count = 1  # default for the least occurrences of a word or an item
    readout = "in"  # the default read-out; chosen on development data (docs/readouts.md)
    noun = "item"  # noun for the things that get vectors, if the source is unknown
    unit: ClassVar[str | None] = "items"  # unit of progress, in the plural; None if pairs are enough
    of_words = False  # the things are words: their spelling may be used, and word sets evaluate their vectors
    windows = True  # things have an order and contexts, and pairs go both ways
    paired = False  # the data are already weighted pairs
    example: ClassVar[str | None] = None  # a source of such data, if they are `paired`
    divisible = False  # data may be cut anywhere, even within a sentence
    recommends = True  # the command suggested after training is `recommend`, not `nearest`
    Options: type | None = None  # dataclass of `option` fields, which become options of the run

    def __init_subclass__(cls):
        refuse_misspelt(cls, Traversal)
        cls.Options = own_options(cls)

    @classmethod
    def of(cls, data, config):
        """Return the traversal of encoded data; InputError or ConfigError without a pair or with unsuitable options."""
        raise NotImplementedError

    @classmethod
    def counts_occurrences(cls, data):
        """Return whether the counts of the vocabulary are numbers of occurrences (bool)."""
        return True

    @classmethod
    def written(cls, data, config):
        """Return the data as sentences: int32 ids, and int64 offsets, (n_sentences + 1,)."""
        return data.ids, data.offsets

    @classmethod
    def counts(cls, data, config, window=None):
        """Return about how often each pair occurs in an epoch: csr_matrix; all pairs of a sentence without a window.

        window : int, optional, replaces the run's
        """
        from ...kernels.cooccurrence import pair_counts

        window = window or getattr(config.source, "window", None)
        return pair_counts(*cls.written(data, config), len(data.vocab), window, ordered=config.source.ordered)

    @classmethod
    def cooccurrences(cls, data, config, centres):
        """Return about how often each of `centres` has each target as a positive: ndarray (n_centres, n_out)."""
        from ...kernels.cooccurrence import occurring

        window, ordered = getattr(config.source, "window", None), getattr(config.source, "ordered", False)
        if window is None:
            return cls.counts(data, config)[centres].toarray()
        return occurring(*cls.written(data, config), centres, window, len(data.vocab), ordered)

    @classmethod
    def made_up(cls, path, names, rng):
        """Write random data of these names (list of str) to a Path and encode them, to compile; rng : random.Random"""
        from ..encoded import encode_corpus
        from ..inputs import Input, encode_input

        lines = (" ".join(rng.sample(names, 12)) for _ in range(40))
        if cls.paired:
            lines = (f"{a}\t{b}\t{rng.randint(1, 3)}" for a in names for b in rng.sample(names, 5))
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        if cls.paired:
            return encode_input(Input(cls.example, str(path)))
        return replace(encode_corpus([str(path)], min_count=1, use_cache=False), source=cls.Options.name)

    def target_weights(self, names):
        """Return about how often each id is a target, up to a factor: (n_out,). names : Model or encoded data"""
        if names.vocab_out is not names.vocab:
            return names.vocab_out.counts
        return self.centre_weights if self.pairs_of is None else self.pairs_of[1]

    def room(self, block):
        """Return the number of int32 that `fill` needs for a block of this many positions."""
        return self.places * block + self.margin + 8


def as_gone_through(data, config):
    """Return ids and offsets of sentences, reversed if an ordered context predicts the word in the middle.

    `ordered` uses only the right side of a centre, which then holds the words before it.
    """
    if config.source.ordered and config.inputs.plug.around:
        return data.ids[::-1], len(data.ids) - data.offsets[::-1]
    return data.ids, data.offsets


def check_pairs(offsets, sentence, word, also=""):
    """Raise NothingToTrainError if no sentence has two words, as there is no pair then.

    sentence, word : str, their nouns; also : str, another remedy
    """
    if (offsets[1:] - offsets[:-1]).max() < 2:
        raise NothingToTrainError(
            f"no pair to train on: every {sentence} has only one known {word}; give {sentence}s of several {word}s, or "
            f"lower --min-count{also}"
        )


class Source:
    """A kind of input: files given on the command line with the flag ``--NAME``."""

    help: str = ""  # one line for the help
    metavar: str = "PATH"  # how the help writes its value
    repeatable: bool = True  # the flag may be given several times
    catalog: str = "items"  # which named data it may read: "corpus" or "items"
    noun: str = "item"  # noun for the things that get vectors: "word", "node"; with users and items, rows are users
    rows: str = "lines"  # noun for the rows of its files, in the plural, for reports
    kept: str = "pairs"  # what is kept, for reports; {} becomes the number of sentences: "items in {:,} baskets"
    unit: str = "lines"  # noun for what a split by user or time assigns, in the plural: "users", "baskets"
    paired: bool = False  # its rows are pairs without users, unless they are of users and items
    timed: bool = False  # its sentences are histories, in chronological order if there is a time column
    tables: bool = False  # the files are tables, so a table in memory is accepted, too
    Options: type | None = None  # dataclass of `option` fields: how to read the files, and where in them to look

    def __init_subclass__(cls):
        refuse_misspelt(cls, Source)
        if isinstance(cls.traversal, str):
            name = cls.traversal
            cls.traversal = classmethod(lambda cls, given: name)
        if cls.Options is not None:
            cls.Options = as_options(cls.Options)

    # how training goes through the data: a name in `TRAVERSALS`, as in ``TrainConfig.source``; or, if options
    # decide, a class method that returns it for an `Input`
    traversal: Any = "text"

    @classmethod
    def encode(cls, given, **shaping):
        """Read the files of an `Input`; return an EncodedCorpus, EncodedPairs or EncodedGraph to match `traversal`.

        given : data.inputs.Input, with ``given.files`` and, as attributes, the options
        **shaping : those of `data.inputs.encode_input`; phrases only if there are any, first only for timed sources
        """
        raise NotImplementedError

    @classmethod
    def settled(cls, given, encoding, mirror=None):
        """Return an `Input` whose unset options are chosen by the beginning of its files."""
        return given

    @classmethod
    def check(cls, given):
        """Raise ConfigError if the options of an `Input` are incompatible."""

    @classmethod
    def advice(cls, given, words):
        """Return advice (str) if the words (PackedStrings) look as if an Input was misread, else None."""


SOURCES = Registry("source", Source)
TRAVERSALS = Registry("source", Traversal)
import_all(__path__, __name__)


def options_of(kind):
    return option.options_of(SOURCES[kind])


def of_users(kind):
    """Return whether a source reads histories of users (bool); False for an unknown source."""
    return kind in SOURCES and SOURCES[kind].unit == "users"


def noun_of(kind, source, rectangular=False, targets=False):
    """Return the noun for a model's things (str) by its source, or by its traversal if the source is unknown.

    rectangular : bool, rows and columns are two kinds of things; targets : bool, return the noun for the columns
    """
    if rectangular:
        return "item" if targets else "user"
    return SOURCES[kind].noun if kind in SOURCES else traversal_of(source).noun


def traversal_of(source):
    """Return the traversal with a name, or the base class if the name is of a plug-in that is not loaded."""
    return TRAVERSALS.get(source, Traversal)


def readers_of(name):
    return [kind for kind in SOURCES if name in options_of(kind)]
