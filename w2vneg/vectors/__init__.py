"""Vectors with their words: `vectors` compares them, `search` finds the nearest, `keyed` has gensim's names."""

from .search import normalised, top_rows
from .vectors import Vectors, spells, with_spellings

__all__ = ["Vectors", "normalised", "spells", "top_rows", "with_spellings"]
