"""Named data: corpora, evaluation sets and vectors, where they come from, and how their arrival is verified."""

from .manifests import Dataset, info, names
from .places import cache_place, fetch, resolve, where

__all__ = ["Dataset", "cache_place", "fetch", "info", "names", "resolve", "where"]
