"""Parses the text of a statement into one of `datasources.sql.statements.statements`."""

from datasources.sql.parse.statement import parse_statement
from datasources.sql.parse.types import parse_type

__all__ = ["parse_statement", "parse_type"]
