"""gensim's LineSentence: a file of a sentence a line, tokens between blanks."""

import os
from itertools import islice

from ..data.readers.sources import ByteStream
from ..ground.errors import ConfigError


class LineSentence:
    """Sentences of a file, packed or not, read anew each time.

    source : path; max_sentence_length : int, longer lines are cut into pieces; limit : int or None, lines that are read
    """

    def __init__(self, source, max_sentence_length=10000, limit=None):
        if not isinstance(source, str | os.PathLike):
            raise ConfigError(f"LineSentence takes the path of a file, not {type(source).__name__}")
        self.source, self.max_sentence_length, self.limit = source, max_sentence_length, limit

    @property
    def whole(self):
        """Whether all lines are taken as they are (bool): then training reads the file itself, which is faster."""
        return self.limit is None and self.max_sentence_length >= 10000

    def __iter__(self):
        for line in islice(self._lines(), self.limit):
            words = line.decode().split()
            for start in range(0, len(words), self.max_sentence_length):
                yield words[start : start + self.max_sentence_length]

    def _lines(self):
        rest = b""
        with ByteStream(os.fspath(self.source)) as stream:
            for piece in stream.pieces():
                *lines, rest = (rest + bytes(piece)).split(b"\n")
                yield from lines
        yield rest
