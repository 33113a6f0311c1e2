"""Named data: corpora, evaluation sets and vectors, where they come from, and how their arrival is verified."""

from .places import Dataset, cache_place, fetch, info, names, resolve, where

__all__ = ["Dataset", "cache_place", "fetch", "info", "names", "resolve", "where"]
