"""Ranks and analogies over whole matrices."""
