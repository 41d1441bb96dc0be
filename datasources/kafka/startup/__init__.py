"""Kafka's options, and where a query starts and ends.

`refused_options` lists options of Spark's own source that are not supported, each with an alternative.
"""
