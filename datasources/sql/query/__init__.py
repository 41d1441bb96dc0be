"""Rewrites queries over tables of ours into Spark SQL."""

from datasources.sql.query.plan import rewrite_query

__all__ = ["rewrite_query"]
