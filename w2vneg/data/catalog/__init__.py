"""Named data: corpora and evaluation sets, where they come from, and how their arrival is verified.

A name resolves to a file in this order: a path that exists; the data folder; the cache; the copy that an
installed gensim carries among its test data; a mirror (folder or address); the official address. The facts
(checksums, addresses, licences, citations) are in the TOML manifests of ``data/`` and ``eval_sets/``.
"""

from .manifests import Dataset, info, names
from .places import cache_place, fetch, resolve, where

__all__ = ["Dataset", "builtin_corpus", "cache_place", "fetch", "info", "names", "resolve", "where"]


def builtin_corpus(progress=None):
    """Return the Path of the built-in text: documentation of Python and of packages, one paragraph a line."""
    from ..builtin import builtin_path

    return builtin_path(progress=progress)
