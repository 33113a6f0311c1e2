"""What the formats share: the refusal of words that cannot be written, and of what is no finite number."""

import re

import numpy as np

from ..errors import InputError, OutputError
from ..words import END

_BLANK = re.compile(rb"[ \t\n\r\v\f]")
_NUMBERS = 1 << 18  # looked at together


def check_words(path, words):
    """Raise OutputError if one of the words could not be told apart again in a word2vec file.

    Parameters
    ----------
    path : str or Path
        Where they would be written, for the message.
    words : Words
    """
    check_text(path, words)
    if _BLANK.search(words.data) or words.data.startswith(END) or END + END in words.data:
        row, word = next((row, word) for row, word in enumerate(words) if not word or _BLANK.search(word.encode()))
        what = "contains a blank or line end" if word else "is empty"
        raise OutputError(
            f"cannot write {path}: word {row} ({word!r}) {what}, which this format cannot hold; use the format npz"
        )


def check_text(path, words):
    """Raise OutputError if one of the words is no valid Unicode text."""
    try:
        words.data.replace(END, b"\n").decode()
    except UnicodeDecodeError as error:
        row = int(np.searchsorted(words.offsets, error.start, side="right")) - 1
        raise OutputError(
            f"cannot write {path}: word {row} ({words[row]!r}) is no valid Unicode text; rename it"
        ) from None


def row_not_finite(matrix):
    """Return the first row of a float32 (n, dim) with a number that is not finite, None if there is none."""
    step = max(1, _NUMBERS // matrix.shape[1])
    for start in range(0, len(matrix), step):
        finite = np.isfinite(matrix[start : start + step])
        if not finite.all():
            return start + int(np.argmin(finite.all(axis=1)))
    return None


def check_finite(path, matrix, words):
    """Raise InputError naming the first word whose vector has a number that is not finite.

    Parameters
    ----------
    path : str or Path
    matrix : ndarray, float32, (n, dim)
    words : Words, n of them
    """
    row = row_not_finite(matrix)
    if row is not None:
        raise InputError(
            f"{path}: the vector of {words[row]!r} (row {row}) has a number that is NaN or infinite; "
            "the training that made it diverged, or the file is damaged"
        )
