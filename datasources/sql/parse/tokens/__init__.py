"""Cursor over the tokens of a statement: names, expressions as text, lists of options."""
