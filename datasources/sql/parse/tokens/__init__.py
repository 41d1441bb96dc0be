"""Pieces of statements: names, expressions as text, lists of options."""
