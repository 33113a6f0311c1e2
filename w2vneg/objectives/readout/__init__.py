"""Read-outs: how vectors are made from the two trained matrices. One read-out per file.

A read-out is named by text: ``in``, ``both``, ``both+letters``, ``both:whitening=0.25+letters:share=0.4``. The first
part makes vectors from the matrices; parts after a plus refine them; options follow colons. docs/extending.md shows how
to write one. Every file of this folder whose name does not begin with _ is imported: its read-outs register themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ...ground.errors import ConfigError, did_you_mean, refuse_misspelt
from ...ground.option import as_options, checked, kind_of, options_of
from ...ground.option import option as option  # read-outs import it from here
from ...ground.registry import About, Registry, import_all

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Trained:
    """The input of a read-out.

    vectors_in, vectors_out : float32, (n_vocab, dim), the two matrices, X and Y
    words : sequence of str, n_vocab of them; counts : int64, (n_vocab,)
    contexts : float32, (n_vocab, dim), optional, the mean of Y over the words around each word (`kernels.bags`)
    spell : bool, keep the object that gives any spelling a vector, if the read-out has one (`Chain.spellings`)
    spellings : object, optional, the one of the parts so far, for a read-out that refines
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
        """Return whether vectors share memory with a trained matrix, which must not be changed."""
        import numpy as np

        return any(m is not None and np.may_share_memory(m, vectors) for m in (self.vectors_in, self.vectors_out))


class Readout:
    """Makes vectors from a trained model, or refines those that another read-out made."""

    about: About | None = None  # shown by ``w2vneg objectives``
    Options: type | None = None  # dataclass of `option` fields
    refines: bool = False  # it follows a plus: `read` receives the vectors made so far
    one_kind: bool = False  # rows and columns must be of one kind, as in text and baskets
    of_text: bool = False  # it is for words only
    needs_contexts: bool = False  # it reads ``Trained.contexts``
    matrices: tuple = ("vectors_in", "vectors_out")  # the ones it reads, if it does not refine; the other may be None
    spellings: Any = None  # gives any spelling a vector, set by `read`
    rules: Any = None  # link words by their spelling (`paradigms.Rules`), set by `read`

    def __init__(self, options: Any = None) -> None:
        self.options = options

    def __init_subclass__(cls):
        refuse_misspelt(cls, Readout)
        if isinstance(vars(cls).get("Options"), type):
            cls.Options = as_options(cls.Options)

    def memory(self, n_vocab: int, dim: int) -> int:
        """Return the peak memory of `read` in bytes, without its input: one matrix, unless overridden."""
        return 4 * n_vocab * dim

    def read(self, trained: Trained, vectors: np.ndarray | None) -> np.ndarray:
        """Return vectors, float32 (n_vocab, dim); a read-out that refines may overwrite the given ones."""
        raise NotImplementedError


READOUTS = Registry("read-out")
DEFAULT = "in"  # for a `Traversal` that names no other, and before a refinement named alone


@dataclass(frozen=True)
class Chain:
    """A read-out and its refinements. text : str, as it was named; parts : tuple of Readout"""

    text: str
    parts: tuple

    @property
    def needs_contexts(self) -> bool:
        return any(part.needs_contexts for part in self.parts)

    def reads(self, matrix: str) -> bool:
        return any(matrix in part.matrices for part in self.parts)

    @property
    def spellings(self) -> Any:
        """The object that gives any spelling a vector, if `Trained.spell` is set and a part has one; else None."""
        return next((part.spellings for part in reversed(self.parts) if part.spellings is not None), None)

    @property
    def rules(self) -> Any:
        """The rules that link words by their spelling (`paradigms.Rules`), if a part has them; else None."""
        return next((part.rules for part in self.parts if part.rules is not None), None)

    @property
    def rows_as_trained(self) -> bool:
        return [part.name for part in self.parts] == ["in"]

    def memory(self, n_vocab: int, dim: int) -> int:
        return sum(part.memory(n_vocab, dim) for part in self.parts)

    def check(self, traversal: Any, rectangular: bool, of_paths: bool = False) -> None:
        """Raise ConfigError if a part does not fit the data: items, pairs, rows and columns of two kinds, or a tree
        (of_paths) whose inner nodes are the rows of the output matrix.
        """
        for part in self.parts:
            if of_paths and (part.needs_contexts or (not part.refines and "vectors_out" in part.matrices)):
                raise ConfigError(f"read-out {part.name} would read nodes of a tree, not words; use --readout in")
            if part.of_text and not traversal.of_words:
                raise ConfigError(f"read-out {part.name} is for words of a text, not for items; leave it out")
            if part.one_kind and rectangular:
                raise ConfigError(f"read-out {part.name} mixes two kinds of things here; use --readout in or out")
            if part.needs_contexts and not traversal.windows:
                raise ConfigError(f"read-out {part.name} needs a text or baskets, not pairs; use --readout both")

    def read(self, trained: Trained) -> np.ndarray:
        """Return the vectors, float32 (n_vocab, dim)."""
        if self.needs_contexts and trained.contexts is None:
            name = next(part.name for part in self.parts if part.needs_contexts)
            raise ConfigError(f"read-out {name} needs sums over the data: train with it, or use --readout both")
        vectors: Any = None
        rows = {len(matrix) for matrix in (trained.vectors_in, trained.vectors_out) if matrix is not None}
        for part in self.parts:
            vectors = part.read(trained, vectors)
            trained = replace(trained, spellings=part.spellings or trained.spellings)
            if getattr(vectors, "ndim", 0) != 2 or len(vectors) not in rows:
                found = getattr(vectors, "shape", vectors)
                raise ConfigError(f"read-out {part.name} returns {found!r:.60}, not a matrix with a row for each word")
        return vectors


def parse(text: str) -> Chain:
    """Parse the name of a read-out; ConfigError, with suggestions, if a part or option is unknown or out of range.

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
            raise ConfigError(f"read-out {text!r}: {name} makes its own vectors; leave out the parts before it")
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
