"""Rewrites queries over Tidemark's tables into Spark SQL.

`rewriter` walks the queries of a text. `scan` finds the parts of a query, `block` holds the state of one SELECT under
rewriting, `rules` change it, with `windows` and `joins`. `views` makes temporary views of intermediate steps.
"""

from datasources.sql.query.rewrite_query import rewrite_query

__all__ = ["rewrite_query"]
