"""What the formats share: words as bytes and back, and the refusal of what is no finite number."""

import re

import numpy as np

from ..errors import InputError, OutputError

_BLANK = re.compile(r"[ \t\n\r\v\f]")


def encode_words(path, words):
    """Return the words as UTF-8 bytes; OutputError if one could not be told apart again in a word2vec file.

    Parameters
    ----------
    path : str or Path
        Where they would be written, for the message.
    words : sequence of str

    Returns
    -------
    list of bytes
    """
    if not all(words) or _BLANK.search("".join(words)):
        row, word = next((row, word) for row, word in enumerate(words) if not word or _BLANK.search(word))
        what = "contains a blank or line end" if word else "is empty"
        raise OutputError(
            f"cannot write {path}: word {row} ({word!r}) {what}, which this format cannot hold; use the format npz"
        )
    return [encode_word(path, row, word) for row, word in enumerate(words)]


def encode_word(path, row, word):
    """Return one word as UTF-8 bytes; OutputError if it is no valid Unicode text."""
    try:
        return word.encode("utf-8")
    except UnicodeEncodeError:
        raise OutputError(f"cannot write {path}: word {row} ({word!r}) is no valid Unicode text; rename it") from None


def check_finite(path, matrix, words):
    """Raise InputError naming the first word whose vector has a number that is not finite.

    Parameters
    ----------
    path : str or Path
    matrix : ndarray, float32, (n, dim)
    words : sequence of str, n of them
    """
    for start in range(0, len(matrix), 65536):
        finite = np.isfinite(matrix[start : start + 65536]).all(axis=1)
        if not finite.all():
            row = start + int(np.argmin(finite))
            raise InputError(
                f"{path}: the vector of {words[row]!r} (row {row}) has a number that is NaN or infinite; "
                "the training that made it diverged, or the file is damaged"
            )


def unique_or_raise(path, words):
    """Raise InputError naming the first word that occurs twice among `words`."""
    if len(set(words)) == len(words):
        return
    seen = {}  # word -> row
    for row, word in enumerate(words):
        if word in seen:
            raise InputError(f"{path}: the word {word!r} occurs twice (rows {seen[word]} and {row}); keep one of them")
        seen[word] = row
