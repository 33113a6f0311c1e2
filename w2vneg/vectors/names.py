"""What names a thing, in every question: text, a number, a day, …, or a tuple, as the data of training have it.

A whole number, 100.0 like 100, is the name "100" if there is one. Else an int is a row, unless most of the names are
whole numbers: an unknown one would answer for a stranger. A tuple is one name if its text is, as of a node ``(2, 2)``.
"""

from datetime import date
from decimal import Decimal
from enum import Enum
from numbers import Integral
from uuid import UUID

import numpy as np

from ..data.words import as_word, text_of
from ..ground.errors import ConfigError

KEYS = (str, int, float, np.integer, np.floating, date, np.datetime64, Decimal, Enum, UUID, bytes, bytearray)
"""What names a word: itself, a number or date as text, or its row; bytes are known, to be refused by `text_of`."""
_LOOKED_AT = 1000  # names that tell whether most are numbers


def is_row(key):
    """Tell whether a key may be a row: a whole number that is no float."""
    return isinstance(key, Integral) and not isinstance(key, bool)


def is_name(key, words, lowercase=False):
    """Tell whether a tuple is one of the words (PackedStrings), rather than several."""
    return isinstance(key, tuple) and as_word(str(key), lowercase) in words


def mostly_numbers(words):
    """Tell whether most words are whole numbers, as names of nodes and items may be: a number is no row then."""
    seen = words[:_LOOKED_AT]
    return 2 * sum(word.removeprefix("-").isdecimal() for word in seen) > len(seen)


def named(given, words, lowercase=False):
    """Return one key, or several, as text (list of str): of an int that is no name, but a row, the word in that row.

    ConfigError for what is neither.
    """
    if isinstance(given, KEYS) or is_name(given, words, lowercase):
        keys = [given]
    elif given is None or not np.iterable(given):
        raise ConfigError(f"items and users are asked for by a name or several, not {given!r:.60}")
    else:
        keys = list(given)
    names = [text_of(key) for key in keys]
    if not any(map(is_row, keys)) or mostly_numbers(words):
        return names

    def is_one(key, name):
        return is_row(key) and 0 <= key < len(words) and as_word(name, lowercase) not in words

    return [words[int(key)] if is_one(key, name) else name for key, name in zip(keys, names, strict=True)]
