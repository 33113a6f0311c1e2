"""Base classes of the plugs: the traits that losses, samplers, weighers and inputs declare, and their defaults.

A plug is a class with annotated fields, numbers and arrays, which compiled code sees as a named tuple. Its ``Options``
are a dataclass of `option` fields; command line, TOML, Python keywords, searches and help are generated from them.
"""

import difflib
import inspect
from collections import Counter, namedtuple
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..ground.errors import ConfigError, did_you_mean
from ..ground.option import option, options_of, own_options
from ..ground.registry import About

__all__ = ["About", "Inputs", "Loss", "Plug", "Sampler", "Weigher", "option"]  # the names that a plug imports


def small_rows(shape, seed, first=None):
    """Return initial rows as in word2vec, float32, uniform on ±1 / (2 dim); with a bias, its constant comes first.

    seed : int or list of int; first : float, the constant first coordinate of centres, 0 or None for none
    """
    rows = np.random.default_rng(seed).random(shape, np.float32)
    rows -= np.float32(0.5)
    rows /= np.float32(shape[1])
    if first:
        rows[:, 0] = first
    return rows


_made: Counter[str] = Counter()  # name of a class -> number of classes made with it


class PlugType(type):
    """Metaclass: make a named tuple of a plug's fields and refuse names that the base class does not know.

    base : bool, the class is a base of plugs, not a plug; fields : bool, plugs inherit its fields, after their own
    """

    def __new__(cls, name, bases, body, base=False, fields=False):
        body = body | {"__slots__": ()}
        plain: Any = super().__new__(cls, name, bases, body)
        annotations = inspect.get_annotations(plain)
        if fields:
            plain._inherited = annotations, {field: body[field] for field in annotations if field in body}
        if base:
            return plain
        _check_names(plain, body)
        behind, values = plain._inherited
        annotations, values = annotations | behind, values | body
        names = list(annotations) or ["flavour"]  # compiled code has no empty tuple
        defaults = [values[field] for field in names if field in values] if annotations else [0]
        body = {key: value for key, value in body.items() if key not in names}
        made: Any = super().__new__(cls, name, (namedtuple(name, names, defaults=defaults), *bases), body)
        made.__annotations__ = annotations
        made.Options = own_options(made)
        _made[name] += 1
        if _made[name] > 1:  # redefined in a notebook: compiled code finds classes by name
            made.__name__ = f"{name}_{_made[name]}"
        return made


def _check_names(plug, body):
    """Raise ConfigError for an unknown trait, or a method whose name is nearly one of the base class."""
    (parent, *_) = plug.__bases__
    known = [name for name in dir(parent) if not name.startswith("_")]
    own = {*inspect.get_annotations(plug), *known}
    for name, value in body.items():
        if name.startswith("_") or name in own:
            continue
        constant = not callable(value) and not isinstance(value, classmethod | staticmethod | property)
        near = difflib.get_close_matches(name, known, 1, 0.6 if constant else 0.8)
        if near or constant:
            hint = f"did you mean {near[0]}?" if near else "known: " + ", ".join(known)
            raise ConfigError(f"{plug.__name__} does not use {name!r}; {hint} (names of your own begin with _)")


class Plug(metaclass=PlugType, base=True):
    """Common base of losses, samplers, weighers and inputs."""

    _inherited: ClassVar[tuple[dict, dict]] = {}, {}

    if TYPE_CHECKING:  # of the named tuple
        _fields: ClassVar[tuple[str, ...]]
        _field_defaults: ClassVar[dict[str, Any]]

        def __init__(self, *fields: Any, **named: Any) -> None: ...

    about: About | None = None  # shown by ``w2vneg objectives``; if None, the docstring's first line is
    Options: type | None = None  # frozen dataclass of `option` fields; None: no option of its own
    needs_log_q: bool = False  # it reads log q of the negatives; samplers do not
    needs_centre: bool = False  # it reads the centre's id or row, which CBOW does not have
    parameters: tuple = ()  # fields that hold rows it trains, saved with the model; see `kernels.contracts`

    @classmethod
    def from_options(cls, options, context):
        """Return an instance for a run; by default, each field is set from the option of the same name.

        options : Options, its own; context : registry.RunContext
        """
        own = options_of(cls)
        for name in cls._fields:
            if name not in own and name not in cls._field_defaults:
                hint = f"{did_you_mean(name, own)} Write from_options to fill other fields."
                raise ConfigError(f"{cls.__name__} has a field {name!r}, but no option of that name{hint}")
        return cls(**{name: getattr(options, name) for name in cls._fields if name in own})

    @classmethod
    def normalise_options(cls, options, given):
        """Return the options with None for those that have no effect, or the options of a plug that replaces this one.

        options : Options, with defaults filled in; given : TrainConfig, whose `get` returns what the user set
        Raises ConfigError if given options exclude each other.
        """
        return options


class Loss(Plug, base=True):
    """Turns the logits of a positive and its negatives into gradients; bind ``implement_step``."""

    needs_positive_log_q: bool = False  # it reads log q of the positive
    needs_exclusion: bool = False  # a negative must not be the positive: ``--exclude none`` is refused
    takes_absolute_logits: bool = True  # False: it needs negative logits, so ``--absolute-softmax`` is refused
    takes_positive_weight: bool = True  # False: no sum includes the positive, so ``--weigh-positive`` is refused
    dense: bool = False  # it scores the whole vocabulary: no sampler, no weigher, an engine of its own, no ``step``
    paths: bool = False  # binary decisions along paths of a tree: no sampler, weigher or ``step``; the fields `starts`
    # and `turns` hold the paths, and rows of the output matrix are inner nodes (`kernels.paths`)
    rank_alpha: float = 1.0  # factor on alpha for many ranks that exchange rarely, as measured
    unstable: str = "lower --alpha"  # advice when a run diverges

    def loss_at_init(self, n_negatives):
        """Return the loss with all logits 0 (float), which is printed for reference.

        n_negatives : int; for a loss along paths, the mean number of nodes on a path, float. If the value is
            positive, a run whose loss exceeds 5 times it is rolled back.
        """
        raise ConfigError(f"{type(self).__name__} has no loss_at_init, which is required; docs/extending.md shows one")

    def touched(self, weights):
        """Return how often a positive moves each row of the output matrix, on average: float64, (n_vocab,).

        weights : (n_vocab,), how often each target is the positive
        """
        return np.asarray(weights, np.float64) / max(float(np.sum(weights)), 1e-300)


class Sampler(Plug, base=True):
    """Draws the negatives; bind ``implement_draw``, or ``kernels.ahead.implement_pick`` for one fixed distribution."""

    gives_log_q: bool = False  # it writes log q of its draws, and binds ``implement_log_prob``
    context_free: bool = False  # no draw depends on the centre, so a window may share draws
    independent: bool = False  # each target is drawn independently, at most once, instead of n draws with replacement
    needs_neighbours: bool = False  # it counts neighbours in the whole data (``RunContext.neighbours``)
    n_candidates: int = 0  # how many candidates it chooses among; 0: all targets
    batch_groups: int = 0  # groups drawn ahead by `refresh`, without private rows; 0: it draws in the loop
    foreseen: int = 0  # groups, a multiple of `batch_groups`, passed to `foresee` before their launches; 0: none
    scores_all: tuple | None = None  # (name, alternative) of a method that scores all targets for a centre

    @classmethod
    def draws_ahead(cls, options):
        """Return whether these options draw between launches, which rules out private rows."""
        return False

    @classmethod
    def max_negatives(cls, negatives):
        """Return the places reserved for so many negatives (int); more if the number of draws varies."""
        return negatives

    @classmethod
    def cost(cls, options, context):
        """Return roughly how many nanoseconds a group's draws add to the loop (float), to size rounds."""
        return 0.0

    def log_target(self, centre_id, logits):
        """Return the log of the distribution that draws should follow, up to a constant: float64, (n_vocab,).

        centre_id : int; logits : float64, (n_vocab,). None, the default: the one that ``log_prob`` gives.
        """
        return None

    def drift(self, vectors_in, vectors_out):
        """Return how far the latest launch's draws lag behind the model: mean total variation, float.

        None if draws are not made ahead, or none are made yet.
        """
        return None

    def products(self, weights):
        """Return how many times a group scores all targets on average (float), for draws that need all scores.

        weights : float64, (n_in,), how often each centre occurs
        """
        return 1.0

    def foresee(self, centre_ids):
        """Receive the centres of the coming launches; called before the first one, and only if `foreseen`.

        centre_ids : int32, (workers, foreseen), -1 where there is none
        """

    def refresh(self, vectors_in, vectors_out, centre_ids, key):
        """Draw for the next launch; only called if `batch_groups`.

        vectors_in, vectors_out : float32, (n_in, dim) and (n_vocab, dim)
        centre_ids : int32, (workers, batch_groups), -1 where there is none; key : the random stream
        """


class Weigher(Plug, base=True):
    """Weighs the negatives; bind ``implement_weigh``."""


class Inputs(Plug, base=True):
    """Chooses the rows that make the vector compared with the targets; bind ``implement_gather``."""

    composes: bool = True  # False: the vector is the centre's own row, and there is nothing to gather
    around: bool = False  # CBOW: the context words make the vector, and the word in the middle is the only positive
    alpha_scale: float = 1.0  # factor on a preset's learning rate if none is given
    of_text: bool = False  # it reads the spelling of words, so items are refused
    rows: tuple = ("vectors_in", "vectors_in")  # names of the matrices of words and of n-grams
    derived: tuple = ()  # matrices that `compose` makes from trained ones

    def room(self, most):
        """Return the most words and n-grams of a vector, (int, int); most : int, positives of the largest group."""
        raise NotImplementedError

    def compose(self, matrices):
        """Write the `derived` matrices; matrices : dict of str -> float32 array, trained and derived ones."""

    def touched(self, name, walk):
        """Return how often a pair moves each row of a matrix, on average: float64, (n_rows,)."""
        return walk.centre_weights / max(float(walk.centre_weights.sum()), 1e-300)
