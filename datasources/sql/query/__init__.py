"""Rewrites queries over tables of ours into Spark SQL."""

from datasources.sql.query.rewrite_query import rewrite_query

__all__ = ["rewrite_query"]
