"""Measurements quoted in README and docs: speed against rivals, quality on development and test data."""
