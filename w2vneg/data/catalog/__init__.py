"""Named data: corpora, evaluation sets and vectors, where they come from, and how their arrival is verified.

The facts (checksums, addresses, licences, citations) are in the TOML manifests of ``data/`` and ``eval_sets/``.
"""

from .manifests import Dataset, info, names
from .places import cache_place, fetch, resolve, where

__all__ = ["Dataset", "cache_place", "fetch", "info", "names", "resolve", "where"]
