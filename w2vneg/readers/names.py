"""Names of items as words of a vocabulary: text as it is written, but in one piece."""

import re

import numpy as np

from ..errors import InputError

_WHITE = re.compile(r"\s")


def as_word(name):
    """Return `name` without white space at its ends, and each white space inside turned into ``_`` (str)."""
    return _WHITE.sub("_", name.strip())


class Names:
    """Names numbered in order of first appearance.

    Parameters
    ----------
    lowercase : bool
        Whether names that differ only in case are one.

    Attributes
    ----------
    words : list of str
        The name with number i, as a vocabulary can hold it.
    """

    def __init__(self, lowercase=False):
        self._lowercase = lowercase
        self._numbers = {}  # as written -> int
        self._by_word = {}  # word -> (int, as written but for white space at the ends and case)
        self.words = []

    def __len__(self):
        return len(self.words)

    def number(self, names, place):
        """Return the numbers of `names` (ndarray, int32, (n,)), new ones for those not met before.

        Parameters
        ----------
        names : iterable of str
            None is empty.
        place : str
            Where they stand, for messages.

        Raises
        ------
        InputError
            If two names become one word; the message gives both.
        """
        known = self._numbers
        return np.array([known[name] if name in known else self._enter(name, place) for name in names], np.int32)

    def _enter(self, name, place):
        plain = name.strip().lower() if self._lowercase else name.strip()
        word = as_word(plain)
        number, first = self._by_word.setdefault(word, (len(self.words), plain))
        if first != plain:
            raise InputError(
                f"{place}: the names {first!r} and {plain!r} would both become {word!r}, as white space inside a name "
                "becomes '_'; rename one of them"
            )
        if number == len(self.words):
            self.words.append(word)
        self._numbers[name] = number
        return number
