"""One side of a benchmark over Kafka, in a process of its own."""
