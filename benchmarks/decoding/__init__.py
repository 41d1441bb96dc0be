"""Bytes to columns without Spark, beside other libraries."""
