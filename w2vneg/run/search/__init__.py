"""Searches over options: the combinations to try, their trials, and the best of them."""
