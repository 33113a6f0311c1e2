"""Word vectors: `named_rows` compares them, `search` finds the nearest, `keyed` adds gensim's methods."""

from .search import top_rows
from .vectors import Vectors, spells, with_spellings

__all__ = ["Vectors", "spells", "top_rows", "with_spellings"]
