"""Sources and traversals: what a run reads, and how training goes through it. docs/extending.md shows how to write one.

Every file of this folder whose name does not begin with _ is imported: what it holds registers itself. A file is a
source with all that is its own: name, options, how its files are read, and its traversal, unless another source has the
same. Nothing heavy is imported here, so that help comes fast: what reads or trains is imported when it is called.
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
    """How training goes through data: the class says what others must know of it, an object goes through some data.

    The name of a subclass is `TrainConfig.source`, and its `Options` are options of the run.
    source : NamedTuple that answers `fill` and `group` (see `kernels.contracts`)
    n_positions : int, what an epoch's blocks divide: tokens of a text, of baskets or of random walks, visits of rows
    largest_group : int, positives; mean_group : float, of a centre, about
    places : int, of scratch for each position of a block; margin : int, of scratch beside these
    centre_weights : float64, (n_in,), how often each id is the centre in an epoch, on average
    pairs_of : (float64 (n_in,), float64 (n_out,)), pairs of each centre and of each target in an epoch, where they are
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

    data = ""  # the data that are gone through so, in the plural, with their flags: "text (--corpus)"
    kind = "items"  # what ``--help-all`` takes: "text", "items" or "graph"
    loss = "us"  # the objective where none is named
    # the same for two kinds of things, as users and items, where it is another
    bipartite_loss: ClassVar[str | None] = None
    alpha_scale = 1.0  # what a preset's alpha is multiplied by where none is named
    min_count = 1  # how often a word or an item must be seen to be known, where nothing else is requested
    readout = "in"  # the read-out where none is named; chosen on development data (docs/readouts.md)
    noun = "item"  # what the things are called that get vectors, where the source is not known
    # what training goes through, in the plural, for progress; None where pairs say it all
    unit: ClassVar[str | None] = "items"
    of_words = False  # the things are spelt words: their letters may be looked at, and word sets evaluate their vectors
    windows = True  # things stand in an order and have others around them, whose pairs go both ways
    paired = False  # the data are pairs already, with weights
    example: ClassVar[str | None] = None  # the source of such data, where they are `paired`
    divisible = False  # data may be cut anywhere, if need be within a sentence
    recommends = True  # what a vector is good for next is `recommend`, and not `nearest`
    Options: type | None = None  # dataclass of `option` fields, which become options of the run

    def __init_subclass__(cls):
        refuse_misspelt(cls, Traversal)
        cls.Options = own_options(cls)

    @classmethod
    def of(cls, data, config):
        """Return the traversal of encoded data; InputError or ConfigError without a pair, or if options do not fit."""
        raise NotImplementedError

    @classmethod
    def counts_occurrences(cls, data):
        """Tell whether the counts of the vocabulary are how often things occur (bool)."""
        return True

    @classmethod
    def written(cls, data, config):
        """Return what is gone through as sentences: int32 ids, and int64 offsets, (n_sentences + 1,)."""
        return data.ids, data.offsets

    @classmethod
    def counts(cls, data, config, window=None):
        """Return how often each pair is gone through in an epoch, about: csr_matrix; without a window all of one.

        window : int, another than the run's
        """
        from ...kernels.cooccurrence import pair_counts

        window = window or getattr(config.source, "window", None)
        return pair_counts(*cls.written(data, config), len(data.vocab), window, ordered=config.source.ordered)

    @classmethod
    def cooccurrences(cls, data, config, centres):
        """Return how often each of `centres` has each target as a positive, about: numbers (n_centres, n_out)."""
        from ...kernels.cooccurrence import occurring

        window, ordered = getattr(config.source, "window", None), getattr(config.source, "ordered", False)
        if window is None:
            return cls.counts(data, config)[centres].toarray()
        return occurring(*cls.written(data, config), centres, window, len(data.vocab), ordered)

    @classmethod
    def made_up(cls, path, names, rng):
        """Write data of these names (list of str) to a Path and encode them, to be compiled for; rng : random.Random"""
        from ..encoded import encode_corpus
        from ..inputs import Input, encode_input

        lines = (" ".join(rng.sample(names, 12)) for _ in range(40))
        if cls.paired:
            lines = (f"{a}\t{b}\t{rng.randint(1, 3)}" for a in names for b in rng.sample(names, 5))
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        if cls.paired:
            return encode_input(Input(cls.example, str(path)))
        name = next(name for name in TRAVERSALS if TRAVERSALS[name] is cls)
        return replace(encode_corpus([str(path)], min_count=1, use_cache=False), source=name)

    def room(self, block):
        """Return how many int32 `fill` needs for a block of this many positions."""
        return self.places * block + self.margin + 8


def as_gone_through(data, config):
    """Return ids and offsets of sentences, from behind where ordered words around predict the one in the middle.

    The right side of a centre, to which `ordered` keeps, is then what came before it.
    """
    if config.source.ordered and config.inputs.plug.around:
        return data.ids[::-1], len(data.ids) - data.offsets[::-1]
    return data.ids, data.offsets


def check_pairs(offsets, sentence, word, also=""):
    """Raise an error if no sentence has two words, for there is no pair then.

    sentence, word : str, their nouns; also : str, another remedy
    """
    if (offsets[1:] - offsets[:-1]).max() < 2:
        raise NothingToTrainError(
            f"no pair to train on: every {sentence} has one known {word}; give {sentence}s of several {word}s, or "
            f"lower --min-count{also}"
        )


class Source:
    """What is read: files of one kind, named on the command line by the flag ``--NAME``."""

    help: str = ""  # one line for the help
    metavar: str = "PATH"  # how the help writes its value
    repeatable: bool = True  # the flag may be given several times
    catalog: str = "items"  # Which named data it may read: "corpus" or "items"
    # what the things are called that get vectors: "word", "item", "node". Of users and items, rows are users.
    noun: str = "item"
    rows: str = "lines"  # what its files consist of, in the plural, for reports
    # what is kept of them, for reports; {} stands for how many sentences there are: "items in {:,} baskets"
    kept: str = "pairs"
    unit: str = "lines"  # what a split deals out where it deals out no single pairs, in the plural: "users", "baskets"
    paired: bool = False  # its rows are pairs that do not tell whose they are, unless they are of users and items
    timed: bool = False  # its sentences are histories in the order of time, where a column has times
    tables: bool = False  # the files are tables, so that a table in memory may stand for them
    Options: type | None = None  # dataclass of `option` fields: how the files are to be read, and where in them to look

    def __init_subclass__(cls):
        refuse_misspelt(cls, Source)
        if isinstance(cls.traversal, str):
            name = cls.traversal
            cls.traversal = classmethod(lambda cls, given: name)
        if cls.Options is not None:
            cls.Options = as_options(cls.Options)

    # how training goes through the data: a name of `TRAVERSALS`, as ``TrainConfig.source``; or, where options
    # decide, a class method that returns it of an `Input`
    traversal: Any = "text"

    @classmethod
    def encode(cls, given, **shaping):
        """Read the files of an `Input`; returns an EncodedCorpus, EncodedPairs or EncodedGraph, as `traversal` has it.

        given : data.inputs.Input, with ``given.files`` and, as attributes, the options
        **shaping : those of `data.inputs.encode_input`; phrases only if there are any, first of timed sources alone
        """
        raise NotImplementedError

    @classmethod
    def settled(cls, given, encoding, mirror=None):
        """Return an `Input` with what its options leave open and the beginning of its files tells."""
        return given

    @classmethod
    def check(cls, given):
        """Raise ConfigError if the options of an `Input` do not go together."""

    @classmethod
    def advice(cls, given, words):
        """Return what to do about words (PackedStrings) that look as if an Input was read wrongly (str), or None."""


SOURCES = Registry("source", Source)
TRAVERSALS = Registry("source", Traversal)
import_all(__path__, __name__)


def options_of(kind):
    return option.options_of(SOURCES[kind])


def of_users(kind):
    """Tell whether a source's rows are of users (bool), whose histories are read; False for one that is not known."""
    return kind in SOURCES and SOURCES[kind].unit == "users"


def noun_of(kind, source, rectangular=False, targets=False):
    """Return what a model's things are called (str), by its source, and by its traversal where that is not known.

    rectangular : bool, rows and columns are two kinds of things; targets : bool, it is those of the columns
    """
    if rectangular:
        return "item" if targets else "user"
    return SOURCES[kind].noun if kind in SOURCES else traversal_of(source).noun


def traversal_of(source):
    """Return the traversal of a name, or the base of all where a plug-in that is not loaded has it."""
    return TRAVERSALS.get(source, Traversal)


def readers_of(name):
    return [kind for kind in SOURCES if name in options_of(kind)]
