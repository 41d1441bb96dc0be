"""Joins in a query: those that keep time attributes, and joins with the version of a table."""
