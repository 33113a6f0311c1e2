"""Which items are kept: a vocabulary out of names and how often each was seen."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...ground.errors import ConfigError, InputError
from ..sources import Traversal
from ..vocab import Vocabulary
from .passes import check_choice

_MOST = 2**62


class Choice(NamedTuple):
    """How items are chosen: min_count, max_vocab : int or None; vocab, vocab_out : Vocabulary or None, fixed ones"""

    min_count: int = Traversal.min_count
    max_vocab: int | None = None
    vocab: Vocabulary | None = None
    vocab_out: Vocabulary | None = None

    def checked(self, rectangular):
        """Return itself; ConfigError if a number is out of range or the vocabularies do not fit the kind of data."""
        for vocab in (self.vocab, self.vocab_out):
            check_choice(self.min_count, self.max_vocab, vocab)
        if not rectangular and self.vocab_out is not None and self.vocab_out is not self.vocab:
            raise ConfigError("items of one kind have one vocabulary; give no other vocab_out, or rectangular=True")
        return self


class Shaping(NamedTuple):
    """What every table of items takes by keywords: how names become a vocabulary and ids.

    min_count : int
        Leave out items seen less often; an item's count is the sum of its weights, in both columns if of one kind, and
        in histories how many of them hold it.
    max_vocab : int, optional
        Keep only so many of the most frequent items.
    vocab, vocab_out : Vocabulary, optional
        Keep to these; rows with other names are left out. The second is that of the columns, if rectangular.
    encoding : str
    lowercase : bool
        Names that differ only in case become one.
    progress : callable, optional
        Called with (stored bytes read, stored bytes in all or None) now and then.
    """

    min_count: int = Traversal.min_count
    max_vocab: int | None = None
    vocab: Vocabulary | None = None
    vocab_out: Vocabulary | None = None
    encoding: str = "utf-8"
    lowercase: bool = False
    progress: Callable | None = None

    def choice(self, rectangular):
        """Return the `Choice` of items; ConfigError if a number is out of range or the vocabularies do not fit."""
        return Choice(*self[:4]).checked(rectangular)


def choose_items(words, seen, choice, vocab, what="item"):
    """Choose the items that training is to know.

    Parameters
    ----------
    words : list of str
    seen : ndarray, float64, (n,)
        How often each was seen; parts count as whole.
    choice : Choice
    vocab : Vocabulary or None
        The one to keep to, if it is fixed.
    what : str
        What an item is called in messages.

    Returns
    -------
    vocab : Vocabulary
    ids : ndarray, int32, (n,)
        Id of each of `words`, -1 if it is left out.

    Raises
    ------
    InputError
        If fewer than two are left, or none of them is in the fixed vocabulary.
    """
    if vocab is not None:
        ids = vocab.words.find_all(words)
        if not (ids >= 0).any():
            raise InputError(f"no {what} of the data is in the given vocabulary; do they belong together?")
        return vocab, ids
    if seen.sum() > _MOST:
        raise InputError(f"the weights sum to {seen.sum():g}, which is more than can be counted; scale them down")
    counts = np.ceil(seen).astype(np.int64)
    kept = np.flatnonzero((counts >= choice.min_count) & (counts > 0))
    if kept.size == 0:
        raise InputError(
            f"no {what} reaches min_count={choice.min_count} "
            f"(largest count is {counts.max(initial=0)}); lower --min-count."
        )
    if kept.size == 1:
        raise InputError(
            f"only one {what} ({words[kept[0]][:60]!r}) is left with min_count={choice.min_count}; "
            "training needs at least two: lower --min-count or give more data."
        )
    order = sorted(kept.tolist(), key=lambda i: (-counts[i], words[i]))[: choice.max_vocab]
    ids = np.full(len(words), -1, np.int32)
    ids[order] = np.arange(len(order))
    return Vocabulary([words[i] for i in order], counts[order]), ids
