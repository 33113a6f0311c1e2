"""A search over options: what to try, its trials, the best of them."""
