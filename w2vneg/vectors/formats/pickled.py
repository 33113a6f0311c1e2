"""gensim's own file of vectors, a pickle: gensim itself writes it, and nothing here reads it."""

from ...ground.errors import require
from ...ground.files.atomic import atomic_file
from .common import enter


def write(path, vectors):
    """Write what gensim's ``KeyedVectors.load`` reads. MissingExtraError without gensim"""
    require("gensim.models", "gensim", "writing .kv files")
    keyed = vectors.to_gensim()
    with atomic_file(path) as stream:
        keyed.save(stream)  # into one file, however large


_HOLDS = "words, vectors, counts: a pickle that gensim writes; not read"
enter("gensim", _HOLDS, suffixes=(".kv",), extra="gensim", write=write)
