"""Base classes of the plugs: what losses, samplers, weighers and inputs say of themselves, and what holds if not.

A plug is a class with annotated fields, numbers and arrays, which compiled code sees as a named tuple. Its ``Options``
are a dataclass of `option` fields, from which command line, TOML, Python keywords, searches and help follow.
"""

import difflib
import inspect
from collections import Counter, namedtuple
from typing import ClassVar

import numpy as np

from ..ground.errors import ConfigError, did_you_mean
from ..ground.option import option, options_of, own_options
from ..ground.registry import About

__all__ = ["About", "Inputs", "Loss", "Plug", "Sampler", "Weigher", "option"]  # what a plug is written with


def small_rows(shape, seed, first=None):
    """Return rows as word2vec begins with, float32, uniform on ±1 / (2 dim), of centres with the number that is held.

    seed : int, or a list of them; first : float, that number, 0 or None for none
    """
    rows = np.random.default_rng(seed).random(shape, np.float32)
    rows -= np.float32(0.5)
    rows /= np.float32(shape[1])
    if first:
        rows[:, 0] = first
    return rows


_made: Counter[str] = Counter()  # name of a class -> how many of it there were


class PlugType(type):
    """Makes a named tuple of a plug's fields and refuses names that the base class does not know.

    base : bool, it is no plug but a base of some; fields : bool, these have its fields, behind their own
    """

    def __new__(cls, name, bases, body, base=False, fields=False):
        body = body | {"__slots__": ()}
        plain = super().__new__(cls, name, bases, body)
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
        record = namedtuple(name, names, defaults=defaults)
        body = {key: value for key, value in body.items() if key not in names}
        made = super().__new__(cls, name, (record, *bases), body)
        made.__annotations__ = annotations
        made.Options = own_options(made)
        _made[name] += 1
        if _made[name] > 1:  # redefined in a notebook: machine code of classes of one name would be taken for one
            made.__name__ = f"{name}_{_made[name]}"
        return made

    def __init__(cls, name, bases, body, **kinds):
        super().__init__(name, bases, body)


def _check_names(plug, body):
    """Raise ConfigError for a trait or a method that the base classes do not have but nearly have."""
    (parent, *_) = plug.__bases__
    known = [name for name in dir(parent) if not name.startswith("_")]
    own = {*inspect.get_annotations(plug), *known}
    for name, value in body.items():
        if name.startswith("_") or name in own:
            continue
        constant = not callable(value) and not isinstance(value, classmethod | staticmethod | property)
        near = difflib.get_close_matches(name, known, 1, 0.6 if constant else 0.8)
        if near or constant:
            hint = f"did you mean {near[0]}?" if near else "it may have " + ", ".join(known)
            raise ConfigError(f"{plug.__name__} has no use for {name!r}; {hint} Constants of your own begin with _.")


class Plug(metaclass=PlugType, base=True):
    """What losses, samplers and weighers have in common."""

    _inherited: ClassVar[tuple[dict, dict]] = {}, {}

    about: About | None = None  # what ``w2vneg objectives`` says of it; without one, the docstring's first line
    Options: type | None = None  # frozen dataclass of `option` fields; None: no option of its own
    needs_log_q: bool = False  # it reads log q of the negatives; samplers do not
    needs_centre: bool = False  # it looks at the centre's id or row; words around that predict have none
    parameters: tuple = ()  # names of fields that are rows it trains, saved with the model; see `kernels.contracts`

    @classmethod
    def from_options(cls, options, context):
        """Return an instance for a run: unless overridden, with each field set to the option of its name.

        options : Options, its own; context : registry.RunContext
        """
        own = options_of(cls)
        for name in cls._fields:
            if name not in own and name not in cls._field_defaults:
                hint = f"{did_you_mean(name, own)} Write from_options to fill fields of another kind."
                raise ConfigError(f"{cls.__name__} has the field {name!r}, which is none of its Options{hint}")
        return cls(**{name: getattr(options, name) for name in cls._fields if name in own})

    @classmethod
    def normalise_options(cls, options, given):
        """Return the options, None for those that others make idle; or those of another plug that stands for it.

        options : Options, with defaults filled in; given : TrainConfig, whose `get` tells what the user said
        Raises ConfigError where given options exclude each other.
        """
        return options


class Loss(Plug, base=True):
    """What gradient the logits of a positive and its negatives give; bind ``implement_step``."""

    needs_positive_log_q: bool = False  # it reads log q of the positive
    needs_exclusion: bool = False  # a negative must not be the positive: ``--exclude none`` is refused
    takes_absolute_logits: bool = True  # False: it says no by a negative logit, so ``--absolute-softmax`` is refused
    takes_positive_weight: bool = True  # False: no sum has it beside negatives, so ``--weigh-positive`` is refused
    dense: bool = False  # it scores the whole vocabulary: no sampler, no weigher, an engine of its own, no ``step``
    paths: bool = False  # it decides along paths of a tree: no sampler, no weigher, no ``step``; its fields `starts`
    # and `turns` say which paths, and rows of the output matrix are inner nodes (`kernels.paths`)
    rank_alpha: float = 1.0  # times alpha for many ranks that exchange seldom, as measurements have it
    unstable: str = "lower --alpha"  # what to do when a run diverges, and why it may

    def loss_at_init(self, n_negatives):
        """Return the loss with all logits 0 (float), the reference printed beside it.

        n_negatives : int; of a loss along paths the mean number of nodes on a path, float. A run whose loss climbs
            beyond 5 times a positive one is rolled back.
        """
        raise ConfigError(f"{type(self).__name__} has no loss_at_init, which is required; docs/extending.md shows one")

    def touched(self, weights):
        """Return how often a positive moves each row of the output matrix, on average: float64, (n_vocab,).

        weights : (n_vocab,), how often each target is the positive
        """
        return np.asarray(weights, np.float64) / max(float(np.sum(weights)), 1e-300)


class Sampler(Plug, base=True):
    """Which negatives; bind ``implement_draw``, or ``kernels.ahead.implement_pick`` if no draw depends on anything."""

    gives_log_q: bool = False  # it writes log q of its draws, and binds ``implement_log_prob``
    context_free: bool = False  # no draw depends on the centre, so that a window may share it
    independent: bool = False  # targets enter independently and never twice, rather than n draws with replacement
    needs_neighbours: bool = False  # it counts neighbours in the whole data (``RunContext.neighbours``)
    n_candidates: int = 0  # how many candidates it chooses among; 0: all targets
    batch_groups: int = 0  # groups drawn ahead by `refresh`, without private rows; 0: it draws in the loop
    foreseen: int = 0  # groups, a multiple of `batch_groups`, that `foresee` is shown before their launches; 0: none
    scores_all: tuple | None = None  # (name, what to take instead) of a method that scores all targets for a centre

    @classmethod
    def draws_ahead(cls, options):
        """Tell whether draws are made between launches with these options, which excludes private rows."""
        return False

    @classmethod
    def max_negatives(cls, negatives):
        """Return the places of a set of so many negatives (int); more if draws vary in number."""
        return negatives

    @classmethod
    def cost(cls, options, context):
        """Return the rough nanoseconds that a group's draws add to the loop's own work (float), to size rounds."""
        return 0.0

    def log_target(self, centre_id, logits):
        """Return what the draws are meant to follow: float64, (n_vocab,), log, up to a constant.

        centre_id : int; logits : float64, (n_vocab,). None, the default: what ``log_prob`` answers.
        """
        return None

    def drift(self, vectors_in, vectors_out):
        """Return how far the latest launch's draws are behind the model: mean total variation, float.

        None of draws that are not made ahead, and before there are any.
        """
        return None

    def products(self, weights):
        """Return how many rows of scores of all targets a group costs on average (float), of draws that need them.

        weights : float64, (n_in,), how often each centre comes
        """
        return 1.0

    def foresee(self, centre_ids):
        """Look at the launches to come; called before the first of them, and only if `foreseen`.

        centre_ids : int32, (workers, foreseen), -1 where there is none
        """

    def refresh(self, vectors_in, vectors_out, centre_ids, key):
        """Draw for the next launch; only called if `batch_groups`.

        vectors_in, vectors_out : float32, (n_in, dim) and (n_vocab, dim)
        centre_ids : int32, (workers, batch_groups), -1 where there is none; key : the random stream
        """


class Weigher(Plug, base=True):
    """How much each negative counts; bind ``implement_weigh``."""


class Inputs(Plug, base=True):
    """Whose rows make the vector that is compared with the targets; bind ``implement_gather``."""

    composes: bool = True  # False: the vector is the centre's own row, and there is nothing to gather
    around: bool = False  # the words around make the vector, and the word in the middle is the one positive
    alpha_scale: float = 1.0  # by what the learning rate of a preset is multiplied where none is given
    of_text: bool = False  # it looks at how words are spelt, so items are refused
    rows: tuple = ("vectors_in", "vectors_in")  # names of the matrices that words and n-grams are rows of
    derived: tuple = ()  # matrices that are not trained but made of others, by `compose`

    def room(self, most):
        """Return how many words and n-grams a vector is made of at most, (int, int); most : int, of a group."""
        raise NotImplementedError

    def compose(self, matrices):
        """Write the `derived` matrices; matrices : dict of str -> float32 array, all that are trained."""

    def touched(self, name, walk):
        """Return how often a pair moves each row of a matrix, on average: float64, (n_rows,)."""
        return walk.centre_weights / max(float(walk.centre_weights.sum()), 1e-300)
