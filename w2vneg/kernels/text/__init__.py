"""Bytes of text: tokens, rows of tables, decimal numbers."""
