"""Foundations of all packages: errors, events, options, registries, access to Numba, safe files."""
