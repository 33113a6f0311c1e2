"""Text: a sentence a line."""

from ...option import option
from . import SOURCES, Source

_READERS = {"whitespace": "text"}  # tokenizer -> reader, where they are called differently


def _check_tokenizer(name):
    from ...errors import ConfigError, did_you_mean
    from ..readers import READERS

    known = [*_READERS, *(reader for reader in READERS if reader not in _READERS.values())]
    if name not in known:
        raise ConfigError(f"tokenizer {name!r} is unknown{did_you_mean(name, known)}")


@SOURCES.register("corpus")
class Corpus(Source):
    help = "Text: a file, folder, glob, - for standard input, or a name of 'w2vneg data list'."
    metavar = "PATH|NAME"
    catalog = "corpus"

    class Options:
        tokenizer: str = option(
            "whitespace",
            "What a word is: all between two blanks, or, for raw text, a run of letters and digits (words).",
            metavar="whitespace|words",
            check=_check_tokenizer,
        )

    @classmethod
    def encode(cls, given, vocab_out=None, **shaping):
        from ..encoded import encode_corpus

        return encode_corpus(list(given.files), reader=_READERS.get(given.tokenizer, given.tokenizer), **shaping)
