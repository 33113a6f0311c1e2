"""Vectors with their words: `named_rows` compares them, `search` finds the nearest, `keyed` has gensim's names."""

from .search import top_rows
from .vectors import Vectors, spells, with_spellings

__all__ = ["Vectors", "spells", "top_rows", "with_spellings"]
