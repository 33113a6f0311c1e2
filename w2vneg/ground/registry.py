"""Registries: one table of names and plugs per kind."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .errors import ConfigError, UnknownNameError, did_you_mean
from .option import PlugOptions

if TYPE_CHECKING:
    import numpy as np


class Sharing(IntEnum):
    """What shares one set of negatives: a single pair, all pairs of a centre, or all centres of a window."""

    NO = 0
    CENTRE = 1
    WINDOW = 2


@dataclass(frozen=True)
class About:
    """Description of a plug for ``w2vneg objectives``; its class holds one as ``about``.

    summary : str, one line; equation : str, in plain text; paper : str, authors and equations or sections
    cost : str, for each pair, in dot products and the like; use : str, when to choose it
    """

    summary: str
    equation: str
    paper: str
    cost: str
    use: str


class Registry(dict):
    """A table of plugs by name; a decorator on a class or function registers it. Unknown names are UnknownNameError.

    kind : str, singular noun of an entry, for messages; base : type, optional, that entries must derive from
    listed : str, optional, how a user lists the entries, for messages
    """

    def __init__(self, kind, base=None, listed=None):
        super().__init__()
        self.kind, self.base, self.listed = kind, base, listed
        self.listeners = []  # called without arguments after every change

    def register(self, name):
        """Return a decorator that registers a plug as `name`; ConfigError if the name is taken or its base wrong."""

        def enter(entry):
            if self.get(name, entry) is not entry:
                raise ConfigError(f"a {self.kind} named {name!r} is registered already; choose another name")
            if self.base is not None and not issubclass(entry, self.base):
                raise ConfigError(
                    f"{entry.__name__} must derive from {self.base.__module__}.{self.base.__name__}, as "
                    "docs/extending.md shows"
                )
            self[name] = entry
            if issubclass(getattr(entry, "Options", None) or object, PlugOptions):
                entry.Options.name = name
            try:
                self._emit()
            except BaseException:
                self.unregister(name)
                raise
            return entry

        return enter

    def __missing__(self, name):
        hint = did_you_mean(name, self) + (f" {self.listed}." if self.listed else "")
        raise UnknownNameError(f"unknown {self.kind} {name!r}{hint}")

    def unregister(self, name):
        """Remove `name` (for tests and notebooks that redefine a plug)."""
        self.pop(name, None)
        self._emit()

    def _emit(self):
        for listener in self.listeners:
            listener()


@dataclass(frozen=True)
class RunContext:
    """What a plug may know about the run it is made for.

    counts : int64, (n_vocab,), how often each target occurs, descending
    dim : int, length of the vectors; workers : int
    max_draws : int, negatives of the largest group (for samplers that allocate room for them)
    mean_draws : float, negatives of a group on average (to estimate the cost of draws); `max_draws` if left out
    neighbours : function without arguments that counts the targets next to each centre: csr_matrix (n_in, n_vocab)
    n_centres : int, rows of the input matrix; the number of targets if left out
    words : PackedStrings of the centres, for inputs; None for others
    run : the run's options that belong to no plug, as attributes: dim, seed, alpha, negatives, share_negatives,
        exclude, absolute_softmax, bounded_steps
    sampler : the sampler of the run, for weighers and losses; None for a sampler
    """

    counts: np.ndarray
    dim: int = 100
    workers: int = 1
    max_draws: int = 10
    neighbours: Callable | None = None
    sampler: tuple | None = None
    n_centres: int | None = None
    mean_draws: float | None = None
    words: Sequence | None = None
    run: Any = None

    def __post_init__(self):
        if self.n_centres is None:
            object.__setattr__(self, "n_centres", len(self.counts))
        if self.mean_draws is None:
            object.__setattr__(self, "mean_draws", float(self.max_draws))


def import_all(path, package):
    """Import all modules of a package, given as its ``__path__`` and ``__name__``, except those that begin with _."""
    for module in pkgutil.iter_modules(path):
        if not module.name.startswith("_"):
            import_module(f"{package}.{module.name}")
