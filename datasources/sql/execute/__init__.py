"""Execution of statements: one family per file."""
