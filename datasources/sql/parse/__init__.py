"""Parses the text of a statement into one of `datasources.sql.statements.statements`.

`statement` chooses the reader by the first word; each file of a family lists its own readers. What no reader takes is
Spark's, and is passed through.
"""

from datasources.sql.parse.statement import parse_statement
from datasources.sql.parse.types import parse_type

__all__ = ["parse_statement", "parse_type"]
