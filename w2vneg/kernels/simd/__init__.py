"""Code for vector registers: rows of numbers, a window's targets, text in blocks of bytes."""
