"""A thin gensim-compatible interface: gensim's classes, signatures and defaults on top of w2vneg.

``from w2vneg.gensim import Word2Vec`` for ``from gensim.models import Word2Vec``. gensim itself is never imported.
Vectors are trained by w2vneg, so numbers differ from gensim's; files are w2vneg's or word2vec's, never pickles.
Features without a counterpart are refused by a ConfigError or an AttributeError that says what to do.
"""

from . import refused
from .fasttext import FastText, load_facebook_model, load_facebook_vectors, save_facebook_model
from .keyedvectors import KeyedVectors
from .phrases import ENGLISH_CONNECTOR_WORDS, FrozenPhrases, Phraser, Phrases
from .word2vec import CallbackAny2Vec, LineSentence, Text8Corpus, Word2Vec

__all__ = ["ENGLISH_CONNECTOR_WORDS", "CallbackAny2Vec", "FastText", "FrozenPhrases", "KeyedVectors", "LineSentence"]
__all__ += ["Phraser", "Phrases", "Text8Corpus", "Word2Vec"]
__all__ += ["load_facebook_model", "load_facebook_vectors", "save_facebook_model"]


def __getattr__(name):
    """Say what replaces a name of gensim's, in an ImportError, since ``from … import`` hides any other error."""
    if name in refused.MODULE:
        raise ImportError(f"w2vneg.gensim has no {name}; {refused.MODULE[name]}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
