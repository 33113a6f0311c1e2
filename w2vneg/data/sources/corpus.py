"""Text: a sentence a line."""

from . import SOURCES, Source


@SOURCES.register("corpus")
class Corpus(Source):
    help = "Text: a file, folder, glob, - for standard input, or a name of 'w2vneg data list'."
    metavar = "PATH|NAME"
    catalog = "corpus"

    @classmethod
    def encode(cls, given, vocab_out=None, **shaping):
        from ..encoded import encode_corpus

        return encode_corpus(list(given.files), **shaping)
