"""Code for vector registers: rows of numbers, a window's targets, eight numbers at a time."""
