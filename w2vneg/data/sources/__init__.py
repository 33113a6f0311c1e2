"""Sources: what a run reads. One source a file; docs/extending.md shows how to write one.

Every file of this folder whose name does not begin with _ is imported: its source registers itself. Nothing heavy is
imported here, so that help comes fast: a source imports what reads its files when `encode` is called.
"""

from ...ground import option
from ...ground.errors import ConfigError, refuse_misspelt
from ...ground.option import as_options
from ...ground.registry import Registry, import_all

SOURCES = Registry("source")

MIN_COUNT = {"text": 5, "baskets": 1, "pairs": 1, "graph": 1}
"""By how data are walked, how often a word or an item must be seen to be known, where nothing else is asked for."""


class Source:
    """What is read: files of one kind, named on the command line by the flag ``--NAME``."""

    help: str = ""
    """One line for the help."""

    metavar: str = "PATH"
    """How the help writes its value."""

    repeatable: bool = True
    """The flag may be given several times."""

    catalog: str = "items"
    """Which named data it may read: "corpus" or "items"."""

    noun: str = "item"
    """What the things are called that get vectors: "word", "item", "node". Of users and items, rows are users."""

    tables: bool = False
    """The files are tables, so that a table in memory may stand for them."""

    reading = None
    """Where a file is sentences, one a line, so that ranks may read a part each: a class method that, given an `Input`,
    returns the options `reader` and `strip` of `data.encoded.encode_corpus` (dict)."""

    Options: type | None = None
    """Dataclass of `option` fields: how the files are to be read, and where in them to look."""

    def __init_subclass__(cls):
        refuse_misspelt(cls, Source)
        if isinstance(cls.walk, str):
            if cls.walk not in MIN_COUNT:
                raise ConfigError(f"{cls.__name__}: walk must be one of {', '.join(MIN_COUNT)}, not {cls.walk!r}")
            always = cls.walk
            cls.walk = classmethod(lambda cls, given: always)
        if cls.Options is not None:
            cls.Options = as_options(cls.Options)

    @classmethod
    def walk(cls, given):
        """Return how the data are walked (str): "text", "baskets", "pairs" or "graph", as ``TrainConfig.source``.

        A subclass may write ``walk = "baskets"`` instead.

        given : data.inputs.Input, with the options as attributes
        """
        return "text"

    @classmethod
    def encode(cls, given, **shaping):
        """Read the files of an `Input`; returns an EncodedCorpus, EncodedPairs or EncodedGraph, as
        `walk` has it.

        Parameters
        ----------
        given : data.inputs.Input
            ``given.files`` and, as attributes, the options.
        **shaping
            min_count, max_vocab, vocab, vocab_out, encoding, lowercase, progress: see `data.inputs.encode_input`.
        """
        raise NotImplementedError


import_all(__path__, __name__)


def options_of(kind):
    """Return the fields of a source's options: dict of name -> dataclasses.Field."""
    return option.options_of(SOURCES[kind])


def noun_of(kind, walk, rectangular=False, targets=False):
    """Return what a model's things are called (str).

    kind : str or None, the source, if it is known; walk : str, as ``TrainConfig.source``
    rectangular : bool, rows and columns are two kinds of things; targets : bool, it is those of the columns
    """
    if rectangular:
        return "item" if targets else "user"
    return SOURCES[kind].noun if kind in SOURCES else "word" if walk == "text" else "item"


def readers_of(name):
    """Return the names of the sources that have an option of this name (list of str)."""
    return [kind for kind in SOURCES if name in options_of(kind)]
