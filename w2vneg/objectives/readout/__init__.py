"""Read-outs: how vectors are made of the two matrices that training leaves. One read-out a file.

A read-out is named by text: ``in``, ``both``, ``both+letters``, ``both:whitening=0.25+letters:share=0.4``. The first
part makes vectors of the matrices; what follows a plus refines them; options follow colons. docs/extending.md shows how
to write one. Every file of this folder whose name does not begin with _ is imported: its read-outs register themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ...ground.errors import ConfigError, did_you_mean, refuse_misspelt
from ...ground.option import as_options, checked, kind_of, options_of
from ...ground.option import option as option  # read-outs take it from here
from ...ground.registry import About, Registry, import_all

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Trained:
    """What a read-out is made of.

    vectors_in, vectors_out : float32, (n_vocab, dim), the two matrices, X and Y
    words : sequence of str, n_vocab of them; counts : int64, (n_vocab,)
    contexts : float32, (n_vocab, dim), optional, of each word the mean of Y over the words around it (`kernels.bags`)
    spell : bool, keep what gives vectors to any spelling, where the read-out has it (`Chain.spellings`)
    spellings : object, optional, what gives vectors to any spelling so far, for a read-out that refines
    law : callable, optional, () -> (1 + T) / T and log D, see `objectives.law.law_of`
    """

    vectors_in: np.ndarray
    vectors_out: np.ndarray
    words: Sequence[str]
    counts: np.ndarray
    contexts: np.ndarray | None = None
    spell: bool = False
    spellings: Any = None
    law: Callable[[], tuple] | None = None

    def keeps(self, vectors: np.ndarray) -> bool:
        """Tell whether vectors are a trained matrix, which stays as it is, rather than made of one."""
        import numpy as np

        return any(m is not None and np.may_share_memory(m, vectors) for m in (self.vectors_in, self.vectors_out))


class Readout:
    """Makes vectors of a trained model, or refines those that another read-out made."""

    about: About | None = None  # what ``w2vneg objectives`` tells of it
    Options: type | None = None  # dataclass of `option` fields
    refines: bool = False  # it stands behind a plus: `read` is given the vectors made so far
    one_kind: bool = False  # it needs rows and columns of one kind of thing, as a text and baskets have
    of_text: bool = False  # it is for words only
    needs_contexts: bool = False  # it reads ``Trained.contexts``
    matrices: tuple = ("vectors_in", "vectors_out")  # those that it reads, if it does not refine; the other may be None
    spellings: Any = None  # what gives vectors to any spelling, set by `read`
    rules: Any = None  # what joins words by their spelling (`paradigms.Rules`), set by `read`

    def __init__(self, options: Any = None) -> None:
        self.options = options

    def __init_subclass__(cls):
        refuse_misspelt(cls, Readout)
        if isinstance(vars(cls).get("Options"), type):
            cls.Options = as_options(cls.Options)

    def memory(self, n_vocab: int, dim: int) -> int:
        """Return the bytes that `read` takes at its peak beside what it is given: a matrix, unless overridden."""
        return 4 * n_vocab * dim

    def read(self, trained: Trained, vectors: np.ndarray | None) -> np.ndarray:
        """Return vectors, float32 (n_vocab, dim); of one that refines, from former ones, which it may overwrite."""
        raise NotImplementedError


READOUTS = Registry("read-out")
DEFAULT = "in"  # of a `Traversal` that names no other, and before a refinement that is named alone


@dataclass(frozen=True)
class Chain:
    """A read-out and what refines it. text : str, as it was named; parts : tuple of Readout"""

    text: str
    parts: tuple

    @property
    def needs_contexts(self) -> bool:
        return any(part.needs_contexts for part in self.parts)

    def reads(self, matrix: str) -> bool:
        return any(matrix in part.matrices for part in self.parts)

    @property
    def spellings(self) -> Any:
        """What gives vectors to any spelling, if `Trained.spell` asked for it and a part has it; else None."""
        return next((part.spellings for part in reversed(self.parts) if part.spellings is not None), None)

    @property
    def rules(self) -> Any:
        """What joined words by their spelling (`paradigms.Rules`), if a part of it does; else None."""
        return next((part.rules for part in self.parts if part.rules is not None), None)

    @property
    def rows_as_trained(self) -> bool:
        return [part.name for part in self.parts] == ["in"]

    def memory(self, n_vocab: int, dim: int) -> int:
        return sum(part.memory(n_vocab, dim) for part in self.parts)

    def check(self, traversal: Any, rectangular: bool, of_paths: bool = False) -> None:
        """Raise ConfigError if one of them does not fit what was read: rows and columns of two kinds of things, or a
        tree (of_paths) whose inner nodes are the rows of the output matrix.
        """
        for part in self.parts:
            if of_paths and (part.needs_contexts or (not part.refines and "vectors_out" in part.matrices)):
                raise ConfigError(f"read-out {part.name} would read nodes of a tree, not words; take --readout in")
            if part.of_text and not traversal.of_words:
                raise ConfigError(f"read-out {part.name} is for words of a text, not for items; leave it out")
            if part.one_kind and rectangular:
                raise ConfigError(f"read-out {part.name} mixes two kinds of things here; take --readout in or out")
            if part.needs_contexts and not traversal.windows:
                raise ConfigError(f"read-out {part.name} needs a text or baskets, not pairs; take --readout both")

    def read(self, trained: Trained) -> np.ndarray:
        """Return the vectors, float32 (n_vocab, dim)."""
        if self.needs_contexts and trained.contexts is None:
            name = next(part.name for part in self.parts if part.needs_contexts)
            raise ConfigError(f"read-out {name} needs sums over the data: train with it, or take --readout both")
        vectors: Any = None
        rows = {len(matrix) for matrix in (trained.vectors_in, trained.vectors_out) if matrix is not None}
        for part in self.parts:
            vectors = part.read(trained, vectors)
            trained = replace(trained, spellings=part.spellings or trained.spellings)
            if getattr(vectors, "ndim", 0) != 2 or len(vectors) not in rows:
                found = getattr(vectors, "shape", vectors)
                raise ConfigError(f"read-out {part.name} returns {found!r:.60}, not a matrix of a row for each word")
        return vectors


def parse(text: str) -> Chain:
    """Read the name of a read-out; ConfigError with near spellings if a part or an option is unknown or out of range.

    >>> parse("both:whitening=0.25+letters").parts[0].options.whitening
    0.25
    """
    parts: list = []
    for piece in str(text).split("+"):
        name, *given = piece.split(":")
        if name not in READOUTS:
            raise ConfigError(f"unknown read-out {name!r}{did_you_mean(name, READOUTS)}")
        plug = READOUTS[name]
        if plug.refines and not parts:
            parts.append(_made(DEFAULT, READOUTS[DEFAULT], []))
        if parts and not plug.refines:
            raise ConfigError(f"read-out {text!r}: {name} makes vectors of its own; leave out what stands before it")
        parts.append(_made(name, plug, given))
    return Chain(str(text), tuple(parts))


def _made(name, plug, given):
    known, values = options_of(plug), {}
    for item in given:
        key, sign, value = item.partition("=")
        key = key.replace("-", "_")
        if not sign or key not in known:
            hint = did_you_mean(key, known) if known else "; it has no options"
            raise ConfigError(f"read-out {name}: no option {item!r}{hint}")
        try:
            values[key] = checked(known[key], _value(known[key], value))
        except ConfigError as error:
            raise ConfigError(f"read-out {name}: {error}") from None
    made = plug(None if plug.Options is None else plug.Options(**values))
    made.name = name
    return made


def _value(item, text):
    kind = kind_of(item)
    if kind is bool:
        return {"true": True, "false": False}.get(text, text)
    try:
        return text if kind is str else kind(text)
    except ValueError:
        return text


import_all(__path__, __name__)
