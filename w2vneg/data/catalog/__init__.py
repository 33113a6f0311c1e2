"""Named data: corpora, evaluation sets and vectors, where they come from, and how downloads are verified."""

from .places import Dataset, at_hand, cache_place, fetch, info, names, names_in_cache, resolve, where

SIMILARITY = ("ws353", "simlex999", "rw", "men", "mturk287")  # the sets that `eval similarity` and a report use
ANALOGY = ("google",)

__all__ = ["ANALOGY", "SIMILARITY", "Dataset", "at_hand", "cache_place", "fetch", "info", "names", "names_in_cache"]
__all__ += ["resolve", "where"]
