"""Kafka beside spark-sql-kafka and Flink: windowed counts, shapes of them, formats, fetching, scaling."""
