"""Keys that name a word: text, a number, a date, …, or a tuple, as in the training data.

A whole number, 100.0 like 100, is the name "100" if that exists. Otherwise an int is a row, unless most names are
whole numbers: an unknown one would return the wrong row. A tuple whose text is a name is that name: node ``(2, 2)``.
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
"""Types of a key: the word, a number or date as text, or its row; bytes are included so that `text_of` refuses them."""
_LOOKED_AT = 1000  # names checked to decide whether most are numbers


def is_row(key):
    """Return whether a key may be a row: a whole number of an integer type."""
    return isinstance(key, Integral) and not isinstance(key, bool)


def is_name(key, words, lowercase=False):
    """Return whether a tuple names one of the words (PackedStrings), rather than several."""
    return isinstance(key, tuple) and as_word(str(key), lowercase) in words


def mostly_numbers(words):
    """Return whether most words are whole numbers, as names of nodes and items may be: then no number is a row."""
    seen = words[:_LOOKED_AT]
    return 2 * sum(word.removeprefix("-").isdecimal() for word in seen) > len(seen)


def named(given, words, lowercase=False):
    """Return one or several keys as text (list of str); an int that is a row, not a name, gives the word of that row.

    ConfigError for anything else.
    """
    if isinstance(given, KEYS) or is_name(given, words, lowercase):
        keys = [given]
    elif given is None or not np.iterable(given):
        raise ConfigError(f"items and users are looked up by one or several names, not {given!r:.60}")
    else:
        keys = list(given)
    names = [text_of(key) for key in keys]
    if not any(map(is_row, keys)) or mostly_numbers(words):
        return names

    def is_one(key, name):
        return is_row(key) and 0 <= key < len(words) and as_word(name, lowercase) not in words

    return [words[int(key)] if is_one(key, name) else name for key, name in zip(keys, names, strict=True)]
