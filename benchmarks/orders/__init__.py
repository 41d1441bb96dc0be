"""The data of the benchmarks over Kafka, made from a number alone."""
