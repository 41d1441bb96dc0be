"""The demo's queries.

The same windowed count with Spark's watermark and with Tidemark's, a temporal join, a copy of a table.
"""
