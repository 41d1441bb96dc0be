"""Kafka's options, and where a query starts and ends.

`kafka_options` are the options, `startup_offsets` turns them into positions. `refused_options` lists options of Spark's
own source that are not supported, each with an alternative.
"""
