"""Expressions of Flink SQL as trees: `expression_parser` reads, `syntax` has the nodes."""
