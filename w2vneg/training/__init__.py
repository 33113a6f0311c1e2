"""A run: from encoded data and options to two matrices, with all that happens between rounds."""
