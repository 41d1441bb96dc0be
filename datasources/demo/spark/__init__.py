"""The local Spark of the demo: session, Spark's own Kafka source, a probe for `tidemark doctor`."""
