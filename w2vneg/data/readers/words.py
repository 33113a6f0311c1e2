"""The reader of raw text: the text reader's, with what belongs to no word overwritten by blanks."""

import numpy as np

from . import READERS
from .text import read_text


@READERS.register("words")
def read_words(source, *, encoding="utf-8", lowercase=False):
    """Yield a text file as UTF-8 in which blanks stand for punctuation; `kernels.text.words` says what a word is.

    Parameters
    ----------
    source : sources.Source
    encoding : str
    lowercase : bool

    Raises
    ------
    InputError
        As `text.read_text`.
    """
    from ...kernels.text.words import SPACE, blank_others, kinds_of_characters

    kinds, before = kinds_of_characters(), SPACE
    text = bytearray()
    for piece in read_text(source, encoding=encoding, lowercase=lowercase):
        text += piece
        done, before = blank_others(np.frombuffer(text, np.uint8), False, before, kinds)
        held = text[done:]
        del text[done:]
        yield text
        text = held
    if text:
        blank_others(np.frombuffer(text, np.uint8), True, before, kinds)
        yield text
