"""Nexmark on Kafka: Flink SQL's 22 queries, on Flink, on Tidemark and on plain Spark, with the same events and results.

`python -m benchmarks.nexmark --help` explains the command. `generator` makes the events, `queries` has the queries as
the reference implementation for Flink writes them, `truth` computes their results with DuckDB and compares, `sides` run
them.
"""
