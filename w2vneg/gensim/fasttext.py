"""gensim's FastText: `Word2Vec` with character n-grams, so that any spelling has a vector."""

from typing import Any, ClassVar

from ..ground.errors import ConfigError
from ..vectors import Vectors
from ..vectors.formats import fasttext
from . import refused
from .keyedvectors import KeyedVectors
from .word2vec import _SETTLED, Word2Vec

_OWN = ("self", "__class__", "options", "word_ngrams", "min_n", "max_n", "bucket")


class FastText(Word2Vec):
    """Word2vec with character n-grams; arguments are gensim's."""

    inputs: ClassVar = {1: "subwords", 0: "window+subwords"}
    remedies: ClassVar = refused.FASTTEXT
    settled: ClassVar[tuple[str, ...]] = (*_SETTLED, "min_n", "max_n", "bucket", "word_ngrams")

    def __init__(
        self, sentences=None, corpus_file=None, sg=0, hs=0, vector_size=100, alpha=0.025, window=5, min_count=5,
        max_vocab_size=None, word_ngrams=1, sample=1e-3, seed=1, workers=3, min_alpha=0.0001, negative=5,
        ns_exponent=0.75, cbow_mean=1, hashfxn=hash, epochs=5, null_word=0, min_n=3, max_n=6, sorted_vocab=1,
        bucket=2000000, trim_rule=None, batch_words=10000, callbacks=(), max_final_vocab=None, shrink_windows=True,
        **options: Any,
    ):  # fmt: skip
        refused.unless(1, "gensim has only 1, too; leave it out", word_ngrams=word_ngrams)
        if max_n < min_n:
            raise ConfigError("max_n below min_n leaves no n-grams; use Word2Vec to train without them")
        given = dict(locals())
        rest = {name: value for name, value in given.items() if name not in _OWN}
        super().__init__(**rest, minn=min_n, maxn=max_n, buckets=bucket, **options)

    def _settle(self):
        super()._settle()
        self.min_n, self.max_n, self.bucket = map(self.ours.config.get, ("minn", "maxn", "buckets"))
        self.word_ngrams = 1

    def _vectors(self, source):
        return self.ours.read_out("in", oov="letters") if isinstance(source, Vectors) else super()._vectors(source)


def load_facebook_vectors(path, encoding="utf-8"):
    """Return the KeyedVectors of a fastText ``.bin`` file, with a vector for any spelling."""
    return KeyedVectors.of(Vectors.load(path, oov="letters"))


def save_facebook_model(model, path, encoding="utf-8", lr_update_rate=100, word_ngrams=1):
    """Write a trained FastText as a fastText ``.bin`` file."""
    refused.unless("utf-8", "fastText's files are UTF-8; leave it out", encoding=encoding)
    if model.ours._model is None:
        raise ConfigError("there is nothing to save yet; train the model first")
    fasttext.write(path, model.ours.model)


def load_facebook_model(path, encoding="utf-8"):
    """Refuse, with what to do: a ``.bin`` file can be looked up or trained from."""
    raise ConfigError(
        "a fastText .bin file has vectors to look up: load_facebook_vectors(path); to train from them, use "
        "w2vneg.Word2Vec(loss='ns', inputs='subwords', …).fit(corpus, init=path)"
    )
