"""Named data: corpora, evaluation sets and vectors, where they come from, and how their arrival is verified.

A name resolves to a file in this order: a path that exists; the data folder; the cache; the copy that an installed
gensim carries among its test data; a mirror (folder or address); the official address. The facts (checksums, addresses,
licences, citations) are in the TOML manifests of ``data/`` and ``eval_sets/``.
"""

from .manifests import Dataset, info, names
from .places import cache_place, fetch, resolve, where

__all__ = ["Dataset", "cache_place", "fetch", "info", "names", "resolve", "where"]
