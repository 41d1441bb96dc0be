"""One JSON document in Python, complete: scanner, syntax tree, text of STRING columns, typed values."""
