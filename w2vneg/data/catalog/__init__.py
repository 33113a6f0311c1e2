"""Named data: corpora, evaluation sets and vectors, where they come from, and how downloads are verified."""

from .places import Dataset, at_hand, cache_place, fetch, info, names, names_in_cache, resolve, where

__all__ = ["Dataset", "at_hand", "cache_place", "fetch", "info", "names", "names_in_cache", "resolve", "where"]
