"""Kafka's options, and where a query starts and ends.

`refused_options` are those of Spark's own source that have no meaning here, each with what to do instead.
"""
