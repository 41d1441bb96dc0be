"""Finds the parts of a query in its text: blocks, clauses, sources, hints, window functions."""
