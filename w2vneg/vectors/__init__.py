"""Vectors with their words: `vectors` compares them, `search` finds the nearest, `keyed` has gensim's names."""

from .search import Coarse, highest, lengths_of, normalised, top_rows
from .vectors import Vectors, spells, with_spellings

__all__ = ["Coarse", "Vectors", "highest", "lengths_of", "normalised", "spells", "top_rows", "with_spellings"]
